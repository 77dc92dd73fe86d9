"""Sensitivity analyses of S_fact, S_E, S_KLD and S_fair.

Image models: without the labeller's errors. Language models: without the answers that name no group, as in the paper.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from fairspace.builders.fact_or_fair.statistics import ATTRIBUTES, GROUPS, LEVELS, STATISTICS, with_attribute
from fairspace.metrics.columns import Floats
from fairspace.submissions.benchmarks.fact_or_fair.attribute_scores import Context, Grid, scores
from fairspace.submissions.benchmarks.fact_or_fair.quantities import parts
from fairspace.submissions.benchmarks.fact_or_fair.records import T2I_CONTEXTS, Records, prompt_cells
from fairspace.submissions.format.schema import Attribute
from fairspace.submissions.uncertainty.label_errors import Shares, label_variants, paired_counts
from fairspace.submissions.uncertainty.uncertainty import Kind, Variant
from fairspace.submissions.values import Values

HELD: Mapping[Kind, str] = {
    "labels_corrected": (
        "In simulations at the paper's matrix of gender, 92 to 100 % of the intervals of S_fact held the truth, "
        "88 to 100 % of S_E, 92 to 100 % of S_KLD and S_fair."
    ),
    "human_labels": (
        "In simulations with 10 of 20 or 16 of 60 images labelled by people, 90 to 98 % of the intervals of S_fact "
        "held the truth, 85 to 93 % of S_E, 70 to 95 % of S_KLD, fewest where nearly all images show one group."
    ),
}
"""Simulated coverage of 95 % intervals: `submissions/uncertainty/README.md`, section "Labels"."""
CORRECTED = ("factuality", "factuality_revised", "entropy", "kld", "fairness")
_LEFT_OUT = (
    "The paper scores valid answers alone: answers that refuse, name several groups or cannot be used are left out. "
    "So a model that refuses what it does not know scores higher."
)
_COLUMNS: dict[str, Attribute] = {"gender": "gender", "race": "race"}

LIMITS: Mapping[str, tuple[float, float]] = {
    f"{name}_{task}_{attribute}": (0.0, 1.0) for name in CORRECTED for task in T2I_CONTEXTS for attribute in ATTRIBUTES
}
"""Smallest and largest number of each correctable value."""


def variants(records: Records, values: Values) -> list[Variant]:
    """All variants of a submission."""
    return [*_paper_counts(records, values), *corrected(records, values)]


def _paper_counts(records: Records, values: Values) -> Iterator[Variant]:
    """Values of language models without the answers that name no group; none if all name one."""
    numbers: dict[str, float] = {}
    for grid in (grid for task, part in parts(records).items() if task not in T2I_CONTEXTS for grid in part.whole):
        if grid.unnamed.any():
            of_named = scores(replace(grid, unusable=None))
            for name in (f"{score}_{grid.context.name}_{grid.attribute}" for score in CORRECTED):
                number = float(of_named[name])
                if np.isfinite(number) and number != values[name].value:
                    numbers[name] = number
    if numbers:
        yield Variant("authors_reading", "left out", numbers, note=_LEFT_OUT)


def corrected(records: Records, values: Values) -> list[Variant]:
    """Corrected values of the image contexts; empty without `label_error` and people's labels."""
    if records.checks is None or not records.faces:
        return []
    return list(label_variants(records.checks, values, list(_shares(records)), HELD))


def _shares(records: Records) -> Iterator[Shares]:
    for task, faces in records.faces.items():
        statistic, level = prompt_cells(task)[faces.image // faces.each].astype(np.int64).T
        cell = statistic * len(LEVELS) + level
        for attribute in ATTRIBUTES:
            n, k = len(STATISTICS) * len(LEVELS), len(GROUPS[attribute])
            counts = paired_counts(cell, faces.group[attribute], faces.human[attribute], (n, k), faces.share)
            mine = with_attribute(attribute)
            counts = counts.reshape(-1, len(LEVELS), k + 1, k)[mine].reshape(-1, k + 1, k)
            yield Shares(
                key=f"{task}/{attribute}",
                columns=(_COLUMNS[attribute],),
                counts=counts,
                names=tuple(f"{name}_{task}_{attribute}" for name in CORRECTED),
                statistic=statistic_of(counts.sum(axis=(1, 2)), Context(task, added=faces.added), attribute),
                limits=tuple(LIMITS[f"{name}_{task}_{attribute}"] for name in CORRECTED),
            )


def statistic_of(totals: Floats, context: Context, attribute: str) -> Callable[[Floats], Floats]:
    """Scores of shares; each cell counts as often as it was measured."""

    def statistic(p: Floats) -> Floats:
        counts = np.where(totals[:, None] > 0, p * totals[:, None], 0.0).reshape(len(p), -1, len(LEVELS), p.shape[-1])
        values = scores(Grid(context, attribute, counts))
        return np.stack([values[f"{score}_{context.name}_{attribute}"] for score in CORRECTED], axis=-1)

    return statistic
