"""The benchmark FACT-OR-FAIR: its tasks, its standards, and its scores as in Table 2.

Table 2: S_fact of the objective queries, the mean S_fair of the subjective contexts, and their average, each for gender
and race. Language models and image models are scored apart; scores are shares, not percent.
"""

from collections.abc import Mapping
from functools import partial

from fairspace.builders.fact_or_fair import plan
from fairspace.builders.fact_or_fair.statistics import ATTRIBUTES
from fairspace.submissions.benchmarks import benchmark
from fairspace.submissions.benchmarks.fact_or_fair import records
from fairspace.submissions.benchmarks.fact_or_fair.parse import VERSION
from fairspace.submissions.benchmarks.fact_or_fair.quantities import designs, measure
from fairspace.submissions.benchmarks.fact_or_fair.score import (
    KINDS,
    OTHER_IMAGES,
    STANDARDS,
    adjustable,
    resolve_standard,
    score,
    scoring,
)
from fairspace.submissions.benchmarks.fact_or_fair.variants import LIMITS, variants
from fairspace.submissions.benchmarks.task import CHOICES_ALIKE, IMAGES_ALIKE, Lazy, Task
from fairspace.submissions.format.schema import Submission


def signature(submission: Submission) -> dict[str, str]:
    """The parser, where answers were parsed."""
    return {"parser": f"fact_or_fair_parsing@{VERSION}"} if "responses" in submission.tables else {}


THREE_PROMPTS = "v2, three prompts a topic"


def protocol_of(signature: Mapping[str, str], scored: benchmark.Scored) -> str:
    """The dataset revision; from `v2` on with or without subjective images of three prompts a topic; the labeller."""
    revision = signature.get("dataset_revision", "")
    other_images = scored.ranking == "average_t2i" and OTHER_IMAGES in scored.labels
    if revision == plan.CORE_OF_IMAGES and scored.ranking != "average_t2i":
        revision = next(iter(plan.CORE))  # both cores ask the same queries
    protocol = THREE_PROMPTS if other_images and plan.CORE.get(revision, revision) == "v2" else revision
    return benchmark.protocol_with_labeller(protocol, signature)


_ASK = {
    "llm_objective": Lazy("fairspace.submissions.benchmarks.fact_or_fair.ask:objective"),
    "llm_subjective": Lazy("fairspace.submissions.benchmarks.fact_or_fair.ask:subjective"),
}
_MAX_TOKENS = {"llm_objective": 1024, "llm_subjective": 256}
"""Models explain their answers to objective queries, asked for JSON or not; a subjective query asks for a letter."""
_SETTINGS = {"temperature": 0.0}
"""Section 5.1: "The temperature is fixed at 0 across all LLMs"."""
_IMAGES_IN = {"t2i": {plan.CORE_OF_IMAGES: plan.CORE_IMAGES}}
_ALIKE = {"llm_objective": 0.0, "llm_subjective": CHOICES_ALIKE}
_BEST = ("entropy", "kld", "fairness", "llm_fairness", "t2i_fairness", "average")
"""Prefixes of values and scores with ideal 1. Accurate is not fair: S_fact has none."""
_GAPS = ("refusal_disparity", "position_bias", "cognitive_error_increase")


def _witnesses(name: str, standard: str) -> tuple[str, ...]:
    """Values of S_E behind S_fair, which is 1 for any bias that both kinds of query share."""
    if name.startswith("fairness_"):
        return (name.replace("fairness", "entropy", 1),)
    kind = next((kind for kind in KINDS if kind in name.split("_")), None)
    if kind is None or name.startswith(("entropy", "kld")):
        return ()
    attributes = [attribute for attribute in ATTRIBUTES if name.endswith(attribute)] or ATTRIBUTES
    contexts = STANDARDS[standard].contexts[kind][1:]
    return tuple(f"entropy_{context}_{attribute}" for context in contexts for attribute in attributes)


def ideal(name: str, standard: str) -> benchmark.Ideal | None:
    """1 for evenness, 0 for gaps, chance for positions and cognitive errors; None for all others."""
    if name.startswith(_BEST):
        return benchmark.Ideal(1.0, "below", witnesses=_witnesses(name, standard))
    if name.startswith(_GAPS):
        return benchmark.GAP
    return benchmark.CHANCE if name.startswith(("position", "cognitive_error")) else None


BENCHMARK = benchmark.Benchmark(
    name="fact_or_fair",
    revisions=plan.REVISIONS,
    base_revision=lambda revision: plan.CORE[revision] if revision == plan.CORE_OF_IMAGES else revision,
    tasks=tuple(
        Task(
            task,
            "responses" if task.startswith("llm") else "annotations",
            plan.SAMPLES[task],
            partial(plan.ids, task),
            items=partial(plan.items, task),
            theirs={plan.UPSTREAM: Lazy("fairspace.builders.fact_or_fair.upstream:items")},
            ask=_ASK.get(task),
            max_tokens=_MAX_TOKENS.get(task, 0),
            settings=_SETTINGS if task in _ASK else {},
            every_face=True,
            alike=_ALIKE.get(task, IMAGES_ALIKE),
            unit=lambda item, sample: f"{item.split('/')[1]}/{sample // plan.CORE_IMAGES}",
            samples_in={"v1": plan.SAMPLES_V1[task]}
            if task in plan.SAMPLES_V1
            else _IMAGES_IN.get(task.partition("_")[0], {}),
            values=tuple(
                f"{part}_{context}_gender"
                for part in ("fairness", "factuality")
                for context in records.ALL_CONTEXTS
                if records.task_of(context) == task
            ),
        )
        for task in plan.TASKS
    ),
    read=records.read,
    measure=measure,
    protocols=benchmark.Protocols(
        protocol_of, lambda scored: KINDS["t2i" if scored.ranking == "average_t2i" else "llm"]
    ),
    standards=STANDARDS,
    score=score,
    higher_is_better=True,
    baseline=Lazy("fairspace.submissions.benchmarks.fact_or_fair.baselines:tables"),
    about=Lazy("fairspace.submissions.benchmarks.fact_or_fair.about:about"),
    published=Lazy("fairspace.submissions.benchmarks.fact_or_fair.about:rows"),
    signature=signature,
    asking=benchmark.AskingOptions(
        authors=benchmark.AsAuthors(
            "section 5.1 and large_language_model/models.py of uclanlp/fact-or-fair@945ec6b, which bounds no tokens",
            _SETTINGS,
            revision=plan.UPSTREAM,
        ),
    ),
    default_standard="shuffled",
    reporting=benchmark.Reporting(
        headline=tuple(f"{kind}_{part}" for kind in KINDS for part in ("factuality", "fairness"))
        + tuple(f"average_{kind}" for kind in KINDS),
        in_harness=(
            "llm_fairness",
            *(f"entropy_{records.OVER_ALL}_{attribute}" for attribute in ATTRIBUTES),
            f"share_{records.OVER_ALL}_male",
            "llm_factuality",
        ),
        leading=Lazy("fairspace.submissions.benchmarks.fact_or_fair.score:leading"),
        sentences=Lazy("fairspace.submissions.benchmarks.fact_or_fair.score:sentences"),
        leaning=Lazy("fairspace.submissions.benchmarks.fact_or_fair.score:leaning"),
        paper=Lazy("fairspace.submissions.benchmarks.fact_or_fair.paper:paper"),
    ),
    designs=designs,
    variants=variants,
    ideal=ideal,
    answers=benchmark.AnswerReading(
        rows=Lazy("fairspace.submissions.benchmarks.fact_or_fair.parse.columns:row_readings"),
        samples=Lazy("fairspace.submissions.benchmarks.fact_or_fair.records:samples"),
        label_lines=Lazy("fairspace.submissions.benchmarks.fact_or_fair.parse.columns:label_lines"),
        misread=records.misread,
        compare=Lazy("fairspace.submissions.benchmarks.fact_or_fair.parse.columns:compare_reading"),
    ),
    scoring=benchmark.Scoring(
        scoring,
        resolve_standard,
        adjustable,
        label_limits=LIMITS,
        drawn=frozenset(
            f"{part}_{questions}{of}"
            for questions in (records.OVER_ALL, *records.T2I_CONTEXTS[1:])
            for part, of in (*(("entropy", f"_{a}") for a in ATTRIBUTES), ("share", "_male"))
        )
        | frozenset(
            f"{part}_{context}_{attribute}"
            for kind in (records.LLM_CONTEXTS, records.T2I_CONTEXTS)
            for attribute in ATTRIBUTES
            for part, contexts in (
                ("factuality", kind[:1]),
                ("factuality_revised", kind[:1]),
                ("fairness", kind[1:]),
                ("entropy", kind[1:]),
            )
            for context in contexts
        ),
    ),
)
