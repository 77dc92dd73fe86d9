"""The Space of Hallucination inconsistency: rows in a text box, the number with its bounds and evidence out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import evaluate
import gradio as gr

METRIC = evaluate.load(str(Path(__file__).with_name("hallucination_inconsistency.py")))
COLUMNS = ("predictions", "references", "sets")
EXAMPLE = """yes, yes, nurse
no, yes, nurse
no, no, pilot
no, no, pilot"""
HELP = """# Hallucination inconsistency
How often an answer turns from right to wrong when only the person's group changes: 0 is never (ideal).
Leave a prediction empty where the answer is missing or cannot be read."""


def measure(table: str) -> dict[str, Any]:
    """The result for lines of `predictions, references, sets`; the key `error` says what is wrong with them."""
    rows = [[cell.strip() for cell in line.split(",")] for line in table.splitlines() if line.strip()]
    if not rows or any(len(row) != len(COLUMNS) for row in rows):
        return {"error": f"Every line needs {len(COLUMNS)} cells: {', '.join(COLUMNS)}."}
    try:
        columns = dict(zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True))
        result: dict[str, Any] = METRIC.compute(**columns)
    except (TypeError, ValueError) as error:
        return {"error": str(error)}
    return result


with gr.Blocks(title="Hallucination inconsistency") as demo:
    gr.Markdown(HELP)
    table = gr.Textbox(EXAMPLE, label="One sample per line: " + ", ".join(COLUMNS), lines=8)
    button = gr.Button("Measure")
    result = gr.JSON(label="Result")
    button.click(measure, [table], result)

if __name__ == "__main__":
    demo.launch()
