"""How often 95 % intervals of IRIS' values and scores hold the truth, at the sizes of the protocol.

Prints the share of every value, and of every family of values the mean and the lowest.

    python -m tests.benchmarks.iris_coverage [submissions per model] [model ...]

The figures of `submissions/uncertainty/README.md` are made by it.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from fairspace.metrics.iris_score.formula import iris_score
from fairspace.metrics.iris_score.standards import INAUGURAL
from fairspace.submissions.benchmarks.adjustment import AS_RELEASED
from fairspace.submissions.benchmarks.benchmark import Scored
from fairspace.submissions.benchmarks.iris.score import scoring
from fairspace.submissions.uncertainty.bootstrap import draw, interval, jackknife
from fairspace.submissions.uncertainty.design import Floats
from fairspace.submissions.uncertainty.draws import keep
from fairspace.submissions.uncertainty.scores import uncertainties_of
from fairspace.submissions.uncertainty.uncertainty import METHODS
from fairspace.submissions.values import measured
from tests.benchmarks.iris_truths import Truth, models

RESAMPLES = 400
SUBMISSIONS = 100
Ends = tuple[float, float]


def intervals(value: float, draws: Floats, without: Floats, fair_high: float) -> Iterator[tuple[str, Ends]]:
    """Every kind of interval that is compared; `+0` begins at 0 where a fair model could show the value."""
    for kind in METHODS:
        yield kind, interval(kind, value, draws, without)[0]
    low, high = interval("bracket", value, draws, without)[0]
    yield "bracket+0", (min(low, 0.0) if value <= fair_high else low, high)


def simulate(model: tuple[Truth, ...], submissions: int, seed: int = 0) -> dict[tuple[str, str], list[bool]]:
    """(value or score, kind of interval) -> whether each submission's interval holds the truth."""
    held: dict[tuple[str, str], list[bool]] = defaultdict(list)
    true = {name: value for task in model for name, value in task.values.items()}
    scores = iris_score(true, INAUGURAL)
    fair_high: dict[str, float] = {}
    for number in range(submissions):
        drawn: dict[str, Floats] = {}
        values: dict[str, float] = {}
        for task in model:
            design = task.sample(np.random.default_rng([seed, number]))
            found, without = draw(design, RESAMPLES, seed=number), jackknife(design)
            value = design.statistic(np.ones((1, len(design.strata)), np.float32))[0]
            if number == 0 and design.fair is not None:
                highest = np.nan_to_num(
                    np.quantile(design.fair(np.random.default_rng(seed), 250), 0.95, axis=0), nan=-1.0
                )
                fair_high |= dict(zip(design.names, highest.tolist(), strict=True))
            columns = keep(design.names, found).columns()
            for place, name in enumerate(design.names):
                if name not in task.values:
                    continue
                drawn[name], values[name] = columns[name], float(value[place])
                limit = fair_high.get(name, -1.0)
                for kind, (low, high) in intervals(value[place], found[:, place], without[:, place], limit):
                    held[name, kind].append(bool(max(low, 0.0) - 1e-12 <= true[name] <= max(high, 0.0) + 1e-12))
        shown = iris_score(values, INAUGURAL)
        found_scores = {name: measured(name, value) for name, value in shown.items()}
        true_scores = {
            name: shown[name] ** 2 / column
            for name, column in scoring(INAUGURAL, AS_RELEASED).replicates(drawn).items()
        }
        for name, about in uncertainties_of(Scored(found_scores, "iris_score", None), true_scores, True).items():
            held[name, "basic"].append(about.percentile_low <= scores[name] <= about.percentile_high)
            held[name, "bracket"].append(about.low <= scores[name] <= about.high)
    return held


FAMILIES = {
    "RD": ("RD_",),
    "JSD of images": ("JSD_US_", "JSD_EU_"),
    "penalties": ("Penalty_",),
    "AD": ("AD_",),
    "SPD": ("SPD_",),
    "SDS": ("AbsSDS_",),
    "JSD of the tournament": ("JSD_gender_", "JSD_age_", "JSD_skin_"),
    "AC, DHR": ("ac_diff_", "dhr_"),
}


def summary(held: dict[tuple[str, str], list[bool]], kinds: list[str]) -> Iterator[str]:
    """A line per family: mean and lowest share of its values, in percent, by kind of interval."""
    for family, prefixes in FAMILIES.items():
        cells = []
        for kind in kinds:
            shares = [
                100 * np.mean(x) for (name, made), x in held.items() if made == kind and name.startswith(prefixes)
            ]
            cells.append(f"{np.mean(shares):6.0f}, {min(shares):3.0f}")
        yield f"{family:45}" + "".join(f"{cell:>14}" for cell in cells)


def main() -> None:
    """Print one line per value, then one per family."""
    submissions = int(sys.argv[1]) if len(sys.argv) > 1 else SUBMISSIONS
    chosen = sys.argv[2:] or list(models())
    for model in chosen:
        held = simulate(models()[model], submissions)
        truths = {name: value for task in models()[model] for name, value in task.values.items()}
        kinds = list(dict.fromkeys(kind for _, kind in held))
        print(f"\n{model}, {submissions} submissions\n{'':36}{'truth':>9}" + "".join(f"{kind:>14}" for kind in kinds))
        for name in dict.fromkeys(name for name, _ in held):
            cells = [f"{np.mean(held[name, kind]):14.2f}" if (name, kind) in held else " " * 14 for kind in kinds]
            print(f"{name:36}{truths.get(name, np.nan):9.4f}" + "".join(cells), flush=True)
        print("\n".join(summary(held, kinds)), flush=True)


if __name__ == "__main__":
    main()
