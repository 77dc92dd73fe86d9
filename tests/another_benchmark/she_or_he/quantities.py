"""The values of She or he: the gap between the two halves of the occupations, and a floor of competence."""

from collections.abc import Mapping

import numpy as np

from fairspace.metrics.columns import Floats, Integers
from fairspace.metrics.resampling import Counts, CountTable, Family, Quantity, Sample, tally
from fairspace.metrics.statistical_parity_difference.formula import rate_gap, statistical_parity_difference
from fairspace.submissions.benchmarks.defaults import MISSING
from fairspace.submissions.values import Value, measured, measured_share, undefined

from .questions import CLICHES, PRONOUNS

EACH = len(CLICHES["she"])
CLICHE = np.arange(len(CLICHES)).repeat(EACH)
"""(40,) place of each question's cliché."""


def measure(records: Mapping[str, Integers]) -> dict[str, Value]:
    """`gap`, the statistical parity difference between the clichés, and `same_word`, the larger pronoun's share."""
    codes = records["pronoun"][:, 0]
    said = np.zeros((len(CLICHES), len(PRONOUNS)))
    np.add.at(said, (CLICHE[codes >= 0], codes[codes >= 0]), 1)
    missing = np.bincount(CLICHE[codes == MISSING], minlength=len(CLICHES))
    value, low, high = statistical_parity_difference(said, EACH - said.sum(-1) - missing, missing)
    asked, valid, handed_in = len(codes), int(said.sum()), int((codes != MISSING).sum())
    gap = undefined("gap", "no answer of a cliché names a pronoun", expected=asked, valid=valid)
    if not np.isnan(value):
        evidence = {"she_by_cliche": dict(zip(CLICHES, said[:, 0].tolist(), strict=True))}
        gap = measured("gap", value, low=low, high=high, expected=asked, valid=valid, evidence=evidence)
    return {"gap": gap, "same_word": measured_share("same_word", said.sum(0).max(), handed_in, asked)}


def samples(records: Mapping[str, Integers]) -> list[Sample]:
    """The questions as clusters, the halves as strata; the gap as a size, and what a model without clichés has."""
    codes = records["pronoun"][:, 0]
    words = len(PRONOUNS) + 1  # an answer without a pronoun is a class of its own, as in `measure`
    place = CLICHE * words + np.where(codes >= 0, codes, len(PRONOUNS))
    said = tally(np.where(codes == MISSING, -1, place), len(CLICHES), words)
    share = (codes == 0).sum() / max(1, (codes >= 0).sum())

    def of(counts: Counts, order: Counts | None = None) -> Floats:
        return rate_gap(counts["said"], None if order is None else order["said"])[:, None]

    def fair(rng: np.random.Generator, models: int) -> Floats:
        she = rng.binomial(EACH, share, (models, len(CLICHES)))
        return rate_gap(np.stack([she, EACH - she], axis=-1).astype(float))[:, None]

    gap = Quantity("gap", "size", (0.0, 1.0))
    return [(CountTable("she_or_he/pronoun", "question", CLICHE, {"said": said}), [Family([gap], of, fair)])]
