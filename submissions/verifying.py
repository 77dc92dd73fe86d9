"""The papers' printed tables and claims that follow from other printed figures, recomputed with our formulas.

A column's bound: half a unit of the last digit of the cell, and of each figure in it times its largest slope.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from fairspace.ares.evaluating.measure import classification_report
from fairspace.builders.fact_or_fair.statistics import GROUPS
from fairspace.builders.registry import PrintedCell, table
from fairspace.metrics.association_bias.formula import association_bias
from fairspace.metrics.cognitive_error_rate.formula import BASELINES, average_increase, increase
from fairspace.metrics.fact_or_fair.formula import fairness
from fairspace.metrics.fact_or_fair.tradeoff import distance
from fairspace.metrics.iris_score.formula import iris_score, profile_code, sector_magnitude, sector_score
from fairspace.metrics.iris_score.standards import INAUGURAL, SECTORS
from fairspace.metrics.projection_distortion.formula import projection_distortion
from fairspace.metrics.representation_similarity_bias.formula import representation_similarity_bias
from fairspace.metrics.stereotypical_association.formula import corpus_score
from fairspace.metrics.total_bias_score.formula import total_bias_score
from fairspace.metrics.total_bias_score.standards import COHORTS
from fairspace.submissions.benchmarks.fact_or_fair import score as fact_or_fair
from fairspace.submissions.benchmarks.iris.about import printed_values
from fairspace.submissions.benchmarks.iris.score import scoring
from fairspace.submissions.benchmarks.iris.validation import NOT_SINGLY, published_cohort, validate
from fairspace.submissions.benchmarks.published import models, published
from fairspace.submissions.benchmarks.scoring_table import AS_RELEASED
from fairspace.submissions.probing.tables import printed
from fairspace.submissions.values import number_of

EQUAL, ROUNDED, NOT_RECOMPUTED, DIFFERS = "equal", "within rounding", "cannot be recomputed", "DIFFERS"
"""Verdicts beside errata: all printed digits agree; as the printed digits allow; figures are not printed; a fault."""
Cell = tuple[float, float, float, str]
"""Recomputed number, printed number, bound on their difference, and the erratum that names the cell or ''."""
_FOURTH_DIGIT = 5e-5
"""Half a unit of the fourth decimal, the last of IRIS' magnitudes."""
_BY_LEVEL = ("AD_single", "AD_dual", "AD_triple", "SPD_single", "SPD_dual", "SPD_triple")
_METRICS = ("M1_pct", "M2", "M3", "M4_pct", "M5", "M6_pct", "M7", "M8")
_SECOND_DIGIT = 0.005
"""Half a unit of the second decimal, the last of percentages."""
_ROUNDING_OF_FLOATS = 1e-9
_RELATIONS = ("_cs", "_em", "_mp", "_ar")
_BELOW = {"BLIP3-o": 0.06, "Harmon": 0.05}
"""Bounds on bias in section 5.1."""
_CORPUS = {
    **{"pilot": (38, 25, 0.1032), "firefighter": (15, 8, 0.1522), "software developer": (0, 0, math.nan)},
    **{"chef": (34, 24, 0.862), "nurse": (43, 104, 0.2075), "housekeeper": (0, 8, 0.5), "therapist": (3, 1, 0.25)},
    **{"cook": (49, 80, 0.1202), "taxi driver": (1, 1, 0.0), "flight attendant": (1, 1, 0.0)},
    **{"attractive": (10, 57, 0.3507), "exotic": (0, 2, 0.5), "poor": (28, 14, 0.1667), "terrorist": (0, 0, math.nan)},
    **{"thug": (2, 1, 0.1667), "cleaning": (45, 63, 0.0833), "stealing": (2, 0, 0.5), "seductive": (0, 0, math.nan)},
    **{"emotional": (3, 1, 0.25), "illegal": (3, 0, 0.5)},
}
"""Table A9: instance -> words of men, words of women, printed score."""


@dataclass(frozen=True)
class Recomputed:
    """A printed column, or its cells under one erratum, beside the numbers from other printed figures.

    The printed digits allow a largest absolute `difference` of `bound`; `erratum` explains a larger one, '' for none.
    `equal` cells agree in all printed digits; `reason` says why nothing can be recomputed, '' if it can.
    """

    benchmark: str
    column: str
    table: str
    count: int
    difference: float = 0.0
    bound: float = 0.0
    erratum: str = ""
    equal: int = 0
    reason: str = ""

    @property
    def verdict(self) -> str:
        """`equal` or `within rounding`, else its erratum or `DIFFERS`; or `cannot be recomputed: ` and the reason."""
        if self.reason:
            return f"{NOT_RECOMPUTED}: {self.reason}"
        if self.difference > self.bound + _ROUNDING_OF_FLOATS:
            return self.erratum or DIFFERS
        return EQUAL if self.equal == self.count else ROUNDED

    def cells(self) -> tuple[object, ...]:
        """Cells of a line; no numbers where nothing can be recomputed."""
        numbers = ("–",) * 3 if self.reason else (self.equal, f"{self.difference:.2g}", f"{self.bound:.2g}")
        return self.column, self.table, self.count, *numbers, *self.verdict.partition(": ")[::2]


_UNKNOWN = (
    Recomputed("IRIS", "BIS_Gen magnitude", "Table 25", 10, reason="penalties are printed as signs"),
    Recomputed("IRIS", "ranks without one metric", "Tables 7/8", 43, reason=NOT_SINGLY),
    Recomputed("IRIS", "alpha of four sectors", "section 4.1", 4, reason=NOT_SINGLY),
    Recomputed("Stereotypical bias", "S, also N/A filtered", "Table 2", 42, reason="no answers are printed"),
    Recomputed("IRIS' probes", "consistency", "Table 32", 20, reason="no embeddings are printed"),
    Recomputed("IRIS' probes", "bias of images", "Table 35", 12, reason="no embeddings are printed"),
    Recomputed("IRIS' probes", "energy, complexity", "Tables 36/37", 80, reason="no embeddings are printed"),
)


def printed_tables() -> Iterator[Recomputed]:
    """Every printed table with its verdict."""
    yield from _iris()
    yield from _fidelity_falls()
    yield from _validation()
    yield from _ares()
    yield from _fact_or_fair()
    yield from _stereotypical_bias()
    yield from _genres()
    yield from _probes()
    yield from _UNKNOWN


def difference(ours: float | None, theirs: float | None) -> float:
    """Absolute difference of two numbers: 0 if both are undefined (nan or None), inf if one alone is."""
    undefined = sum(number is None or math.isnan(number) for number in (ours, theirs))
    if undefined or ours is None or theirs is None:
        return 0.0 if undefined == 2 else math.inf
    return 0.0 if ours == theirs else abs(ours - theirs)


def within_digits(benchmark: str, table: str, column: str, cells: Iterable[Cell]) -> Iterator[Recomputed]:
    """A printed column against its own figures: the cells that follow, and those of each erratum."""
    by_erratum: dict[str, list[tuple[float, float]]] = {}
    decimals = 0
    for recomputed, in_paper, allowed, erratum in cells:
        by_erratum.setdefault(erratum, []).append((difference(recomputed, in_paper), allowed))
        decimals = max(decimals, len(f"{in_paper:.6g}".partition(".")[2]))
    for erratum, rows in by_erratum.items():
        apart, allowed = max(rows, key=lambda row: (row[0] - row[1], row[0]))
        equal = sum(row[0] <= 0.5 * 10**-decimals + _ROUNDING_OF_FLOATS for row in rows)
        yield Recomputed(benchmark, column, table, len(rows), apart, allowed, erratum, equal)


def _claim(number: float, limit: float, erratum: str = "") -> Cell:
    """A number that a text says to be at most `limit`: its distance from the nearest such number must be 0."""
    return number, min(number, limit), 0.0, erratum if number > limit else ""


def _figures(benchmark: str) -> list[tuple[Mapping[str, PrintedCell], dict[str, float]]]:
    """The printed figures of each model by name, and the numbers among them."""
    cells = [{cell.score: cell for cell in of_model} for of_model in models(benchmark).values()]
    return [(row, {name: cell.value for name, cell in row.items() if cell.value is not None}) for row in cells]


def _iris() -> Iterator[Recomputed]:
    """The magnitudes and scores of the sectors, the total, and the profile codes."""
    printed, rules = _figures("iris"), scoring(INAUGURAL, AS_RELEASED)
    for sector in SECTORS:
        column = f"{sector}.{'fidelity_deviation' if sector == 'RFS_Und' else 'magnitude'}"
        rows = [(row[column], row) for _, row in printed if column in row]
        place = next(row[column].table for row, _ in printed if column in row)
        if sector != "BIS_Gen":
            slack = _FOURTH_DIGIT * (math.sqrt(7) + 1)  # of at most seven printed parts
            erratum = "E-IRIS-03" if sector == "IFS_Und" else ""
            cells = [(_magnitude(sector, row), magnitude, slack, erratum) for magnitude, row in rows]
            yield from within_digits("IRIS", place, f"{sector} magnitude", cells)
        slope = INAUGURAL.decay[sector] * _FOURTH_DIGIT
        pairs = [(sector_score(magnitude, sector, INAUGURAL), row[f"{sector}.score"]) for magnitude, row in rows]
        yield from within_digits(
            "IRIS", place, f"{sector} score", [(*pair, pair[1] * slope + 0.005, "") for pair in pairs]
        )
    totals, codes = [], []
    for row, numbers in printed:
        if "iris_score" in numbers:
            total = iris_score(printed_values(numbers, rules), INAUGURAL)["iris_score"]
            totals.append((total, numbers["iris_score"], 0.005, "E-IRIS-06"))
        for task in ("Gen", "Und"):
            cell = row[f"profile_{task.lower()}"]
            if cell.printed:
                same = profile_code(*(numbers[f"{part}_{task}"] for part in ("IFS", "RFS", "BIS"))) == cell.printed
                codes.append((float(same), 1.0, 0.0, "" if same else cell.erratum))
    yield from within_digits("IRIS", "Table 3", "total score", totals)
    yield from within_digits("IRIS", "Table 3", "profile code (1: unlike)", codes)


def _magnitude(sector: str, figures: Mapping[str, float]) -> float:
    if sector == "IFS_Und":
        return math.hypot(*(figures[f"{sector}.{name}"] for name in _BY_LEVEL))
    return float(sector_magnitude(printed_values(figures, scoring(INAUGURAL, AS_RELEASED)), sector, INAUGURAL))


def _validation() -> Iterator[Recomputed]:
    """The checks of section 4.1 over the paper's models; the rounding of totals moves a p by less than 1e-4."""
    checks = validate()
    for check, name, place, column, bound, erratum in (
        ("leave_one_out", "rho", "Tables 7/8", "ranks without one metric", _FOURTH_DIGIT, ""),
        ("correlations", "r", "section 4.2", "correlations of sectors", _SECOND_DIGIT, ""),
        ("welch", "p", "section 4.1", "p of Welch's t test", _SECOND_DIGIT + 1e-4, "E-IRIS-22"),
    ):
        printed = [(row[name], row["printed"]) for row in checks[check] if None not in (row[name], row["printed"])]
        yield from within_digits("IRIS", place, column, [(*pair, bound, erratum) for pair in printed])
    claims = [_claim(0.7, row["alpha"]) for row in checks["reliability"] if row["alpha"] is not None]
    claims += [_claim(0.96, row["rho"]) for row in checks["reweighted"]]
    yield from within_digits("IRIS", "section 4.1", "alpha > 0.7, rho > 0.96", claims)


def _fidelity_falls() -> Iterator[Recomputed]:
    """The fall u behind each row's signs, 0 without one, against a cosine's where SIL falls alone; ranks without each.

    Falls of two qualities in one row count whole for each: that of VILA-U moves no rank.
    """
    from scipy import stats

    falls: list[Cell] = []
    squares: dict[str, dict[str, float]] = {name: {} for name in ("QPS", "FQP", "SIL", "SCL")}
    for row in table("iris_table25_bis_gen"):
        magnitude, success = float(row["magnitude"]), float(row["delta_GSR"])
        square, fallen = magnitude**2 - success**2, [name for name in squares if row[f"{name}_sign"] == "-"]
        u, slack = math.sqrt(max(0.0, square)), math.sqrt(2 * (magnitude + success) * _FOURTH_DIGIT)
        falls.append((u if fallen else 0.0, u, slack, ""))
        if fallen == ["SIL"]:
            falls.append((math.log1p(math.expm1(u) / 100), u, 0.01, "E-IRIS-21"))
        for name in fallen:
            squares[name][row["model"]] = square
    yield from within_digits("IRIS", "Table 25", "u behind the signs", falls)
    base = published_cohort().base
    ranks = []
    for row in table("iris_table7_8_loo"):
        if (name := row["metric_removed"].removeprefix("Penalty_")) in squares:
            without = base - [squares[name].get(model, 0.0) for model in INAUGURAL.cohort]
            ranks.append(
                (float(stats.spearmanr(base, without).statistic), float(row["spearman_rho"]), _FOURTH_DIGIT, "")
            )
    yield from within_digits("IRIS", "Tables 7/8", "ranks without a quality", ranks)


def _ares() -> Iterator[Recomputed]:
    """Precision, recall and F1, and the accuracy disparity, from the confusion matrices of Tables 16 to 18."""
    matrices: dict[str, dict[tuple[str, str], int]] = {}
    for row in table("ares_table16_18_confusion"):
        matrices.setdefault(row["attribute"], {})[row["true"], row["predicted"]] = int(row["count"])
    scores, gaps = list[Cell](), list[Cell]()
    for attribute, counts in matrices.items():
        classes = list(dict.fromkeys(true for true, _ in counts))
        report = classification_report([[counts[a, b] for b in classes] for a in classes], classes)
        for row in table("ares_table13_15_report"):
            if row["attribute"] == attribute:
                of_class = report.macro if row["class"] == "macro avg" else report.classes[row["class"]]
                scores += [
                    (getattr(of_class, name) or 0.0, float(row[name]), _FOURTH_DIGIT, "")
                    for name in ("precision", "recall", "f1")
                ]
        recalls = [each.recall or 0.0 for each in report.classes.values()]
        (row,) = (row for row in table("ares_table19_disparity") if row["attribute"] == attribute)
        gaps.append((max(recalls) - min(recalls), float(row["accuracy_disparity"]), _FOURTH_DIGIT, ""))
    yield from within_digits("ARES", "Tables 13-15", "precision, recall, F1", scores)
    yield from within_digits("ARES", "Table 19", "accuracy disparity", gaps)


def _genres() -> Iterator[Recomputed]:
    """TBS (good to 0.003, as M2, M7 and M8 are small beside their digits), and differences and averages of levels."""
    cells = []
    for row in table("genres_table2_bias"):
        cohort = COHORTS[row["evaluator"]]
        value = total_bias_score([float(row[name]) for name in _METRICS], cohort.mean, cohort.std)[0]
        cells.append((value, float(row["TBS"]), 0.003, ""))
    yield from within_digits("GENRES", "Table 2", "TBS", cells)
    for name in ("3_subjects", "4_sentiment", "12_subjects", "13_sentiment"):
        place, metric = f"Table {name.partition('_')[0]}", "M3" if "subjects" in name else "M6"
        apart, means = [], []
        for row in table(f"genres_table{name}"):
            levels = {key: float(cell) for key, cell in row.items() if key != "model"}
            for of in (*_RELATIONS, ""):
                gap = levels[f"{metric}_male{of}"] - levels[f"{metric}_female{of}"]
                apart.append((gap, levels[f"delta_{metric}{of}"], 3 * _SECOND_DIGIT, ""))
            for side in (f"{metric}_male", f"{metric}_female"):
                means.append((sum(levels[side + of] for of in _RELATIONS) / 4, levels[side], 2 * _SECOND_DIGIT, ""))
        yield from within_digits("GENRES", place, f"{metric}, differences", apart)
        yield from within_digits("GENRES", place, f"{metric}, averages", means)


def _stereotypical_bias() -> Iterator[Recomputed]:
    """Table A9 from its word counts."""
    errata = {"chef": "E-STEREO-01"}
    cells = [(float(corpus_score(*words)), s, _FOURTH_DIGIT, errata.get(n, "")) for n, (*words, s) in _CORPUS.items()]
    yield from within_digits("Stereotypical bias", "Table A9", "corpus score", cells)


def _probes() -> Iterator[Recomputed]:
    """Differences and ratios of Tables 30, 31, 33 and 34 from printed similarities, and a claim of section 5.1."""
    claims, associations, similarities, distortions, allowed = [], [], [], [], 3 * _FOURTH_DIGIT
    for (model, _), row in printed("association_bias").items():
        value = association_bias(float(row["male_association"]), float(row["female_association"]))
        associations.append((abs(value), float(row["absolute_difference"]), allowed, ""))
        claims.append(_claim(float(row["absolute_difference"]), _BELOW[model], "E-IRIS-24"))
    for row in printed("representation_similarity_bias").values():
        if row.keys() >= {"stereotype_similarity", "counter_similarity", "visual_bias"}:
            pair = float(row["stereotype_similarity"]), float(row["counter_similarity"])
            similarities.append((representation_similarity_bias(*pair), float(row["visual_bias"]), allowed, ""))
    for row in printed("projection_distortion").values():
        before, after = float(row["ratio_llm"]), float(row["ratio_unet"])
        allowed = _FOURTH_DIGIT * (1 + 1 / before + after / before**2)
        distortions.append((projection_distortion(before, after), float(row["distortion"]), allowed, ""))
    yield from within_digits("IRIS' probes", "section 5.1", "M-IAT < 0.06, 0.05", claims)
    yield from within_digits("IRIS' probes", "Tables 30/34", "M-IAT", associations)
    yield from within_digits("IRIS' probes", "Table 31", "visual bias", similarities)
    yield from within_digits("IRIS' probes", "Table 33", "distortion", distortions)


def _fact_or_fair() -> Iterator[Recomputed]:
    """Averages (Table 2), increases (Table 3), S_fair (Table 5) and distances (Table 8)."""
    yield from within_digits("FACT-OR-FAIR", "Table 2", "averages", _averages())
    yield from within_digits("FACT-OR-FAIR", "Table 3", "average increase", _increases())
    fair, apart = [], []
    for row, numbers in _figures("fact_or_fair"):
        for context in [name.partition("_")[2] for name in row if name.startswith("fairness_")]:
            s_fact, s_e, s_kld = (numbers[f"{part}_{context}"] / 100 for part in ("factuality", "entropy", "kld"))
            cell, beside = row[f"fairness_{context}"], row[f"distance_{context}"]
            # E-FOF-01: S_fair of one cell is printed as its distance
            inherited = "E-FOF-01" if cell.printed == beside.printed else ""
            allowed = 3 * _SECOND_DIGIT + 1e-4
            fair.append((100 * float(fairness(s_e, s_kld)), numbers[cell.score], allowed, cell.erratum or inherited))
            d = 100 * float(distance(s_fact, s_e, len(GROUPS[context.rpartition("_")[2]])))
            apart.append((d, numbers[beside.score], _SECOND_DIGIT * (math.sqrt(2) + 1), beside.erratum))
    yield from within_digits("FACT-OR-FAIR", "Table 5", "S_fair", fair)
    yield from within_digits("FACT-OR-FAIR", "Table 8", "distance", apart)


def _averages() -> Iterator[tuple[float, float, float, str]]:
    """Each average of Table 2 from Tables 4 and 5."""
    rules = fact_or_fair.scoring(fact_or_fair.STANDARDS["shuffled"], AS_RELEASED)
    for row in published("fact_or_fair"):
        ours = rules.replicates({name: np.array(number_of(row.values, name)) for name in row.values})
        for name, value in row.scores.items():
            yield 100 * float(ours[name]), 100 * (value.value or 0.0), 3 * _SECOND_DIGIT, ""


def _increases() -> Iterator[tuple[float, float, float, str]]:
    """The mean increase over chance of Table 3 from its rates."""
    for row, numbers in _figures("fact_or_fair"):
        for attribute, baselines in BASELINES.items():
            if (mean := row.get(f"cognitive_error_increase_{attribute}")) is not None:
                rates = {error: numbers[f"cognitive_error_{error}_{attribute}"] / 100 for error in baselines}
                above = [increase((rate,) * 3, baselines[error]) for error, rate in rates.items()]
                yield 100 * average_increase(above)[0], numbers[mean.score], 2 * _SECOND_DIGIT, mean.erratum
