"""Tables of labels: each reader reads one, or refuses it with a code, the line and what is wrong in it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairspace.builders.errors import BuildError
from fairspace.builders.sources import faces, facet
from tests.builders.sources.test_faces import FAIRFACE, MST_E
from tests.builders.sources.test_facet import ROWS, text

READERS: dict[str, tuple[Callable[[Path], Any], str, str]] = {
    "facet": (lambda folder: list(facet.persons(folder)), facet.ANNOTATIONS, text()),
    "fairface": (lambda folder: list(faces.faces(folder, "val")), "fairface_label_val.csv", FAIRFACE),
    "mst_e": (lambda folder: list(faces.images(folder)), faces.DETAILS, MST_E),
}
"""Source -> its reader, its file, and a good one of three rows."""


class Refusal(NamedTuple):
    """A change of a good file, and the error: code, end of `where`, part of `found`."""

    name: str
    change: Callable[[bytes], bytes]
    code: str
    where: str
    what: str


def replaced(old: str, new: str | bytes) -> Callable[[bytes], bytes]:
    def change(good: bytes) -> bytes:
        assert old.encode() in good
        return good.replace(old.encode(), new if isinstance(new, bytes) else new.encode(), 1)

    return change


TEXT_FILES = (
    Refusal("empty file", lambda good: b"", "SOURCE_LAYOUT", ":1", "an empty file"),
    Refusal("only a header", lambda good: good.split(b"\n")[0] + b"\n", "SOURCE_LAYOUT", ":2", "no rows"),
    Refusal("another separator", lambda good: good.replace(b",", b";"), "SOURCE_LAYOUT", ":1", "no column"),
    Refusal("short row", lambda good: good.rstrip(b"\n").rpartition(b",")[0], "SOURCE_LAYOUT", ":4", "cells"),
    Refusal("long row", lambda good: good.rstrip(b"\n") + b",1\n", "SOURCE_LAYOUT", ":4", "cells"),
    Refusal("not UTF-8", lambda good: good + b"\xe9\n", "SOURCE_LAYOUT", ":5", "the byte 0xe9 at column 1"),
    Refusal("UTF-16", lambda good: good.decode().encode("utf-16"), "SOURCE_LAYOUT", ":1", "the byte 0xff"),
    Refusal("NUL", lambda good: good + b"\0\n", "SOURCE_LAYOUT", ":5", "a NUL character"),
    Refusal("old line ends", lambda good: good.replace(b"\n", b"\r"), "SOURCE_LAYOUT", ":1", "new-line character"),
    Refusal("open quote", lambda good: good + b'"\n', "SOURCE_LAYOUT", ":5", "unexpected end of data"),
)
REFUSALS = {
    "facet": (
        Refusal("missing column", replaced("skin_tone_na", "na"), "SOURCE_LAYOUT", ":1", "no column skin_tone_na"),
        Refusal("column twice", replaced("has_tattoo", "class1"), "SOURCE_LAYOUT", ":1", "class1 twice"),
        Refusal("class", replaced("lawman", "sheriff"), "SOURCE_VALUE", ":3", "the class 'sheriff'"),
        Refusal("no class", replaced("lawman", ""), "SOURCE_VALUE", ":3", "the class ''"),
        Refusal("second class", replaced("doctor", "Doctor"), "SOURCE_VALUE", ":2", "the class 'Doctor'"),
        Refusal("bad JSON", replaced('""x"": 10.5', '""x"": '), "SOURCE_VALUE", ":2", "the bounding_box"),
        Refusal("no key", replaced('""x""', '""X""'), "SOURCE_VALUE", ":2", "the bounding_box"),
        Refusal("a list", replaced('""x"": 10.5', '""x"": [1]'), "SOURCE_VALUE", ":2", "the bounding_box"),
        Refusal("negative width", replaced('""width"": 100', '""width"": -100'), "SOURCE_VALUE", ":2", "-100"),
        Refusal("no height", replaced("250.25", "0"), "SOURCE_VALUE", ":2", '"height": 0'),
        Refusal("not a number", replaced("250.25", "NaN"), "SOURCE_VALUE", ":2", "NaN"),
        Refusal("infinite", replaced("250.25", "Infinity"), "SOURCE_VALUE", ":2", "Infinity"),
        Refusal("outside", replaced("10.5", "-100.5"), "SOURCE_VALUE", ":2", "-100.5"),
        Refusal("person twice", replaced("\n8,", "\n7,"), "SOURCE_VALUE", ":3", "the person_id 7 a second time"),
        Refusal("person_id", replaced("\n8,", "\n8e5,"), "SOURCE_VALUE", ":3", "'8e5'"),
        Refusal("path", replaced("sa_8.jpg", "../sa_8.jpg"), "SOURCE_VALUE", ":3", "'../sa_8.jpg'"),
        Refusal("absolute path", replaced("sa_8.jpg", "/sa_8.jpg"), "SOURCE_VALUE", ":3", "'/sa_8.jpg'"),
        Refusal("no name", replaced("sa_8.jpg", ""), "SOURCE_VALUE", ":3", "''"),
    ),
    "fairface": (
        Refusal("missing column", replaced("service_test", "test"), "SOURCE_LAYOUT", ":1", "no column service_test"),
        Refusal("unknown age", replaced("50-59", "50-60"), "SOURCE_VALUE", ":3", "the age '50-60'"),
        Refusal("no age", replaced("50-59", ""), "SOURCE_VALUE", ":3", "the age ''"),
        Refusal("gender", replaced("Male", "M"), "SOURCE_VALUE", ":2", "the gender 'M'"),
        Refusal("race", replaced("East Asian", "Asian"), "SOURCE_VALUE", ":2", "the race 'Asian'"),
        Refusal("path", replaced("val/1.jpg", "val/../../1.jpg"), "SOURCE_VALUE", ":2", "val/../../1.jpg"),
        Refusal("windows path", replaced("val/1.jpg", "val\\1.jpg"), "SOURCE_VALUE", ":2", "val"),
    ),
    "mst_e": (
        Refusal("missing column", replaced("MST", "tone"), "SOURCE_LAYOUT", ":1", "no column MST"),
        Refusal("tone", replaced("_5,7", "_5,11"), "SOURCE_VALUE", ":2", "the MST '11'"),
        Refusal("no tone", replaced("_5,7", "_5,"), "SOURCE_VALUE", ":2", "the MST ''"),
        Refusal("fraction", replaced("_5,7", "_5,7.0"), "SOURCE_VALUE", ":2", "the MST '7.0'"),
        Refusal("ending", replaced("IMG_1.jpg", "IMG_1"), "SOURCE_VALUE", ":2", "the image_ID 'IMG_1'"),
        Refusal("no subject", replaced("subject_5", ""), "SOURCE_VALUE", ":2", "the file name ''"),
        Refusal("path", replaced("IMG_1", "../IMG_1"), "SOURCE_VALUE", ":2", "subject_5/../IMG_1.jpg"),
    ),
}
WRONG = [
    pytest.param(name, refusal, id=f"{name}: {refusal.name}")
    for name, own in REFUSALS.items()
    for refusal in (*TEXT_FILES, *own)
]
WRONG += [
    pytest.param("facet", Refusal("vote", written, "SOURCE_VALUE", ":4", f"{column} is {vote!r}"))
    for column in ("skin_tone_4", "gender_presentation_fem", "age_presentation_older")
    for vote in ("-1", "1.0", "", "x", "²")
    for written in (lambda good, row={**ROWS[2], column: vote}: text((*ROWS[:2], row)).encode(),)
]


@pytest.mark.parametrize(("name", "refusal"), WRONG)
def test_a_file_that_breaks_the_layout_is_refused(name: str, refusal: Refusal, tmp_path: Path) -> None:
    read, place, good = READERS[name]
    file = tmp_path / place
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(refusal.change(good.encode()))
    with pytest.raises(BuildError) as caught:
        read(tmp_path)
    error = caught.value
    assert error.code == refusal.code
    assert error.where.startswith(str(file))
    assert error.where.endswith(refusal.where)
    assert refusal.what in error.what
    assert error.expected
    assert error.mend


WOUNDS = (b",", b'"', b"\n", b"\r", b"9", b"-", b"{", b"\t")


@pytest.mark.parametrize("name", READERS)
def test_a_reader_reads_or_refuses(name: str, tmp_path: Path) -> None:
    read, place, good = READERS[name]
    file = tmp_path / place
    file.parent.mkdir(exist_ok=True)
    file.write_text(good)
    assert read(tmp_path)

    @settings(max_examples=120, deadline=None, derandomize=True, database=None)
    @given(st.data())
    def damage(data: st.DataObject) -> None:
        content = bytearray(good.encode())
        for _ in range(data.draw(st.integers(1, 3))):
            start = data.draw(st.integers(0, len(content)))
            end = data.draw(st.integers(start, min(start + 12, len(content))))
            content[start:end] = data.draw(st.binary(max_size=6) | st.sampled_from(WOUNDS))
        file.write_bytes(content)
        code = ""
        try:
            read(tmp_path)
        except BuildError as error:
            code = error.code
        assert code in ("", "SOURCE_LAYOUT", "SOURCE_VALUE", "SOURCE_DAMAGED")

    damage()
