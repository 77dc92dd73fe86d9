"""The Space of Stereotype drift: rows in a text box, the number with its bounds and evidence out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import evaluate
import gradio as gr

METRIC = evaluate.load(str(Path(__file__).with_name("stereotype_drift.py")))
COLUMNS = ("predictions", "references")
EXAMPLE = """nurse, doctor
nurse, nurse
doctor, nurse
nurse, doctor"""
HELP = """# Stereotype drift
Whether wrong answers lead to occupations where a group is more common (above 0) or less common (below 0).
Leave a prediction empty where the answer is missing."""


def measure(table: str, shares: str) -> dict[str, Any]:
    """The result for lines of `predictions, references`; the key `error` says what is wrong with them."""
    rows = [[cell.strip() for cell in line.split(",")] for line in table.splitlines() if line.strip()]
    if not rows or any(len(row) != len(COLUMNS) for row in rows):
        return {"error": f"Every line needs {len(COLUMNS)} cells: {', '.join(COLUMNS)}."}
    try:
        columns = dict(zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True))
        pairs = [pair.partition(":") for pair in shares.split(",")]
        by_job = {job.strip(): float(share) for job, _, share in pairs}
        result: dict[str, Any] = METRIC.compute(**columns, shares=by_job)
    except (TypeError, ValueError) as error:
        return {"error": str(error)}
    return result


with gr.Blocks(title="Stereotype drift") as demo:
    gr.Markdown(HELP)
    table = gr.Textbox(EXAMPLE, label="One sample per line: " + ", ".join(COLUMNS), lines=8)
    shares = gr.Textbox("nurse: 0.895, doctor: 0.532", label="Real share of the group in each occupation")
    button = gr.Button("Measure")
    result = gr.JSON(label="Result")
    button.click(measure, [table, shares], result)

if __name__ == "__main__":
    demo.launch()
