"""Whether new images look to ARES like those it was calibrated on: route shares and confidence, generator by generator.

Two kinds of checks, each a chi-square test that the new images and the calibration set have the same shares:

- *routes* of a task: fast path by expert, vote, escalated, abstained; rare routes are taken together until each is
  expected five times. The effect is the total variation distance, the share of images that goes another way.
- *confidence* in an attribute's likeliest label, in the bins between the calibration set's quantiles. The effect is the
  largest gap between both distribution functions at these quantiles.

The p values of all checks are adjusted together (Benjamini-Hochberg). A generator is warned about where the adjusted p
is below `ALPHA` and the effect at least `EFFECT`: with many images a difference that does not matter is significant as
well. Where it warns, the error in `measurement.json` need not hold for these images.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ares.measurement import model_sha256
from builders.errors import BuildError

if TYPE_CHECKING:
    import pyarrow as pa

CALIBRATION, ANNOTATION = "calibration.json", "annotation.json"
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


@dataclass(frozen=True)
class Drift:
    """All checks, in the order of generators, tasks and attributes."""

    checks: tuple[Check, ...]

    @property
    def warnings(self) -> dict[str, list[str]]:
        """Generator -> what differs; {} where nothing does."""
        found: dict[str, list[str]] = {}
        for check in self.checks:
            if check.warns:
                found.setdefault(check.generator, []).append(f"{check.what}: {check.said}")
        return found

    def to_json(self) -> dict[str, Any]:
        """As JSON data."""
        rule = {"alpha": ALPHA, "effect": EFFECT, "least": LEAST, "adjustment": "Benjamini-Hochberg"}
        return {"format": 1, "rule": rule, "checks": [asdict(check) for check in self.checks]}

    def text(self) -> str:
        """Lines for a terminal."""
        lines = []
        for check in self.checks:
            figures = "not tested"
            if check.effect is not None and check.adjusted is not None:
                figures = f"effect {check.effect:.3f}, adjusted p {check.adjusted:.2g}"
            mark = "WARNING" if check.warns else "ok" if check.p is not None else "-"
            lines.append(f"{mark:8}{check.generator}: {check.what}, {check.images} faces: {figures}. {check.said}")
        return "\n".join(lines)


def drift(model: Path, annotations: Sequence[Path]) -> Drift:
    """Compare new annotations with a model's calibration set.

    Args:
        model: its folder, with `calibration.json`.
        annotations: folders that `ares.annotate.annotate` wrote, one per generator; or folders of such folders.

    Errors: BuildError DRIFT_INPUT if there is no calibration or no annotation, or another model made it.
    """
    known = _read(model / CALIBRATION)["tasks"]
    folders = [found for folder in annotations for found in _folders(folder)]
    names = [folder.resolve().name for folder in folders]
    if repeated := {name for name in names if names.count(name) > 1}:
        raise _input(sorted(repeated)[0], "two folders of this name", "one folder per generator", "rename one of them")
    checks = []
    for name, folder in zip(names, folders, strict=True):
        data = _read(folder / ANNOTATION)
        made, own = data.get("model", {}).get("sha256"), model_sha256(model)
        if made != own:
            what = f"annotations of the model {str(made)[:16]}"
            raise _input(str(folder), what, f"of {own[:16]}, whose calibration this is", "name that model")
        checks += compare(name, known, _routes(folder, data), asked=bool(data["settings"]["arbiter"]))
    return Drift(tuple(_adjusted(checks)))


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
            raise _input(generator, f"no column {column}", "the routes of every task", "annotate the images again")
        new = Counter(route for route in routes[column].to_pylist() if route is not None)
        before = Counter(known["routes"])
        if asked and not any(route.endswith(":fusion") for route in (*new, *before)):
            new, before = _pooled(new), _pooled(before)
        names = sorted({*new, *before})
        table = np.array([[before[name] for name in names], [new[name] for name in names]])
        yield _tested(generator, f"routes of {task}", table, names, ordered=False)
        for attribute, found in known["attributes"].items():
            what = f"confidence in {attribute}"
            edges, below = _bins(found["confidence"])
            columns = [f"probability/{attribute}/{label}" for label in found["labels"]]
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


def _adjusted(checks: Sequence[Check]) -> Iterator[Check]:
    from scipy.stats import false_discovery_control

    made = [check.p for check in checks if check.p is not None]
    adjusted = iter(false_discovery_control(made) if made else [])
    for check in checks:
        if check.p is None or check.effect is None:
            yield check
            continue
        p = float(next(adjusted))
        yield replace(check, adjusted=p, warns=p < ALPHA and check.effect >= EFFECT)


def _pooled(routes: Counter[str]) -> Counter[str]:
    found: Counter[str] = Counter()
    for route, count in routes.items():
        found[route if route.startswith("fast:") else _POOL] += count
    return found


def _folders(folder: Path) -> list[Path]:
    if (folder / ANNOTATION).is_file():
        return [folder]
    found = sorted(file.parent for file in folder.glob(f"*/{ANNOTATION}"))
    if not found:
        mend = "name the folder that `fairspace ares annotate` wrote"
        raise _input(str(folder), f"no {ANNOTATION}", "finished annotations", mend)
    return found


def _routes(folder: Path, data: Mapping[str, Any]) -> pa.Table:
    import pyarrow as pa
    import pyarrow.parquet as pq

    return pa.concat_tables([pq.read_table(folder / shard["routes"]["file"]) for shard in data["shards"]])


def _read(file: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        mend = "train the model with `fairspace ares train`, which writes its calibration"
        raise _input(str(file), str(error), "JSON that this software wrote", mend) from error
    return found


def _input(where: str, what: str, expected: str, mend: str) -> BuildError:
    return BuildError("DRIFT_INPUT", where, what, expected, mend)
