"""The dataset revisions of IRIS, among them those whose image pairs follow a cohort (C.2).

C.2 bases the pairs on the combinations of occupation and group in which models are most biased; `v1` and `v2` draw
them. A revision such as `v2-cohort-0c1f` names its combinations, two characters each (the number of the occupation and
of the group in base 36); all its other items are those of `v2`.
"""

from __future__ import annotations

import string
from collections.abc import Iterable, Sequence
from itertools import pairwise

from fairspace.builders.errors import check_revision
from fairspace.builders.iris.groups import GROUPS, OCCUPATIONS

REVISIONS = ("v2", "v1")
MARK = f"{REVISIONS[0]}-cohort-"
MOST = 10
"""Most combinations of a cohort; C.2 takes ten of each model for generation, and states no number here."""
Combination = tuple[int, int]
_DIGITS = string.digits + string.ascii_lowercase


def cohort_revision(combinations: Iterable[Combination]) -> str:
    """The revision with pairs of these combinations, in any order. ValueError for none, or more than `MOST`."""
    numbers = sorted({occupation * len(GROUPS) + group for occupation, group in combinations})
    if not 1 <= len(numbers) <= MOST:
        raise ValueError(f"{len(numbers)} combinations; 1 to {MOST} make a plan")
    return MARK + "".join(_DIGITS[number // 36] + _DIGITS[number % 36] for number in numbers)


def combinations_of(revision: str) -> tuple[Combination, ...]:
    """The combinations of a revision's pairs; none if they are drawn, or it is no revision."""
    code = revision.removeprefix(MARK)
    if code == revision or len(code) % 2 or not set(code) <= set(_DIGITS):
        return ()
    numbers = [int(code[place : place + 2], 36) for place in range(0, len(code), 2)]
    ascending = all(before < after for before, after in pairwise(numbers))
    if not 1 <= len(numbers) <= MOST or not ascending or numbers[-1] >= len(OCCUPATIONS) * len(GROUPS):
        return ()
    return tuple(divmod(number, len(GROUPS)) for number in numbers)


def base_revision(revision: str) -> str:
    """The revision that a cohort's revision takes its other items from; else the revision itself."""
    return REVISIONS[0] if combinations_of(revision) else revision


def check_iris_revision(dataset: str, revision: str, revisions: Sequence[str] = REVISIONS) -> None:
    """BuildError REVISION_UNKNOWN if a dataset of IRIS has no such revision."""
    check_revision(dataset, base_revision(revision), revisions)
