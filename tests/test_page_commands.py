"""Every line of the code of `PAGES`: `tests/commands.md` says whether a test runs it, and which, or why none does.

python -m tests.test_page_commands     prints the table's totals, and the lines that no test runs
"""

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
"""Run from the wheel by `tests/test_recipes.py`, as it stands or planned; by the test that is named; not run."""
_NAMED = re.compile(r"in (tests/\S+\.py)::(test_\w+)(?:, .+)?")
_GROUPS = ("ares", "import", "leaderboard")


def lines(page: str) -> list[str]:
    """The commands of a page without their comments, and number and first line of each block of another language."""
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    commands: list[str] = []
    counted = Counter[str]()
    for language, text in blocks:
        if language == "console":
            commands += re.findall(r"^\$ (.*)", text, re.MULTILINE)
        elif language == "bash":
            commands += [line for line in text.replace("\\\n", " ").splitlines() if line.strip()]
        else:
            counted[language] += 1
            commands += [f"({language} {counted[language]}) {text.strip().splitlines()[0]}"]
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


def runs(text: str, page: str, line: str) -> bool:
    """Whether a test's module has the last word of a command, or reads the page's blocks or all its commands."""
    reads = page.rpartition("/")[2] in text or (page.endswith("RUNNING.md") and "test_running_page import PAGE" in text)
    if line.startswith("(") or (reads and "in commands(page)" in text):
        return reads
    words = [word for word in line.split() if "=" not in word]
    if words[:2] == ["python", "-m"]:
        word = words[2].rpartition(".")[2]
    else:
        word = words[0] if words[0] == "lm_eval" else words[2] if words[1] in _GROUPS else words[1]
    return re.search(rf"(?<![\w.]){re.escape(word)}\b", text) is not None


def run_here(page: str) -> list[str]:
    """The lines of a page that the wheel runs, as they are run."""
    ends = {STANDS: "", PLANNED: " --dry-run"}
    return [line + ends[test] * (ends[test] not in line) for at, line, test in table() if at == page and test in ends]


def test_every_line_is_run_or_says_why_not() -> None:
    rows = table()
    assert [row[:2] for row in rows] == [(page, line) for page in PAGES for line in lines(page)]
    for page, line, test in rows:
        if test in (STANDS, PLANNED):
            assert line.startswith(("fairspace ", "pip install ")), line
        elif test.startswith(ELSEWHERE):
            match = _NAMED.fullmatch(test)
            assert match is not None, test
            text = (ROOT / match[1]).read_text(encoding="utf-8")
            assert f"def {match[2]}(" in text, test
            assert runs(text, page, line), (line, test)
        else:
            assert test.startswith(NOT), test
            assert len(test.split()) > 3, test


if __name__ == "__main__":
    kinds = Counter(
        next(kind for kind in (STANDS, PLANNED, ELSEWHERE, NOT) if test.startswith(kind)) for *_, test in table()
    )
    print(", ".join(f"{count} {kind.strip(': ')}" for kind, count in kinds.items()), f"of {kinds.total()}")
    for page, line, test in table():
        if test.startswith(NOT):
            print(f"- {page}: `{line}`: {test.removeprefix(NOT)}")
