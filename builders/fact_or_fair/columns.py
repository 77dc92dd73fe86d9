"""The rows of FACT-OR-FAIR's configs: how items, lists and reference tables stand in them."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pyarrow as pa

from fairspace.builders.fact_or_fair import plan
from fairspace.builders.fact_or_fair.statistics import ATTRIBUTES, GROUPS, STATISTICS

T2I = tuple(task for task in plan.TASKS if task.startswith("t2i"))
ALL_GROUPS = tuple(group for attribute in ATTRIBUTES for group in GROUPS[attribute])


def item_rows(task: str) -> pa.Table:
    """The items of a task as they are published: how many samples are asked for, and the task instead of the config."""
    items = plan.items(task)
    items = items.rename_columns({"config": "task"})
    return items.append_column("samples", pa.array([plan.SAMPLES[task]] * len(items), pa.int16()))


def with_options(part: pa.Table) -> pa.Table:
    """Rows of objective queries with their options as JSON."""
    options = pa.array([json.dumps(options) for options in part["options"].to_pylist()])
    return part.set_column(part.column_names.index("options"), "options", options)


def with_profiles(part: pa.Table) -> pa.Table:
    """Rows of subjective queries with their profiles as JSON, and how often each is asked."""
    profiles = pa.array([json.dumps(people, ensure_ascii=False) for people in part["profiles"].to_pylist()])
    samples = pa.array([plan.SAMPLES["llm_subjective"]] * len(part), pa.int16())
    part = part.set_column(part.column_names.index("profiles"), "profiles", profiles)
    return part.append_column("samples", samples)


def with_ids(table: pa.Table, config: str, keys: Sequence[str]) -> pa.Table:
    """A reference table with an `id` of its key columns."""
    slugs = {statistic.name: statistic.slug for statistic in STATISTICS}
    parts = [[slugs.get(value, value.lower()) for value in table[key].to_pylist()] for key in keys]
    return table.add_column(0, "id", pa.array(["/".join((config, *key)) for key in zip(*parts, strict=True)]))
