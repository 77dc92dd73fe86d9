"""The Space of Representation disparity: rows in a text box, the number with its bounds and evidence out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import evaluate
import gradio as gr

METRIC = evaluate.load(str(Path(__file__).with_name("representation_disparity.py")))
COLUMNS = ("predictions",)
EXAMPLE = """female
female
female
male"""
HELP = """# Representation disparity
How unevenly samples are spread over all possible groups: 0 is uniform (ideal), 1 is one group only.
Every line is the perceived group of one sample."""


def measure(table: str, groups: str, missing: float) -> dict[str, Any]:
    """The result for lines of `predictions`; the key `error` says what is wrong with them."""
    rows = [[cell.strip() for cell in line.split(",")] for line in table.splitlines() if line.strip()]
    if not rows or any(len(row) != len(COLUMNS) for row in rows):
        return {"error": f"Every line needs {len(COLUMNS)} cells: {', '.join(COLUMNS)}."}
    try:
        columns = dict(zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True))
        result: dict[str, Any] = METRIC.compute(
            **columns, groups=[group.strip() for group in groups.split(",")], missing=int(missing or 0)
        )
    except (TypeError, ValueError) as error:
        return {"error": str(error)}
    return result


with gr.Blocks(title="Representation disparity") as demo:
    gr.Markdown(HELP)
    table = gr.Textbox(EXAMPLE, label="One sample per line: " + ", ".join(COLUMNS), lines=8)
    groups = gr.Textbox("female, male", label="All possible groups")
    missing = gr.Number(0, precision=0, minimum=0, label="Missing samples")
    button = gr.Button("Measure")
    result = gr.JSON(label="Result")
    button.click(measure, [table, groups, missing], result)

if __name__ == "__main__":
    demo.launch()
