import csv
import io
import json
from pathlib import Path

import pytest

from fairspace.builders.engine.tools import PersonBox
from fairspace.builders.sources import facet

COLUMNS = (
    *("person_id", "filename", "class1", "class2", "bounding_box", "has_tattoo"),
    *(f"skin_tone_{tone}" for tone in (*range(1, 11), "na")),
    *(f"gender_presentation_{name}" for name in ("masc", "fem", "non_binary", "na")),
    *(f"age_presentation_{name}" for name in ("young", "older", "middle", "na")),
)
BOX = {"x": 10.5, "y": -2, "width": 100, "height": 250.25, "dict_attributes": {"n": 1}}
ROWS: tuple[dict[str, object], ...] = (
    {"person_id": 7, "class1": "nurse", "class2": "doctor", "gender_presentation_fem": 1, "skin_tone_2": 2},
    {"person_id": 8, "class1": "lawman", "gender_presentation_masc": 1, "age_presentation_middle": 1},
    {"person_id": 90, "class1": "judge", "gender_presentation_non_binary": 1, "age_presentation_older": 1},
)


def text(rows: tuple[dict[str, object], ...] = ROWS) -> str:
    lines = io.StringIO()
    writer = csv.DictWriter(lines, COLUMNS, restval=0, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        first = {"filename": f"sa_{row['person_id']}.jpg", "class2": "", "bounding_box": json.dumps(BOX)}
        writer.writerow(first | row)
    return lines.getvalue()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for place in ("annotations", "imgs_1", "imgs_2"):
        (tmp_path / place).mkdir()
    for image in ("imgs_2/sa_7.jpg", "imgs_1/sa_8.jpg"):
        (tmp_path / image).touch()
    (tmp_path / facet.ANNOTATIONS).write_text(text())
    return tmp_path


def test_persons_are_read_with_their_labels_boxes_and_images(folder: Path) -> None:
    first, second, third = facet.persons(folder)
    assert first == facet.Person(
        line=2,
        person_id="7",
        file="imgs_2/sa_7.jpg",
        occupations=("nurse", "doctor"),
        gender="female",
        age="",
        skin_tone="light",
        box=PersonBox(10.5, -2.0, 100.0, 250.25, 1.0),
    )
    assert (second.file, second.gender, second.age, second.skin_tone) == ("imgs_1/sa_8.jpg", "male", "middle-aged", "")
    assert (third.file, third.gender, third.age) == ("images/sa_90.jpg", "", "older")


def test_a_byte_order_mark_line_ends_and_column_order_change_nothing(folder: Path) -> None:
    good = list(facet.persons(folder))
    rows = list(csv.reader(io.StringIO(text())))
    turned = io.StringIO()
    csv.writer(turned, lineterminator="\r\n").writerows(row[::-1] for row in rows)
    (folder / facet.ANNOTATIONS).write_bytes(b"\xef\xbb\xbf" + turned.getvalue().encode())
    assert list(facet.persons(folder)) == good


def test_boxes_with_python_quotes_are_read(folder: Path) -> None:
    (folder / facet.ANNOTATIONS).write_text(text(({**ROWS[0], "bounding_box": str(BOX)},)))
    assert next(facet.persons(folder)).box[:4] == (10.5, -2.0, 100.0, 250.25)


@pytest.mark.parametrize(
    ("votes", "cannot_tell", "label"),
    [
        ((0, 0, 0, 0, 0, 0, 0, 0, 0, 0), 0, ""),
        ((1, 0, 0, 0, 0, 0, 0, 0, 0, 0), 0, "light"),
        ((0, 0, 1, 1, 0, 0, 1, 0, 0, 0), 0, "middle"),
        ((0, 0, 0, 0, 0, 0, 1, 1, 0, 1), 0, "dark"),
        ((0, 0, 1, 1, 0, 0, 0, 0, 0, 0), 0, ""),
        ((1, 0, 0, 0, 0, 0, 0, 0, 0, 1), 0, ""),
        ((1, 0, 0, 0, 1, 0, 0, 0, 0, 1), 0, "middle"),
        ((2, 0, 0, 0, 1, 0, 0, 0, 0, 2), 0, ""),
        ((2, 0, 0, 0, 0, 0, 2, 1, 0, 0), 0, "middle"),
        ((0, 0, 2, 0, 0, 0, 0, 0, 0, 0), 2, "light"),
        ((0, 0, 2, 0, 0, 0, 0, 0, 0, 0), 3, ""),
    ],
)
def test_skin_tone_is_the_group_with_most_votes_and_ties_go_to_the_median(
    votes: tuple[int, ...], cannot_tell: int, label: str
) -> None:
    assert facet.skin_tone(votes, cannot_tell) == label


def test_contradicting_labels_are_none(folder: Path) -> None:
    both = {"gender_presentation_fem": 1, "gender_presentation_masc": 1}
    ages = {"age_presentation_young": 1, "age_presentation_na": 1}
    (folder / facet.ANNOTATIONS).write_text(text(({**ROWS[0], **both, **ages},)))
    person = next(facet.persons(folder))
    assert (person.gender, person.age) == ("", "")
