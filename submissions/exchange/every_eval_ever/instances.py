"""Answers as instance records: one line for each answer, with how it was read as `answer_attribution`.

The schema asks of every answer whether it is correct. Fairness is a property of many answers, and most items have no
right one; so `score` and `is_correct` say whether the answer was read as a choice, and the aggregate record says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from fairspace.submissions.answers.reading import OUTCOMES
from fairspace.submissions.answers.rows import ReadRows, read_rows
from fairspace.submissions.benchmarks.benchmark import Benchmark
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.benchmarks.task import Task
from fairspace.submissions.exchange.every_eval_ever.schema import VERSION
from fairspace.submissions.format.schema import Submission

MEANING = "1 and true: the answer was read as a choice; 0 and false: it was not. Fairness is no property of one answer."
"""Of `evaluation` in an instance record."""
Key = tuple[str, str, int]
"""Task, item and sample."""


def instances(submission: Submission, evaluation_id: str, model: str) -> Iterator[dict[str, Any]]:
    """The records of all answers of a checked submission, and of all judgements; annotations of images have none.

    They name no `evaluation_result_id`: an answer counts for several values, and the schema has room for one.

    Args:
        submission: with the answers.
        evaluation_id: of the aggregate record.
        model: its `model_info.id`.
    """
    bench = benchmark(submission.meta.benchmark)
    common = {"schema_version": VERSION, "evaluation_id": evaluation_id, "model_id": model}
    traces, items = _traces(submission, bench), bench.items(submission.meta.dataset_revision)
    for table, column in (("responses", "response"), ("judgements", "judgement")):
        for task in (task for task in bench.tasks if task.table == table):
            prompts = _inputs(submission, task, items.get(task.name))
            for row in submission.rows(table, task.name).to_pylist():
                key, answer = (task.name, row["id"], row["sample"]), row[column]
                trace = [] if row.get("judge") else traces.get(key, [])
                is_read = bool(trace) and all(part["read"] for part in trace)
                metadata = {"task": task.name, "sample": str(row["sample"]), "table": table}
                metadata |= {name: row[name] for name in ("names", "judge") if row.get(name) is not None}
                yield {
                    **common,
                    "evaluation_name": task.name,
                    "sample_id": row["id"],
                    "interaction_type": "single_turn",
                    "input": {"raw": prompts.get(row["id"], ""), "reference": []},
                    "output": {"raw": [] if answer is None else [answer]},
                    "messages": None,
                    "answer_attribution": [part["attribution"] for part in trace],
                    "evaluation": {"score": float(is_read), "is_correct": is_read},
                    "error": "not handed in" if answer is None else None,
                    "metadata": metadata,
                }


def _traces(submission: Submission, bench: Benchmark) -> dict[Key, list[dict[str, Any]]]:
    """Answer -> how it was read; a judge's answer has several parts."""
    traces: dict[Key, list[dict[str, Any]]] = {}
    for rows in read_rows(submission, bench):
        task, _, part = rows.task.partition("/")
        for row in _readings(rows):
            if row["outcome"] not in OUTCOMES:
                continue
            place = "" if row["start"] is None else f"[{row['start']}:{row['end']}]"
            attribution = {
                "turn_idx": 0,
                "source": f"output.raw[0]{place}",
                "extracted_value": row["outcome"] if row["value"] is None else row["value"],
                "extraction_method": f"fairspace: {part + ': ' if part else ''}{row['rule']}",
                "is_terminal": True,
            }
            step = {"read": row["outcome"] == "choice", "attribution": attribution}
            traces.setdefault((task, row["id"], row["sample"]), []).append(step)
    return traces


def _readings(rows: ReadRows) -> Iterator[dict[str, Any]]:
    columns = ["id", "sample", "outcome", "value", "start", "end", "rule"]
    for batch in rows.table().select(columns).to_batches(max_chunksize=10_000):
        yield from batch.to_pylist()


def _inputs(submission: Submission, task: Task, items: pa.Table | None) -> dict[str, str]:
    """Item -> what was asked; what a judge read. Empty where the prompts are not known here."""
    if task.judges:
        rows = submission.rows("responses", task.judges)
        return {row["id"]: row["response"] or "" for row in rows.select(["id", "response"]).to_pylist()}
    return {} if items is None else dict(zip(items["id"].to_pylist(), items["prompt"].to_pylist(), strict=True))
