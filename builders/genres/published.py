"""The table that the GENRES paper prints."""

from __future__ import annotations

from fairspace.builders.registry import Paper, Printed

PAPER = Paper(
    "GENRES (From Individuals to Interactions)",
    (Printed("genres_table2_bias", "Table 2", lambda row, column: column.removesuffix("_pct"), cohort="evaluator"),),
    citation="""\
@article{xu2025genres,
  title = {From Individuals to Interactions: Benchmarking Gender Bias in Multimodal Large Language Models from the Lens
           of Social Relationship},
  author = {Xu, Yue and Wang, Wenjie},
  year = {2025}
}""",
)
