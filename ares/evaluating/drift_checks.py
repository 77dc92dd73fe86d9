"""How far a generator's images differ from the calibration set, in routes and in confidence.

Two kinds of checks, each a chi-square test that the new images and the calibration set have the same shares:

- *routes* of a task: fast path by expert, vote, fusion, escalated, abstained; rare routes are taken together until each
  is expected five times. The effect is the total variation distance, the share of images that goes another way.
- *confidence* in an attribute's likeliest label, in the bins between the calibration set's quantiles. The effect is the
  largest gap between both distribution functions at these quantiles.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairspace.ares.deciding_ares import by_fusion
from fairspace.builders.errors import BuildError

if TYPE_CHECKING:
    import pyarrow as pa

ALPHA, EFFECT = 0.01, 0.1
LEAST = 30
"""With fewer faces than this, nothing is tested."""
EXPECTED = 5.0
"""Least expected count of a cell, for the chi-square test to hold."""
_DIGITS = 6
_POOL = "vote or asked"


@dataclass(frozen=True)
class Check:
    """One test of one generator.

    Args:
        generator: name of the annotations' folder.
        what: `routes of <task>` or `confidence in <attribute>`.
        images: new faces.
        calibration: images of the calibration set.
        p: of the chi-square test; None where it was not made.
        adjusted: for all checks of this run.
        effect: in [0, 1], 0 is no difference; None likewise.
        warns: whether `adjusted` is below `ALPHA` and `effect` at least `EFFECT`.
        said: the shares that differ most, or why there is no test.
    """

    generator: str
    what: str
    images: int
    calibration: int
    p: float | None
    adjusted: float | None
    effect: float | None
    warns: bool
    said: str


def compare(generator: str, calibration: Mapping[str, Any], routes: pa.Table, *, asked: bool = False) -> list[Check]:
    """The checks of one generator, not yet adjusted.

    Args:
        generator: its name.
        calibration: `tasks` of `calibration.json`.
        routes: the rows that `annotate` wrote beside the annotations.
        asked: whether a vision-language model was asked; none was for the calibration, so what it may decide is taken
            together with the vote.
    """
    return list(_checks(generator, calibration, routes, asked))


def _checks(generator: str, calibration: Mapping[str, Any], routes: pa.Table, asked: bool) -> Iterator[Check]:
    for task, known in calibration.items():
        column = f"route/{task}"
        if column not in routes.column_names:
            raise bad_input(generator, f"no column {column}", "the routes of every task", "annotate the images again")
        new = Counter(route for route in routes[column].to_pylist() if route is not None)
        before = Counter(known["routes"])
        if asked and not any(map(by_fusion, (*new, *before))):
            new, before = _pooled(new), _pooled(before)
        names = sorted({*new, *before})
        table = np.array([[before[name] for name in names], [new[name] for name in names]])
        yield _tested(generator, f"routes of {task}", table, names, ordered=False)
        for attribute, figures in known["attributes"].items():
            what = f"confidence in {attribute}"
            edges, below = _bins(figures["confidence"])
            columns = [f"probability/{attribute}/{label}" for label in figures["labels"]]
            chances = np.array([routes[name].to_pylist() for name in columns], np.float64)
            sure = np.round(chances[:, ~np.isnan(chances).any(axis=0)].max(axis=0, initial=0.0), _DIGITS)
            counts = np.bincount(np.searchsorted(edges[:-1], sure, side="left"), minlength=len(edges))
            names = [f"up to {edge:.3f}" for edge in edges]
            expected = np.diff(np.rint(below * known["images"]), prepend=0.0)
            table = np.array([expected, counts])
            yield _tested(generator, what, table, names, ordered=True)


def _tested(generator: str, what: str, table: NDArray[Any], names: Sequence[str], *, ordered: bool) -> Check:
    """The test of a table of two rows, calibration and new."""
    from scipy.stats import chi2_contingency

    before, images = (int(total) for total in table.sum(axis=1))
    nothing = Check(generator, what, images, before, None, None, None, False, "")
    if min(before, images) < LEAST:
        return replace(nothing, said=f"fewer than {LEAST} images to compare")
    shares = table / table.sum(axis=1, keepdims=True)
    gaps = shares[1] - shares[0]
    effect = float(np.abs(np.cumsum(gaps)).max() if ordered else np.abs(gaps).sum() / 2)
    most = int(np.abs(gaps).argmax())
    said = f"{names[most]} {shares[1][most]:.1%} instead of {shares[0][most]:.1%}"
    merged = _merged(table, ordered)
    p = float(chi2_contingency(merged, correction=False).pvalue) if merged.shape[1] > 1 else 1.0
    return replace(nothing, p=p, effect=effect, said=said)


def _merged(table: NDArray[Any], ordered: bool) -> NDArray[Any]:
    """Columns taken together, until each cell is expected often enough: neighbours if ordered, else the rarest."""
    share = table.sum(axis=1).min() / table.sum()
    columns = [column for column in table.T if column.sum()]
    while len(columns) > 1:
        if not ordered:
            columns.sort(key=lambda column: float(column.sum()))
        rare = min(range(len(columns)), key=lambda place: float(columns[place].sum()))
        if columns[rare].sum() * share >= EXPECTED:
            break
        other = rare + 1 if rare + 1 < len(columns) else rare - 1
        columns[min(rare, other)] = columns[rare] + columns[other]
        del columns[max(rare, other)]
    return np.array(columns).T


def _bins(confidence: Mapping[str, Sequence[float]]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Upper edges of bins, and the calibration set's share up to each; equal quantiles are one edge."""
    upper = dict(zip((round(value, _DIGITS) for value in confidence["values"]), confidence["quantiles"], strict=True))
    if len(upper) > 1 and (least := round(confidence["values"][0], _DIGITS)) in upper and upper[least] == 0:
        del upper[least]
    return np.array(list(upper)), np.array(list(upper.values()))


def _pooled(routes: Counter[str]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for route, count in routes.items():
        counts[route if route.startswith("fast:") else _POOL] += count
    return counts


def bad_input(where: str, what: str, expected: str, mend: str) -> BuildError:
    """What cannot be compared."""
    return BuildError("DRIFT_INPUT", where, what, expected, mend)
