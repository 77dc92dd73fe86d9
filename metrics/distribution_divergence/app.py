"""The Space of Distribution divergence: rows in a text box, the number with its bounds and evidence out."""

import gradio as gr
from page import shares, table_page, whole  # type: ignore[import-not-found]

TEXT = """How far the group shares of samples are from reference shares: 0 is equal (ideal), ln 2 shares no group.
Every line is the perceived group of one sample."""
EXAMPLE = """female
female
female
male"""
COLUMNS = {"predictions": str}

demo = table_page(
    "distribution_divergence",
    "Distribution divergence",
    TEXT,
    EXAMPLE,
    COLUMNS,
    reference=(gr.Textbox("female: 53.2, male: 46.8", label="Reference shares"), shares),
    missing=(gr.Number(0, precision=0, minimum=0, label="Missing samples"), whole),
)

if __name__ == "__main__":
    demo.launch()
