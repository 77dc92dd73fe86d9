"""One call of each metric whose value is known by hand or from a paper."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

NAN = math.nan


@dataclass(frozen=True)
class Case:
    """Arguments of `compute`, the place of the value in its return, the value, and its origin."""

    arguments: Mapping[str, Any]
    value: float
    source: str
    path: Callable[[Any], Any] | None = None
    tolerance: float = 1e-9


_PAIRS = {"predictions": [8, 6, 7, 7], "sets": ["a", "a", "b", "b"]}
_QWEN_3B = [-6.861, 0.007, 0.097, 3.508, -3.172, -1.272, 0.030, -0.328]
_BAGEL = {
    "RD_gender": 0.7476,
    "RD_age": 0.8357,
    "RD_skin": 0.7298,
    "RD_gender_age": 0.8709,
    "RD_gender_skin": 0.8084,
    "RD_age_skin": 0.8666,
    "RD_joint_all": 0.9058,
}
_PASSAGES = {
    "relations": ["CS", "AR"],
    "male_subjects": [5, 2],
    "female_subjects": [3, 1],
    "higher_status": ["", ""],
    "main_character": ["", ""],
    "male_stereoscopic": ["", ""],
    "female_stereoscopic": ["", ""],
}

EXPECTED: dict[str, Case] = {
    "accuracy_disparity": Case(
        {
            "predictions": ["nurse", "pilot", "pilot", "pilot"],
            "references": ["nurse", "nurse", "pilot", "pilot"],
            "groups": ["female", "female", "male", "male"],
            "minimum": 2,
        },
        0.5,
        "1 of 2 against 2 of 2",
    ),
    "answer_consistency_difference": Case(_PAIRS, 1.0, "mean of 2 and 0"),
    "association_bias": Case(
        {
            "predictions": [[1, 0], [0, 1], [3, 4]],
            "roles": ["male", "female", "occupation"],
            "occupations": ["", "", "doctor"],
        },
        -0.2,
        "3/5 - 4/5",
    ),
    "cognitive_error_rate": Case(
        {
            "predictions": ["Asian", "White"],
            "references": ["Asian", "Asian"],
            "kinds": ["attribution", "attribution"],
            "attribute": "race",
        },
        0.5,
        "1 of 2 answers follow the context",
        lambda found: found["by_kind"]["attribution"]["rate"],
    ),
    "counter_stereotype_penalty": Case(
        {
            "predictions": [0.75, 0.25],
            "prompts": ["stereotypical", "counter_stereotypical"],
            "minimum": 0,
            "maximum": 1,
        },
        0.5,
        "0.75 - 0.25",
    ),
    "distribution_divergence": Case(
        {"predictions": ["female", "female"], "reference": {"female": 50, "male": 50}},
        1.5 * math.log(2) - 0.75 * math.log(3),
        "(1, 0) and (1/2, 1/2) with mean (3/4, 1/4)",
    ),
    "embedding_complexity": Case(
        {
            "predictions": [[2, 0], [-2, 0], [1, 0], [-1, 0], [0, 1], [0, -1]],
            "roles": ["stereotypical"] * 2 + ["counter_stereotypical"] * 4,
            "occupations": ["doctor"] * 6,
            "embeddings": ["first"] * 6,
        },
        1.0,
        "two equal eigenvalues against one",
    ),
    "fact_or_fair": Case(
        {
            "predictions": ["male", "female", "female", "male"],
            "references": ["male", "male", "female", "female"],
            "statistics": ["Weekly Income"] * 4,
            "levels": ["highest", "highest", "lowest", "lowest"],
            "attribute": "gender",
        },
        0.5,
        "2 of 4 answers are true",
        lambda found: found["s_fact"]["value"],
    ),
    "generation_success_penalty": Case(
        {
            "predictions": ["female_young_light", "female_young_light"],
            "references": ["female_young_light", "male_young_light"],
            "prompts": ["stereotypical", "counter_stereotypical"],
        },
        1.0,
        "1 of 1 against 0 of 1",
    ),
    "genres_bias": Case(
        _PASSAGES,
        1.5,
        "M3: mean of 5 - 3 and 2 - 1",
        lambda found: found["M3"]["value"],
    ),
    "hallucination_inconsistency": Case(
        {
            "predictions": ["yes", "no", "no", "no"],
            "references": ["yes", "yes", "no", "no"],
            "sets": ["a", "a", "b", "b"],
        },
        0.5,
        "one pair of two disagrees",
    ),
    "intent_consistency": Case(
        {"predictions": [[1, 0], [3, 4], [0, 1]], "concepts": ["male doctor"] * 3}, 7 / 15, "mean of 3/5, 0 and 4/5"
    ),
    "iris_score": Case(
        {"predictions": list(_BAGEL.values()), "names": list(_BAGEL), "standard": "inaugural"},
        82.58,
        "IRIS, Table 23, Bagel",
        lambda found: found["sectors"]["IFS_Gen"]["score"],
        tolerance=0.01,
    ),
    "projection_distortion": Case(
        {
            "predictions": [[1, 0], [3, 4], [0, 1]],
            "references": [[1, 0], [0, 1], [0, 1]],
            "roles": ["neutral", "stereotypical", "counter_stereotypical"],
            "occupations": ["doctor"] * 3,
        },
        2.5,
        "1 / (2/5) after, 1 before",
    ),
    "representation_disparity": Case(
        {"predictions": ["female", "female", "male"], "groups": ["female", "male"]}, 1 / 3, "|2/3 - 1/3| / 1"
    ),
    "representation_similarity_bias": Case(
        {
            "predictions": [[1, 0], [0, 1], [3, 4], [0, 1]],
            "roles": ["anchor", "anchor", "stereotypical", "counter_stereotypical"],
            "genders": ["male", "female", "male", "female"],
            "occupations": ["", "", "doctor", "doctor"],
        },
        0.4,
        "|3/5 - 1|",
    ),
    "statistical_parity_difference": Case(
        {
            "predictions": ["nurse", "nurse", "doctor", "nurse"],
            "groups": ["female", "female", "male", "male"],
            "minimum": 2,
        },
        0.5,
        "nurse: 2 of 2 against 1 of 2",
    ),
    "stepwise_bias": Case(
        {
            "predictions": [[1, 0], [-1, 0], [0, 1], [3, 4]],
            "steps": [0, 0, 0, 1],
            "roles": ["male", "female", "occupation", "occupation"],
            "occupations": ["", "", "doctor", "doctor"],
        },
        0.6,
        "3/5 at the last step, 0 at the first",
    ),
    "stereotype_drift": Case(
        {"predictions": ["nurse"], "references": ["doctor"], "shares": {"nurse": 0.895, "doctor": 0.532}},
        0.363,
        "0.895 - 0.532",
    ),
    "stereotypical_association": Case(
        {
            "predictions": ["male", "male"],
            "instances": ["nurse", "nurse"],
            "offers": ["male|female"] * 2,
            "attribute": "gender",
        },
        0.5,
        "(|1 - 1/2| + |0 - 1/2|) / 2",
    ),
    "total_bias_score": Case(
        {"predictions": _QWEN_3B, "if_missing_low": _QWEN_3B, "if_missing_high": _QWEN_3B, "cohort": "mistral"},
        4.439,
        "GENRES, Table 2, Qwen-3B by Mistral",
        tolerance=0.003,
    ),
}


def measured(metric: Any, name: str) -> float:
    case = EXPECTED[name]
    arguments = dict(case.arguments)
    if name == "genres_bias":
        arguments = {column: [NAN, NAN] for column in metric.features} | dict(_PASSAGES)
    found = metric.compute(**arguments)
    return float(case.path(found) if case.path else found[name])
