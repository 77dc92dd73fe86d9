"""The counts of an IRIS result that a reader's own shares are compared with: counted, and checked when they are read.

Generation: labelled neutral faces, at most 160 of an occupation. Tournament: rounds won, and those without a winner
or not handed in, in which an occupation stood; of a group, an occupation cannot win more rounds than it stands in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairspace.builders.iris.groups import (
    GROUP_NAMES,
    GROUPS,
    OCCUPATIONS,
    combination_size,
    group_members,
)
from fairspace.builders.iris_gen_52 import plan as iris_gen_52
from fairspace.builders.iris_ideal_52 import plan as iris_ideal_52
from fairspace.submissions.benchmarks.benchmark import Counts
from fairspace.submissions.benchmarks.iris.parse.rows import MISSING
from fairspace.submissions.benchmarks.iris.records import Records, neutral_counts

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


def tournament_tables(counts: Counts, attribute: str) -> tuple[Integers, Integers, Integers]:
    """(52, k) rounds won, rounds without a winner, and rounds not handed in; none are where no table says so.

    CountsError: as `generation_table`.
    """
    name = f"tournament_{attribute}"
    wins = _table(counts, name, attribute)
    undecided, missing = (
        _table(counts, other, attribute) if other in counts else np.zeros_like(wins)
        for other in (f"tournament_undecided_{attribute}", f"tournament_open_{attribute}")
    )
    if (wins + undecided + missing > _stood(attribute)).any():
        raise CountsError(f"{name}: more rounds are counted than an occupation stands in")
    return wins, undecided, missing


def counts(records: Records) -> Mapping[str, Sequence[Sequence[int]]]:
    """(52, k) labelled neutral faces and tournament wins per occupation and group, of the tasks that were run.

    Names: `generation_gender`, `tournament_gender`, and so for age and skin; groups in the order of `GROUP_NAMES`.
    Where rounds have no winner, `tournament_undecided_gender` and so on say in how many of them each occupation stood;
    `tournament_open_gender` and so on, in how many of those that were not handed in.
    """
    tables: dict[str, Sequence[Sequence[int]]] = {}
    if records.neutral is not None:
        for attribute in GROUP_NAMES:
            tables[f"generation_{attribute}"] = neutral_counts(records.neutral, attribute).tolist()
    if records.winners is not None:
        wins, undecided, missing = tournament_rounds(records.winners, records.competitors)
        for attribute in GROUP_NAMES:
            members = group_members(attribute)
            tables[f"tournament_{attribute}"] = (wins @ members).tolist()
            if undecided.any():
                tables[f"tournament_undecided_{attribute}"] = (undecided @ members).tolist()
            if missing.any():
                tables[f"tournament_open_{attribute}"] = (missing @ members).tolist()
    return tables


def rounds_won(winners: Integers) -> Integers:
    """(36 000,) winners, -1 for none -> (52, 18) rounds that each occupation won, by group of the pictured person."""
    decided = winners >= 0
    profile = np.arange(len(winners)) // iris_ideal_52.ROUNDS
    places = winners[decided] * len(GROUPS) + profile[decided]
    return np.bincount(places, minlength=len(OCCUPATIONS) * len(GROUPS)).reshape(-1, len(GROUPS))


def tournament_rounds(winners: Integers, competitors: Integers) -> tuple[Integers, Integers, Integers]:
    """(52, 18) rounds won, rounds without a winner, and rounds that were not handed in, by occupation and group."""
    undecided = rounds_stood((winners < 0) & (winners != MISSING), competitors)
    return rounds_won(winners), undecided, rounds_stood(winners == MISSING, competitors)


def rounds_stood(chosen: NDArray[np.bool_], competitors: Integers) -> Integers:
    """(36 000,) whether a round counts -> (52, 18) of these rounds, those in which an occupation stands, by group."""
    profile = np.arange(len(chosen)) // iris_ideal_52.ROUNDS
    places = competitors[chosen] * len(GROUPS) + profile[chosen][:, None]
    return np.bincount(places.ravel(), minlength=len(OCCUPATIONS) * len(GROUPS)).reshape(-1, len(GROUPS))


@lru_cache
def _stood(attribute: str) -> Integers:
    """(52, k) of all rounds, those in which an occupation stands."""
    competitors = iris_ideal_52.tournament_competitors()
    return rounds_stood(np.ones(len(competitors), dtype=np.bool_), competitors) @ group_members(attribute)


def _table(counts: Counts, name: str, attribute: str) -> Integers:
    if name not in counts:
        raise CountsError("the counts that the reader's shares are compared with are not recorded")
    rows: Any = counts[name]
    k, most = combination_size(attribute), len(iris_ideal_52.tournament_competitors())
    shaped = _is_list(rows, len(OCCUPATIONS)) and all(_is_list(row, k) for row in rows)
    if not shaped or not all(type(cell) is int and 0 <= cell <= most for row in rows for cell in row):
        raise CountsError(f"{name}: the counts are not {len(OCCUPATIONS)} rows of {k} whole numbers of samples")
    return np.array(rows, dtype=np.int64)


def _is_list(data: Any, length: int) -> bool:
    return isinstance(data, Sequence) and not isinstance(data, str) and len(data) == length
