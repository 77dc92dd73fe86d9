"""What a run of FACT-OR-FAIR can show of S_fact, S_fair and their average, for language and for image models."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairspace.builders.fact_or_fair.plan import CONTEXTS
from fairspace.builders.fact_or_fair.statistics import ATTRIBUTES, GROUPS, LEVELS, SLUGS, truth, with_attribute
from fairspace.metrics.fact_or_fair.formula import divergence_score, entropy, fairness
from fairspace.submissions.benchmarks.asks import Stimulus
from fairspace.submissions.benchmarks.detectable import Chosen, Detectable, counted, empty, from_errors
from fairspace.submissions.benchmarks.power import calibrated, halfway, smallest_share_difference

TYPICAL_FACT = 0.6
"""Of the right answers, for the usual case."""
_FACT = f"{TYPICAL_FACT:.0%} right, each answer on its own; worst: half right, and all answers to a query alike"
_FAIR = (
    "a model half way from even-handed to one-sided, to another side at each level; worst: all answers of a block "
    "alike; chance: what an even-handed model lacks of 1"
)
Sizes = NDArray[np.int_]


class _Errors(NamedTuple):
    """Standard errors of a score, and what a fair model loses by chance."""

    usual: float
    worst: float
    lost: float


def detectable(chosen: Chosen) -> list[Detectable]:
    """`<kind>_factuality[_<attribute>]`, `<kind>_fairness[_<attribute>]` and `average_<kind>` of the tasks that run."""
    values: list[Detectable] = []
    for kind in ("llm", "t2i"):
        facts = _factuality(kind, chosen, values)
        fairs = _fairness(kind, chosen, values)
        if facts and fairs:
            parts = [*facts, *fairs]
            tasks = (f"{kind}_objective", _subjective(kind, chosen))
            n = sum(stimulus.asks for task in tasks for stimulus in chosen[task])
            name, note = f"average_{kind}", "the errors of its parts, independent"
            values.append(_mean(name, name, "both", n, parts, note))
    return values


def _factuality(kind: str, chosen: Chosen, values: list[Detectable]) -> list[_Errors | None]:
    """S_fact by attribute: a share of the answers whose truth is known (`paper`)."""
    task = f"{kind}_objective"
    if task not in chosen:
        return []
    errors: list[_Errors | None] = []
    for attribute in ATTRIBUTES:
        name = f"{kind}_factuality_{attribute}"
        decided = [stimulus for stimulus in chosen[task] if _known(stimulus, kind, attribute)]
        n, queries = sum(stimulus.asks for stimulus in decided), len({stimulus.stratum for stimulus in decided})
        if not n:
            values.append(empty(name, f"{kind}_factuality", task, 0, "answers", "no query asks by it"))
            errors.append(None)
            continue
        usual, worst = (smallest_share_difference(p, m) for p, m in ((TYPICAL_FACT, n), (0.5, queries)))
        note = _FACT if usual is not None else f"too few items; {_FACT}"
        values.append(Detectable(name, f"{kind}_factuality", task, n, "answers", usual, worst, note=note))
        deviation = math.sqrt(TYPICAL_FACT * (1 - TYPICAL_FACT) / n)
        errors.append(_Errors(deviation, 0.5 / math.sqrt(queries), 0.0))
    total = sum(stimulus.asks for stimulus in chosen[task])
    values.append(_mean(f"{kind}_factuality", f"{kind}_factuality", task, total, errors, _FACT, lost=False))
    return errors


def _fairness(kind: str, chosen: Chosen, values: list[Detectable]) -> list[_Errors | None]:
    """S_fair by attribute, the mean of its contexts."""
    task = _subjective(kind, chosen)
    if task not in chosen:
        return []
    contexts: Sequence[str] = CONTEXTS if kind == "llm" else ("",)
    per_attribute: list[_Errors | None] = []
    for attribute in ATTRIBUTES:
        name = f"{kind}_fairness_{attribute}"
        sizes = [_cells(chosen[task], attribute, context) for context in contexts]
        n, gaps = sum(int(counts.sum()) for counts in sizes), sum(int((counts == 0).sum()) for counts in sizes)
        if gaps:
            cells = sum(counts.size for counts in sizes)
            why = (
                f"{gaps} of {cells} cells of statistic, level and context have no query; --stratified fills them first"
            )
            values.append(empty(name, f"{kind}_fairness", task, n, "answers", why))
            per_attribute.append(None)
            continue
        each = chosen[task][0].asks if kind == "llm" else 1
        errors = [_spread(counts, len(GROUPS[attribute]), each) for counts in sizes]
        joined = _joined(errors)
        per_attribute.append(joined)
        family = f"{kind}_fairness"
        values.append(
            from_errors(name, family, task, n, "answers", joined.usual, joined.worst, joined.lost, note=_FAIR)
        )
    total = sum(stimulus.asks for stimulus in chosen[task])
    values.append(_mean(f"{kind}_fairness", f"{kind}_fairness", task, total, per_attribute, _FAIR))
    return per_attribute


def _subjective(kind: str, chosen: Chosen) -> str:
    """The task that S_fair is measured by: of images the one that the paper has, where it runs."""
    paper = f"{kind}_subjective_paper"
    return paper if paper in chosen else f"{kind}_subjective"


def drawn_fairness(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """(draws, s, 2, k) answers by statistic, level and group -> (draws,) S_fair."""
    return fairness(entropy(counts), divergence_score(counts))


def _spread(sizes: Sizes, k: int, each: int) -> _Errors:
    """The errors of S_fair with so many answers a cell; `each` of them, those of a block, may be alike."""
    shares = np.stack([halfway(len(sizes) + 1, k)[level:][: len(sizes)] for level in range(len(LEVELS))], axis=1)
    even = np.full((*sizes.shape, k), 1 / k)
    usual = calibrated(drawn_fairness, sizes, shares, even)
    worst = usual if each == 1 else calibrated(drawn_fairness, np.maximum(sizes // each, 1), shares, even)
    return _Errors(usual.error, worst.error, usual.chance)


def _cells(stimuli: Sequence[Stimulus], attribute: str, context: str) -> Sizes:
    """(s, 2) answers by statistic with that attribute and level, in one context ('' for images)."""
    here = [stimulus for stimulus in stimuli if not context or stimulus.id.split("/")[4] == context]
    cells = counted(here, lambda stimulus: tuple(stimulus.id.split("/")[1:3]))
    return np.array([[cells.get((SLUGS[s], level), 0) for level in LEVELS] for s in with_attribute(attribute)])


def _known(stimulus: Stimulus, kind: str, attribute: str) -> bool:
    """Whether a query asks by the attribute, and its truth is known."""
    statistic, level, *rest = stimulus.id.split("/")[1:]
    place = SLUGS.index(statistic)
    asked = rest[0] == attribute if kind == "llm" else place in with_attribute(attribute)
    return bool(asked and truth("paper")[attribute][place, LEVELS.index(level)] >= 0)


def _joined(errors: Sequence[_Errors]) -> _Errors:
    """Of the mean of independent scores."""
    usual, worst = (math.sqrt(sum(error[i] ** 2 for error in errors)) / len(errors) for i in (0, 1))
    return _Errors(usual, worst, sum(error.lost for error in errors) / len(errors))


def _mean(
    name: str, family: str, task: str, n: int, errors: Sequence[_Errors | None], note: str, *, lost: bool = True
) -> Detectable:
    defined = [error for error in errors if error is not None]
    if len(defined) < len(errors):
        return empty(name, family, task, n, "answers", "a part is undefined")
    joined = _joined(defined)
    floor = joined.lost if lost else None
    return from_errors(name, family, task, n, "answers", joined.usual, joined.worst, floor, note=note)
