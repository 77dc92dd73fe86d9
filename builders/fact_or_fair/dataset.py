"""FACT-OR-FAIR as a dataset: its queries by task, both truths, the figures behind them and the paper's results.

The rows are those of `fact_or_fair.items`, so that what is published is what is scored. A sample has every query but
those of `llm_subjective`: of each of its 456 cells it keeps two of the hundred trials.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

import pyarrow as pa
import pyarrow.compute as pc

from fairspace.builders.engine.dataset import Dataset, Job, Manifest, Split, expect
from fairspace.builders.engine.headline import Headline
from fairspace.builders.fact_or_fair import plan
from fairspace.builders.fact_or_fair.columns import (
    ALL_GROUPS,
    T2I,
    features,
    item_rows,
    with_ids,
    with_options,
    with_profiles,
)
from fairspace.builders.fact_or_fair.core import CORE
from fairspace.builders.fact_or_fair.evidence import EVIDENCE, truth_evidence
from fairspace.builders.fact_or_fair.objective import ORDERS
from fairspace.builders.fact_or_fair.statistics import (
    ATTRIBUTES,
    GROUPS,
    LEVELS,
    STATISTICS,
    figures,
    truth_table,
    with_attribute,
)
from fairspace.builders.published import published_rows, published_split

SAMPLE_TRIALS = 2
"""Trials of each cell of `llm_subjective` in a sample."""
_CELLS = prod((len(STATISTICS), len(LEVELS), plan.SCENARIOS, len(plan.CONTEXTS)))
_STATISTIC = {"statistic": "one of the 19 of Table 1"}
_ASKED = {
    **_STATISTIC,
    "level": "which end of the statistic is asked for",
    "prompt": "what the model is asked",
    "samples": "how often it is asked: answers or images per item (section 5.1)",
}


def splits(job: Job) -> Sequence[Split]:
    """The six configs; no source and no tool is needed."""
    return (
        Split(
            config="llm_objective",
            split="test",
            about="A question to a language model about which group has the highest or lowest value of a statistic.",
            features=features(
                "level",
                "attribute",
                **{"prompt": "string", "chance": "float64", "order": "int8", "options": "string", "samples": "int16"},
            ),
            units=item_rows("llm_objective"),
            rows=with_options,
            groups=("attribute", "level"),
            fields={
                **_ASKED,
                "attribute": "whose groups are asked about",
                "chance": "the share of one group",
                "order": "0 to 2: which of the three drawn orders of the options",
                "options": "JSON: the groups in the order of their letters",
            },
        ),
        _subjective(job),
        Split(
            config="t2i",
            split="test",
            about="A prompt to an image model: a portrait for a statistic (objective) or for a trait (subjective).",
            features=features("task", "level", scenario="int16", prompt="string", samples="int16"),
            units=pa.concat_tables([item_rows(task) for task in T2I], promote_options="default"),
            rows=lambda part: part,
            groups=("task", "level"),
            fields={
                **_ASKED,
                "task": "objective, or subjective with three prompts a topic, or with one as the paper",
                "scenario": "which of the three traits; null where a topic has one prompt",
            },
        ),
        Split(
            config="truth",
            split="test",
            about="The groups with the highest and the lowest value of a statistic, by version of the truth.",
            features=features(
                "version",
                "attribute",
                "highest",
                "lowest",
                **{"source": "string", "flag": "string", "agreement": "string"},
                **{"margin_highest": "float64", "margin_lowest": "float64"},
                **{"unit": "string", "year": "string", "note": "string"},
            ),
            units=with_ids(truth_evidence(), "truth", ("version", "statistic", "attribute")),
            rows=lambda part: part,
            groups=("version", "attribute"),
            fields={
                **_STATISTIC,
                "attribute": "whose groups the label names",
                "version": "`paper`: the labels of the published scores; `revised`: what the figures say",
                "highest": "the group with the highest value",
                "lowest": "the group with the lowest value",
                "source": "where the label comes from",
                "flag": "what is wrong with a label that is kept as it stands",
                **EVIDENCE,
            },
        ),
        Split(
            config="statistics",
            split="test",
            about="A figure of a statistic for a group, with its source; null where none was found.",
            features=features(
                "attribute", "group", value="float64", unit="string", year="string", source="string", note="string"
            ),
            units=with_ids(figures(), "statistics", ("statistic", "attribute", "group")),
            rows=lambda part: part,
            groups=("attribute", "group"),
            fields={
                **_STATISTIC,
                "attribute": "gender or race",
                "group": "definitions of the groups: under the paper's Table 9",
                "value": "in `unit`; null where no figure was found",
                "unit": "what the figure counts: only equal units of a statistic can be compared",
                "year": "of the figure",
                "source": "who published it, and where",
                "note": "how far to trust it",
            },
        ),
        published_split("fact_or_fair"),
    )


def check(manifest: Manifest) -> None:
    """The counts that the protocol has (sections 3 and 5.1, Tables 1 and 9). BuildError BUILD_CHECK otherwise."""
    by_attribute = {attribute: len(LEVELS) * len(with_attribute(attribute)) for attribute in ATTRIBUTES}
    trials = SAMPLE_TRIALS if manifest.sample else plan.TRIALS
    promised: Mapping[str, int] = {
        "llm_objective": sum(by_attribute.values()) * ORDERS,
        "llm_subjective": _CELLS * trials,
        "t2i": len(STATISTICS) * len(LEVELS) * (2 + plan.SCENARIOS),
        "truth": truth_table().num_rows,
        "statistics": sum(len(GROUPS[attribute]) * count // len(LEVELS) for attribute, count in by_attribute.items()),
        "published": published_rows("fact_or_fair").num_rows,
    }
    for config, rows in promised.items():
        built = manifest.find(config, "test")
        count = built.rows if built else 0
        expect(count == rows, f"{manifest.dataset}/{config}", f"{count} rows", f"{rows} rows")
        if built and config in ("llm_subjective", "t2i"):
            for column in {"statistic", "level", "context"} & set(built.counts):
                counts = built.counts[column]
                even = len(set(counts.values())) == 1 and "" not in counts
                expect(even, f"{manifest.dataset}/{config}", f"{column}: {dict(counts)}", "equal counts")
    objective = manifest.find("llm_objective", "test")
    counts = dict(objective.counts["attribute"]) if objective else {}
    in_orders = {attribute: count * ORDERS for attribute, count in by_attribute.items()}
    expect(counts == in_orders, f"{manifest.dataset}/llm_objective", f"attribute: {counts}", str(in_orders))


def _subjective(job: Job) -> Split:
    units = plan.items("llm_subjective")
    core = plan.ids("llm_subjective", next(iter(CORE)))
    units = units.append_column("core", pc.is_in(units["id"], value_set=core))
    if job.sample:
        units = units.filter(pc.less(units["trial"], SAMPLE_TRIALS))
        job.note(f"A sample: llm_subjective has the first {SAMPLE_TRIALS} of the {plan.TRIALS} trials of each cell.")
    offered = {f"options_{group.lower()}": "int8" for group in ALL_GROUPS}
    chance = {f"chance_{attribute}": "float64" for attribute in ATTRIBUTES}
    return Split(
        config="llm_subjective",
        split="test",
        about="A question about four persons, in one of four contexts: who is it most likely to be?",
        features=features(
            "level",
            "context",
            *(f"context_{attribute}" for attribute in ATTRIBUTES),
            **{"scenario": "int16", "trial": "int16", "core": "bool", "prompt": "string", "profiles": "string"},
            **{**offered, **chance, "samples": "int16"},
        ),
        units=units,
        rows=with_profiles,
        shard=5_000,
        groups=("level", "context"),
        fields={
            **_ASKED,
            "scenario": "which of the topic's three scenarios",
            "context": "what stands before the scenario; `base`: nothing",
            "trial": "0 to 99: each has its own four profiles",
            "core": "whether the core revision asks it: five trials of each cell",
            "profiles": "JSON: name, age, gender and race of options A to D",
            **{f"options_{group.lower()}": f"how many of the four are {group}" for group in ALL_GROUPS},
            **{f"chance_{a}": f"share of options of the true group by {a} (truth `paper`)" for a in ATTRIBUTES},
            **{f"context_{a}": f"the group by {a} that the context points to; null: none" for a in ATTRIBUTES},
        },
    )


def _splits(job: Job) -> Sequence[Split]:
    return splits(job)


def _check(manifest: Manifest) -> None:
    check(manifest)


DATASET = Dataset(
    name="fact_or_fair",
    title="FACT-OR-FAIR",
    benchmark="fact_or_fair",
    revision=plan.REVISIONS[0],
    revision_of=lambda revision: CORE.get(revision, revision),
    headlines=(
        Headline("average_llm", "llm_objective", "mean of S_fact and S_fair of a language model"),
        Headline("llm_factuality", "llm_objective", "S_fact of a language model: answers agree with the statistics"),
        Headline("llm_fairness", "llm_subjective", "S_fair of a language model: answers spread evenly over groups"),
        Headline("average_t2i", "t2i", "mean of S_fact and S_fair of an image model"),
        Headline("t2i_factuality", "t2i", "S_fact of an image model: images agree with the statistics"),
        Headline("t2i_fairness", "t2i", "S_fair of an image model: images spread evenly over groups"),
    ),
    licence="CC-BY-4.0",
    sources=(),
    splits=_splits,
    check=_check,
    task_categories=("question-answering", "text-to-image"),
    changes=(
        (
            "shuffled",
            "v2",
            "Objective queries: lettered options in three drawn orders, one item each, answered with JSON. Subjective "
            "queries: 'an' before Asian, and eleven sentences mended. Image prompts: `t2i_subjective_paper`, one a "
            "topic, beside the three a topic of `t2i_subjective`. Profiles and scenarios are those of v1.",
        ),
    ),
)
