"""A whole verification: printed tables, oracles, and the authors' code where a clone is named."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from fairspace.submissions.verifying.checkout import NEEDS_CHECKOUT, oracles
from fairspace.submissions.verifying.comparison import PARTS, Comparison, Verification
from fairspace.submissions.verifying.printed import printed_tables


def verify(clones: Mapping[str, Path], say: Callable[[str], None] = lambda line: None) -> Verification:
    """Run every part.

    Args:
        clones: name of a repository of authors -> the folder of a clone of it.
        say: is told what is run.
    """
    say(PARTS["printed"])
    comparisons: list[Comparison] = list(printed_tables())
    skipped: dict[str, str] = {}
    without: dict[str, tuple[str, ...]] = {}
    package = oracles()
    if package is None:
        skipped["independent oracles, Table A9"] = NEEDS_CHECKOUT
    else:
        comparisons += package.printed()
        say("SciPy, fairlearn")
        against_libraries, skipped = package.against_libraries()
        comparisons += against_libraries
        against_text, without = package.against_text(say=say)
        comparisons += against_text
    return Verification(tuple(comparisons), skipped, {}, without)
