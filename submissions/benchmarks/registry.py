"""The four benchmarks by name."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from fairspace.submissions.benchmarks.benchmark import Benchmark
from fairspace.submissions.errors import UsageError, did_you_mean

NAMES = ("iris", "fact_or_fair", "stereotypical_bias", "genres")


def benchmark(name: str) -> Benchmark:
    """The benchmark called `name`; imports only that one. UsageError names the known ones."""
    if name not in NAMES:
        raise UsageError(f"There is no benchmark {name!r}{did_you_mean(name, NAMES)}. Known: {', '.join(NAMES)}.")
    return cast(Benchmark, import_module(f"fairspace.submissions.benchmarks.{name}.declaration").BENCHMARK)
