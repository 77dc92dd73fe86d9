"""What a request for a board wants, in one form: two addresses with one answer are one."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlencode

from starlette.datastructures import QueryParams
from starlette.types import Scope

from fairspace.leaderboard_space.boards.adjusting import adjusts
from fairspace.leaderboard_space.boards.query import BoardQuery
from fairspace.leaderboard_space.errors import SpaceError
from fairspace.submissions.benchmarks.registry import NAMES

LONGEST_ADDRESS = 1024
"""Answers to longer ones are not kept."""
Parts = dict[str, str]


@dataclass(frozen=True)
class Wanted:
    """What a request wants of the boards.

    Args:
        about: the benchmark whose board the answer follows from, '' for several, such as the first page's.
        path: of the address.
        query: its known parameters, sorted, without defaults.
        adjusted: whether a reader changes the standard.
        kept: whether the answer may be kept.
    """

    about: str
    path: str
    query: bytes
    adjusted: bool = False
    kept: bool = True


def wanted_of(scope: Scope) -> Wanted | None:
    """What a request wants; None where more than the boards goes into the answer: the queue, a submission, a user."""
    return _wanted(scope["path"], scope["query_string"])


@lru_cache(4096)
def _wanted(path: str, query: bytes) -> Wanted | None:
    for pattern, read in _ADDRESSES:
        match = pattern.fullmatch(path)
        if match is None:
            continue
        parameters = QueryParams(query)
        adjusted = adjusts(parameters)
        about = match[1] if pattern.groups and match[1] in NAMES else ""
        if len(path) + len(query) > LONGEST_ADDRESS:
            return Wanted(about, path, query, adjusted, kept=False)
        try:
            parts = read(parameters, match)
        except SpaceError:  # which the page will say
            return Wanted(about, path, query, adjusted, kept=False)
        normal = urlencode(sorted(parts.items()), safe=",:")
        return Wanted(about, path, normal.encode(), adjusts(QueryParams(normal)))
    return None


def _board(parameters: QueryParams, match: re.Match[str]) -> Parts:
    return BoardQuery.read(parameters).parts


def _download(parameters: QueryParams, match: re.Match[str]) -> Parts:
    parts = BoardQuery.read(parameters, match[1], match[2]).parts
    return {name: text for name, text in parts.items() if name not in ("benchmark", "standard", "page", "columns")}


def _api_board(parameters: QueryParams, match: re.Match[str]) -> Parts:
    parts = BoardQuery.read(parameters, match[1]).parts
    del parts["benchmark"]
    return parts | _named("limit")(parameters, match)


def _named(*names: str) -> Callable[[QueryParams, re.Match[str]], Parts]:
    """Reads these parameters; of one that is repeated, all."""

    def read(parameters: QueryParams, match: re.Match[str]) -> Parts:
        texts = {name: ",".join(filter(None, map(str.strip, parameters.getlist(name)))) for name in names}
        return {name: text for name, text in texts.items() if text}

    return read


_ADDRESSES: tuple[tuple[re.Pattern[str], Callable[[QueryParams, re.Match[str]], Parts]], ...] = (
    (re.compile(r"/"), _board),
    (re.compile(r"/download/([a-z0-9_]+)/([^/]+)\.[a-z]+"), _download),
    (re.compile(r"/api/v1/boards/([a-z0-9_]+)"), _api_board),
    (re.compile(r"/figures/([a-z0-9_]+)/.*"), _named("models", "table", "turn", "width", "download")),
    (re.compile(r"/(?:model|badge|embed|api/v1/boards)/([a-z0-9_]+)/.*"), _named("standard")),
    (re.compile(r"/(?:compare|fairness-space|validation)"), _named("benchmark", "standard", "models", "q")),
    (re.compile(r"/(?:standards|standard/.*|api/v1/(?:boards|standards))"), _named()),
)
"""Addresses whose answers follow from the boards alone -> what is read of their parameters."""
