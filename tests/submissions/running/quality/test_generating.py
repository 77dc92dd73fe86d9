from pathlib import Path

import pytest

from fairspace.submissions.benchmarks.iris.records import STEER
from fairspace.submissions.errors import UsageError
from fairspace.submissions.format.schema import ANNOTATIONS
from fairspace.submissions.running.asking.inspect_task import ChosenPart
from fairspace.submissions.running.images.generating import _rate, quality_roles
from fairspace.submissions.running.quality.models import SCHEMES
from fairspace.submissions.running.settings import RunSettings, RunSteps
from tests.builders.models import tiny
from tests.submissions.running.quality import factory


def test_roles_that_are_not_named_are_left_out_and_none_rate_nothing() -> None:
    assert quality_roles({}) == {}
    assert quality_roles({"face-iqa": "clip:x"}) == {
        "iqa": "",
        "face_iqa": "clip:x",
        "similarity": "",
        "reference": "",
    }
    assert len(quality_roles(dict.fromkeys(SCHEMES, "clip"))) == len(SCHEMES)


@pytest.mark.parametrize(
    ("role", "said"),
    [
        ("face_iqa", "did you mean 'face-iqa'"),
        ("similarty", "did you mean 'similarity'"),
        ("", "Known: iqa, face-iqa, similarity, reference"),
    ],
)
def test_an_unknown_role_is_told_with_the_known_ones(role: str, said: str) -> None:
    with pytest.raises(UsageError, match=said.replace("(", "\\(")):
        quality_roles({"iqa": "clip", role: "clip"})


def test_a_run_rates_its_steered_images_and_counts_each_once(tmp_path: Path) -> None:
    clip = f"clip:{tiny.clip(tmp_path / 'clip')}"
    work = tmp_path / "mine.run"
    rows = [*factory.stored(5), factory.Stored(factory.IDS[0], 9, None, "refused")]
    factory.images(work / "images" / STEER / "shards", rows)
    made = RunSteps(tables={"annotations": factory.annotated(rows)})
    settings = RunSettings(
        ChosenPart("iris"), tmp_path / "mine", images="python:a:b", ares="a", quality={"face-iqa": clip}, device="cpu"
    )
    _rate(settings, work, made, lambda what, done, total: None)
    table = made.tables["annotations"]
    assert table.schema.names == ANNOTATIONS.names
    assert [value is not None for value in table["face_quality"].to_pylist()] == [True] * 5 + [False]
    assert table["image_quality"].null_count == table.num_rows
    (stage,) = made.stages
    assert (stage.what, stage.requests) == ("quality", 6)
    assert stage.fates == {"measured": 5, "unreadable": 0, "refused": 1, "missing": 0}
    assert list(stage.settings) == ["face_quality"]
    assert str(tmp_path) not in stage.model_dump_json()


def test_without_steered_images_nothing_is_rated_and_it_is_said(tmp_path: Path) -> None:
    made = RunSteps(tables={"annotations": factory.annotated(factory.stored(2))})
    settings = RunSettings(
        ChosenPart("iris"), tmp_path / "mine", images="python:a:b", ares="a", quality={"iqa": "clip"}
    )
    _rate(settings, tmp_path, made, lambda what, done, total: None)
    assert not made.stages
    assert "not measured" in made.notes[0]
