"""How IRIS' samples are drawn anew, and the counts that a reader's own reference is compared with."""

from __future__ import annotations

from fairspace.submissions.benchmarks.iris.resample.generation import generation_designs
from fairspace.submissions.benchmarks.iris.resample.pairs import pair_designs
from fairspace.submissions.benchmarks.iris.resample.understanding import understanding_designs
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.uncertainty.design import Design


def designs(submission: Submission) -> list[Design]:
    """The designs of the tasks that were run: together all of the 60 values, further drifts, and three competences."""
    return [*generation_designs(submission), *understanding_designs(submission), *pair_designs(submission)]
