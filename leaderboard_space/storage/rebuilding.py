"""Events whose lines were lost, made again from what else the store holds.

The file of a result holds all that its event says but who handed it in, which the other events of that submission
say. The name of a submitted file, and a user, give the id of the submission, by which it is known in later events.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from fairspace.leaderboard_space.events import Draft, Event
from fairspace.leaderboard_space.result_events import result_draft, submission_id
from fairspace.submissions.errors import UsageError
from fairspace.submissions.reading.strict_json import parse
from fairspace.submissions.results.result import Result

_DEPTH = 16
_USER = re.compile(rb'"user":"([^"\\]+)"')


@dataclass
class Known:
    """What the sound events say of those that were lost.

    Args:
        keys: of the sound events.
        users: who handed something in, or is named in an altered line.
        handed_in: submission -> its user and organisation.
        files: sha256 of the files that were accepted.
        named: key of a result, entry of a row or id of a submission -> the first event that names it.
        submission_of: key of a result -> the submission that led to it.
        attempts: submission -> the first attempt at it that ended.
    """

    keys: set[str] = field(default_factory=set)
    users: set[str] = field(default_factory=lambda: {"", "local"})
    handed_in: dict[str, tuple[str, str]] = field(default_factory=dict)
    files: set[str] = field(default_factory=set)
    named: dict[str, int] = field(default_factory=dict)
    submission_of: dict[str, str] = field(default_factory=dict)
    attempts: dict[str, int] = field(default_factory=dict)

    def note(self, event: Event) -> None:
        """Take in a sound event."""
        body = event.body
        self.keys.add(event.key)
        for name in ("key", "entry", "id"):
            if isinstance(body.get(name), str):
                self.named.setdefault(body[name], event.number)
        if event.kind == "accepted":
            self.users.add(body["user"])
            self.handed_in.setdefault(body["id"], (body["user"], body["organisation"]))
            self.files.add(body["sha256"])
        elif event.kind == "result":
            self.users.add(body["user"])
        elif event.kind in ("scored", "refused", "failed"):
            self.attempts.setdefault(body["id"], body["attempt"])
            if event.kind == "scored":
                self.submission_of.setdefault(body["key"], body["id"])


def rebuild(root: Path, sound: Iterable[Event], lost: Sequence[int], altered: bytes) -> dict[int, Draft]:
    """Number -> the event that was lost there, as far as files of the store tell it.

    Args:
        root: folder of the store.
        sound: the other events.
        lost: the numbers to fill.
        altered: the damaged lines; what can be read of them decides between numbers and users.
    """
    known = Known()
    for event in sound:
        known.note(event)
    if not lost:
        return {}
    known.users |= {user.decode(errors="replace") for user in _USER.findall(altered)}
    accepted, results = list(_accepted(root, known, altered)), list(_results(root, known))
    free, drafts = list(lost), {}
    for draft in [*accepted, *sorted(results, key=lambda draft: not _is_named(draft, known, altered))]:
        before = min((known.named[name] for name in _names(draft) if name in known.named), default=lost[-1] + 1)
        places = [number for number in free if number < before]
        if places:
            drafts[places[-1]] = draft
            free.remove(places[-1])
    return drafts


def _names(draft: Draft) -> list[str]:
    """What later events, or what is left of the line, may call it by."""
    return [draft.body[name] for name in ("key", "entry", "id") if name in draft.body]


def _is_named(draft: Draft, known: Known, altered: bytes) -> bool:
    """Whether an event or an altered line names it; a result of a writer that was killed before its event is not."""
    return any(name in known.named or name.encode() in altered for name in _names(draft))


def _results(root: Path, known: Known) -> Iterator[Draft]:
    """The events of results whose files no event stands for."""
    for file in sorted((root / "results").glob("*/*/*.json")):
        if f"result:{file.stem}" in known.keys:
            continue
        content = file.read_bytes()
        try:
            result = Result.from_json(parse(content.decode(), _DEPTH))
            user, organisation = known.handed_in.get(known.submission_of.get(file.stem, ""), ("", ""))
            draft, _ = result_draft(result, user, organisation)
        except (LookupError, TypeError, ValueError, UsageError):
            continue  # the file is damaged, too
        if draft.key == f"result:{file.stem}":
            yield replace(draft, body={**draft.body, "sha256": hashlib.sha256(content).hexdigest()})


def _accepted(root: Path, known: Known, altered: bytes) -> Iterator[Draft]:
    """The events of submissions whose files no event stands for."""
    for file in sorted((root / "submissions").glob("*/*.zip")):
        for user in sorted(known.users if file.stem not in known.files else ()):
            name = submission_id(user, file.stem)
            if name in known.attempts or name.encode() in altered:
                attempt = known.attempts.get(name, 1)
                body = {"id": name, "attempt": attempt, "user": user, "organisation": "", "sha256": file.stem}
                known.handed_in[name] = user, ""
                yield Draft("accepted", f"accepted:{name}:{attempt}", {**body, "size": file.stat().st_size})
                break
