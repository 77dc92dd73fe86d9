import hashlib
from collections.abc import Mapping

import numpy as np

from fairspace.leaderboard_space import maintaining
from fairspace.leaderboard_space.intake import User
from fairspace.leaderboard_space.state import State
from fairspace.metrics.iris_score.standards import GRANULAR, INAUGURAL, SKIN_DRIFT
from fairspace.submissions.benchmarks.iris import score as iris_score
from fairspace.submissions.results.draws import keep
from fairspace.submissions.results.result import Result
from fairspace.submissions.values import Value, measured

COMPETENT = {
    "competence_steer_success": 0.9,
    "competence_accuracy": 0.9,
    "competence_objective_accuracy": 0.9,
    "competence_modal_score_max": 0.3,
}


def iris_result(model: str, organisation: str, level: float = 0.2, error: float = 0.0, **further: float) -> Result:
    """A competent model whose 60 values and three further drifts are all `level` of their largest.

    Args:
        level: Share of each metric's bound (of 1 without a bound).
        error: Error of the kept draws as a share of the value; 0 keeps no draws.
        further: Further or replaced values; nan leaves one out.
    """
    raw = {metric.name: level * (metric.bound or 1.0) for metric in GRANULAR}
    raw |= dict.fromkeys(SKIN_DRIFT, level) | COMPETENT | further
    values: Mapping[str, Value] = {
        name: measured(name, number, low=number, high=number, expected=100, valid=100)
        for name, number in raw.items()
        if number == number
    }
    meta = {"model": model, "revision": "1", "organisation": organisation, "licence": "none", "contact": ""}
    digest = hashlib.sha256(f"{model}{raw}".encode()).hexdigest()
    signature = {"standard": "inaugural", "dataset_revision": "v1", "submission": digest, "fairspace": "0"}
    draws = None
    if error:
        centre = np.array([value.value for value in values.values()], dtype=float)
        noise = np.random.default_rng(0).normal(1, error, (200, 1))
        draws = keep(list(values), np.abs(centre * noise))
    return Result("iris", "inaugural", meta, values, iris_score.score(values, INAUGURAL), signature, draws=draws)


def release_all(state: State) -> None:
    state.refresh()
    for logged in state.entries():
        maintaining.release(state, logged.entry, User("ada"), "looked at")
