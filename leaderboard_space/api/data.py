"""Answers of the API as JSON data."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson
from pydantic import BaseModel, Field

from fairspace.leaderboard_space.boards.table import slug
from fairspace.leaderboard_space.boards.views import VIEWS, draft_of
from fairspace.leaderboard_space.errors import SpaceError
from fairspace.leaderboard_space.events import OF_ROWS, Event
from fairspace.leaderboard_space.intake import User
from fairspace.leaderboard_space.log_state import LoggedSubmission
from fairspace.leaderboard_space.maintaining import shown_evidence
from fairspace.leaderboard_space.space import Space
from fairspace.submissions.benchmarks.registry import NAMES, benchmark
from fairspace.submissions.errors import plain
from fairspace.submissions.results.board import row_json, values_json
from fairspace.submissions.results.row import Row, marks_of
from fairspace.submissions.results.row_errors import with_errors
from fairspace.submissions.show.headline import opening
from fairspace.submissions.standards import document

Data = dict[str, Any]
MOST_WAITING = 200
EXAMPLES = Path(__file__).with_name("examples.json")
"""Call -> an answer of a Space with the shipped results; `python -m tests.leaderboard_space.api.examples` writes it."""


def add_examples(document: Data) -> None:
    """Give calls of the OpenAPI document their real answers, with the first entries of long lists and maps."""
    examples = orjson.loads(EXAMPLES.read_bytes())
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            if (example := examples.get(f"{method.upper()} {path}")) is not None:
                responses = operation["responses"]
                content = responses["202" if "202" in responses else "200"].setdefault("content", {})
                content.setdefault("application/json", {})["example"] = example


_PUBLIC: Mapping[str, tuple[str, ...]] = {
    **{"result": ("entry",), "scored": ("entry",), "wanted": ("model",), "struck": ("model", "reason")},
    **dict.fromkeys(OF_ROWS, ("entry", "reason")),
}
"""Public fields of each kind of event; users, refused and failed submissions are private."""


def boards(space: Space) -> list[Data]:
    """Every board."""
    return [
        {
            "benchmark": name,
            "title": about.title,
            "standards": list(about.standards),
            "default": about.default,
            "drafts": [standard for standard in about.standards if draft_of(name, standard)],
            "higher_is_better": about.higher_is_better,
            "rows": len(space.state.board(name)),
            "address": f"/board/{name}",
        }
        for name, about in ((name, benchmark(name)) for name in NAMES)
    ]


PAGE = 100
"""Rows of a page."""


def board(space: Space, name: str, standard: str, page: int) -> Data:
    """A page of rows in the board's order. SpaceError UNKNOWN_PAGE for one beyond the last."""
    rows = space.state.board(name, standard)
    pages = max(1, -(-len(rows) // PAGE))
    if page > pages:
        raise SpaceError("UNKNOWN_PAGE", "page", str(page), f"one of {pages}", "start at page 1")
    return {
        "benchmark": name,
        "standard": standard,
        "draft": draft_of(name, standard),
        "tables": [slug(part) for part in VIEWS[name].slices],
        "total": len(rows),
        "page": page,
        "pages": pages,
        "rows": [_packed(space, row, name, standard) for row in rows[PAGE * (page - 1) : PAGE * page]],
    }


def _packed(space: Space, row: Row, name: str, standard: str) -> orjson.Fragment:
    """A row as JSON, made again only once it has changed."""

    def make() -> bytes:
        return orjson.dumps(row_data(with_errors([row], standard)[0], name, standard))

    return orjson.Fragment(space.state.piece(("api", name, standard, row.entry), marks_of(row), make))


def row_data(row: Row, name: str, standard: str) -> Data:
    """A row of a board."""
    suffix = "" if standard == benchmark(name).default else f"/under/{standard}"
    return {**row_json(row), "address": f"/model/{name}/{row.entry}{suffix}"}


def full_row(space: Space, name: str, entry: str, standard: str) -> Data:
    """A row with its raw values. Errors: as `State.find_row`."""
    [row] = with_errors([space.state.find_row(name, standard, entry)], standard)
    signature = dict(row.result.signature) if row.result is not None else {}
    about = {"benchmark": name, "standard": standard, "draft": draft_of(name, standard)}
    more = {**about, "values": values_json(row.values), "signature": signature, "verified": _verified(space, entry)}
    return row_data(row, name, standard) | more


def _verified(space: Space, entry: str) -> Data | None:
    logged = space.state.entry(entry)
    if logged is None or (mark := logged.verified) is None:
        return None
    evidence = shown_evidence(mark.evidence)
    return {"time": mark.time, "reason": mark.reason, "signed": mark.is_signed, "evidence": evidence}


def result(space: Space, name: str, entry: str) -> str:
    """The result behind a row with all evidence, as `fairspace score --out` writes it. SpaceError UNKNOWN_ENTRY."""
    row = space.state.find_row(name, benchmark(name).default, entry)
    full = space.state.full(entry) if row.result is not None else None
    if full is None:
        what = "a published row, which has printed figures only"
        raise SpaceError("UNKNOWN_ENTRY", f"{name}/{entry}", what, "a row that was scored here", "see its source")
    return full.dumps()


def standards() -> list[Data]:
    """All standards with their settings."""
    return [
        {
            "benchmark": name,
            "name": standard,
            "draft": about.draft,
            "minimum_coverage": about.minimum_coverage,
            "settings": document(name, about),
        }
        for name in NAMES
        for standard, about in benchmark(name).standards.items()
    ]


def find_submission(space: Space, name: str) -> LoggedSubmission:
    """The submission of that id. SpaceError UNKNOWN_SUBMISSION."""
    space.state.refresh()
    stored = space.state.submission(name)
    if stored is None:
        mend = "use the id that you got when you submitted"
        raise SpaceError("UNKNOWN_SUBMISSION", plain(name)[:40], "no such submission", "the id of a submission", mend)
    return stored


def submission(space: Space, stored: LoggedSubmission) -> Data:
    """The state of a submission, with its faults, or its scores and the sentences that `fairspace score` prints."""
    progress, row = space.jobs.progress(stored), submitted_row(space, stored)
    full = None if row is None else space.state.readable(stored.entry)
    return {
        **{name: getattr(stored, name) for name in STATED},
        "stage": progress.stage,
        "position": progress.position,
        "tries": progress.tries if stored.outcome == "waiting" else stored.tries or None,
        "since": progress.since,
        "faults": [fault.to_json() for fault in stored.faults],
        "sentences": [] if full is None else opening(full),
        "unranked": [] if row is None else list(row.unranked),
        "scores": {} if row is None else values_json(row.scores),
        "row": "" if row is None else f"/model/{stored.benchmark}/{stored.entry}",
        "address": f"/submission/{stored.id}",
    }


def submitted_row(space: Space, stored: LoggedSubmission) -> Row | None:
    """The row of a scored submission under its board's default standard, as `State.unplaced`; None once withdrawn."""
    logged = space.state.entry(stored.entry) if stored.entry else None
    if logged is None or logged.withdrawn:
        return None
    standard = benchmark(stored.benchmark).default
    return with_errors([space.state.unplaced(logged, standard)], standard)[0]


def queue(space: Space, user: User | None) -> Data:
    """Running and waiting submissions, the next one first; ids and names only of the user's own."""
    space.state.refresh()
    waiting = [item for item in space.state.submissions() if item.outcome == "waiting"]
    queued = [(space.jobs.progress(item), item) for item in waiting]
    queued.sort(key=lambda pair: (pair[0].stage != "running", pair[0].position))
    mine = {item.id for item in waiting if user is not None and item.user == user.name}
    lines = [
        {
            "position": progress.position,
            "stage": progress.stage,
            "since": progress.since or item.accepted,
            "size": item.size,
            "id": item.id if item.id in mine else None,
            "name": item.name if item.id in mine else None,
        }
        for progress, item in queued
    ]
    return {"length": len(lines), "waiting": lines[:MOST_WAITING]}


def wanted(space: Space) -> Data:
    """Models that users asked us to run, without the struck ones: those of the most users first, then the earliest."""
    wishes = sorted(space.state.wanted().values(), key=lambda wish: (-len(wish.askers), wish.since))
    return {"models": [wish.to_json() for wish in wishes if wish.state != "struck"]}


def events(space: Space, after: int, limit: int) -> Data:
    """The public log after an event."""
    public: list[Data] = []
    for event in space.storage.events(after):
        if len(public) == limit:
            break
        public.append(public_event(space, event))
    return {"last": public[-1]["number"] if public else after, "events": public}


def public_event(space: Space, event: Event) -> Data:
    """The public fields of an event."""
    fields = {name: event.body[name] for name in _PUBLIC.get(event.kind, ())}
    if event.body.get("evidence"):
        fields["evidence"] = shown_evidence(event.body["evidence"])
    entry = space.state.entry(fields["entry"]) if "entry" in fields else None
    if entry is not None:
        fields["benchmark"] = entry.benchmark
    return {"number": event.number, "time": event.time, "kind": event.kind} | fields


STATED = (
    *("id", "name", "outcome", "accepted", "ended", "attempt", "organisation", "size", "reason", "pruned", "same"),
    *("benchmark", "entry"),
)
"""Fields of a submission in an answer."""


class Action(BaseModel):
    """A maintainer's action on a row."""

    reason: str = Field(min_length=1, max_length=500)
    evidence: dict[str, Any] | None = Field(
        None, description="of a verification: what `fairspace verify-submission --json` printed"
    )
