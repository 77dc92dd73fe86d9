"""What a run has spent, and the bound that a user sets on it: over all its starts, as the journal knows them.

Tokens are counted as the provider counts them; where it does not, nothing is spent, and no bound is ever reached. The
bound is looked at after each answer, so that what is in flight then comes on top.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from fairspace.submissions.running.asking.journal import Answer
from fairspace.submissions.running.asking.prices import Price
from fairspace.submissions.running.errors import RunError


@dataclass(frozen=True)
class Bounds:
    """At most this much; None for no bound.

    Args:
        tokens: of prompts and answers together.
        cost: in the currency of the price.
        price: of the model; needed with a cost.
    """

    tokens: int | None = None
    cost: float | None = None
    price: Price | None = None


@dataclass
class Spending:
    """What has been spent so far."""

    bounds: Bounds
    input: int = field(default=0, init=False)
    output: int = field(default=0, init=False)

    def add(self, answers: Iterable[Answer]) -> None:
        """Count answers."""
        for answer in answers:
            self.input += answer.input_tokens
            self.output += answer.output_tokens

    @property
    def cost(self) -> float | None:
        """In the currency of the price; None without one."""
        price = self.bounds.price
        if price is None or price.input is None or price.output is None:
            return None
        return (self.input * price.input + self.output * price.output) / 1e6

    def check(self, where: str) -> None:
        """RunError RUN_SPENT if a bound is reached."""
        spent, cost = self.input + self.output, self.cost
        if self.bounds.tokens is not None and spent >= self.bounds.tokens:
            raise _reached(where, f"{spent:,} tokens", f"--token-limit {self.bounds.tokens}")
        if self.bounds.cost is not None and cost is not None and cost >= self.bounds.cost:
            currency = self.bounds.price.currency if self.bounds.price else ""
            raise _reached(where, f"{cost:.2f} {currency}", f"--cost-limit {self.bounds.cost:g}")


def _reached(where: str, spent: str, bound: str) -> RunError:
    mend = "run the same command again with a higher limit: it goes on from here"
    return RunError("RUN_SPENT", where, f"{spent} are spent", f"less than {bound}", mend)
