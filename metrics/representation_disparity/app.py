"""The Space of Representation disparity: rows in a text box, the number with its bounds and evidence out."""

import gradio as gr
from page import names, table_page, whole  # type: ignore[import-not-found]

TEXT = """How unevenly samples are spread over all possible groups: 0 is uniform (ideal), 1 is one group only.
Every line is the perceived group of one sample."""
EXAMPLE = """female
female
female
male"""
COLUMNS = {"predictions": str}

demo = table_page(
    "representation_disparity",
    "Representation disparity",
    TEXT,
    EXAMPLE,
    COLUMNS,
    groups=(gr.Textbox("female, male", label="All possible groups"), names),
    missing=(gr.Number(0, precision=0, minimum=0, label="Missing samples"), whole),
)

if __name__ == "__main__":
    demo.launch()
