"""The Space of Statistical parity difference: rows in a text box, the number with its bounds and evidence out."""

import gradio as gr
from page import table_page, whole  # type: ignore[import-not-found]

TEXT = """The largest gap between groups in how often one class is the answer: 0 is none (ideal), 1 is the largest.
Leave a prediction empty where the answer is missing."""
EXAMPLE = """nurse, female
nurse, female
nurse, male
pilot, male"""
COLUMNS = {"predictions": str, "groups": str}

demo = table_page(
    "statistical_parity_difference",
    "Statistical parity difference",
    TEXT,
    EXAMPLE,
    COLUMNS,
    minimum=(gr.Number(2, precision=0, minimum=1, label="Smallest group"), whole),
)

if __name__ == "__main__":
    demo.launch()
