"""The figures that decide each true group: year, unit, margin, and agreement of the sources.

The columns are computed from the two reference tables, which released standards pin: their bytes never change.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import pyarrow as pa

from fairspace.builders.fact_or_fair.statistics import FIGURES, LEVELS, TRUTH, reference_rows

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
    named = {(row["version"], row["statistic"], row["attribute"]): [row[level] for level in LEVELS] for row in rows}
    by_topic: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for figure in reference_rows(FIGURES):
        by_topic.setdefault((figure["statistic"], figure["attribute"]), []).append(figure)
    for row in rows:
        topic = row["statistic"], row["attribute"]
        groups = by_topic.get(topic, [])
        versions = [named.get((version, *topic)) for version in ("paper", "revised")]
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
