"""Values of shares as they would be without the labeller's errors: by its confusion matrix, and by people's labels.

The raw values stay the ranked ones: a submission brings its own matrix and its own people's labels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from submissions.benchmark import Values
from submissions.format import Attribute, Submission
from submissions.label_counts import matrices
from submissions.uncertainty import prediction_powered as powered
from submissions.uncertainty.design import Floats
from submissions.uncertainty.misclassification import Corrected, correct, debiased, instrument
from submissions.uncertainty.variant import Kind, Variant

_CORRECTED = (
    "Less the bias of shares at this number of samples. Assumed: the labeller errs here as it did where it was "
    "measured, in one attribute whatever it does in another, and images without a label are like those with one."
)
_POWERED = "Less the bias of shares at this number of samples. Assumed: people labelled images drawn at random."


@dataclass(frozen=True)
class Shares:
    """Labelled samples of several distributions over the same groups, and values that are functions of their shares.

    Args:
        key: names them.
        columns: the labels whose product the groups are, in the order of their vocabularies.
        counts: (n, k + 1, k) as `label_counts.paired_counts`.
        names: of the m values.
        statistic: (b, n, k) shares, nan for a distribution without samples -> (b, m) values, nan where undefined.
        limits: (m, 2) smallest and largest number that each value can be.
    """

    key: str
    columns: tuple[Attribute, ...]
    counts: Floats
    names: tuple[str, ...]
    statistic: Callable[[Floats], Floats]
    limits: tuple[tuple[float, float], ...]


def label_variants(
    submission: Submission, values: Values, measured: Sequence[Shares], held: Mapping[Kind, str]
) -> Iterator[Variant]:
    """A variant by the confusion matrix and one by people's labels, where these were handed in.

    Args:
        submission: with `label_error` or `human_labels`; without them there are no variants.
        values: the raw ones; one without a number has none here.
        measured: what they were measured on.
        held: how often the intervals hold the truth, for people.

    What cannot be corrected is left out, and the variant's note says why.
    """
    if submission.meta.label_error is not None:
        corrected = [(shares, _corrected(submission, shares)) for shares in measured]
        yield _variant(
            "labels_corrected",
            submission.meta.label_error.source,
            f"{_CORRECTED} {held['labels_corrected']}",
            values,
            corrected,
        )
    if "human_labels" in submission.tables:
        faces = submission.tables["human_labels"].num_rows
        found = [(shares, _powered(shares)) for shares in measured]
        yield _variant(
            "human_labels", f"{faces} faces labelled by people", f"{_POWERED} {held['human_labels']}", values, found
        )


def _corrected(submission: Submission, shares: Shares) -> Corrected | str:
    """The corrected shares, or why there are none."""
    found, why = matrices(submission, shares.columns)
    return why or correct(shares.counts.sum(axis=1), instrument(found), shares.key)


def _powered(shares: Shares) -> Corrected | str:
    pairs, others = shares.counts[:, :-1], shares.counts[:, -1]
    if why := powered.fault(pairs):
        return f"{' and '.join(shares.columns)}: {why}"
    return powered.powered_draws(pairs, others, powered.prediction_powered(pairs, others), shares.key)


def _variant(
    kind: Kind, name: str, note: str, values: Values, found: Sequence[tuple[Shares, Corrected | str]]
) -> Variant:
    numbers: dict[str, float] = {}
    intervals: dict[str, tuple[float, float]] = {}
    notes = {note: None}
    for shares, corrected in found:
        known = [place for place, name in enumerate(shares.names) if values[name].state == "value"]
        if isinstance(corrected, str):
            notes |= {f"Not corrected: {corrected}.": None} if known else {}
            continue
        plain, draws = shares.statistic(corrected.shares[None])[0], shares.statistic(corrected.draws)
        for place in known:
            if np.isnan(plain[place]):
                continue
            value, interval = debiased(float(plain[place]), draws[:, place], shares.limits[place])
            numbers[shares.names[place]], intervals[shares.names[place]] = value, interval
    return Variant(kind, name, numbers, intervals, " ".join(notes))
