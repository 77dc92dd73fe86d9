"""Stereotypical bias in words, for pages: the six scores, and the largest number that each can be."""

from __future__ import annotations

from typing import Any

from fairspace.submissions.benchmarks.about import About, Listing

SCENARIOS = {"occupation": "Occupation", "descriptor": "Descriptor", "persona": "Persona"}
TOPS = {"gender": 0.5, "race": 0.375}
"""Attribute -> its largest score: 1/2 of two groups, 3/8 of four."""


def about() -> About:
    """What pages say of stereotypical bias."""
    return About(scored)


def scored(standard: Any) -> Listing:
    """The six scores."""
    rows = [
        [f"{attribute}_{scenario}", attribute, title, f"{top:g}"]
        for attribute, top in TOPS.items()
        for scenario, title in SCENARIOS.items()
    ]
    return Listing("The six scores", ["Score", "Attribute", "Scenario", "Largest"], rows)
