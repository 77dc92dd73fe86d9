"""`fairspace.items`: the questions of a benchmark, as a data frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from fairspace.answers import submission_of
from fairspace.submissions.benchmarks.benchmark import Benchmark
from fairspace.submissions.benchmarks.registry import NAMES
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    import pandas as pd


def items(benchmark: str, task: str = "", *, revision: str = "", after: Any = None, data: str = "") -> pd.DataFrame:
    """Questions for a model: one row for each answer that the benchmark expects.

    Add a column `response` to the rows of tasks in text, and hand them to `fs.score`. Rows left out are not handed in.

    Args:
        benchmark: one of `fs.BENCHMARKS`.
        task: one task; all that are not optional for ''.
        revision: dataset revision; the default for ''.
        after: answers, as `fs.score` takes them, that lead to further prompts: stories of GENRES give the prompts
            of its judge, annotated neutral images of IRIS its steer prompts. Only these prompts are returned.
        data: source of pictures, a folder of builds or NAMESPACE[@TAG] on the Hub; `image` then has the bytes of
            each file, and items whose picture is missing are left out. For a revision `upstream`, the reader's copy of
            the authors' files.

    Returns:
        `task`, `id`, `sample` (from 0), `prompt`, and the plan's facts of the item, such as `occupation`. Tasks of
        making images have a prompt as well: their answers are annotated images (submissions/FORMAT.md).

    Errors: UsageError for an unknown benchmark or task, or one whose prompts follow from answers; BuildError
    REVISION_UNKNOWN; RunError DATA_MISSING, DATA_INVALID.
    """
    bench = find_benchmark(benchmark)
    if task and task not in bench.task_names():
        known = ", ".join(bench.task_names())
        raise UsageError(f"{benchmark} has no task {task!r}{did_you_mean(task, bench.task_names())}. Known: {known}.")
    if after is not None:
        tables, revision = _following(bench, after, revision)
    else:
        revision = bench.revision(revision)
        tables = bench.items(revision, [task] if task else (), data)

    def is_asked(name: str) -> bool:
        return name == task or (not task and (after is not None or not bench.task(name).optional))

    wanted = {name: table for name, table in tables.items() if is_asked(name)}
    if not wanted:
        raise UsageError(f"The prompts of {task or benchmark} follow from answers: name them with after=.")
    whole = pa.concat_tables(
        [_rows(bench, name, table, revision) for name, table in wanted.items()], promote_options="permissive"
    )
    if not data:
        return whole.to_pandas()
    whole, pictures = _with_pictures(whole, bench, list(wanted), data, revision)
    return whole.to_pandas().assign(image=pictures)


def _following(bench: Benchmark, after: Any, revision: str) -> tuple[dict[str, pa.Table], str]:
    follow = bench.asking.judge or bench.asking.steer
    if follow is None:
        having = [name for name in NAMES if find_benchmark(name).asking.judge or find_benchmark(name).asking.steer]
        raise UsageError(
            f"No prompts of {bench.name} follow from answers; leave out after. {', '.join(having)} have them."
        )
    submission = submission_of(after, bench.name, revision=revision)
    tables = follow(submission)
    if not tables:
        raise UsageError("No prompts follow from these answers: no story could be read, or no image is labelled.")
    return dict(tables), submission.meta.dataset_revision


def _rows(bench: Benchmark, name: str, table: pa.Table, revision: str) -> pa.Table:
    samples = bench.task(name).samples_of(revision)
    whole = table.take(pa.array(np.repeat(np.arange(table.num_rows), samples)))
    first = {"task": pa.array([name] * whole.num_rows), "id": whole["id"]}
    first |= {
        "sample": pa.array(np.tile(np.arange(samples, dtype=np.int32), table.num_rows)),
        "prompt": whole["prompt"],
    }
    return pa.table({**first, **{column: whole[column] for column in whole.column_names if column not in first}})


def _with_pictures(
    whole: pa.Table, bench: Benchmark, tasks: list[str], data: str, revision: str
) -> tuple[pa.Table, list[bytes | None]]:
    """The rows with a picture in the data, and the bytes of each row's picture; questions on one picture share them."""
    from fairspace.submissions.running.asking.parts import parts
    from fairspace.submissions.running.data import open_data

    answered = [name for name in tasks if bench.task(name).ask is not None]
    of_item: dict[tuple[str, str], bytes | None] = {}
    for part in parts(bench.name, open_data(data, revision), tasks=answered, revision=revision):
        for place in range(len(part.stimuli)):
            shown = part.read(place)
            for ask in shown.asks:
                of_item[ask.task, ask.id] = None if ask.image is None else shown.images[ask.image]
    keys = list(zip(whole["task"].to_pylist(), whole["id"].to_pylist(), strict=True))
    pictured = any(of_item.values())
    kept = [row for row, key in enumerate(keys) if key in of_item or not pictured]
    return whole.take(pa.array(kept, pa.int64())), [of_item.get(keys[row]) for row in kept]
