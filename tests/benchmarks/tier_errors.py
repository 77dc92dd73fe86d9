"""How often tiers separate equal models, and how often they separate unequal ones.

Prints, in percent, the cohorts of equal models with two tiers; the cohorts, of models equal in groups, whose rank
ranges miss a true rank; and the worse models that leave the first tier.

    python -m tests.benchmarks.tier_errors [times as many cohorts]

It makes the figures of the section "Tiers" of `submissions/uncertainty/README.md`, in some minutes.
"""

import sys
from collections.abc import Callable, Iterator

import numpy as np
from scipy.special import ndtri

from fairspace.metrics.columns import Floats
from fairspace.submissions.results.draws import KEPT, keep
from fairspace.submissions.results.tiers import Cohort

SIZES = (3, 20, 100, 1_000)
COHORTS = {3: 2_000, 20: 2_000, 100: 800, 1_000: 150}
FLOOR_COHORTS = {3: 1_000, 20: 400, 100: 120, 1_000: 30}
Sample = tuple[Floats, Floats]
"""(n,) values, less is better, and (n, k) draws of them."""
Sampler = Callable[[np.random.Generator, int], Sample]


def normal(spread: Floats, common: float = 0.0) -> Callable[[np.random.Generator, Floats], Sample]:
    """Normal values and draws of (n,) standard errors; `common` is the correlation of two models' errors."""

    def sample(rng: np.random.Generator, true: Floats) -> Sample:
        noise = rng.standard_normal((len(true), 1 + KEPT))
        noise = (1 - common) ** 0.5 * noise + common**0.5 * rng.standard_normal(1 + KEPT)
        noise *= spread[: len(true), None]
        return true + noise[:, 0], true[:, None] + noise[:, 1:]

    return sample


def equal(spread: Callable[[int], Floats], common: float = 0.0) -> Sampler:
    return lambda rng, n: normal(spread(n), common)(rng, np.zeros(n))


def uneven(n: int) -> Floats:
    return np.exp(np.random.default_rng(n).normal(size=n))


def few_large(n: int) -> Floats:
    """A tenth of the models, at least one, with ten times the others' errors."""
    return np.where(np.arange(n) < max(1, n // 10), 10.0, 1.0)


def repeated_answers(right: float, items: int = 300, answers: int = 3) -> Sampler:
    """Share of wrong answers of models that repeat an item's answer."""

    def sample(rng: np.random.Generator, n: int) -> Sample:
        wrong = np.repeat(rng.random((n, items, 1)) > right, answers, axis=2).mean(axis=2)
        times = rng.multinomial(items, np.full(items, 1 / items), size=KEPT)  # a draw is of the same items for all
        return wrong.mean(axis=1), wrong @ times.T / items

    return sample


def size(groups: int, biased: float, logarithm: bool = False, occupations: int = 52, images: int = 160) -> Sampler:
    """A disparity, the mean over occupations of the sum over groups of |share - 1 / groups|, with draws as a result
    keeps them.

    Args:
        biased: Lead of the first group in every occupation.
        logarithm: Whether values are logarithms, with at least the errors of a fair model.
        images: Images of one occupation.
    """
    lead = np.full(groups, -biased / (groups - 1), np.float32)
    lead[0] = biased

    def noise(rng: np.random.Generator, *shape: int) -> Floats:
        drawn = rng.standard_normal((*shape, groups), np.float32)
        return np.asarray((drawn - drawn.mean(axis=-1, keepdims=True)) / (groups * images) ** 0.5)

    def disparity(shares: Floats) -> Floats:
        return np.asarray(np.abs(shares).sum(axis=-1).mean(axis=-1), float)

    fair = disparity(noise(np.random.default_rng(0), 4_000, occupations))

    def sample(rng: np.random.Generator, n: int) -> Sample:
        shares = lead + noise(rng, n, occupations)
        values = disparity(shares)
        draws = np.stack([disparity(shares + noise(rng, n, occupations)) for _ in range(KEPT)], axis=1)
        if not logarithm:
            return values, draws
        values, draws = np.log(values), np.log(draws)
        least = np.log(fair).std() / draws.std(axis=1, ddof=1, keepdims=True)
        return values, values[:, None] + (draws - draws.mean(axis=1, keepdims=True)) * np.maximum(1, least)

    return sample


KINDS: dict[str, tuple[Sampler, dict[int, int]]] = {
    "normal, equal errors": (equal(np.ones), COHORTS),
    "normal, correlated (.7)": (equal(np.ones, 0.7), COHORTS),
    "normal, unequal errors": (equal(uneven), COHORTS),
    "normal, unequal errors, correlated (.7)": (equal(uneven, 0.7), COHORTS),
    "normal, a tenth with ten times the errors": (equal(few_large), COHORTS),
    "300 items, .70 right, the same answer three times": (repeated_answers(0.7), COHORTS),
    "300 items, .97 right, the same answer three times": (repeated_answers(0.97), COHORTS),
    "300 items, .995 right, the same answer three times": (repeated_answers(0.995), COHORTS),
    "80 items, .70 right, the same answer three times": (repeated_answers(0.7, 80), COHORTS),
    "size at its floor, 2 groups": (size(2, 0.0), FLOOR_COHORTS),
    "size at its floor, 6 groups": (size(6, 0.0), FLOOR_COHORTS),
    "size near its floor, 2 groups, lead .03": (size(2, 0.03), FLOOR_COHORTS),
    "logarithm of a size at its floor, 2 groups": (size(2, 0.0, logarithm=True), FLOOR_COHORTS),
}
GROUPS = {
    "all different by half an error": np.arange(40) / 2,
    "ten pairs": np.repeat(np.arange(10.0), 2) * 100,
    "two tens": np.repeat(np.arange(2.0), 10) * 100,
    "two, then eight": np.repeat([0.0, 100.0], [2, 8]),
    "two, twenty, two hundred": np.repeat([0.0, 100.0, 200.0], [2, 20, 200]),
    "three, and a hundred equal ones far below": np.repeat([0.0, 100.0], [3, 100]),
}


def cohort(values: Floats, draws: Floats) -> tuple[Cohort, list[int]]:
    order = np.lexsort((draws[:, 0], values))
    kept = keep([str(place) for place in range(len(values))], draws.T).table().T
    away = (kept - values[:, None])[order]
    return Cohort(values[order], away, np.ones(away.shape)), order.tolist()


def torn(sampler: Sampler, models: int, cohorts: int) -> float:
    """Percent of cohorts of equal models of which two stand in different tiers."""
    count = 0
    for number in range(cohorts):
        count += max(cohort(*sampler(np.random.default_rng([number, models]), models))[0].tiers()) > 1
    return 100 * count / cohorts


def missed(true: Floats, cohorts: int) -> float:
    """Percent of cohorts in which a range of ranks misses a true rank, or a rank shared by equal models."""
    first = (true[:, None] > true[None, :]).sum(axis=1) + 1
    last = len(true) - (true[:, None] < true[None, :]).sum(axis=1)
    count = 0
    for number in range(cohorts):
        drawn, order = cohort(*normal(np.ones(len(true)))(np.random.default_rng([number, 5]), true))
        ranges = np.array(drawn.ranges(len(true)))
        count += bool(((ranges[:, 0] > first[order]) | (ranges[:, 1] < last[order])).any())
    return 100 * count / cohorts


def power(apart: float, models: int, cohorts: int) -> Iterator[float]:
    """Percent of the worse models that leave the first tier: by our tests, and by those of all pairs of the cohort.

    Three models are equal, the others `apart` standard errors of a difference behind.
    """
    true = np.where(np.arange(models) < 3, 0.0, apart * 2**0.5)
    of_all = float(-ndtri(0.05 / (models * (models - 1))))
    shares: list[list[float]] = [[], []]
    for number in range(cohorts):
        drawn, order = cohort(*normal(np.ones(models))(np.random.default_rng([number, 6]), true))
        behind = np.array(order) >= 3
        shares[0].append(float((np.array(drawn.tiers()) > 1)[behind].mean()))
        errors = drawn.errors(np.arange(models), np.array([0]))[0][:, 0]
        shares[1].append(float((drawn.numbers - drawn.numbers[0] > of_all * errors)[behind].mean()))
    yield from (100 * float(np.mean(share)) for share in shares)


def main() -> None:
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    print("| cohorts of equal models that are separated | " + " | ".join(str(n) for n in SIZES) + " |")
    for name, (sampler, cohorts) in KINDS.items():
        cells = [f"{torn(sampler, n, times * cohorts[n]):.1f}" for n in SIZES]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
    print("| cohorts with a range that misses a true rank | |")
    for name, true in GROUPS.items():
        print(f"| {name} | {missed(true, times * 1_000):.1f} |", flush=True)
    print("| models behind that leave the first tier, ours / by all pairs | " + " | ".join(str(n) for n in SIZES[1:]))
    for apart in (3.0, 4.0, 5.0, 6.0):
        cells = ["{:.0f} / {:.0f}".format(*power(apart, n, times * (100 if n < 1_000 else 20))) for n in SIZES[1:]]
        print(f"| {apart:.0f} errors behind | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
