from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairspace.builders.errors import BuildError
from fairspace.builders.sources import faces, facet
from tests.builders.sources import test_facet, test_fairface, test_mst_e

READERS: dict[str, tuple[Callable[[Path], Any], str, str]] = {
    "facet": (lambda folder: list(facet.persons(folder)), facet.ANNOTATIONS, test_facet.text()),
    "fairface": (
        lambda folder: list(faces.faces(folder, "val")),
        "fairface_label_val.csv",
        test_fairface.GOOD,
    ),
    "mst_e": (lambda folder: list(faces.images(folder)), faces.DETAILS, test_mst_e.GOOD),
}


WOUNDS = (b",", b'"', b"\n", b"\r", b"9", b"-", b"{", b"\t")


def refusal(read: Callable[[], Any]) -> str | None:
    """The code of the reader's error, None if it read; other exceptions pass."""
    try:
        read()
    except BuildError as error:
        return error.code
    return None


@pytest.mark.parametrize("name", READERS)
def test_a_reader_reads_or_refuses(name: str) -> None:
    read, file, good = READERS[name]

    @settings(max_examples=120, deadline=None, derandomize=True, database=None)
    @given(st.data())
    def damage(data: st.DataObject) -> None:
        content = bytearray(good.encode())
        for _ in range(data.draw(st.integers(1, 3))):
            start = data.draw(st.integers(0, len(content)))
            end = data.draw(st.integers(start, min(start + 12, len(content))))
            content[start:end] = data.draw(st.binary(max_size=6) | st.sampled_from(WOUNDS))
        path = folder / file
        path.write_bytes(content)
        assert refusal(lambda: read(folder)) in (None, "SOURCE_LAYOUT", "SOURCE_VALUE", "SOURCE_DAMAGED")

    with TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / file).parent.mkdir(exist_ok=True)
        (folder / file).write_text(good)
        assert read(folder)
        damage()
