"""What can be wrong with a submission: one fault says where, what, what was expected and how to mend it."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Fault:
    """One fault of a submission.

    Args:
        code: stable, upper case, for example `UNKNOWN_ID`; listed in `codes.py`.
        where: file and line, or task and id.
        what: what was found there.
        expected: what the format asks for.
        mend: what to do.
        count: how many rows share this fault (only the first is shown).
    """

    code: str
    where: str
    what: str
    expected: str
    mend: str
    count: int = 1

    def __str__(self) -> str:
        """One line for a terminal."""
        more = f" (and {self.count - 1} more)" if self.count > 1 else ""
        return f"{self.code} at {self.where}: {self.what}{more}. Expected: {self.expected}. Mend: {self.mend}"

    def to_json(self) -> dict[str, str | int]:
        """The fault as JSON data."""
        return asdict(self)


class SubmissionError(Exception):
    """A submission cannot be scored, or labelled answers not be read; `faults` says why, all of them at once."""

    def __init__(self, faults: list[Fault]):
        super().__init__("\n".join(map(str, faults)))
        self.faults = faults
