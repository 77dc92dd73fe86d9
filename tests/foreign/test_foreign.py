"""The rule of the border: a fixture of another program is that program's own output, or says that it is invented."""

import ast
import re

import pytest

from tests.foreign import BEGIN, END, HERE, KINDS, PAGE, ROOT, Door, doors, table

DOORS = doors()
OWN_OUTPUT = ("run", "written", "package", "clone")


def test_each_folder_says_where_it_comes_from() -> None:
    folders = {each.name for each in HERE.iterdir() if each.is_dir() and each.name != "__pycache__"}
    assert folders == {door.folder for door in DOORS}


def test_at_least_twelve_programs_are_met_by_their_own_output() -> None:
    assert len([door for door in DOORS if set(door.kinds) & set(OWN_OUTPUT)]) >= 12


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.folder)
def test_evidence_is_what_it_says(door: Door) -> None:
    assert door.evidence
    assert (ROOT / door.described).is_file()
    beside = {file.name for file in (HERE / door.folder).iterdir() if file.is_file()} - {"source.toml", "__init__.py"}
    assert beside == {each.file for each in door.evidence} - {""}, "each file has its source"
    for each in door.evidence:
        assert each.kind in KINDS
        assert each.source
        assert each.kind not in ("written",) or each.file, "what was written once lies here"
        assert each.kind not in ("clone", "package") or re.fullmatch(r"[0-9a-f]{64}|", each.sha256)
        file, _, name = each.test.partition("::")
        tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        assert name.partition("[")[0] in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("door", [door for door in DOORS if "invented" in door.kinds], ids=lambda door: door.folder)
def test_the_page_of_an_invented_fixture_says_so(door: Door) -> None:
    """A reader of the page that describes the door learns it there, on the line that names the program."""
    lines = (ROOT / door.described).read_text(encoding="utf-8").splitlines()
    assert any(door.program in line and "invented" in line for line in lines)


def test_the_table_of_doors_is_the_one_of_the_folders() -> None:
    """`python -m tests.foreign --write` makes it anew."""
    printed = PAGE.read_text(encoding="utf-8").split(f"{BEGIN}\n")[1].split(END)[0]
    assert printed == table()
