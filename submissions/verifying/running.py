"""A whole verification: printed tables, oracles, and the authors' code where a clone is named."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from fairspace.submissions.verifying.checkout import NEEDS_CHECKOUT, oracles
from fairspace.submissions.verifying.clones import REPOSITORIES
from fairspace.submissions.verifying.comparison import PARTS, Comparison, Verification
from fairspace.submissions.verifying.printed import printed_tables


def verify(clones: Mapping[str, Path], say: Callable[[str], None] = lambda line: None) -> Verification:
    """Run every part.

    Args:
        clones: name of a repository of authors -> the folder of a clone of it.
        say: is told what is run.

    Errors: CloneError for a clone that is not the pinned commit.
    """
    for name, folder in clones.items():
        REPOSITORIES[name].check(folder)
    say(PARTS["printed"])
    comparisons: list[Comparison] = list(printed_tables())
    package = oracles()
    if package is None:
        return Verification(tuple(comparisons), {"the oracles, Table A9 and the authors' code": NEEDS_CHECKOUT})
    comparisons += package.printed()
    say("SciPy, fairlearn")
    against_libraries, skipped = package.against_libraries()
    against_text, without = package.against_text(say=say)
    comparisons += [*against_libraries, *against_text]
    patches, departures = {}, {}
    for name, repository in REPOSITORIES.items():
        if name not in clones:
            skipped[f"the authors' code of {repository.address}"] = f"name a clone of it with --{name}"
            continue
        say(repository.address)
        outcome = package.against_authors(name, clones[name])
        comparisons += outcome.comparisons
        patches[repository.address] = outcome.patches
        departures.update(outcome.departures)
    return Verification(tuple(comparisons), skipped, patches, without, departures)
