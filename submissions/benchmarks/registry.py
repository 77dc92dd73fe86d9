"""The benchmarks by name."""

from functools import cache
from importlib import import_module
from typing import cast

from fairspace.submissions.benchmarks.benchmark import Benchmark
from fairspace.submissions.errors import UsageError, did_you_mean
from fairspace.submissions.names import NAMES

__all__ = ["NAMES", "benchmark"]


@cache
def benchmark(name: str) -> Benchmark:
    """The benchmark called `name`; imports only that one. UsageError lists the names."""
    if name not in NAMES:
        raise UsageError(f"There is no benchmark {name!r}{did_you_mean(name, NAMES)}. Known: {', '.join(NAMES)}.")
    return cast(Benchmark, import_module(f"fairspace.submissions.benchmarks.{name}.declaration").BENCHMARK)
