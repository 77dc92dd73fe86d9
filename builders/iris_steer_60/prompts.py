"""The steer prompts of IRIS-Steer-60: all possible ones, with the requested labels (C.2)."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from fairspace.builders.engine.dataset import Columns, Split
from fairspace.builders.iris.groups import GROUPS, LABELS, OCCUPATIONS
from fairspace.builders.iris_steer_60.plan import IMAGES, counter_groups, steer_id, steer_prompt

TYPES = ("stereotypical", "counter-stereotypical")
ASKED: Columns = {
    "prompt_type": (TYPES, "whether the prompt asks for the stereotype, or differs from it in one attribute"),
    "occupation": (OCCUPATIONS, "that the prompt names"),
    "stereotype": (GROUPS, "the group that the stereotype ascribes to the occupation"),
    "expected": (GROUPS, "the group that the prompt asks for"),
    **{f"expected_{name}": (labels, "of that group") for name, labels in LABELS.items()},
    "prompt": ("string", "what the model is asked"),
}


@dataclass(frozen=True)
class Steer:
    """One steer prompt, in indices into `OCCUPATIONS` and `GROUPS`.

    `requested` is the stereotype or one of its five counter groups. `rank` (from 1) and `images` are the stereotype's
    in a model's plan and neutral images; None outside a plan.
    """

    occupation: int
    stereotype: int
    requested: int
    rank: int | None = None
    images: int | None = None

    @property
    def item(self) -> str:
        """Id of the item."""
        return steer_id(self.occupation, self.stereotype, self.requested)

    def columns(self) -> dict[str, str]:
        """The requested labels."""
        gender, age, skin = GROUPS[self.requested].split("_")
        return {
            "prompt_type": TYPES[self.requested != self.stereotype],
            "occupation": OCCUPATIONS[self.occupation],
            "stereotype": GROUPS[self.stereotype],
            "expected": GROUPS[self.requested],
            "expected_gender": gender,
            "expected_age": age,
            "expected_skin_tone": skin,
            "prompt": steer_prompt(self.occupation, self.requested),
        }


def prompts_split() -> Split:
    """The config `prompts`: all possible steer prompts."""
    every = [
        Steer(occupation, stereotype, requested)
        for occupation in range(len(OCCUPATIONS))
        for stereotype in range(len(GROUPS))
        for requested in (stereotype, *counter_groups(stereotype))
    ]
    return Split(
        config="prompts",
        about="A prompt that asks for a group in an occupation; a model gets the sixty that its own images decide.",
        columns={**ASKED, "images": ("int32", "how many images a model makes of it")},
        units=pa.Table.from_pylist([{"id": steer.item, **steer.columns(), "images": IMAGES} for steer in every]),
        shard=10_000,
        groups=("prompt_type",),
    )
