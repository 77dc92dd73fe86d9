"""The pages of the benchmarks, and the query of a board, which its address contains completely: a permalink."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from typing import Any, cast

from fairspace.leaderboard_space.boards.figures import Figure
from fairspace.leaderboard_space.boards.figures import ranking as ranking_of
from fairspace.leaderboard_space.boards.view import Column, Slice, View
from fairspace.leaderboard_space.errors import SpaceError
from fairspace.submissions.benchmarks.registry import NAMES
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.benchmarks.scoring_table import AS_RELEASED
from fairspace.submissions.errors import did_you_mean


def _view(name: str) -> View:
    """The page that `boards/<benchmark>.py` declares; the scores of the scoring table without such a file."""
    if find_spec(f"{__package__}.{name}") is not None:
        return cast(View, import_module(f"{__package__}.{name}").VIEW)
    bench = find_benchmark(name)
    table = bench.scoring.table(bench.standards[bench.default], AS_RELEASED)
    headers = {score: bench.words.columns.get(score, score.replace("_", " ")) for score in table.rules}
    total, *columns = (Column(score, headers[score]) for score in sorted(headers, key=lambda s: s != table.ranking[0]))
    ranking = Figure(
        "ranking",
        f"{total.header} with its bounds",
        "The line shows what missing answers allow; ranks use its worse end.",
        ranking_of(lambda row: total.score, total.header),
    )
    return View(name, {"Scores": Slice(total, columns)}, figures=(ranking,))


VIEWS: dict[str, View] = {name: _view(name) for name in NAMES}
"""Benchmark -> its page."""


def chosen_view(benchmark: str) -> View:
    """The view of a benchmark, the first for ''. SpaceError BAD_PARAMETER names the known ones."""
    return VIEWS[check_choice("benchmark", benchmark, VIEWS)]


def chosen_standard(benchmark: str, standard: str) -> str:
    """A standard of a benchmark, its default for ''. SpaceError BAD_PARAMETER names the known ones."""
    bench = find_benchmark(benchmark)
    return check_choice("standard", standard or bench.default, bench.standards)


def draft_of(benchmark: str, standard: str) -> str:
    """The reason why a standard is not released, '' if it is."""
    return str(find_benchmark(benchmark).standards[standard].draft)


def named_standard(benchmark: str, standard: str) -> str:
    """The name of a standard, with "draft" if it is one."""
    return f"{standard} (draft)" if draft_of(benchmark, standard) else standard


def check_choice(parameter: str, text: str, words: Collection[str]) -> str:
    """The parameter's value, the first of the words for ''. SpaceError BAD_PARAMETER for another."""
    if text in words:
        return text
    if text:
        mend = did_you_mean(text, words).strip(" ()") or "choose one of the expected ones"
        problem, expected = f"there is no {parameter} {text[:LONGEST]!r}", f"one of: {', '.join(filter(None, words))}"
        raise SpaceError("BAD_PARAMETER", parameter, problem, expected, mend)
    return next(iter(words))


LONGEST = 200
"""Maximum characters of a text in an error."""


@dataclass(frozen=True)
class BoardQuery:
    """Board, standard, table and page of rows; `wide`: with all columns. Searching and order are `board.js`'s work."""

    benchmark: str
    standard: str
    table: str = ""
    wide: bool = False
    page: int | str = 1

    @classmethod
    def read(cls, benchmark: str, rest: str) -> BoardQuery:
        """The query of an address: `rest` follows `/board/BENCHMARK/`. SpaceError BAD_PARAMETER, UNKNOWN_PAGE."""
        words = rest.strip("/").split("/") if rest.strip("/") else []
        page = page_number(words[-1]) if words[-2:-1] == ["page"] else 1
        words = words[:-2] if words[-2:-1] == ["page"] else words
        wide = words[-1:] == ["all"]
        standard, table, *further = (*(words[:-1] if wide else words), "", "")
        if any(further):
            what, expected = f"/board/{benchmark}/{rest}"[:LONGEST], "/board/BENCHMARK/STANDARD/TABLE"
            raise SpaceError("UNKNOWN_PAGE", "the board", what, expected, "go to a board from /")
        name = chosen_view(benchmark).benchmark
        return cls(name, chosen_standard(name, standard), table, wide, page)

    def address(self, **changes: Any) -> str:
        """The address of this query with some changes, without defaults."""
        query = replace(self, **changes)
        default = find_benchmark(query.benchmark).default if query.benchmark in VIEWS else ""
        parts = [query.benchmark]
        if query.table or query.standard not in ("", default):
            parts.append(query.standard or default)
        parts += [query.table] if query.table else []
        parts += ["all"] if query.wide else []
        parts += ["page", str(query.page)] if query.page != 1 else []
        return f"/board/{'/'.join(parts)}"

    def part(self, table: str, name: str) -> str:
        """The address of a part of a table, such as its `board.json`."""
        return f"/board/{self.benchmark}/{self.standard}/{table}/{name}"


def page_number(text: str) -> int:
    """The number of a page in an address. SpaceError BAD_PARAMETER."""
    if not (text.isascii() and text.isdigit() and len(text) < 7 and int(text)):
        raise SpaceError("BAD_PARAMETER", "page", repr(text[:40]), "a whole number from 1 on", "start at page 1")
    return int(text)
