import json

import pytest

from fairspace.submissions.benchmarks.registry import NAMES
from tests.locks.numbers import KEPT, PARTS, errors, moved

IN_SUITE = ("stereotyped", "constant")
"""Baselines whose errors the suite computes: one with bias everywhere, one with equal draws."""


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
def test_no_number_moved(part: str) -> None:
    """IRIS' draws differ where a processor adds otherwise: only the command compares its errors."""
    kept = json.loads(KEPT.read_text(encoding="utf-8"))[part]
    if part == "errors":
        begins = tuple(f"{name}/{model} " for name in NAMES if name != "iris" for model in IN_SUITE)
        kept = {name: number for name, number in kept.items() if name.startswith(begins)}
        now = dict(errors([name for name in NAMES if name != "iris"], IN_SUITE))
    else:
        now = dict(PARTS[part]())
    assert kept
    assert moved(kept, now) == []
