"""Tables 2 to 8 of FACT-OR-FAIR (`paper.toml`), and its Figures 2, 4 and 5."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from fairspace.builders.fact_or_fair.statistics import ATTRIBUTES
from fairspace.builders.registry import Figure
from fairspace.submissions.benchmarks.benchmark import Scored
from fairspace.submissions.benchmarks.fact_or_fair.score import STANDARDS
from fairspace.submissions.benchmarks.paper import Paper, read_tables
from fairspace.submissions.benchmarks.scoring_table import Rule, ScoringTable
from fairspace.submissions.values import Value

_PRINTED_IMAGES = "t2i_subjective"


def paper(values: Mapping[str, Value], scored: Scored, standard: str) -> Paper:
    """The paper's tables and figures; the images are those of the standard's prompts."""
    contexts = STANDARDS[standard].contexts
    images = contexts["t2i"][1]

    def printed(figure: Figure) -> tuple[str, float]:
        return figure.score.replace(_PRINTED_IMAGES, images), 100.0

    means = {
        f"distance_{kind}_{of}": {f"distance_{context}_{of}": 1.0 for context in contexts[kind]}
        for kind in contexts
        for of in ATTRIBUTES
    }
    tables = read_tables(Path(__file__).with_suffix(".toml"), **{_PRINTED_IMAGES: images})
    return Paper(tables, printed, ScoringTable({name: Rule(name, parts) for name, parts in means.items()}))
