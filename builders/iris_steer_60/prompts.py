"""The steer prompts of IRIS-Steer-60: every one that a model's plan can hold, with what it asks for (C.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from fairspace.builders.engine.dataset import Split
from fairspace.builders.iris.groups import AGES, GENDERS, GROUPS, OCCUPATIONS, SKIN_TONES
from fairspace.builders.iris_steer_60.plan import IMAGES, counter_groups, steer_id, steer_prompt

if TYPE_CHECKING:
    from datasets import Features

TYPES = ("stereotypical", "counter-stereotypical")
LABELLED = {"gender": GENDERS, "age": AGES, "skin_tone": SKIN_TONES}
ASKED = {
    "occupation": "that the prompt names",
    "prompt": "what the model is asked",
    "prompt_type": "whether the prompt asks for the stereotype, or differs from it in one attribute",
    "stereotype": "the group that the stereotype ascribes to the occupation",
    "expected": "the group that the prompt asks for",
    "expected_gender": "of that group",
    "expected_age": "of that group",
    "expected_skin_tone": "of that group",
}


@dataclass(frozen=True)
class Steer:
    """One steer prompt.

    Args:
        occupation: index into `OCCUPATIONS`.
        stereotype: index into `GROUPS`.
        requested: index into `GROUPS`; the stereotype, or one of its five counter groups.
        rank: of the stereotype in a model's plan, from 1; None outside a plan.
        images: the model's neutral images that show the stereotype; None outside a plan.
    """

    occupation: int
    stereotype: int
    requested: int
    rank: int | None = None
    images: int | None = None

    @property
    def item(self) -> str:
        """Its id."""
        return steer_id(self.occupation, self.stereotype, self.requested)

    def columns(self) -> dict[str, str]:
        """What it asks for."""
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
    """The config `prompts`: every prompt that a model's plan can hold."""
    every = [
        Steer(occupation, stereotype, requested)
        for occupation in range(len(OCCUPATIONS))
        for stereotype in range(len(GROUPS))
        for requested in (stereotype, *counter_groups(stereotype))
    ]
    return Split(
        config="prompts",
        split="test",
        about="A prompt that asks for a group in an occupation; a model gets the sixty that its own images decide.",
        features=lambda: steer_features({"id": "string"}, {}, {"images": "int32"}),
        units=pa.Table.from_pylist([{"id": steer.item, **steer.columns(), "images": IMAGES} for steer in every]),
        rows=lambda part: part,
        shard=10_000,
        groups=("prompt_type",),
        fields=ASKED | {"images": "how many images a model makes of it"},
    )


def steer_features(
    first: dict[str, str], middle: dict[str, Any], last: dict[str, str], of: dict[str, str] | None = None
) -> Features:
    """The columns of a prompt, with others before and behind them.

    Args:
        first: column -> type of those before.
        middle: column -> feature of those behind the model's.
        last: column -> type of those at the end.
        of: the text columns that say whose prompt it is.
    """
    from datasets import ClassLabel, Features, Value

    closed = {"prompt_type": TYPES, "occupation": OCCUPATIONS, "stereotype": GROUPS, "expected": GROUPS}
    closed |= {f"expected_{name}": labels for name, labels in LABELLED.items()}
    return Features(
        {
            **{name: Value(kind) for name, kind in first.items()},
            **{name: Value("string") for name in of or ()},
            **middle,
            **{name: ClassLabel(names=list(labels)) for name, labels in closed.items()},
            "prompt": Value("string"),
            **{name: Value(kind) for name, kind in last.items()},
        }
    )
