"""GENRES: from responses and a judge's answers to the eight gender bias metrics and the total bias score.

Source: From Individuals to Interactions (GENRES), section 3.3 and Table 2. Raw values:

- `M1` to `M8`, each male minus female, over all passages, and `M1_cs` and so on per relational model; `M4` is the mean
  of its four relational models, as in the authors' code;
- `M1_directed`: M1 over the words that are high in warmth or competence, where the paper's takes "cold" for warmth;
- with other judges, `M1@2` and so on: what the second judge's answers give for the metrics that need a judge, over all
  passages, with its name and cohort as evidence; and `agreement_status` and so on, how far the judges agree. None of
  these enters a score;
- `M1_single` and so on, where a model wrote of one character too: the metric between the stories of the man and of the
  woman alone, and `M1_less_single`, the metric less that;
- `competent_narratives` and `distinct_narratives`: shares of the responses, for the competence floors;
- `refusal_rate`, `refusal_rate_cs` and so on: shares of the responses that decline to write; `refusal_difference`: the
  rate where the prompt names the man first less that where it names the woman first. None of these enters a score.

What is not known, what is known to be nothing, and what the judge left out are three things. A response that was not
handed in is unknown. A response without a narrative, or one that declines to write, is known: it is neither competent
nor distinct, and in M1 to M8, where no answer is a wrong one, it is worth the least favourable difference, an end of
`low` and `high`. A judge's answer that cannot be read, or a refusal of the judge, says nothing of the model: it counts
as a judgement that was not handed in.

M3, M5 and M6 need a parser, M5 the NRC lexicon, M6 a sentiment model, M1 and M2 the stereotype content dictionary, and
M1, M2, M4, M7 and M8 a judge: what lacks one of these is not run, and the total is undefined.
"""

from __future__ import annotations

import re

from fairspace.builders.genres import plan, single
from fairspace.metrics.genres_bias import formula
from fairspace.submissions.benchmarks.benchmark import Answers, Asking, Benchmark, Protocols, Reporting, Scoring, shown
from fairspace.submissions.benchmarks.genres.measure import measure
from fairspace.submissions.benchmarks.genres.parse import VERSION
from fairspace.submissions.benchmarks.genres.parse.lexicons import NotAvailableError, versions
from fairspace.submissions.benchmarks.genres.parse.sentences import VERSION as COUNTING
from fairspace.submissions.benchmarks.genres.parse.sentences import pipeline_name
from fairspace.submissions.benchmarks.genres.records import read
from fairspace.submissions.benchmarks.genres.resample import designs, single_designs, split_designs, with_single
from fairspace.submissions.benchmarks.genres.score import (
    EVALUATORS,
    PROTOCOLS,
    STANDARDS,
    ZERO,
    adjustable,
    protocol_of,
    resolve_standard,
    score,
    scoring,
)
from fairspace.submissions.benchmarks.genres.variants import as_the_authors_read, variants
from fairspace.submissions.benchmarks.ideal import GAP, SIGNED, Ideal
from fairspace.submissions.benchmarks.task import TEXTS_ALIKE, Lazy, Task
from fairspace.submissions.format.schema import Submission


def signature(submission: Submission) -> dict[str, str]:
    """Parser, rules of counting, readers, word lists and sentiment model; `none` for what is not there.

    A run that left the images out says so too (`shown`).
    """
    try:
        parser = pipeline_name()
    except NotAvailableError:
        parser = "none"
    counting = f"genres_counting@{COUNTING}"
    used = {"parser": parser, "counting": counting, "reading": f"genres_reading@{VERSION}", **versions()}
    return used | shown(submission)


_METRIC = re.compile(r"(?:[A-Z]{2}\.)?M[1-8](?!_p)")
"""A metric, over all stories or a part of them, by any judge; not the p-value that stands beside it."""


def ideal(name: str, standard: str) -> Ideal | None:
    """0 of a metric, which has a sign, and of a total about 0; a total about the mean of six models has none."""
    if name == "TBS":
        return GAP if standard == ZERO.name else None
    return SIGNED if _METRIC.match(name) or name == "refusal_difference" else None


BENCHMARK = Benchmark(
    name="genres",
    title="GENRES",
    revisions=plan.REVISIONS,
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
            alike=TEXTS_ALIKE,
        ),
        Task("profile_female", "judgements", 1, plan.ids, ("M1",), judges="narrative"),
        Task("profile_male", "judgements", 1, plan.ids, ("M1",), judges="narrative"),
        Task("narrative_analysis", "judgements", 1, plan.ids, ("M4",), judges="narrative"),
        Task(
            "narrative_single",
            "responses",
            1,
            single.ids,
            ("refusal_rate_single_male",),
            items=single.items,
            ask=Lazy("fairspace.submissions.benchmarks.genres.ask:narrative_single"),
            max_tokens=2048,
            optional=True,
            alike=TEXTS_ALIKE,
        ),
        Task("profile_single", "judgements", 1, single.ids, ("M1_single",), judges="narrative_single", optional=True),
        Task("analysis_single", "judgements", 1, single.ids, ("M7_single",), judges="narrative_single", optional=True),
    ),
    read=read,
    measure=lambda records: with_single(measure(records), records),
    protocols=Protocols(PROTOCOLS, protocol_of, lambda scored: EVALUATORS.get(scored.labels.get("cohort", ""), "")),
    standards=STANDARDS,
    default_standard=ZERO.name,
    score=score,
    higher_is_better=False,
    baseline=Lazy("fairspace.submissions.benchmarks.genres.baselines:tables"),
    about=Lazy("fairspace.submissions.benchmarks.genres.about:about"),
    published=Lazy("fairspace.submissions.benchmarks.genres.about:rows"),
    asking=Asking(
        judge=Lazy("fairspace.submissions.benchmarks.genres.ask:judge_items"), options={"text_only": (False, True)}
    ),
    answers=Answers(
        rows=Lazy("fairspace.submissions.benchmarks.genres.parse.rows:row_readings"),
        samples=Lazy("fairspace.submissions.benchmarks.genres.samples:samples"),
        compare=Lazy("fairspace.submissions.benchmarks.genres.parse.rows:compare_reading"),
        authors=as_the_authors_read,
    ),
    signature=signature,
    reporting=Reporting(headline=(*formula.METRICS, "TBS")),
    scoring=Scoring(
        scoring,
        resolve_standard,
        adjustable,
        drawn=frozenset(f"{m}{tail}" for m in formula.METRICS for tail in ("", *(f"_{r}" for r in plan.RELATIONS))),
    ),
    designs=lambda records: [*designs(records), *split_designs(records), *single_designs(records)],
    variants=variants,
    ideal=ideal,
)
