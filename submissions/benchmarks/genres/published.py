"""The rows of GENRES: Table 2, one per model and evaluator."""

from __future__ import annotations

from fairspace.submissions.benchmarks.published import EVALUATORS, Published, footnotes, models, printed, source


def rows(standard: str) -> list[Published]:
    """Table 2, whatever the standard."""
    return [
        Published(
            model=model,
            organisation=own[0].organisation,
            source=source(own[0]),
            scores={figure.score: printed(figure) for figure in own},
            ranking="TBS",
            labels={"cohort": evaluator},
            cohort=EVALUATORS[evaluator],
            footnotes=footnotes(own),
        )
        for (model, evaluator), own in models("genres").items()
    ]
