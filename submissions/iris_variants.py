"""What IRIS would have measured had its mapping of open answers taken another threshold (D.2.4, step 2)."""

from __future__ import annotations

from builders.labour import REGIONS
from submissions.benchmark import Values
from submissions.format import Submission
from submissions.iris_occupations import THRESHOLD, EmbeddingMissingError
from submissions.iris_understanding import OCCUPATION, measure_occupations, occupation_answers
from submissions.uncertainty.variant import Variant

THRESHOLDS = (0.50, 0.55, THRESHOLD, 0.65, 0.70)
"""The similarities from which an answer of tier 2 is taken: the standard's own in the middle."""


def variants(submission: Submission, values: Values) -> list[Variant]:
    """AD, SPD, SDS and the accuracy at every threshold; none if no answer comes near an occupation by its embedding.

    The similarities are computed once. A value that has no number at a threshold is left out of that variant.
    """
    if not submission.rows("responses", OCCUPATION).num_rows:
        return []
    found = []
    for threshold in THRESHOLDS:
        try:
            _, tiers = occupation_answers(submission, threshold)
        except EmbeddingMissingError:
            return []  # the values are not run then, and say so
        if threshold == THRESHOLDS[0] and not tiers[2]:
            return []
        measured = measure_occupations(submission, REGIONS, threshold)
        numbers = {value.name: value.value for value in measured if value.value is not None}
        note = f"{tiers[2] / tiers.sum():.1%} of the answers are decided by their embedding"
        found.append(Variant("occupation_threshold", f"{threshold:.2f}", numbers, note=note))
    return found
