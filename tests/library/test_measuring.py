"""`fs.measure` on own columns: as the metric and as fairlearn's MetricFrame; errors that say what there is."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import fairspace as fs
from fairspace.metrics.accuracy_disparity.accuracy_disparity import AccuracyDisparity
from fairspace.metrics.representation_disparity.representation_disparity import RepresentationDisparity

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


SHOWN: dict[str, Any] = {"predictions": "shown", "groups": ["f", "m"]}


@pytest.mark.parametrize(
    ("columns", "groups"),
    [
        ({"by": [1, "1", True, "True", 1.0, 1]}, 4),  # 1.0 is 1, as in a column that lost its integers
        ({"by": ["a, b", "a|b", "a", "b", "a", "b"]}, 4),
        ({"by": ["a", "a", "a, b", "a", "b", "b"], "more": ["b, c", "c", "c", "c", "c", "c"]}, 4),
    ],
    ids=["types", "texts", "two columns"],
)
def test_labels_are_keys_and_never_joined_texts(columns: dict[str, list[Any]], groups: int) -> None:
    frame = pd.DataFrame(
        {"shown": list("fmfmfm"), **{name: pd.Series(cells, dtype=object) for name, cells in columns.items()}}
    )
    measured = fs.measure(frame, "representation_disparity", by=list(columns), confidence=None, **SHOWN)
    assert len(measured.by_group) == groups == len(set(measured.by_group.index))


@pytest.mark.parametrize("nothing", [None, float("nan"), pd.NA, pd.NaT, ""])
def test_rows_without_a_group_are_in_none_and_are_counted(nothing: Any) -> None:
    frame = pd.DataFrame(
        {"shown": list("fmfmfm"), "by": pd.Series(["a", "a", nothing, "b", "b", nothing], dtype=object)}
    )
    frame.index = pd.RangeIndex(5, 11)
    measured = fs.measure(frame, "representation_disparity", by="by", confidence=None, **SHOWN)
    assert measured.by_group["valid"].tolist() == [2, 2]
    assert {name: len(rows) for name, rows in measured.without_group.items()} == {"by": 2}
    assert "2 rows without 'by'" in " ".join(str(measured).split())


def test_modules_take_a_filtered_series_with_missing_cells_and_groups_may_be_numbers() -> None:
    series = pd.Series(["f", pd.NA, "m", np.nan, "f"], index=[9, 3, 3, 1, 0])
    found = RepresentationDisparity().compute(predictions=series, groups=["f", "m"])
    assert found["counts"] == {"expected": 5, "valid": 3, "missing": 2}
    frame = pd.DataFrame({"said": [0, 1, 1, 0, 1]})
    by_number = fs.measure(frame, "representation_disparity", predictions="said", groups=[0, 1], confidence=None)
    by_text = fs.measure(
        frame.astype(str), "representation_disparity", predictions="said", groups=["0", "1"], confidence=None
    )
    assert by_number.overall["value"].tolist() == by_text.overall["value"].tolist()


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(40, 20, 3), (20, 20, 20)])
def test_groups_of_one_coin_differ_by_chance_alone(sizes: tuple[int, ...]) -> None:
    random, groups, sure = np.random.default_rng(5), np.repeat(list("abc"), sizes), 0
    for _ in range(15):
        frame = pd.DataFrame({"said": random.random(len(groups)) < 0.5, "group": groups})
        asked: dict[str, Any] = {"predictions": "said", "groups": [False, True], "by": "group", "resamples": 60}
        sure += fs.measure(frame, "representation_disparity", **asked).difference()["interval_low"] > 0
    assert sure <= 2  # 5 % of 15 are .75; three or more come in 4 %


def test_a_group_of_three_alike_rows_says_little() -> None:
    frame = pd.DataFrame({"said": ["a"] * 3 + ["a", "b"] * 148, "group": ["c"] * 3 + ["d"] * 296})
    measured = fs.measure(frame, "statistical_parity_difference", predictions="said", groups="group", resamples=200)
    row = measured.by_group.loc["c"]
    assert (row["value"], row["valid"], row["interval_high"]) == (1, 3, 1)
    assert row["interval_low"] == pytest.approx(0.025 ** (1 / 3))
    assert measured.overall.iloc[0][["class", "high", "low", "interval_low"]].tolist() == ["a", "c", "d", 0]
    assert "a: c above d" in repr(measured)


def test_swaps_fill_each_template_with_every_combination() -> None:
    rows = fs.swaps({"a": "{name} is {age}. {pro}?"}, gender={"f": {"name": "Ann", "pro": "She"}}, age=["old", "young"])
    assert rows.to_dict("records") == [
        {"template": "a", "gender": "f", "age": age, "prompt": f"Ann is {age}. She?"} for age in ("old", "young")
    ]
    for template, message in (("{nam}", "fills {nam} of template 0 .did you mean 'name'"), ("{name}", "shows no age")):
        with pytest.raises(fs.UsageError, match=message):
            fs.swaps([template], gender={"f": {"name": "Ann"}}, age=["old"])
