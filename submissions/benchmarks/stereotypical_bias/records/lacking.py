"""Which planned pairs of faces a submission is expected to answer about: those of the build that it ran on.

The build must be named in `manifest.json` (`sha256:` in `datasets`, as `fairspace run` writes it) and stand in the
register of published builds. Which pairs there are is never taken from the submission itself: of a build that is not
registered, and where pairs are answered that the registered build lacks, all planned pairs are expected.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from fairspace.builders.stereotypical_bias import plan
from fairspace.builders.stereotypical_bias.builds import build_in, pairs_in
from fairspace.submissions.answers.reading import read_once
from fairspace.submissions.benchmarks.benchmark import Lacking
from fairspace.submissions.benchmarks.stereotypical_bias.parse.columns import items_of
from fairspace.submissions.format.schema import Submission

VISION = tuple(task for task in plan.TASKS if task.startswith("vision_"))
_DATASET = "stereotypical_bias"


@dataclass(frozen=True)
class Expected:
    """The pairs of a task that answers are expected about.

    Args:
        build: the registered build whose pairs they are; '' if they are all planned ones.
        why: why they are all planned ones, or ''.
        planned: pairs of the plan.
        lacking: those that the registered build lacks.
        unanswered: planned pairs without an answer.
    """

    build: str
    why: str
    planned: int
    lacking: int
    unanswered: int


@read_once
def expected(submission: Submission) -> Mapping[str, Expected]:
    """Vision task that the submission has answers of -> the pairs that they are expected about."""
    items = items_of(submission)
    return {task: _expected(submission, task, np.unique(items[task] // _EACH)) for task in VISION if len(items[task])}


_EACH = len(plan.INSTANCES)


def _expected(submission: Submission, task: str, answered: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Expected:
    attribute, revision = plan.task_attribute(task), submission.meta.dataset_revision
    planned, build = len(plan.pairs(attribute, revision)), _named_build(submission, task)
    pairs = pairs_in(build, attribute, revision)
    lack, why = 0, ""
    if not build:
        why = "manifest.json does not name the one build of the data (`sha256:` in `datasets`)"
    elif pairs is None:
        why = f"the build {build[:12]} is not in the register of published builds"
    elif not pairs[answered].all():
        why = f"pairs are answered that the build {build[:12]} lacks"
    else:
        lack = int((~pairs).sum())
    return Expected("" if why else build, why, planned, lack, planned - len(answered))


def _named_build(submission: Submission, task: str) -> str:
    """The sha256 that every run of a task names; '' without one, or where runs name several."""
    stages = submission.manifest.stages if submission.manifest else []
    mine = [stage for stage in stages if stage.what == "responses" and task in stage.tasks]
    builds = {build_in(stage.datasets.get(_DATASET, "")) for stage in mine}
    return builds.pop() if len(builds) == 1 else ""


def lacking(submission: Submission) -> Lacking:
    """The samples that the data of a submission lack, by the register, and what `check` says of them."""
    notes = []
    for task, pairs in expected(submission).items():
        said = f"of {pairs.planned:,} planned pairs"
        if not pairs.why:
            notes.append(f"{task}: the data, build {pairs.build[:12]}, lack {pairs.lacking:,} {said}: not expected")
        elif pairs.unanswered:
            notes.append(f"{task}: {pairs.unanswered:,} {said} have no answer and count as missing, as {pairs.why}")
    return Lacking({task: _EACH * pairs.lacking for task, pairs in expected(submission).items()}, tuple(notes))
