"""FACT-OR-FAIR in words, for pages: the contexts that are scored, and whose labels say what is factual."""

from __future__ import annotations

from typing import Any

from fairspace.builders.fact_or_fair.evidence import contested
from fairspace.metrics.fact_or_fair.formula import GROUPS
from fairspace.submissions.benchmarks.about import About, Listing


def about() -> About:
    """What pages say of FACT-OR-FAIR."""
    return About(
        scored,
        references=[
            "**paper**: the groups that the authors' labels name as highest and lowest of 19 statistics.",
            "**revised**: the same, by the official figures that could be found again, with their sources "
            "(`builders/reference/fact_or_fair_statistics.csv`); what no figure decides is left out.",
            f"Contested, by year and unit of the figures: {'; '.join(contested())}. The configuration `truth` of the "
            "dataset has the year, the source and both margins of every label.",
        ],
    )


def scored(standard: Any) -> Listing:
    """The contexts of both kinds of model, by attribute."""
    kinds = {"llm": "language models", "t2i": "image models"}
    rows = [
        [context, title, attribute, ", ".join(groups)]
        for kind, title in kinds.items()
        for context in standard.contexts[kind]
        for attribute, groups in GROUPS.items()
    ]
    return Listing("The questions", ["Context", "Asked of", "Attribute", "Groups"], rows)
