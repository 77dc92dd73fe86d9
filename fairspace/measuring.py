"""`fairspace.measure`: any metric on one's own outputs, by group, with intervals; `fairspace.swaps`: prompts for it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from itertools import compress, product, repeat
from pathlib import Path
from string import Formatter
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from fairspace.metrics.metric import COLUMNS, cells, words
from fairspace.metrics.sampling import counts_of, number_of, outcomes
from fairspace.submissions.errors import UsageError, did_you_mean, web
from fairspace.submissions.reading.front import listed, parts_of
from fairspace.submissions.show.table import Table, wrapped

if TYPE_CHECKING:
    import pandas as pd


_COMPARED = ("predictions", "references")
"""Columns whose labels are compared with each other: 1 in one is '1' in the other."""
_NAMES = {"answers", "classes", "groups", "occupations"}
"""Settings that list labels of a column."""


@dataclass(frozen=True, repr=False)
class Measured:
    """A metric of a data frame; shows itself as text and, in a notebook, as a table.

    `overall` has a row for each value of the metric, `by_group` for each group and value, `gaps` for each value the
    highest group less the lowest (`high`, `low`). Columns: `value` (NaN if undefined), `interval_low`, `interval_high`
    (NaN without interval), `if_missing_low`, `if_missing_high` (possible effect of missing rows), `valid`, `expected`
    (numbers of samples), `state` (`value`, `undefined`), `reason` of no value or no interval. `without_group`: rows
    (from 0) without a label by each column; they are in no group, and without a label of `groups` in no value.
    """

    about: str
    overall: pd.DataFrame
    by_group: pd.DataFrame
    gaps: pd.DataFrame
    without_group: Mapping[str, Sequence[int]] = field(default_factory=dict)

    def difference(self, name: str = "") -> Any:
        """The widest gap of a value between two groups; undefined, with the reason, if a group is undefined."""
        if (name and name not in self.gaps.index) or not len(self.gaps):
            raise UsageError(f"There are no groups of {name!r}{did_you_mean(name, self.gaps.index)}; groups need by=.")
        return self.gaps.loc[name or self.gaps.index[0]]

    def _table(self) -> Table:
        several = len(self.overall) > 1
        rows = [
            [*([at] if isinstance(at, str) else at), *_cells(row)]
            for place, frame in (("all", self.overall), ("", self.by_group), ("widest gap", self.gaps))
            for at, row in zip(_places(place, frame.index, several), frame.to_dict("records"), strict=True)
        ]
        return Table(["group", *(["name"] if several else []), "value", "interval", "valid", "note"], rows)

    def __repr__(self) -> str:
        return f"{wrapped(self.about + self._left_out())}\n\n{self._table().to_text()}"

    def _repr_html_(self) -> str:
        return f"<p>{web(self.about + self._left_out())}</p>{self._table().html}"

    def _left_out(self) -> str:
        lines = [(key, [*map(str, rows[:8]), *["..."] * (len(rows) > 8)]) for key, rows in self.without_group.items()]
        sentences = (
            f" In no group: {len(self.without_group[key])} rows without {key!r}: {', '.join(at)}." for key, at in lines
        )
        return "".join(sentences)


def swaps(
    templates: Sequence[str] | Mapping[str, str], **attributes: Sequence[str] | Mapping[str, Mapping[str, str]]
) -> pd.DataFrame:
    """Prompts that differ by group alone: each template, filled with every combination of the attributes' levels.

    Args:
        templates: texts with fields such as {gender}, or name -> text; numbered from 0 without names.
        attributes: attribute -> its levels, each of which fills the field {ATTRIBUTE}, or level -> field -> words.

    Returns:
        One row for each prompt: `template` (the `clusters` of `measure`), a column for each attribute, and `prompt`.

    Errors: UsageError for a field that nothing fills, or an attribute that a template does not show.
    """
    import pandas as pd

    texts = templates if isinstance(templates, Mapping) else {str(place): text for place, text in enumerate(templates)}
    fills = {
        name: levels if isinstance(levels, Mapping) else {level: {name: level} for level in levels}
        for name, levels in attributes.items()
    }
    rows = []
    for place, (template, text) in product([*product(*fills.values())], texts.items()):
        of = dict(zip(fills, place, strict=True))
        words = {name: fills[name][level] for name, level in of.items()}
        fields = {field for _, field, *_ in Formatter().parse(text) if field is not None}
        filling = {field: word for each in words.values() for field, word in each.items()}
        if wrong := sorted(fields - {*filling}):
            raise UsageError(f"Nothing fills {{{wrong[0]}}} of template {template}{did_you_mean(wrong[0], filling)}.")
        if hidden := [name for name, each in words.items() if not fields & {*each}]:
            raise UsageError(
                f"Template {template} shows no {hidden[0]}: its prompts would be the same for every level."
            )
        rows.append({"template": template, **of, "prompt": text.format_map(filling)})
    return pd.DataFrame(rows)


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
        frame: A table, as `fairspace.score` takes them; one row for each answer, an empty cell if it is missing.
        metric: Name of a folder of metrics/, such as `accuracy_disparity`.
        by: Columns that say the group of a row; rows with an empty one are in no group, and are counted.
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

    parts = parts_of(Path(frame).expanduser() if isinstance(frame, str | Path) else frame, "The frame")
    module, keys = _metric(metric), [by] if isinstance(by, str) else list(by)
    module.check(arguments, combined=False)
    if keys and "missing" in arguments:
        raise UsageError("missing= has no group; give missing answers as rows with an empty cell.")

    def column(name: str, use: str) -> list[Any]:
        if name not in (there := [str(each) for each in parts[0].columns]):
            raise UsageError(f"No column {name!r} for {use}{did_you_mean(name, there)}. Columns: {', '.join(there)}.")
        return [cell for part in parts for cell in listed(part.columns[name])]

    named = arguments["groups"] if isinstance(arguments.get("groups"), str) else "groups"
    for name in {*module.about.columns, *(COLUMNS & {*arguments})}:
        argument, kind = arguments.get(name, name), module.about.columns.get(name, "")
        if isinstance(argument, str) or kind:
            entries = column(argument, name) if isinstance(argument, str) else listed(argument)
            arguments[name] = words(entries, name not in _COMPARED) if kind in ("", "string") else cells(entries)
    for name in _NAMES & {*arguments} - {*module.about.columns}:
        argument = arguments[name]
        arguments[name] = words(argument) if isinstance(argument, list | tuple) and None not in argument else argument
    labels = [words(column(key, "by")) for key in keys]
    together = words(column(clusters, "clusters")) if clusters else None
    bare = {key: [row for row, word in enumerate(label) if not word] for key, label in zip(keys, labels, strict=True)}
    if "groups" in module.about.columns and not all(of := arguments["groups"]):
        bare[named] = [row for row, label in enumerate(of) if not label]
        arguments |= {name: [*compress(arguments[name], of)] for name in module.about.columns}
        labels, together = [[*compress(label, of)] for label in labels], together and [*compress(together, of)]
    keyed = [*zip(*labels, strict=True)]
    groups = sorted(key for key in {*keyed} if all(key))
    place = np.array([*map(dict(zip(groups, range(len(groups)), strict=True)).get, keyed, repeat(-1))], np.int64)
    results, intervals = module.resample(arguments, confidence, together, place if keys else None, resamples, seed)
    whole, *by_key = [
        {name: value for name, value in outcomes(result) if not (keys and name.startswith("by_group."))}
        for result in results
    ]
    names = [group if len(keys) > 1 else group[0] for group in groups]
    gaps = {}
    for name in whole if keys else ():
        each = np.array([number_of(part[name]) for part in by_key])
        absent = [_shown(group) for group, number in zip(groups, each, strict=True) if np.isnan(number)]
        why = f"undefined: {', '.join(absent)}" if absent else f"groups: {len(each)}" if len(each) < 2 else ""
        gap: dict[str, Any] = {"value": None if why else float(np.ptp(each)), "state": "undefined" if why else "value"}
        if not why:
            gap["interval"], why = intervals.get(name, (None, ""))
        ends = {} if not gap["value"] else {"high": names[each.argmax()], "low": names[each.argmin()]}
        gaps[name] = _row(gap | {"reason": why}) | ends
    rows = {(*group, name): _row(part[name]) for group, part in zip(groups, by_key, strict=True) for name in part}
    rates = {name.removeprefix("by_group."): whole.pop(name) for name in [*whole] if name.startswith("by_group.")}
    shown = {name: number_of(value) for name, value in rates.items() if name not in results[0].get("left_out", ())}
    shown = {name: number for name, number in shown.items() if not math.isnan(number)}
    compared = {"class": results[0]["class"]} if "class" in results[0] else {}
    if len(shown) > 1:
        compared |= {"high": max(shown, key=lambda name: shown[name]), "low": min(shown, key=lambda name: shown[name])}
    if rates:
        keys, rows = [named], {(name, ""): _row(value) for name, value in rates.items()}
    index = pd.MultiIndex.from_tuples(rows, names=[*keys, "name"]) if rows else None
    by_group = pd.DataFrame(rows.values(), index if index is None or len(whole) > 1 else index.droplevel("name"))
    overall = pd.DataFrame([_row(value) | compared for value in whole.values()], pd.Index(whole, name="name"))
    about = module.about.description.replace("\n", " ")
    return Measured(about, overall, by_group, pd.DataFrame(gaps).T, {key: rows for key, rows in bare.items() if rows})


def _places(place: str, index: Any, with_names: bool) -> list[Any]:
    """Group and name of each row, the group alone where the metric has one value."""
    if place:
        return [(place, name) if with_names else place for name in index]
    return [(_shown(at[:-1]), at[-1]) if with_names else _shown(at) for at in index]


def _metric(name: str) -> Any:
    folder = Path(import_module("fairspace.metrics").__file__ or "").parent
    names = sorted(path.parent.name for path in folder.glob("*/formula.py"))
    if name not in names:
        raise UsageError(f"There is no metric {name!r}{did_you_mean(name, names)}. Metrics: {', '.join(names)}.")
    module = import_module(f"fairspace.metrics.{name}.{name}")
    parts = (part for part in vars(module).values() if isinstance(part, type) and part.__module__ == module.__name__)
    with TemporaryDirectory() as cache:  # a metric makes one, and needs it for batches alone
        return next(parts)(cache_dir=cache)


def _shown(group: Any) -> str:
    return group if isinstance(group, str) else ", ".join(repr(label) if "," in label else label for label in group)


def _row(outcome: Mapping[str, Any]) -> dict[str, Any]:
    low, high = outcome.get("interval") or (np.nan, np.nan)
    counts, value = counts_of(outcome, {}), number_of(outcome)
    return {
        "value": value,
        "interval_low": low,
        "interval_high": high,
        **{name: outcome.get(name, np.nan) for name in ("if_missing_low", "if_missing_high")},
        **{name: counts.get(name) for name in ("valid", "expected")},
        "state": "undefined" if math.isnan(value) else "value",
        "reason": outcome.get("reason") or outcome.get("interval_reason", ""),
    }


def _cells(row: Mapping[Any, Any]) -> list[str]:
    """Value, interval, valid samples and note of a row, as texts."""
    value = "undefined" if np.isnan(row["value"]) else f"{row['value']:.3f}"
    ends = "" if np.isnan(row["interval_low"]) else f"{row['interval_low']:.3f} to {row['interval_high']:.3f}"
    valid = "" if row["valid"] is None or row["valid"] != row["valid"] else f"{row['valid']} of {row['expected']}"
    pair = f"{_shown(row['high'])} above {_shown(row['low'])}" if row.get("high") else ""
    of = f"{row['class']}: {pair}" if row.get("class") else pair
    return [value, ends, valid, "; ".join(filter(None, (of, row["reason"])))]
