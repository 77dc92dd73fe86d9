"""Labelled answers of the benchmark held against what is read of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fairspace.builders.stereotypical_bias.plan import INSTANCES, PICTURE_SIZE, slug, task_attribute
from fairspace.submissions.answers.measuring import Compared, compare
from fairspace.submissions.benchmarks.stereotypical_bias.parse import read_group, read_side
from fairspace.submissions.benchmarks.stereotypical_bias.parse.scene import Scene

_ROLE = {slug(name): name for name in INSTANCES}


def compare_reading(line: Mapping[str, Any]) -> Sequence[Compared]:
    """The reading of a labelled line beside its gold.

    Args:
        line: of a vision task with `item` (the last part says who is asked about), `left` and `right` (who stands
            there) and `image` (width and height); a line of a language task needs nothing more.
    """
    task = line["task"]
    if not task.startswith("vision_"):
        return [compare(task, line["gold"], read_group(line["answer"], task_attribute(task)))]
    role = str(line.get("item", "")).rpartition("/")[2]
    size = tuple(line.get("image") or PICTURE_SIZE)
    scene = Scene(_ROLE.get(role, role.replace("_", " ")), line["left"], line["right"], (int(size[0]), int(size[1])))
    return [compare(task, line["gold"], read_side(line["answer"], scene))]
