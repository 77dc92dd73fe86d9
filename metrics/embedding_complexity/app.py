"""The Space of Embedding complexity: vectors in a text box, the number with its interval and evidence out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import evaluate
import gradio as gr

METRIC = evaluate.load(str(Path(__file__).with_name("embedding_complexity.py")))
COLUMNS = ("predictions", "roles", "occupations", "embeddings")
VECTORS = ("predictions",)
EXAMPLE = """2 0, stereotypical, doctor, first
-2 0, stereotypical, doctor, first
1 0, counter_stereotypical, doctor, first
-1 0, counter_stereotypical, doctor, first
0 1, counter_stereotypical, doctor, first
0 -1, counter_stereotypical, doctor, first"""
HELP = """# Embedding complexity
One line per vector: the vector (numbers between spaces), role (`stereotypical`, `counter_stereotypical`), occupation,
embedding (the prompt it belongs to). 0 is no difference."""


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


with gr.Blocks(title="Embedding complexity") as demo:
    gr.Markdown(HELP)
    table = gr.Textbox(EXAMPLE, label="One vector per line: " + ", ".join(COLUMNS), lines=8)
    button = gr.Button("Measure")
    result = gr.JSON(label="Result")
    button.click(measure, [table], result)

if __name__ == "__main__":
    demo.launch()
