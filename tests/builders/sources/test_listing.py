from pathlib import Path

import pytest

from fairspace.builders.errors import BuildError
from fairspace.builders.sources import SOURCES, count_images


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
