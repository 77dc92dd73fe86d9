"""The Space of Statistical parity difference: rows in a text box, the number with its bounds and evidence out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import evaluate
import gradio as gr

METRIC = evaluate.load(str(Path(__file__).with_name("statistical_parity_difference.py")))
COLUMNS = ("predictions", "groups")
EXAMPLE = """nurse, female
nurse, female
nurse, male
pilot, male"""
HELP = """# Statistical parity difference
The largest gap between groups in how often one class is the answer: 0 is none (ideal), 1 is the largest.
Leave a prediction empty where the answer is missing."""


def measure(table: str, minimum: float) -> dict[str, Any]:
    """The result for lines of `predictions, groups`; the key `error` says what is wrong with them."""
    rows = [[cell.strip() for cell in line.split(",")] for line in table.splitlines() if line.strip()]
    if not rows or any(len(row) != len(COLUMNS) for row in rows):
        return {"error": f"Every line needs {len(COLUMNS)} cells: {', '.join(COLUMNS)}."}
    try:
        columns = dict(zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True))
        result: dict[str, Any] = METRIC.compute(**columns, minimum=int(minimum or 0))
    except (TypeError, ValueError) as error:
        return {"error": str(error)}
    return result


with gr.Blocks(title="Statistical parity difference") as demo:
    gr.Markdown(HELP)
    table = gr.Textbox(EXAMPLE, label="One sample per line: " + ", ".join(COLUMNS), lines=8)
    minimum = gr.Number(2, precision=0, minimum=1, label="Smallest group")
    button = gr.Button("Measure")
    result = gr.JSON(label="Result")
    button.click(measure, [table, minimum], result)

if __name__ == "__main__":
    demo.launch()
