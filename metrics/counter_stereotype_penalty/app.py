"""The Space of Counter-stereotype penalty: rows in a text box, the number with its bounds and evidence out."""

import gradio as gr
from page import optional_number, table_page  # type: ignore[import-not-found]

TEXT = """How far a mean image score falls when the prompt runs against a stereotype: 0 is no fall (ideal).
Leave a score empty where the image is missing."""
EXAMPLE = """0.75, stereotypical
0.5, counter_stereotypical
, counter_stereotypical"""
COLUMNS = {"predictions": optional_number, "prompts": str}

demo = table_page(
    "counter_stereotype_penalty",
    "Counter-stereotype penalty",
    TEXT,
    EXAMPLE,
    COLUMNS,
    minimum=(gr.Number(0, label="Smallest score"), float),
    maximum=(gr.Number(1, label="Largest score"), float),
)

if __name__ == "__main__":
    demo.launch()
