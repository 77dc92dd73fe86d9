"""The answers in a benchmark's log; all is checked, nothing trusted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError

from fairspace.submissions.benchmarks.asks import add_hashes
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.errors import UsageError
from fairspace.submissions.format.collector import RefusedError, show
from fairspace.submissions.format.manifest import STAGES, Count, Stage
from fairspace.submissions.reading.limits import LIMITS
from fairspace.submissions.reading.strict_json import check_text
from fairspace.submissions.running.asking.asking import ANSWERS, PROMPTS
from fairspace.submissions.running.asking.inspect_task import RUN
from fairspace.submissions.running.asking.journal import Answer, Fate, Key
from fairspace.submissions.running.asking.parts import check_options
from fairspace.submissions.running.errors import RunError
from fairspace.submissions.running.logs.files import Log, invalid, open_log
from fairspace.submissions.running.logs.header import Checked, Described, first, stage_of

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog

_MEND = "leave it out, or log the task again"


class _Row(Checked):
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


@dataclass(frozen=True)
class LogAnswers:
    """One log.

    Args:
        file: where it lies.
        described: what was run.
        stage: who answered, how, when, and how often with which fate; its revision is not stated.
        answers: key -> answer; of a sample that was run in several epochs the first one's.
        prompts: id of each sample that has answers -> hash of its prompts.
        asked: ids of all samples that the log was to have.
        notes: what of it is not in the answers.
        epoch: of Inspect, whose answers these are.
        later: later epoch -> its answers, of a judge; each is an evaluation of its own.
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
    """The answers in a log.

    Args:
        file: `.eval` or `.json`.
        step: called after each sample.

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
    """Add the answers of another sample or log. A request that failed in one of them has the other's fate.

    RunError LOG_CONFLICT: an item is answered differently.
    """
    for answer in more:
        known = answers.get(answer.key)
        if known is None or known.fate == "failed":
            answers[answer.key] = answer
        elif other_answer(known, answer):
            where = f"{answer.task}, {show(answer.id)}, sample {answer.sample}"
            what = f"{_shown(known)}, and in {file.name} {_shown(answer)}"
            mend = "import logs of one run together: an item is asked once"
            raise RunError("LOG_CONFLICT", where, what, "one answer", mend)


def other_answer(known: Answer, answer: Answer) -> bool:
    """Whether two fates of a request are those of two requests: neither failed, and they differ."""
    if "failed" in (known.fate, answer.fate):
        return False
    return (answer.fate, answer.response) != (known.fate, known.response)


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
    """A note where Inspect itself was told to ask a part of the samples."""
    dataset = log.header.eval.dataset
    if dataset.samples is None or dataset.sample_ids is None or len(dataset.sample_ids) >= dataset.samples:
        return []
    left = dataset.samples - len(dataset.sample_ids)
    return [f"{log.file.name}: Inspect was to leave out {left:,} of {dataset.samples:,} stimuli; they are missing"]
