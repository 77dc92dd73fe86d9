"""Variance components: how much of the variance of scores each factor, and each combination of factors, is behind.

The estimators equate sums of squares with their expectations under a model of random effects: analysis of variance for
balanced samples, Henderson's first method ("analogous ANOVA") for others. With y the scores, T of an effect is the sum
over its cells of (sum of y)² / n, and

    E[T_a] = N μ² + Σ_b k_ab σ²_b,    k_ab = Σ over the cells of a, of b within them, of n_ab² / n_a.

The differences from T of the mean, one for each effect, are as many linear equations as there are components.

A component is estimated below 0 where there is little or nothing of it; it is given as 0, and said to be so.

Sources: Henderson, "Estimation of variance and covariance components" (Biometrics 9, 1953); Brennan, Generalizability
Theory (2001), chapters 3 and 7; Shavelson and Webb, Generalizability Theory: A Primer (1991).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from fairspace.submissions.validity.study import Factor, Floats, Integers, Study

WITHIN = "within"
"""The last effect: what differs between samples that are alike in every factor, or that no factor tells apart."""
_NEGLIGIBLE = 1e-9
"""Of the largest component: what rounding leaves."""
_DENSE = 8
"""Pairs of cells for each sample up to which all of them are counted; sorting the samples is quicker beyond."""


@dataclass(frozen=True)
class Component:
    """The variance that one effect is behind.

    Args:
        effect: its factors, such as `occupation × group`; `within` for what is left.
        factors: their names; empty for what is left.
        cells: combinations of levels.
        variance: estimate, at least 0.
        share: of the sum of all components.
        negative: whether the estimate was below 0 and is given as 0.
        of_mean: what of the variance stays in the mean of all samples: the sum over the cells of (n / N)².
        of_target: the same in the mean of one level of the target, on average.
    """

    effect: str
    factors: tuple[str, ...]
    cells: int
    variance: float
    share: float
    negative: bool
    of_mean: float
    of_target: float


@dataclass(frozen=True)
class Components:
    """The components of a study; none, with the reason, where scores say nothing of them.

    Args:
        study: whose.
        samples: with a score.
        mean: of the scores, over the columns.
        levels: factor -> how many levels it has, counted within what it is nested in.
        parts: all components, what is left last.
        rows: of the study, with a score or not.
        reason: why there are none; '' if there are.
    """

    study: Study
    samples: int
    mean: float
    levels: Mapping[str, int]
    parts: tuple[Component, ...]
    reason: str = ""
    rows: int = 0


def components(study: Study) -> Components:
    """The variance components of the scores of a study."""
    rows, study = len(study.scores), study.usable()
    n, mean = len(study.scores), float(study.scores.mean()) if len(study.scores) else float("nan")
    partitions = {f.name: cells_of(closure((f.name,), study.factors), study) for f in study.factors}
    levels = {name: int(codes.max()) + 1 if n else 0 for name, codes in partitions.items()}
    if n < 2:
        return Components(study, n, mean, levels, (), f"{n} samples have a score")
    if not np.ptp(study.scores, axis=0).any():
        return Components(study, n, mean, levels, (), "all samples score alike, so nothing varies")
    effects = _effects(study, levels)
    if len(effects) < 2:
        return Components(study, n, mean, levels, (), "no factor has two levels with two samples in one of them")
    estimates = _estimates(study.scores, [cells for _, cells in effects])
    noise = _NEGLIGIBLE * float(np.abs(estimates).max())
    kept = np.where(estimates > noise, estimates, 0.0)
    total = float(kept.sum())
    target = partitions[study.target]
    parts = tuple(
        Component(
            _name(factors, study) if place < len(effects) - 1 else WITHIN,
            factors,
            int(cells.max()) + 1,
            float(kept[place]),
            float(kept[place]) / total if total else 0.0,
            bool(estimates[place] < -noise),
            float(np.square(np.bincount(cells) / n).sum()),
            _within_target(cells, target),
        )
        for place, (factors, cells) in enumerate(effects)
    )
    return Components(study, n, mean, levels, parts, rows=rows)


def _with_parents(name: str, factors: Sequence[Factor]) -> frozenset[str]:
    """A factor and all that it is nested in."""
    within = next(factor.within for factor in factors if factor.name == name)
    return frozenset((name,)).union(*(_with_parents(parent, factors) for parent in within))


def closure(names: Sequence[str], factors: Sequence[Factor]) -> frozenset[str]:
    """Some factors and all that they are nested in."""
    return frozenset[str]().union(*(_with_parents(name, factors) for name in names))


def cells_of(names: frozenset[str], study: Study) -> Integers:
    """(n,) the combination of levels of each sample, numbered from 0 without gaps."""
    codes = np.zeros(len(study.scores), np.int64)
    for factor in study.factors:
        if factor.name in names:
            codes = _joined(codes, np.unique(factor.codes, return_inverse=True)[1].astype(np.int64))
    return codes


def _joined(first: Integers, second: Integers) -> Integers:
    """(n,) the pair of codes of each sample, numbered from 0 without gaps."""
    if not len(first):
        return first
    return np.unique(first * (int(second.max()) + 1) + second, return_inverse=True)[1].astype(np.int64)


def _effects(study: Study, levels: Mapping[str, int]) -> list[tuple[tuple[str, ...], Integers]]:
    """Factors and cells of every effect that the samples can tell from the others; what is left comes last.

    Effects with the same cells cannot be told apart: the first of them, with the fewest factors, stands for all.
    """
    names = [factor.name for factor in study.factors if levels[factor.name] > 1]
    effects: list[tuple[tuple[str, ...], Integers]] = []
    n, sizes = len(study.scores), set[frozenset[str]]()
    for size in range(1, len(names) + 1):
        for chosen in combinations(names, size):
            everything = closure(chosen, study.factors)
            if everything in sizes:
                continue
            sizes.add(everything)
            cells = cells_of(everything, study)
            count = int(cells.max()) + 1
            if 1 < count < n and not any(_same(cells, others) for _, others in effects):
                order = tuple(factor.name for factor in study.factors if factor.name in everything)
                effects.append((order, cells))
    effects.sort(key=lambda effect: int(effect[1].max()))
    return [*effects, ((), np.arange(n))]


def _same(first: Integers, second: Integers) -> bool:
    """Whether two partitions are one."""
    return first.max() == second.max() == _joined(first, second).max()


def _estimates(scores: Floats, effects: Sequence[Integers]) -> Floats:
    """(e,) the components of e effects, the mean over the columns of (n, m) scores."""
    n = len(scores)
    centred = scores - scores.mean(axis=0)
    sums = np.array([_squares(centred, cells) for cells in effects])
    sizes = [np.bincount(cells) for cells in effects]
    coefficients = np.array(
        [
            [_coefficient(a, b, sizes[i]) - np.square(sizes[j]).sum() / n for j, b in enumerate(effects)]
            for i, a in enumerate(effects)
        ]
    )
    return np.linalg.lstsq(coefficients, sums, rcond=None)[0]


def _squares(scores: Floats, cells: Integers) -> float:
    """The sum over the cells of (sum of scores)² / n, the mean over the columns."""
    sums = np.stack([np.bincount(cells, column) for column in scores.T], axis=1)
    return float((np.square(sums) / np.bincount(cells)[:, None]).sum() / scores.shape[1])


def _coefficient(a: Integers, b: Integers, sizes: Integers) -> float:
    """K of the component of b in the sum of squares of a, whose cells have these sizes."""
    n, levels = len(a), int(b.max()) + 1
    if n in (levels, len(sizes)):  # single samples are within every cell
        return float(len(sizes))
    if len(sizes) * levels <= _DENSE * n:
        counts = np.bincount(a * levels + b, minlength=len(sizes) * levels).reshape(len(sizes), levels)
        return float((np.square(counts) / sizes[:, None]).sum())
    _, first, counts = np.unique(a * levels + b, return_index=True, return_counts=True)
    return float((np.square(counts) / sizes[a[first]]).sum())


def _name(factors: Sequence[str], study: Study) -> str:
    """`occupation × group`; `picture in side` for a nested factor, with what is nested last alone."""
    inner = _innermost(factors, study)
    outer = _innermost([name for name in factors if name not in inner], study)
    return " × ".join(inner) + (f" in {' × '.join(outer)}" if outer else "")


def _innermost(factors: Sequence[str], study: Study) -> list[str]:
    """The factors that none of the others is nested in."""
    return [name for name in factors if not any(name in study.factor(other).within for other in factors)]


def _within_target(cells: Integers, target: Integers) -> float:
    """The mean over the target's levels of the sum over their cells of (n of the cell / n of the level)²."""
    joined = _joined(target, cells)
    first = np.unique(joined, return_index=True)[1]
    level, counts = target[first], np.bincount(joined)
    shares = counts / np.bincount(target)[level]
    return float(np.bincount(level, np.square(shares)).mean())
