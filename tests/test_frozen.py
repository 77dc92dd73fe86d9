"""Moving code changes no number: results, boards and sample builds are those of the commit before the move."""

import json
from importlib import import_module

import pytest

from fairspace.submissions.benchmarks.registry import NAMES
from tests import frozen
from tests.sample_builds import sample_builds

pytestmark = pytest.mark.slow

FROZEN = json.loads(frozen.HASHES.read_text(encoding="utf-8"))
SAME_LOGARITHM = import_module("numpy._core._multiarray_umath").__cpu_features__["AVX512_SKX"]
"""Elsewhere numpy takes another logarithm, and divergences differ in their 15th digit."""


@pytest.mark.skipif(not SAME_LOGARITHM, reason="the hashes are of a processor with AVX-512; run it on one")
@pytest.mark.parametrize("benchmark", NAMES)
def test_results_and_boards_are_those_of_before(benchmark: str) -> None:
    found = dict(frozen.hashes(benchmark))
    assert found == {name: FROZEN[name] for name in found}
    assert len(found) > 5


def test_sample_builds_are_those_of_before() -> None:
    assert dict(frozen.build_hashes(sample_builds())) == {
        name: h for name, h in FROZEN.items() if name.startswith("build ")
    }
