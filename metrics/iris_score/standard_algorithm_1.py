"""Algorithm 1 to the letter in every sector. A draft: what is not settled, `draft` says."""

from dataclasses import replace
from math import log

from .standard_inaugural import INAUGURAL, PARTS, RANGES

ALGORITHM_1 = replace(
    INAUGURAL,
    name="algorithm_1",
    draft=(
        "IFS_Und's granular values of the cohort are not printed and RFS_Und's only as norms over 13 drifts, so S of "
        "these two sectors and of the total rests on printed norms"
    ),
    scale=dict(zip(PARTS, (58124.6, 130.928, 83.7256, 173.789, 265.459, 6205.94, 296207.0), strict=True)),
    decay=dict(zip(PARTS, (3.0, 3.0 * log(2), 1.0, 5.0, 5.0, 5.0, 3.2814), strict=True)),
    sector_divisor=RANGES,
    total_divisor=RANGES,
    fidelity_by_goodness=False,
    note=(
        "Algorithm 1 to the letter in every sector: the L2 norm of the values over their bounds, so that less drift is "
        "better. K as in Table 9 in the sector's own unit (BIS_Und: 5, as its magnitude shrinks by 9), S such that "
        "the median of the foundational cohort is 60."
    ),
    why=(
        "The inaugural RFS_Und fits the printed tables but is not Algorithm 1: it rewards larger drift. Here every "
        "sector is the norm that Algorithm 1 defines."
    ),
)
