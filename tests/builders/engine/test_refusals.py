from __future__ import annotations

import json
from pathlib import Path

import pytest

from fairspace.builders.engine.reviews import Refusals, read_refusals
from fairspace.builders.errors import BuildError


def write(folder: Path, *lines: str) -> Path:
    file = folder / "refused.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8")
    return file


def test_the_option_is_the_same_for_the_same_refusals_in_any_order(tmp_path: Path) -> None:
    one, two = '{"id": "pair/0001/b", "seed": 7, "why": "extra hand"}', '{"seed": 5, "id": "pair/0000/a"}'
    assert read_refusals(write(tmp_path, one, "", two, one)) == read_refusals(write(tmp_path, two, one))
    assert json.loads(read_refusals(write(tmp_path, two, one))) == [["pair/0000/a", 5], ["pair/0001/b", 7]]
    assert read_refusals(write(tmp_path)) == "[]"


@pytest.mark.parametrize(
    ("key", "seed", "named"),
    [
        ("persona/gym/candidate-017", 7, True),
        ("persona/gym/candidate-017", 8, False),
        ("persona/gymnast/candidate-017", 7, False),
        ("pair/0001/b/again-1", 9, True),
        ("pair/0011/b", 9, False),
    ],
)
def test_seed_and_place_of_the_row_decide(key: str, seed: int, named: bool) -> None:
    refusals = Refusals({"refused": '[["persona/gym/003",7],["pair/0001/b",9]]'})
    assert refusals.name(key, seed) is named
    assert not Refusals({}).name(key, seed)


@pytest.mark.parametrize(
    "line", ["ideal/nurse/x/03", '["a/b", 1]', '{"id": "a/b"}', '{"id": "a/b", "seed": null}', '{"id": "a", "seed": 1}']
)
def test_another_line_is_told_with_its_number(tmp_path: Path, line: str) -> None:
    with pytest.raises(BuildError, match=r"SOURCE_LAYOUT at .*refused\.jsonl:2"):
        read_refusals(write(tmp_path, '{"id": "a/b", "seed": 1}', line))


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="SOURCE_MISSING"):
        read_refusals(tmp_path / "none.jsonl")
