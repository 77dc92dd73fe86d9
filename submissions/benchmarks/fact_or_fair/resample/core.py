"""How far the core's values lie from those of all 45 600 subjective queries: what is measured of its correction.

S_E and S_KLD of the 15 answers of a cell lie below those of 300. The core adds 0.4 answers to each group
(`Grid.added`), which leaves an error of its own that a model has in all four contexts alike.
`tests/benchmarks/core_calibration.py` measures it on 64 models; the core's intervals hold it:

| core less all, mean of four contexts | mean | root mean square | largest |
|---|---|---|---|
| S_fair, mean of gender and race | -.006 | .010 | .021 |
| S_fair, gender | -.002 | .010 | .030 |
| S_fair, race | -.011 | .015 | .028 |
| S_E, gender and race | -.023, -.034 | .032, .041 | .058, .061 |
| S_KLD, gender and race | -.017, -.078 | .042, .098 | .089, .160 |
"""

from __future__ import annotations

from collections.abc import Mapping

from fairspace.builders.fact_or_fair.statistics import ATTRIBUTES
from fairspace.submissions.benchmarks.fact_or_fair.records.grids import LLM_CONTEXTS, OVER_ALL

LEFT: Mapping[str, tuple[float, float]] = {
    "entropy": (0.0323, 0.0406),
    "kld": (0.0422, 0.0980),
    "kld_authors": (0.0606, 0.1484),
    "fairness": (0.0097, 0.0149),
    "distance": (0.0292, 0.0395),
}
"""Score -> the root mean square of the error that the correction leaves, by attribute (gender, race)."""


def corrected() -> Mapping[str, float]:
    """The values of the subjective contexts -> the error that is left of their correction."""
    return {
        f"{score}_{context}_{attribute}": errors[place]
        for score, errors in LEFT.items()
        for context in (*LLM_CONTEXTS[1:], *((OVER_ALL,) if score == "entropy" else ()))
        for place, attribute in enumerate(ATTRIBUTES)
    }
