"""The rows of FACT-OR-FAIR: Table 2, with Tables 3 to 8 as values, as shares."""

from __future__ import annotations

from fairspace.builders.published import Figure
from fairspace.submissions.benchmarks.adjustment import Adjustment, is_left_out, left_out
from fairspace.submissions.benchmarks.fact_or_fair.score import means, weight
from fairspace.submissions.benchmarks.fact_or_fair.standards import FactOrFairStandard
from fairspace.submissions.benchmarks.published import (
    KINDS,
    NOT_PRINTED,
    Found,
    PrintedRow,
    Published,
    adjusted_source,
    footnotes,
    models,
    source,
)
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


def adjusted_print(row: PrintedRow, standard: FactOrFairStandard, changed: Adjustment) -> Found:
    """Table 2 from its own columns; from Tables 3 to 8 where contexts have other weights."""
    kind = next(kind for kind, cohort in KINDS.items() if cohort == row.cohort)
    scores: dict[str, Value] = {}
    touched: set[str] = set()
    for name, parts in means(kind, standard.truth).items():
        shares = {part: weight(changed, of) for part, of in parts}
        if set(shares.values()) == {1.0} and not touched & set(shares):
            scores[name] = row.scores[name]
            continue
        touched.add(name)
        own = {**row.values, **scores}
        scores[name] = _weighted(name, [(own.get(part), share) for part, share in shares.items()], row)
    total = scores[f"average_{kind}"]
    lacking = () if total.state == "value" else (total.reason,)
    return scores, dict(row.labels), (*row.unranked, *lacking), total.name


def _weighted(name: str, parts: list[tuple[Value | None, float]], row: PrintedRow) -> Value:
    """The weighted mean of what counts; without a number where a part has none."""
    counted = [(part, share) for part, share in parts if share and not (part is not None and is_left_out(part))]
    if not counted:
        return left_out(name)
    total = 0.0
    for part, share in counted:
        if part is None or part.value is None:
            return not_run(name, f"{NOT_PRINTED} every value that counts" if part is None else part.reason)
        total += share * part.value
    return measured(name, total / sum(share for _, share in counted), evidence=adjusted_source("weighted mean", row))
