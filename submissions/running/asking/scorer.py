"""The scorer of a benchmark's Inspect task: the share of requests that were answered, and the benchmark's scores.

It alone needs Inspect when it is imported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, metric, scorer
from inspect_ai.solver import TaskState

from fairspace.submissions.format.schema import Submission, SubmissionMeta
from fairspace.submissions.reading.canonical import digest
from fairspace.submissions.running.asking.asking import ANSWERS
from fairspace.submissions.running.asking.journal import FATES, Answer, Journal, table_of

if TYPE_CHECKING:
    from fairspace.submissions.results.result import Result


def benchmark_scorer(
    meta: SubmissionMeta | None,
    journal: Journal | None = None,
    finish: Callable[[], None] = lambda: None,
    names: Mapping[str, str] | None = None,
) -> Scorer:
    """A scorer for a benchmark's task in Inspect: a sample's score is the share of its requests that were answered.

    With `meta`, the `submission.json` of the answers, the metrics of the log are every score of the default standard by
    its name, with `.low` and `.high` (its bounds over missing samples) and `.coverage`, as in `fairspace score`; NaN
    where undefined or not run. Without a journal each score carries its answers, which takes memory. `finish` is called
    when every request has its fate; `names` are `Part.names`.
    """

    @metric(name="fairspace_score")
    def fairspace_score() -> Metric:
        def compute(scores: list[SampleScore]) -> dict[str, float]:
            finish()
            carried = (answer for score in scores for answer in read_answers(score.score.metadata or {}))
            answers = list(journal.answers() if journal is not None else carried)
            counts = fates(answers)
            if meta is None:
                return counts
            tables = {"responses": table_of(answers, "responses", names)}
            return {**counts, **reported(result_of(meta, tables))}

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


def read_answers(metadata: Mapping[str, Any]) -> list[Answer]:
    """The answers in a log sample's metadata; none before its end."""
    return [Answer(**row) for row in metadata.get(ANSWERS, ())]


def fates(answers: Iterable[Answer]) -> dict[str, float]:
    """Fate -> requests."""
    counts = dict.fromkeys(FATES, 0.0)
    for answer in answers:
        counts[answer.fate] += 1
    return {f"requests_{fate}": number for fate, number in counts.items()}


def result_of(meta: SubmissionMeta, tables: Mapping[str, pa.Table]) -> Result:
    """The result of these tables, equal to that of `fairspace score`."""
    from fairspace.submissions.results.scoring import score_submission

    return score_submission(Submission(meta, tables, digest(meta, tables)))


def reported(result: Result) -> dict[str, float]:
    """The scores of a result by name, flat; NaN where there is no number."""
    numbers: dict[str, float] = {}
    for name, value in result.scored.scores.items():
        parts = {"": value.value, ".low": value.low, ".high": value.high, ".coverage": value.coverage}
        numbers |= {f"{name}{part}": float("nan") if number is None else number for part, number in parts.items()}
    return numbers
