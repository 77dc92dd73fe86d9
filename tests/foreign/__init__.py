"""Other programs at the project's border, met by their own output: a folder each, with `source.toml`.

A fixture of another program is that program's own output. `source.toml` says what was met:

    program, version    the program as its makers write it; the version of its package, or the commit
    door                the command or function of ours where its files come in, or where ours go to it
    described           the document of ours that describes the door
    licence             the licence of the files here, or of the program where a test runs it
    met, not_met        what was met for real, and what was not ("" for nothing)
    [[evidence]]        kind, file (beside it, or ""), source, sha256 (of a file elsewhere, or ""), test (FILE::NAME)

`python -m tests.foreign` prints the table of doors that stands in RUNNING.md; `--write` puts it there.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
PAGE = ROOT / "submissions" / "RUNNING.md"
KINDS = {
    "run": "run in a test",
    "written": "written by it, run once",
    "package": "a file that a package ships",
    "clone": "a file of its repository, read from a clone",
    "facts": "names and values of its source",
    "invented": "invented",
}
"""Kinds of evidence in the words of the table, the strongest first; the last two are no output of a program."""
BEGIN, END = "<!-- doors -->", "<!-- end of doors -->"


@dataclass(frozen=True)
class Evidence:
    """One fixture of a program, and the test that meets it."""

    kind: str
    source: str
    test: str
    file: str = ""
    sha256: str = ""


@dataclass(frozen=True)
class Door:
    """A program, and all that was met of it. The fields are those of `source.toml`."""

    folder: str
    program: str
    version: str
    door: str
    described: str
    licence: str
    met: str
    not_met: str
    evidence: tuple[Evidence, ...]

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of its evidence, the strongest first."""
        return tuple(kind for kind in KINDS if kind in {each.kind for each in self.evidence})

    @property
    def line(self) -> str:
        """Its line in the table."""
        said = "; ".join(KINDS[kind] for kind in self.kinds)
        return f"| {self.program} | {self.version} | {self.door} | {self.met} ({said}) | {self.not_met or 'nothing'} |"


def read(folder: Path) -> Door:
    """The door of a folder. TypeError for a field too many or too few."""
    stated: dict[str, Any] = tomllib.loads((folder / "source.toml").read_text(encoding="utf-8"))
    evidence = tuple(Evidence(**each) for each in stated.pop("evidence"))
    return Door(folder.name, **stated, evidence=evidence)


def doors() -> list[Door]:
    """All doors, by the name of the program."""
    folders = (file.parent for file in HERE.glob("*/source.toml"))
    return sorted(map(read, folders), key=lambda door: door.program.lower())


def table() -> str:
    """The table of doors, as RUNNING.md prints it."""
    head = "| program | version | door | met for real | not met |\n|---|---|---|---|---|\n"
    return head + "".join(f"{door.line}\n" for door in doors())
