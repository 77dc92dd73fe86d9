"""`fs.measure` on own columns: as the metric and as fairlearn's MetricFrame; errors that say what there is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import fairspace as fs
from fairspace.metrics.accuracy_disparity.accuracy_disparity import AccuracyDisparity

RANDOM = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "said": RANDOM.integers(0, 2, 120),
        "true": RANDOM.integers(0, 2, 120),
        "sex": RANDOM.choice(["f", "m"], 120),
        "place": ["north"] * 60 + ["south"] * 60,
        "shown": [*RANDOM.choice(["f", "m"], 60), *[None] * 60],
    }
)
COLUMNS: dict[str, Any] = {"predictions": "said", "references": "true", "groups": "sex"}


def test_values_are_those_of_the_metric_and_of_fairlearn() -> None:
    measured = fs.measure(FRAME, "accuracy_disparity", by="place", resamples=100, **COLUMNS)
    words = {name: FRAME[column].astype(str).tolist() for name, column in COLUMNS.items()}
    (whole,) = measured.overall["value"]
    assert whole == AccuracyDisparity().compute(**words)["accuracy_disparity"]
    peer = pytest.importorskip("fairlearn.metrics")
    frame = peer.MetricFrame(
        metrics=lambda true, said: float(np.mean(true == said)),
        y_true=FRAME["true"],
        y_pred=FRAME["said"],
        sensitive_features=FRAME["sex"],
        control_features=FRAME["place"],
    )
    assert measured.by_group["value"].tolist() == pytest.approx(frame.difference().tolist())
    gap = measured.difference()
    assert gap["value"] == pytest.approx(np.ptp(frame.difference()))
    assert 0 <= gap["interval_low"] < gap["value"] < gap["interval_high"]
    assert {gap["high"], gap["low"]} == {"north", "south"}


def test_an_undefined_group_is_never_fair() -> None:
    given: dict[str, Any] = {"predictions": "shown", "groups": ["f", "m"], "by": "place", "resamples": 100}
    measured = fs.measure(FRAME, "representation_disparity", **given)
    assert measured.by_group.loc["south", "state"] == "undefined"
    assert measured.by_group.loc["south", "reason"] == "no sample has a group label"
    assert np.isnan(measured.difference()["value"])
    assert measured.difference()["reason"] == "undefined: south"
    assert "undefined" in repr(measured)
    assert "<td>undefined: south</td>" in measured._repr_html_()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"metric": "acuracy_disparity"}, r"no metric 'acuracy_disparity' .did you mean 'accuracy_disparity'"),
        ({"predictions": "sayd"}, r"No column 'sayd' for predictions .did you mean 'said'.*Columns: said, true"),
        ({"by": "plaice"}, r"No column 'plaice' for by .did you mean 'place'"),
        ({"sample_weight": "true"}, r"'sample_weight' .did you mean clusters"),
        ({"occupations": "place"}, "no argument 'occupations'"),
    ],
)
def test_what_is_not_there_is_named_with_what_is(change: dict[str, Any], message: str) -> None:
    with pytest.raises((fs.UsageError, ValueError), match=message):
        fs.measure(FRAME, **{"metric": "accuracy_disparity", **COLUMNS, **change})
