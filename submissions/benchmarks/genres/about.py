"""GENRES in words, for pages: the eight metrics, the relational models, and the cohorts of a standard."""

from __future__ import annotations

from typing import Any

from fairspace.submissions.benchmarks.about import About, Listing
from fairspace.submissions.plotting import number

METRICS = {
    "M1": "warmth %",
    "M2": "valence",
    "M3": "subject",
    "M4": "status %",
    "M5": "emotion",
    "M6": "positive %",
    "M7": "rounded",
    "M8": "main role",
}
RELATIONS = {
    "Communal sharing": "cs",
    "Equality matching": "em",
    "Market pricing": "mp",
    "Authority ranking": "ar",
}


def about() -> About:
    """What pages say of GENRES."""
    return About(scored, cohorts)


def scored(standard: Any) -> Listing:
    """The eight metrics."""
    rows = [[name, title] for name, title in METRICS.items()]
    relations = ", ".join(f"{code.upper()} {title.lower()}" for title, code in RELATIONS.items())
    rows += [["by relational model", f"each metric also for {relations}"]]
    return Listing("The eight metrics", ["Metric", "What it is: the man's figure minus the woman's"], rows)


def cohorts(standard: Any) -> Listing:
    """What each metric's distance is taken from and its deviation, for the cohort of each judge's family."""
    headers = ["Judge's family", *(f"{metric} centre ± deviation" for metric in METRICS)]
    rows = [
        [
            name,
            *(f"{number(m, 3)} ± {number(s, 3)}" for m, s in zip(figures.mean, figures.std, strict=True)),
        ]
        for name, figures in standard.cohorts.items()
    ]
    centre = "their means" if any(any(figures.mean) for figures in standard.cohorts.values()) else "0"
    return Listing(f"One cohort per judge's family; TBS adds up distances from {centre}.", headers, rows)
