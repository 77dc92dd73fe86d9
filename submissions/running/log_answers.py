"""What a benchmark's log says: what was run, by whom and how, and the answers; all is checked, nothing trusted."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from builders.stereotypical_bias import PREFIXES
from submissions.collector import RefusedError, show
from submissions.format import Line
from submissions.limits import LIMITS
from submissions.manifest import ENTRIES, Count, Git, Scalar, Stage, Text
from submissions.running import parts_fact_or_fair, parts_genres, parts_iris, parts_stereotypical_bias
from submissions.running.asking import ANSWERS, PROMPTS
from submissions.running.asks import add_hashes
from submissions.running.errors import RunError
from submissions.running.inspect_task import NOT_STATED, REVISION, RUN, Chosen
from submissions.running.journal import FATES, Answer, Fate, Key
from submissions.running.log_files import Log, invalid, open_log
from submissions.running.models import LOCAL
from submissions.strict_json import check_text

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
"""Settings of Inspect that change how a model is reached, not what it says."""
_MEND = "leave it out, or log the task again"


class _Checked(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)


class Described(_Checked):
    """What was run, as `Opened.describe` writes it; what else stands there is not read."""

    benchmark: Literal["iris", "fact_or_fair", "stereotypical_bias", "genres"]
    tasks: list[Line] = Field(max_length=ENTRIES)
    limit: int | None = Field(ge=1, lt=2**63)
    stratified: bool
    seed: int | None = Field(ge=-(2**63), lt=2**63)
    prefix: Literal[tuple(PREFIXES)]  # type: ignore[valid-type]
    text_only: bool
    datasets: dict[Line, Text] = Field(max_length=ENTRIES)
    dataset_revision: Line
    table: Literal["responses", "judgements"] = "responses"
    prompts: str = Field(default="", pattern=r"^([0-9a-f]{64})?$", description="a judge's: of all narratives")
    json_schema: bool = False

    @property
    def chosen(self) -> Chosen:
        """The choice, without where its data lay."""
        tasks = tuple(self.tasks)
        return Chosen(
            self.benchmark, "", tasks, self.limit, self.stratified, self.seed, str(self.prefix), self.text_only
        )


class _Row(_Checked):
    """An answer, as `asking.compact` writes it."""

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
_TEXT: TypeAdapter[str] = TypeAdapter(Text)


@dataclass(frozen=True)
class LogAnswers:
    """One log.

    Args:
        file: where it lies.
        described: what was run.
        stage: who answered, how, when, and how often with which fate; its revision is not stated.
        answers: key -> answer; of a sample that was run in several epochs the first one's.
        stimuli: ids of the samples that have answers.
        asked: ids of all samples that the log was to have.
        notes: what of it is not in the answers.
    """

    file: Path
    described: Described
    stage: Stage
    answers: Mapping[Key, Answer]
    stimuli: frozenset[str]
    asked: frozenset[str]
    notes: tuple[str, ...] = ()


def read_log(file: Path, step: Callable[[], None] = lambda: None) -> LogAnswers:
    """The answers in a log.

    Args:
        file: `.eval` or `.json`.
        step: called after each sample.

    Errors: RunError LOG_INVALID; LOG_CONFLICT if two samples answer the same item differently.
    """
    with open_log(file) as log:
        described = _described(file, log.header)
        answers: dict[Key, Answer] = {}
        prompts: dict[str, str] = {}
        later = 0
        for sample in log.samples:
            step()
            about = sample.get("metadata")
            if not isinstance(about, dict) or ANSWERS not in about:
                continue
            if sample.get("epoch") != 1:
                later += 1
                continue
            name = _text(file, "a sample's id", str(sample.get("id")))
            prompts[name] = _hash(file, name, about.get(PROMPTS))
            join(answers, _answers(file, name, about[ANSWERS]), file)
        notes = [f"{file.name}: {later:,} samples of later epochs are left out"] if later else []
        notes += _cut_short(log)
        asked = frozenset(map(str, log.header.eval.dataset.sample_ids or prompts))
        stage = _stage(file, log.header, described, answers.values(), add_hashes(prompts.values()))
    return LogAnswers(file, described, stage, answers, frozenset(prompts), asked, tuple(notes))


def join(answers: dict[Key, Answer], more: Iterable[Answer], file: Path) -> None:
    """Add the answers of another sample or log. A request that failed in one of them has the other's fate.

    RunError LOG_CONFLICT: an item is answered differently.
    """
    for answer in more:
        known = answers.get(answer.key)
        if known is None or known.fate == "failed":
            answers[answer.key] = answer
        elif answer.fate != "failed" and (answer.fate, answer.response) != (known.fate, known.response):
            where = f"{answer.task}, {show(answer.id)}, sample {answer.sample}"
            what = f"{_shown(known)}, and in {file.name} {_shown(answer)}"
            mend = "import logs of one run together: an item is asked once"
            raise RunError("LOG_CONFLICT", where, what, "one answer", mend)


def _shown(answer: Answer) -> str:
    return answer.fate if answer.response is None else show(answer.response, 40)


def _described(file: Path, header: EvalLog) -> Described:
    found = (header.eval.metadata or {}).get(RUN)
    task = show(header.eval.task, 60)
    expected = "a log of one of the tasks in submissions/tasks.py, or of `fairspace run`"
    if not isinstance(found, dict):
        raise invalid(file, f"a log of the task {task}", expected, "run the benchmark's own task, then import its log")
    try:
        described = Described.model_validate(found)
    except ValidationError as error:
        raise invalid(file, f"a log of the task {task} with {_first(error)}", expected, _MEND) from error
    if described.table == "responses" and described.dataset_revision != REVISION:
        what = f"answers to the items of revision {show(described.dataset_revision)}"
        raise invalid(file, what, f"those of revision {REVISION}", _MEND)
    return described


def _answers(file: Path, sample: str, found: Any) -> list[Answer]:
    try:
        rows = _ROWS.validate_python(found)
        answers = [Answer(**row.model_dump()) for row in rows]
        for answer in answers:
            for text in (answer.task, answer.id, answer.response or ""):
                check_text(text)
    except ValidationError as error:
        raise invalid(file, f"sample {show(sample)} with {_first(error)}", "answers as they were logged") from error
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


def _first(error: ValidationError) -> str:
    detail = error.errors(include_url=False)[0]
    place = ".".join(map(str, detail["loc"][:4]))
    return f"{show(place, 60)} {show(detail['input'], 60)}: {detail['msg']}"


def _text(file: Path, what: str, text: str) -> str:
    try:
        check_text(text)
    except RefusedError as error:
        raise invalid(file, f"{what}: {error.what}", error.expected) from error
    return text


def _hash(file: Path, sample: str, found: Any) -> str:
    if not isinstance(found, str) or len(found) != 64 or set(found) - set("0123456789abcdef"):
        raise invalid(file, f"sample {show(sample)} with prompts {show(found)}", "the hash of its prompts")
    return found


def _cut_short(log: Log) -> list[str]:
    """A note where Inspect itself was told to ask a part of the samples."""
    dataset = log.header.eval.dataset
    if dataset.samples is None or dataset.sample_ids is None or len(dataset.sample_ids) >= dataset.samples:
        return []
    left = dataset.samples - len(dataset.sample_ids)
    return [f"{log.file.name}: Inspect was to leave out {left:,} of {dataset.samples:,} stimuli; they are missing"]


def _stage(file: Path, header: EvalLog, about: Described, answers: Iterable[Answer], prompts: str) -> Stage:
    answers = list(answers)
    spec, config = header.eval, settings_of(header, about)
    if spec.model_args:
        config["arguments"] = ", ".join(sorted(map(str, spec.model_args)))[:1000]
    started = header.stats.started_at or spec.created
    git = None
    if spec.revision is not None:
        git = {"commit": spec.revision.commit, "changed": bool(spec.revision.dirty)}
    found = {
        "what": about.table,
        "model": spec.model,
        "revision": NOT_STATED,
        "engine": "inspect_ai",
        "engine_version": spec.packages.get("inspect_ai") or NOT_STATED,
        "settings": {**config, **about.chosen.generation()},
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
        return Stage.model_validate(found)
    except ValidationError as error:
        raise invalid(file, _first(error), "a header as Inspect writes it") from error


def settings_of(header: EvalLog, about: Described) -> dict[str, Scalar]:
    """What was set of generation: temperature, top_p, max_tokens, seed and the like.

    Left out is the task's own bound of tokens, and how the model is reached. Of objects, such as headers, which may
    hold secrets, the names alone.
    """
    spec = header.eval
    model, run = (
        config.model_dump(mode="json", exclude_none=True) for config in (spec.model_generate_config, header.plan.config)
    )
    bound, stated = _own(about)
    if run.get("max_tokens") == bound:
        del run["max_tokens"]
    found = {name: _scalar(value) for name, value in {**model, **run}.items() if name not in OPERATIONAL}
    if spec.model.startswith(LOCAL) and spec.model_args.get("do_sample") is False:
        found.setdefault("temperature", 0.0)
    return found | {name: value for name, value in stated.items() if found.get(name) == value}


def _own(about: Described) -> tuple[int, Mapping[str, Scalar]]:
    """The tokens that an answer takes at most where nobody says otherwise, and what the paper states of generation."""
    if about.table == "judgements":
        return 0, {}
    if about.benchmark == "fact_or_fair":
        bounds = parts_fact_or_fair.MAX_TOKENS
        longest = max((bounds[task] for task in about.tasks if task in bounds), default=0)
        return longest, parts_fact_or_fair.SETTINGS
    if about.benchmark == "iris":
        return parts_iris.MAX_TOKENS, parts_iris.SETTINGS
    return (parts_genres if about.benchmark == "genres" else parts_stereotypical_bias).MAX_TOKENS, {}


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
