"""Docstrings name the thing first: none begins with a relative word, and no line of `Args:` with a preposition."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.test_budget import ROOT, files

TOPS = ("ares", "builders", "cards", "fairspace", "leaderboard_space", "metrics", "submissions")
RELATIVE = re.compile(r"(?:What|Of|Which|Who|Whoever|Whose|So many|How many|By what|As many)\b")
PREPOSITION = re.compile(
    r"\s+\*{0,2}[a-z]\w*: (?:of|for|by|in|on|at|as|with|from|to|that|which|what|who|where|when|how|so)\b"
)


def texts(path: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        for part in node.body if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) else ():
            match part:
                case ast.Expr(value=ast.Constant(value=str(text))):
                    yield part.lineno, text


def arguments(text: str) -> Iterator[str]:
    for block in re.findall(r"^ *Args:\n((?: +.*\n|\n)+)", text, re.MULTILINE):
        yield from block.splitlines()


@pytest.mark.parametrize("top", TOPS)
def test_docstrings_name_the_thing_first(top: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {text.splitlines()[0][:60]}"
        for path in files(top)
        for line, text in texts(path)
        if text and RELATIVE.match(text)
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("top", TOPS)
def test_arguments_are_named_by_nouns(top: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {argument.strip()[:60]}"
        for path in files(top)
        for line, text in texts(path)
        for argument in arguments(text)
        if PREPOSITION.match(argument)
    ]
    assert not found, "\n".join(found)


NEVER = (
    *("nobody can say", "cannot be told from fair", "raw values have a number", "so that the people decide"),
    *("fair model of the same size", "sample, not ranked", "All else that is known", "nothing of it is lost"),
    *("otherwise than of a man", "where no choice is right?", "stay even where no group is right"),
    *("told apart from all", "Hand in a model", "Other instruments", "printed without an interval"),
    *("are answered correctly in the worst case", "choose the same option letter", "less its bias of few samples"),
    *("its values with bounds", "has no answer at one of its levels", "the order in which it stands"),
)
"""Phrases that newcomers did not understand."""


def test_phrases_that_were_rewritten_do_not_come_back() -> None:
    paths = [path for top in TOPS for kind in ("py", "jinja", "md", "js") for path in (ROOT / top).rglob(f"*.{kind}")]
    paths += ROOT.glob("*.md")
    found = [
        f"{path.relative_to(ROOT)}: {phrase}"
        for path in {path for path in paths if not path.is_symlink() and path.name != "CHANGELOG.md"}
        for phrase in NEVER
        if phrase in path.read_text(encoding="utf-8")
    ]
    assert not found, "\n".join(found)
