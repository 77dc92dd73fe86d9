"""Coverage of the intervals of corrected shares and values.

`python -m tests.benchmarks.label_coverage [shares|iris|fact_or_fair] [STUDIES]`: the tables of the section "Labels" in
`submissions/uncertainty/README.md`, and `HELD` in the `variants.py` of IRIS and FACT-OR-FAIR. Labels follow the paper's
rates, or recalls of .92 and .85 in turn, tested with 200 images a row.
"""

import sys
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from fairspace.builders.fact_or_fair.statistics import with_attribute
from fairspace.metrics.columns import Floats
from fairspace.metrics.distribution_divergence.formula import divergence
from fairspace.metrics.representation_disparity.formula import disparity
from fairspace.submissions.benchmarks.fact_or_fair.attribute_scores import Context
from fairspace.submissions.benchmarks.fact_or_fair.variants import CORRECTED, statistic_of
from fairspace.submissions.uncertainty.label_errors import correct, debiased, posterior_intervals, powered_draws
from tests.metrics.tables import rows

ORDER = {"gender": ("female", "male"), "age": ("young", "middle", "older"), "skin_tone": ("light", "middle", "dark")}
JOINT = [("gender",), ("age",), ("skin_tone",), ("gender", "age"), ("age", "skin_tone"), tuple(ORDER)]
SHARES = (0.03, 0.1, 0.3)
IMAGES = (500, 2_000, 8_000)
TRUTHS = ("fair", "one group rare", "as the reference", "0.1", "0.5", "3", "50")
"""For 52 occupations: groups alike, one group at .03 (of two or three groups) or .3 in all, or Dirichlet shares."""
Matrices = Mapping[str, Floats]
Statistic = Callable[[Floats], Floats]


def matrix(attribute: str) -> Floats:
    """Tables 16-18."""
    cells = [row for row in rows("ares_table16_18_confusion") if row["attribute"] == attribute]
    counts = {(row["true"], row["predicted"]): float(row["count"]) for row in cells}
    return np.array([[counts[true, said] for said in ORDER[attribute]] for true in ORDER[attribute]])


def labeller(groups: int, images: int = 200) -> Floats:
    """Counts of a labeller with recalls of .92 and .85 in turn; errors fall evenly."""
    recall = np.where(np.arange(groups) % 2, 0.85, 0.92)
    rates = np.repeat((1 - recall)[:, None] / (groups - 1), groups, axis=1)
    np.fill_diagonal(rates, recall)
    return rates * images


def rates(matrices: Matrices) -> Floats:
    """(k, k) rates of the product of attributes."""
    joint = np.ones((1, 1))
    for counts in matrices.values():
        joint = np.kron(joint, counts / counts.sum(axis=1, keepdims=True))
    return joint


def tested(matrices: Matrices, rng: np.random.Generator) -> Matrices:
    return {
        name: np.stack([rng.multinomial(round(row.sum()), row / row.sum()) for row in counts]).astype(float)
        for name, counts in matrices.items()
    }


def ends(intervals: Sequence[tuple[float, tuple[float, float]] | None]) -> Floats:
    """(m, 3) estimates with the ends of their intervals; each has one."""
    return np.array([(interval[0], *interval[1]) for interval in intervals if interval is not None])


def shares_held(matrices: Matrices, share: float, images: int, studies: int) -> tuple[float, float, float]:
    """Coverage and mean width of the interval of one group's share, and the bias of the posterior mean."""
    chances = rates(matrices)
    k = len(chances)
    outcomes = []
    for study in range(studies):
        rng = np.random.default_rng([1, study])
        truth, rare = np.full(k, (1 - share) / (k - 1)), study % k
        truth[rare] = share
        seen = rng.multinomial(images, truth @ chances)[None].astype(float)
        corrected = correct(seen, tested(matrices, rng), "study", seed=study)

        def of_rare(p: Floats, rare: int = rare) -> Floats:
            return p[:, 0, [rare]]

        ((mean, low, high),) = ends(posterior_intervals(corrected, of_rare, [(0.0, 1.0)]))
        outcomes.append((low <= share <= high, high - low, mean - share))
    held, width, bias = np.mean(outcomes, axis=0).tolist()
    return held, width, bias


def true_shares(truth: str, k: int, reference: Floats, rng: np.random.Generator) -> Floats:
    if truth == "fair":
        return np.full(reference.shape, 1 / k)
    if truth == "as the reference":
        return reference
    if truth == "one group rare":
        share = 0.03 if k < 4 else 0.3
        shares = np.full(reference.shape, (1 - share) / (k - 1))
        shares[:, 0] = share
        return shares
    return rng.dirichlet(np.full(k, float(truth)), len(reference))


def values_held(
    matrices: Matrices, truths: list[Floats], images: int, statistic: Statistic, people: int = 0
) -> tuple[Floats, Floats]:
    """(ways, 3, m) coverage, widths and biases, by matrix and, if any, by people; (m,) biases of the raw values."""
    chances = rates(matrices)
    k = len(chances)
    outcomes, raw = [], []
    for study, shares in enumerate(truths):
        rng = np.random.default_rng([5, study])
        true = statistic(shares[None])[0]
        limits = [(0.0, 1.0)] * len(true)
        drawn = rng.multinomial(images, shares)
        both = np.stack([[rng.multinomial(n, row) for n, row in zip(cell, chances, strict=True)] for cell in drawn])
        seen = both.sum(axis=1).astype(float)
        corrected = correct(seen, tested(matrices, rng), "study", seed=study)
        ways = [posterior_intervals(corrected, statistic, limits)]
        if people:
            asked = [rng.multivariate_hypergeometric(cell.ravel(), people).reshape(k, k) for cell in both]
            pairs = np.stack(asked).astype(float)
            others = seen - pairs.sum(axis=1)
            powered = powered_draws(pairs, others, "study", 200, study)
            plain, draws = statistic(powered.shares[None])[0], statistic(powered.draws)
            ways.append([debiased(float(x), draws[:, i], limits[i]) for i, x in enumerate(plain)])
        columns = [ends(way).T for way in ways]
        outcomes.append([((low <= true) & (true <= high), high - low, mean - true) for mean, low, high in columns])
        raw.append(statistic((seen / images)[None])[0] - true)
    return np.mean(np.array(outcomes, float), axis=0), np.mean(raw, axis=0)


def shares_table(studies: int) -> None:
    cases = {f"{k} groups, .92/.85": {"group": labeller(k)} for k in range(2, 8)}
    cases |= {" x ".join(names): {name: matrix(name) for name in names} for names in JOINT[:4]}
    every = []
    for title, matrices in cases.items():
        cells = [shares_held(matrices, share, images, studies) for share in SHARES for images in IMAGES]
        every += [cell[0] for cell in cells]
        print(f"| {title} | " + " | ".join(f"{held:.0%} ({width:.3f})" for held, width, _ in cells) + " |", flush=True)
    print(f"mean {np.mean(every):.1%}, worst {min(every):.1%}")


def iris_table(studies: int) -> None:
    for names in JOINT:
        matrices = {name: matrix(name) for name in names}
        k = len(rates(matrices))
        reference = np.random.default_rng(1).dirichlet(np.full(k, 3.0), 52)

        def statistic(p: Floats, reference: Floats = reference) -> Floats:
            return np.stack([disparity(p).mean(-1), divergence(p, reference).mean(-1)], axis=-1)

        for truth in TRUTHS:
            truths = [true_shares(truth, k, reference, np.random.default_rng([9, s])) for s in range(studies)]
            people = 16 if k < 4 else 0
            title = f"{' x '.join(names)}, {truth}"
            _print(title, ("RD", "JSD"), values_held(matrices, truths, 160, statistic, people))


def fact_or_fair_table(studies: int) -> None:
    cells = 2 * len(with_attribute("gender"))
    for images, people in ((20, 10), (60, 16)):
        for spread in (0.3, 1.0, 3.0, 50.0):
            statistic = statistic_of(np.full(cells, float(images)), Context("t2i_subjective"), "gender")
            truths = [np.random.default_rng([9, s]).dirichlet(np.full(2, spread), cells) for s in range(studies)]
            title = f"gender, {images} images, spread {spread:g}"
            _print(title, CORRECTED, values_held({"gender": matrix("gender")}, truths, images, statistic, people))


def _print(title: str, names: tuple[str, ...], measured: tuple[Floats, Floats]) -> None:
    ways, raw = measured
    for place, name in enumerate(names):
        cells = [f"{way[0, place]:.0%} ({way[1, place]:.4f}, bias {way[2, place]:+.4f})" for way in ways]
        print(f"| {title} | {name} | {' | '.join(cells)} | raw bias {raw[place]:+.4f} |", flush=True)


def main() -> None:
    tables = {"shares": shares_table, "iris": iris_table, "fact_or_fair": fact_or_fair_table}
    names = [word for word in sys.argv[1:] if word in tables] or list(tables)
    studies = next((int(word) for word in sys.argv[1:] if word.isdigit()), 60)
    for name in names:
        tables[name](studies)


if __name__ == "__main__":
    main()
