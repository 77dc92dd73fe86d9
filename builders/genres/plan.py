"""The GENRES dataset: 288 narrative elements and their 1 440 pairs of a text prompt and an image.

GENRES, sections 3.1 and 3.2, Tables 5 to 9: four relational models with 72 elements each, half of them conflict; five
images per element. Relationships and names are the paper's; the scenario texts are ours
(`reference/genres_elements.csv`), because the paper prints examples alone. Three revisions share the ids: `v1`, asked
as printed; `v2`, whose prompts also ask for the shown traits; `upstream`, the authors' own pairs, whose names come with
the submission (column `names`).
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, cast

import pyarrow as pa

from fairspace.builders import REFERENCE
from fairspace.builders.errors import check_revision
from fairspace.builders.genres.prompts import (
    HIGH_STATUS_QUESTIONS,
    IMAGE_TEMPLATE,
    MAIN_CHARACTER_QUESTIONS,
    PLOT_REQUIREMENTS,
    RELATION_NAMES,
    SHOWN_TRAITS,
    TEXT_TEMPLATE,
    Plot,
    Relation,
    fill,
    narrative_prompt,
    profile_prompt,
)

Gender = Literal["female", "male"]
NAMES: dict[Gender, tuple[str, ...]] = {
    "female": (
        *("Mila", "Emma", "Eleanor", "Evelyn", "Sofia", "Elizabeth", "Luna"),
        *("Olivia", "Scarlett", "Amelia", "Charlotte", "Isabella", "Ava", "Mia"),
    ),
    "male": (
        *("Levi", "Henry", "William", "Oliver", "Jack", "Michael", "Elijah", "Noah"),
        *("Theodore", "Samuel", "Liam", "James", "Mateo", "Lucas", "Benjamin"),
    ),
}
"""Table 9. Its list of female names has 15 entries but prints Amelia twice, so there are 14."""


__all__ = [
    "AGES",
    "Gender",
    "HIGH_STATUS_QUESTIONS",
    "IMAGES",
    "MAIN_CHARACTER_QUESTIONS",
    "NAMES",
    "RELATIONS",
    "RELATION_NAMES",
    "REVISIONS",
    "Element",
    "Pair",
    "ids",
    "image_prompt",
    "items",
    "load_elements",
    "Plot",
    "Relation",
    "narrative_prompt",
    "pair_list",
    "pairs",
    "profile_prompt",
    "text_prompt",
]
Age = Literal["young", "middle", "old"]
UPSTREAM = "upstream"
REVISIONS = ("v1", "v2", UPSTREAM)
RELATIONS: tuple[Relation, ...] = ("cs", "em", "mp", "ar")
AGES: dict[Age, str] = {"young": "at a young age", "middle": "in middle age", "old": "in old age"}
"""Age in an id -> text for [age] (Tables 5 to 8)."""
IMAGES = 5
ELEMENTS_FILE = REFERENCE / "genres_elements.csv"
_SEED = "genres/v1"


@dataclass(frozen=True)
class Element:
    """One narrative element: a relationship at an age, in one scenario.

    `relationship` is 0 to 2 for cs at every age, else 0 to 5, 6 to 11 and 12 to 17 by age; `scenario` 0 to 7 for cs,
    else 0 to 3. `description` is the text for [Detailed Relationship]; asymmetric roles (mp, ar) read "one is the ...
    and the other is the ...", so that either name can have either role (B.1). `text` is the scenario, one or two
    sentences without gender.
    """

    relation: Relation
    age: Age
    relationship: int
    scenario: int
    plot: Plot
    description: str
    text: str

    @property
    def id(self) -> str:
        """The prefix of the ids of its five pairs."""
        return f"{self.relation}/{self.age}/{self.relationship:02d}/{self.scenario}"


@dataclass(frozen=True)
class Pair:
    """One narrative elicitation pair: an element, one of its images, and the two names in the order of the prompt."""

    element: Element
    image: int
    female_name: str
    male_name: str
    female_first: bool

    @property
    def id(self) -> str:
        """The item id."""
        return f"{self.element.id}/{self.image}"

    @property
    def names(self) -> tuple[str, str]:
        """[NAME1] and [NAME2]."""
        return (self.female_name, self.male_name) if self.female_first else (self.male_name, self.female_name)


def _cells() -> Iterable[tuple[Relation, Age, int, int]]:
    for relation in RELATIONS:
        for number, age in enumerate(AGES):
            relationships = range(3) if relation == "cs" else range(6 * number, 6 * number + 6)
            for relationship in relationships:
                for scenario in range(8 if relation == "cs" else 4):
                    yield relation, age, relationship, scenario


@lru_cache
def ids(revision: str = REVISIONS[0]) -> pa.Array:
    """All 1 440 item ids, the same in all revisions. BuildError REVISION_UNKNOWN for another one."""
    check_revision("genres", revision, REVISIONS)
    return pa.array([f"{r}/{a}/{g:02d}/{s}/{image}" for r, a, g, s in _cells() for image in range(IMAGES)])


def built_revision(revision: str) -> str:
    """The dataset revision with a revision's pairs and images: `v1` for `v2`, all others their own."""
    return REVISIONS[0] if revision == REVISIONS[1] else revision


@lru_cache
def load_elements() -> tuple[Element, ...]:
    """The 288 elements, in the order of the ids. ValueError if the file does not hold exactly those."""
    text = ELEMENTS_FILE.read_text(encoding="utf-8")
    elements = tuple(
        Element(
            cast(Relation, row["relation"]),
            cast(Age, row["age"]),
            int(row["relationship"]),
            int(row["scenario"]),
            cast(Plot, row["plot"]),
            row["description"],
            row["text"],
        )
        for row in csv.DictReader(text.splitlines())
    )
    if [(e.relation, e.age, e.relationship, e.scenario) for e in elements] != list(_cells()):
        raise ValueError("genres_elements.csv does not hold the 288 elements in order")
    return elements


def _shuffled(words: Iterable[str], *key: object) -> list[str]:
    """The words in an order that depends on the key alone, not on any library's generator."""
    return sorted(words, key=lambda word: hashlib.sha256(repr((_SEED, *key, word)).encode()).digest())


@lru_cache
def pair_list() -> tuple[Pair, ...]:
    """The 1 440 pairs of v1 and v2, in the order of the ids.

    An element's five pairs have different names; the female name comes first in two or three of them, and in exactly
    half of the pairs of each relational model.
    """
    elements = load_elements()
    pairs = []
    for relation in RELATIONS:
        group = [e for e in elements if e.relation == relation]
        thrice = set(_shuffled((e.id for e in group), "order")[: len(group) // 2])
        for element in group:
            female, male = (_shuffled(NAMES[gender], element.id) for gender in ("female", "male"))
            first = _shuffled(map(str, range(IMAGES)), element.id)[: 2 + (element.id in thrice)]
            pairs += [Pair(element, i, female[i], male[i], str(i) in first) for i in range(IMAGES)]
    return tuple(pairs)


def text_prompt(pair: Pair, revision: str = REVISIONS[0]) -> str:
    """The prompt for the model under test (Figure 3); in `v2` the format of the reply has a fourth line."""
    element = pair.element
    return fill(
        TEXT_TEMPLATE + (SHOWN_TRAITS if revision == REVISIONS[1] else ""),
        Detailed_Relationship=element.description,
        Relationship=RELATION_NAMES[element.relation],
        Scenario=element.text,
        Plot_Requirement=PLOT_REQUIREMENTS[element.plot],
        age=AGES[element.age],
        NAME1=pair.names[0],
        NAME2=pair.names[1],
    )


def image_prompt(element: Element) -> str:
    """The prompt for the descriptions of the element's five images (Figure 9)."""
    return fill(IMAGE_TEMPLATE, Detailed_relationship=element.description, Scenario=element.text, age=AGES[element.age])


@lru_cache
def pairs(revision: str = REVISIONS[0]) -> pa.Table:
    """The pairs of v1 or v2 as the dataset's table, one row per pair, in the order of the ids."""
    rows = [
        {
            "id": pair.id,
            "relation": pair.element.relation,
            "age": pair.element.age,
            "relationship": pair.element.relationship,
            "relationship_description": pair.element.description,
            "scenario": pair.element.scenario,
            "scenario_text": pair.element.text,
            "plot": pair.element.plot,
            "image": pair.image,
            "name_1": pair.names[0],
            "name_2": pair.names[1],
            "female_name": pair.female_name,
            "male_name": pair.male_name,
            "text_prompt": text_prompt(pair, revision),
            "image_description_prompt": image_prompt(pair.element),
        }
        for pair in pair_list()
    ]
    return pa.Table.from_pylist(rows)


def items(revision: str = REVISIONS[0]) -> pa.Table:
    """`pairs` with the column `prompt`. BuildError REVISION_UNKNOWN, also for `upstream` with the authors' prompts."""
    check_revision("genres", revision, REVISIONS[:-1])
    return pairs(revision).rename_columns({"text_prompt": "prompt"})
