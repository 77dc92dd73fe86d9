"""Printed rows under a reader's adjustment: made again where the printed figures are those that it asks for.

What the papers do not print (the sizes of groups, counts, single values behind a norm) makes a row unranked and says
so; no number is made up. What the adjustment leaves alone stays as printed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from metrics.total_bias_score.formula import z_scores
from metrics.total_bias_score.standards import COHORTS
from submissions import fact_or_fair, genres, stereotypical_bias
from submissions.published import KINDS
from submissions.published_adjusted_iris import NOT_PRINTED, iris_print
from submissions.registry import benchmark as find_benchmark
from submissions.result import find_standard
from submissions.sensitivity import Adjustment, is_left_out, left_out
from submissions.values import Value, measured, not_run

if TYPE_CHECKING:
    from submissions.board import Row

Found = tuple[dict[str, Value], dict[str, str], tuple[str, ...], str]
"""Scores, labels, why there is no rank, and the score that ranks go by."""
SIZES = "the paper does not print how many samples its groups have"


def adjusted_print(row: Row, benchmark: str, standard: str, changed: Adjustment) -> Found:
    """What an adjustment makes of a printed row.

    Args:
        row: of the released board.
        benchmark: of the board.
        standard: its name.
        changed: anything but as released.
    """
    chosen = find_standard(find_benchmark(benchmark), standard)
    make = _MAKERS[benchmark]
    scores, labels, unranked, ranking = make(row, chosen, changed)
    return scores, labels, (*unranked, *([SIZES] if changed.smallest_group else [])), ranking


def _stereotypical_bias(row: Row, standard: object, changed: Adjustment) -> Found:
    counted = stereotypical_bias.counting(changed)
    scores = dict(row.scores) | {name: left_out(name) for name in changed.dropped}
    parts = [(scores[name].value, weight) for name, weight in counted.items()]
    known = [(value, weight) for value, weight in parts if value is not None]
    if len(known) < len(parts):
        scores["total"] = not_run("total", f"{NOT_PRINTED} every score that counts")
    else:
        total = sum(value * weight for value, weight in known) / sum(weight for _, weight in known)
        scores["total"] = measured("total", total, evidence=_source("weighted mean of printed scores", row))
    return scores, dict(row.labels), row.unranked, "total"


def _genres(row: Row, standard: object, changed: Adjustment) -> Found:
    counted = genres.counting(changed)
    scores = dict(row.scores) | {name: left_out(name) for name in changed.dropped}
    if not changed.weights and not changed.dropped:
        return scores, dict(row.labels), row.unranked, "TBS"
    values = [scores[name].value for name in counted]
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        scores["TBS"] = not_run("TBS", f"{NOT_PRINTED} every metric that counts")
        return scores, dict(row.labels), (*row.unranked, scores["TBS"].reason), "TBS"
    mean, deviation = genres.cohort_of(COHORTS[row.labels["cohort"]], counted)
    total = float(abs(z_scores(known, mean, deviation)).sum())
    scores["TBS"] = measured("TBS", total, evidence=_source("weighted sum over printed metrics", row))
    return scores, dict(row.labels), row.unranked, "TBS"


def _fact_or_fair(row: Row, standard: fact_or_fair.FactOrFairStandard, changed: Adjustment) -> Found:
    """Table 2 from its own columns; from Tables 3 to 8 where contexts have other weights."""
    kind = next(kind for kind, cohort in KINDS.items() if cohort == row.cohort)
    scores: dict[str, Value] = {}
    touched: set[str] = set()
    for name, parts in fact_or_fair.means(kind, standard.truth).items():
        shares = {part: fact_or_fair.weight(changed, of) for part, of in parts}
        if set(shares.values()) == {1.0} and not touched & set(shares):
            scores[name] = row.scores[name]
            continue
        touched.add(name)
        own = {**row.values, **scores}
        scores[name] = _weighted(name, [(own.get(part), share) for part, share in shares.items()], row)
    total = scores[f"average_{kind}"]
    lacking = () if total.state == "value" else (total.reason,)
    return scores, dict(row.labels), (*row.unranked, *lacking), total.name


def _weighted(name: str, parts: list[tuple[Value | None, float]], row: Row) -> Value:
    """The weighted mean of what counts; without a number where a part has none."""
    counted = [(part, share) for part, share in parts if share and not (part is not None and is_left_out(part))]
    if not counted:
        return left_out(name)
    total = 0.0
    for part, share in counted:
        if part is None or part.value is None:
            return not_run(name, f"{NOT_PRINTED} every value that counts" if part is None else part.reason)
        total += share * part.value
    return measured(name, total / sum(share for _, share in counted), evidence=_source("weighted mean", row))


def _source(what: str, row: Row) -> Mapping[str, str]:
    return {"source": f"{what} of {row.source}, as a reader adjusts it; not printed"}


_MAKERS: Mapping[str, Callable[[Row, Any, Adjustment], Found]] = {
    "iris": iris_print,
    "fact_or_fair": _fact_or_fair,
    "genres": _genres,
    "stereotypical_bias": _stereotypical_bias,
}
