"""The rows of FACT-OR-FAIR: Table 2, with Tables 3 to 8 as values, as shares."""

from __future__ import annotations

from fairspace.builders.published import Figure
from fairspace.submissions.benchmarks.published import KINDS, Published, footnotes, models, source
from fairspace.submissions.values import Value, measured, not_run


def rows(standard: str) -> list[Published]:
    """Table 2's models; under another truth their factuality is not available."""
    reason = f"not available under {standard}: the printed answers are judged by the paper's labels"
    found = []
    for (model, kind), own in models("fact_or_fair").items():
        scores = {figure.score: _share(figure) for figure in own if figure.table == own[0].table}
        if standard != "inaugural":
            scores |= {name: not_run(name, reason) for name in scores if "fairness" not in name}
        found.append(
            Published(
                model=model,
                organisation=own[0].organisation,
                source=source(own[0]),
                scores=scores,
                ranking=f"average_{kind}",
                unranked=() if standard == "inaugural" else (f"partial: factuality is {reason}",),
                values={figure.score: _share(figure) for figure in own if figure.table != own[0].table},
                cohort=KINDS[kind],
                footnotes=footnotes(own),
            )
        )
    return found


def _share(figure: Figure) -> Value:
    """A figure that is printed in percent, as a share."""
    if figure.value is None:
        raise ValueError(f"{figure.id} is {figure.printed!r}: every cell of FACT-OR-FAIR's tables is a number")
    evidence = {"printed": f"{figure.printed} %", "source": source(figure)}
    return measured(figure.score, figure.value / 100, evidence=evidence)
