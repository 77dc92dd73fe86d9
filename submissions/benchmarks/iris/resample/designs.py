"""The resampling designs of an IRIS submission, one per task that was run."""

from __future__ import annotations

from fairspace.submissions.benchmarks.iris.records import Records
from fairspace.submissions.benchmarks.iris.resample.generation import neutral_design, steer_design
from fairspace.submissions.benchmarks.iris.resample.occupations import occupation_design
from fairspace.submissions.benchmarks.iris.resample.pairs import pair_design
from fairspace.submissions.benchmarks.iris.resample.tournament import tournament_design
from fairspace.submissions.uncertainty.design import Design


def designs(records: Records) -> list[Design]:
    """The designs of the tasks that were run: together all of the 60 values, further drifts, and three competences."""
    parts: list[Design] = []
    if records.neutral is not None:
        parts.append(neutral_design(records.neutral))
    steer = records.steer
    if steer is not None and steer.shown == len(steer.plan):
        parts.append(steer_design(steer.measures.reshape(-1, steer.measures.shape[-1])))
    if records.occupations is not None:
        parts.append(occupation_design(records.occupations.codes()))
    if records.winners is not None:
        parts.append(tournament_design(records.winners))
    if records.pairs is not None:
        pairs = records.pairs
        parts.append(pair_design(pairs.ratings, pairs.correct, pairs.labelled, pairs.refused, pairs.groups))
    return parts
