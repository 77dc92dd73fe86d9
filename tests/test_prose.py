"""Docstrings name the thing first: none begins with a relative word, and no line of `Args:` with a preposition."""

import ast
import re
from functools import cache

import pytest

from tests.test_budget import ROOT, files

TOPS = ("ares", "builders", "cards", "fairspace", "leaderboard_space", "metrics", "submissions")
RELATIVE = re.compile(r"(?:What|Of|Which|Who|Whoever|Whose|So many|How many|By what|As many)\b")
PREPOSITION = re.compile(
    r"\s+\*{0,2}[a-z]\w*: (?:of|for|by|in|on|at|as|with|from|to|that|which|what|who|where|when|how|so)\b"
)
ARGUMENTS = re.compile(r"^ *Args:\n((?: +.*\n|\n)+)", re.MULTILINE)


@cache
def docstrings(top: str) -> list[tuple[str, str]]:
    """Place and text of every text that stands alone in a module, a class or a function."""
    return [
        (f"{path.relative_to(ROOT)}:{part.lineno}", part.value.value)
        for path in files(top)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for part in (node.body if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) else ())
        if isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant) and isinstance(part.value.value, str)
    ]


@pytest.mark.parametrize("top", TOPS)
def test_docstrings_name_the_thing_first(top: str) -> None:
    assert [place for place, text in docstrings(top) if RELATIVE.match(text)] == []


@pytest.mark.parametrize("top", TOPS)
def test_arguments_are_named_by_nouns(top: str) -> None:
    blocks = [(place, block) for place, text in docstrings(top) for block in ARGUMENTS.findall(text)]
    assert [(place, line) for place, block in blocks for line in block.splitlines() if PREPOSITION.match(line)] == []


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
    kept = {path for path in paths if not path.is_symlink() and path.name != "CHANGELOG.md"}
    texts = {path: path.read_text(encoding="utf-8") for path in kept}
    assert [f"{path}: {phrase}" for path, text in texts.items() for phrase in NEVER if phrase in text] == []
