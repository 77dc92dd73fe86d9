"""Adjustments of a standard by a reader: read from addresses and forms, with what they move on a board."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import QueryParams

from fairspace.leaderboard_space.errors import SpaceError
from fairspace.submissions.benchmarks.adjustment import AS_RELEASED, OWN, Adjustable, Adjustment
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.errors import UsageError
from fairspace.submissions.results.board import check_adjustment
from fairspace.submissions.results.row import Row

LONGEST = 3000
"""Characters of a list."""
MOST = 120
"""Parts of a list."""
_LIST = {"type": "string", "maxLength": LONGEST}
PARAMETERS: dict[str, tuple[dict[str, Any], str]] = {
    "weights": (_LIST, "weights from 0 to 10, such as `IFS_Gen:2,BIS_Und:0`; other parts have weight 1"),
    "drop": (_LIST, "values or parts to leave out, separated by commas"),
    "reference": (
        {"type": "string", "maxLength": 40},
        "only this region's figures, or `own`; all regions if left out",
    ),
    "own": (
        _LIST,
        "with `reference=own`: shares such as `female:0.5,male:0.5`; 1 in all per attribute",
    ),
    "smallest": (
        {"type": "integer", "minimum": 0},
        "valid samples of the smallest group; with fewer a value is undefined",
    ),
    "tau": ({"type": "number"}, "threshold of the profile code; the standard's if left out"),
}
"""Parameter of an address -> its schema, and what it is. Scores under these are adjusted, and not the standard's."""
WEIGHT, SHARE = "weight.", "share."
"""How the fields of the page's form begin that hold one weight or share each."""
DECIMALS = 6
"""Of a number that is read; further ones are rounded."""
_NUMBER = re.compile(r"[0-9]{1,7}(\.[0-9]{1,20})?")
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,60}")


def read_adjustment(parameters: QueryParams, benchmark: str, standard: str) -> Adjustment:
    """The adjustment that the parameters describe. SpaceError BAD_PARAMETER."""
    weights = _pairs("weights", parameters.getlist("weights")) | _fields(WEIGHT, parameters)
    reference = parameters.get("reference", "").strip()
    shares = _pairs("own", parameters.getlist("own"))
    if reference == OWN:
        shares |= _fields(SHARE, parameters)
    smallest, tau = parameters.get("smallest", "").strip(), parameters.get("tau", "").strip()
    if smallest and not (smallest.isascii() and smallest.isdigit() and len(smallest) < 8):
        raise _bad("smallest", repr(smallest[:40]), "a whole number from 0 on")
    try:
        return check_adjustment(
            benchmark,
            standard,
            Adjustment(
                weights=weights,
                dropped=frozenset(_parts("drop", parameters.getlist("drop"))),
                reference=reference,
                own=shares,
                smallest_group=int(smallest or 0),
                tau=_number("tau", tau) if tau else None,
            ),
        )
    except UsageError as error:
        where, _, problem = str(error).partition(": ")
        raise _bad(where, problem, "a part of this standard, and a number in its range") from error


def adjusts(parameters: QueryParams) -> bool:
    """Whether the parameters may describe an adjusted board; unreadable ones count."""
    return any(name in PARAMETERS or name.startswith((WEIGHT, SHARE)) for name in parameters)


def decimal(number: float) -> str:
    """A number as addresses and fields have it, so that it is read as the same one: 6 decimals, never an exponent."""
    return f"{number:.{DECIMALS}f}".rstrip("0").rstrip(".")


def parameters_of(changed: Adjustment) -> dict[str, str]:
    """The parameters of an adjustment; none of the standard as released."""
    parts = {
        "weights": _joined(changed.weights),
        "drop": ",".join(sorted(changed.dropped)),
        "reference": changed.reference,
        "own": _joined(changed.own),
        "smallest": str(changed.smallest_group) if changed.smallest_group else "",
        "tau": "" if changed.tau is None else decimal(changed.tau),
    }
    return {name: text for name, text in parts.items() if text}


def words(changed: Adjustment) -> str:
    """An adjustment in one line, '' for none: `weights IFS_Gen:2; tau 65`."""
    return "; ".join(f"{name} {text}" for name, text in parameters_of(changed).items())


def _joined(numbers: Mapping[str, float]) -> str:
    return ",".join(f"{name}:{decimal(number)}" for name, number in sorted(numbers.items()))


def _parts(parameter: str, texts: Sequence[str]) -> list[str]:
    if sum(map(len, texts)) > LONGEST:
        raise _bad(parameter, f"{sum(map(len, texts))} characters", f"at most {LONGEST}")
    parts = [part.strip() for text in texts for part in text.split(",") if part.strip()]
    if len(parts) > MOST:
        raise _bad(parameter, f"{len(parts)} parts", f"at most {MOST}")
    return parts


def _pairs(parameter: str, texts: Sequence[str]) -> dict[str, float]:
    numbers: dict[str, float] = {}
    for part in _parts(parameter, texts):
        name, colon, number = part.partition(":")
        if not colon or not _NAME.fullmatch(name):
            raise _bad(parameter, repr(part[:40]), "names with numbers, such as NAME:2")
        if name in numbers:
            raise _bad(parameter, f"{name[:40]} twice", "each name once")
        numbers[name] = _number(parameter, number)
    return numbers


def _fields(begin: str, parameters: QueryParams) -> dict[str, float]:
    """Numbers of a form that was sent without scripts, one field per name; empty fields are left out."""
    names = [name for name in parameters if name.startswith(begin) and parameters[name].strip()]
    if len(names) > MOST:
        raise _bad(begin, f"{len(names)} fields", f"at most {MOST}")
    return {name.removeprefix(begin): _number(name, parameters[name].strip()) for name in names}


def _number(parameter: str, text: str) -> float:
    if not _NUMBER.fullmatch(text):
        raise _bad(parameter, repr(text[:40]), "a number such as 2 or 0.5")
    return round(float(text), DECIMALS)


def _bad(where: str, problem: str, expected: str) -> SpaceError:
    return SpaceError(
        "BAD_PARAMETER", where[:60], problem, expected, "change it, or leave it out to use the standard's"
    )


@dataclass(frozen=True)
class Move:
    """Changes of a row by an adjustment.

    Args:
        row: under the adjustment.
        before: the row of the released board.
    """

    row: Row
    before: Row

    @property
    def rank(self) -> str:
        """The rank of the released board, with an arrow where it is another one: `↑ 2, was 5`."""
        now, then = self.row.rank, self.before.rank
        if now == then:
            return ""
        if now is None or then is None:
            return f"was {then}" if then is not None else "was not ranked"
        return f"{'↑' if now < then else '↓'} {abs(now - then)}, was {then}"

    @property
    def codes(self) -> list[tuple[str, str, str]]:
        """Task, old and new code of each profile code that changed; – for no code."""
        changed = []
        for task, name in (("understanding", "profile_und"), ("generation", "profile_gen")):
            then, now = self.before.labels.get(name, ""), self.row.labels.get(name, "")
            if then != now:
                changed.append((task, then or "–", now or "–"))
        return changed


def moves(rows: Iterable[Row], released: Mapping[str, Row]) -> dict[str, Move]:
    """Entry -> move, for the adjusted rows that are other than the released ones; `released`: by entry."""
    pairs = ((row, released[row.entry]) for row in rows if row.entry in released)
    moved = (Move(row, was) for row, was in pairs)
    return {move.row.entry: move for move in moved if move.rank or move.codes}


@dataclass(frozen=True)
class Panel:
    """Content of the adjustment form.

    Args:
        can: what may be changed.
        changed: what is.
        moved: entry -> what that moves.
        ranks: how many rows have another rank than on the released board.
        codes: how many profile codes are others.
        words: the adjustment in one line.
    """

    can: Adjustable
    changed: Adjustment
    moved: Mapping[str, Move]
    ranks: int
    codes: int
    words: str

    @property
    def adjusted(self) -> bool:
        """Whether anything is changed."""
        return self.changed != AS_RELEASED


def panel(
    benchmark: str, standard: str, changed: Adjustment, rows: Iterable[Row], released: Mapping[str, Row]
) -> Panel:
    """The adjustment form of a board, with what the adjustment moves.

    Args:
        benchmark: of the board.
        standard: its name.
        changed: by the reader.
        rows: of the table that is shown.
        released: rows of the released board by entry.
    """
    about = find_benchmark(benchmark)
    chosen = about.standards[standard]
    moved = {} if changed == AS_RELEASED else moves(rows, released)
    ranks = sum(1 for move in moved.values() if move.rank)
    codes = sum(len(move.codes) for move in moved.values())
    return Panel(about.adjustable(chosen), changed, moved, ranks, codes, words(changed))
