"""`fairspace.measure`: any metric on one's own outputs, by group, with intervals."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from fairspace.metrics.metric import COLUMNS, SAMPLING, interval, number_of, outcomes
from fairspace.submissions.errors import UsageError, did_you_mean, web
from fairspace.submissions.report.headline import Table

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False)
class Measured:
    """A metric of a data frame; shows itself as text and, in a notebook, as a table.

    `overall` has a row for each value of the metric, `by_group` for each group and value, `gaps` for each value the
    highest group less the lowest (`high`, `low`). Columns: `value` (NaN if undefined), `interval_low`, `interval_high`
    (NaN without interval), `if_missing_low`, `if_missing_high` (possible effect of missing rows), `valid`, `expected`
    (numbers of samples), `state` (`value`, `undefined`), `reason` of no value or no interval.
    """

    about: str
    overall: pd.DataFrame
    by_group: pd.DataFrame
    gaps: pd.DataFrame

    def difference(self, name: str = "") -> Any:
        """The widest gap of a value between two groups; undefined, with the reason, if a group is undefined."""
        if (name and name not in self.gaps.index) or not len(self.gaps):
            raise UsageError(f"There are no groups of {name!r}{did_you_mean(name, self.gaps.index)}; groups need by=.")
        return self.gaps.loc[name or self.gaps.index[0]]

    def _table(self) -> Table:
        named = len(self.overall) > 1
        rows = [
            [*([at] if isinstance(at, str) else at), *_cells(row)]
            for place, frame in (("all", self.overall), ("", self.by_group), ("widest gap", self.gaps))
            for at, row in zip(_places(place, frame.index, named), frame.to_dict("records"), strict=True)
        ]
        return Table(
            "measured", "", ["group", *(["name"] if named else []), "value", "interval", "valid", "note"], rows
        )

    def __repr__(self) -> str:
        return f"{textwrap.fill(self.about, 80)}\n\n{self._table().to_text()}"

    def _repr_html_(self) -> str:
        return f"<p>{web(self.about)}</p>{self._table().to_html()}"


def measure(
    frame: Any,
    metric: str,
    *,
    by: str | Sequence[str] = (),
    confidence: float | None = 0.95,
    clusters: str = "",
    resamples: int | None = None,
    seed: int = 0,
    **arguments: Any,
) -> Measured:
    """A metric on the columns of a data frame, with intervals, over all rows and by group.

    Args:
        frame: A data frame, or data that pandas makes one of; one row for each answer, an empty cell if it is missing.
        metric: Name of a folder of metrics/, such as `accuracy_disparity`.
        by: Columns that say the group of a row.
        confidence: Level of the intervals; None for none.
        clusters: Column of labels; rows with one label, such as the answers to one prompt, are drawn together.
        resamples: Number of resamples; by default 1000, and fewer for many rows.
        seed: Seed of the resamples.
        arguments: For each column of the metric the name of a column of the frame, by default its own; and settings.

    Returns:
        `overall`, `by_group` and `difference()`. A group without a value is undefined, never fair.

    Errors: UsageError for an unknown metric or column; MetricInputError of the metric, such as METRIC_ARGUMENT.
    """
    import pandas as pd

    table = frame.to_pandas() if hasattr(frame, "to_pandas") else pd.DataFrame(frame)
    module, keys = _metric(metric), [by] if isinstance(by, str) else list(by)
    module.check(arguments, combined=False)
    if keys and "missing" in arguments:
        raise UsageError("missing= has no group; give missing answers as rows with an empty cell.")

    def column(name: str, use: str) -> list[Any]:
        if name not in table.columns:
            known = [str(each) for each in table.columns]
            raise UsageError(f"No column {name!r} for {use}{did_you_mean(name, known)}. Columns: {', '.join(known)}.")
        return list(table[name])

    for name in {*module.about.columns, *(COLUMNS & {*arguments})}:
        if isinstance(given := arguments.get(name, name), str):
            cells = column(given, name)
            is_word = module.about.columns.get(name, "string") == "string"
            arguments[name] = [_word(cell) for cell in cells] if is_word else cells
    labels = zip(*([_word(cell) for cell in column(key, "by")] for key in keys), strict=True)
    groups, place = np.unique(np.array([", ".join(label) for label in labels], str), return_inverse=True)
    together = [_word(cell) for cell in column(clusters, "clusters")] if clusters else None
    results, draws, design = module.resample(arguments, confidence, together, place if keys else None, resamples, seed)
    whole, *parts = [dict(outcomes(result)) for result in results]
    gaps = {}
    for name in whole if keys else ():
        each = np.array([number_of(part[name]) for part in parts])
        absent = [str(group) for group, number in zip(groups, each, strict=True) if np.isnan(number)]
        why = f"undefined: {', '.join(absent)}" if absent else "there is one group" if len(each) < 2 else ""
        gap: dict[str, Any] = {"value": None if why else float(np.ptp(each)), "state": "undefined" if why else "value"}
        if design is not None and not why:
            drawn, sampling = np.ptp([part[name] for part in draws[1:]], axis=0), SAMPLING[module.name]
            most = sampling.most * (2 if sampling.kind == "mean" else 1)
            gap["interval"], why = interval(gap["value"], drawn, "size", most, confidence or 0, design)
        ends = {} if not gap["value"] else {"high": groups[each.argmax()], "low": groups[each.argmin()]}
        gaps[name] = _row(gap | {"reason": why}) | ends
    rows = {(str(group), name): _row(part[name]) for group, part in zip(groups, parts, strict=False) for name in part}
    index = pd.MultiIndex.from_tuples(rows, names=[", ".join(keys), "name"]) if rows else None
    by_group = pd.DataFrame(rows.values(), index if index is None or len(whole) > 1 else index.droplevel("name"))
    overall = pd.DataFrame([_row(value) for value in whole.values()], pd.Index(whole, name="name"))
    return Measured(module.about.description.replace("\n", " "), overall, by_group, pd.DataFrame(gaps).T)


def _places(place: str, index: Any, named: bool) -> list[Any]:
    """Group and name of each row, the group alone where the metric has one value."""
    return list(index) if not place else [(place, name) if named else place for name in index]


def _metric(name: str) -> Any:
    names = sorted(path.parent.name for path in (Path(__file__).parent / "metrics").glob("*/formula.py"))
    if name not in names:
        raise UsageError(f"There is no metric {name!r}{did_you_mean(name, names)}. Metrics: {', '.join(names)}.")
    module = import_module(f"fairspace.metrics.{name}.{name}")
    parts = (part for part in vars(module).values() if isinstance(part, type) and part.__module__ == module.__name__)
    with TemporaryDirectory() as cache:  # a metric makes one, and needs it for batches alone
        return next(parts)(cache_dir=cache)


def _word(cell: Any) -> str:
    """A label as text, '' where it is missing; a whole number without point, whatever its column's type."""
    if cell is None or cell != cell:
        return ""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def _row(outcome: Mapping[str, Any]) -> dict[str, Any]:
    low, high = outcome.get("interval") or (np.nan, np.nan)
    counts = outcome.get("counts", {})
    return {
        "value": number_of(outcome),
        "interval_low": low,
        "interval_high": high,
        **{name: outcome.get(name, np.nan) for name in ("if_missing_low", "if_missing_high")},
        **{name: counts.get(name) for name in ("valid", "expected")},
        "state": outcome["state"],
        "reason": outcome["reason"] or outcome.get("interval_reason", ""),
    }


def _cells(row: Mapping[Any, Any]) -> list[str]:
    """Value, interval, valid samples and note of a row, as texts."""
    value = "undefined" if np.isnan(row["value"]) else f"{row['value']:.3f}"
    ends = "" if np.isnan(row["interval_low"]) else f"{row['interval_low']:.3f} to {row['interval_high']:.3f}"
    valid = "" if row["valid"] is None or row["valid"] != row["valid"] else f"{row['valid']} of {row['expected']}"
    pair = f"{row['high']} above {row['low']}" if row.get("high") else ""
    return [value, ends, valid, "; ".join(filter(None, (pair, row["reason"])))]
