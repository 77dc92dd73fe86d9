"""The benchmark FACT-OR-FAIR: its tasks, its standards, and its scores as in Table 2.

Source: FACT-OR-FAIR, Table 2: S_fact of the objective queries, the mean S_fair of the subjective contexts, and their
average, each for gender and race. Language models and image models are scored apart; scores are shares, not percent.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from fairspace.builders.fact_or_fair.core import CORE
from fairspace.builders.fact_or_fair.plan import REVISIONS, SAMPLES, SAMPLES_V1, TASKS, ids, items
from fairspace.builders.fact_or_fair.statistics import ATTRIBUTES
from fairspace.submissions.benchmarks.benchmark import Benchmark, Scored
from fairspace.submissions.benchmarks.fact_or_fair.measure.values import measure
from fairspace.submissions.benchmarks.fact_or_fair.parse import VERSION
from fairspace.submissions.benchmarks.fact_or_fair.records.grids import (
    ALL_CONTEXTS,
    LLM_CONTEXTS,
    T2I_CONTEXTS,
    task_of,
)
from fairspace.submissions.benchmarks.fact_or_fair.records.records import read
from fairspace.submissions.benchmarks.fact_or_fair.resample.designs import designs
from fairspace.submissions.benchmarks.fact_or_fair.score import (
    KINDS,
    OTHER_IMAGES,
    adjustable,
    resolve_standard,
    score,
    scoring,
)
from fairspace.submissions.benchmarks.fact_or_fair.standards import STANDARDS
from fairspace.submissions.benchmarks.fact_or_fair.variants import LIMITS, variants
from fairspace.submissions.benchmarks.lazy import Lazy
from fairspace.submissions.benchmarks.task import Task
from fairspace.submissions.format.schema import Submission


def signature(submission: Submission) -> dict[str, str]:
    """The parser, where answers were parsed."""
    return {"parser": f"fact_or_fair_parsing@{VERSION}"} if "responses" in submission.tables else {}


THREE_PROMPTS = "v2, three prompts a topic"


def protocol_of(signature: Mapping[str, str], scored: Scored) -> str:
    """The dataset revision, and from `v2` on whether there are subjective images of three prompts a topic alone."""
    revision = signature.get("dataset_revision", "")
    other_images = scored.ranking == "average_t2i" and OTHER_IMAGES in scored.labels
    return THREE_PROMPTS if other_images and CORE.get(revision, revision) == "v2" else revision


_ASK = {
    "llm_objective": Lazy("fairspace.submissions.benchmarks.fact_or_fair.ask:objective"),
    "llm_subjective": Lazy("fairspace.submissions.benchmarks.fact_or_fair.ask:subjective"),
}
_MAX_TOKENS = {"llm_objective": 1024, "llm_subjective": 256}
"""Models explain their answers to objective queries, asked for JSON or not; a subjective query asks for a letter."""
_SETTINGS = {"temperature": 0.0}
"""Section 5.1: "The temperature is fixed at 0 across all LLMs"."""
BENCHMARK = Benchmark(
    name="fact_or_fair",
    title="FACT-OR-FAIR",
    revisions=REVISIONS,
    tasks=tuple(
        Task(
            task,
            "responses" if task.startswith("llm") else "annotations",
            SAMPLES[task],
            partial(ids, task),
            items=partial(items, task),
            ask=_ASK.get(task),
            max_tokens=_MAX_TOKENS.get(task, 0),
            settings=_SETTINGS if task in _ASK else {},
            every_face=True,
            samples_in={"v1": SAMPLES_V1[task]} if task in SAMPLES_V1 else {},
            values=tuple(
                f"{part}_{context}_gender"
                for part in ("fairness", "factuality")
                for context in ALL_CONTEXTS
                if task_of(context) == task
            ),
        )
        for task in TASKS
    ),
    read=read,
    measure=measure,
    protocol_of=protocol_of,
    protocols={
        "v2": "The options of an objective query are lettered and stand in three drawn orders, and subjective images "
        "are made for one prompt a topic; scenarios, names and ages of subjective queries are ours.",
        "v2-core": "As v2, with five of the hundred trials of each subjective query. S_E and S_KLD, which few answers "
        "lower, are corrected for that: over the 64 models of a calibration S_fair stands .010 from that of all trials "
        "(root mean square), and the intervals hold this error.",
        THREE_PROMPTS: "Subjective images are made for three prompts a topic, so that each topic has 60 images and "
        "not 20: S_KLD of a fair model is higher with more images.",
        "paper": "As printed: the options of an objective query are shuffled and lettered in each of its three rounds, "
        "and subjective images are made for one prompt a topic.",
        "v1": "The options of an objective query stand in one order in all three samples, without letters; subjective "
        "images are made for three prompts a topic.",
    },
    standards=STANDARDS,
    score=score,
    higher_is_better=True,
    baseline=Lazy("fairspace.submissions.benchmarks.fact_or_fair.baselines:tables"),
    about=Lazy("fairspace.submissions.benchmarks.fact_or_fair.about:about"),
    power=Lazy("fairspace.submissions.benchmarks.fact_or_fair.power:detectable"),
    published=Lazy("fairspace.submissions.benchmarks.fact_or_fair.published:rows"),
    cohort_of=lambda scored: KINDS["t2i" if scored.ranking == "average_t2i" else "llm"],
    signature=signature,
    default_standard="shuffled",
    resolve_standard=resolve_standard,
    headline=tuple(f"{kind}_{part}" for kind in KINDS for part in ("factuality", "fairness"))
    + tuple(f"average_{kind}" for kind in KINDS),
    designs=designs,
    variants=variants,
    scoring=scoring,
    label_limits=LIMITS,
    adjustable=adjustable,
    compare_reading=Lazy("fairspace.submissions.benchmarks.fact_or_fair.parse.labelled:compare_reading"),
    row_readings=Lazy("fairspace.submissions.benchmarks.fact_or_fair.parse.columns:row_readings"),
    label_line=Lazy("fairspace.submissions.benchmarks.fact_or_fair.parse.labelled:label_line"),
    drawn=frozenset(
        f"{part}_{context}_{attribute}"
        for kind in (LLM_CONTEXTS, T2I_CONTEXTS)
        for attribute in ATTRIBUTES
        for part, contexts in (("factuality", kind[:1]), ("factuality_revised", kind[:1]), ("fairness", kind[1:]))
        for context in contexts
    ),
)
