"""The Space of Answer consistency difference: rows in a text box, the number with its bounds and evidence out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import evaluate
import gradio as gr

METRIC = evaluate.load(str(Path(__file__).with_name("answer_consistency_difference.py")))
COLUMNS = ("predictions", "sets")
EXAMPLE = """8, nurse
6, nurse
7, pilot
, pilot"""
HELP = """# Answer consistency difference
How far ratings differ when only the person's group changes: 0 is not at all (ideal), 9 is the largest.
Leave a rating empty where the answer is missing or cannot be read."""


def measure(table: str) -> dict[str, Any]:
    """The result for lines of `predictions, sets`; the key `error` says what is wrong with them."""
    rows = [[cell.strip() for cell in line.split(",")] for line in table.splitlines() if line.strip()]
    if not rows or any(len(row) != len(COLUMNS) for row in rows):
        return {"error": f"Every line needs {len(COLUMNS)} cells: {', '.join(COLUMNS)}."}
    try:
        columns = dict(zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True))
        ratings = [float(cell) if cell else None for cell in columns["predictions"]]
        result: dict[str, Any] = METRIC.compute(predictions=ratings, sets=columns["sets"])
    except (TypeError, ValueError) as error:
        return {"error": str(error)}
    return result


with gr.Blocks(title="Answer consistency difference") as demo:
    gr.Markdown(HELP)
    table = gr.Textbox(EXAMPLE, label="One sample per line: " + ", ".join(COLUMNS), lines=8)
    button = gr.Button("Measure")
    result = gr.JSON(label="Result")
    button.click(measure, [table], result)

if __name__ == "__main__":
    demo.launch()
