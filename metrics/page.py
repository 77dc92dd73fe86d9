"""The page of a metric's Space: what is entered in text boxes, the result out.

A Space holds one folder, so each metric folder links to this one file, and its `app.py` says what is entered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import evaluate
import gradio as gr

Setting = tuple[gr.components.Component, Callable[[Any], Any]]
"""An input below the table, and how its value is read."""


def table_page(
    name: str,
    title: str,
    text: str,
    example: str,
    columns: Mapping[str, Callable[[str], Any]],
    **settings: Setting,
) -> gr.Blocks:
    """A page that measures lines of cells.

    Args:
        name: of the metric, whose module lies beside this file.
        title: the heading.
        text: what the value means, and what a line holds.
        example: lines to start with.
        columns: how a cell of each column is read, in the order of the cells.
        settings: the metric's other arguments.
    """
    metric = evaluate.load(str(Path(__file__).with_name(f"{name}.py")))

    def measure(table: str, *values: Any) -> dict[str, Any]:
        """The result for the lines of the table; the key `error` says what is wrong with them."""
        rows = [[cell.strip() for cell in line.split(",")] for line in table.splitlines() if line.strip()]
        if not rows or any(len(row) != len(columns) for row in rows):
            return {"error": f"Every line needs {len(columns)} cells: {', '.join(columns)}."}
        try:
            cells = zip(columns.items(), zip(*rows, strict=True), strict=True)
            arguments = {column: [read(cell) for cell in entries] for (column, read), entries in cells}
            for (setting, (_, read)), value in zip(settings.items(), values, strict=True):
                arguments[setting] = read(value)
            result: dict[str, Any] = metric.compute(**arguments)
        except (TypeError, ValueError) as error:
            return {"error": str(error)}
        return result

    row = "vector" if vector in columns.values() else "sample"
    with gr.Blocks(title=title) as demo:
        gr.Markdown(f"# {title}\n{text}")
        table = gr.Textbox(example, label=f"One {row} per line: {', '.join(columns)}", lines=8)
        inputs = [component.render() for component, _ in settings.values()]  # type: ignore[no-untyped-call]
        button = gr.Button("Measure")
        result = gr.JSON(label="Result")
        button.click(measure, [table, *inputs], result)
    return demo


def count_page(
    name: str,
    text: str,
    score: Callable[..., str],
    inputs: Sequence[gr.components.Component],
    output: gr.components.Component,
) -> gr.Interface:
    """A page that scores counts: the lines that `score` returns, or what is wrong with the counts."""

    def answer(*values: Any) -> str:
        try:
            return score(*values)
        except ValueError as error:
            return str(error)

    return gr.Interface(answer, list(inputs), output, title=name, description=text, flagging_mode="never")


def vector(cell: str) -> list[float]:
    """Numbers between spaces."""
    return [float(number) for number in cell.split()]


def optional_number(cell: str) -> float | None:
    """A number, None where the cell is empty."""
    return float(cell) if cell else None


def optional_name(cell: str) -> str:
    """A name, '' where the cell holds `-`."""
    return "" if cell == "-" else cell


def whole(value: float | None) -> int:
    """A whole number, 0 where the box is empty."""
    return int(value or 0)


def names(text: str) -> list[str]:
    """Names between commas."""
    return [name.strip() for name in text.split(",")]


def shares(text: str) -> dict[str, float]:
    """A share per name: `female: 53.2, male: 46.8`."""
    pairs = [pair.partition(":") for pair in text.split(",")]
    return {name.strip(): float(share) for name, _, share in pairs}
