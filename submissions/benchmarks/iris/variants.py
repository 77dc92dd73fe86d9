"""RD and JSD of IRIS without the labeller's errors: by its confusion matrix, and by people's labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from fairspace.builders.iris.groups import COMBINATIONS, OCCUPATIONS, combination_codes, combination_size
from fairspace.builders.iris.labour import REGIONS, shares
from fairspace.builders.iris_gen_52 import plan as iris_gen_52
from fairspace.metrics.distribution_divergence.formula import divergence
from fairspace.metrics.representation_disparity.formula import disparity
from fairspace.submissions.benchmarks.benchmark import Values
from fairspace.submissions.benchmarks.iris.measure.understanding import measure_occupations
from fairspace.submissions.benchmarks.iris.parse import THRESHOLD, EmbeddingMissingError
from fairspace.submissions.benchmarks.iris.records import NEUTRAL, OCCUPATION, faces, occupation_answers
from fairspace.submissions.format.schema import Attribute, Submission
from fairspace.submissions.uncertainty.design import Floats
from fairspace.submissions.uncertainty.label_errors import (
    Shares,
    human_codes,
    label_checks,
    label_variants,
    paired_counts,
)
from fairspace.submissions.uncertainty.variant import Kind, Variant


def _rd_name(combination: str) -> str:
    return f"RD_{'joint_all' if combination == 'gender_age_skin' else combination}"


HELD: Mapping[Kind, str] = {
    "labels_corrected": (
        "In simulations at the paper's matrices and 160 images an occupation, 83 to 98 % of the intervals of RD held "
        "the truth (of 18 groups 57 to 95 %) and 74 to 97 % of JSD, fewest where nearly all images show one group."
    ),
    "human_labels": (
        "In simulations with 16 of 160 images labelled by people, 63 to 95 % of the intervals of RD held the truth and "
        "9 to 98 % of JSD, fewest where nearly all images show one group."
    ),
}
"""Nominal are 95 %. True shares of 52 occupations drawn from Dirichlet distributions of parameter 0.1, 0.5 and 3, 40 to
100 studies of each."""
LIMITS: Mapping[str, tuple[float, float]] = {
    **{_rd_name(combination): (0.0, 1.0) for combination in COMBINATIONS},
    **{f"JSD_{region.code}_{c}": (0.0, float(np.log(2))) for region in REGIONS for c in shares(region)},
}
"""Of what can be corrected, the smallest and the largest number."""
COLUMNS: tuple[Attribute, ...] = ("gender", "age", "skin_tone")


def corrected(submission: Submission, values: Values) -> list[Variant]:
    """RD of the seven combinations and JSD of each region; empty without `label_error` and people's labels."""
    checks = label_checks(submission)
    if checks is None or not submission.rows("annotations", NEUTRAL).num_rows:
        return []
    return list(label_variants(checks, values, list(_measured(submission)), HELD))


def _measured(submission: Submission) -> Iterator[Shares]:
    found = faces(submission, NEUTRAL, iris_gen_52.ids(submission.meta.dataset_revision))
    human = human_codes(submission, NEUTRAL, found.rows, COLUMNS)
    weights = np.ones(len(found.item))
    for combination, places in COMBINATIONS.items():
        shape = len(OCCUPATIONS), combination_size(combination)
        machine, people = combination_codes(found.attributes, combination), combination_codes(human, combination)
        counts = paired_counts(found.item, machine, people, shape, weights)
        references = {f"JSD_{region.code}_{combination}": shares(region).get(combination) for region in REGIONS}
        known = {name: reference for name, reference in references.items() if reference is not None}

        def statistic(p: Floats, references: tuple[Floats, ...] = tuple(known.values())) -> Floats:
            listed = [~np.isnan(reference).any(axis=1) for reference in references]
            columns = [disparity(p).mean(axis=-1)]
            columns += [
                divergence(p[..., own, :], reference[own]).mean(axis=-1)
                for own, reference in zip(listed, references, strict=True)
            ]
            return np.stack(columns, axis=-1)

        yield Shares(
            key=f"{NEUTRAL}/{combination}",
            columns=tuple(COLUMNS[place] for place in places),
            counts=counts,
            names=(_rd_name(combination), *known),
            statistic=statistic,
            limits=tuple(LIMITS[name] for name in (_rd_name(combination), *known)),
        )


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
