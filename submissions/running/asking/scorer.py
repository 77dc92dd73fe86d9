"""What `fairspace score` reports, in Inspect's log: a scorer that counts fates, and a metric over the whole run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, metric, scorer
from inspect_ai.solver import TaskState

from fairspace.submissions.format.schema import Submission, SubmissionMeta
from fairspace.submissions.reading.canonical import digest
from fairspace.submissions.running.asking.asking import ANSWERS
from fairspace.submissions.running.asking.journal import FATES, Answer, Journal
from fairspace.submissions.running.asking.keeping import table_of

if TYPE_CHECKING:
    from fairspace.submissions.results.result import Result


def read_answers(metadata: Mapping[str, Any]) -> list[Answer]:
    """The answers in a log sample's metadata; none if it has not come so far."""
    return [Answer(**row) for row in metadata.get(ANSWERS, ())]


def benchmark_scorer(
    meta: SubmissionMeta,
    *,
    table: str = "responses",
    base: Mapping[str, pa.Table] | None = None,
    journal: Journal | None = None,
    standard: str | None = "",
    finish: Callable[[], None] = lambda: None,
) -> Scorer:
    """A scorer for a benchmark's task in Inspect.

    Args:
        meta: `submission.json` of the submission that the answers make.
        table: of the submission, which the answers fill.
        base: its other tables (the narratives that a judge reads).
        journal: holds all answers; None: each score carries its own, which takes memory with every sample.
        standard: to score under, the benchmark's default for ''; None counts fates alone.
        finish: called when every request has its fate, before the answers are read.

    A sample's score is the share of its requests that were answered. The metrics of the whole run are what `fairspace
    score` makes of the same answers: every score of the standard by its name, with `.low` and `.high`, its worst and
    best case over what is missing, and `.coverage`; NaN where it is undefined or not run.
    """

    @metric(name="fairspace_score")
    def fairspace_score() -> Metric:
        def compute(scores: list[SampleScore]) -> dict[str, float]:
            finish()
            carried = (answer for score in scores for answer in read_answers(score.score.metadata or {}))
            answers = list(journal.answers() if journal is not None else carried)
            counts = fates(answers)
            if standard is None:
                return counts
            tables = {**(base or {}), table: table_of(answers, table)}
            return {**counts, **reported(result_of(meta, tables, standard))}

        return compute

    @scorer(metrics=[fairspace_score()], name="fairspace")
    def fairspace() -> Scorer:
        async def score(state: TaskState, target: Target) -> Score:
            answers = read_answers(state.metadata)
            answered = sum(answer.fate == "answered" for answer in answers)
            carried = None if journal is not None else {ANSWERS: state.metadata.get(ANSWERS, [])}
            value = answered / len(answers) if answers else 0.0
            return Score(value=value, answer=state.output.completion, metadata=carried)

        return score

    return fairspace()


def fates(answers: Iterable[Answer]) -> dict[str, float]:
    """Fate -> requests."""
    counts = dict.fromkeys(FATES, 0.0)
    for answer in answers:
        counts[answer.fate] += 1
    return {f"requests_{fate}": number for fate, number in counts.items()}


def result_of(meta: SubmissionMeta, tables: Mapping[str, pa.Table], standard: str) -> Result:
    """The result of these tables, as `fairspace score` gives it for the submission that they make."""
    from fairspace.submissions.results.scoring import score_submission

    return score_submission(Submission(meta, tables, digest(meta, tables)), standard)


def reported(result: Result) -> dict[str, float]:
    """The scores of a result by name, flat; NaN where there is no number."""
    numbers: dict[str, float] = {}
    for name, value in result.scored.scores.items():
        parts = {"": value.value, ".low": value.low, ".high": value.high, ".coverage": value.coverage}
        numbers |= {f"{name}{part}": float("nan") if number is None else number for part, number in parts.items()}
    return numbers
