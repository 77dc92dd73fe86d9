import random
from pathlib import Path

import pytest

from fairspace.builders.errors import BuildError
from fairspace.builders.sources import faces
from fairspace.builders.sources.faces import UtkFace

TIME = "20170116174525125"


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
