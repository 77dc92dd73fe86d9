"""A new IRIS standard, calibrated on rows of the board: what `fairspace standard propose` makes of them.

S. The median of the cohort's scores is 60 in every sector and in total (A.3.2, A.2.4 "Centering and Readability"):
S = 60 / median(exp(-K * magnitude)), to six digits.

K. A.2.4 "Differentiation" says that K is "calibrated to ensure adequate differentiation between model performances" and
gives no number that a spread must reach, so no rule can be had from it. K stays that of the standard that the new one
is like (Table 9's, in the sector's own unit). What K does to the spread is shown instead, as the ratio of the upper to
the lower quartile of the scores, for a reviewer who wants another K to see and to change.

Magnitudes are those of the values that were measured, not of their worst case, as the paper's are.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from fairspace.metrics.iris_score.formula import sector_magnitude, sector_values, total_magnitude
from fairspace.metrics.iris_score.granular import table_sha256
from fairspace.metrics.iris_score.standard import Calibrated, IrisStandard
from fairspace.submissions.benchmarks.iris.published import printed_magnitudes
from fairspace.submissions.errors import UsageError
from fairspace.submissions.results.row import Row
from fairspace.submissions.standards.documents import reference_sha256

CENTRE = 60.0
"""Where the median of the cohort stands (A.3.2)."""
SMALLEST_COHORT = 7
"""A median of fewer models than the paper's cohort is no standard; every sector and the total need so many."""
TOTAL = "total"


@dataclass(frozen=True)
class Fit:
    """One sector, or the total, before and after.

    Args:
        part: the sector, or `total`.
        rows: how many models entered.
        before: median of their scores under the standard that the new one is like.
        after: under the new one.
        spread: the upper over the lower quartile of their scores; K alone decides it.
    """

    part: str
    rows: int
    before: float
    after: float
    spread: float


@dataclass(frozen=True)
class Proposal:
    """A standard that nobody reviewed yet, the one it is like, and what it does to its cohort."""

    standard: IrisStandard
    like: str
    fits: tuple[Fit, ...]


def chosen(rows: Sequence[Row], like: IrisStandard, models: Sequence[str], printed: bool) -> list[Row]:
    """The rows that a calibration takes: those named, or else every ranked row that was scored here; no baseline.

    Args:
        rows: the board under `like`.
        like: the standard whose printed cohort may enter.
        models: entries or names of rows that were scored here.
        printed: whether the printed rows of the cohort enter, too.

    Raises:
        UsageError: a name that no row, or more than one row, has; a baseline; a row that `like` does not rank, such as
            one that is incompetent or has too few valid samples.
    """
    scored = [row for row in rows if row.provenance == "scored here"]
    chosen = [row for row in scored if row.rank is not None]
    if models:
        chosen = list({row.entry: row for row in (_named(rows, name, like) for name in models)}.values())
    return chosen + [r for r in rows if printed and r.provenance == "published" and r.model in like.cohort]


def _named(rows: Sequence[Row], name: str, like: IrisStandard) -> Row:
    matches = [row for row in rows if row.entry == name] or [row for row in rows if row.model == name and row.result]
    if len(matches) != 1:
        what = (
            f"{len(matches)} rows are called {name!r}: name one by its entry"
            if matches
            else f"no row is called {name!r}"
        )
        raise UsageError(f"--model: {what}. `fairspace leaderboard show --benchmark iris --json` shows entries.")
    if matches[0].provenance != "scored here":
        raise UsageError(f"--model: {name!r} is a {matches[0].provenance} row; a cohort is made of models scored here.")
    if matches[0].rank is None:
        why = "; ".join(matches[0].unranked)
        raise UsageError(f"--model: {name!r} has no rank under {like.name} ({why}); only ranked rows may calibrate S.")
    return matches[0]


def calibrated(row: Row, like: IrisStandard) -> Calibrated:
    """One row's distances from the ideal under a standard. UsageError if a value that it needs is not there."""
    if row.result is None:
        return Calibrated(row.entry, row.model, row.organisation, "", printed_magnitudes(row.values, like))
    known = {name: value.value for name, value in row.values.items() if value.value is not None}
    for sector in like.sectors:
        lacking = [name for name in sector_values(sector, like) if name not in known]
        if lacking:
            value = row.values.get(lacking[0])
            why = "the result does not hold it" if value is None else value.reason
            raise UsageError(
                f"{row.model} ({row.entry}) cannot enter: {lacking[0]} has no value ({why}); {like.name} needs it "
                f"for {sector}. Name other rows with --model."
            )
    distances = {sector: sector_magnitude(known, sector, like) for sector in like.sectors}
    distances[TOTAL] = total_magnitude(known, like)
    return Calibrated(row.entry, row.model, row.organisation, values_sha256(known), distances)


def values_sha256(values: Mapping[str, float]) -> str:
    """Of raw values: sha256 of their names and numbers as JSON, in the order of the names."""
    return hashlib.sha256(json.dumps(values, sort_keys=True, allow_nan=False).encode()).hexdigest()


def propose(rows: Sequence[Row], like: IrisStandard, name: str, date: str, why: str) -> Proposal:
    """A standard like another one, with S such that the median of some rows is at 60.

    Args:
        rows: what `chosen` found.
        like: gives metrics, divisors, K, tau, floors, coverage and references.
        name: of the new standard, an identifier in lower case.
        date: of the proposal, YYYY-MM-DD.
        why: in a sentence, why it should stand beside the others.

    Raises:
        UsageError: too few rows for a sector or the total, a value that is not there, a name that is none.
    """
    if not (name.isidentifier() and name.isascii() and name == name.lower()):
        raise UsageError(f"--name: {name!r} is no name for a file; use lower-case letters, digits and _.")
    cohort = tuple(calibrated(row, like) for row in rows)
    scale, fits = {}, []
    for part in (*like.sectors, TOTAL):
        distances = np.array([model.magnitudes[part] for model in cohort if part in model.magnitudes])
        if len(distances) < SMALLEST_COHORT:
            raise UsageError(
                f"{part}: {len(distances)} of {len(cohort)} rows have a distance for it, {SMALLEST_COHORT} are needed. "
                f"Printed rows have none where the paper does not print what {like.name} needs; score more models."
            )
        unscaled = np.exp(-like.decay[part] * distances)
        scale[part] = float(f"{CENTRE / float(np.median(unscaled)):.6g}")
        quartiles = np.quantile(unscaled, (0.25, 0.75))
        middle = float(np.median(unscaled))
        spread = float(quartiles[1] / quartiles[0])
        fits.append(Fit(part, len(distances), like.scale[part] * middle, scale[part] * middle, spread))
    standard = replace(
        like,
        name=name,
        draft="a proposal that nobody reviewed yet",
        scale=scale,
        note=(
            f"S such that the median of the cohort is {CENTRE:.0f} in every sector and in total; K is that of "
            f"{like.name}, because the paper states no spread that K must reach (A.2.4)."
        ),
        metrics_sha256=table_sha256(like.metrics),
        date=date,
        why=why,
        cohort=tuple(model.model for model in cohort),
        cohort_source="rows of a board; printed ones from builders/reference/published/iris_table*.csv",
        references={file: reference_sha256(file) for file in like.references},
        ares=_labels(rows),
        calibration=cohort,
    )
    return Proposal(standard, like.name, tuple(fits))


def _labels(rows: Sequence[Row]) -> str:
    """What labelled the cohort's images, as their results' signatures say."""
    labellers = {row.result.signature.get("labels", "nothing") for row in rows if row.result is not None}
    return (
        "the cohort's images were labelled by " + ", ".join(sorted(labellers)) if labellers else "printed figures alone"
    )


def median_scores(standard: IrisStandard) -> dict[str, float]:
    """The cohort's median score in every sector and in total, from the magnitudes that the standard's file holds."""
    medians = {}
    for part in (*standard.sectors, TOTAL):
        distances = [model.magnitudes[part] for model in standard.calibration if part in model.magnitudes]
        scores = [standard.scale[part] * math.exp(-standard.decay[part] * distance) for distance in distances]
        medians[part] = float(np.median(scores)) if scores else math.nan
    return medians
