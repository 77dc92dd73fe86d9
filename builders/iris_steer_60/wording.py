"""The words that make an understanding pair of IRIS-Steer-60: a prompt for one image, an instruction for the other.

The paper prints neither. The prompt is C.2's example (`TEMPLATE`) with the pair's other labels behind it; the
instruction names what shall differ and nothing else, so that the editor keeps the rest. Both are ours.
"""

from __future__ import annotations

from collections.abc import Mapping

from fairspace.builders.iris.groups import AGES
from fairspace.builders.iris_steer_60.plan import LABELS, pairs, steer_prompt

_DETAILS: Mapping[str, Mapping[str, str]] = {
    "e": {"yes": "wearing glasses"},
    "f": {"neutral": "with a neutral expression", "smiling": "smiling", "serious": "with a serious expression"},
    "g": {"yes": "with a badge on the chest"},
    "h": {"yes": "with a beard", "no": "clean-shaven"},
}
"""Objective question -> label -> words (C.2's annotations 4 and 6 to 8). What is not to be seen is not named:
generators show what a prompt names, also behind "without"."""


def attire(colour: str) -> str:
    """The words for an attire colour."""
    return f"wearing {colour} clothes"


def base_prompt(number: int) -> str:
    """What image a of a pair shows: its group, occupation, attire colour and details."""
    plan = pairs()
    labels = planned_labels(number, 0)
    details_by_question = {question: words.get(labels[question], "") for question, words in _DETAILS.items()}
    if labels["a"] == "female":
        details_by_question["h"] = ""
    details = filter(None, details_by_question.values())
    group = steer_prompt(int(plan.occupation[number]), int(plan.groups[number, 0]))
    return ", ".join([group, attire(labels["d"]), *details])


def instruction(number: int) -> str:
    """What turns image a of a pair into image b."""
    first, second = (planned_labels(number, side) for side in (0, 1))
    changed = {question for question in first if first[question] != second[question]}
    person = [AGES[LABELS["b"].index(second["b"])]] if "b" in changed else []
    if "c" in changed:
        person.append(f"{second['c']}-color skintone")
    if "a" in changed:
        person.append(second["a"])
    wishes = [f"turn the person into {_article(person[0])} {' '.join([*person, 'person'])}"] if person else []
    if "d" in changed:
        wishes.append(f"make the clothes {second['d']}")
    return ", and ".join(wishes)


def _article(word: str) -> str:
    return "an" if word[0] in "aeiou" else "a"


def planned_labels(number: int, side: int) -> dict[str, str]:
    """Question -> label that is planned for an image of a pair."""
    codes = pairs().labels[number, side].tolist()
    return {question: names[code] for (question, names), code in zip(LABELS.items(), codes, strict=True)}
