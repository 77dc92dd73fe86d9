from pathlib import Path

import pytest

from fairspace.builders.errors import BuildError
from fairspace.builders.sources import faces
from tests.builders.sources.refusals import TEXT_FILES, Refusal, refuses, replaced

GOOD = """file,age,gender,race,service_test
val/1.jpg,3-9,Male,East Asian,False
val/2.jpg,50-59,Female,Latino_Hispanic,True
val/3.jpg,more than 70,Female,Middle Eastern,False
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "fairface_label_val.csv").write_text(GOOD)
    return tmp_path


def ages(folder: Path, *cells: str) -> list[faces.SourceFace]:
    rows = "".join(f"train/{n}.jpg,{cell},Male,White,True\n" for n, cell in enumerate(cells))
    (folder / "fairface_label_train.csv").write_text("file,age,gender,race,service_test\n" + rows)
    return list(faces.faces(folder, "train"))


def test_faces_are_read(folder: Path) -> None:
    first, second, third = faces.faces(folder, "val")
    assert first == faces.SourceFace(2, "val/1.jpg", "male", "young", "3-9", "East Asian")
    assert (second.gender, second.age, second.race) == ("female", "middle-aged", "Latino_Hispanic")
    assert (third.line, third.age, third.bucket) == (4, "older", "more than 70")


def test_a_bucket_has_a_group_only_where_it_lies_in_one(folder: Path) -> None:
    found = {face.bucket: face.age for face in ages(folder, *faces.BUCKETS)}
    assert found == faces.BUCKETS
    for bucket, group in found.items():
        if "-" not in bucket:
            continue
        low, high = map(int, bucket.split("-"))
        groups = {"young" if age < 40 else "middle-aged" if age < 65 else "older" for age in (low, high)}
        assert groups == {group} if group else len(groups) == 2


@pytest.mark.parametrize(
    ("cell", "bucket"),
    [
        ("9-Mar", "3-9"),
        ("09-Mar", "3-9"),
        ("Mar-09", "3-9"),
        ("3-Sep", "3-9"),
        ("03-Sep", "3-9"),
        ("9 mar", "3-9"),
        ("19-Oct", "10-19"),
        ("Oct-19", "10-19"),
    ],
)
def test_a_bucket_that_became_a_date_is_repaired_and_told(folder: Path, cell: str, bucket: str) -> None:
    (face,) = ages(folder, cell)
    assert (face.bucket, face.age, face.damaged) == (bucket, "young", cell)


def test_repairs_can_be_counted(folder: Path) -> None:
    assert [face.damaged for face in ages(folder, "9-Mar", "3-9", "19-Oct", "20-29")] == ["9-Mar", "", "19-Oct", ""]


@pytest.mark.parametrize(
    "cell", ["9-Apr", "3-Mar", "19-Mar", "9-Oct", "Mar-21", "3/9", "3/9/2021", "2021-03-09", "44264"]
)
def test_a_date_that_could_be_anything_is_refused_as_damage(folder: Path, cell: str) -> None:
    with pytest.raises(BuildError) as caught:
        ages(folder, "0-2", cell)
    assert (caught.value.code, caught.value.where) == ("SOURCE_DAMAGED", f"{folder / 'fairface_label_train.csv'}:3")
    assert repr(cell) in caught.value.what


def test_every_race_maps_to_one_of_fact_or_fair() -> None:
    assert set(faces.FACT_OR_FAIR_RACES.values()) == {"Asian", "Black", "Hispanic", "White"}
    assert len(faces.FAIRFACE_RACES) == 7


REFUSALS = (
    *TEXT_FILES,
    Refusal("missing column", replaced("service_test", "test"), "SOURCE_LAYOUT", ":1", "no column service_test"),
    Refusal("unknown age", replaced("50-59", "50-60"), "SOURCE_VALUE", ":3", "the age '50-60'"),
    Refusal("no age", replaced("50-59", ""), "SOURCE_VALUE", ":3", "the age ''"),
    Refusal("gender", replaced("Male", "M"), "SOURCE_VALUE", ":2", "the gender 'M'"),
    Refusal("race", replaced("East Asian", "Asian"), "SOURCE_VALUE", ":2", "the race 'Asian'"),
    Refusal("path", replaced("val/1.jpg", "val/../../1.jpg"), "SOURCE_VALUE", ":2", "val/../../1.jpg"),
    Refusal("windows path", replaced("val/1.jpg", "val\\1.jpg"), "SOURCE_VALUE", ":2", "val"),
)


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda r: r.name)
def test_a_file_that_breaks_the_layout_is_refused(folder: Path, refusal: Refusal) -> None:
    refuses(lambda: list(faces.faces(folder, "val")), refusal, folder / "fairface_label_val.csv")


def test_a_missing_file_is_named(folder: Path) -> None:
    with pytest.raises(BuildError, match=r"SOURCE_MISSING.*fairface_label_train\.csv"):
        next(faces.faces(folder, "train"))
