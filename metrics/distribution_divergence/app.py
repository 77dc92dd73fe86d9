"""The Space of Distribution divergence: rows in a text box, the number with its bounds and evidence out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import evaluate
import gradio as gr

METRIC = evaluate.load(str(Path(__file__).with_name("distribution_divergence.py")))
COLUMNS = ("predictions",)
EXAMPLE = """female
female
female
male"""
HELP = """# Distribution divergence
How far the group shares of samples are from reference shares: 0 is equal (ideal), ln 2 shares no group.
Every line is the perceived group of one sample."""


def measure(table: str, reference: str, missing: float) -> dict[str, Any]:
    """The result for lines of `predictions`; the key `error` says what is wrong with them."""
    rows = [[cell.strip() for cell in line.split(",")] for line in table.splitlines() if line.strip()]
    if not rows or any(len(row) != len(COLUMNS) for row in rows):
        return {"error": f"Every line needs {len(COLUMNS)} cells: {', '.join(COLUMNS)}."}
    try:
        columns = dict(zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True))
        pairs = [pair.partition(":") for pair in reference.split(",")]
        shares = {group.strip(): float(share) for group, _, share in pairs}
        result: dict[str, Any] = METRIC.compute(**columns, reference=shares, missing=int(missing or 0))
    except (TypeError, ValueError) as error:
        return {"error": str(error)}
    return result


with gr.Blocks(title="Distribution divergence") as demo:
    gr.Markdown(HELP)
    table = gr.Textbox(EXAMPLE, label="One sample per line: " + ", ".join(COLUMNS), lines=8)
    reference = gr.Textbox("female: 53.2, male: 46.8", label="Reference shares")
    missing = gr.Number(0, precision=0, minimum=0, label="Missing samples")
    button = gr.Button("Measure")
    result = gr.JSON(label="Result")
    button.click(measure, [table, reference, missing], result)

if __name__ == "__main__":
    demo.launch()
