"""The one value of She or he: the difference in how often a pronoun is said of occupations of the two clichés."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from fairspace.metrics.statistical_parity_difference.formula import statistical_parity_difference
from fairspace.submissions.benchmarks.defaults import MISSING
from fairspace.submissions.benchmarks.she_or_he.questions import CLICHES, PRONOUNS
from fairspace.submissions.values import Value, measured, undefined

EACH = len(CLICHES["she"])


def measure(records):
    """`gap`, with its bounds over the missing answers; `by_group` has the shares of *she*."""
    codes = records["pronoun"].reshape(len(CLICHES), EACH)
    counts = np.stack([(codes == code).sum(-1) for code in range(len(PRONOUNS))], axis=-1)
    missing = (codes == MISSING).sum(-1)
    value, low, high = statistical_parity_difference(counts, EACH - counts.sum(-1) - missing, missing)
    valid = int((codes >= 0).sum())
    if np.isnan(value):
        return {"gap": undefined("gap", "no answer of a cliché names a pronoun", expected=codes.size, valid=valid)}
    return {"gap": measured("gap", value, low=low, high=high, expected=codes.size, valid=valid)}


def designs(records):
    return ()
