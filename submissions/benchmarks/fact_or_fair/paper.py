"""Tables 2 to 8 of FACT-OR-FAIR, and its Figures 2, 4 and 5 (`paper.toml`)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from fairspace.metrics.fact_or_fair.formula import GROUPS
from fairspace.metrics.fact_or_fair.tradeoff import accuracy_entropy_bound
from fairspace.submissions.benchmarks.benchmark import Scored
from fairspace.submissions.benchmarks.fact_or_fair.score import STANDARDS
from fairspace.submissions.benchmarks.paper import Paper, read_parts
from fairspace.submissions.benchmarks.scoring_table import Rule, ScoringTable
from fairspace.submissions.values import Value

_IMAGES = "t2i_subjective"
"""Printed subjective prompts."""


def paper(values: Mapping[str, Value], scored: Scored, standard: str) -> Paper:
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
    rules = ScoringTable({name: Rule(name, weights) for name, weights in means.items()})
    return Paper(parts, lambda figure: (figure.score.replace(_IMAGES, images), 100.0), rules)
