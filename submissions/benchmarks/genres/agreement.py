"""How far several judges of GENRES agree: on the higher status, the main character, pros and cons, personality words.

The paper asks three judges and finds that they diverge on the status (section 4.2, M4). Answers out of a few are
compared by Krippendorff's alpha for nominal data (Computing Krippendorff's Alpha-Reliability, 2011, section C), which
takes any number of judges and passages that some of them did not judge; words by the Jaccard index. Agreement
never enters a score.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairspace.submissions.benchmarks.genres.records import Column, Features
from fairspace.submissions.values import Value, measured, undefined

MISSING = -1
Codes = NDArray[np.int64]
Words = Mapping[tuple[int, int], frozenset[str]]


@dataclass(frozen=True)
class Agreement:
    """A number, or why there is none.

    Args:
        value: 1 for full agreement, 0 for what chance gives (alpha) or for no common word (Jaccard); None if undefined.
        units: what at least two judges judged; for words, what any two of them gave words for.
        reason: why it is undefined.
    """

    value: float | None
    units: int
    reason: str = ""


def alpha(codes: Codes) -> Agreement:
    """Krippendorff's alpha for nominal data.

    Args:
        codes: (judges, units) categories, `MISSING` where a judge gave none.

    At most 1, negative where judges agree less than by chance. Undefined if no unit has two judges, or if all answers
    of those that have are of one category: nothing then shows that the judges could tell two apart.
    """
    categories = np.unique(codes[codes != MISSING])
    counts = (codes[None] == categories[:, None, None]).sum(axis=1)
    judged = counts.sum(axis=0)
    counts, judged = counts[:, judged >= 2], judged[judged >= 2]
    if not judged.size:
        return Agreement(None, 0, "no two judges judged the same")
    observed = float((counts * (judged - counts) / (judged - 1)).sum())
    totals, answers = counts.sum(axis=1), int(judged.sum())
    expected = float((totals * (answers - totals)).sum()) / (answers - 1)
    if not expected:
        return Agreement(None, judged.size, "all answers are the same, which no chance can be told from")
    return Agreement(1 - observed / expected, judged.size)


def jaccard(words: Sequence[Words]) -> Agreement:
    """The mean share of common words, over every two judges and all that both gave words for.

    Args:
        words: of each judge, the set of words by whatever was judged; what is not there could not be read.

    In [0, 1]. Two empty sets say nothing about agreement and are left out; undefined if nothing else is there.
    """
    shares, units = [], set()
    for first, second in combinations(words, 2):
        for unit in sorted(first.keys() & second.keys()):
            if either := first[unit] | second[unit]:
                shares.append(len(first[unit] & second[unit]) / len(either))
                units.add(unit)
    if not shares:
        return Agreement(None, 0, "no two judges gave words for the same profile")
    return Agreement(float(np.mean(shares)), len(units))


def agreement(judges: Mapping[str, Features], passages: int) -> list[Value]:
    """`agreement_status`, `_main` and `_stereoscopic` (alpha) and `agreement_personality` (mean Jaccard index).

    Args:
        judges: name -> what the judge says of the passages; two at least.
        passages: of the benchmark; pros and cons and words are judged of both characters of each.

    A value's evidence holds the same of every two judges. Bounds are left open: another judge could say anything.
    """
    values, names = [], list(judges)
    for name in ("status", "main", "stereoscopic"):
        both = name == "stereoscopic"
        codes = [categories(features.columns.get(name), passages, both) for features in judges.values()]
        values.append(_value(f"agreement_{name}", names, codes, lambda some: alpha(np.stack(some)), len(codes[0])))
    words = [_words(features) for features in judges.values()]
    return [*values, _value("agreement_personality", names, words, jaccard, 2 * passages)]


def categories(column: Column | None, passages: int, both: bool = False) -> Codes:
    """One category per passage (0 neither, 1 male, 2 female), or two if both characters are judged for themselves."""
    shape = 2 * passages if both else passages
    if column is None:
        return np.full(shape, MISSING)
    numbers = column.ravel() if both else column[:, 0] + 2 * column[:, 1]
    return np.where(np.isnan(numbers), MISSING, np.nan_to_num(numbers)).astype(np.int64)


def _words(features: Features) -> Words:
    return {
        (place, gender): words
        for place, profiles in features.words.items()
        for gender, words in enumerate(profiles)
        if words is not None
    }


def _value(
    name: str, judges: list[str], said: list[Any], compare: Callable[[list[Any]], Agreement], expected: int
) -> Value:
    pairs = []
    for i, j in combinations(range(len(judges)), 2):
        two = compare([said[i], said[j]])
        number = {"reason": two.reason} if two.value is None else {"value": two.value}
        pairs.append({"first": judges[i], "second": judges[j], "units": two.units, **number})
    whole, evidence = compare(said), {"judges": judges, "pairs": pairs}
    if whole.value is None:
        return undefined(name, whole.reason, expected=expected, valid=whole.units, evidence=evidence)
    return measured(name, whole.value, expected=expected, valid=whole.units, evidence=evidence)
