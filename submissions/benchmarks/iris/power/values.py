"""What a run of IRIS can show of each value: the smallest difference between two models that it finds."""

from __future__ import annotations

from fairspace.submissions.benchmarks.detectable import Chosen, Detectable
from fairspace.submissions.benchmarks.iris.power.generation import generation
from fairspace.submissions.benchmarks.iris.power.understanding import understanding


def detectable(chosen: Chosen) -> list[Detectable]:
    """The 17 values of generation and the 43 of understanding, those whose tasks are run."""
    return [*generation(chosen), *understanding(chosen)]
