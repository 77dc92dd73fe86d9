"""Every metric meets arguments that it cannot take with a coded error, whichever metric it is."""

import math
from importlib import import_module
from pathlib import Path
from typing import Any

import evaluate
import pytest

from fairspace.metrics.metric import COLUMNS
from tests.metrics.tables import ROOT

NAMES = sorted(path.parent.name for path in (ROOT / "metrics").glob("*/formula.py"))
FACTS = {
    "predictions": ["male", "male"],
    "references": ["male", "female"],
    "statistics": ["Weekly Income"] * 2,
    "levels": ["highest", "lowest"],
}


def metric(name: str, folder: Path) -> Any:
    """A metric as its folder defines it, which shares no class with any other folder."""
    module = import_module(f"fairspace.metrics.{name}.{name}")
    classes = [part for part in vars(module).values() if isinstance(part, type) and issubclass(part, evaluate.Metric)]
    (kind,) = (part for part in classes if part.__name__ != "ColumnMetric")
    return kind(cache_dir=str(folder))


@pytest.mark.parametrize("name", NAMES)
def test_every_metric_refuses_arguments_with_a_code(name: str, tmp_path: Path) -> None:
    loaded = metric(name, tmp_path)
    columns = {column: ["a"] for column in loaded.about.columns}
    last = list(columns)[-1]
    with pytest.raises(ValueError, match=rf"^METRIC_ARGUMENT: {name} has no argument 'prefix'.* it takes "):
        loaded.compute(**columns, prefix="")
    for wrong in (None, 3, "word"):
        with pytest.raises(ValueError, match=rf"^METRIC_LENGTH: {last} must be a column"):
            loaded.compute(**columns | {last: wrong})
    with pytest.raises(ValueError, match=r"^METRIC_LENGTH: \w+ must be a column"):
        loaded.compute()
    if len(columns) > 1:
        with pytest.raises(ValueError, match=r"^METRIC_LENGTH: the columns have different lengths"):
            loaded.compute(**columns | {last: ["a", "b"]})
        with pytest.raises(ValueError, match=r"^METRIC_"):
            loaded.add_batch(predictions=["a"])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("empty", [None, math.nan])
def test_columns_of_nothing_are_undefined_or_a_coded_error(name: str, empty: object, tmp_path: Path) -> None:
    loaded = metric(name, tmp_path)
    columns = {column: [empty] for column in loaded.about.columns}
    try:
        outcome = loaded.compute(**columns)["state"]
    except ValueError as error:
        outcome = str(error)
    assert outcome == "undefined" or outcome.startswith("METRIC_")


def test_a_near_name_is_proposed(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"METRIC_ARGUMENT: .*'group' \(did you mean 'groups'\?\)"):
        metric("representation_disparity", tmp_path).compute(predictions=["a"], group=["a", "b"])


def test_rows_may_be_added_one_by_one_and_in_batches(tmp_path: Path) -> None:
    added, whole = (metric("fact_or_fair", tmp_path / part) for part in ("added", "whole"))
    added.add(prediction="male", reference="male", statistics="Weekly Income", levels="highest")
    added.add_batch(**{name: column[1:] for name, column in FACTS.items()})
    assert added.compute() == whole.compute(**FACTS)
    with pytest.raises(ValueError, match=r"METRIC_ARGUMENT"):
        added.add(prediction="male", reference="male", statistic="Weekly Income", levels="highest")


def test_metrics_of_other_columns_can_be_combined(tmp_path: Path) -> None:
    names = ("accuracy_disparity", "statistical_parity_difference", "fact_or_fair")
    columns = FACTS | {"groups": ["female", "male"]}
    for way in ("at once", "added"):
        parts = {name: metric(name, tmp_path / way / name) for name in names}
        both = evaluate.combine(parts)
        if way == "added":
            both.add_batch(**columns)
        result = both.compute(**columns) if way == "at once" else both.compute()
        alone = {name: metric(name, tmp_path / way / "alone" / name) for name in names}
        for name, part in alone.items():
            mine = part.compute(**{column: columns[column] for column in part.about.columns})
            assert {key: result.get(key, result.get(f"{name}_{key}")) for key in mine} == mine
    with pytest.raises(ValueError, match=r"METRIC_ARGUMENT: fact_or_fair has no argument 'minimum'.*evaluate\.combine"):
        evaluate.combine(parts).compute(**columns, minimum=2)


def test_the_columns_that_are_passed_over_are_those_of_all_metrics(tmp_path: Path) -> None:
    columns = {column for name in NAMES for column in metric(name, tmp_path / name).about.columns}
    assert columns == COLUMNS


def test_a_statistic_has_one_true_group_of_each_level(tmp_path: Path) -> None:
    loaded = metric("fact_or_fair", tmp_path)
    more = {name: column + column[:1] for name, column in FACTS.items()} | {"references": ["male", "female", "female"]}
    with pytest.raises(ValueError, match=r"^METRIC_TRUTHS: references\[0\] is 'male' and references\[2\] is 'female'"):
        loaded.compute(**more)
    assert loaded.compute(**FACTS | {"references": ["male", ""]})["s_fact"]["value"] == 1.0


def test_what_is_no_number_is_named(tmp_path: Path) -> None:
    divergence, total = (metric(name, tmp_path / name) for name in ("distribution_divergence", "total_bias_score"))
    with pytest.raises(ValueError, match=r"METRIC_REFERENCE: .*finite"):
        divergence.compute(predictions=["a"], reference={"a": math.inf, "b": 1})
    with pytest.raises(ValueError, match=r"METRIC_NUMBER: predictions must hold numbers"):
        total.compute(predictions=["high"] * 8)
    with pytest.raises(ValueError, match=r"METRIC_LENGTH: low must be a column"):
        total.compute(predictions=[0.0] * 8, low=0.0)


def test_a_missing_judgement_of_genres_may_be_none(tmp_path: Path) -> None:
    loaded = metric("genres_bias", tmp_path)
    row = {name: [math.nan] if kind == "float64" else [None] for name, kind in loaded.about.columns.items()}
    assert loaded.compute(**row | {"relations": ["CS"]})["M4"]["counts"] == {"expected": 1, "valid": 0, "missing": 1}
    with pytest.raises(ValueError, match=r"METRIC_LENGTH: male_subjects must be a column"):
        loaded.compute(**{name: column for name, column in row.items() if name != "male_subjects"})
