"""The table that the GENRES paper prints."""

from __future__ import annotations

from fairspace.builders.printed import Paper, Printed

PAPER = Paper(
    "GENRES (From Individuals to Interactions)",
    (Printed("genres_table2_bias", "Table 2", lambda row, column: column.removesuffix("_pct"), cohort="evaluator"),),
)
