"""Agreement of handed-in answers with a model that is asked again, and the share of them that can be of another origin.

Three kinds of pairs are compared over the same requests: handed in and rerun (S), two reruns (R), and answers to
different items (C, agreement by chance). If a share r of the answers is of another origin and agrees by chance, then
S = R - r (R - C), so r = (R - S) / (R - C), with a 95 % confidence interval clustered by stimulus.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any, Literal

import numpy as np
from scipy.stats import norm

from fairspace.metrics.columns import Floats, Integers
from fairspace.submissions.answers.likeness import Key, TaskAnswers, by_chance, error_of, share

Verdict = Literal["agrees", "differs", "undecided"]
MOST_FOREIGN = 0.2
"""Greatest share of another origin with which answers agree."""
DRIFT = 0.05
"""Answers differ if the share certainly exceeds this; less may be other hardware or a provider's update."""


@dataclass(frozen=True)
class ComparedRequests:
    """The compared requests of one task: (n,) codes of stimuli, and (n,) likenesses in [0, 1].

    Args:
        handed_in: likeness of the handed-in answer and the rerun; the mean over two reruns.
        repeated: likeness of two reruns; 1 for a single rerun, which makes the share no smaller.
        chance: mean likeness of answers to different items.
    """

    stimulus: Integers
    handed_in: Floats
    repeated: Floats
    chance: float


@dataclass(frozen=True)
class Agreement:
    """Agreement over a task, or over the whole part.

    Args:
        agreement: mean likeness of handed-in answers and rerun, in [0, 1], with 95 % confidence interval `low` to
            `high`.
        repeated: agreement of two reruns; 1 for a single rerun.
        chance: agreement of answers to different items.
        foreign: share of the answers of another origin; its 95 % confidence interval `foreign_low` to `foreign_high` is
            corrected for the number of tasks, and 0 to 1 where nothing can be told.
    """

    requests: int
    agreement: float
    low: float
    high: float
    repeated: float
    chance: float
    foreign: float
    foreign_low: float
    foreign_high: float

    @property
    def kappa(self) -> tuple[float, float, float] | None:
        """Cohen's kappa, at most 1, the ideal, with its 95 % confidence interval; None if `chance` is 1."""
        if self.chance == 1:
            return None
        share, low, high = ((end - self.chance) / (1 - self.chance) for end in (self.agreement, self.low, self.high))
        return share, low, high

    def to_json(self) -> dict[str, Any]:
        """JSON data, rounded."""
        kappa = dict(zip(("kappa", "kappa_low", "kappa_high"), self.kappa or (None, None, None), strict=True))
        numbers = {**vars(self), **kappa}
        return {name: round(number, 4) if isinstance(number, float) else number for name, number in numbers.items()}


@dataclass(frozen=True)
class PartAgreement:
    """Agreement over the whole part, and task by task."""

    whole: Agreement
    tasks: Mapping[str, Agreement] = field(default_factory=dict)

    @property
    def verdict(self) -> Verdict:
        """Whether the answers are the model's, as far as the part can show."""
        if self.whole.foreign_low > DRIFT or any(task.foreign_low > DRIFT for task in self.tasks.values()):
            return "differs"
        return "agrees" if self.whole.foreign_high <= MOST_FOREIGN else "undecided"

    def to_json(self) -> dict[str, Any]:
        """JSON data."""
        tasks = {task: agreement.to_json() for task, agreement in self.tasks.items()}
        return {"agreement": self.whole.to_json(), "tasks": tasks}


def pairs(
    handed_in: TaskAnswers, rerun: TaskAnswers, again: TaskAnswers | None, stimulus_of: Mapping[Key, str]
) -> ComparedRequests | None:
    """The requests that all sides answered; None without any."""
    keys = [key for key in stimulus_of if key in handed_in.text and key in rerun.text]
    keys = [key for key in keys if again is None or key in again.text]
    if not keys:
        return None
    like = handed_in.likeness
    ours, first = [handed_in.text[key] for key in keys], [rerun.text[key] for key in keys]
    similar = np.array([like(*pair) for pair in zip(ours, first, strict=True)])
    repeated = np.ones(len(keys))
    if again is not None:
        second = [again.text[key] for key in keys]
        repeated = np.array([like(*pair) for pair in zip(first, second, strict=True)])
        similar = (similar + [like(*pair) for pair in zip(ours, second, strict=True)]) / 2
    code = np.unique([stimulus_of[key] for key in keys], return_inverse=True)[1]
    return ComparedRequests(code.astype(np.int64), similar, repeated, by_chance(like, ours, first))


def compare(compared: Mapping[str, ComparedRequests]) -> PartAgreement:
    """The agreement of every task and of all of them together."""
    z = float(norm.ppf(1 - 0.025 / max(1, len(compared))))
    tasks = {task: _agreement([part], z) for task, part in compared.items()}
    return PartAgreement(_agreement(list(compared.values()), float(norm.ppf(0.975))), tasks)


def _agreement(parts: Sequence[ComparedRequests], z: float) -> Agreement:
    similar = np.concatenate([part.handed_in for part in parts])
    repeated = np.concatenate([part.repeated for part in parts])
    chance = np.concatenate([np.full(len(part.handed_in), part.chance) for part in parts])
    starts = np.cumsum([0, *(part.stimulus.max() + 1 for part in parts)])[:-1]
    stimulus = np.concatenate([part.stimulus + start for part, start in zip(parts, starts, strict=True)])
    r, c = float(np.mean(repeated)), float(np.mean(chance))
    s, low, high = share(similar, stimulus)
    telling = r - c
    if telling <= 0:
        return Agreement(len(similar), s, low, high, r, c, 0.0, 0.0, 1.0)
    foreign = (r - s) / telling
    error = z * error_of((repeated - similar) - foreign * (repeated - chance), stimulus) / telling
    exact = (r - share(similar, stimulus, z)[1]) / telling if s in (0.0, 1.0) else -inf
    ends = foreign - error, max(foreign + error, exact)
    if error_of(repeated - chance, stimulus) * z >= telling:  # its own repeatability is within chance
        ends = (0.0, 1.0)
    clipped = [min(1.0, max(0.0, share)) for share in (foreign, *ends)]
    return Agreement(len(similar), s, low, high, r, c, *clipped)
