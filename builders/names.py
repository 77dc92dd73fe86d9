"""The names of the datasets, from the folders beside this file, without loading any."""

from pathlib import Path

FIRST = ("iris_ideal_52", "iris_steer_60", "iris_gen_52", "iris_classifier_25")
"""Datasets listed first; the others follow alphabetically."""


def _order(name: str) -> tuple[int, str]:
    return FIRST.index(name) if name in FIRST else len(FIRST), name


NAMES = tuple(sorted((file.parent.name for file in Path(__file__).parent.glob("*/plan.py")), key=_order))
