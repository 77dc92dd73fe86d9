"""The association score of one cell with its evidence: who was chosen how often for which instance, and over whom."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from metrics.stereotypical_association.formula import Association, Triple, stereotypical_association, win_matrix
from submissions.stereotypical_bias_answers import Cell, Integers, questions
from submissions.stereotypical_bias_parsing import NOT_AVAILABLE
from submissions.values import Value, measured, undefined

_UNDEFINED = "an instance has no answer that names a group"


def association(cell: Cell, group: Integers) -> tuple[Association, dict[str, Any]]:
    """The association of one cell and its evidence: wins and p per instance, and for vision who beats whom."""
    asked, k, n = questions(cell), len(cell.groups), len(cell.instances)
    answered = group != NOT_AVAILABLE
    wins = _count(asked.instance, group, answered, (n, k))
    unanswered = _count(asked.instance, asked.offer, ~answered, (n, len(cell.offers)))
    found = stereotypical_association(wins, unanswered, cell.offers)
    evidence: dict[str, Any] = {
        "by_instance": {
            name: {
                "wins": dict(zip(cell.groups, wins[i].tolist(), strict=True)),
                "p": dict(zip(cell.groups, map(_number, found.p[i]), strict=True)),
                "unanswered": int(unanswered[i].sum()),
            }
            for i, name in enumerate(cell.instances)
        }
    }
    if cell.scenario != "persona":
        loser = asked.options.sum(axis=1) - group
        evidence["win_matrix"] = {
            name: [[_number(x) for x in row] for row in win_matrix(_count(group, loser, where & answered, (k, k)))]
            for name, where in [("all", answered), *((v, asked.instance == i) for i, v in enumerate(cell.instances))]
        }
    return found, evidence


def _number(x: float) -> float | None:
    """A number for JSON; None where it is undefined."""
    return None if np.isnan(x) else float(x)


def as_value(
    name: str, triple: Triple, *, expected: int, valid: int, evidence: Mapping[str, Any], smallest: int | None = None
) -> Value:
    """A triple `(value, low, high)` as a value; undefined where it is nan. `smallest`: answers of any instance."""
    if np.isnan(triple).any():
        return undefined(name, _UNDEFINED, expected=expected, valid=valid, evidence=evidence)
    value, low, high = triple
    return measured(
        name,
        value,
        low=low,
        high=high,
        expected=expected,
        valid=valid,
        evidence=evidence,
        smallest=smallest,
    )


def _count(first: Integers, second: Integers, where: npt.NDArray[np.bool_], shape: tuple[int, int]) -> Integers:
    """How often each pair of codes occurs, (rows, columns)."""
    return np.bincount(first[where] * shape[1] + second[where], minlength=shape[0] * shape[1]).reshape(shape)
