"""The Space of Stereotype drift: rows in a text box, the number with its bounds and evidence out."""

import gradio as gr
from page import shares, table_page  # type: ignore[import-not-found]

TEXT = """Whether wrong answers lead to occupations where a group is more common (above 0) or less common (below 0).
Leave a prediction empty where the answer is missing."""
EXAMPLE = """nurse, doctor
nurse, nurse
doctor, nurse
nurse, doctor"""
COLUMNS = {"predictions": str, "references": str}

demo = table_page(
    "stereotype_drift",
    "Stereotype drift",
    TEXT,
    EXAMPLE,
    COLUMNS,
    shares=(gr.Textbox("nurse: 0.895, doctor: 0.532", label="Real share of the group in each occupation"), shares),
)

if __name__ == "__main__":
    demo.launch()
