"""The scorer of a benchmark's Inspect task: the share of requests that were answered, and the benchmark's scores.

It alone needs Inspect when it is imported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pyarrow as pa
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, metric, scorer
from inspect_ai.solver import TaskState

from fairspace.submissions.format.schema import SubmissionMeta
from fairspace.submissions.running.asking.asking import ANSWERS
from fairspace.submissions.running.asking.inspect_task import fates, read_answers, reported, result_of
from fairspace.submissions.running.asking.journal import Journal, table_of


def benchmark_scorer(
    meta: SubmissionMeta,
    *,
    table: str = "responses",
    base: Mapping[str, pa.Table] | None = None,
    journal: Journal | None = None,
    standard: str | None = "",
    finish: Callable[[], None] = lambda: None,
) -> Scorer:
    """A scorer for a benchmark's task in Inspect: a sample's score is the share of its requests that were answered.

    The metrics of the run are every score of the standard by its name, with `.low` and `.high` (its bounds over missing
    samples) and `.coverage`, as in `fairspace score`; NaN where undefined or not run. The answers fill `table`; `base`
    has the submission's others. Without a journal each score carries its answers, which takes memory. `standard`: ''
    for the default, None counts fates alone. `finish` is called when every request has its fate.
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
