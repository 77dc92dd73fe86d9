import random
from pathlib import Path

import pytest

from fairspace.builders.errors import BuildError
from fairspace.builders.sources import SOURCES, count_images, faces
from fairspace.builders.sources.faces import UtkFace

FAIRFACE = """file,age,gender,race,service_test
val/1.jpg,3-9,Male,East Asian,False
val/2.jpg,50-59,Female,Latino_Hispanic,True
val/3.jpg,more than 70,Female,Middle Eastern,False
"""
MST_E = """image_ID,subject_name,MST,pose,lighting,mask
IMG_1.jpg,subject_5,7,frontal,well_lit,0
clip.mp4,subject_5,7,video,,
IMG_2.JPEG,subject_12,10,side,poorly_lit,1
"""
TIME = "20170116174525125"


def ages(folder: Path, *cells: str) -> list[faces.SourceFace]:
    rows = "".join(f"train/{n}.jpg,{cell},Male,White,True\n" for n, cell in enumerate(cells))
    (folder / "fairface_label_train.csv").write_text("file,age,gender,race,service_test\n" + rows)
    return list(faces.faces(folder, "train"))


def test_faces_are_read_and_a_missing_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "fairface_label_val.csv").write_text(FAIRFACE)
    first, second, third = faces.faces(tmp_path, "val")
    assert first == faces.SourceFace(2, "val/1.jpg", "male", "young", "3-9", "East Asian")
    assert (second.gender, second.age, second.race) == ("female", "middle-aged", "Latino_Hispanic")
    assert (third.line, third.age, third.bucket) == (4, "older", "more than 70")
    with pytest.raises(BuildError, match=r"SOURCE_MISSING.*fairface_label_train\.csv"):
        next(faces.faces(tmp_path, "train"))


def test_a_bucket_has_a_group_only_where_it_lies_in_one(tmp_path: Path) -> None:
    found = {face.bucket: face.age for face in ages(tmp_path, *faces.BUCKETS)}
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
def test_a_bucket_that_became_a_date_is_repaired_and_told(tmp_path: Path, cell: str, bucket: str) -> None:
    face, whole = ages(tmp_path, cell, "3-9")
    assert (face.bucket, face.age, face.damaged) == (bucket, "young", cell)
    assert whole.damaged == ""


@pytest.mark.parametrize(
    "cell", ["9-Apr", "3-Mar", "19-Mar", "9-Oct", "Mar-21", "3/9", "3/9/2021", "2021-03-09", "44264"]
)
def test_a_date_that_could_be_anything_is_refused_as_damage(tmp_path: Path, cell: str) -> None:
    with pytest.raises(BuildError) as caught:
        ages(tmp_path, "0-2", cell)
    assert (caught.value.code, caught.value.where) == ("SOURCE_DAMAGED", f"{tmp_path / 'fairface_label_train.csv'}:3")
    assert repr(cell) in caught.value.what


def test_every_race_maps_to_one_of_fact_or_fair() -> None:
    assert set(faces.FACT_OR_FAIR_RACES.values()) == {"Asian", "Black", "Hispanic", "White"}
    assert len(faces.FAIRFACE_RACES) == 7


def test_images_are_read_with_the_groups_of_iris_and_videos_left_out(tmp_path: Path) -> None:
    (tmp_path / faces.DETAILS).write_text(MST_E)
    assert list(faces.images(tmp_path)) == [
        faces.MstImage("subject_5/IMG_1.jpg", "subject_5", "middle"),
        faces.MstImage("subject_12/IMG_2.JPEG", "subject_12", "dark"),
    ]
    header, row, *_ = MST_E.splitlines()
    (tmp_path / faces.DETAILS).write_text("\n".join([header, *(row.replace("_5,7", f"_5,{n}") for n in range(1, 11))]))
    tones = [image.skin_tone for image in faces.images(tmp_path)]
    assert tones == ["light"] * 3 + ["middle"] * 4 + ["dark"] * 3


@pytest.mark.parametrize(
    ("name", "face"),
    [
        (f"26_1_3_{TIME}.jpg", (26, "female", "Indian")),
        (f"1_0_0_{TIME}.jpg.chip.jpg", (1, "male", "White")),
        (f"116_1_1_{TIME}.JPG", (116, "female", "Black")),
        (f"0_0_2_{TIME}.jpg", (0, "male", "Asian")),
        (f"30_0_4_{TIME}.jpg", (30, "male", "")),
    ],
)
def test_a_name_states_age_gender_and_race(name: str, face: tuple[int, str, str]) -> None:
    assert faces.read_name(f"part1/{name}") == UtkFace(f"part1/{name}", *face)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("readme.txt", "other file"),
        (f"._26_1_3_{TIME}.jpg", "other file"),
        (f"26_1_3_{TIME}.png", "other file"),
        ("61_1_20170109142408075.jpg.chip.jpg", "missing part"),
        ("39_1_20170116174525125.jpg", "missing part"),
        ("53__0_20170116184028385.jpg", "missing part"),
        (f"26_1_3_4_{TIME}.jpg", "missing part"),
        (f"117_1_3_{TIME}.jpg", "age"),
        (f"-1_1_3_{TIME}.jpg", "age"),
        (f"2.5_1_3_{TIME}.jpg", "age"),
        (f"٣_1_3_{TIME}.jpg", "age"),
        (f"26_2_3_{TIME}.jpg", "gender"),
        (f"26_3_7_{TIME}.jpg", "gender"),
        (f"26_1_5_{TIME}.jpg", "race"),
        (f"26_1_03_{TIME}.jpg", "race"),
        ("24_0_1_20170116220224657 .jpg.chip.jpg", "date and time"),
        ("55_0_0_20170116232725357jpg.chip.jpg", "date and time"),
        ("26_1_3_2017.jpg", "date and time"),
    ],
)
def test_a_malformed_name_has_its_reason(name: str, reason: str) -> None:
    assert faces.read_name(name) == reason
    assert reason in faces.REASONS


def test_a_scan_is_sorted_counted_and_the_same_whatever_the_disk_lists_first(tmp_path: Path) -> None:
    names = [f"{part}/{age}_0_{race}_{TIME}.jpg" for part in ("part2", "part1") for age in (30, 4) for race in (1, 4)]
    names += [f"{age}_1_0_{TIME}.jpg.chip.jpg" for age in (9, 50)]
    bad = [f"part1/61_1_{TIME}.jpg", f"part1/99_0_9_{TIME}.jpg", "part2/60_9_0_1.jpg", "part2/59_9_0_1.jpg"]
    scans = []
    for seed in range(3):
        folder = tmp_path / str(seed)
        order = [*names, *bad]
        random.Random(seed).shuffle(order)
        for name in order:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).touch()
        scans.append(faces.scan(folder))
    assert scans[0] == scans[1] == scans[2]
    files = [face.file for face in scans[0].faces]
    assert files == sorted(files)
    assert len(files) == 6
    assert scans[0].skipped == {"missing part": 1, "gender": 2, "race": 1, "twice": 4}
    assert scans[0].examples["gender"] == "part2/59_9_0_1.jpg"
    assert not [file for file in files if file.startswith("part2/")]


@pytest.mark.parametrize(("names", "what"), [((), "no files"), (("a.jpg", "b.txt"), "1 files: missing part")])
def test_a_folder_without_the_layout_is_refused(tmp_path: Path, names: tuple[str, ...], what: str) -> None:
    for name in names:
        (tmp_path / name).touch()
    with pytest.raises(BuildError) as caught:
        faces.scan(tmp_path)
    assert (caught.value.code, caught.value.where) == ("SOURCE_LAYOUT", str(tmp_path))
    assert what in caught.value.what


def test_a_source_is_found_by_its_first_file(tmp_path: Path) -> None:
    for file in ("facet/annotations/annotations.csv", "fairface/train/1.jpg", "utkface/part1/a.JPG", "utkface/b.jpg"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    found = {name: source.found(tmp_path) for name, source in SOURCES.items()}
    facet, utkface = tmp_path / "facet", tmp_path / "utkface"
    assert (found["facet"], found["fairface"], found["utkface"]) == (facet, None, utkface)
    assert (SOURCES["facet"].absent(facet), count_images(facet)) == (["**/*.jpg"], 0)
    assert (SOURCES["utkface"].absent(utkface), count_images(utkface)) == ([], 2)


def test_a_source_that_is_not_there_says_where_to_get_it(tmp_path: Path) -> None:
    for source in SOURCES.values():
        with pytest.raises(BuildError, match="SOURCE_MISSING") as caught:
            source.need(tmp_path)
        assert source.address in caught.value.mend
        assert source.licence in caught.value.mend


def test_faces_whose_licence_forbids_it_are_not_published() -> None:
    assert [name for name, row in SOURCES.items() if row.published != "yes"] == ["facet", "utkface", "mst_e"]
