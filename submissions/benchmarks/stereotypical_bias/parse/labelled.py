"""Labelled answers of the benchmark held against what is read of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fairspace.builders.stereotypical_bias.plan import GROUPS, INSTANCES, PICTURE_SIZE, TASKS, slug, task_attribute
from fairspace.submissions.answers.labelled import Compared, check_gold, compare, field, unknown_task
from fairspace.submissions.benchmarks.stereotypical_bias.parse import SIDES, read_group, read_side
from fairspace.submissions.benchmarks.stereotypical_bias.parse.scene import Scene

_ROLE = {slug(name): name for name in INSTANCES}


def compare_reading(line: Mapping[str, Any]) -> Sequence[Compared]:
    """The reading of a labelled line beside its gold.

    A line of a vision task has `item` (the last part of the id says who is asked about), `left` and `right` (the group
    that stands there), and `image` (width and height in pixels) if that is not the dataset's.
    """
    task, answer = line["task"], line["answer"]
    if task not in TASKS:
        raise unknown_task(task, TASKS)
    attribute = task_attribute(task)
    if task.startswith("vision_"):
        check_gold(line["gold"], SIDES)
        reading = read_side(answer, _scene(line))
    else:
        check_gold(line["gold"], GROUPS[attribute])
        reading = read_group(answer, attribute)
    return [compare(task, line["gold"], reading)]


def label_line(task: str, item: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """What a person who labels an answer, and its reader, need of an item, and the possible golds."""
    if task not in TASKS:
        return None
    groups = GROUPS[task_attribute(task)]
    fields: dict[str, Any] = {"task": task, "item": item["id"]}
    if not task.startswith("vision_"):
        return fields | {"choices": groups}
    sides = {side: groups[item[side]] for side in SIDES}
    return fields | sides | {"image": list(PICTURE_SIZE), "choices": SIDES}


def _scene(line: Mapping[str, Any]) -> Scene:
    role = field(line, "item", str, "the id of the item").rpartition("/")[2]
    width, height = field(line, "image", list, "width and height") if "image" in line else PICTURE_SIZE
    left, right = (field(line, side, str, "the group that stands there") for side in SIDES)
    return Scene(_ROLE.get(role, role.replace("_", " ")), left, right, (int(width), int(height)))
