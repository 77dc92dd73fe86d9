"""The bounded standard: 100 at the ideal, and no larger deviation is a better score. Released; it never changes."""

from dataclasses import replace

from .granular import GRANULAR, SKIN_DRIFT, Granular
from .standard import Calibrated
from .standard_inaugural import INAUGURAL, PARTS, RANGES

_SKIN = tuple(
    Granular(name, "RFS_Und", "stereotype_drift", name.removeprefix("AbsSDS_").removesuffix("_US"), "US")
    for name in SKIN_DRIFT
)
# The cohort's distances, made of the printed figures; a test makes them again.
_PRINTED = (
    ("Bagel", "ByteDance", 2.184801, 0.311047, 0.3332, 0.1848, 0.341188, 0.927784, 2.447952),
    ("BLIP3-o", "Salesforce", 2.468086, 0.642794, 0.0755, 0.2127, 0.368711, 0.899580, 2.738753),
    ("Harmon", "Nanyang Technological University", 2.352261, 0.375246, 0.5312, 0.1766, 0.258995, 0.971295, 2.645334),
    ("Janus-Pro", "DeepSeek", 2.309704, 0.545657, 0.2042, 0.3403, 0.269982, 0.884027, 2.577668),
    ("Show-o", "National University of Singapore", 2.239688, 0.317423, 0.4432, 0.1938, 0.297424, 1.130297, 2.591713),
    ("UniWorld-V1", "Peking University", 2.266455, 0.360720, 0.6154, 0.2487, 0.359009, 0.891089, 2.574963),
    ("VILA-U", "MIT and NVIDIA", 2.292026, 0.566017, 0.2687, 0.3011, 0.284911, 0.992957, 2.608401),
)
_COHORT = tuple(
    Calibrated(f"p-{place:02}", model, organisation, "", dict(zip(PARTS, distances, strict=True)))
    for place, (model, organisation, *distances) in enumerate(_PRINTED, 1)
)

BOUNDED = replace(
    INAUGURAL,
    name="bounded",
    scale=dict.fromkeys(PARTS, 100.0),
    decay=dict(zip(PARTS, (0.2228, 1.361, 1.533, 2.401, 1.717, 0.5505, 0.197), strict=True)),
    sector_divisor=RANGES,
    total_divisor=RANGES,
    fidelity_by_goodness=False,
    note=(
        "Every score is 100 * exp(-K * magnitude): 100 at the ideal, and above 0. The magnitude is the L2 norm of "
        "the values, each over its range, so that a value farther from its ideal never raises a score. K puts the "
        "median of the printed cohort at 60, rounded down to four digits so that the median model reaches tau. "
        "The cohort's distances follow from Tables 23 to 28; that of IFS_Und is the printed magnitude, which is "
        "0.996 to 1.065 times the norm of its printed columns (E-IRIS-03)."
    ),
    metrics=(*GRANULAR, *_SKIN),
    metrics_sha256="e85436f6fac62375c423a967c915b32dff7185b86c6a6d0c3120aa3e50cdcc14",
    date="2026-11-22",
    why=(
        "Under the inaugural standard a larger stereotype drift raises RFS_Und, and with an S of 283 645 a nearly "
        "perfect model would score 147 306 where the best printed score is 95.94. Here S is 100: no score exceeds "
        "100. The price is that the printed cohort lies closer together, between 58 and 62 in total. RFS_Und is "
        "the norm of its 18 deviations, the 15 of Table 6 and the three drifts of skin tone that Table 27 counts, "
        "so that its printed norms are the standard's own. AC is divided by its range of 9 and JSD by ln 2: every "
        "bounded value weighs by the share of its range. The labour figures are the paper's, because the "
        "repository holds no official table with ages cut at 40 and 65 (the U.S. tables have one band from 35 to "
        "44); the doubt of E-IRIS-08 stays with the values of age."
    ),
    cohort=tuple(model.model for model in _COHORT),
    cohort_source="IRIS, Tables 23 to 28, as printed: builders/reference/published/iris_table*.csv",
    ares="printed figures alone; a result's signature names what labelled its images",
    calibration=_COHORT,
)
