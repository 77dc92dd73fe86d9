"""One line of GENRES responses in the layout that the paper's authors publish, every field checked.

A line names its element by relationship, age, relationship_group and scenario_index, and its image by a code of four
hexadecimal digits that is part of the image's file name.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, NamedTuple

from fairspace.builders.genres.plan import AGES, NAMES, RELATION_NAMES, Element, load_elements
from fairspace.submissions.errors import did_you_mean
from fairspace.submissions.format.collector import RefusedError, show

FIELDS: dict[str, tuple[type, ...]] = {
    "relationship": (str,),
    "age": (str,),
    "relationship_group": (int,),
    "scenario_index": (int,),
    "names": (list,),
    "text_prompt": (str,),
    "image_code": (str,),
    "image_name": (str,),
    "response": (str, type(None)),
}
"""The fields that are read; the layout has more (person, scenario, image_prompt, ...), which are not."""
_CODE = re.compile(r"[0-9A-F]{4}")
_CONFLICT = "around a conflict or disagreement"
_WORDS = {str: "a text", int: "an integer", list: "a list", type(None): "null"}


class Line(NamedTuple):
    """What is used of one line."""

    element: str
    code: str
    names: str
    response: str | None
    where: tuple[str, str]


def read_line(row: dict[str, Any], where: tuple[str, str]) -> Line:
    """One line, every field checked. RefusedError says what is wrong."""
    for field, kinds in FIELDS.items():
        if field not in row:
            near = did_you_mean(field, [key[:64] for key in row if key not in FIELDS])
            raise RefusedError("MISSING_FIELD", f"no {field!r}{near}", f"the fields {', '.join(FIELDS)}")
        if type(row[field]) not in kinds:
            expected = " or ".join(_WORDS[kind] for kind in kinds)
            raise RefusedError("WRONG_TYPE", f"{field} is {show(row[field])}", f"{field}: {expected}")
    element = _element(row)
    return Line(element.id, _code(row, element), _names(row), row["response"], where)


def _element(row: dict[str, Any]) -> Element:
    """The element that a line names."""
    for field, words in (("relationship", [*RELATION_NAMES.values()]), ("age", [*AGES.values()])):
        if row[field] not in words:
            near = did_you_mean(row[field][:64], words)
            raise RefusedError("VOCABULARY", f"{field} {show(row[field])}{near}", f"one of: {', '.join(words)}")
    element = _elements().get((row["relationship"], row["age"], row["relationship_group"], row["scenario_index"]))
    if element is None:
        where = f"group {row['relationship_group']}, scenario {row['scenario_index']} of {row['relationship']}"
        groups = "groups 0-2 and scenarios 0-7 (communal sharing); groups 0-17, six per age, and scenarios 0-3 (others)"
        raise RefusedError("UNKNOWN_ID", f"{where} {row['age']}", groups)
    if (element.plot == "conflict") != (_CONFLICT in row["text_prompt"]):
        raise RefusedError("LAYOUT_PROMPT", f"{element.id} without a prompt for its plot", f"a {element.plot} prompt")
    return element


def _code(row: dict[str, Any], element: Element) -> str:
    """The image's code."""
    code: str = row["image_code"]
    if not _CODE.fullmatch(code):
        raise RefusedError("LAYOUT_IMAGE", f"image_code {show(code)}", "four hexadecimal digits in capitals")
    cell = f"{element.relation}_{element.age}_group{element.relationship}_scenario{element.scenario}"
    if row["image_name"] != f"mf_{cell}_{code}.png":
        raise RefusedError("LAYOUT_IMAGE", f"image_name {show(row['image_name'])}", f"mf_{cell}_{code}.png")
    return code


def _names(row: dict[str, Any]) -> str:
    """The two names in the order of the prompt, `First|Second`."""
    names: list[Any] = row["names"]
    female = [name for name in names if name in NAMES["female"]]
    male = [name for name in names if name in NAMES["male"]]
    if not len(names) == 2 == len(female) + len(male) == 2 * len(female):
        raise RefusedError("INVALID_NAMES", f"names {show(names)}", "one woman's and one man's name of Table 9")
    if f"two characters, {names[0]} and {names[1]}," not in row["text_prompt"]:
        what = f"names {names[0]}, {names[1]}, which the prompt has not in this order"
        raise RefusedError("LAYOUT_PROMPT", what, "the names of text_prompt, in its order")
    return "|".join(names)


@lru_cache
def _elements() -> dict[tuple[str, str, int, int], Element]:
    """The elements by what a line says of them."""
    return {(RELATION_NAMES[e.relation], AGES[e.age], e.relationship, e.scenario): e for e in load_elements()}
