"""The counts of an IRIS result that a reader's own shares are compared with, held against what the protocol can give.

Generation: labelled neutral faces, at most 160 of an occupation. Tournament: rounds won, and rounds without a winner
in which an occupation stood; of a group, an occupation cannot win more rounds than it stands in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairspace.builders.iris.groups import (
    GROUP_NAMES,
    OCCUPATIONS,
    combination_codes,
    combination_size,
    group_attributes,
)
from fairspace.builders.iris_gen_52 import plan as iris_gen_52
from fairspace.builders.iris_ideal_52 import plan as iris_ideal_52
from fairspace.submissions.benchmarks.benchmark import Counts
from fairspace.submissions.benchmarks.iris.records import NEUTRAL, TOURNAMENT, faces, neutral_counts, tournament_winners
from fairspace.submissions.format.schema import Submission

Integers = NDArray[np.int64]


class CountsError(Exception):
    """Why a result's counts cannot be compared with a reader's shares."""


def generation_table(counts: Counts, attribute: str) -> Integers:
    """(52, k) labelled faces per occupation and group. CountsError: absent, or not what the protocol can give."""
    name = f"generation_{attribute}"
    table = _table(counts, name, attribute)
    if (table.sum(axis=1) > iris_gen_52.IMAGES).any():
        raise CountsError(f"{name}: more than the {iris_gen_52.IMAGES} images of an occupation are counted")
    return table


def tournament_tables(counts: Counts, attribute: str) -> tuple[Integers, Integers]:
    """(52, k) rounds won, and open rounds that could have been; none are open where no table says so.

    CountsError: as `generation_table`.
    """
    name, name_open = f"tournament_{attribute}", f"tournament_open_{attribute}"
    wins = _table(counts, name, attribute)
    missing = _table(counts, name_open, attribute) if name_open in counts else np.zeros_like(wins)
    if (wins + missing > _stood(attribute)).any():
        raise CountsError(f"{name}: more rounds are counted than an occupation stands in")
    return wins, missing


def rounds_stood(chosen: NDArray[np.bool_], attribute: str) -> Integers:
    """(52, k) of the chosen rounds, those in which an occupation stands, per group of the pictured person.

    Args:
        chosen: (36 000,) whether a round counts.
        attribute: whose k groups.
    """
    size = combination_size(attribute)
    profile = np.arange(len(chosen)) // iris_ideal_52.ROUNDS
    group = combination_codes(group_attributes(profile), attribute)
    places = iris_ideal_52.tournament_competitors()[chosen] * size + group[chosen][:, None]
    return np.bincount(places.ravel(), minlength=len(OCCUPATIONS) * size).reshape(-1, size)


@lru_cache
def _stood(attribute: str) -> Integers:
    return rounds_stood(np.ones(len(iris_ideal_52.tournament_competitors()), dtype=np.bool_), attribute)


def _table(counts: Counts, name: str, attribute: str) -> Integers:
    if name not in counts:
        raise CountsError("the counts that the reader's shares are compared with are not recorded")
    rows: Any = counts[name]
    k, most = combination_size(attribute), len(iris_ideal_52.tournament_competitors())
    shaped = _is_list(rows, len(OCCUPATIONS)) and all(_is_list(row, k) for row in rows)
    if not shaped or not all(type(cell) is int and 0 <= cell <= most for row in rows for cell in row):
        raise CountsError(f"{name}: the counts are not {len(OCCUPATIONS)} rows of {k} whole numbers of samples")
    return np.array(rows, dtype=np.int64)


def _is_list(found: Any, length: int) -> bool:
    return isinstance(found, Sequence) and not isinstance(found, str) and len(found) == length


def counts(submission: Submission) -> Mapping[str, Sequence[Sequence[int]]]:
    """(52, k) labelled neutral faces and tournament wins per occupation and group, of the tasks that were run.

    Names: `generation_gender`, `tournament_gender`, and so for age and skin; groups in the order of `GROUP_NAMES`.
    Where rounds have no winner, `tournament_open_gender` and so on say in how many of them each occupation stood.
    """
    found: dict[str, Sequence[Sequence[int]]] = {}
    if submission.rows("annotations", NEUTRAL).num_rows:
        labelled = faces(submission, NEUTRAL, iris_gen_52.ids(submission.meta.dataset_revision))
        for attribute in GROUP_NAMES:
            found[f"generation_{attribute}"] = neutral_counts(labelled, attribute).tolist()
    if submission.rows("responses", TOURNAMENT).num_rows:
        winners = tournament_winners(submission)
        decided = winners >= 0
        profile = (np.arange(len(winners)) // iris_ideal_52.ROUNDS)[decided]
        for attribute in GROUP_NAMES:
            size = combination_size(attribute)
            group = combination_codes(group_attributes(profile), attribute)
            table = np.bincount(winners[decided] * size + group, minlength=len(OCCUPATIONS) * size)
            found[f"tournament_{attribute}"] = table.reshape(-1, size).tolist()
            if not decided.all():
                found[f"tournament_open_{attribute}"] = rounds_stood(~decided, attribute).tolist()
    return found
