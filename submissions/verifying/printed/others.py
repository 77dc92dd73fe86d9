"""ARES' Tables 13 to 15 and 19, GENRES' Table 2, and the differences that IRIS' probe tables print."""

from __future__ import annotations

from collections.abc import Iterator

from fairspace.ares.evaluating.reports import classification_report
from fairspace.builders.printed import table
from fairspace.metrics.association_bias.formula import association_bias
from fairspace.metrics.projection_distortion.formula import projection_distortion
from fairspace.metrics.representation_similarity_bias.formula import representation_similarity_bias
from fairspace.metrics.total_bias_score.formula import total_bias_score
from fairspace.metrics.total_bias_score.standards import COHORTS
from fairspace.submissions.probing.names import ASSOCIATION, DISTORTION, SIMILARITY
from fairspace.submissions.probing.tables import printed
from fairspace.submissions.verifying.comparison import Comparison, within_digits

_METRICS = ("M1_pct", "M2", "M3", "M4_pct", "M5", "M6_pct", "M7", "M8")
_HALF = 5.0001e-5
"""Half a unit of the fourth digit behind the point, and what floats lose of it."""
Cells = list[tuple[float, float, float, str]]


def ares_tables() -> Iterator[Comparison]:
    """Precision, recall and F1, and the accuracy disparity, from the confusion matrices of Tables 16 to 18."""
    matrices: dict[str, dict[tuple[str, str], int]] = {}
    for row in table("ares_table16_18_confusion"):
        matrices.setdefault(row["attribute"], {})[row["true"], row["predicted"]] = int(row["count"])
    scores: Cells = []
    gaps: Cells = []
    for attribute, counts in matrices.items():
        classes = list(dict.fromkeys(true for true, _ in counts))
        report = classification_report([[counts[a, b] for b in classes] for a in classes], classes)
        for row in table("ares_table13_15_report"):
            if row["attribute"] == attribute:
                of_class = report.macro if row["class"] == "macro avg" else report.classes[row["class"]]
                scores += [
                    (getattr(of_class, name) or 0.0, float(row[name]), _HALF, "")
                    for name in ("precision", "recall", "f1")
                ]
        recalls = [each.recall or 0.0 for each in report.classes.values()]
        (row,) = (row for row in table("ares_table19_disparity") if row["attribute"] == attribute)
        gaps.append((max(recalls) - min(recalls), float(row["accuracy_disparity"]), _HALF, ""))
    yield from within_digits("ARES", "Tables 13-15", "precision, recall, F1", scores)
    yield from within_digits("ARES", "Table 19", "accuracy disparity", gaps)


def genres_table() -> Iterator[Comparison]:
    """TBS from M1 to M8: good to 0.003 alone, since M2, M7 and M8 are small beside their three printed digits."""
    cells = []
    for row in table("genres_table2_bias"):
        cohort = COHORTS[row["evaluator"]]
        value = total_bias_score([float(row[name]) for name in _METRICS], cohort.mean, cohort.std)[0]
        cells.append((value, float(row["TBS"]), 0.003, ""))
    yield from within_digits("GENRES", "Table 2", "TBS", cells)


def probe_tables() -> Iterator[Comparison]:
    """The differences and ratios of Tables 30, 31, 33 and 34 from the similarities that they are of."""
    associations, similarities, distortions = [], [], []
    for row in printed(ASSOCIATION).values():
        value = association_bias(float(row["male_association"]), float(row["female_association"]))
        associations.append((abs(value), float(row["absolute_difference"]), 3 * _HALF, ""))
    for row in printed(SIMILARITY).values():
        if row.keys() >= {"stereotype_similarity", "counter_similarity", "visual_bias"}:
            value = representation_similarity_bias(
                float(row["stereotype_similarity"]), float(row["counter_similarity"])
            )
            similarities.append((value, float(row["visual_bias"]), 3 * _HALF, ""))
    for row in printed(DISTORTION).values():
        before, after = float(row["ratio_llm"]), float(row["ratio_unet"])
        allowed = _HALF * (1 + 1 / before + after / before**2)
        distortions.append((projection_distortion(before, after), float(row["distortion"]), allowed, ""))
    yield from within_digits("IRIS' probes", "Tables 30/34", "M-IAT", associations)
    yield from within_digits("IRIS' probes", "Table 31", "visual bias", similarities)
    yield from within_digits("IRIS' probes", "Table 33", "distortion", distortions)
