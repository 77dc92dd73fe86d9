"""The rows of GENRES: Table 2, one per model and evaluator."""

from __future__ import annotations

from fairspace.metrics.total_bias_score.formula import z_scores
from fairspace.metrics.total_bias_score.standards import COHORTS
from fairspace.submissions.benchmarks.adjustment import Adjustment, left_out
from fairspace.submissions.benchmarks.genres import score as genres_score
from fairspace.submissions.benchmarks.published import (
    EVALUATORS,
    NOT_PRINTED,
    Found,
    PrintedRow,
    Published,
    adjusted_source,
    footnotes,
    models,
    printed,
    source,
)
from fairspace.submissions.values import measured, not_run


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


def adjusted_print(row: PrintedRow, standard: object, changed: Adjustment) -> Found:
    """Table 2 under an adjustment: TBS from the printed metrics that count."""
    counted = genres_score.counting(changed)
    scores = dict(row.scores) | {name: left_out(name) for name in changed.dropped}
    if not changed.weights and not changed.dropped:
        return scores, dict(row.labels), row.unranked, "TBS"
    values = [scores[name].value for name in counted]
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        scores["TBS"] = not_run("TBS", f"{NOT_PRINTED} every metric that counts")
        return scores, dict(row.labels), (*row.unranked, scores["TBS"].reason), "TBS"
    mean, deviation = genres_score.cohort_of(COHORTS[row.labels["cohort"]], counted)
    total = float(abs(z_scores(known, mean, deviation)).sum())
    scores["TBS"] = measured("TBS", total, evidence=adjusted_source("weighted sum over printed metrics", row))
    return scores, dict(row.labels), row.unranked, "TBS"
