"""Repeated evaluations of GENRES: one judge that is asked the same several times, as the paper's three are four times.

"All the results are averaged over four independent evaluations" (section 4.1). The first evaluation of the first judge
is scored; the variant `repeated_evaluations` has the mean over all of a judge's evaluations, and an interval from how
far these differ. At temperature 0 a judge says the same again: repeated evaluations need a higher one.
"""

from __future__ import annotations

import numpy as np

from fairspace.submissions.benchmarks.benchmark import Values
from fairspace.submissions.benchmarks.genres.measure import JUDGED
from fairspace.submissions.benchmarks.genres.records import Records
from fairspace.submissions.benchmarks.genres.unranked.names import judge_of
from fairspace.submissions.uncertainty.uncertainty import LEVEL
from fairspace.submissions.uncertainty.variant import Variant
from fairspace.submissions.values import number_of


def repeated_evaluations(records: Records, values: Values) -> list[Variant]:
    """For each judge with several evaluations: the mean of each metric over them, as the paper prints it.

    The interval is that of the mean of these evaluations alone (Student's t): the passages stay.
    """
    from scipy.special import stdtrit

    suffixes: dict[str, list[str]] = {}
    for number, name in enumerate((records.judge or "", *records.others), 1):
        suffixes.setdefault(judge_of(name), []).append("" if number == 1 else f"@{number}")
    variants = []
    for judge, those in suffixes.items():
        numbers, ends = {}, {}
        for metric in JUDGED if len(those) > 1 else ():
            each = [of for suffix in those if (of := number_of(values, f"{metric}{suffix}")) is not None]
            if len(each) < len(those):
                continue
            numbers[metric] = float(np.mean(each))
            half = float(stdtrit(len(each) - 1, (1 + LEVEL) / 2)) * float(np.std(each, ddof=1)) / len(each) ** 0.5
            ends[metric] = (numbers[metric] - half, numbers[metric] + half)
        if numbers:
            note = (
                f"Means over {len(those)} evaluations of the same passages by one judge; the paper prints means over "
                "four. The intervals hold how far this judge's answers vary, and not the choice of passages."
            )
            variants.append(Variant("repeated_evaluations", judge, numbers, ends, note))
    return variants
