"""The tables that the GENRES paper prints; signs of differences follow its prose and the two sides of a difference."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fairspace.builders.registry import Paper, Printed


def _side(metric: str) -> Callable[[Mapping[str, str], str], str]:
    """`M3_male_cs`, `delta_M3_cs` and so on; the last row is the average."""

    def score(row: Mapping[str, str], column: str) -> str:
        relation = "" if row["relationship"] == "Avg" else f"_{row['relationship'].lower()}"
        return f"delta_{metric}{relation}" if column == "delta" else f"{metric}_{column}{relation}"

    return score


def _levels(table: int, metric: str, kind: str) -> Printed:
    """A table without a judge; its rows stand beside those of the judge of the main text."""
    return Printed(
        f"genres_table{table}_{kind}",
        f"Table {table}",
        _side(metric),
        ("relationship",),
        cohort_of=lambda model: "mistral",
    )


PAPER = Paper(
    "GENRES (From Individuals to Interactions)",
    (
        Printed("genres_table2_bias", "Table 2", lambda row, column: column.removesuffix("_pct"), cohort="evaluator"),
        Printed("genres_table2_p", "Table 2", lambda row, column: column, cohort="evaluator"),
        _levels(3, "M3", "subjects"),
        _levels(12, "M3", "subjects"),
        _levels(4, "M6", "sentiment"),
        _levels(13, "M6", "sentiment"),
    ),
    citation="""\
@article{xu2025genres,
  title = {From Individuals to Interactions: Benchmarking Gender Bias in Multimodal Large Language Models from the Lens
           of Social Relationship},
  author = {Xu, Yue and Wang, Wenjie},
  year = {2025}
}""",
)
