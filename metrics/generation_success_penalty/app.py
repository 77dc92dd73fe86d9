"""The Space of Generation success penalty: rows in a text box, the number with its bounds and evidence out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import evaluate
import gradio as gr

METRIC = evaluate.load(str(Path(__file__).with_name("generation_success_penalty.py")))
COLUMNS = ("predictions", "references", "prompts")
EXAMPLE = """female_young_light, female_young_light, stereotypical
female_young_light, female_young_light, stereotypical
male_young_light, male_young_light, counter_stereotypical
female_young_light, male_young_light, counter_stereotypical"""
HELP = """# Generation success penalty
How much less often a model shows what was asked when the prompt runs against a stereotype: 0 is no drop (ideal).
Leave a prediction empty where the image is missing."""


def measure(table: str) -> dict[str, Any]:
    """The result for lines of `predictions, references, prompts`; the key `error` says what is wrong with them."""
    rows = [[cell.strip() for cell in line.split(",")] for line in table.splitlines() if line.strip()]
    if not rows or any(len(row) != len(COLUMNS) for row in rows):
        return {"error": f"Every line needs {len(COLUMNS)} cells: {', '.join(COLUMNS)}."}
    try:
        columns = dict(zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True))
        result: dict[str, Any] = METRIC.compute(**columns)
    except (TypeError, ValueError) as error:
        return {"error": str(error)}
    return result


with gr.Blocks(title="Generation success penalty") as demo:
    gr.Markdown(HELP)
    table = gr.Textbox(EXAMPLE, label="One sample per line: " + ", ".join(COLUMNS), lines=8)
    button = gr.Button("Measure")
    result = gr.JSON(label="Result")
    button.click(measure, [table], result)

if __name__ == "__main__":
    demo.launch()
