"""The pages of the benchmarks, and the query of a board, which its address contains completely: a permalink."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any
from urllib.parse import urlencode

from starlette.datastructures import QueryParams

from fairspace.leaderboard_space.boards.view import View
from fairspace.leaderboard_space.errors import SpaceError
from fairspace.submissions.benchmarks.registry import NAMES
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.errors import did_you_mean

VIEWS: dict[str, View] = {name: import_module(f"{__package__}.{name}").VIEW for name in NAMES}
"""Benchmark -> its page, from `boards/<benchmark>.py`."""


def chosen_view(benchmark: str) -> View:
    """The view of a benchmark, the first for ''. SpaceError BAD_PARAMETER names the known ones."""
    return VIEWS[check_choice("benchmark", benchmark, VIEWS)]


def chosen_standard(benchmark: str, standard: str) -> str:
    """A standard of a benchmark, its default for ''. SpaceError BAD_PARAMETER names the known ones."""
    bench = find_benchmark(benchmark)
    return check_choice("standard", standard or bench.default, bench.standards)


def draft_of(benchmark: str, standard: str) -> str:
    """The reason why a standard is not released, '' if it is."""
    return find_benchmark(benchmark).standards[standard].draft


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


TABS = {"here": "Run here", "papers": "From the papers"}
"""Word in the address -> title of a tab; printed rows have one of their own."""
LONGEST = 200
"""Maximum characters of a text, and maximum rows named one by one."""
_ENTRY = re.compile(r"[0-9a-z-]{1,24}")


READ = ("benchmark", "standard", "table", "columns", "models", "page")
"""Parameters of an address that a `BoardQuery` reads."""


@dataclass(frozen=True)
class BoardQuery:
    """Board, table, tab and rows of a request; `wide`: with all columns.

    Searching, filters and order are the work of `board.js`: the server ignores their parameters.
    """

    benchmark: str
    standard: str
    table: str = ""
    wide: bool = False
    models: tuple[str, ...] = ()
    page: int = 1
    tab: str = ""

    @classmethod
    def read(cls, parameters: QueryParams, benchmark: str = "", standard: str = "") -> BoardQuery:
        """The query of request parameters; unknown ones are ignored. SpaceError BAD_PARAMETER."""
        view = chosen_view(benchmark or parameters.get("benchmark", "").strip())
        return cls(
            view.benchmark,
            chosen_standard(view.benchmark, standard or parameters.get("standard", "").strip()),
            parameters.get("table", "").strip(),
            parameters.get("columns", "none") != "none",
            _entries(parameters.getlist("models")),
            _page(parameters.get("page", "").strip()),
            check_choice("from", parameters.get("from", "").strip(), ("", *TABS)),
        )

    def address(self, path: str = "/", **changes: Any) -> str:
        """The address of this query with some changes, without defaults."""
        query = replace(self, **changes)
        parts = {} if path != "/" else {"benchmark": query.benchmark, "standard": query.standard}
        parts |= {"table": query.table} if query.table else {}
        parts |= {"from": query.tab} if query.tab else {}
        parts |= {"columns": "all"} if query.wide else {}
        parts |= {"models": ",".join(query.models)} if query.models else {}
        parts |= {"page": str(query.page)} if query.page > 1 else {}
        return f"{path}?{urlencode(parts, safe=',')}" if parts else path


def _page(text: str) -> int:
    if not text:
        return 1
    if not (text.isascii() and text.isdigit() and len(text) < 7 and int(text)):
        raise SpaceError("BAD_PARAMETER", "page", repr(text[:40]), "a whole number from 1 on", "start at page 1")
    return int(text)


def _entries(texts: list[str]) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for text in texts for name in text.split(",") if name.strip()))
    bad = next((name for name in names if not _ENTRY.fullmatch(name)), None)
    if bad is not None:
        mend = "copy the address from a board's page"
        raise SpaceError("BAD_PARAMETER", "models", repr(bad[:40]), "entries, as in the links of a board", mend)
    if len(names) > LONGEST:
        raise SpaceError("BAD_PARAMETER", "models", f"{len(names)} rows", f"at most {LONGEST}", "name fewer rows")
    return names
