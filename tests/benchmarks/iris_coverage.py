"""Coverage of 95 % intervals of IRIS' values and scores at the protocol's sizes, for `coverage.py`."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from fairspace.metrics.intervals import Uncertainty
from fairspace.metrics.iris_score.formula import iris_score
from fairspace.metrics.iris_score.standards import STANDARDS
from fairspace.metrics.resampling import draw, names_of, uncertainties, values_of
from fairspace.submissions.benchmarks.benchmark import Scored
from fairspace.submissions.benchmarks.iris.score import scoring
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.benchmarks.scoring_table import AS_RELEASED
from fairspace.submissions.results.draws import Drawn, keep, many_score_draws, uncertainties_of
from fairspace.submissions.results.scoring import as_wide
from fairspace.submissions.values import measured
from tests.benchmarks.iris_truths import Truth

RESAMPLES = 400


def submission(model: tuple[Truth, ...], number: int) -> Iterator[tuple[str, bool, float]]:
    """Value or score, whether a drawn submission's interval holds the truth, and its width."""
    values, columns = {}, {}
    true = {name: value for task in model for name, value in task.values.items()}
    for task in model:
        design = task.sample(np.random.default_rng([0, number]))
        drawn = draw(*design, RESAMPLES, seed=number)
        sure = uncertainties(*design, drawn, seed=number)
        value = values_of(design[1], design[0].whole())[0]
        for place, name in enumerate(names_of(design[1])):
            if name in task.values:
                values[name] = replace(measured(name, float(value[place])), uncertainty=sure[name])
                columns[name] = as_wide(drawn[:, place], sure[name].error)
                yield name, *held(sure[name], true[name])
    draws = keep(list(columns), np.stack(list(columns.values()), axis=1))
    shown = {name: value.value for name, value in values.items() if value.value is not None}
    for standard in STANDARDS.values():
        scores, true_scores = iris_score(shown, standard), iris_score(true, standard)
        scored = Scored({name: measured(name, x) for name, x in scores.items()}, "iris_score", None)
        (of_scores,) = many_score_draws(benchmark("iris"), [Drawn(scored, values, draws)], standard)
        for name, about in uncertainties_of(scored, values, of_scores, scoring(standard, AS_RELEASED)).items():
            yield f"{name}, {standard.name}", *held(about, true_scores[name])


def held(about: Uncertainty, truth: float) -> tuple[bool, float]:
    """Whether an interval holds the truth, up to rounding, and its width."""
    return bool(about.low - 1e-9 <= truth <= about.high + 1e-9), float(about.high - about.low)
