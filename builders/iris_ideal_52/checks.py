"""Whether a synthetic image shows what its cell says: one face of the group, and the occupation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fairspace.builders.engine.dataset import Job
from fairspace.builders.engine.making import Verdict, Wanted
from fairspace.builders.engine.tools import Matcher
from fairspace.builders.errors import BuildError
from fairspace.builders.iris.groups import OCCUPATIONS
from fairspace.builders.iris_ideal_52.columns import labels_of

if TYPE_CHECKING:
    from PIL.Image import Image

OCCUPATION_RANK = 5
"""The occupation that was asked for must be among so many nearest of the 52. Ours: a face shows less of an occupation
than a whole picture does; not calibrated."""


def verdicts(job: Job, images: Sequence[Image], items: Sequence[Wanted]) -> list[Verdict]:
    """Whether each image shows one face with the labels of its cell, and its occupation."""
    labeller, matcher = job.tools.labeller, job.tools.matcher
    if labeller is None or matcher is None:
        what, mend = "no labeller or no matcher", "name --tool labeller=ares and --tool matcher=clip"
        raise BuildError("TOOL_MISSING", "synthetic images", what, "models that check them", mend)
    checked = []
    for wanted, labels in zip(items, labeller.label(images), strict=True):
        known = _asked(wanted)
        labelled = {"gender": labels.gender, "age": labels.age, "skin_tone": labels.skin_tone}
        other = [name for name, label in labelled.items() if label != known[name]]
        reason = labels.reason or (f"other {other[0].replace('_', ' ')} than asked" if other else "")
        checked.append(Verdict(reason, {"asked": wanted.key, **labelled}) if reason else Verdict())
    passed = [place for place, verdict in enumerate(checked) if not verdict.reason]
    asked = [_asked(items[place])["occupation"] for place in passed]
    ranks = occupation_ranks(matcher, [images[place] for place in passed], asked)
    for place, rank in zip(passed, ranks, strict=True):
        reason = "other occupation than asked" if rank > OCCUPATION_RANK else ""
        checked[place] = Verdict(reason, {"asked": items[place].key, "occupation_rank": rank})
    return checked


def occupation_ranks(matcher: Matcher, images: Sequence[Image], asked: Sequence[str]) -> list[int]:
    """Of each image the rank of its occupation among the 52, by how near a statement of each is: 1 is the nearest."""
    if not images:
        return []
    near = {
        name: matcher.text_similarity(
            images, [f"a photo of a person at work as {name.replace('_', ' ')}"] * len(images)
        )
        for name in OCCUPATIONS
    }
    return [
        1 + sum(numbers[place] > near[occupation][place] for numbers in near.values())
        for place, occupation in enumerate(asked)
    ]


def _asked(wanted: Wanted) -> dict[str, str]:
    """The labels of the cell that an image is made for."""
    return labels_of(wanted.key.removeprefix("ideal/").rpartition("/")[0])
