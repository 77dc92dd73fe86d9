"""Prices of models, and the spending of a run with its bounds.

Prices come from a JSON file, the same that Inspect reads (`inspect eval --model-cost-config FILE`):

    {"openai/gpt-4o": {"input": 2.5, "output": 10.0, "input_cache_write": 2.5, "input_cache_read": 1.25},
     "endpoint:gpt-image-1": {"image": 0.04, "currency": "USD"}}

Prices of tokens are per million, those of images per made image. `image` and `currency` are ours; Inspect ignores them,
and wants all four prices of tokens, in dollars. Tokens are the provider's count: without one, no bound is reached. A
bound is over all starts of a run and checked after each answer, so requests in flight come on top.
"""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from fairspace.submissions.errors import RunError, did_you_mean
from fairspace.submissions.format.faults import RefusedError
from fairspace.submissions.reading.tables import decode, parse
from fairspace.submissions.running.asking.journal import JournalEntry

FIELDS = ("input", "output", "input_cache_write", "input_cache_read", "image", "currency")
SHAPE = (
    '{"MODEL": {"input": 2.5, "output": 10, "image": 0.04, "currency": "USD"}}: money per million tokens of input and '
    "of output, per made image, or both; the currency may be left out"
)
_CURRENCY = re.compile(r"[A-Z]{3}")


@dataclass(frozen=True)
class Price:
    """Price of one model per million tokens of `input` and `output`, and per made `image`; None for a missing one."""

    input: float | None
    output: float | None
    image: float | None
    currency: str = "USD"


@dataclass(frozen=True)
class Prices:
    """A file of prices by model."""

    file: str
    models: Mapping[str, Price]

    def of(self, model: str, unit: Literal["input", "image"]) -> Price:
        """The price of a model that answers or makes images. RunError PRICES_INVALID if the file lacks it."""
        model_price = self.models.get(model)
        if model_price is None:
            what = f"no price of {model!r}{did_you_mean(model, self.models)}"
            raise _invalid(self.file, what, "name the model in the file as on the command line")
        if getattr(model_price, unit) is None:
            what = f"{model!r} has no price of " + ("made images" if unit == "image" else "tokens")
            raise _invalid(f"{self.file}, {model}", what, f"add {unit!r} to it")
        return model_price


def read_prices(file: Path) -> Prices:
    """The prices in a JSON file. RunError PRICES_INVALID."""
    try:
        data = parse(decode(file.read_bytes()), limit=8)
    except OSError as error:
        raise _invalid(str(file), f"it cannot be read: {error.strerror}", "name a file that is there") from error
    except RefusedError as error:
        raise _invalid(str(file), str(error.what), "write it as JSON") from error
    if not isinstance(data, dict) or not data:
        raise _invalid(str(file), "no model", "name at least one model with its price")
    return Prices(str(file), {model: _price(f"{file}, {model}", stated) for model, stated in data.items()})


def _price(where: str, stated: Any) -> Price:
    if not isinstance(stated, dict):
        raise _invalid(where, f"{stated!r:.80}", "give the model's prices as an object")
    for name in stated:
        if name not in FIELDS:
            raise _invalid(where, f"the field {name!r}{did_you_mean(name, FIELDS)}", f"use only {', '.join(FIELDS)}")
    money = {name: _money(where, name, stated[name]) for name in FIELDS[:-1] if name in stated}
    if ("input" in money) != ("output" in money):
        raise _invalid(where, "one of input and output", "give both prices of tokens, or neither")
    if not {"input", "image"} & money.keys():
        raise _invalid(where, "no price", "give the prices of tokens, of an image, or both")
    currency = stated.get("currency", "USD")
    if not isinstance(currency, str) or not _CURRENCY.fullmatch(currency):
        raise _invalid(where, f"the currency {currency!r:.40}", "write its three capital letters, such as EUR")
    return Price(money.get("input"), money.get("output"), money.get("image"), currency)


def _money(where: str, name: str, amount: Any) -> float:
    if isinstance(amount, bool) or not isinstance(amount, int | float) or not math.isfinite(amount) or amount < 0:
        raise _invalid(where, f"{name} is {amount!r:.40}", "write a number of at least 0, without quotes")
    return float(amount)


def _invalid(where: str, what: str, mend: str) -> RunError:
    return RunError("PRICES_INVALID", where, what, SHAPE, mend)


@dataclass(frozen=True)
class Bounds:
    """Bounds on tokens (prompts and answers together) and cost (needs a price); None for no bound."""

    tokens: int | None = None
    cost: float | None = None
    price: Price | None = None


@dataclass
class Spending:
    """Tokens spent so far."""

    bounds: Bounds
    input: int = field(default=0, init=False)
    output: int = field(default=0, init=False)

    def add(self, answers: Iterable[JournalEntry]) -> None:
        """Count answers."""
        for answer in answers:
            self.input += answer.input_tokens
            self.output += answer.output_tokens

    @property
    def cost(self) -> float | None:
        """Cost in the currency of the price; None without one."""
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
