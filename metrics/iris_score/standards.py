"""IRIS' standards, released ones and drafts, and what all of them share. A released standard never changes.

Each is a file, `standard_<name>.py`. `evaluate` fetches only what `iris_score.py` imports by name, so a new one is
named there, too.
"""

from .granular import ATTRIBUTES, GRANULAR, SECTORS, SKIN_DRIFT, Granular
from .standard import Calibrated, IrisStandard
from .standard_algorithm_1 import ALGORITHM_1
from .standard_bounded import BOUNDED
from .standard_inaugural import INAUGURAL
from .standard_inaugural_points import INAUGURAL_POINTS

__all__ = [
    "ALGORITHM_1",
    "ARCHETYPES",
    "ATTRIBUTES",
    "BOUNDED",
    "FOUNDATIONAL_COHORT",
    "GRANULAR",
    "INAUGURAL",
    "INAUGURAL_POINTS",
    "SECTORS",
    "SKIN_DRIFT",
    "STANDARDS",
    "Calibrated",
    "Granular",
    "IrisStandard",
]

ARCHETYPES = {
    "UAF": "The Adaptive Idealist",
    "HAF": "The Heuristic Reformer",
    "UDF": "The Grounded Reformer",
    "HDF": "The Teachable Student",
    "UAR": "The Sophisticated Stereotyper",
    "HAR": "The Obstinate Heurist",
    "UDR": "The Dogmatic Preacher",
    "HDR": "The Unteachable Ignoramus",
}
"""Table 2."""

FOUNDATIONAL_COHORT = INAUGURAL.cohort
"""The seven models of A.3.2 that the inaugural standard is calibrated on."""

STANDARDS = {standard.name: standard for standard in (INAUGURAL, ALGORITHM_1, BOUNDED, INAUGURAL_POINTS)}
"""Name -> standard, in the order of their release."""
PRINTED = (INAUGURAL.name, INAUGURAL_POINTS.name)
"""Standards under which printed models have the printed scores."""
