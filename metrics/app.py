"""The page of a metric's Space: rows and settings in text boxes, the result out.

Publishing lays this file beside the metric. The card there names the metric, and the page opens with the first example
of the metric's description.
"""

import csv
import json
import math
import re
from collections.abc import Callable
from doctest import DocTestParser, DocTestRunner
from inspect import signature
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import evaluate
import gradio as gr

READERS: dict[str, Callable[[str], Any]] = {
    "string": str,
    "float64": lambda cell: float(cell) if cell else None,
    "int64": int,
    "vector": lambda cell: [float(number) for number in cell.split()],
}
"""Kind of column -> reader of a cell."""


def metric_page(folder: Path) -> gr.Blocks:
    """The page of the metric that lies in `folder`, with its card beside it."""
    card = (folder / "README.md").read_text(encoding="utf-8")
    (title,), (name, *_) = re.findall(r"^title: (.+)$", card, re.M), re.findall(r'load\("fairspace/(\w+)"\)', card)
    metric = evaluate.load(str(folder / f"{name}.py"))
    kinds: dict[str, str] = dict(metric.about.columns)
    opening = first_example(metric)
    rows = zip(*(opening.pop(column) for column in kinds), strict=True)
    parameters = signature(metric._measure).parameters.values()
    settings = {part.name: part.default for part in parameters if part.default is not part.empty} | opening

    def measure(table: str, settings: str) -> dict[str, Any]:
        """The result for the rows of the table; the key `error` describes a fault."""
        rows = [[cell.strip() for cell in row] for row in csv.reader(table.splitlines()) if row]
        if not rows or any(len(row) != len(kinds) for row in rows):
            return {"error": f"Every line needs {len(kinds)} cells: {', '.join(kinds)}."}
        try:
            cells = zip(kinds.items(), zip(*rows, strict=True), strict=True)
            columns = {column: [READERS[kind](cell) for cell in entries] for (column, kind), entries in cells}
            result: dict[str, Any] = metric.compute(**columns, **json.loads(settings))
        except (TypeError, ValueError) as error:
            return {"error": str(error)}
        return result

    with gr.Blocks(title=title) as demo:
        gr.Markdown(f"# {title}\n{metric.description}\n```\n{metric.inputs_description}\n```")
        label = f"One line per row, empty cells where something is missing; vectors between spaces: {', '.join(kinds)}"
        table = gr.Textbox("\n".join(", ".join(map(_cell, row)) for row in rows), label=label, lines=8)
        others = {name: value for name, value in settings.items() if name not in kinds}
        more = gr.Textbox(json.dumps(others), label="Other arguments, as JSON")
        button = gr.Button("Measure")
        result = gr.JSON(label="Result")
        button.click(measure, [table, more], result)
    return demo


def first_example(metric: Any) -> dict[str, Any]:
    """The arguments of the first call among the examples of the metric's description."""
    calls: list[dict[str, Any]] = []

    def compute(**arguments: Any) -> Any:
        calls.append(arguments)
        return metric.compute(**arguments)

    shown = SimpleNamespace(features=metric.features, compute=compute)
    examples = DocTestParser().get_doctest(metric.inputs_description, {"metric": shown}, "page", None, None)
    examples.examples = [each for each in examples.examples if not each.source.startswith(("import ", "metric = "))]
    DocTestRunner(verbose=False).run(examples, out=lambda text: None)
    return calls[0]


def _cell(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(map(str, value))
    return "" if value is None or (isinstance(value, float) and math.isnan(value)) else str(value)


if __name__ == "__main__":
    metric_page(Path(__file__).parent).launch()
