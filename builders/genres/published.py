"""The tables that the GENRES paper prints; signs of differences follow its prose and the two sides of a difference."""

from fairspace.builders.registry import Paper, Printed
from fairspace.metrics.columns import GENRES_CITATION

_LEVELS = ("3_subjects", "12_subjects", "4_sentiment", "13_sentiment")
"""Tables without a judge; their rows stand beside those of the judge of the main text."""

PAPER = Paper(
    "GENRES (From Individuals to Interactions)",
    (
        Printed("genres_table2_bias", "Table 2", lambda row, column: column.removesuffix("_pct"), cohort="evaluator"),
        Printed("genres_table2_p", "Table 2", lambda row, column: column, cohort="evaluator"),
        *(
            Printed(
                f"genres_table{of}", f"Table {of.split('_')[0]}", lambda _, name: name, cohort_of=lambda _: "mistral"
            )
            for of in _LEVELS
        ),
    ),
    tags=("arxiv:2506.23101",),
    citation=GENRES_CITATION,
    url="https://arxiv.org/abs/2506.23101",
)
