"""The header and the answers of a benchmark's log; all is checked, nothing trusted."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from fairspace.submissions.benchmarks.asks import add_hashes
from fairspace.submissions.benchmarks.forms import PAPER
from fairspace.submissions.benchmarks.registry import NAMES, benchmark
from fairspace.submissions.benchmarks.registry import benchmark as registered
from fairspace.submissions.errors import UsageError
from fairspace.submissions.format.collector import RefusedError, show
from fairspace.submissions.format.manifest import ENTRIES, STAGES, Count, Git, Scalar, Stage, Text
from fairspace.submissions.format.schema import OTHER_JUDGES
from fairspace.submissions.format.text import Line
from fairspace.submissions.reading.limits import LIMITS
from fairspace.submissions.reading.strict_json import check_text
from fairspace.submissions.running.asking.asking import ANSWERS, PROMPTS
from fairspace.submissions.running.asking.inspect_task import NOT_STATED, RUN, SAMPLE_DATA, UNREADABLE_AGAIN, Chosen
from fairspace.submissions.running.asking.journal import FATES, Answer, Fate, Key
from fairspace.submissions.running.asking.models import LOCAL
from fairspace.submissions.running.asking.parts import check_options
from fairspace.submissions.running.errors import RunError
from fairspace.submissions.running.folders import public_name
from fairspace.submissions.running.logs.files import Log, invalid, open_log

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog


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


class Checked(BaseModel):
    """Part of a log; unknown fields are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)


class Described(Checked):
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
    table: Literal["responses", "judgements"] = "responses"
    prompts: str = Field(default="", pattern=r"^([0-9a-f]{64})?$", description="a judge's: of all narratives")
    json_schema: bool = False
    evaluation: int = Field(default=1, ge=1, le=OTHER_JUDGES + 1, description="by one judge, from 1")
    form: Line = PAPER
    sample_data: bool = False
    unreadable_again: int = Field(default=0, ge=0, le=100)

    @property
    def chosen(self) -> Chosen:
        """The choice, without the place of its data."""
        return Chosen(
            self.benchmark,
            "",
            tuple(self.tasks),
            self.limit,
            self.stratified,
            self.seed,
            self.prefix,
            self.text_only,
            self.dataset_revision,
            self.form,
        )

    @property
    def marks(self) -> dict[str, Scalar]:
        """See `Opened.marks`."""
        again = {UNREADABLE_AGAIN: self.unreadable_again} if self.unreadable_again else {}
        return self.chosen.generation() | ({SAMPLE_DATA: True} if self.sample_data else {}) | again

    def cut_by(self, header: EvalLog) -> Described:
        """The run with Inspect's own `--limit` or `--sample-id`, which count the stimuli of all tasks together."""
        config, dataset = header.eval.config, header.eval.dataset
        ids, whole = dataset.sample_ids, dataset.samples
        if ids is not None and whole is not None:
            if len(ids) >= whole:
                return self
        elif config.limit is None and config.sample_id is None:
            return self
        most = len(ids) if ids is not None else _most(config.limit, config.sample_id)
        if self.limit is not None and self.limit <= most:
            return self
        return self.model_copy(update={"limit": max(1, most), "stratified": False})


def _most(
    limit: int | tuple[int, int] | None, names: str | int | list[str] | list[int] | list[str | int] | None
) -> int:
    if isinstance(limit, int):
        return limit
    if limit is not None:
        return limit[1] - limit[0]
    return len(names) if isinstance(names, list) else 1


def stage_of(file: Path, header: EvalLog, about: Described, answers: Iterable[Answer], prompts: str) -> Stage:
    """The stage of a log for a manifest. RunError LOG_INVALID if its header does not fit."""
    answers = list(answers)
    spec, config = header.eval, settings_of(header, about)
    if spec.model_args:
        config["arguments"] = ", ".join(sorted(map(str, spec.model_args)))[:1000]
    started = header.stats.started_at or spec.created
    git = None
    if spec.revision is not None:
        git = {"commit": spec.revision.commit, "changed": bool(spec.revision.dirty)}
    options = {
        "what": about.table,
        "model": public_name(spec.model),
        "revision": NOT_STATED,
        "engine": "inspect_ai",
        "engine_version": spec.packages.get("inspect_ai") or NOT_STATED,
        "settings": {**config, **about.marks},
        "prompts": prompts,
        "datasets": about.datasets,
        "tasks": about.tasks,
        "requests": len(answers),
        "fates": {fate: sum(answer.fate == fate for answer in answers) for fate in FATES},
        "input_tokens": sum(answer.input_tokens for answer in answers),
        "output_tokens": sum(answer.output_tokens for answer in answers),
        "limit": about.limit,
        "stratified": about.stratified,
        "software": dict(spec.packages),
        "git": git and Git.model_validate(git),
        "started": _utc(file, started),
        "ended": _utc(file, header.stats.completed_at or started),
    }
    try:
        return Stage.model_validate(options)
    except ValidationError as error:
        raise invalid(file, first(error), "a header as Inspect writes it") from error


def settings_of(header: EvalLog, about: Described) -> dict[str, Scalar]:
    """Settings of generation, without the task's own bound of tokens; names alone of objects (possible secrets)."""
    spec = header.eval
    model, run = (
        config.model_dump(mode="json", exclude_none=True) for config in (spec.model_generate_config, header.plan.config)
    )
    bound, stated = _own(about)
    if run.get("max_tokens") == bound:
        del run["max_tokens"]
    settings = {name: _scalar(value) for name, value in {**model, **run}.items() if name not in OPERATIONAL}
    if spec.model.startswith(LOCAL) and spec.model_args.get("do_sample") is False:
        settings.setdefault("temperature", 0.0)
    return settings | {name: value for name, value in stated.items() if settings.get(name) == value}


def _own(about: Described) -> tuple[int, Mapping[str, Scalar]]:
    """Default greatest length of an answer, and the paper's settings of generation."""
    if about.table == "judgements":
        return 0, {}
    tasks = [task for task in registered(about.benchmark).tasks if task.name in about.tasks and task.ask is not None]
    longest = max((task.max_tokens for task in tasks), default=0)
    return longest, {name: value for task in tasks for name, value in task.settings.items()}


def _scalar(value: Any) -> Scalar:
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


def first(error: ValidationError) -> str:
    """The first fault, and its place."""
    detail = error.errors(include_url=False)[0]
    place = ".".join(map(str, detail["loc"][:4]))
    return f"{show(place, 60)} {show(detail['input'], 60)}: {detail['msg']}"


_MEND = "leave it out, or log the task again"


class _Row(Checked):
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
    """One log.

    Args:
        stage: stage for a manifest; its revision is not stated.
        answers: key -> answer; of a sample with several epochs the first one's.
        prompts: id of each sample that has answers -> hash of its prompts.
        asked: ids of all samples that the log was to have.
        notes: parts of it that are not in the answers.
        later: later epoch -> its answers, each an evaluation by a judge.
    """

    file: Path
    described: Described
    stage: Stage
    answers: Mapping[Key, Answer]
    prompts: Mapping[str, str]
    asked: frozenset[str]
    notes: tuple[str, ...] = ()
    epoch: int = 1
    later: Mapping[int, Mapping[Key, Answer]] = field(default_factory=dict)


def read_log(file: Path, step: Callable[[], None] = lambda: None) -> LogAnswers:
    """The answers in a log (`.eval` or `.json`); `step` is called after each sample.

    Errors: RunError LOG_INVALID; LOG_CONFLICT if two samples answer the same item differently.
    """
    with open_log(file) as log:
        described = _described(file, log.header).cut_by(log.header)
        answers: dict[Key, Answer] = {}
        prompts: dict[str, str] = {}
        later: dict[int, dict[Key, Answer]] = {}
        left_out = 0
        for sample in log.samples:
            step()
            about = sample.get("metadata")
            if not isinstance(about, dict) or ANSWERS not in about:
                continue
            epoch = _epoch(file, sample.get("epoch"))
            if epoch > 1 and described.table != "judgements":
                left_out += 1
                continue
            name = _text(file, "a sample's id", str(sample.get("id")))
            prompts[name] = _hash(file, name, about.get(PROMPTS))
            join(answers if epoch == 1 else later.setdefault(epoch, {}), _answers(file, name, about[ANSWERS]), file)
        notes = [f"{file.name}: {left_out:,} samples of later epochs are left out"] if left_out else []
        notes += _cut_short(log)
        expected = frozenset(map(str, log.header.eval.dataset.sample_ids or prompts))
        stage = stage_of(file, log.header, described, answers.values(), add_hashes(prompts.values()))
    return LogAnswers(file, described, stage, answers, prompts, expected, tuple(notes), later=later)


def join(answers: dict[Key, Answer], more: Iterable[Answer], file: Path) -> None:
    """Add the answers of another sample or log, which replace failures. RunError LOG_CONFLICT for another answer."""
    for answer in more:
        known = answers.get(answer.key)
        if known is None or known.fate == "failed":
            answers[answer.key] = answer
        elif answer.fate != "failed" and (answer.fate, answer.response) != (known.fate, known.response):
            where = f"{answer.task}, {show(answer.id)}, sample {answer.sample}"
            what = f"{_shown(known)}, and in {file.name} {_shown(answer)}"
            mend = "import logs of one run together: an item is asked once"
            raise RunError("LOG_CONFLICT", where, what, "one answer", mend)


def _epoch(file: Path, epoch: Any) -> int:
    if not isinstance(epoch, int) or not 1 <= epoch <= STAGES:
        raise invalid(file, f"a sample of epoch {show(epoch)}", f"1 to {STAGES}")
    return epoch


def _shown(answer: Answer) -> str:
    return answer.fate if answer.response is None else show(answer.response, 40)


def _described(file: Path, header: EvalLog) -> Described:
    stored = (header.eval.metadata or {}).get(RUN)
    task = show(header.eval.task, 60)
    expected = "a log of one of the tasks in submissions/tasks.py, or of `fairspace run`"
    if not isinstance(stored, dict):
        raise invalid(file, f"a log of the task {task}", expected, "run the benchmark's own task, then import its log")
    try:
        described = Described.model_validate(stored)
    except ValidationError as error:
        raise invalid(file, f"a log of the task {task} with {first(error)}", expected, _MEND) from error
    bench = benchmark(described.benchmark)
    if not bench.has_revision(described.dataset_revision):
        what = f"answers to the items of revision {show(described.dataset_revision)}"
        raise invalid(file, what, f"those of revision {' or '.join(bench.revisions)}", _MEND)
    try:
        check_options(described.benchmark, **described.chosen.options)
    except UsageError as error:
        raise invalid(file, f"a log of the task {task}: {error}", expected, _MEND) from error
    return described


def _answers(file: Path, sample: str, data: Any) -> list[Answer]:
    try:
        rows = _ROWS.validate_python(data)
        answers = [Answer(**row.model_dump()) for row in rows]
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


def _cut_short(log: Log) -> list[str]:
    """A note if Inspect itself was told to ask a part of the samples."""
    dataset = log.header.eval.dataset
    if dataset.samples is None or dataset.sample_ids is None or len(dataset.sample_ids) >= dataset.samples:
        return []
    left = dataset.samples - len(dataset.sample_ids)
    return [f"{log.file.name}: Inspect was to leave out {left:,} of {dataset.samples:,} stimuli; they are missing"]
