"""The list of sources: every one with its terms, found only where its first file lies."""

from __future__ import annotations

from pathlib import Path

import pytest

from fairspace.builders.errors import BuildError
from fairspace.builders.sources import SOURCES
from fairspace.builders.sources.listing import listing


def test_nothing_is_found_without_a_folder() -> None:
    rows = listing(None)
    assert [row.name for row in rows] == list(SOURCES)
    assert all(row.found is None and row.images is None and row.absent == () for row in rows)
    assert all(row.licence and row.terms and row.address for row in rows)


def test_a_source_is_found_by_its_first_file(tmp_path: Path) -> None:
    for file in ("facet/annotations/annotations.csv", "fairface/train/1.jpg", "utkface/part1/a.JPG", "utkface/b.jpg"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    rows = {row.name: row for row in listing(tmp_path)}
    assert rows["facet"].found == tmp_path / "facet"
    assert (rows["facet"].absent, rows["facet"].images) == (("**/*.jpg",), 0)
    assert rows["fairface"].found is None
    assert (rows["utkface"].images, rows["utkface"].absent) == (2, ())


def test_a_source_that_is_not_there_says_where_to_get_it(tmp_path: Path) -> None:
    for source in SOURCES.values():
        with pytest.raises(BuildError, match="SOURCE_MISSING") as caught:
            source.need(tmp_path)
        assert source.address in caught.value.mend
        assert source.licence in caught.value.mend


def test_faces_whose_licence_forbids_it_are_not_published() -> None:
    rows = {row.name: row for row in listing(None)}
    assert [name for name, row in rows.items() if row.published != "yes"] == ["facet", "utkface", "mst_e"]
    assert not rows["facet"].training
    assert not rows["mst_e"].training
