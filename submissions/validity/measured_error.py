"""What a submission says of the errors that a further run will have: the errors of values that are means of its scores.

The samples of one model cannot say how much of what prompts do they would do to another model as well, so there are two
errors: if prompts do the same to both, only what repeats vary by is left; if they do nothing alike, all of it is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from fairspace.submissions.validity.components import Component, components
from fairspace.submissions.validity.decision import is_random, repeats, units
from fairspace.submissions.validity.study import Study


@dataclass(frozen=True)
class MeasuredError:
    """The standard error of one value.

    Args:
        value: its name.
        n: of the samples that it rests on, or of the pairs.
        repeated: the error if prompts do the same to every model: 0 where all repeats are alike.
        drawn: the error if they do nothing alike, or other ones had been drawn.
    """

    value: str
    n: float
    repeated: float
    drawn: float


def measured_errors(studies: Sequence[Study]) -> list[MeasuredError]:
    """Of the values that are means of the scores of studies, or of those of one level of their target."""
    errors = []
    for study in studies:
        estimated = components(study)
        if not estimated.parts or not (study.means or study.means_of_levels):
            continue
        random = [part for part in estimated.parts if is_random(part, estimated) and part.factors != (study.target,)]
        again = [part for part in random if repeats(part, estimated)]
        of_levels = bool(study.means_of_levels)
        if not of_levels:
            random = [part for part in estimated.parts if is_random(part, estimated)]
        sizes = [_error(parts, of_levels) for parts in (again, random)]
        n = units(estimated) / (estimated.levels[study.target] if of_levels else 1)
        errors += [MeasuredError(name, n, *sizes) for name in (*study.means, *study.means_of_levels)]
    return errors


def _error(parts: Sequence[Component], of_levels: bool) -> float:
    return math.sqrt(sum(part.variance * (part.of_target if of_levels else part.of_mean) for part in parts))
