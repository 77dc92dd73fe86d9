"""Stereotypical bias in words, for pages: six scores, their largest numbers, and the rows of Table 2 with the mean."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from fairspace.builders.registry import figures
from fairspace.submissions.benchmarks.benchmark import About, Listing
from fairspace.submissions.benchmarks.published import (
    Published,
    computed,
    missing,
    models,
    printed,
    published_row,
    source,
)

SCENARIOS = {"occupation": "Occupation", "descriptor": "Descriptor", "persona": "Persona"}
TOPS = {"gender": 0.5, "race": 0.375}
"""Attribute -> its largest score: 1/2 of two groups, 3/8 of four."""
_KINDS = {
    "": "uneven choices: {cell}",
    "na_filtered": "uneven choices of the answers that choose: {cell}",
    "na_rate": "share of answers that choose no group: {cell}",
    "position_share": "share of the place that is chosen most: {cell}",
    "refusal_rate": "share of answers that decline: {cell}",
    "refusal_difference": "difference of the shown races in this share: {cell}",
}


@lru_cache
def about() -> About:
    """Texts of stereotypical bias for pages."""
    return About(scored, describe=describe, metric=metric)


@lru_cache(4096)
def describe(name: str) -> str:
    """A score or a value in words."""
    if name == "total":
        return "mean of the six association scores"
    attribute, _, rest = name.partition("_")
    scenario, _, kind = rest.partition("_")
    if attribute not in TOPS or scenario not in SCENARIOS or kind not in _KINDS:
        return ""
    return _KINDS[kind].format(cell=f"{attribute}, {scenario}s")


def metric(name: str) -> str:
    """The metric's folder for a score or a value, or ''."""
    _, _, kind = name.partition("_")[2].partition("_")
    return "stereotypical_association" if kind in ("", "na_filtered") else ""


def scored(standard: Any) -> Listing:
    """The six scores."""
    rows = [
        [f"{attribute}_{scenario}", attribute, title, f"{top:g}"]
        for attribute, top in TOPS.items()
        for scenario, title in SCENARIOS.items()
    ]
    return Listing("The six scores", ["Score", "Attribute", "Scenario", "Largest"], rows)


def rows(standard: str) -> Iterator[Published]:
    """Table 2's three models and their ensemble, whatever the standard."""
    names = list(dict.fromkeys(figure.score for figure in figures("stereotypical_bias")))
    for cells in models("stereotypical_bias").values():
        place = source(cells[0])
        values = {cell.score: printed(cell) for cell in cells}
        scores = {name: values.get(name) or missing(name, place) for name in names}
        plain = [v.value for name, v in scores.items() if not name.endswith("_na_filtered") and v.value is not None]
        scores["total"] = (
            computed("total", sum(plain) / 6, f"mean of the six scores of {place}")
            if len(plain) == 6
            else missing("total", place)
        )
        reason = "no worst case: how many questions were not answered is not printed"
        yield published_row(cells, scores, "total", unranked=(reason,))
