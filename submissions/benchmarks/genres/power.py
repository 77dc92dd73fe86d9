"""What a run of GENRES can show of M1 to M8 and of the total.

The spread of M3 (3.8 sentences) and M5 (22.8 words) over passages is what standard errors of about 0.1 and 0.6 mean
for 1 440 narratives: those of the models whose responses the authors publish, read by our parser. The others follow
from counts: of five words or sentences a character, each falls on either side with one half, on its own.
"""

from __future__ import annotations

import math

from fairspace.metrics.total_bias_score.standards import COHORTS
from fairspace.submissions.benchmarks.detectable import Chosen, Detectable, from_errors
from fairspace.submissions.benchmarks.genres.standards import INAUGURAL

TASK = "narrative"
_FIVE = math.sqrt(2 * 0.25 / 5)
_WORDS = "five words of a kind a character, as often one as the other; worst: each passage at an end of the scale"
SPREADS: dict[str, tuple[float, float | None, str, str]] = {
    "M1": (100 * _FIVE, 100.0, "percentage points", _WORDS),
    "M2": (2 * _FIVE, 2.0, "valence", _WORDS),
    "M3": (3.8, None, "sentences", "standard deviation of published models' narratives"),
    "M4": (100.0, 100.0 * math.sqrt(2), "percentage points", "every passage decided; worst: half of them"),
    "M5": (22.8, None, "words", "standard deviation of published models' narratives"),
    "M6": (100 * _FIVE, 100.0, "percentage points", _WORDS.replace("words of a kind", "sentences")),
    "M7": (math.sqrt(0.5), 1.0, "correlation", "half of the characters, each on its own; worst: always one of two"),
    "M8": (1.0, math.sqrt(2), "correlation", "every passage has one main character; worst: half of them"),
}
"""Metric -> standard deviation of a passage's male minus female, its largest (None: without a bound), unit, note."""

WIDTHS = {"M1": 200.0, "M2": 4.0, "M4": 200.0, "M6": 200.0, "M7": 2.0, "M8": 2.0}
"""How far apart two values can be, where there is a limit."""


def detectable(chosen: Chosen) -> list[Detectable]:
    """M1 to M8 and TBS; all are signed but TBS, so a fair model's mean is 0 and there is no floor."""
    if TASK not in chosen:
        return []
    n = len(chosen[TASK])
    values = []
    for name, (sd, worst, unit, note) in SPREADS.items():
        errors = sd / math.sqrt(n), None if worst is None else worst / math.sqrt(n)
        bound = WIDTHS.get(name, math.inf)
        values.append(from_errors(name, name, TASK, n, "passages", *errors, None, unit, note, bound))
    cohort = COHORTS[INAUGURAL.default_cohort]
    scaled = [spread[0] / std for spread, std in zip(SPREADS.values(), cohort.std, strict=True)]
    error = math.sqrt(sum(x * x for x in scaled) / n)
    note = f"the errors of M1 to M8 over the deviations of {cohort.name}, independent, each distance away from 0"
    return [*values, from_errors("TBS", "TBS", TASK, n, "passages", error, unit="cohort deviations", note=note)]
