"""What a model is and which tasks it did: what readers of a board filter by.

A result says what its submitter told. A published row says what is certain of the paper's model, from
`builders/reference/published/model_facts.csv` with the source of each line: what nobody printed stays unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from fairspace.builders.printed import table
from fairspace.submissions.benchmarks.benchmark import Benchmark
from fairspace.submissions.benchmarks.published import Published
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.results.result import Result
from fairspace.submissions.values import Value

NOT_STATED = "not stated"
"""What `fairspace run` writes for a licence that nobody told."""


@dataclass(frozen=True)
class Facts:
    """What a model is, as its submitter or the paper says.

    Args:
        licence: SPDX identifier where there is one, '' if not told. Untrusted text.
        architecture: one of `fairspace.submissions.format.vocabulary.ARCHITECTURES`; '' if not told.
        parameters: in billions; None if not told.
        open_weights: None if not told.
        tasks: the tasks that have a value, in the benchmark's order.
    """

    licence: str = ""
    architecture: str = ""
    parameters: float | None = None
    open_weights: bool | None = None
    tasks: tuple[str, ...] = ()


def facts_of(result: Result) -> Facts:
    """What `submission.json` says of the model, and the tasks that the result has values of."""
    meta = result.meta
    licence = str(meta.get("licence", ""))
    return Facts(
        licence="" if licence == NOT_STATED else licence,
        architecture=meta.get("architecture") or "",
        parameters=meta.get("parameters"),
        open_weights=meta.get("open_weights"),
        tasks=_tasks(find_benchmark(result.benchmark), result.values),
    )


def published_facts(benchmark: str, row: Published) -> Facts:
    """What is certain of a paper's model, and the tasks that the paper prints figures of."""
    known = _reviewed()[benchmark, row.model]
    return Facts(
        licence=known["licence"],
        architecture=known["architecture"],
        parameters=float(known["parameters"]) if known["parameters"] else None,
        open_weights={"yes": True, "no": False, "": None}[known["open_weights"]],
        tasks=_tasks(find_benchmark(benchmark), {**row.values, **row.scores}),
    )


@lru_cache
def _reviewed() -> Mapping[tuple[str, str], Mapping[str, str]]:
    return {(row["benchmark"], row["model"]): row for row in table("model_facts")}


def _tasks(bench: Benchmark, values: Mapping[str, Value]) -> tuple[str, ...]:
    return tuple(
        task.name
        for task in bench.tasks
        if any(name in values and values[name].state != "not_run" for name in task.values)
    )
