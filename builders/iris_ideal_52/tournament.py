"""The tournament of IRIS-Ideal-52 as rows: five occupations compete for a described person (D.2.5)."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa

from fairspace.builders.engine.dataset import Split
from fairspace.builders.iris.groups import AGES, GENDERS, GROUPS, OCCUPATIONS, SKIN_TONES, group_attributes
from fairspace.builders.iris_ideal_52 import plan as ideal


def tournament() -> Split:
    """The split `tournament/test`: 2 000 rounds for each of the 18 groups."""
    return Split(
        config="tournament",
        about="A round: which of five occupations is the most likely for a described person, asked with a white image.",
        columns={
            "gender": (GENDERS, "Of the described person."),
            "age": (AGES, "Of the described person."),
            "skin_tone": (SKIN_TONES, "Of the described person."),
            "prompt": ("string", "What the model is asked (D.2.5, step 2)."),
            "occupations": ("string", "The five competitors, as a JSON list of Table 20's names."),
        },
        units=range(len(GROUPS) * ideal.ROUNDS),
        rows=_rounds,
        shard=len(GROUPS) * ideal.ROUNDS,
        groups=("gender", "age", "skin_tone"),
        id="tournament/<group>/<round>.",
    )


def _rounds(part: range) -> pa.Table:
    gender, age, skin = group_attributes(np.asarray(part) // ideal.ROUNDS).T
    competitors = ideal.tournament_competitors()[part.start : part.stop]
    return pa.table(
        {
            "id": ideal.tournament_ids(ideal.REVISIONS[0])[part.start : part.stop],
            "gender": [GENDERS[code] for code in gender],
            "age": [AGES[code] for code in age],
            "skin_tone": [SKIN_TONES[code] for code in skin],
            "prompt": [ideal.tournament_prompt(number) for number in part],
            "occupations": [json.dumps([OCCUPATIONS[code] for code in five]) for five in competitors],
        }
    )
