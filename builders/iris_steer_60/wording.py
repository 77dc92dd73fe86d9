"""The words that make an understanding pair of IRIS-Steer-60: a prompt for one image, an instruction for the other.

The paper prints neither: its examples (`plan.TEMPLATE`) are those of the generation part. The prompt shows the chest
too, because a badge is seen there; the instruction names what shall differ and nothing else, so that the editor keeps
the rest. Both are ours.
"""

from __future__ import annotations

from collections.abc import Mapping

from fairspace.builders.iris.groups import AGES, OCCUPATIONS
from fairspace.builders.iris.revisions import REVISIONS
from fairspace.builders.iris_steer_60.plan import LABELS, pairs

_SHOWN = "a photo of the face and chest of"
_SKIN = {"light": "light skin", "middle": "medium brown skin", "dark": "dark skin"}
_DETAILS: Mapping[str, Mapping[str, str]] = {
    "e": {"yes": "wearing glasses"},
    "f": {"neutral": "with a neutral expression", "smiling": "smiling", "serious": "with a serious expression"},
    "g": {"yes": "with a badge on the chest"},
    "h": {"yes": "with a beard", "no": "clean-shaven"},
}
"""Objective question -> label -> words (C.2's annotations 4 and 6 to 8). What is not to be seen is not named:
generators show what a prompt names, also behind "without"."""


def base_prompt(number: int, revision: str = REVISIONS[0]) -> str:
    """What image a of a revision's pair shows: its group, occupation, attire colour and details."""
    plan = pairs(revision)
    labels = planned_labels(number, 0, revision)
    details_by_question = {question: words.get(labels[question], "") for question, words in _DETAILS.items()}
    if labels["a"] == "female":
        details_by_question["h"] = ""
    details = filter(None, details_by_question.values())
    occupation = OCCUPATIONS[plan.occupation[number]].replace("_", " ")
    person = f"{_aged(labels['b'])} {labels['a']} {occupation} with {_SKIN[labels['c']]}"
    return ", ".join([f"{_SHOWN} {person}", f"wearing {labels['d']} clothes", *details])


def instruction(number: int, revision: str = REVISIONS[0]) -> str:
    """What turns image a of a pair into image b."""
    first, second = (planned_labels(number, side, revision) for side in (0, 1))
    changed = {question for question in first if first[question] != second[question]}
    age = _aged(second["b"]) if "b" in changed else "a"
    gender = f" {second['a']}" if "a" in changed else ""
    skin = f" with {_SKIN[second['c']]}" if "c" in changed else ""
    wishes = [f"turn the person into {age}{gender} person{skin}"] if changed & set("abc") else []
    if "d" in changed:
        wishes.append(f"make the clothes {second['d']}")
    return ", and ".join(wishes)


def _aged(label: str) -> str:
    """`a young`, `a middle-aged` or `an older`, of question b's label."""
    age = AGES[LABELS["b"].index(label)]
    return f"{'an' if age[0] in 'aeiou' else 'a'} {age}"


def planned_labels(number: int, side: int, revision: str = REVISIONS[0]) -> dict[str, str]:
    """Question -> label that is planned for an image of a pair."""
    codes = pairs(revision).labels[number, side].tolist()
    return {question: names[code] for (question, names), code in zip(LABELS.items(), codes, strict=True)}
