"""Validation of IRIS itself over models: reliability, robustness, distinctness, impartiality (section 4.1).

- `reliability`: Cronbach's alpha of a sector's normalised values (Figure 4(a));
- `leave_one_out`: Spearman correlation of the ranks without one metric with the ranks of all (A.2.2, Tables 7 and 8);
- `reweighted`: the same with the weight of a dimension, a sector or a metric up or down by 10 % (A.2.2, Figure 4(b));
- `correlations`: of the sectors' distances from the ideal (Figure 4(c));
- `welch`: t tests of the total between architectures (Figure 4(d)).

The models are rows of a board with every value of a standard, or the paper's seven. Of those it prints single values of
IFS_Gen, RFS_Gen and the success penalty only, and sums of the other sectors: results that need more are undefined.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fairspace.builders.errors import CodedError
from fairspace.builders.registry import table
from fairspace.metrics.iris_score.formula import sector_score, total_magnitude
from fairspace.metrics.iris_score.standards import FOUNDATIONAL_COHORT, GRANULAR, INAUGURAL, SKIN_DRIFT, IrisStandard
from fairspace.submissions.benchmarks.iris.about import printed_values
from fairspace.submissions.benchmarks.iris.score import scoring
from fairspace.submissions.benchmarks.published import published
from fairspace.submissions.benchmarks.scoring_table import AS_RELEASED
from fairspace.submissions.values import number_of

Floats = NDArray[np.float64]
Row = dict[str, Any]
"""One line of a check: its numbers, None where undefined for a `reason`, and `printed`, the paper's."""
CHANGE = 0.1
"""Change of a weight in A.2.2."""
FEWEST = 3
PRINTED = {"BIS_Gen": 0.20, ("RFS_Gen", "BIS_Gen"): -0.80, ("RFS_Gen", "IFS_Und"): 0.57, "welch": 0.76}
"""Alpha of a sector (the others' lie above 0.7) and p of section 4.1, and two correlations of section 4.2."""
HYBRID, PURE = "hybrid", "pure"
PRINTED_HYBRIDS = frozenset(("Bagel", "BLIP3-o", "Show-o", "UniWorld-V1", "VILA-U"))
"""Table 4's hybrid models among the seven."""
ARCHITECTURES = {"autoregressive + diffusion": HYBRID, "autoregressive": PURE}
NOT_SINGLY, ALIKE = "its values are not printed one by one", "the models do not differ in it"
TITLES = {
    "reliability": "Cronbach's alpha per sector (1 is best; the paper: above 0.7 but for BIS_Gen, 0.20)",
    "leave_one_out": "Ranks without one metric (Spearman's rho), where they change or the paper prints another number",
    "reweighted": "Ranks with one weight moved by 10 %, where they change",
    "correlations": "Correlation of sectors' distances from the ideal (Pearson)",
    "welch": "Welch's t test of the total, hybrid against purely autoregressive models",
}


class ValidationError(CodedError):
    """IRIS cannot be validated over these models."""

    codes: ClassVar = {"RESULTS_FEW": "fewer models than the checks need", "RESULTS_INCOMPLETE": "a value is missing"}


@dataclass(frozen=True)
class ValidationCohort:
    """Models with the parts of their totals.

    Args:
        models: (n,) names.
        architectures: (n,) `HYBRID`, `PURE`, or '' for another or an unknown one.
        sectors: metric in the total's norm that every model has -> its sector.
        squares: (n, m) squared normalised values.
        sector_squares: sector -> (n,) sums over all its metrics, also of those not printed one by one.
        total: (n,) overall scores; `base`: (n,) squared distances from the ideal.
        printed: Whether these are the paper's models.
    """

    models: Sequence[str]
    architectures: Sequence[str]
    sectors: Mapping[str, str]
    squares: Floats
    sector_squares: Mapping[str, Floats]
    base: Floats
    total: Floats
    printed: bool = False


def published_cohort() -> ValidationCohort:
    """The seven models of the paper, from Tables 3 and 23 to 28.

    Squared deviations are those of the fitted total (erratum E-IRIS-06): printed magnitudes, RFS_Und from its two
    norms, AC divided by 9.
    """
    rows = [row for row in published("iris", "inaugural") if row.model in FOUNDATIONAL_COHORT]
    figures = [{name: value.value for name, value in row.values.items() if value.value is not None} for row in rows]
    kinds = [HYBRID if row.model in PRINTED_HYBRIDS else PURE for row in rows]
    values = [printed_values(of_model, scoring(INAUGURAL, AS_RELEASED)) for of_model in figures]
    whole = _cohort([row.model for row in rows], kinds, values, INAUGURAL)
    singly = {f"{sector}.{name}": (name, sector) for name, sector in whole.sectors.items()}
    singly["BIS_Gen.delta_GSR"] = ("Penalty_delta_GSR", "BIS_Gen")
    printed = [figure for figure in singly if figure in figures[0]]
    squares = np.array([[of_model[figure] for figure in printed] for of_model in figures]) ** 2
    total = np.array([row.scores["iris_score"].value for row in rows], float)
    return replace(whole, sectors=dict(map(singly.__getitem__, printed)), squares=squares, total=total, printed=True)


def cohort_of(rows: Sequence[Any], standard: IrisStandard) -> ValidationCohort:
    """Rows of a board as a cohort. ValidationError: RESULTS_FEW, RESULTS_INCOMPLETE."""
    if len(rows) < FEWEST:
        what, mend = f"{len(rows)} complete models", "score more models and name the result of each"
        raise ValidationError("RESULTS_FEW", f"iris/{standard.name}", what, f"{FEWEST} or more", mend)
    for row in rows:
        if absent := lacking(row, standard):
            what, mend = f"{len(absent)} values have no number, first {absent[0]}", "score a run of all tasks"
            raise ValidationError("RESULTS_INCOMPLETE", row.model, what, f"all values of iris/{standard.name}", mend)
    values = [{name: number_of(row.values, name) for name in row.values} for row in rows]
    kinds = [ARCHITECTURES.get(row.facts.architecture, "") for row in rows]
    return _cohort([row.model for row in rows], kinds, values, standard)


def lacking(row: Any, standard: IrisStandard) -> list[str]:
    """Names of a standard's values that have no number in a row of a board."""
    return [name for name in _sectors(standard) if number_of(row.values, name) is None]


def _sectors(standard: IrisStandard) -> dict[str, str]:
    """Value in the total's norm -> its sector."""
    drifts = SKIN_DRIFT if standard.fidelity_by_goodness else ()
    return {metric.name: metric.sector for metric in standard.metrics} | dict.fromkeys(drifts, "RFS_Und")


def _cohort(
    names: Sequence[str], kinds: Sequence[str], values: Sequence[Any], standard: IrisStandard
) -> ValidationCohort:
    sectors = _sectors(standard)
    columns = {name: np.array([of_model[name] for of_model in values], float) for name in sectors}
    squares = np.stack([total_magnitude(columns, standard, {name: 1.0}) for name in sectors], axis=1) ** 2
    of_sector = np.array([*sectors.values()])
    sums = {sector: squares[:, of_sector == sector].sum(axis=1) for sector in standard.sectors}
    base = squares.sum(axis=1)
    return ValidationCohort(names, kinds, sectors, squares, sums, base, sector_score(np.sqrt(base), "total", standard))


def validate(cohort: ValidationCohort | None = None) -> dict[str, Any]:
    """All five checks over a cohort, by default the paper's models, as JSON data: check -> rows."""
    cohort = cohort or published_cohort()
    models = len(cohort.models)
    notes = [
        f"{models} models: alphas, correlations and tests over so few say little; a correlation of "
        f"ranks differs from 1 by {6 * 2 / (models * (models**2 - 1)):.4f} when two neighbours change places.",
        f"The paper prints {len(cohort.sectors)} metrics of its models one by one and the others as sums over "
        "their sector; what needs single values of those is undefined here.",
    ]
    return {
        "models": [*cohort.models],
        "reliability": [_reliability(cohort, sector) for sector in cohort.sector_squares],
        "leave_one_out": leave_one_out(cohort),
        "reweighted": reweighted(cohort),
        "correlations": correlations(cohort),
        "welch": [welch(cohort)],
        "notes": notes if cohort.printed else notes[:1],
    }


def tables(report: Mapping[str, Any]) -> Iterator[tuple[str, list[str], list[list[str]], str]]:
    """The checks for readers: title, headers, rows that are not as expected, and a sentence on the others."""
    for check, title in TITLES.items():
        rows = report[check]
        measured = [row for row in rows if row.get("rho", 1.0) is not None]
        shown = [row for row in measured if row.get("rho", 0.0) < 1 - 1e-9 or row["printed"] not in (None, 1.0)]
        headers = [name for name in rows[0] if any(row[name] not in (None, "") for row in shown)] or [*rows[0]][:1]
        rest = f"{len(measured) - len(shown)} others change no rank; {len(rows) - len(measured)} are not known."
        yield title, headers, [[_cell(row[h]) for h in headers] for row in shown], rest * (len(shown) < len(rows))


def _cell(value: Any) -> str:
    if isinstance(value, list):
        return "/".join(map(_cell, value))
    return "–" if value is None else value if isinstance(value, str) else f"{value:.4g}"


def alpha(items: Floats) -> float:
    """Cronbach's alpha of (n models, k items): k / (k - 1) * (1 - sum of item variances / variance of the sums).

    At most 1, and can be negative; nan with fewer than two models or items, or if the sums do not vary.
    """
    n, k = items.shape
    if n < 2 or k < 2:
        return math.nan
    whole = float(items.sum(axis=1).var(ddof=1))
    if not whole > 1e-18:
        return math.nan
    return k / (k - 1) * (1 - float(items.var(axis=0, ddof=1).sum()) / whole)


def _reliability(cohort: ValidationCohort, sector: str) -> Row:
    mine = [place for place, of_metric in enumerate(cohort.sectors.values()) if of_metric == sector]
    row: Row = {"sector": sector, "metrics": len(mine), "alpha": None, "reason": NOT_SINGLY}
    row["printed"] = PRINTED.get(sector) if cohort.printed else None
    if not np.allclose(cohort.squares[:, mine].sum(axis=1), cohort.sector_squares[sector], atol=5e-3):
        return row
    reliability = alpha(np.sqrt(cohort.squares[:, mine]))
    return row | ({"reason": ALIKE} if math.isnan(reliability) else {"alpha": reliability, "reason": ""})


def leave_one_out(cohort: ValidationCohort) -> list[Row]:
    """Ranks without each metric (of the paper's models: each of the 60) against the ranks with all."""
    rows = table("iris_table7_8_loo") if cohort.printed else ()
    printed = {row["metric_removed"]: float(row["spearman_rho"]) for row in rows}
    squares = dict(zip(cohort.sectors, cohort.squares.T, strict=True))
    names = [metric.name for metric in GRANULAR] if cohort.printed else [*squares]
    return [_stability(name, -1.0, cohort.base, squares.get(name), printed.get(name)) for name in names]


def reweighted(cohort: ValidationCohort) -> list[Row]:
    """The weight of each dimension (IFS, RFS, BIS), sector and metric up and down by `CHANGE`, each on its own."""
    of_sector = cohort.sector_squares
    parts = {
        dimension: np.sum([part for sector, part in of_sector.items() if sector.startswith(dimension)], axis=0)
        for dimension in dict.fromkeys(sector.partition("_")[0] for sector in of_sector)
    }
    parts |= {**of_sector, **dict(zip(cohort.sectors, cohort.squares.T, strict=True))}
    return [_stability(name, change, cohort.base, part) for change in (CHANGE, -CHANGE) for name, part in parts.items()]


def _stability(changed: str, change: float, base: Floats, part: Floats | None, printed: float | None = None) -> Row:
    """Spearman's correlation of the squared distances with those in which a part weighs more or less."""
    from scipy import stats

    rho = _correlation("rho", stats.spearmanr, base, None if part is None else base + change * part)
    return {"changed": changed, "change": change, **rho, "printed": printed}


def _correlation(name: str, test: Callable[..., Any], first: Floats, second: Floats | None) -> Row:
    """A correlation by its name with its p, None without values or if one side is the same for all models."""
    if second is None or min(np.ptp(first), np.ptp(second)) < 1e-12:
        return {name: None, "p": None, "reason": NOT_SINGLY if second is None else ALIKE}
    tested = test(first, second)
    return {name: float(tested.statistic), "p": float(tested.pvalue), "reason": ""}


def correlations(cohort: ValidationCohort) -> list[Row]:
    """Correlations over the models of the norms of every two sectors, as in the authors' coverage analysis."""
    from scipy import stats

    distances = {sector: np.sqrt(squares) for sector, squares in cohort.sector_squares.items()}
    return [
        {"first": first, "second": second}
        | _correlation("r", stats.pearsonr, distances[first], distances[second])
        | {"printed": PRINTED.get((first, second)) if cohort.printed else None}
        for first, second in combinations(distances, 2)
    ]


def welch(cohort: ValidationCohort) -> Row:
    """Test of the totals of hybrid against purely autoregressive models; undefined with fewer than two of each."""
    from scipy import stats

    totals = [cohort.total[np.array(cohort.architectures) == kind] for kind in (HYBRID, PURE)]
    row: Row = {"first": HYBRID, "second": PURE, "sizes": [len(part) for part in totals], "means": None, "t": None}
    row |= {"df": None, "p": None, "reason": "", "printed": PRINTED["welch"] if cohort.printed else None}
    if min(row["sizes"]) < 2 or max(map(np.ptp, totals)) < 1e-12:
        return row | {"reason": "it needs two models of each architecture that differ"}
    test, row["means"] = stats.ttest_ind(*totals, equal_var=False), [float(part.mean()) for part in totals]
    return row | {"t": float(test.statistic), "df": float(test.df), "p": float(test.pvalue)}
