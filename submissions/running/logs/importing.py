"""Import Inspect logs of the benchmarks' tasks: of `inspect eval fairspace/...` and of `fairspace run`.

Logs of one run are imported together: those of its tasks, or one that broke off and the one that went on. The
submission of a log of `fairspace run` is the one that the run wrote.

A log is untrusted data: its header and samples are read one after the other, within bounds of memory. Inspect's reader
of samples bounds no member of the zip, so members are read here; it reads the header alone. Nothing in a log is
executed, and no file that it names is opened.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_core import from_json

from fairspace.submissions.benchmarks.benchmark import PAPER, SCHEMA
from fairspace.submissions.benchmarks.registry import NAMES, benchmark
from fairspace.submissions.benchmarks.task import add_hashes
from fairspace.submissions.checking.submission import CheckReport, check_table, report_on
from fairspace.submissions.errors import RunError, UsageError
from fairspace.submissions.format.faults import Collector, RefusedError, first, show
from fairspace.submissions.format.manifest import ENTRIES, STAGES, Count, Git, Line, Manifest, Scalar, Stage, Text
from fairspace.submissions.format.schema import Submission, SubmissionMeta
from fairspace.submissions.format.writing import check_new, write_submission
from fairspace.submissions.reading.canonical import digest
from fairspace.submissions.reading.containers import LIMITS, READ_ERRORS
from fairspace.submissions.reading.tables import Rows, check_text
from fairspace.submissions.running.asking.asking import ANSWERS, PROMPTS, SCHEMAS
from fairspace.submissions.running.asking.inspect_task import (
    NOT_STATED,
    RUN,
    SAMPLE_DATA,
    UNREADABLE_AGAIN,
    ChosenPart,
    check_options,
)
from fairspace.submissions.running.asking.journal import Fate, JournalEntry, Key, table_of, totals
from fairspace.submissions.running.folders import public_name
from fairspace.submissions.running.settings import ModelFacts, RunOutcome, Tell, meta_of

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog

EVAL = ".eval"
MEMBER_BYTES = 64 << 20
"""Largest member that is read: a sample with its pictures and events takes a few megabytes."""
_STEP = 4096
"""Bytes at a time: such a block can grow to 128 MiB at most in any method of zips."""
_SAMPLE = re.compile(r"samples/.+\.json", re.DOTALL)
_HEADER = re.compile(r"header\.json|_journal/(start|config_updates/[0-9]{1,9})\.json")
"""Members of the header; Inspect's own reader takes all answers of a log for it, as they are among the reductions."""
_MEND = "copy the log again, or leave it out"


@dataclass(frozen=True)
class OpenLog:
    """An open log; each sample once, as unchecked JSON data. A log that broke off has a header too."""

    file: Path
    header: EvalLog
    samples: Iterator[Mapping[str, Any]]


@contextmanager
def open_log(file: Path) -> Iterator[OpenLog]:
    """Open a log on this machine. RunError LOG_INVALID, then or while it is read: none, damaged or too large."""
    if not file.is_file():
        raise invalid(file, "no file", "a log of Inspect", "name a file that `inspect eval` or `fairspace run` wrote")
    if file.suffix != EVAL:
        mend = "name a log of Inspect; one in JSON is converted by `inspect log convert --to eval`"
        raise invalid(file, f"the suffix {show(file.suffix, 20)}", EVAL, mend)
    import inspect_ai.log  # noqa: F401 - lets zipfile read the method (zstandard) that logs are packed with

    with file.open("rb") as stream:
        try:
            archive = zipfile.ZipFile(stream)
        except READ_ERRORS as error:
            raise invalid(file, f"a damaged zip ({show(str(error))})", "a whole .eval file") from error
        with archive:
            yield OpenLog(file, _header(file, archive), _samples(file, archive))


def invalid(file: Path, what: str, expected: str, mend: str = _MEND) -> RunError:
    """The error LOG_INVALID."""
    return RunError("LOG_INVALID", file.name, what, expected, mend)


def _samples(file: Path, archive: zipfile.ZipFile) -> Iterator[Mapping[str, Any]]:
    """Each sample once, in its last version."""
    for name in dict.fromkeys(archive.namelist()):
        if _SAMPLE.fullmatch(name):
            yield _parsed(file, name, _read(file, archive, name))


def _read(file: Path, archive: zipfile.ZipFile, name: str) -> bytes:
    """A member, of the size in the directory and with the right checksum."""
    info, data = archive.getinfo(name), bytearray()
    if info.file_size > MEMBER_BYTES:
        raise invalid(file, f"{show(name)} of {info.file_size:,} bytes", f"at most {MEMBER_BYTES:,} bytes")
    try:
        with archive.open(info) as stream:
            while piece := stream.read(_STEP):
                data += piece
    except Exception as error:
        raise invalid(file, f"{show(name)} cannot be read ({show(str(error))})", "a whole .eval file") from error
    if len(data) != info.file_size:
        raise invalid(file, f"{show(name)} ends too early", "a whole .eval file")
    return bytes(data)


def _parsed(file: Path, name: str, data: bytes) -> dict[str, Any]:
    try:
        parsed = from_json(data)
    except ValueError as error:
        raise invalid(file, f"{show(name)} is no JSON ({show(str(error))})", "JSON, as Inspect writes it") from error
    if not isinstance(parsed, dict):
        raise invalid(file, f"{show(name)} holds {show(parsed)}", "an object")
    return parsed


def _header(file: Path, archive: zipfile.ZipFile) -> EvalLog:
    from inspect_ai.log import read_eval_log

    small = io.BytesIO()
    with zipfile.ZipFile(small, "w") as packed:
        for name in filter(_HEADER.fullmatch, dict.fromkeys(archive.namelist())):
            packed.writestr(name, _read(file, archive, name))
            if small.tell() > MEMBER_BYTES:
                raise invalid(file, "a larger header", f"at most {MEMBER_BYTES:,} bytes in all")
    small.seek(0)
    try:
        return read_eval_log(small, header_only=True, format="eval")
    except Exception as error:
        what = f"a header that cannot be read ({show(' '.join(str(error).split()), 200)})"
        raise invalid(file, what, "a log of Inspect") from error


OPERATIONAL = (
    "max_retries",
    "timeout",
    "attempt_timeout",
    "stream_idle_timeout",
    "max_connections",
    "adaptive_connections",
    "cache",
    "cache_prompt",
    "batch",
    "fail_on_refusal",
    "max_tool_output",
)
"""Settings of Inspect that change how a model is reached, not its answers."""
_TEXT: TypeAdapter[str] = TypeAdapter(Text)


class LogPart(BaseModel):
    """Part of a log; unknown fields are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)


class RunDescription(LogPart):
    """The run, in the form of `Opened.describe`."""

    benchmark: Literal[NAMES]  # type: ignore[valid-type]
    tasks: list[Line] = Field(max_length=ENTRIES)
    limit: int | None = Field(ge=1, lt=2**63)
    stratified: bool
    seed: int | None = Field(ge=-(2**63), lt=2**63)
    prefix: Line
    text_only: bool
    datasets: dict[Line, Text] = Field(max_length=ENTRIES)
    dataset_revision: Line
    form: Line = PAPER
    answer_schema: bool | None = None
    sample_data: bool = False
    unreadable_again: int = Field(default=0, ge=0, le=100)
    as_authors: bool = False
    names: dict[Line, Line] = Field(default_factory=dict, max_length=10_000)
    part: str = Field(default="", pattern=r"^([0-9]{1,6}/[1-9][0-9]{0,5})?$")

    @property
    def chosen(self) -> ChosenPart:
        """The choice, without the place of its data."""
        described = self.model_dump(include={field.name for field in fields(ChosenPart)})
        return ChosenPart(**described | {"tasks": tuple(self.tasks)})

    @property
    def marks(self) -> dict[str, Scalar]:
        """See `Opened.marks`."""
        again = {UNREADABLE_AGAIN: self.unreadable_again} if self.unreadable_again else {}
        schema = {} if self.answer_schema is None else {SCHEMA: self.answer_schema}
        return self.chosen.generation() | ({SAMPLE_DATA: True} if self.sample_data else {}) | again | schema


def stage_of(
    file: Path, header: EvalLog, about: RunDescription, answers: Collection[JournalEntry], prompts: str
) -> Stage:
    """The stage of a log for a manifest. RunError LOG_INVALID if its header does not fit."""
    spec, config = header.eval, settings_of(header, about)
    if spec.model_args:
        config["arguments"] = ", ".join(sorted(map(str, spec.model_args)))[:1000]
    started = header.stats.started_at or spec.created
    git = None
    if spec.revision is not None:
        git = {"commit": spec.revision.commit, "changed": bool(spec.revision.dirty)}
    options = {
        "what": "responses",
        "model": public_name(spec.model),
        "revision": NOT_STATED,
        "engine": "inspect_ai",
        "engine_version": spec.packages.get("inspect_ai") or NOT_STATED,
        "settings": {**config, **about.marks},
        "prompts": prompts,
        "datasets": about.datasets,
        "tasks": about.tasks,
        **totals(answers),
        "limit": about.limit,
        "stratified": about.stratified,
        "software": dict(spec.packages),
        "started": _utc(file, started),
        "ended": _utc(file, header.stats.completed_at or started),
    }
    try:
        return Stage.model_validate({**options, "git": git and Git.model_validate(git)})
    except ValidationError as error:
        raise invalid(file, first(error), "a header as Inspect writes it") from error


def settings_of(header: EvalLog, about: RunDescription) -> dict[str, Scalar]:
    """Settings of generation, without the task's own bound of tokens; names alone of objects (possible secrets)."""
    spec = header.eval
    model, run = (
        config.model_dump(mode="json", exclude_none=True) for config in (spec.model_generate_config, header.plan.config)
    )
    bound, stated = _own(about)
    if run.get("max_tokens") == bound:
        del run["max_tokens"]
    settings = {name: scalar(value) for name, value in {**model, **run}.items() if name not in OPERATIONAL}
    return settings | {name: value for name, value in stated.items() if settings.get(name) == value}


def _own(about: RunDescription) -> tuple[int, Mapping[str, Scalar]]:
    """Default greatest length of an answer, and the paper's settings of generation."""
    tasks = [task for task in benchmark(about.benchmark).tasks if task.name in about.tasks and task.ask is not None]
    longest = max((task.max_tokens for task in tasks), default=0)
    return longest, {name: value for task in tasks for name, value in task.settings.items()}


def scalar(value: Any) -> Scalar:
    """A setting as a scalar: JSON text of a list, names alone of an object, the hash of a text that fits no line."""
    if isinstance(value, int | float):
        return value
    text = ", ".join(sorted(map(str, value))) if isinstance(value, dict) else value
    text = text if isinstance(text, str) else json.dumps(text, ensure_ascii=False)
    try:
        return _TEXT.validate_python(text)
    except ValidationError:  # of several lines, or long, as a system message may be
        return f"sha256 {hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"


def _utc(file: Path, text: str) -> str:
    try:
        return datetime.fromisoformat(text).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError) as error:
        raise invalid(file, f"the time {show(text, 40)}", "a time as Inspect writes it") from error


_MEND_ANSWERS = "leave it out, or log the task again"


class _Row(LogPart):
    task: Annotated[str, Field(min_length=1, max_length=200)]
    id: Annotated[str, Field(min_length=1, max_length=1000)]
    sample: int = Field(ge=0, lt=2**31)
    fate: Fate
    response: str | None
    reason: str = ""
    stop: str = ""
    attempts: Count = 1
    input_tokens: Count = 0
    output_tokens: Count = 0
    seconds: float = 0.0


_ROWS = TypeAdapter(list[_Row])


@dataclass(frozen=True)
class LogAnswers:
    """One log: a stage for a manifest without its revision, answers by key, and the hash of prompts by sample's id.

    `asked` are the ids of all samples that the log was to have.
    """

    file: Path
    described: RunDescription
    stage: Stage
    answers: Mapping[Key, JournalEntry]
    prompts: Mapping[str, str]
    asked: frozenset[str]


def read_log(file: Path, step: Callable[[], None] = lambda: None) -> LogAnswers:
    """The answers in a log; `step` is called after each sample.

    Errors: RunError LOG_INVALID; LOG_CONFLICT if two samples answer the same item differently.
    """
    with open_log(file) as log:
        described, room = _described(file, log.header), LIMITS.member_bytes
        answers: dict[Key, JournalEntry] = {}
        prompts: dict[str, str] = {}
        for sample in log.samples:
            step()
            about = sample.get("metadata")
            if not isinstance(about, dict) or ANSWERS not in about:
                continue
            if sample.get("epoch") != 1:
                mend = "run the task without --epochs: it asks each item as often as the benchmark wants"
                raise invalid(file, f"a sample of epoch {show(sample.get('epoch'))}", "a single epoch", mend)
            name = _text(file, "a sample's id", str(sample.get("id")))
            prompts[name] = _hash(file, name, about.get(PROMPTS))
            if isinstance(about.get(SCHEMAS), bool):
                described = described.model_copy(update={SCHEMA: about[SCHEMAS]})
            of_file = _answers(file, name, about[ANSWERS])
            room -= sum(len(answer.response or "") for answer in of_file)
            if room < 0:
                raise invalid(file, "more characters in all answers", f"at most {LIMITS.member_bytes:,}")
            join(answers, of_file, file)
        expected = frozenset(map(str, log.header.eval.dataset.sample_ids or prompts))
        stage = stage_of(file, log.header, described, answers.values(), add_hashes(prompts.values()))
    return LogAnswers(file, described, stage, answers, prompts, expected)


def join(answers: dict[Key, JournalEntry], more: Iterable[JournalEntry], file: Path) -> None:
    """Add the answers of another sample or log, which replace failures. RunError LOG_CONFLICT for another answer."""
    for answer in more:
        before = answers.get(answer.key)
        if before is None or before.fate == "failed":
            answers[answer.key] = answer
        elif answer.fate != "failed" and (answer.fate, answer.response) != (before.fate, before.response):
            where = f"{answer.task}, {show(answer.id)}, sample {answer.sample}"
            what = f"{_shown(before)}, and in {file.name} {_shown(answer)}"
            mend = "import logs of one run together: an item is asked once"
            raise RunError("LOG_CONFLICT", where, what, "one answer", mend)


def _shown(answer: JournalEntry) -> str:
    return answer.fate if answer.response is None else show(answer.response, 40)


def _described(file: Path, header: EvalLog) -> RunDescription:
    stored = (header.eval.metadata or {}).get(RUN)
    task = show(header.eval.task, 60)
    expected = "a log of one of our tasks (`inspect eval fairspace/genres`), or of `fairspace run`"
    config, dataset = header.eval.config, header.eval.dataset
    fewer = dataset.sample_ids is not None and dataset.samples is not None and len(dataset.sample_ids) < dataset.samples
    if fewer or config.limit is not None or config.sample_id is not None:
        mend = "run a part with the task's own limit (-T limit=200), which chooses in each task and marks the answers"
        raise invalid(file, "a part of the samples, chosen by Inspect", "all samples of the task", mend)
    if isinstance(stored, dict) and stored.get("table") != "responses":
        raise invalid(file, "a log of a judge", expected, "judge the submission again: fairspace judge")
    if not isinstance(stored, dict):
        raise invalid(file, f"a log of the task {task}", expected, "run the benchmark's own task, then import its log")
    try:
        described = RunDescription.model_validate(stored)
    except ValidationError as error:
        raise invalid(file, f"a log of the task {task} with {first(error)}", expected, _MEND_ANSWERS) from error
    bench = benchmark(described.benchmark)
    if not bench.has_revision(described.dataset_revision):
        what = f"answers to the items of revision {show(described.dataset_revision)}"
        raise invalid(file, what, f"those of revision {' or '.join(bench.revisions)}", _MEND_ANSWERS)
    try:
        check_options(described.benchmark, **described.chosen.options)
    except UsageError as error:
        raise invalid(file, f"a log of the task {task}: {error}", expected, _MEND_ANSWERS) from error
    return described


def _answers(file: Path, sample: str, data: Any) -> list[JournalEntry]:
    try:
        rows = _ROWS.validate_python(data)
        answers = [JournalEntry(**row.model_dump()) for row in rows]
        for answer in answers:
            for text in (answer.task, answer.id, answer.response or ""):
                check_text(text)
    except ValidationError as error:
        raise invalid(file, f"sample {show(sample)} with {first(error)}", "answers as they were logged") from error
    except RefusedError as error:
        raise invalid(file, f"sample {show(sample)}: {error.what}", error.expected) from error
    for answer in answers:
        if (answer.response is None) == (answer.fate == "answered"):
            what = f"sample {show(sample)}: {answer.fate}, with {_shown(answer)}"
            raise invalid(file, what, "a text if it was answered, and none if not")
        if len((answer.response or "").encode()) > LIMITS.row_bytes:
            what = f"sample {show(sample)}: an answer that is longer"
            raise invalid(file, what, f"at most {LIMITS.row_bytes:,} bytes")
    return answers


def _text(file: Path, what: str, text: str) -> str:
    try:
        check_text(text)
    except RefusedError as error:
        raise invalid(file, f"{what}: {error.what}", error.expected) from error
    return text


def _hash(file: Path, sample: str, data: Any) -> str:
    if not isinstance(data, str) or len(data) != 64 or set(data) - set("0123456789abcdef"):
        raise invalid(file, f"sample {show(sample)} with prompts {show(data)}", "the hash of its prompts")
    return data


_MEND_CONFLICT = "import them one after the other, each into a submission of its own"


def import_inspect(
    files: Sequence[Path], out: Path, *, about: ModelFacts | None = None, tell: Tell = lambda what, done, total: None
) -> RunOutcome:
    """Write the answers of one model to one benchmark as a submission; notes say what is missing.

    `files` are logs in any order, `out` is a new folder or zip; the default name of the model is the logs'.

    Errors: RunError LOG_INVALID, LOG_CONFLICT; UsageError if there is something at `out`, or a text does not fit.
    """
    check_new(out)
    submission, log_notes = submission_of(files, about or ModelFacts(), tell)
    write_submission(out, submission.meta, submission.tables, manifest=submission.manifest)
    return RunOutcome(out, tuple(submission.manifest.stages if submission.manifest else ()), tuple(log_notes))


def submission_of(files: Sequence[Path], about: ModelFacts, tell: Tell) -> tuple[Submission, list[str]]:
    """The checked submission of logs, and notes on what is missing. Errors: as `import_inspect`."""
    logs = read_logs(files, tell)
    answers = merged(logs)
    stages = [log.stage.model_copy(update={"revision": about.revision}) for log in logs]
    meta = _meta(logs, about)
    tables = {"responses": check_rows(table_of(answers.values(), "responses", logs[0].described.names), meta, logs)}
    submission = Submission(meta, tables, digest(meta, tables), manifest=Manifest(stages=stages))
    return submission, notes(logs, answers.values())


def check_log(file: Path) -> CheckReport:
    """The check of a log, as of a submission. Errors: as `import_inspect`."""
    submission, log_notes = submission_of([file], ModelFacts(), lambda what, done, total: None)
    bench, faults = benchmark(submission.meta.benchmark), Collector(LIMITS.faults)
    report = report_on(submission.meta, bench, dict(submission.tables), faults, manifest=submission.manifest)
    return replace(report, notes=(*log_notes, *report.notes))


def merged(logs: Sequence[LogAnswers]) -> dict[Key, JournalEntry]:
    """The answers of logs of one run. RunError LOG_CONFLICT if they are of several, or answer an item differently."""
    first = logs[0]
    answers: dict[Key, JournalEntry] = {}
    for log in logs:
        for name, here, there in zip(_SAME, _identity(first), _identity(log), strict=True):
            if here != there:
                what = f"{name} {show(there)}, and {show(here)} in {first.file.name}"
                raise RunError("LOG_CONFLICT", log.file.name, what, f"logs of one {name}", _MEND_CONFLICT)
        for name in first.described.datasets.keys() & log.described.datasets.keys():
            here, there = first.described.datasets[name], log.described.datasets[name]
            if here != there:
                what = f"{show(name)} of revision {show(there)}, and {show(here)} in {first.file.name}"
                raise RunError("LOG_CONFLICT", log.file.name, what, "logs of the same data", _MEND_CONFLICT)
        if log.described.limit and first.described.limit and log.described.stratified != first.described.stratified:
            what = f"a limit that is stratified, and one in {first.file.name} that is not, or the other way round"
            raise RunError("LOG_CONFLICT", log.file.name, what, "the same choice of stimuli", _MEND_CONFLICT)
        join(answers, log.answers.values(), log.file)
    return answers


_OWN = ("limit", "stratified", "arguments", SAMPLE_DATA, UNREADABLE_AGAIN)
"""Settings that may differ between logs of one run."""
_SAME = ("model", "benchmark", "dataset revision", "setting")


def _identity(log: LogAnswers) -> tuple[Any, ...]:
    """A key that logs of one run share."""
    settings = {name: value for name, value in log.stage.settings.items() if name not in _OWN}
    described = log.described
    return log.stage.model, described.benchmark, described.dataset_revision, sorted(settings.items())


def notes(logs: Sequence[LogAnswers], answers: Iterable[JournalEntry]) -> list[str]:
    """Notes on parts of the logs that are missing in the submission."""
    log_notes = []
    expected = frozenset[str]().union(*(log.asked for log in logs))
    prompts = frozenset[str]().union(*(log.prompts for log in logs))
    if expected - prompts:
        log_notes.append(
            f"{len(expected - prompts):,} of {len(expected):,} stimuli have no answers in the logs; they are missing"
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


def read_logs(files: Sequence[Path], tell: Tell) -> list[LogAnswers]:
    """The logs by start. UsageError if there are none, or too many."""
    if not 1 <= len(files) <= STAGES:
        raise UsageError(f"There are {len(files)} logs; name 1 to {STAGES}.")
    done = 0

    def step() -> None:
        nonlocal done
        done += 1
        tell("Reading samples", done, 0)

    return sorted((read_log(file, step) for file in files), key=lambda log: (log.stage.started, log.file.name))


def _meta(logs: Sequence[LogAnswers], about: ModelFacts) -> SubmissionMeta:
    limit, stratified = limit_of(logs)
    generation = {name: value for name, value in logs[0].stage.settings.items() if name not in _OWN}
    if limit is not None:
        generation |= {"limit": limit, "stratified": stratified}
    if any(log.described.sample_data for log in logs):
        generation[SAMPLE_DATA] = True
    if again := max(log.described.unreadable_again for log in logs):
        generation[UNREADABLE_AGAIN] = again
    model = about.model or logs[0].stage.model.rstrip("/").rpartition("/")[2][:200]
    try:
        return meta_of(logs[0].described.chosen, generation, replace(about, model=model))
    except ValidationError as error:
        first = error.errors()[0]
        what = f"{first['loc'][0]} {show(first['input'])} does not fit submission.json: {first['msg']}."
        raise UsageError(what) from error


def check_rows(table: pa.Table, meta: SubmissionMeta, logs: Sequence[LogAnswers]) -> pa.Table:
    """The checked rows. RunError LOG_INVALID if answers are to no items of the benchmark, or there is none."""
    place = logs[0].file if len(logs) == 1 else Path(f"{len(logs)} logs")
    if not table.num_rows:
        raise invalid(place, "no answer", "one answer at least", "log the task again")
    faults = Collector(LIMITS.faults)
    rows = Rows(table, np.arange(1, table.num_rows + 1), (place.name,))
    checked = check_table("responses", rows, meta, benchmark(meta.benchmark), LIMITS, faults)
    for fault in faults.all():
        more = f" (and {fault.count - 1:,} more)" if fault.count > 1 else ""
        raise invalid(place, f"{fault.code}: {fault.what}{more}", fault.expected, "log the benchmark's own task")
    return checked
