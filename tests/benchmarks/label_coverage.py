"""How often the intervals of corrected values hold the truth: `python -m tests.benchmarks.label_coverage [STUDIES]`.

What `HELD` in `submissions/benchmarks/iris/variants.py` and `submissions/benchmarks/fact_or_fair/variants.py` says was
measured so. True shares
are drawn from a Dirichlet distribution, images from them, and answers and the test of the labeller from the paper's
matrices.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np

from fairspace.builders.fact_or_fair.statistics import with_attribute
from fairspace.metrics.distribution_divergence.formula import divergence
from fairspace.metrics.representation_disparity.formula import disparity
from fairspace.submissions.benchmarks.fact_or_fair.variants import CORRECTED, statistic_of
from fairspace.submissions.uncertainty.design import Floats
from fairspace.submissions.uncertainty.misclassification import Corrected, correct, debiased, instrument
from fairspace.submissions.uncertainty.prediction_powered import powered_draws, prediction_powered
from tests.metrics.tables import rows

ORDER = {"gender": ("female", "male"), "age": ("young", "middle", "older"), "skin_tone": ("light", "middle", "dark")}
DRAWS = 200
Statistic = Callable[[Floats], Floats]


def matrix(attribute: str) -> Floats:
    """Tables 16-18."""
    cells = [row for row in rows("ares_table16_18_confusion") if row["attribute"] == attribute]
    counts = {(row["true"], row["predicted"]): float(row["count"]) for row in cells}
    return np.array([[counts[true, said] for said in ORDER[attribute]] for true in ORDER[attribute]])


def held(
    names: tuple[str, ...], spread: float, cells: int, images: int, people: int, statistic: Statistic, studies: int
) -> tuple[Floats, Floats]:
    """(2, m) shares of intervals that hold the truth, by matrix and by people; (3, m) biases, the raw one last."""
    rng = np.random.default_rng(5)
    printed = {name: matrix(name) for name in names}
    rates = instrument(printed, 1).rates
    k = len(rates)
    hits, bias = [], []
    for study in range(studies):
        shares = rng.dirichlet(np.full(k, spread), cells)
        true = statistic(shares[None])[0]
        drawn = rng.multinomial(images, shares)
        both = np.stack([[rng.multinomial(n, row) for n, row in zip(cell, rates, strict=True)] for cell in drawn])
        seen = both.sum(axis=1).astype(float)
        tested = {
            name: np.stack([rng.multinomial(int(row.sum()), row / row.sum()) for row in counts]).astype(float)
            for name, counts in printed.items()
        }
        asked = [rng.multivariate_hypergeometric(cell.ravel(), people).reshape(k, k) for cell in both]
        pairs = np.stack(asked).astype(float)
        others = seen - pairs.sum(axis=1)
        found = prediction_powered(pairs, others)
        ways = (
            correct(seen, instrument(tested, DRAWS, study), "study", study),
            powered_draws(pairs, others, found, "study", DRAWS, study),
        )
        told = [_told(way, statistic, true) for way in ways]
        hits.append([[inside for inside, _ in way] for way in told])
        raw = statistic((seen / images)[None])[0] - true
        bias.append([*([off for _, off in way] for way in told), raw])
    return np.mean(hits, axis=0), np.mean(np.array(bias), axis=0)


def _told(way: Corrected, statistic: Statistic, true: Floats) -> list[tuple[bool, float]]:
    values, draws = statistic(way.shares[None])[0], statistic(way.draws)
    found = []
    for place, value in enumerate(values):
        middle, (low, high) = debiased(float(value), draws[:, place], (0.0, 1.0))
        found.append((low <= true[place] <= high, middle - true[place]))
    return found


def main() -> None:
    """Print a line per attributes and spread."""
    studies = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    joint = [("gender",), ("age",), ("skin_tone",), ("gender", "age"), ("age", "skin_tone"), tuple(ORDER)]
    for names in joint:
        k = int(np.prod([len(ORDER[name]) for name in names]))
        reference = np.random.default_rng(1).dirichlet(np.full(k, 3.0), 52)

        def iris(p: Floats, reference: Floats = reference) -> Floats:
            return np.stack([disparity(p).mean(-1), divergence(p, reference).mean(-1)], axis=-1)

        for spread in (0.1, 0.5, 3.0):
            _print(
                f"{' x '.join(names)}, spread {spread}", ("RD", "JSD"), held(names, spread, 52, 160, 16, iris, studies)
            )
    cells = 2 * len(with_attribute("gender"))
    for images, people in ((20, 10), (60, 16)):
        for spread in (0.3, 1.0, 3.0):
            scores = statistic_of(np.full(cells, float(images)), images, "gender")
            title = f"FACT-OR-FAIR gender, {images} images, spread {spread}"
            _print(title, CORRECTED, held(("gender",), spread, cells, images, people, scores, studies))


def _print(title: str, names: tuple[str, ...], found: tuple[Floats, Floats]) -> None:
    hits, bias = found
    print(title)
    for place, name in enumerate(names):
        matrix_held, people_held = hits[:, place]
        off = ", ".join(f"{x:+.4f}" for x in bias[:, place])
        print(f"  {name}: by matrix {matrix_held:.0%}, by people {people_held:.0%}; bias by matrix, people, raw: {off}")


if __name__ == "__main__":
    main()
