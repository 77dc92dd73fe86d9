"""How far two raters of the same images agree, reviewers or labellers: Cohen's kappa with its interval (Cohen 1960)."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

_Z = 1.959963984540054
"""Of a 95 % interval."""


class Kappa(NamedTuple):
    """Agreement of two raters.

    Args:
        images: that both answered.
        agreed: share of equal answers, in [0, 1]; None without any image.
        kappa: (agreed - chance) / (1 - chance), where chance is the share that equal answers would have if the two
            answered independently with their own frequencies. At most 1, the ideal; 0 is chance. None without any
            image, or where both always gave one and the same answer: nothing is known of how they would tell two apart.
        low: end of its 95 % interval.
        high: the other end.
    """

    images: int
    agreed: float | None
    kappa: float | None
    low: float | None
    high: float | None


def cohens_kappa(counts: ArrayLike) -> Kappa:
    """Agreement of two raters from how often the first gave answer i where the second gave answer j.

    The interval has the large-sample standard error of Fleiss, Cohen and Everitt (1969). Where they agree on every
    image that error is 0, which says nothing: there the lower end follows from Wilson's interval of the agreement.

    Args:
        counts: (k, k) images by their two answers, of the same answers in the same order.
    """
    table = np.asarray(counts, float)
    number = int(table.sum())
    if not number:
        return Kappa(0, None, None, None, None)
    shares = table / number
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    agreed, chance = float(np.trace(shares)), float(rows @ columns)
    if (table.sum(axis=0) + table.sum(axis=1) > 0).sum() == 1:
        return Kappa(number, 1.0, None, None, None)
    kappa = (agreed - chance) / (1 - chance)
    if np.trace(table) == number:
        least = number / (number + _Z**2)  # Wilson's lower end of n out of n
        return Kappa(number, 1.0, 1.0, (least - chance) / (1 - chance), 1.0)
    expected = rows[None, :] + columns[:, None]  # p_.i + p_j. at (i, j)
    on_diagonal = np.diag(shares) @ ((1 - chance) - np.diag(expected) * (1 - agreed)) ** 2
    beside = (shares * expected**2).sum() - np.diag(shares) @ np.diag(expected) ** 2
    spread = on_diagonal + (1 - agreed) ** 2 * beside - (agreed * chance - 2 * chance + agreed) ** 2
    error = sqrt(max(0.0, float(spread)) / number) / (1 - chance) ** 2
    return Kappa(number, agreed, kappa, max(-1.0, kappa - _Z * error), min(1.0, kappa + _Z * error))


def crossed(first: Sequence[str], second: Sequence[str]) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """The answers of two raters, sorted, and their `counts` for `cohens_kappa`.

    Errors: ValueError for lists of different lengths.
    """
    answers = tuple(sorted({*first, *second}))
    place = {answer: position for position, answer in enumerate(answers)}
    counts = np.zeros((len(answers), len(answers)), np.int64)
    for given, other in zip(first, second, strict=True):
        counts[place[given], place[other]] += 1
    return answers, counts
