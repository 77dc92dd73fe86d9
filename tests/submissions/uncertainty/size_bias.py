"""Bias of sizes and of estimates of them: the table of `submissions/uncertainty/README.md`.

    python -m tests.submissions.uncertainty.size_bias [submissions]

Submissions are drawn at the protocol's size; the true S of personas and RD of 2 to 18 groups is about .01 to .2, spread
over all instances or groups, equal everywhere, or in a few. Biases and standard deviations are percent of the truth.
"""

import sys
from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np

from fairspace.builders.iris.groups import COMBINATIONS, combination_codes, combination_size
from fairspace.metrics.columns import Floats
from fairspace.metrics.representation_disparity.formula import disparity
from fairspace.metrics.resampling import Sample, cross_fitted, draw, fair_models, names_of
from fairspace.submissions.benchmarks.iris.image_quantities import disparity_name, neutral_design
from tests.benchmarks.text_coverage import personas
from tests.samples import values

SUBMISSIONS, DRAWS = 20, 30
TRUTHS = (0.01, 0.02, 0.05, 0.1, 0.2)
LEAST = 0.009
ESTIMATES: dict[str, Callable[[float, float, float, float], float]] = {
    "value": lambda value, halves, drawn, fair: value,
    "lower estimate": lambda value, halves, drawn, fair: max(halves, 0.0),
    "mean of both": lambda value, halves, drawn, fair: (value + max(halves, 0.0)) / 2,
    "value less bootstrap bias": lambda value, halves, drawn, fair: 2 * value - drawn,
    "root of squares less fair": lambda value, halves, drawn, fair: max(value**2 - fair**2, 0.0) ** 0.5,
}
"""Estimate -> its function of a value, its halves, and the means of its replicates and of fair models."""
BINS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, np.inf)
Samples = tuple[str, float, Callable[[np.random.Generator], Sample], str]


def scaled(gaps: Floats, size: Callable[[Floats], float], true: float) -> Floats:
    """Shares of a size: even ones plus a multiple of the gaps, between 0 and 1."""
    even = 1 / gaps.shape[-1]
    shares = np.clip(even + gaps * true / size(gaps), 1e-4, 1.0)
    return np.asarray(shares / shares.sum(axis=-1, keepdims=True))


def association(gaps: Floats) -> float:
    return float(np.abs(gaps).sum(axis=1).mean() / gaps.shape[1])


def persona_gaps(kind: str, instances: int, groups: int) -> Floats:
    """Gaps of each instance: spread over all of them, of one size, or in a fifth of them."""
    rng = np.random.default_rng(4)
    if kind == "spread":
        return np.asarray(rng.dirichlet(np.full(groups, 5.0), instances) - 1 / groups)
    alone = np.eye(groups)[0] - 1 / groups
    if kind == "equal":
        return np.asarray(np.where(rng.random(instances) < 0.5, 1, -1)[:, None] * alone)
    few = np.zeros(instances)
    few[rng.choice(instances, max(1, instances // 5), replace=False)] = 1
    return np.asarray(few[:, None] * alone)


def group_gaps(kind: str) -> Floats:
    """(52, 18) gaps of groups: a gradient, two groups ahead, or other ones in each occupation."""
    if kind == "spread":
        return np.asarray(np.random.default_rng(3).dirichlet(np.full(18, 5.0), 52) - 1 / 18)
    one = np.linspace(-1, 1, 18) if kind == "equal" else np.r_[1.0, 1.0, np.full(16, -0.125)]
    return np.tile(one, (52, 1))


def models() -> Iterator[Samples]:
    """Name of a value, its truth, the function that draws a submission, and the value's family."""
    patterns = np.stack(np.meshgrid(*map(np.arange, (2, 3, 3)), indexing="ij"), axis=-1).reshape(-1, 3)
    for kind in ("spread", "equal", "few"):
        for true in TRUTHS:
            truth, sample = personas(
                lambda n, k, kind=kind, true=true: scaled(persona_gaps(kind, n, k), association, true)  # type: ignore[misc]
            )
            yield from ((name, of, sample, f"S, {name.split('_')[0]}") for name, of in truth.items())
            shares = scaled(group_gaps(kind), lambda gaps: float(disparity(gaps).mean()), true)

            def images(rng: np.random.Generator, shares: Floats = shares) -> Sample:
                drawn = (shares.cumsum(axis=1)[:, None, :-1] < rng.random((52, 160, 1))).sum(axis=-1)
                return neutral_design(patterns[drawn.ravel()])

            for combination in COMBINATIONS:
                merged = shares @ np.eye(combination_size(combination))[combination_codes(patterns, combination)]
                groups = f"RD, {combination_size(combination)} groups"
                yield disparity_name(combination), float(disparity(merged).mean()), images, groups


def measured(design: Sample, seed: int) -> dict[str, tuple[float, float, float, float]]:
    """Size -> its value, its halves, and the means of its replicates and of fair models."""
    rng = np.random.default_rng([9, seed])
    table, families = design
    sizes = [family for family in families if family.sizes]
    estimates, _ = cross_fitted(table, sizes, np.ones((2, len(table.strata)), np.float32), rng)
    halves = dict(zip(names_of(sizes), estimates, strict=True))
    columns = (values(design), draw(*design, DRAWS, seed=seed), fair_models(*design, DRAWS, seed=seed))
    value, drawn, fair = (dict(zip(names_of(families), np.atleast_2d(c).T, strict=True)) for c in columns)
    return {n: (value[n][0], halves[n], np.mean(drawn[n]), np.mean(fair[n])) for n in halves}


def main() -> None:
    submissions = int(sys.argv[1]) if len(sys.argv) > 1 else SUBMISSIONS
    kept: dict[Callable[[np.random.Generator], Sample], list[dict[str, tuple[float, float, float, float]]]] = {}
    lines = []
    print(f"| value | truth | by chance / truth | {' | '.join(ESTIMATES)} |")
    for name, true, sample, family in models():
        if sample not in kept:
            kept[sample] = [measured(sample(np.random.default_rng([1, n])), n) for n in range(submissions)]
        if true < LEAST:
            continue
        parts = [part[name] for part in kept[sample]]
        errors = np.array([[of(*part) / true - 1 for of in ESTIMATES.values()] for part in parts]) * 100
        chance, bias, spread = np.mean([p[3] for p in parts]) / true, errors.mean(axis=0), errors.std(axis=0, ddof=1)
        lines.append((chance, bias, spread))
        cells = " | ".join(f"{b:+.0f} ({s:.0f})" for b, s in zip(bias, spread, strict=True))
        print(f"| {family} | {true:.3f} | {chance:.2f} | {cells} |", flush=True)
    for low, high in pairwise(BINS):
        inside = [(bias, spread) for chance, bias, spread in lines if low <= chance < high]
        if inside:
            bias, spread = (np.array(each) for each in zip(*inside, strict=True))
            ends = zip(bias.min(axis=0), bias.max(axis=0), np.median(spread, axis=0), strict=True)
            cells = " | ".join(f"{least:+.0f} to {most:+.0f} ({s:.0f})" for least, most, s in ends)
            print(f"| {low} to {high} | {len(inside)} | {cells} |")


if __name__ == "__main__":
    main()
