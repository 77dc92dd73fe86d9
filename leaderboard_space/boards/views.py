"""The pages of the benchmarks, in the order of their tabs."""

from __future__ import annotations

from collections.abc import Collection
from importlib import import_module

from fairspace.leaderboard_space.boards.view import View
from fairspace.leaderboard_space.errors import SpaceError
from fairspace.submissions.benchmarks.registry import NAMES
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.errors import did_you_mean

VIEWS: dict[str, View] = {name: import_module(f"{__package__}.{name}").VIEW for name in NAMES}
"""Benchmark -> its page, from `boards/<benchmark>.py`."""


def chosen_view(benchmark: str) -> View:
    """The view of a benchmark, of the first for ''. SpaceError BAD_PARAMETER names the known ones."""
    return VIEWS[check_choice("benchmark", benchmark, VIEWS)]


def chosen_standard(benchmark: str, standard: str) -> str:
    """The name of a standard of a benchmark, its default for ''. SpaceError BAD_PARAMETER names the known ones."""
    bench = find_benchmark(benchmark)
    return check_choice("standard", standard or bench.default, bench.standards)


def draft_of(benchmark: str, standard: str) -> str:
    """Why a standard is not released, '' if it is."""
    return find_benchmark(benchmark).standards[standard].draft


def named_standard(benchmark: str, standard: str) -> str:
    """The name of a standard, with the word "draft" if it is one."""
    return f"{standard} (draft)" if draft_of(benchmark, standard) else standard


def check_choice(parameter: str, text: str, words: Collection[str]) -> str:
    """The parameter's value, the first of the words for ''. SpaceError BAD_PARAMETER if it is none of them."""
    if text in words:
        return text
    if text:
        mend = f"choose one of these{did_you_mean(text, words)}"
        raise SpaceError("BAD_PARAMETER", parameter, repr(text), f"one of: {', '.join(words)}", mend)
    return next(iter(words))
