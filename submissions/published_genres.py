"""The rows of GENRES: Table 2, one per model and evaluator."""

from __future__ import annotations

from submissions.published import EVALUATORS
from submissions.published_tables import SOURCES, Published, footnotes, organisation, printed, table


def rows(standard: str) -> list[Published]:
    """Table 2, whatever the standard."""
    source = f"{SOURCES['genres']}, Table 2"
    found = []
    for row in table("genres_table2_bias"):
        scores = {k.removesuffix("_pct"): v for k, v in row.items() if k not in ("evaluator", "model")}
        found.append(
            Published(
                model=row["model"],
                organisation=organisation("genres", row["model"]),
                source=source,
                scores={k: printed(k, v, source) for k, v in scores.items()},
                ranking="TBS",
                labels={"cohort": row["evaluator"]},
                cohort=EVALUATORS[row["evaluator"]],
                footnotes=footnotes("genres", row["model"]),
            )
        )
    return found
