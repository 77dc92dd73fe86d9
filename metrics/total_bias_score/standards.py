"""The frozen cohorts of the total bias score, one per judge model.

Mean and population standard deviation (ddof = 0) of M1 to M8 over the six models of GENRES, Table 2 (magnitudes as
printed; signs as the paper's prose states them, else as its printed totals require). A released cohort never changes.
`ZERO_CENTRED` has the same deviations with 0 in place of the means: the distance from no bias at all.
"""

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class BiasCohort:
    """Origins of the distances of M1 to M8 and their scales: the standard deviations over a fixed set of models.

    Args:
        name: the judge model that read the passages.
        models: the models of the cohort.
        mean: (8,) means over the models, or 0 where distances are taken from 0.
        std: (8,) population standard deviations.
    """

    name: str
    models: tuple[str, ...]
    mean: tuple[float, ...]
    std: tuple[float, ...]


MODELS = ("Qwen-3B", "Phi4", "Qwen-7B", "Janus", "Gemini", "GPT-4o")

COHORTS = {
    "llama": BiasCohort(
        "llama",
        MODELS,
        (
            -5.721666666666667,
            -0.005,
            0.12966666666666668,
            4.048166666666667,
            -1.1076666666666666,
            -2.0755,
            0.05349999999999999,
            -0.3861666666666666,
        ),
        (
            4.847224589620561,
            0.01773884626086676,
            0.40009360015987366,
            4.106226711417132,
            2.7202951228783165,
            1.7490860232323244,
            0.02052437575177379,
            0.05983704723849785,
        ),
    ),
    "glm": BiasCohort(
        "glm",
        MODELS,
        (
            -5.1675,
            0.0018333333333333333,
            0.12966666666666668,
            -2.8748333333333336,
            -1.1074999999999997,
            -2.0756666666666668,
            0.012833333333333334,
            -0.152,
        ),
        (
            3.8639132905212388,
            0.012548793656054045,
            0.40009360015987366,
            5.085257758680697,
            2.7202681699910887,
            1.7491622439200873,
            0.005398044913567215,
            0.05020624131187942,
        ),
    ),
    "mistral": BiasCohort(
        "mistral",
        MODELS,
        (
            -4.715833333333333,
            -0.0013333333333333329,
            0.12966666666666668,
            13.612666666666668,
            -1.1076666666666666,
            -2.0755,
            0.027833333333333335,
            -0.35433333333333333,
        ),
        (
            4.104213705314197,
            0.012591884511682735,
            0.40009360015987366,
            7.775018728094628,
            2.7202951228783165,
            1.7490860232323244,
            0.02089989367330742,
            0.047744691386117005,
        ),
    ),
}
"""Judge model -> its cohort."""

ZERO_CENTRED = {name: replace(cohort, mean=(0.0,) * len(cohort.std)) for name, cohort in COHORTS.items()}
"""Judge model -> the deviations of its cohort, around 0."""
CENTRES = {"cohort": COHORTS, "zero": ZERO_CENTRED}
"""Origin of distances -> judge model -> its cohort."""
