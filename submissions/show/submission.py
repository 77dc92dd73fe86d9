"""A submission as text: its samples, the stages of its run, and what its answers are read as."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from fairspace.submissions.answers.rows import COUNTED, Example, Summary
from fairspace.submissions.checking.submission import TaskCoverage
from fairspace.submissions.errors import plain
from fairspace.submissions.format.manifest import SAMPLE_MARK, Stage, limit_mark, on_sample
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.show.table import Table, shortened, wrapped

_HANDED_IN = (
    "Handed in is every answer, also one that refuses or that cannot be used: these are known, and counted as what "
    "they are. Only what was not handed in widens the bounds of a value."
)


def checked_text(path: Path, submission: Submission, coverage: Iterable[TaskCoverage]) -> str:
    """The content of a faultless submission, and the ranks for which its samples suffice."""
    held = ", ".join(f"{rows.num_rows} {name}" for name, rows in submission.tables.items())
    stages = submission.manifest.stages if submission.manifest is not None else ()
    rows = [
        (task.task, f"{task.handed_in:,}", f"{task.expected:,}", task.share, f"{task.needed:,}", task.enough_for)
        for task in coverage
    ]
    lines = [wrapped(f"{path}: no faults. {submission.meta.model}, {submission.meta.benchmark}: {held}.")]
    lines += [wrapped(f"- {stage(done)}") for done in stages]
    headers = ("task", "handed in", "expected", "share", "rank needs", "enough for")
    return "\n".join([*lines, str(Table(headers, rows, "Samples", _HANDED_IN))])


def stage(done: Stage) -> str:
    """A stage of a manifest in one line: task, model, fates of the requests, tokens."""
    fates = ", ".join(f"{number:,} {fate}" for fate, number in done.fates.items() if number)
    tokens = f"; {done.input_tokens:,} tokens in, {done.output_tokens:,} out" if done.input_tokens else ""
    part = f"; {limit_mark(done.limit, done.stratified)}" if done.limit is not None else ""
    part += f"; {SAMPLE_MARK}" if on_sample(done.run()) else ""
    return plain(f"{done.what} by {done.model}: {fates or 'nothing'}{tokens}{part}")


def course_line(done: Stage) -> str:
    """Duration and tokens of a stage, and notable shares of its answers; '' if unknown."""
    course = {name: float(n) for name, n in done.course.items() if isinstance(n, int | float) and n}
    seconds, tokens = course.get("seconds", 0.0), course.get("output_tokens", 0.0)
    parts = [f"{seconds / 60:,.1f} min", f"{tokens:,.0f} tokens of answers"]
    if seconds and tokens:
        parts.append(f"{tokens / seconds:.1f} tokens/s")
    shares = {name: word for name, word in SHARES.items() if name in course}
    shares |= {name: name.replace("_", " ", 1) for name in course if name.startswith("readable_")}
    parts += [f"{word} {course[name]:.1%}" for name, word in shares.items()]
    return plain(f"That took {'; '.join(parts)}.") if course else ""


SHARES = {"empty": "empty", "looping": "looping", "cut_off": "cut off at their greatest length"}
"""Share in a stage's `course` -> its words."""


def readings_text(name: str, summaries: Mapping[str, Summary]) -> str:
    """The outcomes and rules of the readings per task, then examples with the read span in brackets."""
    return "\n".join(_readings(name, summaries))


def _readings(name: str, summaries: Mapping[str, Summary]) -> Iterator[str]:
    if not summaries:
        yield plain(f"{name} holds no task that is answered with text.")
        return
    yield str(outcomes(f"Readings of {name}", summaries))
    for task, summary in summaries.items():
        rules = ", ".join(f"{rule or 'no rule'} {count:,}" for rule, count in summary.rules.items())
        yield plain(f"{task}, read by: {rules}")
        yield from map(_example, summary.examples)


def outcomes(title: str, summaries: Mapping[str, Summary]) -> Table:
    """The number of answers per task and outcome (`COUNTED`)."""
    rows = [(task, *(f"{each.outcomes[outcome]:,}" for outcome in COUNTED)) for task, each in summaries.items()]
    return Table(("task", *(header.replace("_", " ") for header in COUNTED)), rows, title)


def _example(example: Example) -> str:
    """An answer in one line: its reading, and its text with the read span in brackets."""
    read = example.outcome if example.value is None else f"{example.outcome} {shortened(example.value, 40)}"
    rule = f" ({example.rule})" if example.rule else ""
    marked = f"[{example.marked}]" if example.marked else ""
    return plain(f"  {read}{rule}: {example.before}{marked}{example.after}")
