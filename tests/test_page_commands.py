"""Every line of the pages' code: `tests/commands.md` says whether a test runs it, and which, or why none does.

python -m tests.test_page_commands     prints the table's totals, and the lines that no test runs
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "tests" / "commands.md"
PAGES = (
    *("README.md", "LIBRARY.md", "submissions/EXAMPLES.md", "submissions/RUNNING.md"),
    *(f"cards/start/{name}.md" for name in ("model", "research", "audit", "board", "ci")),
)
STANDS, PLANNED, ELSEWHERE, NOT = "as it stands", "with --dry-run", "in ", "not: "
"""Run from the wheel by `tests/test_recipes.py`, as it stands or planned; run by the test that is named; not run."""
_NAMED = re.compile(r"in (tests/\S+\.py)(?:, .+)?")


def lines(page: str) -> list[str]:
    """The commands of a page without their comments, and the first line of each block in another language."""
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    commands: list[str] = []
    for language, text in blocks:
        if language == "console":
            commands += re.findall(r"^\$ (.*)", text, re.MULTILINE)
        elif language == "bash":
            commands += [line for line in text.replace("\\\n", " ").splitlines() if line.strip()]
        else:
            commands += [f"({language}) {text.strip().splitlines()[0]}"]
    return list(dict.fromkeys(" ".join(re.sub(r"\s+# .*", "", line).split()) for line in commands))


def table() -> list[tuple[str, str, str]]:
    """Page, line, and what is done with it."""
    page, rows = "", []
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            page = line[3:]
        elif match := re.fullmatch(r"\| `(.+)` \| (.+) \|", line):
            rows.append((page, match[1], match[2]))
    return rows


def run_here(page: str) -> list[str]:
    """The lines of a page that the wheel runs, as they are run."""
    ends = {STANDS: "", PLANNED: " --dry-run"}
    return [line + ends[done] * (ends[done] not in line) for at, line, done in table() if at == page and done in ends]


def test_every_line_is_run_or_says_why_not() -> None:
    rows = table()
    assert [row[:2] for row in rows] == [(page, line) for page in PAGES for line in lines(page)]
    for _, line, done in rows:
        if done in (STANDS, PLANNED):
            assert line.startswith(("fairspace ", "pip install ")), line
        elif done.startswith(ELSEWHERE):
            match = _NAMED.fullmatch(done)
            assert match is not None, done
            assert "def test_" in (ROOT / match[1]).read_text(encoding="utf-8"), done
        else:
            assert done.startswith(NOT), done
            assert len(done.split()) > 3, done


if __name__ == "__main__":
    kinds = Counter(
        next(kind for kind in (STANDS, PLANNED, ELSEWHERE, NOT) if done.startswith(kind)) for *_, done in table()
    )
    print(", ".join(f"{count} {kind.strip(': ')}" for kind, count in kinds.items()), f"of {kinds.total()}")
    for page, line, done in table():
        if done.startswith(NOT):
            print(f"- {page}: `{line}`: {done.removeprefix(NOT)}")
