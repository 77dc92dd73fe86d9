"""The inaugural standard with SIL in the authors' points of 100: the printed scores, and own ones on their scale."""

from dataclasses import replace

from .standard_inaugural import INAUGURAL

INAUGURAL_POINTS = replace(
    INAUGURAL,
    name="inaugural_points",
    quality_scale={"Penalty_QPS": 1.0, "Penalty_FQP": 1.0, "Penalty_SIL": 100.0, "Penalty_SCL": 1.0},
    note=f"{INAUGURAL.note} SIL counts in points of 100, inferred from Tables 7 and 25 (E-IRIS-21).",
    date="2026-11-29",
    why=(
        "Table 25 implies that SIL falls by 0.527 for UniWorld-V1, as no cosine of an image and its prompt would: the "
        "authors count it in points of 100. The inaugural standard counts the same fall as 0.00527. Printed models "
        "have the same scores under both."
    ),
)
