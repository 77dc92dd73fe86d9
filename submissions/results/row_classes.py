"""The classes of a board's rows by what stands behind their numbers. Each class has ranks and tiers of its own."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

RowClass = Literal["verified", "own", "printed", "handed in", "baseline"]


@dataclass(frozen=True)
class ClassAbout:
    """What pages and the command say of a class.

    Args:
        title: of its part of a board.
        means: one sentence: who made the numbers, and who checked them.
        among: the rows that a rank is counted among, as in "rank 2 of 7 printed".
    """

    title: str
    means: str
    among: str


CLASSES: Mapping[RowClass, ClassAbout] = {
    "verified": ClassAbout(
        "Verified", "The maintainers ran the model themselves, or ran it again and got the same result.", "verified"
    ),
    "own": ClassAbout(
        "Run by us",
        "Scored by whoever shows this board, from their own runs or published answers; not run again.",
        "run by us",
    ),
    "printed": ClassAbout(
        "From the papers",
        "Printed in a paper, or computed here from its tables (marked so); there are no answers to score again.",
        "from the paper",
    ),
    "handed in": ClassAbout(
        "Submitted",
        "Scored here from answers that somebody handed in. No rank until a rerun agrees or a maintainer releases it.",
        "released",
    ),
    "baseline": ClassAbout(
        "Baselines", "Trivial models, and copies and mixtures of them; they take no rank.", "baselines"
    ),
}
"""Class -> what it means, in the order in which a board shows them: no row stands above one of an earlier class."""
LEADING: Collection[RowClass] = ("verified", "printed")
"""Classes that the first screen shows."""
UNRANKED = "submitted, unranked until rerun or released"
"""Why a row that was handed in has no rank before somebody answers for it."""
NONE_VERIFIED = "No row of this board is verified yet. Ranks compare rows of one kind only."
ORDER: Mapping[RowClass, int] = {name: place for place, name in enumerate(CLASSES)}


def none_verified(classes: Collection[RowClass]) -> str:
    """The sentence that a board without a verified row begins with; '' for a board that has one."""
    return "" if "verified" in classes else NONE_VERIFIED
