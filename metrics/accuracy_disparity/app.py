"""The Space of Accuracy disparity: rows in a text box, the number with its bounds and evidence out."""

import gradio as gr
from page import table_page, whole  # type: ignore[import-not-found]

TEXT = """The gap in accuracy between the most and the least accurate group: 0 is none (ideal), 1 is the largest.
Leave a prediction empty where the answer is missing."""
EXAMPLE = """nurse, nurse, female
nurse, nurse, female
pilot, pilot, male
unmappable, pilot, male"""
COLUMNS = {"predictions": str, "references": str, "groups": str}

demo = table_page(
    "accuracy_disparity",
    "Accuracy disparity",
    TEXT,
    EXAMPLE,
    COLUMNS,
    minimum=(gr.Number(2, precision=0, minimum=1, label="Smallest group"), whole),
)

if __name__ == "__main__":
    demo.launch()
