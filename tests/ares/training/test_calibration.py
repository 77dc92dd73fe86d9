import numpy as np
import pytest

from fairspace.ares.deciding_ares import Decided
from fairspace.ares.training.stages import QUANTILES, _task_report

TASK = {"name": "age_gender", "attributes": {"gender": ["female", "female", "male"], "age": ["young", "old", "old"]}}


def test_an_abstention_counts_as_wrong() -> None:
    """The fifth of five images has no people's label; one of the other four has no answer, and one is wrong."""
    probability = np.array([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.2, 0.3, 0.5], [0.4, 0.3, 0.3], [0.0, 0.0, 1.0]])
    routes = ["fast:vit", "vote", "vote", "abstained", "vote"]
    nothing = np.full(5, np.nan)
    decided = Decided(np.array([0, 1, 2, -1, 2]), probability, routes, [""] * 5, nothing, nothing)
    report = _task_report(TASK, decided, np.array([0, 0, 2, 0, -1]), np.arange(4))
    assert (report["images"], report["abstained"]) == (4, 1)
    assert report["accuracy"] == 2 / 4
    assert report["routes"] == {"abstained": 1, "fast:vit": 1, "vote": 2}
    assert report["confidence"]["quantiles"] == list(QUANTILES)
    assert report["confidence"]["values"][0] == 0.4
    assert report["confidence"]["values"][-1] == 0.7
    gender, age = report["attributes"]["gender"], report["attributes"]["age"]
    assert (gender["labels"], gender["confusion"], gender["accuracy"]) == (["female", "male"], [[2, 0], [0, 1]], 3 / 4)
    assert (age["labels"], age["confusion"], age["accuracy"]) == (["young", "old"], [[1, 1], [0, 1]], 2 / 4)
    assert gender["confidence"]["values"][-1] == pytest.approx(0.9)
