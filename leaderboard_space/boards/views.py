"""The pages of the benchmarks, and the query of a board, which its address contains completely: a permalink."""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from dataclasses import dataclass, fields, replace
from importlib import import_module
from typing import Any
from urllib.parse import urlencode

from starlette.datastructures import QueryParams

from fairspace.leaderboard_space.boards.view import View
from fairspace.leaderboard_space.boards.words import PROVENANCES
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
        mend = f"choose one of these{did_you_mean(text, words)}"
        raise SpaceError("BAD_PARAMETER", parameter, repr(text), f"one of: {', '.join(words)}", mend)
    return next(iter(words))


NO_COLUMNS = "none"
"""Address value for no optional columns."""
LONGEST = 200
"""Maximum characters of a text, and maximum rows named one by one."""
_ENTRY = re.compile(r"[0-9a-z-]{1,24}")
_LISTS = ("models", "columns")
DECIMALS = 6
"""Decimals of a number in an address; further ones are rounded."""
_TEXT = {"type": "string", "maxLength": LONGEST}
PARAMETERS: dict[str, tuple[dict[str, Any], str]] = {
    "standard": (_TEXT, "a standard of the benchmark; its default if left out"),
    "table": (_TEXT, "one of the board's tables; if left out, the first that has a requested row"),
    "q": (_TEXT, "words that the name of the model or organisation must contain"),
    "size_from": ({"type": "number"}, "billions of parameters, at least"),
    "size_to": ({"type": "number"}, "billions of parameters, at most"),
    "licence": (_TEXT, "as the row states it"),
    "architecture": (_TEXT, "as the row states it"),
    "open_weights": ({"type": "string", "enum": ["yes", "no"]}, "whether the weights are public"),
    "task": (_TEXT, "a task that was run"),
    "provenance": ({"type": "string", "enum": list(PROVENANCES)}, "the evidence for the figures"),
    "ranked": ({"type": "string", "enum": ["1"]}, "only rows with a rank"),
    "models": ({"type": "string"}, "entries of rows, separated by commas; only these rows"),
    "sort": (_TEXT, "key of a column, with `-` before it for descending order; by rank if left out"),
    "page": ({"type": "integer", "minimum": 1}, "from 1"),
}
"""Parameter of an address -> its schema and meaning; pages and API share them."""


@dataclass(frozen=True)
class BoardQuery:
    """Board, rows, columns (keys or groups, sorted; none for the default) and order of a request; see `PARAMETERS`."""

    benchmark: str
    standard: str
    table: str = ""
    columns: tuple[str, ...] = ()
    q: str = ""
    size_from: float | None = None
    size_to: float | None = None
    licence: str = ""
    architecture: str = ""
    open_weights: str = ""
    task: str = ""
    provenance: str = ""
    ranked: bool = False
    models: tuple[str, ...] = ()
    sort: str = ""
    page: int = 1

    @classmethod
    def read(cls, parameters: QueryParams, benchmark: str = "", standard: str = "") -> BoardQuery:
        """The query of request parameters; unknown ones are ignored. SpaceError BAD_PARAMETER."""
        texts = {name: parameters.get(name, "").strip() for name in parameters}
        for name, text in texts.items():
            if len(text) > LONGEST and name not in _LISTS:
                problem, expected = f"{len(text)} characters", f"at most {LONGEST}"
                raise SpaceError("BAD_PARAMETER", name[:40], problem, expected, "shorten it")
        view = chosen_view(benchmark or texts.get("benchmark", ""))
        standard = chosen_standard(view.benchmark, standard or texts.get("standard", ""))
        return cls(
            view.benchmark,
            standard,
            texts.get("table", ""),
            _columns(parameters.getlist("columns")),
            texts.get("q", ""),
            _size("size_from", texts.get("size_from", "")),
            _size("size_to", texts.get("size_to", "")),
            texts.get("licence", ""),
            texts.get("architecture", ""),
            check_choice("open_weights", texts.get("open_weights", ""), ("", "yes", "no")),
            texts.get("task", ""),
            check_choice("provenance", texts.get("provenance", ""), ("", *PROVENANCES)),
            check_choice("ranked", texts.get("ranked", ""), ("", "1")) == "1",
            _entries(parameters.getlist("models")),
            texts.get("sort", ""),
            _page(texts.get("page", "")),
        )

    def address(self, path: str = "/", **changes: Any) -> str:
        """The address of this query with some changes, without defaults."""
        parts = replace(self, **changes).parts
        if path != "/":
            del parts["benchmark"], parts["standard"]
        return f"{path}?{urlencode(parts, safe=',:')}" if parts else path

    @property
    def parts(self) -> dict[str, str]:
        """Parameters of the address: benchmark, standard, and all non-defaults."""
        parts = {"benchmark": self.benchmark, "standard": self.standard}
        for about in fields(self)[2:]:
            value = getattr(self, about.name)
            if value != about.default:
                parts[about.name] = _told(value)
        return parts

    @property
    def filters(self) -> dict[str, Any]:
        """The filters that are set, by parameter."""
        names = ("q", "size_from", "size_to", "licence", "architecture", "open_weights", "task", "provenance", "ranked")
        return {name: getattr(self, name) for name in names if getattr(self, name) not in ("", None, False)}

    def without_filters(self) -> str:
        """The address of the whole board with the same order and columns."""
        return BoardQuery(self.benchmark, self.standard, self.table, self.columns, sort=self.sort).address()


def decimal(number: float) -> str:
    """A number for addresses and fields that reads back equal: at most 6 decimals, never an exponent."""
    return f"{number:.{DECIMALS}f}".rstrip("0").rstrip(".")


def _told(value: Any) -> str:
    if isinstance(value, tuple):
        return ",".join(value)
    if isinstance(value, bool):
        return "1"
    return decimal(value) if isinstance(value, float) else str(value)


def _size(name: str, text: str) -> float | None:
    if not text:
        return None
    try:
        size = float(text)
    except ValueError:
        size = math.nan
    if not 0 <= size <= 1e6:
        expected = "billions of parameters, such as 7 or 0.5"
        raise SpaceError("BAD_PARAMETER", name, repr(text), expected, "give a number from 0 on")
    return round(size, DECIMALS)


def _page(text: str) -> int:
    if not text:
        return 1
    if not (text.isascii() and text.isdigit() and len(text) < 7 and int(text)):
        raise SpaceError("BAD_PARAMETER", "page", repr(text), "a whole number from 1 on", "start at page 1")
    return int(text)


def _names(texts: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.strip() for text in texts for name in text.split(",") if name.strip()))


def _columns(texts: list[str]) -> tuple[str, ...]:
    """The columns in canonical order, so that equal choices have equal addresses."""
    names = _names(texts)
    if len(names) > LONGEST:
        raise SpaceError("BAD_PARAMETER", "columns", f"{len(names)} columns", f"at most {LONGEST}", "name fewer")
    return tuple(sorted(set(names) - {NO_COLUMNS})) or ((NO_COLUMNS,) if NO_COLUMNS in names else ())


def _entries(texts: list[str]) -> tuple[str, ...]:
    names = _names(texts)
    bad = next((name for name in names if not _ENTRY.fullmatch(name)), None)
    if bad is not None:
        mend = "copy the address from a board's page"
        raise SpaceError("BAD_PARAMETER", "models", repr(bad[:40]), "entries, as in the links of a board", mend)
    if len(names) > LONGEST:
        raise SpaceError("BAD_PARAMETER", "models", f"{len(names)} rows", f"at most {LONGEST}", "name fewer rows")
    return names
