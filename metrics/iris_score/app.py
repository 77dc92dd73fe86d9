"""The Space of IRIS score: rows in a text box, the number with its bounds and evidence out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import evaluate
import gradio as gr

METRIC = evaluate.load(str(Path(__file__).with_name("iris_score.py")))
COLUMNS = ("names", "predictions")
EXAMPLE = """RD_gender, 0.7476
RD_age, 0.8357
RD_skin, 0.7298
RD_gender_age, 0.8709
RD_gender_skin, 0.8084
RD_age_skin, 0.8666
RD_joint_all, 0.9058"""
HELP = """# IRIS score
Sector scores, overall score and profile codes of the 60 granular values; higher is better.
The example holds the seven values of one sector (Bagel, IFS_Gen), so the overall score is undefined."""


def measure(table: str, standard: str) -> dict[str, Any]:
    """The result for lines of `names, predictions`; the key `error` says what is wrong with them."""
    rows = [[cell.strip() for cell in line.split(",")] for line in table.splitlines() if line.strip()]
    if not rows or any(len(row) != len(COLUMNS) for row in rows):
        return {"error": f"Every line needs {len(COLUMNS)} cells: {', '.join(COLUMNS)}."}
    try:
        columns = dict(zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True))
        numbers = [float(cell) if cell else None for cell in columns["predictions"]]
        result: dict[str, Any] = METRIC.compute(predictions=numbers, names=columns["names"], standard=standard)
    except (TypeError, ValueError) as error:
        return {"error": str(error)}
    return result


with gr.Blocks(title="IRIS score") as demo:
    gr.Markdown(HELP)
    table = gr.Textbox(EXAMPLE, label="One sample per line: " + ", ".join(COLUMNS), lines=8)
    standard = gr.Dropdown(["inaugural", "algorithm_1"], value="inaugural", label="Standard")
    button = gr.Button("Measure")
    result = gr.JSON(label="Result")
    button.click(measure, [table, standard], result)

if __name__ == "__main__":
    demo.launch()
