"""Collecting faults: all of them in one run, those of one kind in one file as one fault with a count."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from fairspace.submissions.format.faults import CODES, Fault


class RefusedError(ValueError):
    """Refusal of a file or a row, with the code of the reason."""

    def __init__(self, code: str, what: str, expected: str):
        super().__init__(what)
        self.code, self.what, self.expected = code, what, expected


class Collector:
    """The faults so far, at most `bound` of them: file by file in the order of reading, each by line or row."""

    def __init__(self, bound: int):
        self._bound = bound
        self._faults: dict[tuple[str, str, str], Fault] = {}
        self._counts: dict[tuple[str, str, str], int] = {}
        self.left_out = 0
        self.passed_over: list[str] = []
        """Files and columns that were not read, and why, for a note."""

    def add(
        self,
        code: str,
        file: str,
        what: str | Callable[[], str],
        *,
        expected: str,
        place: str = "",
        kind: str = "",
        count: int = 1,
    ) -> None:
        """Note a fault; faults of one code, file and kind are one.

        Args:
            code: Code in `CODES`.
            file: File, safe to print.
            what: Finding; a function is called for the first place alone.
            expected: Requirement of the format.
            place: Place in the file, for example `line 3`.
            kind: Distinction among faults of one code, for example the column.
            count: Number of rows with it.
        """
        key = (code, file, kind)
        if key in self._faults:
            self._counts[key] += count
        elif len(self._faults) < self._bound:
            where = f"{file} {place}" if place else file
            text = what if isinstance(what, str) else what()
            self._faults[key] = Fault(code, where, text, expected, CODES[code].mend)
            self._counts[key] = count
        else:
            self.left_out += 1

    def refuse(self, refused: RefusedError, file: str, place: str = "") -> None:
        """Note an exception as a fault."""
        self.add(refused.code, file, refused.what, expected=refused.expected, place=place)

    def all(self) -> tuple[Fault, ...]:
        """The faults so far; within a file, those without a line come first."""
        files = {file: place for place, file in enumerate(dict.fromkeys(file for _, file, _ in self._faults))}
        ordered = sorted(self._faults.items(), key=lambda entry: (files[entry[0][1]], _line(entry[1].where)))
        return tuple(replace(fault, count=self._counts[key]) for key, fault in ordered)


def _line(where: str) -> int:
    """The line or row in a place's name; 0 without one."""
    named = re.search(r" (?:line|row) (\d+)", where)
    return int(named[1]) if named else 0


def show(text: object, length: int = 80) -> str:
    """Any value, quoted and shortened; control characters, bidi marks and half surrogates are escaped."""
    shown = repr(text[: length + 1] if isinstance(text, str) else text)
    return shown if len(shown) <= length + 2 else shown[:length] + "...'"
