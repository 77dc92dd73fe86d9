"""The header of a benchmark's log: what was run, by whom and how; all is checked, nothing trusted."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from fairspace.submissions.benchmarks.forms import PAPER
from fairspace.submissions.benchmarks.registry import NAMES
from fairspace.submissions.benchmarks.registry import benchmark as registered
from fairspace.submissions.format.collector import show
from fairspace.submissions.format.manifest import ENTRIES, Git, Scalar, Stage, Text
from fairspace.submissions.format.schema import OTHER_JUDGES
from fairspace.submissions.format.text import Line
from fairspace.submissions.running.asking.inspect_task import NOT_STATED, SAMPLE_DATA, UNREADABLE_AGAIN, Chosen
from fairspace.submissions.running.asking.journal import FATES, Answer
from fairspace.submissions.running.asking.models import LOCAL
from fairspace.submissions.running.folders import public_name
from fairspace.submissions.running.logs.files import invalid

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
_TEXT: TypeAdapter[str] = TypeAdapter(Text)


class Checked(BaseModel):
    """What a log says, as far as it is read; what else stands there is not."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)


class Described(Checked):
    """What was run, as `Opened.describe` writes it; what else stands there is not read."""

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
        """The choice, without where its data lay."""
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
        """As `Opened.marks`."""
        again = {UNREADABLE_AGAIN: self.unreadable_again} if self.unreadable_again else {}
        return self.chosen.generation() | ({SAMPLE_DATA: True} if self.sample_data else {}) | again

    def cut_by(self, header: EvalLog) -> Described:
        """The same with the limit that Inspect itself was given: `--limit` or `--sample-id` that left something out.

        Inspect counts the stimuli of all tasks together, so that no task has more than the limit says.
        """
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
    """Stimuli that Inspect was to ask at most."""
    if isinstance(limit, int):
        return limit
    if limit is not None:
        return limit[1] - limit[0]
    return len(names) if isinstance(names, list) else 1


def stage_of(file: Path, header: EvalLog, about: Described, answers: Iterable[Answer], prompts: str) -> Stage:
    """The stage of a manifest that a log stands for. RunError LOG_INVALID if its header does not fit."""
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
    settings = {name: _scalar(value) for name, value in {**model, **run}.items() if name not in OPERATIONAL}
    if spec.model.startswith(LOCAL) and spec.model_args.get("do_sample") is False:
        settings.setdefault("temperature", 0.0)
    return settings | {name: value for name, value in stated.items() if settings.get(name) == value}


def _own(about: Described) -> tuple[int, Mapping[str, Scalar]]:
    """The tokens that an answer takes at most where nobody says otherwise, and what the paper states of generation."""
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
    """The first thing that does not fit, and where."""
    detail = error.errors(include_url=False)[0]
    place = ".".join(map(str, detail["loc"][:4]))
    return f"{show(place, 60)} {show(detail['input'], 60)}: {detail['msg']}"
