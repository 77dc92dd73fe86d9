"""The published card of a metric: its README.md, with the texts shared by all metrics or stored in its module."""

import ast
import re
from pathlib import Path
from typing import Any

import yaml

SHARED = Path(__file__).parents[1] / "metrics" / "CARDS.md"
_SPACE = """\
sdk: gradio
sdk_version: 6.31.0
app_file: app.py
license: apache-2.0
tags:
- evaluate
- metric
- fairness
"""
"""Front matter of all metrics, but for the title."""
_CITED = re.compile(r"`(\w+)`: \[CARDS\.md\]\(\.\./CARDS\.md#papers\)")
_USED = re.compile(r" \[arguments, result and examples\]\((\w+\.py)\)\.")
_DATASETS = {
    "factorfair": ("fact_or_fair",),
    "stereotypicalbias": ("stereotypical_bias",),
    "xu2025genres": ("genres",),
    "zhao2026iris": ("iris_gen_52", "iris_ideal_52", "iris_steer_60"),
}
"""Cited paper -> the datasets whose answers a metric measures."""
_ENTRY = re.compile(r"```bibtex\n@\w+\{(\w+),.*?```", re.DOTALL)


def metric_card(folder: Path) -> str:
    """The complete card of the metric in `folder`. KeyError if it cites a paper that CARDS.md lacks."""
    card, shared = (folder / "README.md").read_text(encoding="utf-8"), SHARED.read_text(encoding="utf-8")
    entries = {entry[1]: entry[0] for entry in _ENTRY.finditer(shared)}
    short = "short_description: " in card
    about: dict[str, Any] = {} if short else {"description": " ".join(card.split("\n\n")[2].split()).partition(". ")[0]}
    cited = [name for key in _CITED.findall(card) for name in _DATASETS.get(key, ())]
    about |= {"datasets": [f"fairspace/{name}" for name in cited]} if cited else {}
    card = card.replace("---\n", f"---\n{_SPACE}{yaml.safe_dump(about, allow_unicode=True, width=1000)}", 1)
    card = _CITED.sub(lambda cited: entries[cited[1]], card)
    card = with_arguments(card, folder)
    shared_text = shared[shared.index("## In every card") : shared.index("## Papers")].rstrip()
    return f"{card.replace('../CARDS.md', '')}\n{shared_text}\n"


def with_arguments(card: str, folder: Path) -> str:
    """A card with the arguments, result and examples of its metric in place of the link to them."""
    return _USED.sub(lambda used: f"\n\n```text\n{_inputs(folder / used[1])}\n```", card)


def _inputs(module: Path) -> str:
    """Arguments, result and examples of a metric: the constant `INPUTS` of its module."""
    for line in ast.parse(module.read_text(encoding="utf-8")).body:
        if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == "INPUTS":
            return str(ast.literal_eval(line.value)).strip()
    raise ValueError(f"{module} has no INPUTS")
