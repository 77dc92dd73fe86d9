"""A page that turns answer counts into the association score."""

import gradio as gr
import numpy as np
from columns import read_table, sentence  # type: ignore[import-not-found]
from formula import stereotypical_association  # type: ignore[import-not-found]
from page import count_page  # type: ignore[import-not-found]

GROUPS = {"gender": ("female", "male"), "race": ("white", "black", "Asian", "Indian")}
EXAMPLE = "nurse, 18, 2, 0\npilot, 3, 15, 2"


def score(attribute: str, table: str) -> str:
    """The score with and without N/A answers as lines of text; a message where a count is below 0."""
    k = len(GROUPS[attribute])
    _, numbers = read_table(table, k + 1)
    if not (np.isfinite(numbers) & (numbers >= 0)).all():
        return "Counts are 0 or more."
    result = stereotypical_association(numbers[:, :k], numbers[:, k:], np.ones((1, k), bool), numbers[:, k])
    return (
        f"score: {sentence(result.score)}\nN/A filtered: {sentence(result.na_filtered)}\n"
        f"response rate: {result.response_rate:.4f}"
    )


page = count_page(
    "stereotypical_association",
    "All groups are offered. Groups in this order: female, male; white, black, Asian, Indian. 0 is best.",
    score,
    [
        gr.Radio(list(GROUPS), value="gender", label="Attribute"),
        gr.Textbox(EXAMPLE, lines=6, label="Per instance: name, one count per group, N/A answers"),
    ],
    gr.Textbox(lines=4, label="Score"),
)

if __name__ == "__main__":
    page.launch()
