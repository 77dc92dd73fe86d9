"""The cohorts that IRIS is validated over: models with the squared deviations that their total is the norm of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairspace.builders.printed import table
from fairspace.metrics.iris_score.formula import normalised
from fairspace.metrics.iris_score.standards import FOUNDATIONAL_COHORT, SECTORS, SKIN_DRIFT, IrisStandard
from fairspace.submissions.results.row import Row

Floats = NDArray[np.float64]
HYBRID, PURE = "hybrid", "purely autoregressive"
PRINTED_HYBRIDS = frozenset(("Bagel", "BLIP3-o", "Show-o", "UniWorld-V1", "VILA-U"))
"""Table 4's hybrid models among the seven."""


@dataclass(frozen=True)
class Cohort:
    """Models with what their total is made of.

    Args:
        name: whom it holds.
        models: (n,) names.
        metrics: (m,) names of the metrics that every model has, of those that the total is the norm of.
        sectors: (m,) the sector of each.
        squares: (n, m) squared normalised values.
        sector_squares: (n, s) their sums over all metrics of a sector, also of those that are not printed one by one.
        total: (n,) the overall score.
        architecture: (n,) how each generates, '' if not told.
        complete: whether `metrics` are all that the total is made of.
        all_sectors: (s,) the sectors of the standard, in its order.
    """

    name: str
    models: tuple[str, ...]
    metrics: tuple[str, ...]
    sectors: tuple[str, ...]
    squares: Floats
    sector_squares: Floats
    total: Floats
    architecture: tuple[str, ...]
    complete: bool
    all_sectors: tuple[str, ...] = SECTORS


def scored_cohort(rows: Sequence[Row], standard: IrisStandard, name: str = "the ranked models") -> Cohort:
    """Scored and ranked rows with every value that the total of a standard is made of, baselines left out.

    One that is not ranked, such as a model that always answers the same, is no model to measure reliability on: its
    disparities are 0 because it says nothing.
    """
    drifts = _drifts(standard)
    metrics = [(m.name, m.sector) for m in standard.metrics] + [(drift, "RFS_Und") for drift in drifts]
    by_name = {m.name: m for m in standard.metrics}
    models, squares, totals, kinds = [], [], [], []
    for row in rows:
        total = row.scores.get("iris_score")
        if row.provenance != "scored here" or row.rank is None or total is None or total.value is None:
            continue
        numbers = [value.value if (value := row.values.get(key)) is not None else None for key, _ in metrics]
        if any(number is None for number in numbers):
            continue
        known = [
            normalised(by_name[key], number or 0.0, standard.total_divisor) if key in by_name else number or 0.0
            for (key, _), number in zip(metrics, numbers, strict=True)
        ]
        models.append(row.model)
        squares.append(np.square(known))
        totals.append(total.value)
        kinds.append(row.facts.architecture)
    whole = np.array(squares, dtype=float).reshape(len(models), len(metrics))
    sectors = tuple(sector for _, sector in metrics)
    sums = [whole[:, [place_sector == sector for place_sector in sectors]].sum(axis=1) for sector in standard.sectors]
    return Cohort(
        name,
        tuple(models),
        tuple(key for key, _ in metrics),
        sectors,
        whole,
        np.stack(sums, axis=1),
        np.array(totals, dtype=float),
        tuple(kinds),
        True,
        standard.sectors,
    )


def _drifts(standard: IrisStandard) -> tuple[str, ...]:
    return SKIN_DRIFT if standard.fidelity_by_goodness else ()


def published_cohort() -> Cohort:
    """The seven models of the paper, from Tables 3 and 23 to 28.

    The squared deviations are those that the fitted total is made of (erratum E-IRIS-06): printed magnitudes, RFS_Und
    from its two norms, AC divided by 9.
    """
    by_table = {
        name: {row["model"]: row for row in table(name)}
        for name in (
            *("iris_table3_overall", "iris_table23_ifs_gen", "iris_table24_rfs_gen", "iris_table25_bis_gen"),
            *("iris_table26_ifs_und", "iris_table27_rfs_und", "iris_table28_bis_und"),
        )
    }

    def column(file: str, name: str) -> Floats:
        return np.array([float(by_table[file][model][name]) for model in FOUNDATIONAL_COHORT])

    rd = [name for name in by_table["iris_table23_ifs_gen"]["Bagel"] if name.startswith("RD_")]
    jsd = [name for name in by_table["iris_table24_rfs_gen"]["Bagel"] if name.startswith("JSD_")]
    known = {name: ("IFS_Gen", column("iris_table23_ifs_gen", name)) for name in rd}
    known |= {name: ("RFS_Gen", column("iris_table24_rfs_gen", name)) for name in jsd}
    known["Penalty_delta_GSR"] = ("BIS_Gen", column("iris_table25_bis_gen", "delta_GSR"))
    levels = [column("iris_table28_bis_und", f"AC_{level}") / 9 for level in ("single", "dual", "triple")]
    levels += [column("iris_table28_bis_und", f"DHR_{level}") for level in ("single", "dual", "triple")]
    norms = [column("iris_table27_rfs_und", name) for name in ("norm_JSD", "norm_ASDS")]
    sums: Mapping[str, Floats] = {
        "IFS_Gen": column("iris_table23_ifs_gen", "magnitude") ** 2,
        "RFS_Gen": column("iris_table24_rfs_gen", "magnitude") ** 2,
        "BIS_Gen": column("iris_table25_bis_gen", "magnitude") ** 2,
        "IFS_Und": column("iris_table26_ifs_und", "magnitude") ** 2,
        "RFS_Und": np.square(norms).sum(axis=0),
        "BIS_Und": np.square(levels).sum(axis=0),
    }
    return Cohort(
        "the seven models of the paper",
        FOUNDATIONAL_COHORT,
        tuple(known),
        tuple(sector for sector, _ in known.values()),
        np.stack([numbers**2 for _, numbers in known.values()], axis=1),
        np.stack([sums[sector] for sector in SECTORS], axis=1),
        column("iris_table3_overall", "iris_score"),
        tuple(HYBRID if model in PRINTED_HYBRIDS else PURE for model in FOUNDATIONAL_COHORT),
        False,
    )
