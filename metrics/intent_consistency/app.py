"""The Space of Intent consistency: vectors in a text box, the number with its interval and evidence out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import evaluate
import gradio as gr

METRIC = evaluate.load(str(Path(__file__).with_name("intent_consistency.py")))
COLUMNS = ("predictions", "concepts")
VECTORS = ("predictions",)
EXAMPLE = """1 0, male doctor
3 4, male doctor
0 1, male doctor"""
HELP = """# Intent consistency
One line per paraphrase: its embedding (numbers between spaces), concept. 1 is one vector for all wordings."""


def measure(table: str) -> dict[str, Any]:
    """The result for lines of cells, one for each column; the key `error` says what is wrong with them."""
    rows = [[cell.strip() for cell in line.split(",")] for line in table.splitlines() if line.strip()]
    if not rows or any(len(row) != len(COLUMNS) for row in rows):
        return {"error": f"Every line needs {len(COLUMNS)} cells: {', '.join(COLUMNS)}."}
    columns: dict[str, Any] = dict(zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True))
    try:
        for name in VECTORS:
            columns[name] = [[float(number) for number in cell.split()] for cell in columns[name]]
        result: dict[str, Any] = METRIC.compute(**columns)
    except (TypeError, ValueError) as error:
        return {"error": str(error)}
    return result


with gr.Blocks(title="Intent consistency") as demo:
    gr.Markdown(HELP)
    table = gr.Textbox(EXAMPLE, label="One vector per line: " + ", ".join(COLUMNS), lines=8)
    button = gr.Button("Measure")
    result = gr.JSON(label="Result")
    button.click(measure, [table], result)

if __name__ == "__main__":
    demo.launch()
