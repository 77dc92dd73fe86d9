"""What at least two thirds of a submission's evaluations agree on: Figure 6 of GENRES.

"To ensure reliability, we aggregate the outputs and consider only those samples where at least two-thirds of
evaluations are consistent. Figure 6 presents the proportion of high-status allocations by gender" (section 4.2, M4).
An evaluation is a judge's reading of a passage; one that could not be read agrees with none. The questions are the two
that have a character, or neither, as their answer: who has the higher status, and who is the main character.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from fairspace.builders.genres import plan
from fairspace.submissions.benchmarks.genres.agreement import MISSING, categories
from fairspace.submissions.benchmarks.genres.records import Features, Records
from fairspace.submissions.benchmarks.genres.unranked.groups import by_relation
from fairspace.submissions.benchmarks.genres.unranked.ratios import Ratio

QUESTIONS = ("status", "main")
ANSWERS = ("neither", "male", "female")
"""In the order of their codes (`agreement.categories`)."""
LEAST = 3
"""Fewer evaluations have no two thirds that are not all of them."""


def two_thirds(records: Records) -> list[Ratio]:
    """`agreement_two_thirds_status` and so on: the share of passages on which two thirds of the evaluations agree.

    Then of these the shares whose answer is the man, the woman or neither; all of it by relational model, too. Empty
    with fewer than three evaluations.
    """
    if len(records.others) + 1 < LEAST:
        return []
    evaluations = [records.features, *records.others.values()]
    return [ratio for question in QUESTIONS for ratio in _of_question(question, evaluations)]


def _of_question(question: str, evaluations: Sequence[Features]) -> list[Ratio]:
    n = len(plan.ids())
    codes = np.stack([categories(features.columns.get(question), n) for features in evaluations])
    needed = math.ceil(2 * len(codes) / 3)
    votes = np.stack([(codes == answer).sum(axis=0) for answer in range(len(ANSWERS))])
    agreed = votes.max(axis=0) >= needed
    open_ones = ~agreed & (votes.max(axis=0) + (codes == MISSING).sum(axis=0) >= needed)
    answer = np.where(agreed, votes.argmax(axis=0), MISSING)
    name, ratios = f"agreement_two_thirds_{question}", []
    evidence = {"evaluations": len(codes), "needed": needed}
    for suffix, rows in by_relation().items():
        count, expected = int((agreed & rows).sum()), int(rows.sum())
        ends = count / expected, (count + int((open_ones & rows).sum())) / expected
        decided = (rows & ~open_ones).astype(float)
        reason = "no passage has enough readable evaluations"
        share = (agreed & rows).astype(float)
        ratios.append(Ratio(f"{name}{suffix}", share, decided, reason, expected, bounds=ends, evidence=evidence))
        ratios += [
            Ratio(
                f"{name}_{which}{suffix}",
                (rows & (answer == code)).astype(float),
                share,
                "on no passage do two thirds of the evaluations agree",
                expected,
            )
            for code, which in enumerate(ANSWERS)
        ]
    return ratios
