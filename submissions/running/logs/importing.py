"""Import Inspect logs of the benchmarks' tasks: of `inspect eval submissions/tasks.py@...` and of `fairspace run`.

Logs of one run are imported together: those of its tasks, or one that broke off and the one that went on. The
submission of a log of `fairspace run` is the one that the run wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pydantic import ValidationError

from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.checking.submission import check_table
from fairspace.submissions.errors import UsageError
from fairspace.submissions.format.collector import Collector, show
from fairspace.submissions.format.manifest import STAGES, Manifest
from fairspace.submissions.format.schema import SubmissionMeta
from fairspace.submissions.format.writing import write_submission
from fairspace.submissions.reading.limits import LIMITS
from fairspace.submissions.reading.tables import Rows
from fairspace.submissions.running.asking.inspect_task import NOT_STATED, SAMPLE_DATA, UNREADABLE_AGAIN
from fairspace.submissions.running.asking.journal import Answer, Key, table_of
from fairspace.submissions.running.errors import RunError
from fairspace.submissions.running.logs.answers import LogAnswers, join, read_log
from fairspace.submissions.running.logs.files import invalid
from fairspace.submissions.running.run import Outcome
from fairspace.submissions.running.settings import About

Tell = Callable[[str, int, int], None]
_MEND = "import them one after the other, each into a submission of its own"


def import_inspect(
    files: Sequence[Path],
    out: Path,
    *,
    about: About | None = None,
    tell: Tell = lambda what, done, total: None,
) -> Outcome:
    """Write the answers of one model to one benchmark as a submission; notes say what is missing.

    `files` are logs in any order, `out` is a new folder or zip; the default name of the model is the logs'.

    Errors: RunError LOG_INVALID, LOG_CONFLICT; UsageError if there is something at `out`, or a text does not fit.
    """
    about = about or About()
    _check_place(out)
    logs = read_logs(files, tell)
    judged = next((log for log in logs if log.described.table != "responses"), None)
    if judged is not None:
        mend = "name the submission that was judged with --submission"
        raise invalid(judged.file, "a log of judges", "answers to a benchmark", mend)
    answers = merged(logs)
    table = table_of(answers.values(), "responses")
    stages = [log.stage.model_copy(update={"revision": about.revision}) for log in logs]
    meta = _meta(logs, about)
    check_rows(table, meta, logs)
    write_submission(out, meta, {"responses": table}, manifest=Manifest(stages=stages))
    return Outcome(out, tuple(stages), tuple(notes(logs, answers.values())))


def merged(logs: Sequence[LogAnswers]) -> dict[Key, Answer]:
    """The answers of logs of one run. RunError LOG_CONFLICT if they are of several, or answer an item differently."""
    first = logs[0]
    answers: dict[Key, Answer] = {}
    for log in logs:
        for name, here, there in zip(_SAME, _identity(first), _identity(log), strict=True):
            if here != there:
                what = f"{name} {show(there)}, and {show(here)} in {first.file.name}"
                raise RunError("LOG_CONFLICT", log.file.name, what, f"logs of one {name}", _MEND)
        for name in first.described.datasets.keys() & log.described.datasets.keys():
            here, there = first.described.datasets[name], log.described.datasets[name]
            if here != there:
                what = f"{show(name)} of revision {show(there)}, and {show(here)} in {first.file.name}"
                raise RunError("LOG_CONFLICT", log.file.name, what, "logs of the same data", _MEND)
        if log.described.limit and first.described.limit and log.described.stratified != first.described.stratified:
            what = f"a limit that is stratified, and one in {first.file.name} that is not, or the other way round"
            raise RunError("LOG_CONFLICT", log.file.name, what, "the same choice of stimuli", _MEND)
        join(answers, log.answers.values(), log.file)
    return answers


_OWN = ("limit", "stratified", "arguments", SAMPLE_DATA, UNREADABLE_AGAIN)
"""Settings that may differ between logs of one run."""
_SAME = ("model", "benchmark", "dataset revision", "table", "setting")


def _identity(log: LogAnswers) -> tuple[Any, ...]:
    """A key that logs of one run share."""
    settings = {name: value for name, value in log.stage.settings.items() if name not in _OWN}
    described = log.described
    return log.stage.model, described.benchmark, described.dataset_revision, described.table, sorted(settings.items())


def notes(logs: Sequence[LogAnswers], answers: Iterable[Answer]) -> list[str]:
    """Notes on parts of the logs that are missing in the submission."""
    log_notes = [note for log in logs for note in log.notes]
    expected = frozenset[str]().union(*(log.asked for log in logs))
    done = frozenset[str]().union(*(log.prompts for log in logs))
    if expected - done:
        log_notes.append(
            f"{len(expected - done):,} of {len(expected):,} stimuli have no answers in the logs; they are missing"
        )
    failed = sum(answer.fate == "failed" for answer in answers)
    if failed:
        log_notes.append(f"{failed:,} requests failed; they are missing")
    return log_notes


def limit_of(logs: Sequence[LogAnswers]) -> tuple[int | None, bool]:
    """Limit of stimuli and stratification, of the least asked task; of a task's logs the longest counts."""
    longest: dict[str, tuple[float, bool]] = {}
    for log in logs:
        limit = float("inf") if log.described.limit is None else log.described.limit
        for task in log.described.tasks:
            longest[task] = max(longest.get(task, (0, False)), (limit, log.described.stratified))
    limit, stratified = min(longest.values(), default=(float("inf"), False))
    return (None, False) if limit == float("inf") else (int(limit), stratified)


def read_logs(files: Sequence[Path], tell: Tell, *, in_order: bool = False) -> list[LogAnswers]:
    """The logs by start, or in the given order. UsageError if there are none, or too many."""
    if not 1 <= len(files) <= STAGES:
        raise UsageError(f"There are {len(files)} logs; name 1 to {STAGES}.")
    done = 0

    def step() -> None:
        nonlocal done
        done += 1
        tell("Reading samples", done, 0)

    logs = [read_log(file, step) for file in files]
    return logs if in_order else sorted(logs, key=lambda log: (log.stage.started, log.file.name))


def _meta(logs: Sequence[LogAnswers], about: About) -> SubmissionMeta:
    limit, stratified = limit_of(logs)
    generation = {name: value for name, value in logs[0].stage.settings.items() if name not in _OWN}
    if limit is not None:
        generation |= {"limit": limit, "stratified": stratified}
    if any(log.described.sample_data for log in logs):
        generation[SAMPLE_DATA] = True
    if again := max(log.described.unreadable_again for log in logs):
        generation[UNREADABLE_AGAIN] = again
    model = about.model or logs[0].stage.model.rstrip("/").rpartition("/")[2][:200] or NOT_STATED
    try:
        return SubmissionMeta(
            format=1,
            benchmark=logs[0].described.benchmark,
            dataset_revision=logs[0].described.dataset_revision,
            model=model,
            revision=about.revision,
            organisation=about.organisation,
            licence=about.licence,
            contact=about.contact,
            **about.facts(),
            generation=generation,
        )
    except ValidationError as error:
        first = error.errors()[0]
        what = f"{first['loc'][0]} {show(first['input'])} does not fit submission.json: {first['msg']}."
        raise UsageError(what) from error


def check_rows(table: pa.Table, meta: SubmissionMeta, logs: Sequence[LogAnswers]) -> None:
    """RunError LOG_INVALID if the answers of logs are not to items of the benchmark, or there is none."""
    named = logs[0].file if len(logs) == 1 else Path(f"{len(logs)} logs")
    if not table.num_rows:
        raise invalid(named, "no answer", "one answer at least", "log the task again")
    faults = Collector(LIMITS.faults)
    rows = Rows(table, np.arange(1, table.num_rows + 1), (named.name,))
    check_table(logs[0].described.table, rows, meta, benchmark(meta.benchmark), LIMITS, faults)
    for fault in faults.all():
        more = f" (and {fault.count - 1:,} more)" if fault.count > 1 else ""
        raise invalid(named, f"{fault.code}: {fault.what}{more}", fault.expected, "log the benchmark's own task")


def _check_place(out: Path) -> None:
    """UsageError if the place is taken."""
    if out.exists() and (not out.is_dir() or out.suffix == ".zip" or any(out.iterdir())):
        raise UsageError(f"There is something at {out} already. Name a new folder or zip.")
