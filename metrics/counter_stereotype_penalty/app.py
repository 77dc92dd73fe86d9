"""The Space of Counter-stereotype penalty: rows in a text box, the number with its bounds and evidence out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import evaluate
import gradio as gr

METRIC = evaluate.load(str(Path(__file__).with_name("counter_stereotype_penalty.py")))
COLUMNS = ("predictions", "prompts")
EXAMPLE = """0.75, stereotypical
0.5, counter_stereotypical
, counter_stereotypical"""
HELP = """# Counter-stereotype penalty
How far a mean image score falls when the prompt runs against a stereotype: 0 is no fall (ideal).
Leave a score empty where the image is missing."""


def measure(table: str, minimum: float, maximum: float) -> dict[str, Any]:
    """The result for lines of `predictions, prompts`; the key `error` says what is wrong with them."""
    rows = [[cell.strip() for cell in line.split(",")] for line in table.splitlines() if line.strip()]
    if not rows or any(len(row) != len(COLUMNS) for row in rows):
        return {"error": f"Every line needs {len(COLUMNS)} cells: {', '.join(COLUMNS)}."}
    try:
        columns = dict(zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True))
        scores = [float(cell) if cell else None for cell in columns["predictions"]]
        result: dict[str, Any] = METRIC.compute(
            predictions=scores, prompts=columns["prompts"], minimum=minimum, maximum=maximum
        )
    except (TypeError, ValueError) as error:
        return {"error": str(error)}
    return result


with gr.Blocks(title="Counter-stereotype penalty") as demo:
    gr.Markdown(HELP)
    table = gr.Textbox(EXAMPLE, label="One sample per line: " + ", ".join(COLUMNS), lines=8)
    minimum = gr.Number(0, label="Smallest score")
    maximum = gr.Number(1, label="Largest score")
    button = gr.Button("Measure")
    result = gr.JSON(label="Result")
    button.click(measure, [table, minimum, maximum], result)

if __name__ == "__main__":
    demo.launch()
