"""The rows of stereotypical bias: Table 2, and the mean of its six scores."""

from __future__ import annotations

from fairspace.builders.published import figures
from fairspace.submissions.benchmarks.published import Published, footnotes, missing, models, printed, source
from fairspace.submissions.values import measured, not_run


def rows(standard: str) -> list[Published]:
    """Table 2's three models and their ensemble, whatever the standard."""
    names = list(dict.fromkeys(figure.score for figure in figures("stereotypical_bias")))
    found = []
    for (model, _), own in models("stereotypical_bias").items():
        place = source(own[0])
        known = {figure.score: printed(figure) for figure in own}
        scores = {name: known.get(name) or missing(name, place) for name in names}
        plain = [v.value for name, v in scores.items() if not name.endswith("_na_filtered") and v.value is not None]
        scores["total"] = (
            measured("total", sum(plain) / 6, evidence={"source": f"mean of the six scores of {place}, not printed"})
            if len(plain) == 6
            else not_run("total", f"{place} prints no such figure for this model")
        )
        found.append(
            Published(
                model=model,
                organisation=own[0].organisation,
                source=place,
                scores=scores,
                ranking="total",
                unranked=("no worst case: how many questions were not answered is not printed",),
                footnotes=footnotes(own),
            )
        )
    return found
