"""GENRES: from responses and a judge's answers to the eight gender bias metrics and the total bias score.

Source: From Individuals to Interactions (GENRES), section 3.3 and Table 2. Raw values, of which M1 to M8 are scored:

- `M1` to `M8`, male minus female, over all passages, and `M1_cs` and so on per relational model; `M4` is the mean of
  its four relational models, as in the authors' code;
- `M2_male`, `M2_female_cs` and so on: the mean of one gender, of M2 to M8 (of M1: `warmth_male`);
- `M1_directed`: M1 over words high in warmth or competence, where the paper's takes "cold" for warmth;
- `M1@2` and so on: the value by the second judge;
- `M1_single`: the metric between stories of one character each; `M1_less_single`: the metric less that;
- `competent_narratives`, `distinct_narratives`: shares for the competence floors;
- `refusal_rate`, and `refusal_difference`: the rate where the prompt names the man first less the other one.
"""

import re

from fairspace.builders.genres import plan
from fairspace.metrics.genres_bias import formula
from fairspace.submissions.benchmarks import benchmark
from fairspace.submissions.benchmarks.genres.parse import VERSION
from fairspace.submissions.benchmarks.genres.parse.lexicons import NotAvailableError, versions
from fairspace.submissions.benchmarks.genres.parse.sentences import VERSION as COUNTING
from fairspace.submissions.benchmarks.genres.parse.sentences import pipeline_name
from fairspace.submissions.benchmarks.genres.quantities import designs, measure, samples
from fairspace.submissions.benchmarks.genres.records import read
from fairspace.submissions.benchmarks.genres.score import (
    EVALUATORS,
    STANDARDS,
    ZERO,
    adjustable,
    protocol_of,
    resolve_standard,
    score,
    scoring,
)
from fairspace.submissions.benchmarks.genres.variants import as_the_authors_read, variants
from fairspace.submissions.benchmarks.task import TEXTS_ALIKE, Lazy, Task
from fairspace.submissions.format.schema import Submission


def signature(submission: Submission) -> dict[str, str]:
    """Versions of parser, counting, readers, word lists and sentiment model (or `none`); `shown` without images."""
    try:
        parser = pipeline_name()
    except NotAvailableError:
        parser = "none"
    counting = f"genres_counting@{COUNTING}"
    used = {"parser": parser, "counting": counting, "reading": f"genres_reading@{VERSION}", **versions()}
    return used | benchmark.shown(submission)


_METRIC = re.compile(r"(?:[A-Z]{2}\.)?M[1-8](?!_p|.*male)")


def ideal(name: str, standard: str) -> benchmark.Ideal | None:
    """0 for a signed metric and for a total about 0; None for a level and for a total about the mean of six models."""
    if name == "TBS":
        return benchmark.GAP if standard == ZERO.name else None
    return benchmark.SIGNED if _METRIC.match(name) or name == "refusal_difference" else None


BENCHMARK = benchmark.Benchmark(
    name="genres",
    revisions=plan.REVISIONS,
    base_revision=lambda revision: plan.CORE.get(revision, revision),
    tasks=(
        Task(
            "narrative",
            "responses",
            1,
            plan.ids,
            ("distinct_narratives", "M3"),
            items=plan.items,
            ask=Lazy("fairspace.submissions.benchmarks.genres.ask:narrative"),
            max_tokens=2048,  # two profiles and about 500 words are about 1 000 tokens
            named_in=(plan.UPSTREAM,),
            theirs={plan.UPSTREAM: Lazy("fairspace.submissions.benchmarks.genres.importing:authors_pairs")},
            alike=TEXTS_ALIKE,
        ),
        Task("profile_female", "judgements", 1, plan.ids, ("M1",), judges="narrative"),
        Task("profile_male", "judgements", 1, plan.ids, ("M1",), judges="narrative"),
        Task("narrative_analysis", "judgements", 1, plan.ids, ("M4",), judges="narrative"),
        Task(
            "narrative_single",
            "responses",
            1,
            plan.single_ids,
            ("refusal_rate_single_male",),
            items=plan.single_items,
            ask=Lazy("fairspace.submissions.benchmarks.genres.ask:narrative_single"),
            max_tokens=2048,
            optional=True,
            alike=TEXTS_ALIKE,
        ),
        Task(
            "profile_single",
            "judgements",
            1,
            plan.single_ids,
            ("M1_single",),
            judges="narrative_single",
            optional=True,
        ),
        Task(
            "analysis_single",
            "judgements",
            1,
            plan.single_ids,
            ("M7_single",),
            judges="narrative_single",
            optional=True,
        ),
    ),
    read=read,
    measure=measure,
    protocols=benchmark.Protocols(
        protocol_of,
        lambda scored: EVALUATORS.get(scored.labels.get("cohort", ""), ""),
    ),
    standards=STANDARDS,
    default_standard=ZERO.name,
    score=score,
    higher_is_better=False,
    baseline=Lazy("fairspace.submissions.benchmarks.genres.baselines:tables"),
    about=Lazy("fairspace.submissions.benchmarks.genres.about:about"),
    published=Lazy("fairspace.submissions.benchmarks.genres.about:rows"),
    asking=benchmark.AskingOptions(
        judge=Lazy("fairspace.submissions.benchmarks.genres.ask:judge_items"),
        options={"text_only": (False, True)},
        authors=benchmark.AsAuthors(
            "mllm/infer_*.py and eval/eval.py of Savannah2000/Genres@38497a9; four evaluations by section 4",
            {"max_tokens": 1024},
            {"temperature": 0.7, "top_p": 0.95, "max_tokens": 1024},
            evaluations=4,
            revision=plan.UPSTREAM,
        ),
    ),
    answers=benchmark.AnswerReading(
        rows=Lazy("fairspace.submissions.benchmarks.genres.parse.judge:row_readings"),
        samples=samples,
        compare=Lazy("fairspace.submissions.benchmarks.genres.parse.judge:compare_reading"),
        authors=as_the_authors_read,
    ),
    signature=signature,
    reporting=benchmark.Reporting(
        headline=(*formula.METRICS, "TBS"),
        in_harness=("M3", "M5"),  # the others need a judge or an audience
        sentences=Lazy("fairspace.submissions.benchmarks.genres.about:sentences"),
        paper=Lazy("fairspace.submissions.benchmarks.genres.paper:paper"),
    ),
    scoring=benchmark.Scoring(
        scoring,
        resolve_standard,
        adjustable,
        drawn=frozenset(f"{m}{tail}" for m in formula.METRICS for tail in ("", *(f"_{r}" for r in plan.RELATIONS))),
    ),
    designs=designs,
    variants=variants,
    ideal=ideal,
)
