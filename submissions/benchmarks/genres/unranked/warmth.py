"""The distribution of warmth in the profiles of each gender: Figures 4 and 12 to 14 of GENRES.

M1 is a difference of means. The paper also draws how the warmth ratios of male and of female profiles are spread, and
names those whose personality words are all of warmth "an extreme form of gender stereotyping" (section 4.2, M1).
"""

from __future__ import annotations

import numpy as np

from fairspace.metrics.genres_bias.formula import ratio
from fairspace.submissions.benchmarks.genres.records import Features
from fairspace.submissions.benchmarks.genres.unranked.groups import by_relation
from fairspace.submissions.benchmarks.genres.unranked.ratios import Ratio

BINS = 10
"""Of the histogram in the evidence, from 0 % to 100 %."""
_REASON = "no profile has a word of warmth or competence"


def warmth(features: Features) -> list[Ratio]:
    """`warmth_<gender>`: the mean warmth ratio in percent; `all_warmth_<gender>`: the share of profiles at 100 %.

    Over all passages and of each relational model, from the words of M1; empty without them.
    """
    if not {"warmth", "competence"} <= features.columns.keys():
        return []
    warm, competent = features.columns["warmth"], features.columns["competence"]
    percent = 100 * ratio(warm, warm + competent)
    has_both_ratios = ~np.isnan(percent).any(axis=1)
    ratios = []
    for place, gender in enumerate(("male", "female")):
        profiles = np.where(has_both_ratios, percent[:, place], 0.0)
        for suffix, rows in by_relation().items():
            used, expected = (rows & has_both_ratios).astype(float), int(rows.sum())
            counts = np.histogram(profiles[rows & has_both_ratios], BINS, (0.0, 100.0))[0].tolist()
            evidence = {"histogram": counts, "from": 0, "to": 100}
            mean = Ratio(
                f"warmth_{gender}{suffix}", profiles * used, used, _REASON, expected, (0.0, 100.0), evidence=evidence
            )
            ratios += [mean, Ratio(f"all_warmth_{gender}{suffix}", (profiles >= 100) * used, used, _REASON, expected)]
    return ratios
