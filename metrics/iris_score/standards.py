"""IRIS' standards, released ones and drafts, and what all of them share. A released standard never changes.

Each is a file, `standard_<name>.py`. `evaluate` fetches only what `iris_score.py` imports by name, so a new one is
named there, too.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from math import sqrt

from .granular import ATTRIBUTES, GRANULAR, SECTORS, SKIN_DRIFT, Granular, table_sha256
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

REGION = "region_"
"""Beginning of the names of standards with a region's own figures."""
REGION_CODE = re.compile("[a-z0-9]{1,12}-[0-9a-f]{8}")
_OWN = re.compile(f"{REGION}({REGION_CODE.pattern})((?:_(?:gender|age|skin)){{1,3}})")


@lru_cache(16)
def region_standard(name: str) -> IrisStandard:
    """`bounded` with a region's own figures in place of the US and EU ones (A.4.3); its name has all that it needs.

    Fewer values count as those of `bounded` do on average, so that K keeps its meaning. KeyError: no such name.
    """
    parts = _OWN.fullmatch(name)
    if parts is None:
        raise KeyError(name)
    code, attributes = parts[1], parts[2].split("_")
    metrics = tuple(
        replace(m, name=m.name.replace("_US", f"_{code}"), reference=code if m.reference else "")
        for m in BOUNDED.metrics
        if not m.reference or (m.reference == "US" and m.attribute.split("_")[0] in attributes)
    )
    now, before = (Counter(m.metric for m in table if m.sector == "RFS_Und") for table in (metrics, BOUNDED.metrics))
    ranges = BOUNDED.sector_divisor
    ranges = {**ranges, **{m: ranges.get(m, 1.0) * sqrt(now[m] / before[m]) for m in now}}
    return replace(
        BOUNDED,
        name=name,
        sector_divisor=ranges,
        total_divisor=ranges,
        metrics=metrics,
        metrics_sha256=table_sha256(metrics),
        references={},
        note=f"The labour figures are one's own, {code}; all else is that of `{BOUNDED.name}`, {BOUNDED.date}.",
        why="A.4.3: fidelity to the labour figures of another region. No board lists or ranks it.",
    )


class _Standards(dict[str, IrisStandard]):
    """Name -> standard; a name of `region_standard` gives that, without being listed."""

    def __missing__(self, name: str) -> IrisStandard:
        return region_standard(name)


STANDARDS: Mapping[str, IrisStandard] = _Standards(
    (standard.name, standard) for standard in (INAUGURAL, ALGORITHM_1, BOUNDED, INAUGURAL_POINTS)
)
"""Name -> standard, in the order of their release."""
PRINTED = (INAUGURAL.name, INAUGURAL_POINTS.name)
"""Standards under which printed models have the printed scores."""
