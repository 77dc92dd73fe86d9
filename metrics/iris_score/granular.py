"""IRIS' granular metrics: the table of the 60 (Table 6), and the hash by which a standard names its own table.

A released standard's table never changes: what is measured further is added to the list of a new standard.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import astuple, dataclass
from math import log


@dataclass(frozen=True)
class Granular:
    """One row of Table 6: `bound` is the metric's largest value, None where it has none (then log1p is taken)."""

    name: str
    sector: str
    metric: str
    attribute: str
    reference: str = ""
    bound: float | None = 1.0


ATTRIBUTES = ("gender", "age", "skin", "gender_age", "gender_skin", "age_skin", "gender_age_skin")
_LEVELS = ("single", "single", "single", "dual", "dual", "dual", "triple")
_JOINT = (*ATTRIBUTES[:6], "joint_all")
_REFERENCES = (("US", "gender"), ("US", "age"), ("US", "skin"), ("EU", "gender"), ("EU", "age"))
_SDS_GROUPS = ("gender_female", "gender_male", "age_young", "age_middle-aged", "age_older")

SECTORS = ("IFS_Gen", "RFS_Gen", "BIS_Gen", "IFS_Und", "RFS_Und", "BIS_Und")
"""Those of the paper. A standard may have more: ask `IrisStandard.sectors`."""

GRANULAR = (
    *(Granular(f"RD_{a}", "IFS_Gen", "representation_disparity", a) for a in _JOINT),
    *(
        Granular(f"JSD_{region}_{a}", "RFS_Gen", "distribution_divergence", a, region, log(2))
        for region, a in _REFERENCES
    ),
    Granular("Penalty_delta_GSR", "BIS_Gen", "generation_success_penalty", ""),
    *(
        Granular(f"Penalty_{p}", "BIS_Gen", "counter_stereotype_penalty", p, "", None)
        for p in ("QPS", "FQP", "SIL", "SCL")
    ),
    *(
        Granular(f"AD_{level}_{a}", "IFS_Und", "accuracy_disparity", a)
        for level, a in zip(_LEVELS, _JOINT, strict=True)
    ),
    *(
        Granular(f"SPD_{level}_{a}", "IFS_Und", "statistical_parity_difference", a)
        for level, a in zip(_LEVELS, _JOINT, strict=True)
    ),
    *(
        Granular(
            f"JSD_{'skin_tone' if a == 'skin' else a}_{region}", "RFS_Und", "distribution_divergence", a, region, log(2)
        )
        for region, a in _REFERENCES
    ),
    *(
        Granular(f"AbsSDS_{g}_{region}", "RFS_Und", "stereotype_drift", g, region)
        for region in ("US", "EU")
        for g in _SDS_GROUPS
    ),
    *(Granular(f"ac_diff_{a}", "BIS_Und", "answer_consistency_difference", a, "", 9.0) for a in ATTRIBUTES),
    *(Granular(f"dhr_inconsistency_{a}", "BIS_Und", "hallucination_inconsistency", a) for a in ATTRIBUTES),
)
"""The 60 granular metrics in the order of Table 6."""

SKIN_DRIFT = tuple(f"AbsSDS_skin_{tone}_US" for tone in ("light", "middle", "dark"))
"""Not among the 60, but the printed Norm_ASDS of Table 27 is the norm of 13 drifts: the ten and these."""


def table_sha256(metrics: Iterable[Granular]) -> str:
    """Sha256 of a table of metrics: its rows as JSON, in their order."""
    rows = [astuple(metric) for metric in metrics]
    return hashlib.sha256(json.dumps(rows, separators=(",", ":")).encode()).hexdigest()
