"""IRIS extended by the steps of CONTRIBUTING.md (A.4): earlier scores stay the same, to the byte."""

import json
import math
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from fairspace.ares.annotating.annotate import annotate
from fairspace.ares.configuration_ares import RACE
from fairspace.ares.image_processing_ares import AresImageProcessor
from fairspace.ares.modeling_ares import AresModel
from fairspace.ares.training.config import CONFIGS, TaskSettings, read_config
from fairspace.ares.training.stages import extended
from fairspace.builders.iris import groups
from fairspace.metrics.iris_score.granular import Granular, table_sha256
from fairspace.metrics.iris_score.standards import ALGORITHM_1, BOUNDED, GRANULAR, STANDARDS, IrisStandard
from fairspace.submissions.benchmarks.iris import quantities as iris_values
from fairspace.submissions.benchmarks.iris.records import Records
from fairspace.submissions.errors import UsageError
from fairspace.submissions.format.schema import Submission, SubmissionMeta
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import load_result, rescore, score_submission
from fairspace.submissions.standards import differences, document
from fairspace.submissions.values import Value, measured
from tests.submissions.benchmarks.iris import factory as iris_factory
from tests.submissions.benchmarks.iris.factory import measure
from tests.submissions.benchmarks.iris.results import iris_result
from tests.test_ares_submission import meta
from tests.test_ares_submission import submission as image_submission
from tests.tiny_ares import random_ares, random_router

APPEAL = Granular("PFS_appeal_gap", "PFS_Und", "appeal_gap", "gender", bound=4.0)
DELAY = Granular("PFS_appeal_delay", "PFS_Und", "appeal_delay", "gender", bound=None)


@pytest.fixture(scope="module")
def full() -> Submission:
    return iris_factory.submission()


def wider(*further: Granular) -> IrisStandard:
    """Steps 3 and 4: a new standard with the 60 metrics and further ones, in sectors of their own."""
    metrics = (*GRANULAR, *further)
    bounds = {metric.metric: metric.bound for metric in further if metric.bound is not None}
    sectors = {metric.sector for metric in further}
    return replace(
        ALGORITHM_1,
        name="procedural",
        draft="an example",
        metrics=metrics,
        metrics_sha256=table_sha256(metrics),
        scale={**ALGORITHM_1.scale, **dict.fromkeys(sectors, 100.0)},
        decay={**ALGORITHM_1.decay, **dict.fromkeys(sectors, 2.0)},
        sector_divisor={**ALGORITHM_1.sector_divisor, **bounds},
        total_divisor={**ALGORITHM_1.total_divisor, **bounds},
    )


def procedural(records: Records) -> Iterable[Value]:
    """Steps 1 and 2: raw values of a new dimension, with numbers of our choice."""
    rows = 0 if records.occupations is None else len(records.occupations.text)
    yield measured(APPEAL.name, 1.0, low=1.0, high=3.0, expected=rows, valid=rows)
    yield measured(DELAY.name, 3.0, low=3.0, high=3.0, expected=rows, valid=rows)


@pytest.mark.slow
def test_a_new_dimension_is_measured_and_scored_and_changes_no_score_that_there_was(
    full: Submission, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {name: score_submission(full, name).dumps() for name in STANDARDS}
    names = list(measure(full))
    monkeypatch.setattr(iris_values, "MEASURES", (*iris_values.MEASURES, procedural))
    monkeypatch.setitem(STANDARDS, "procedural", wider(APPEAL, DELAY))
    found = score_submission(full, "procedural")
    assert [name for name in found.values if name in names] == names
    assert set(found.values) - set(names) == {APPEAL.name, DELAY.name}

    for name, text in before.items():
        old = Result.from_json(json.loads(text))
        assert rescore(old, name).dumps() == text
        now = score_submission(full, name)
        assert now.scored == old.scored
        assert {key: now.values[key] for key in names} == old.values

    # By hand: u = m / m_max = 1 / 4 and log(1 + m) = log 4; the worst case has 3 / 4.
    distance = math.hypot(0.25, math.log(4))
    new = found.scored.scores["PFS_Und"]
    assert new.value == pytest.approx(100 * math.exp(-2 * distance))
    assert new.low == pytest.approx(100 * math.exp(-2 * math.hypot(0.75, math.log(4))))
    without = rescore(found, "algorithm_1").scored.scores["iris_score"].evidence["magnitude"]
    assert found.scored.scores["iris_score"].evidence["magnitude"] == pytest.approx(math.hypot(without, distance))
    assert {name: found.scored.scores[name] for name in ALGORITHM_1.sectors} == {
        name: score for name, score in rescore(found, "algorithm_1").scored.scores.items() if name != "iris_score"
    }


def test_a_result_from_before_the_new_dimension_stands_unranked_under_it_and_says_why(
    full: Submission, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = score_submission(full)
    monkeypatch.setitem(STANDARDS, "procedural", wider(APPEAL, DELAY))
    now = rescore(old, "procedural")
    assert now.scored.scores["PFS_Und"].state == "undefined"
    assert now.scored.ranked is None
    assert any(f"the first is {APPEAL.name}: the result does not hold it" in why for why in now.scored.unranked)
    assert rescore(now, "").dumps() == old.dumps()


def test_the_new_standard_says_what_it_adds() -> None:
    told = differences(document("iris", ALGORITHM_1), document("iris", wider(APPEAL, DELAY)))
    names = {name for name, *_ in told}
    assert {name for name in names if name.startswith("metrics.")} == {
        f"metrics.{APPEAL.name}",
        f"metrics.{DELAY.name}",
    }
    assert {"scale.PFS_Und", "decay.PFS_Und", "sector_divisor.appeal_gap"} <= names


def test_draws_of_a_new_dimension_are_scored_too(monkeypatch: pytest.MonkeyPatch) -> None:
    standard = wider(APPEAL, DELAY)
    monkeypatch.setitem(STANDARDS, "procedural", standard)
    result = iris_result("model", "lab", 0.1, 0.05, **{APPEAL.name: 1.0, DELAY.name: 3.0})
    scored = rescore(result, "procedural").scored
    for name in ("PFS_Und", "iris_score"):
        error = scored.scores[name].uncertainty
        assert error is not None
        assert error.low < (scored.scores[name].value or 0) < error.high


@pytest.mark.slow
def test_own_figures_have_a_standard_of_their_own_that_no_board_ranks(full: Submission, tmp_path: Path) -> None:
    file = tmp_path / "labour_xy.csv"
    file.write_bytes(groups.REGIONS[0].file.read_bytes())
    before, regional = score_submission(full, "", 100), score_submission(full, "", 100, region=file)
    code, values, scores = groups.read_region(file).code, regional.values, regional.scored.scores
    assert regional.standard == f"region_{code}_gender_age_skin"
    assert values[f"JSD_{code}_skin"].value == values["JSD_US_skin"].value
    assert {key: values[key].value for key in before.values} == {key: v.value for key, v in before.values.items()}
    for name in STANDARDS:
        (now, then) = ([v.value for v in rescore(r, name).scored.scores.values()] for r in (regional, before))
        assert now == then
    distance = math.sqrt(5 / 3) * math.hypot(*(values[f"JSD_US_{name}"].value or 0 for name in groups.GROUP_NAMES))
    expected = 100 * math.exp(-BOUNDED.decay["RFS_Gen"] * distance / math.log(2))  # three values count as five do
    assert scores["RFS_Gen"].value == pytest.approx(expected)
    assert scores["RFS_Gen"].uncertainty is not None
    assert regional.scored.ranked is None
    assert any("no board ranks" in why for why in regional.scored.unranked)
    (tmp_path / "own.json").write_text(regional.dumps())
    assert load_result(tmp_path / "own.json").scored.scores["RFS_Gen"].value == scores["RFS_Gen"].value
    assert rescore(before, regional.standard).scored.scores["RFS_Gen"].value is None
    with pytest.raises(UsageError, match="bounded takes no labour figures of a region"):
        score_submission(full, "bounded", region=file)


def with_race(model: Path, folder: Path) -> Path:
    """The model with the registry's untrained `race`, as `add_attribute` adds it before training."""
    settings = read_config(CONFIGS / "tiny.toml").model_copy(update={"tasks": [TaskSettings(name="race")]})
    torch.manual_seed(1)
    grown = extended(AresModel.from_pretrained(model), settings, [RACE]).eval()
    kinds = len(grown.config.kinds)
    grown.escalation["race"] = random_router(np.random.RandomState(1), len(RACE["labels"]), kinds, depth=2, trees=3)
    grown.save_pretrained(folder)
    AresImageProcessor.from_pretrained(model).save_pretrained(folder)
    return folder


def test_a_new_attribute_of_ares_leaves_the_others_labels_and_every_iris_value_alone(tmp_path: Path) -> None:
    """`tests/ares/training/test_stages.py` covers a trained attribute and every weight; this test covers benchmarks."""
    torch.set_num_threads(1)
    images = image_submission(tmp_path / "images", "iris")
    tiny = random_ares()
    tables = []
    for model in (tiny, with_race(tiny, tmp_path / "race")):
        made = annotate(model, images, tmp_path / f"{model.name}-labels", device="cpu")
        tables.append(pa.concat_tables([pq.read_table(file) for file in made.files]).replace_schema_metadata(None))
    before, after = tables
    assert before["race"].null_count == before.num_rows
    assert set(after["race"].drop_null().to_pylist()) <= set(RACE["labels"])
    assert after["race"].null_count == (before.num_rows - before["gender"].drop_null().length())
    assert before.drop_columns("race").equals(after.drop_columns("race"))

    told = SubmissionMeta.model_validate(meta("iris") | {"labels": {"name": "tiny", "version": "1"}})
    old, new = (measure(Submission(told, {"annotations": table})) for table in tables)
    assert old == new
    assert any(value.state == "value" for value in new.values())
