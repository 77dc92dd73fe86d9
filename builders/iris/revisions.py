"""The dataset revisions of IRIS, among them those whose image pairs follow a cohort (C.2).

C.2 bases IRIS-Steer-60's pairs on the combinations of occupation and group in which models are most biased; `v1` and
`v2` draw them instead. A revision such as `v2-cohort-0c1f` has such pairs: behind the mark stand the combinations, two
characters each (the number of the occupation and the group in base 36), so that whoever reads the label knows the plan.
All its other items are those of `v2`.
"""

from __future__ import annotations

import string
from collections.abc import Iterable, Sequence
from itertools import pairwise

from fairspace.builders.errors import check_revision
from fairspace.builders.iris.groups import GROUPS, OCCUPATIONS

REVISIONS = ("v2", "v1")
"""Of all IRIS datasets, the newest first."""
MARK = f"{REVISIONS[0]}-cohort-"
MOST = 10
"""Combinations of a cohort; C.2 takes as many of each model for generation, and states no number here."""
Combination = tuple[int, int]
"""Index into `OCCUPATIONS`, index into `GROUPS`."""
_DIGITS = string.digits + string.ascii_lowercase


def cohort_revision(combinations: Iterable[Combination]) -> str:
    """The revision whose pairs show these combinations; their order changes nothing. ValueError for none, or many."""
    numbers = sorted({occupation * len(GROUPS) + group for occupation, group in combinations})
    if not 1 <= len(numbers) <= MOST:
        raise ValueError(f"{len(numbers)} combinations; 1 to {MOST} make a plan")
    return MARK + "".join(_DIGITS[number // 36] + _DIGITS[number % 36] for number in numbers)


def combinations_of(revision: str) -> tuple[Combination, ...]:
    """The combinations that a revision's pairs show; none if they are drawn, or it is no revision."""
    code = revision.removeprefix(MARK)
    if code == revision or len(code) % 2 or not set(code) <= set(_DIGITS):
        return ()
    numbers = [int(code[place : place + 2], 36) for place in range(0, len(code), 2)]
    ascending = all(before < after for before, after in pairwise(numbers))
    if not 1 <= len(numbers) <= MOST or not ascending or numbers[-1] >= len(OCCUPATIONS) * len(GROUPS):
        return ()
    return tuple(divmod(number, len(GROUPS)) for number in numbers)


def base_revision(revision: str) -> str:
    """The revision that a cohort's has all items but the pairs of; else its own."""
    return REVISIONS[0] if combinations_of(revision) else revision


def check_iris_revision(dataset: str, revision: str, revisions: Sequence[str] = REVISIONS) -> None:
    """BuildError REVISION_UNKNOWN if a dataset of IRIS has no such revision."""
    check_revision(dataset, base_revision(revision), revisions)
