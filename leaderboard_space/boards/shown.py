"""The raw values that boards show: `result` events keep these, so that no board reads the files of its rows."""

from __future__ import annotations

from functools import cache

from fairspace.leaderboard_space.boards.views import VIEWS
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark


@cache
def shown_values(benchmark: str) -> frozenset[str]:
    """Names in the tables, figures and findings of a board, scores too, and the witnesses of their ideals.

    UsageError: unknown benchmark.
    """
    bench, view = find_benchmark(benchmark), VIEWS[benchmark]
    names = {*bench.words.findings, *(name for figure in view.figures for name in figure.reads)}
    for part in view.slices.values():
        names |= {column.score for column in (part.total, *part.columns, *(part.fair or ()))}
    ideals = [bench.ideal(name, standard) for name in names for standard in bench.standards]
    return frozenset(names.union(*(ideal.witnesses for ideal in ideals if ideal is not None)))
