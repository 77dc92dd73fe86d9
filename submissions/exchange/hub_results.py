"""A result in the Hub's form: entries of `.eval_results/<benchmark>.yaml` in the repository of a model.

The form has one number for each task: a percentage, more is better (`percent_of`), with missing samples at their
worst, as in our ranks. Interval and size go into the notes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import yaml

from fairspace.builders.errors import BuildError
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.results.board import entry
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import find_standard, rescore

if TYPE_CHECKING:
    from huggingface_hub import EvalResultEntry

    from fairspace.builders.engine.dataset import Dataset

SOURCE = "fairspace leaderboard"


def eval_results_path(result: Result) -> str:
    """Path of the entries in the model's repository."""
    return f".eval_results/{result.benchmark}.yaml"


def row_path(result: Result) -> str:
    """Path of the result's row on a Space."""
    return f"/model/{result.benchmark}/{entry(result)}"


def publishable(result: Result) -> Result:
    """The result under its benchmark's default standard. BuildError RESULT_UNRANKED for a baseline, or no rank."""
    bench = benchmark(result.benchmark)
    result = rescore(result, bench.default)
    if baseline := result.meta.get("baseline"):
        why = f"the answers of the trivial model {baseline}"
    elif result.scored.ranked is None:
        why = "; ".join(result.scored.unranked)
    else:
        return result
    where, expected = f"the result of {result.meta['model']}", f"a result that {bench.default} ranks"
    mend = "answer what is missing and score again; what has no rank here is no number there"
    raise BuildError("RESULT_UNRANKED", where, why, expected, mend)


def eval_result_entries(
    result: Result,
    namespace: str,
    commit_of: Callable[[Dataset], str | None],
    *,
    date: str = "",
    source: str = "",
) -> list[EvalResultEntry]:
    """One entry per headline score of a result of `publishable`.

    `commit_of`: dataset -> the commit with the answered items; None if unknown. `date` (ISO 8601) of the run and
    `source`, the address of the result's row, can be ''.
    """
    from huggingface_hub import EvalResultEntry

    from fairspace.builders.registry import headlined

    worst = "low" if benchmark(result.benchmark).higher_is_better else "high"
    entries = []
    for dataset in headlined(result.benchmark):
        scores = {head.task: result.scored.scores.get(head.score) for head in dataset.headlines}
        values = {task: score for task, score in scores.items() if score is not None and score.state == "value"}
        commit = commit_of(dataset) if values else None
        for task, score in values.items():
            if (bound := getattr(score, worst)) is None:
                continue
            entries.append(
                EvalResultEntry(
                    dataset_id=f"{namespace}/{dataset.name}",
                    task_id=task,
                    value=percent_of(result, score.name)(bound),
                    dataset_revision=commit,
                    date=date or None,
                    source_url=source or None,
                    source_name=SOURCE if source else None,
                    notes=_notes(result, score.name),
                )
            )
    return entries


def percent_of(result: Result, name: str) -> Callable[[float], float]:
    """A score of a result -> its percentage, under the result's standard.

    It is the share of the way from the worst to the best possible score, the latter at most 100 % (IRIS' `inaugural`
    can be above). A score without a largest number, a sum of n distances from the ideal, becomes 100 · exp(-score / n).
    """
    bench = benchmark(result.benchmark)
    table = bench.table_of(result.scored, find_standard(bench, result.standard))
    (least, most), parts = table.limits[name], len(table.rules[name].weights)

    def percent(number: float) -> float:
        if math.isinf(most):
            share = math.exp(-number / parts)
        else:
            share = (number - least) / (min(most, 100.0) - least)
            share = share if bench.higher_is_better else 1 - share
        return round(100 * min(1.0, max(0.0, share)), 2)

    return percent


def as_yaml(entries: list[EvalResultEntry]) -> str:
    """The entries as YAML."""
    from huggingface_hub import eval_result_entries_to_yaml

    return yaml.safe_dump(eval_result_entries_to_yaml(entries), sort_keys=False, allow_unicode=True, width=100)


def _notes(result: Result, name: str) -> str:
    """Facts without a field in the format, on one line."""
    score, percent = result.scored.scores[name], percent_of(result, name)
    about, bench = score.uncertainty, benchmark(result.benchmark)
    parts = []
    if about is not None:
        low, high = sorted((percent(about.low), percent(about.high)))
        parts.append(f"95 % interval {low:g} to {high:g}")
    parts.append(f"n = {score.valid:,} of {score.expected:,} samples")
    handed_in = sum(read.handed_in for read in result.readings.values())
    if handed_in:
        choices = sum(read.outcomes.get("choice", 0) for read in result.readings.values())
        parts.append(f"{100 * choices / handed_in:.1f} % of the answers read as a choice")
    parts += [f"standard {result.standard}", f"protocol {bench.protocols.of(result.signature, result.scored)}"]
    if score.value is not None:
        parts.append(f"{name} in its own unit {score.value:.4g}")
    return "; ".join([*parts, f"fairspace {result.signature.get('fairspace', 'of an earlier version')}"])
