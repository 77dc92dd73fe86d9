"""What can go wrong with results in formats of others."""

from __future__ import annotations

from fairspace.builders.errors import CodedError

CODES: dict[str, str] = {
    "EEE_INVALID": "a file breaks the schemas of Every Eval Ever, or is no JSON",
    "EEE_OTHER_ANSWERS": "the answers are not those that the result was scored from",
    "EEE_WITHOUT_ANSWERS": "a record of Every Eval Ever has numbers alone, which rank nobody here",
    "EEE_UNKNOWN_ITEM": "an answer is to an item that the benchmark does not have",
}


class ExchangeError(CodedError):
    """A result cannot be written in another format, or read from it."""

    codes = CODES
