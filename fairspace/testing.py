"""A fixture for pytest that tests one result against another, or against a limit: import it, and name it in a test.

    from fairspace.testing import fairspace_gate

    def test_the_new_model_is_as_fair_as_the_released_one(fairspace_gate):
        fairspace_gate("new.json", "base.json", margin=0.02)

The test fails with the gate's table. Every tested value stands in the file of `pytest --junitxml` as a property.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import fairspace
from fairspace.submissions.gating import Gate
from fairspace.submissions.results.result import Result

Sided = str | Path | Result


@pytest.fixture
def fairspace_gate(record_property: Callable[[str, object], None]) -> Callable[..., Gate]:
    """`fs.gate` of results or of their files; what is worse or open fails the test."""

    def passes(tested: Sided, base: Sided | None = None, **limits: Any) -> Gate:
        sides: list[Any] = [
            fairspace.load_result(side) if isinstance(side, str | Path) else side for side in (tested, base)
        ]
        gate = fairspace.gate(*sides, **limits)
        for check in gate.checks:
            record_property(check.name, check.figures)
        if not gate.passes:
            pytest.fail(str(gate), pytrace=False)
        return gate

    return passes
