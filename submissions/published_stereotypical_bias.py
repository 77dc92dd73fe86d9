"""The rows of stereotypical bias: Table 2, and the mean of its six scores."""

from __future__ import annotations

from submissions.published_tables import SOURCES, Published, footnotes, organisation, printed, table
from submissions.values import measured, not_run

_MLLMS = {"LLaVA-v1.5": "llava", "MiniGPT-v2": "minigpt", "CogVLM": "cogvlm", "Ensemble": "ensemble"}


def rows(standard: str) -> list[Published]:
    """Table 2's three models and their ensemble, whatever the standard."""
    source = f"{SOURCES['stereotypical_bias']}, Table 2"
    found = []
    for model, column in _MLLMS.items():
        scores = {}
        for row in table("stereobias_table2_scores"):
            name = f"{row['attribute']}_{row['scenario']}"
            scores[name] = printed(name, row.get(column, ""), source)
            filtered = f"{name}_na_filtered"
            scores[filtered] = printed(filtered, row[f"{column}_na_filtered"], source)
        plain = [v.value for name, v in scores.items() if not name.endswith("_na_filtered") and v.value is not None]
        scores["total"] = (
            measured("total", sum(plain) / 6, evidence={"source": f"mean of the six scores of {source}, not printed"})
            if len(plain) == 6
            else not_run("total", f"{source} prints no such figure for this model")
        )
        found.append(
            Published(
                model=model,
                organisation=organisation("stereotypical_bias", model),
                source=source,
                scores=scores,
                ranking="total",
                unranked=("no worst case: how many questions were not answered is not printed",),
                footnotes=footnotes("stereotypical_bias", model),
            )
        )
    return found
