"""Actions of maintainers on a row: withdraw, restore, verify.

Nothing is changed in the log: each is one more event, with who did it and why.
"""

from __future__ import annotations

from fairspace.leaderboard_space.errors import SpaceError
from fairspace.leaderboard_space.events import Draft, Event, Kind
from fairspace.leaderboard_space.intake import User
from fairspace.leaderboard_space.state import State
from fairspace.submissions.errors import plain

LONGEST = 500
"""Characters of a reason."""
_ABOUT_A_ROW: tuple[Kind, ...] = ("result", "withdrawn", "restored", "verified")


def withdraw(state: State, entry: str, user: User, reason: str) -> Event:
    """Withdraw a row; a second time adds no event. Errors: as `_mark`."""
    return _mark(state, "withdrawn", entry, user, reason)


def restore(state: State, entry: str, user: User, reason: str) -> Event:
    """Restore a withdrawn row. SpaceError BAD_PARAMETER if it was not; others as `_mark`."""
    return _mark(state, "restored", entry, user, reason)


def verify(state: State, entry: str, user: User, reason: str) -> Event:
    """Mark a row as rerun by the maintainers with the same result; the reason says how. Errors: as `_mark`."""
    return _mark(state, "verified", entry, user, reason)


def _mark(state: State, kind: Kind, entry: str, user: User, reason: str) -> Event:
    """Append a maintainer's event, or return the existing one.

    Errors: SpaceError UNKNOWN_ENTRY, BAD_PARAMETER; StorageError.
    """
    text = plain(reason).strip()
    if not 0 < len(text) <= LONGEST:
        expected = f"1 to {LONGEST} characters"
        raise SpaceError(
            "BAD_PARAMETER", "reason", f"{len(text)} characters", expected, "give a reason that everybody can read"
        )
    state.refresh()
    if state.entry(entry) is None:
        mend = "choose a row that was scored here; published rows cannot be changed"
        raise SpaceError("UNKNOWN_ENTRY", "entry", repr(plain(entry)[:80]), "the entry of a row", mend)
    about = [event for event in state.storage.events() if event.kind in _ABOUT_A_ROW and event.body["entry"] == entry]
    sides: tuple[Kind, ...] = ("verified",) if kind == "verified" else ("withdrawn", "restored")
    standing = next((event for event in reversed(about) if event.kind in sides), None)
    if standing is not None and standing.kind == kind:
        return standing
    if kind == "restored" and standing is None:
        raise SpaceError("BAD_PARAMETER", "entry", "a row on the board", "a withdrawn one", "choose another")
    draft = Draft(kind, f"{kind}:{entry}:{about[-1].number}", {"entry": entry, "by": user.name, "reason": text})
    (event,) = state.storage.append([draft])
    state.refresh()
    return event
