"""Which attempt a row is: at its model, and of its account. Counted as results enter the log, over all time."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from fairspace.submissions.checking.names import owner_of, skeleton
from fairspace.submissions.results.result import Result

Key = tuple[str, str, str]


@dataclass
class Attempts:
    """Attempts at models. Rows that nobody handed in are none, and equal answers handed in again are the same attempt.

    Args:
        models: entry -> benchmark, who handed it in, and what the model's name looks like.
        of_model: entry -> its number among the attempts at its model, withdrawn ones included.
        of_account: entry -> its number among the attempts of its account on its benchmark.
    """

    models: dict[str, Key] = field(default_factory=dict)
    of_model: dict[str, int] = field(default_factory=dict)
    of_account: dict[str, int] = field(default_factory=dict)
    _counts: Counter[tuple[str, ...]] = field(default_factory=Counter)
    _answers: set[tuple[Key, str]] = field(default_factory=set)

    def add(self, entry: str, result: Result, user: str, organisation: str, answers: str) -> None:
        """Count a result.

        Args:
            entry: of its row.
            result: the result.
            user: who handed it in; '' counts nothing.
            organisation: on whose behalf.
            answers: the same for results with the same answers.
        """
        if not user or result.meta.get("baseline"):
            return
        model = str(result.meta.get("model", ""))
        who = owner_of(model, filter(None, (user, organisation))) or user
        key = (result.benchmark, who.casefold(), skeleton(model) or model)
        account = (result.benchmark, user.casefold())
        if (key, answers) not in self._answers:
            self._answers.add((key, answers))
            self._counts[key] += 1
            self._counts[account] += 1
        self.models[entry] = key
        self.of_model[entry], self.of_account[entry] = self._counts[key], self._counts[account]
