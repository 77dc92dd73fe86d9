"""What the designs of FACT-OR-FAIR share: names and ranges of their values, and the scores of resampled tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from fairspace.builders.fact_or_fair.statistics import ATTRIBUTES, LEVELS, STATISTICS, with_attribute
from fairspace.submissions.benchmarks.fact_or_fair.measure.refusals import Refusals
from fairspace.submissions.benchmarks.fact_or_fair.measure.scores import column_names, scores
from fairspace.submissions.uncertainty.design import Design, Fair, Floats, Integers, Statistic

HIGHER = ("entropy", "kld", "fairness")
"""How the values begin that are better when higher, and that few answers bias."""
DISPARITY = "refusal_disparity"
CELLS = len(STATISTICS) * len(LEVELS)
Tables = dict[str, Floats]
"""Attribute -> (b, 19, 2, k) answers per statistic, level and group, or (b, 19, 2) answers that name no group; what an
attribute lacks is not read."""
_NEAR = (
    "A distance is never below 0, so near the curve resamples lie above the value, and the interval too high; "
    "it begins at the value at the latest."
)


def score_names(context: str) -> list[str]:
    """The names of the columns of `both_attributes`."""
    return [name for attribute in ATTRIBUTES for name in column_names(context, attribute)]


def design_of(
    task: str,
    unit: str,
    strata: Integers,
    names: Sequence[str],
    statistic: Statistic,
    fair: Fair,
    notes: Mapping[str, str] | None = None,
    corrected: Mapping[str, float] | None = None,
    shares: Mapping[str, float] | None = None,
) -> Design:
    """A design with the ranges and directions of FACT-OR-FAIR.

    Values with a note, and those that are `corrected` (as `Design.corrected`), are not debiased.

    A fair model says nothing of S_fact, d, the share of answers without a group and of refusals.
    """
    higher = frozenset(name for name in names if name.startswith(HIGHER))
    tested = frozenset(name for name in names if name.startswith((DISPARITY, "position_bias")))
    position = frozenset(name for name in names if name.startswith("position"))
    biased = (higher | position | tested) - set(notes or ()) - set(corrected or ())
    has_fair = np.array([name.startswith((*HIGHER, DISPARITY, "position", "cognitive", "share")) for name in names])
    limits = {name: _limits(name) for name in names}
    all_notes = {name: _NEAR for name in names if name.startswith("distance")} | dict(notes or {})
    return Design(
        task=f"fact_or_fair/{task}",
        unit=unit,
        strata=strata,
        names=tuple(names),
        statistic=statistic,
        limits=limits,
        biased=biased,
        fair=lambda rng, models: np.where(has_fair, fair(rng, models), np.nan),
        notes=all_notes,
        intervals=dict.fromkeys((*biased, *(corrected or ())), "normal"),
        higher=higher,
        tested=tested,
        shares=shares or {},
        corrected=corrected or {},
    )


def _limits(name: str) -> tuple[float, float]:
    if name.startswith("cognitive_error_increase"):
        return -1.0, 1.0
    return (0.0, 2**0.5) if name.startswith("distance") else (0.0, 1.0)


def both_attributes(
    counts: Tables,
    weights: Floats | None = None,
    unusable: Tables | None = None,
    added: float = 0.0,
    handed_in: Floats | None = None,
) -> Floats:
    """(b, 22) the values of `score_names` of a context.

    Args:
        counts: answers by group.
        weights: (b, 19) how often each statistic counts, 1 if left out.
        unusable: answers that were handed in and name no group, none if left out.
        added: as `Grid.added`.
        handed_in: (b, 19, 2) images that were handed in; none are known of answers, which `counts` and `unusable` hold.
    """
    columns = []
    for attribute in ATTRIBUTES:
        mine = with_attribute(attribute)
        times = np.ones((1, len(mine))) if weights is None else weights[:, mine]
        rest = None if unusable is None else unusable[attribute][:, mine]
        given = None if handed_in is None else handed_in[:, mine]
        columns.append(scores(counts[attribute][:, mine], times, attribute, rest, added, given))
    return np.concatenate(columns, axis=1)


def fair_disparity(rng: np.random.Generator, models: int, refusals: Refusals) -> Floats:
    """(models,) the disparity of models that refuse all groups alike, as often as this one does on the whole."""
    handed_in = refusals.handed_in[..., :-1].reshape(-1).astype(np.int64)
    rate = float(refusals.rate().reshape(-1)[0])
    refused = rng.binomial(handed_in, 0.0 if np.isnan(rate) else rate, (models, len(handed_in)))
    padded = [np.pad(counts, ((0, 0), (0, 1))) for counts in (refused, np.broadcast_to(handed_in, refused.shape))]
    return Refusals(*(counts.astype(float) for counts in padded)).disparity()
