"""FACT-OR-FAIR as a dataset: its queries by task, both truths, the figures behind them and the paper's results.

The rows are those of `fact_or_fair.items`. A sample keeps `SAMPLE_TRIALS` of the hundred trials of each of the 456
cells of `llm_subjective`, and every other query.
"""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import prod
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from fairspace.builders.engine.dataset import BuildJob, BuildManifest, Dataset, Split, expect
from fairspace.builders.fact_or_fair import plan
from fairspace.builders.fact_or_fair.plan import CORE, ORDERS
from fairspace.builders.fact_or_fair.statistics import (
    ATTRIBUTES,
    FIGURES,
    GROUPS,
    LEVELS,
    STATISTICS,
    TRUTH,
    TRUTH_VERSIONS,
    figures,
    reference_rows,
    truth_table,
    with_attribute,
)
from fairspace.builders.registry import published_rows, published_split

# Columns are computed from the two reference tables, which released standards pin: their bytes never change.

EVIDENCE = {
    "agreement": (
        "string",
        "whether both versions name the same groups: `agree`, `differ`, or `undecided`: no figure decides",
    ),
    "margin_highest": (
        "float64",
        "by the figures, how far the named group is above the next one, in `unit`; below 0 they name another group; "
        "null where no rates were found",
    ),
    "margin_lowest": ("float64", "the same of the lowest group, below the next one"),
    "unit": ("string", "of the figures"),
    "year": ("string", "of the figures"),
    "note": ("string", "what other figures say, and how far to trust these"),
}
NARROW = 0.05
"""A margin below this share of the largest figure is narrow."""


def truth_evidence() -> pa.Table:
    """Both truth versions with the columns of `EVIDENCE`."""
    return pa.Table.from_pylist(_rows())


def _rows() -> list[dict[str, Any]]:
    rows = [dict(row) for row in reference_rows(TRUTH)]
    by_place = {(row["version"], row["statistic"], row["attribute"]): [row[level] for level in LEVELS] for row in rows}
    by_topic: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for figure in reference_rows(FIGURES):
        by_topic.setdefault((figure["statistic"], figure["attribute"]), []).append(figure)
    for row in rows:
        topic = row["statistic"], row["attribute"]
        groups = by_topic.get(topic, [])
        versions = [by_place.get((version, *topic)) for version in ("paper", "revised")]
        row["agreement"] = "undecided" if None in versions else "agree" if versions[0] == versions[1] else "differ"
        margins = _margins(groups, row) if row["agreement"] != "undecided" else (None, None)
        row["margin_highest"], row["margin_lowest"] = margins
        for column in ("unit", "year", "note"):
            row[column] = "; ".join(dict.fromkeys(figure[column] for figure in groups if figure[column]))
    return rows


def _margins(groups: list[Mapping[str, Any]], row: dict[str, Any]) -> tuple[float | None, float | None]:
    values = {figure["group"]: figure["value"] for figure in groups}
    if None in values.values() or not {row[level] for level in LEVELS} <= set(values):
        return None, None
    high, low = ([value for group, value in values.items() if group != row[level]] for level in LEVELS)
    return round(values[row["highest"]] - max(high), 6), round(min(low) - values[row["lowest"]], 6)


@lru_cache
def contested() -> tuple[str, ...]:
    """The revised labels with a narrow margin or unlike the paper's, in words."""
    lines = []
    for row in _rows():
        margins = {level: row[f"margin_{level}"] for level in LEVELS}
        if row["version"] != "revised" or None in margins.values():
            continue
        topic = row["statistic"], row["attribute"]
        largest = max(
            figure["value"] for figure in reference_rows(FIGURES) if (figure["statistic"], figure["attribute"]) == topic
        )
        why = ["the paper's labels differ"] if row["agreement"] == "differ" else []
        why += [f"{level} by {margin:g}" for level, margin in margins.items() if margin < NARROW * largest]
        if why:
            lines.append(f"{topic[0]} by {topic[1]} ({row['year']}, {row['unit']}): {', '.join(why)}")
    return tuple(lines)


T2I = tuple(task for task in plan.TASKS if task.startswith("t2i"))
ALL_GROUPS = tuple(group for attribute in ATTRIBUTES for group in GROUPS[attribute])


def item_rows(task: str) -> pa.Table:
    """The items of a task as published: with the number of samples, and the task instead of the config."""
    items = plan.items(task)
    items = items.rename_columns({"config": "task"})
    return items.append_column("samples", pa.array([plan.SAMPLES[task]] * len(items), pa.int16()))


def with_options(part: pa.Table) -> pa.Table:
    """Rows of objective queries with their options as JSON."""
    options = pa.array([json.dumps(options) for options in part["options"].to_pylist()])
    return part.set_column(part.column_names.index("options"), "options", options)


def with_profiles(part: pa.Table) -> pa.Table:
    """Rows of subjective queries with their profiles as JSON, and the number of times that each is asked."""
    profiles = pa.array([json.dumps(people, ensure_ascii=False) for people in part["profiles"].to_pylist()])
    samples = pa.array([plan.SAMPLES["llm_subjective"]] * len(part), pa.int16())
    part = part.set_column(part.column_names.index("profiles"), "profiles", profiles)
    return part.append_column("samples", samples)


def with_ids(table: pa.Table, config: str, keys: Sequence[str]) -> pa.Table:
    """A reference table with an `id` of its key columns."""
    slugs = {statistic.name: statistic.slug for statistic in STATISTICS}
    parts = [[slugs.get(value, value.lower()) for value in table[key].to_pylist()] for key in keys]
    return table.add_column(0, "id", pa.array(["/".join((config, *key)) for key in zip(*parts, strict=True)]))


SAMPLE_TRIALS = 2
"""Trials of each cell of `llm_subjective` in a sample."""
_CELLS = prod((len(STATISTICS), len(LEVELS), plan.SCENARIOS, len(plan.CONTEXTS)))
_STATISTIC = ([statistic.name for statistic in STATISTICS], "one of the 19 of Table 1")
_LEVEL = (LEVELS, "which end of the statistic is asked for")
_PROMPT = ("string", "what the model is asked")
_SAMPLES = ("int16", "how often it is asked: answers or images per item (section 5.1)")


def splits(job: BuildJob) -> Sequence[Split]:
    """The six configs; no source and no tool is needed."""
    return (
        Split(
            config="llm_objective",
            about="A question to a language model about which group has the highest or lowest value of a statistic.",
            columns={
                "statistic": _STATISTIC,
                "level": _LEVEL,
                "attribute": (ATTRIBUTES, "whose groups are asked about"),
                "prompt": _PROMPT,
                "chance": ("float64", "the share of one group"),
                "order": ("int8", "0 to 2: which of the three drawn orders of the options"),
                "options": ("string", "JSON: the groups in the order of their letters"),
                "samples": _SAMPLES,
            },
            units=item_rows("llm_objective"),
            rows=with_options,
            groups=("attribute", "level"),
        ),
        _subjective(job),
        Split(
            config="t2i",
            about="A prompt to an image model: a portrait for a statistic (objective) or for a trait (subjective).",
            columns={
                "statistic": _STATISTIC,
                "task": (T2I, "objective, or subjective with three prompts a topic, or with one as the paper"),
                "level": _LEVEL,
                "scenario": ("int16", "which of the three traits; null where a topic has one prompt"),
                "prompt": _PROMPT,
                "samples": _SAMPLES,
            },
            units=pa.concat_tables([item_rows(task) for task in T2I], promote_options="default"),
            groups=("task", "level"),
        ),
        Split(
            config="truth",
            about="The groups with the highest and the lowest value of a statistic, by version of the truth.",
            columns={
                "statistic": _STATISTIC,
                "version": (
                    TRUTH_VERSIONS,
                    "`paper`: the labels of the published scores; `revised`: what the figures say",
                ),
                "attribute": (ATTRIBUTES, "whose groups the label names"),
                "highest": (ALL_GROUPS, "the group with the highest value"),
                "lowest": (ALL_GROUPS, "the group with the lowest value"),
                "source": ("string", "where the label comes from"),
                "flag": ("string", "what is wrong with a label that is kept as it stands"),
                **EVIDENCE,
            },
            units=with_ids(truth_evidence(), "truth", ("version", "statistic", "attribute")),
            groups=("version", "attribute"),
        ),
        Split(
            config="statistics",
            about="A figure of a statistic for a group, with its source; null where none was found.",
            columns={
                "statistic": _STATISTIC,
                "attribute": (ATTRIBUTES, "gender or race"),
                "group": (ALL_GROUPS, "definitions of the groups: under the paper's Table 9"),
                "value": ("float64", "in `unit`; null where no figure was found"),
                "unit": ("string", "what the figure counts: only equal units of a statistic can be compared"),
                "year": ("string", "of the figure"),
                "source": ("string", "who published it, and where"),
                "note": ("string", "how far to trust it"),
            },
            units=with_ids(figures(), "statistics", ("statistic", "attribute", "group")),
            groups=("attribute", "group"),
        ),
        published_split("fact_or_fair"),
    )


def check(manifest: BuildManifest) -> None:
    """The counts of the protocol (sections 3 and 5.1, Tables 1 and 9). BuildError BUILD_CHECK otherwise."""
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


def _subjective(job: BuildJob) -> Split:
    units = plan.items("llm_subjective")
    core = plan.ids("llm_subjective", next(iter(CORE)))
    units = units.append_column("core", pc.is_in(units["id"], value_set=core))
    if job.sample:
        units = units.filter(pc.less(units["trial"], SAMPLE_TRIALS))
        job.note(f"A sample: llm_subjective has the first {SAMPLE_TRIALS} of the {plan.TRIALS} trials of each cell.")
    offered = {f"options_{group.lower()}": ("int8", f"how many of the four are {group}") for group in ALL_GROUPS}
    chance = {
        f"chance_{attribute}": ("float64", f"share of options of the true group by {attribute} (truth `paper`)")
        for attribute in ATTRIBUTES
    }
    points_to = {
        f"context_{attribute}": (GROUPS[attribute], f"the group by {attribute} that the context points to; null: none")
        for attribute in ATTRIBUTES
    }
    return Split(
        config="llm_subjective",
        about="A question about four persons, in one of four contexts: who is it most likely to be?",
        columns={
            "statistic": _STATISTIC,
            "level": _LEVEL,
            "context": (plan.CONTEXTS, "what stands before the scenario; `base`: nothing"),
            **points_to,
            "scenario": ("int16", "which of the topic's three scenarios"),
            "trial": ("int16", "0 to 99: each has its own four profiles"),
            "core": ("bool", "whether the core revision asks it: five trials of each cell"),
            "prompt": _PROMPT,
            "profiles": ("string", "JSON: name, age, gender and race of options A to D"),
            **offered,
            **chance,
            "samples": _SAMPLES,
        },
        units=units,
        rows=with_profiles,
        shard=5_000,
        groups=("level", "context"),
    )


DATASET = Dataset(
    name="fact_or_fair",
    title="FACT-OR-FAIR",
    benchmark="fact_or_fair",
    revision=plan.REVISIONS[0],
    revision_of=lambda revision: CORE.get(revision, revision),
    licence="CC-BY-4.0",
    sources=(),
    splits=splits,
    check=check,
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
