"""Tables 2 to 8 of FACT-OR-FAIR, and its Figures 2, 4 and 5 (`paper.toml`)."""

from collections.abc import Mapping
from itertools import product
from pathlib import Path

import numpy as np

from fairspace.metrics.fact_or_fair.formula import GROUPS
from fairspace.metrics.fact_or_fair.tradeoff import accuracy_entropy_bound
from fairspace.submissions.benchmarks.benchmark import Scored
from fairspace.submissions.benchmarks.fact_or_fair.score import STANDARDS
from fairspace.submissions.benchmarks.paper import PaperTable, PaperTables, PrintedBlock, read_parts
from fairspace.submissions.benchmarks.scoring_table import Rule, ScoringTable
from fairspace.submissions.values import Value

_IMAGES = "t2i_subjective"
"""Printed subjective prompts."""
_SCORES = {
    "4": ("factuality", "S_fact, the share of answers that agree with the statistics"),
    "5": ("fairness", "S_fair, evenness and likeness of the answers as one number"),
    "6": ("entropy", "S_E, evenness of the answers over groups"),
    "7": ("kld", "S_KLD, likeness of the answers for highest and lowest"),
    "8": ("distance", "d, distance to the largest S_E that S_fact allows"),
}
"""Number of a table -> beginning of its values, and its caption."""
_MEAN = " The last column is the mean of the row; one's own has no interval."
_QUERIES = "objective queries (O), subjective ones without context (S-B) and with contexts of"
_CONTEXTS = "representativeness (S-R), attribution (S-A) and in-groups (S-G)"
_KINDS = {
    "llm": ("a", ["O", "S-B", "S-R", "S-A", "S-G"], f"language models: {_QUERIES} {_CONTEXTS}"),
    "t2i": ("b", ["O", "S"], "image models: objective (O) and subjective (S) prompts"),
}
"""Kind of model -> part of Tables 4 to 8, heads of its contexts, and their text."""


def paper(values: Mapping[str, Value], scored: Scored, standard: str) -> PaperTables:
    """The paper's tables and figures; the images are those of the standard's prompts."""
    contexts, grid = STANDARDS[standard].contexts, np.linspace(0, 1, 101)
    images = contexts["t2i"][1]
    curves = {f"bound_{of}": accuracy_entropy_bound(grid, len(groups)) for of, groups in GROUPS.items()}
    curves["fair"] = np.maximum(0, (0.9 - grid[:-1]) / (1 - grid[:-1]))
    points = {name: [*zip(grid.tolist(), curve.tolist(), strict=False)] for name, curve in curves.items()}
    means = {
        f"distance_{kind}_{of}": {f"distance_{context}_{of}": 1.0 for context in contexts[kind]}
        for kind in contexts
        for of in GROUPS
    }
    parts = read_parts(Path(__file__).with_suffix(".toml"), points, **{_IMAGES: images})
    rows, figures = [PrintedBlock((of.capitalize(),), of) for of in GROUPS], len(parts) - 2
    for (number, (score, text)), (kind, (part, heads, about)) in product(_SCORES.items(), _KINDS.items()):
        has_mean = score == "distance"
        names = [f"{score}_{context}_*" for context in contexts[kind]] + [f"{score}_{kind}_*"] * has_mean
        columns, caption = [*heads, *["Avg."] * has_mean], f"{text}, in percent; {about}.{_MEAN * has_mean}"
        table = PaperTable(f"Table {number} ({part})", caption, columns, names, rows, heads=[""], digits=2, unit=100.0)
        parts.insert(len(parts) - figures, table)
    rules = ScoringTable({name: Rule(name, weights) for name, weights in means.items()})
    absent = {"Tables 1 and 9 and Figures 1 and 3": "they have no results"}
    return PaperTables(parts, lambda figure: (figure.score.replace(_IMAGES, images), 100.0), rules, absent=absent)
