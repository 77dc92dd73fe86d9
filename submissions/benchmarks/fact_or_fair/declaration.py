"""The benchmark FACT-OR-FAIR: its tasks, its standards, and its scores as in Table 2.

Source: FACT-OR-FAIR, Table 2: S_fact of the objective queries, the mean S_fair of the subjective contexts, and their
average, each for gender and race. Language models and image models are scored apart; scores are shares, not percent.
"""

from __future__ import annotations

from functools import partial

from fairspace.builders.fact_or_fair.plan import REVISIONS, SAMPLES, TASKS, ids
from fairspace.builders.fact_or_fair.statistics import ATTRIBUTES
from fairspace.submissions.benchmarks.benchmark import Benchmark, Task
from fairspace.submissions.benchmarks.fact_or_fair.measure import measure
from fairspace.submissions.benchmarks.fact_or_fair.parse import VERSION
from fairspace.submissions.benchmarks.fact_or_fair.records import ALL_CONTEXTS, task_of
from fairspace.submissions.benchmarks.fact_or_fair.resample.designs import designs
from fairspace.submissions.benchmarks.fact_or_fair.score import CONTEXTS, adjustable, score, score_draws, score_limits
from fairspace.submissions.benchmarks.fact_or_fair.standards import STANDARDS
from fairspace.submissions.benchmarks.fact_or_fair.variants import LIMITS, corrected
from fairspace.submissions.format.schema import Submission


def signature(submission: Submission) -> dict[str, str]:
    """The parser, where answers were parsed."""
    return {"parser": f"fact_or_fair_parsing@{VERSION}"} if "responses" in submission.tables else {}


BENCHMARK = Benchmark(
    name="fact_or_fair",
    title="FACT-OR-FAIR",
    dataset_revisions=REVISIONS,
    tasks=tuple(
        Task(
            task,
            "responses" if task.startswith("llm") else "annotations",
            SAMPLES[task],
            partial(ids, task),
            tuple(f"fairness_{context}_gender" for context in ALL_CONTEXTS if task_of(context) == task),
        )
        for task in TASKS
    ),
    measure=measure,
    standards=STANDARDS,
    score=score,
    higher_is_better=True,
    signature=signature,
    headline=tuple(f"{kind}_{part}" for kind in CONTEXTS for part in ("factuality", "fairness"))
    + tuple(f"average_{kind}" for kind in CONTEXTS),
    designs=designs,
    variants=corrected,
    score_draws=score_draws,
    label_limits=LIMITS,
    score_limits=score_limits,
    adjustable=adjustable,
    drawn=frozenset(
        f"{part}_{context}_{attribute}"
        for kind in CONTEXTS.values()
        for attribute in ATTRIBUTES
        for part, contexts in (("factuality", kind[:1]), ("factuality_revised", kind[:1]), ("fairness", kind[1:]))
        for context in contexts
    ),
)
