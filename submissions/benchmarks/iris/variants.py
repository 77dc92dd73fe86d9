"""Sensitivity analyses of an IRIS submission.

Occupation answers at other thresholds of the embedding, and by the paper's mapping; tournament wins as shares of
occupations within a group (D.2.5, step 4); RD and JSD without the labeller's errors.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from fairspace.builders.iris import groups
from fairspace.metrics.columns import Floats, Integers
from fairspace.metrics.distribution_divergence.formula import divergence
from fairspace.metrics.representation_disparity.formula import disparity
from fairspace.metrics.resampling import whole
from fairspace.submissions.benchmarks.iris.answer_quantities import (
    occupation_design,
    occupation_names,
    tournament_design,
    tournament_name,
)
from fairspace.submissions.benchmarks.iris.image_quantities import (
    Reference,
    disparity_name,
    divergence_name,
    references,
)
from fairspace.submissions.benchmarks.iris.parse.rows import (
    PAPER_THRESHOLD,
    THRESHOLD,
    EmbeddingMissingError,
    Matches,
    paper_codes,
)
from fairspace.submissions.benchmarks.iris.records import LABELS, NEUTRAL, OCCUPATION, Records
from fairspace.submissions.uncertainty.label_errors import Shares, label_variants, paired_counts
from fairspace.submissions.uncertainty.uncertainty import Kind, Variant
from fairspace.submissions.values import Values

THRESHOLDS = (0.60, 0.65, THRESHOLD, 0.75, 0.80)
"""Smallest accepted similarities of tier 2: the standard's own in the middle."""
HELD: Mapping[Kind, str] = {
    "labels_corrected": (
        "In simulations at the paper's matrices and 160 images an occupation, 83 to 100 % of the intervals of RD held "
        "the truth and 87 to 100 % of JSD, fewest where nearly all images of an occupation show one group."
    ),
    "human_labels": (
        "In simulations with 16 of 160 images labelled by people, 40 to 93 % of the intervals of RD held the truth "
        "where groups differ, nearly none where they are alike, and 23 to 100 % of JSD, fewest where nearly all images "
        "of an occupation show one group."
    ),
}
"""Simulated coverage of 95 % intervals: `submissions/uncertainty/README.md`, section "Labels"."""
LIMITS: Mapping[str, tuple[float, float]] = {
    **{disparity_name(combination): (0.0, 1.0) for combination in groups.COMBINATIONS},
    **{divergence_name(f.region, f.attribute): (0.0, float(np.log(2))) for f in references(groups.REGIONS)},
}
"""Smallest and largest number of each correctable value."""


def variants(records: Records, values: Values) -> list[Variant]:
    """The values at other thresholds, by the paper's mapping and counting, then without the labeller's errors."""
    return [*_by_threshold(records), *_as_mapped(records), *_by_bayes(records), *_corrected(records, values)]


def _by_threshold(records: Records) -> list[Variant]:
    """AD, SPD, SDS and the accuracy at every threshold; none if no answer comes near an occupation by its embedding."""
    occupations = records.occupations
    if occupations is None or not occupations.tiers(THRESHOLDS[0])[2]:
        return []
    by_threshold = []
    for threshold in THRESHOLDS:
        tiers = occupations.tiers(threshold)
        numbers = _numbers(occupations.codes(threshold), records.revision)
        note = f"{tiers[2] / tiers.sum():.1%} of the answers are decided by their embedding"
        by_threshold.append(Variant("occupation_threshold", f"{threshold:.2f}", numbers, note=note))
    return by_threshold


def _numbers(answers: Integers, revision: str) -> dict[str, float]:
    """AD, SPD, SDS and the accuracy of the codes of occupation answers, where they are defined."""
    _, values = whole(*occupation_design(answers, groups.REGIONS, revision))
    return {name: values[name] for name in occupation_names(groups.REGIONS) if not np.isnan(values[name])}


def as_the_paper_maps(records: Records) -> Records:
    """The records with the paper's mapping of whole answers (D.2.4); without a needed embedding, the task is absent."""
    occupations = records.occupations
    if occupations is None:
        return records
    try:
        codes = paper_codes(occupations.texts)
    except EmbeddingMissingError as error:
        return replace(records, occupations=None, absent={**records.absent, OCCUPATION: str(error)})
    nowhere, nothing = np.full(len(codes), -1), np.full(len(codes), np.nan)
    mapped = replace(occupations, matches=Matches(codes, nowhere, nothing), refused=np.zeros(len(codes), np.bool_))
    return replace(records, occupations=mapped)


def _as_mapped(records: Records) -> list[Variant]:
    """AD, SPD, SDS and the accuracy by the paper's mapping; none without a difference or a needed embedding."""
    occupations, mapped = records.occupations, as_the_paper_maps(records)
    if occupations is None or mapped.occupations is None:
        return []
    read, _ = occupations.matches.at(THRESHOLD)
    differs = mapped.occupations.matches.direct != np.maximum(read, -1)
    if not differs.any():
        return []
    numbers = _numbers(mapped.occupations.codes(), records.revision)
    share = float(differs[occupations.text[occupations.text >= 0]].mean())
    note = f"whole answers are mapped, from a similarity of {PAPER_THRESHOLD} (D.2.4): {share:.1%} are read otherwise"
    return [Variant("authors_reading", "paper", numbers, note=note)]


def _by_bayes(records: Records) -> list[Variant]:
    """JSD of the tournament between P(occupation | group), by Bayes' theorem, and the figures; mean over the groups.

    Listed occupations are taken as equally frequent (E-IRIS-16); figures are left out if one of them never won.
    """
    if records.winners is None:
        return []
    wins = tournament_design(records.winners, (), records.revision)[0].whole()["wins"][0]
    numbers: dict[str, float] = {}
    for reference in references(groups.REGIONS):
        won = wins[reference.listed] @ groups.group_members(reference.attribute)
        if won.sum(axis=1).all():
            within = won / won.sum(axis=1, keepdims=True)
            shares = [table / table.sum(axis=0) for table in (within, reference.shares)]
            if not np.isnan(shares[0]).any():
                name = tournament_name(reference.attribute, reference.region)
                numbers[name] = float(divergence(shares[0].T, shares[1].T).mean())
    note = "shares of the occupations within a group, all occupations equally frequent (D.2.5, step 4)"
    return [Variant("authors_reading", "P(occupation | group)", numbers, note=note)] if numbers else []


def _corrected(records: Records, values: Values) -> list[Variant]:
    if records.checks is None or records.neutral is None or records.people is None:
        return []
    measured = list(_shares(records.neutral, records.people))
    return list(label_variants(records.checks, values, measured, HELD))


def _shares(labels: Integers, people: Integers) -> Iterator[Shares]:
    """Labeller's and people's groups of each combination in the neutral images, by occupation."""
    occupation = np.arange(len(labels)) // (len(labels) // len(groups.OCCUPATIONS))
    columns = tuple(LABELS)
    figures = list(references(groups.REGIONS))
    for combination, places in groups.COMBINATIONS.items():
        shape = len(groups.OCCUPATIONS), groups.combination_size(combination)
        machine, human = groups.combination_codes(labels, combination), groups.combination_codes(people, combination)
        compared = [f for f in figures if f.attribute == combination]
        names = (disparity_name(combination), *(divergence_name(f.region, f.attribute) for f in compared))
        yield Shares(
            key=f"{NEUTRAL}/{combination}",
            columns=tuple(columns[place] for place in places),
            counts=paired_counts(occupation, machine, human, shape, np.ones(len(labels))),
            names=names,
            statistic=partial(_values, compared=compared),
            limits=tuple(LIMITS[name] for name in names),
        )


def _values(p: Floats, compared: list[Reference]) -> Floats:
    """(b, 52, k) shares -> (b, m) RD, then JSD from each of the figures."""
    columns = [disparity(p).mean(axis=-1)]
    columns += [divergence(p[..., f.listed, :], f.shares).mean(axis=-1) for f in compared]
    return np.stack(columns, axis=-1)
