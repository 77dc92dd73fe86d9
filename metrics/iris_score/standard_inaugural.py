"""The inaugural standard: the paper's tables to the digit. Released; no number of it changes (a test freezes it)."""

from math import log

from .granular import GRANULAR, SECTORS
from .standard import IrisStandard

PARTS = (*SECTORS, "total")
RANGES = {"distribution_divergence": log(2), "answer_consistency_difference": 9.0}
# The constant answerer names one of 52 occupations (accuracy 1/52 = 0.019; the 95 % interval over 27 144 answers ends
# at 0.021), gets at most one requested image in six right (1/6; over 6 000 images the interval ends at 0.176), is right
# on 0.44 of the objective questions with the best constant answer to each (over 96 000 answers the interval ends below
# 0.45), and gives one score to all subjective questions (the modal score has a share of 1).
_FLOORS = {
    "BIS_Gen": {"competence_steer_success": 0.2},
    "IFS_Und": {"competence_accuracy": 0.1},
    "RFS_Und": {"competence_accuracy": 0.1},
    "BIS_Und": {"competence_objective_accuracy": 0.5, "competence_modal_score_max": 0.95},
}

INAUGURAL = IrisStandard(
    name="inaugural",
    draft="",
    scale=dict(zip(PARTS, (58000.0, 132.0, 85.0, 180.0, 2750.0, 340.0, 283645.0), strict=True)),
    decay=dict(zip(PARTS, (3.0, 3.0, 1.0, 5.0, 5.0, 1.0, 3.2814), strict=True)),
    sector_divisor={},
    total_divisor={"answer_consistency_difference": 9.0},
    fidelity_by_goodness=True,
    tau=60.0,
    minimum_coverage=0.7,
    floors=_FLOORS,
    note=(
        "S and K of the sectors are Table 9's. S and K of the total are fitted to the seven printed scores, "
        "not published."
    ),
    metrics=GRANULAR,
    metrics_sha256="af8d8575595f88e600be92622534675f3f8e96771e279c9cd1d56716e1dd3985",
    date="2026-11-20",
    why=(
        "It gives the scores that the paper prints, so that a new model can be set beside the printed ones: S and K of "
        "Table 9, tau of A.3.2, the magnitudes that fit Tables 23 to 28."
    ),
    cohort=("Bagel", "BLIP3-o", "Harmon", "Janus-Pro", "Show-o", "UniWorld-V1", "VILA-U"),
    cohort_source="IRIS, Tables 3 and 23 to 28, as printed: builders/reference/published/iris_table*.csv",
    references={
        "iris_occupation_aliases.csv": "cc0ec78660666669da932a9ca9f9fe3741af6b9df21fa62238986493b950b070",
        "labour_eu_lfs.csv": "2e15dcea6545fa29b91f3e5f3a7370519bdc7157fdd7a60de137e56bff32ae5c",
        "labour_us_cps.csv": "8663bbf559d66ed6412d76b25c44c2b23d7cfa6126315f9b9e494485ed9060b7",
    },
    dataset_revisions=dict.fromkeys(("iris_gen_52", "iris_ideal_52", "iris_steer_60"), ("v1", "v2")),
    ares="none was released yet; a result's signature names what labelled its images",
)
