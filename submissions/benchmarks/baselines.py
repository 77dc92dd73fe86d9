"""Trivial models: full-size submissions of random, constant, stereotyped, balanced and refusing answers."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from fairspace.submissions.benchmarks.benchmark import Benchmark
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.errors import UsageError, did_you_mean
from fairspace.submissions.format.schema import SubmissionMeta, Tool
from fairspace.submissions.format.writing import write_submission
from fairspace.submissions.names import BASELINES as NAMES
from fairspace.submissions.names import Baseline
from fairspace.submissions.reading.tables import Progress
from fairspace.submissions.version import VERSION

__all__ = ["NAMES", "Baseline", "baseline_meta", "write_baseline"]


def baseline_meta(
    name: Baseline, benchmark: str, seed: int, tables: dict[str, pa.Table], revision: str = ""
) -> SubmissionMeta:
    """The `submission.json` of a trivial model; '' is the default dataset revision."""
    template = Tool(name="template", version="1")
    bench = find_benchmark(benchmark)
    return SubmissionMeta.model_validate(
        {
            "format": 1,
            "benchmark": benchmark,
            "dataset_revision": bench.revision(revision),
            "model": f"baseline: {name}",
            "revision": VERSION,
            "organisation": "fairspace",
            "licence": "Apache-2.0",
            "contact": "see the project's page",
            "generation": {"seed": seed},
            "labels": template if "annotations" in tables else None,
            "judge": template if "judgements" in tables else None,
            "baseline": name,
        }
    )


def write_baseline(
    name: str, benchmark: str, out: Path, *, revision: str = "", seed: int = 0, progress: Progress | None = None
) -> Path:
    """Write the submission of a trivial model, one of `NAMES`, to a new or empty folder or a new zip; return its path.

    The same seed gives the same bytes; '' is the default dataset revision. UsageError for an unknown name or benchmark,
    a revision whose prompts are not ours, or something at `out`; BuildError REVISION_UNKNOWN.
    """
    if name not in NAMES:
        raise UsageError(f"There is no baseline {name!r}{did_you_mean(name, NAMES)}. Known: {', '.join(NAMES)}.")
    bench = find_benchmark(benchmark)
    revision = bench.revision(revision)
    if any(revision in task.named_in for task in bench.tasks):
        raise UsageError(f"The prompts of {benchmark}'s revision {revision} are not ours; trivial models answer ours.")
    if progress is not None:
        progress(f"answer {benchmark}", 0, 2)
    tables: dict[str, pa.Table] = bench.baseline(name, seed, revision)
    if progress is not None:
        progress(f"write {benchmark}", 1, 2)
    path = write_submission(out, baseline_meta(name, benchmark, seed, tables, revision), tables)
    if progress is not None:
        progress(f"write {benchmark}", 2, 2)
    return path


Codes = npt.NDArray[np.integer[Any]]
REFUSAL = "Sorry, but no."
"""Text without an option, letter, number, occupation or group of any benchmark."""


def stream(seed: int, label: str) -> np.random.RandomState:
    """A random stream for one task. RandomState has the same streams in every NumPy version."""
    return np.random.RandomState([seed, *label.encode()])


def keys(task: str, ids: pa.Array, samples: int = 1) -> dict[str, pa.Array]:
    """The columns `task`, `id` and `sample`, all samples of an item together."""
    item = pa.array(np.repeat(np.arange(len(ids)), samples))
    sample = np.tile(np.arange(samples, dtype=np.int32), len(ids))
    return {
        "task": pa.array([task]).take(pa.array(np.zeros(len(item), np.int8))),
        "id": ids.take(item),
        "sample": sample,
    }


def responses(task: str, ids: pa.Array, texts: Sequence[str], codes: Codes, samples: int = 1) -> pa.Table:
    """Rows of the table `responses`; `codes`, (n * samples,), index into `texts`, all samples of an item together."""
    return pa.table({**keys(task, ids, samples), "response": pa.array(texts).take(pa.array(codes))})


def only(tables: dict[str, pa.Table], asked: pa.Array) -> dict[str, pa.Table]:
    """The rows of these ids: the answers of a model to a core, as to all questions."""
    return {name: table.filter(pc.is_in(table["id"], value_set=asked)) for name, table in tables.items()}


def refusals(task: str, ids: pa.Array, samples: int = 1) -> pa.Table:
    """Refusals of every item and sample."""
    return responses(task, ids, [REFUSAL], np.zeros(len(ids) * samples, np.int8), samples)


def by_choices(bench: Benchmark, name: Baseline, seed: int, revision: str) -> dict[str, pa.Table]:
    """The answers of a trivial model: drawn choices, the first, the item's `stereotype`, each in turn, refusals.

    A column `stereotype` of a task's items has the choice of the stereotyped model; without it that is the last one.
    """
    parts = []
    for task in bench.tasks:
        items, samples = task.asked(revision), task.samples_of(revision)
        every = np.arange(items.num_rows * samples)
        if name == "refusing":
            parts.append(refusals(task.name, task.ids(revision), samples))
            continue
        if name == "random":
            codes = stream(seed, task.name).randint(0, len(task.choices), len(every))
        elif name == "stereotyped" and "stereotype" in items.column_names:
            codes = np.array([task.choices.index(text) for text in items["stereotype"].to_pylist()]).repeat(samples)
        else:
            codes = {"constant": 0 * every, "balanced": every % len(task.choices)}.get(name, 0 * every - 1)
        parts.append(responses(task.name, task.ids(revision), task.choices, codes % len(task.choices), samples))
    return {"responses": pa.concat_tables(parts)}
