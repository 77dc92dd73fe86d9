"""The state after the events of the log: submissions with their outcomes, and the rows that were scored here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

import numpy as np

from fairspace.leaderboard_space.events import OF_ROWS, SIGNATURE, Event, Kind, is_forged
from fairspace.leaderboard_space.logged import logged_values, unpacked
from fairspace.submissions.benchmarks.benchmark import Scored
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.checking.names import owner_of, skeleton
from fairspace.submissions.format.faults import Fault
from fairspace.submissions.results.draws import Draws
from fairspace.submissions.results.known_answers import FEWEST, Bytes, LikeBaseline, kappas, likeness, read_sketch
from fairspace.submissions.results.result import Result
from fairspace.submissions.values import Value
from fairspace.submissions.version import VERSION

Key = tuple[str, str, str]


@dataclass
class Attempts:
    """Attempts at models. Rows without a submitter do not count; equal answers submitted again are the same attempt.

    Args:
        models: entry -> benchmark, submitter, and normalised name of the model.
        of_model: entry -> its number among the attempts at its model, withdrawn ones included.
        of_account: entry -> its number among the attempts of its account on its benchmark.
    """

    models: dict[str, Key] = field(default_factory=dict)
    of_model: dict[str, int] = field(default_factory=dict)
    of_account: dict[str, int] = field(default_factory=dict)
    _counts: Counter[tuple[str, ...]] = field(default_factory=Counter)
    _answers: set[tuple[Key, str]] = field(default_factory=set)

    def add(self, entry: str, result: Result, user: str, organisation: str, answers: str) -> None:
        """Count a result unless `user` is ''. `answers` is equal for results with the same answers."""
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


Sketch = tuple[Bytes, Bytes]


@dataclass(frozen=True)
class Alike:
    """The largest kappa of a task with another row's answers, beyond the usual likeness of models."""

    kappa: float
    entry: str = ""


@dataclass
class _Sketches:
    """The sketches of one benchmark and key, concatenated: `items`, then `codes` of each."""

    entries: list[str] = field(default_factory=list)
    content: bytearray = field(default_factory=bytearray)

    def add(self, entry: str, sketch: Sketch) -> None:
        self.entries.append(entry)
        self.content += np.stack(sketch).tobytes()

    def near(self, sketch: Sketch, bounds: list[float]) -> list[tuple[str, Sketch]]:
        """The entries with a task whose share of equal codes reaches its bound; kappa never exceeds that share."""
        items, codes = sketch
        both = np.frombuffer(bytes(self.content), np.uint8).reshape(-1, 2, *items.shape)
        common = (both[:, 0] == items) & (items > 0)
        equal = np.count_nonzero(common & (both[:, 1] == codes), axis=-1)
        near = equal >= np.maximum(FEWEST, np.count_nonzero(common, axis=-1)) * np.array(bounds)
        return [(self.entries[place], (both[place, 0], both[place, 1])) for place in np.flatnonzero(near.any(axis=-1))]


@dataclass
class SameAnswers:
    """Groups of entries with the same answers, in the order of the log. Results without a digest are in none.

    Args:
        first: entry -> the first entry of its group.
        baselines: first entry of a group -> the bundled baselines with these answers, in words.
        alike: entry -> the row that its answers resemble too closely for an independent model.
    """

    first: dict[str, str] = field(default_factory=dict)
    baselines: dict[str, str] = field(default_factory=dict)
    alike: dict[str, Alike] = field(default_factory=dict)
    _digests: dict[tuple[str, str], str] = field(default_factory=dict)
    _sketches: dict[tuple[str, str], _Sketches] = field(default_factory=dict)

    def add(self, entry: str, result: Result, identity: Mapping[str, Any]) -> None:
        """Compare a result, unless a declared baseline, with earlier ones; without identity only for equal answers."""
        digest = result.signature.get("answers")
        if digest is None or result.meta.get("baseline"):
            return
        first = self._digests.get((result.benchmark, digest)) or self._like(entry, result, identity)
        if (like := identity.get("baseline")) is not None and first == entry:
            self.baselines[entry] = LikeBaseline(**like).words
        self._digests[result.benchmark, digest] = first
        self.first[entry] = first

    def _like(self, entry: str, result: Result, identity: Mapping[str, Any]) -> str:
        """The first entry with the same answers by their sketches, else the entry itself."""
        if "sketch" not in identity:
            return entry
        alike = benchmark(result.benchmark).telling_tasks
        bounds = list(alike.values())
        mine = read_sketch(identity["sketch"], list(alike))
        others = self._sketches.setdefault((result.benchmark, identity["key"]), _Sketches())
        for other, theirs in others.near(mine, bounds):
            same, kappa = likeness(kappas(mine, theirs), bounds)
            if same:
                return other
            if kappa > self.alike.get(entry, Alike(0.0)).kappa:
                self.alike[entry] = Alike(kappa, entry=other)
        others.add(entry, mine)
        return entry


_NO_SCORES = Scored({}, "", None)


def logged_result(data: Mapping[str, Any], values: Mapping[str, Value]) -> Result:
    """The result in an event of `result_draft`, without evidence and scores. KeyError, TypeError or ValueError."""
    draws = Draws.from_json(data["draws"]) if "draws" in data else None
    about = data["benchmark"], "", data["meta"], values, _NO_SCORES, data["signature"]
    return Result(*about, tuple(data.get("run", ())), draws)


Outcome = Literal["waiting", "scored", "refused", "failed"]


@dataclass(frozen=True)
class LoggedSubmission:
    """A submitted file; times are as `Event.time`, '' if not yet reached.

    Args:
        id: 20 hex digits, of the user and the file's content.
        attempt: number from 1; a further one follows an error of this software.
        result: key of its result.
        same: whether the same result was on the board before.
        clock: reading of the clock at acceptance; `accepted` never runs backwards, this may.
        failed: clock readings of earlier failed attempts, without those caused by an error of this Space.
        tries: number of starts of scoring; 0 if not logged.
        pruned: time of removal of its file to make room.
        ours: whether it failed because of an error of this Space; then it counts for nothing.
        name: submitted name of the model, else of the file; '' for neither.
    """

    id: str
    user: str
    organisation: str
    sha256: str
    size: int
    accepted: str
    attempt: int = 1
    outcome: Outcome = "waiting"
    ended: str = ""
    result: str = ""
    entry: str = ""
    benchmark: str = ""
    same: bool = False
    faults: tuple[Fault, ...] = ()
    reason: str = ""
    clock: str = ""
    failed: tuple[str, ...] = ()
    tries: int = 0
    pruned: str = ""
    ours: bool = False
    name: str = ""


@dataclass(frozen=True)
class Mark:
    """A maintainer's mark on a row; its evidence is as `Outcome.to_json` of `fairspace verify-submission`, or {}."""

    by: str
    time: str
    reason: str
    evidence: Mapping[str, Any] = field(default_factory=dict)
    is_signed: bool = False


@dataclass(frozen=True)
class LoggedRow:
    """A row that was scored here, as logged, with marks of maintainers; its result has no scores and no evidence.

    Args:
        own: whether the maintainers scored it themselves.
        packed: its scores, errors, draws and values for boards, as `logged` reads them; b"" if they were not kept.
        is_scored: whether this version of the software made these scores.
        tasks: the tasks with values; None in older logs.
    """

    entry: str
    key: str
    benchmark: str
    time: str
    user: str
    organisation: str
    sha256: str
    result: Result
    withdrawn: Mark | None = None
    verified: Mark | None = None
    released: Mark | None = None
    own: bool = False
    packed: bytes = b""
    is_scored: bool = False
    tasks: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Wish:
    """A model of the Hub that users asked us to run.

    Args:
        since: time of the first request.
        askers: user, in small letters -> benchmark that it is wanted for, '' for all.
        state: `struck` by a maintainer, for `reason`; `on the board` once we ran it or verified its row.
    """

    model: str
    since: str
    askers: Mapping[str, str] = field(default_factory=dict)
    state: Literal["asked", "on the board", "struck"] = "asked"
    reason: str = ""

    def to_json(self) -> dict[str, Any]:
        """Its public part as JSON data, without users; `benchmarks` is empty if all are wanted."""
        benchmarks = [] if "" in self.askers.values() else sorted(set(self.askers.values()))
        about = {"asked_by": len(self.askers), "since": self.since, "benchmarks": benchmarks}
        return {"model": self.model, **about, "state": self.state}


@dataclass
class LogState:
    """The state after folding the events of the log up to `number`."""

    number: int = 0
    time: str = ""
    submissions: dict[str, LoggedSubmission] = field(default_factory=dict)
    entries: dict[str, LoggedRow] = field(default_factory=dict)
    baselines: dict[tuple[str, str, str], str] = field(default_factory=dict)
    """Baseline -> its newest entry."""
    lost: set[int] = field(default_factory=set)
    """Numbers of lost events; later events that depend on them are ignored."""
    revoked: dict[str, tuple[int, str]] = field(default_factory=dict)
    """Id of a token, or `user:` and a user's name -> number and time of the event that revoked it, or all before."""
    revocations: dict[str, list[str]] = field(default_factory=dict)
    """User -> times of their revocations."""
    mendings: list[str] = field(default_factory=list)
    """Repairs of the log, in words."""
    same: SameAnswers = field(default_factory=SameAnswers)
    attempts: Attempts = field(default_factory=Attempts)
    withdrawn: dict[str, str] = field(default_factory=dict)
    """Withdrawn entry -> its benchmark, in the order of the withdrawals."""
    wanted: dict[str, Wish] = field(default_factory=dict)
    """Model in small letters -> who asked us to run it."""
    key: bytes = b""
    """Key of the maintainers' signatures; empty if they cannot be checked."""
    signs: bool = False
    """Whether an earlier event has the maintainers' signature: from then on, unsigned ones verify nothing."""
    forged: list[int] = field(default_factory=list)
    """Numbers of `verified` events without the maintainers' signature; they verify nothing."""
    read: Callable[[str], Mapping[str, Value]] = lambda entry: {}
    """Reads all values of an entry, of which newer logs have some."""
    keeps_rows: bool = True
    """Whether scores, errors, draws and values are kept; a process that shows no boards needs none."""

    def fold(self, event: Event) -> None:
        """Apply the next event. A Python error if this software does not write such an event."""
        _FOLDS[event.kind](self, event)
        self.number, self.time = event.number, event.time


def baseline_of(result: Result) -> tuple[str, str, str] | None:
    """The baseline of a result: benchmark, name, seed; equal for all versions of this software. None for a model."""
    name, generation = result.meta.get("baseline"), result.meta.get("generation")
    seed = generation.get("seed") if isinstance(generation, Mapping) else None
    return (result.benchmark, str(name), str(seed)) if name else None


def _accepted(folded: LogState, event: Event) -> None:
    body = event.body
    before = folded.submissions.get(body["id"])
    about = {name: body[name] for name in ("id", "user", "organisation", "sha256", "size", "attempt")}
    failed = () if before is None else before.failed if before.ours else (*before.failed, before.clock)
    clock = body.get("clock", event.time)
    more = {"clock": clock, "failed": failed, "name": body.get("name", "")}
    folded.submissions[body["id"]] = LoggedSubmission(**about, accepted=event.time, **more)


_RESULT_LOST = "Its result was lost when the log was damaged; submit it again."


def _ended(folded: LogState, event: Event, outcome: Outcome, **fields: Any) -> None:
    """End the event's attempt; the end of an earlier attempt changes nothing."""
    if folded.lost and event.body["id"] not in folded.submissions:
        return
    waiting = folded.submissions[event.body["id"]]
    if waiting.attempt == event.body["attempt"] and waiting.outcome == "waiting":
        tries = event.body.get("tries", 0)
        ended = replace(waiting, outcome=outcome, ended=event.time, tries=tries, **fields)
        folded.submissions[waiting.id] = ended


def _scored(folded: LogState, event: Event) -> None:
    body = event.body
    if folded.lost and body["entry"] not in folded.entries:
        _ended(folded, event, "failed", reason=_RESULT_LOST, ours=True)
        return
    benchmark = folded.entries[body["entry"]].benchmark
    _ended(folded, event, "scored", result=body["key"], entry=body["entry"], same=body["same"], benchmark=benchmark)


def _refused(folded: LogState, event: Event) -> None:
    _ended(folded, event, "refused", faults=tuple(Fault(**fault) for fault in event.body["faults"]))


def _failed(folded: LogState, event: Event) -> None:
    _ended(folded, event, "failed", reason=event.body["reason"], ours=event.body.get("ours", False))


def _ours(result: Result, body: Mapping[str, Any]) -> Result:
    """The result; one that a user submitted is no baseline, whatever it calls itself."""
    if not body["user"] or body.get("own") or "baseline" not in result.meta:
        return result
    return replace(result, meta={name: part for name, part in result.meta.items() if name != "baseline"})


def _result(folded: LogState, event: Event) -> None:
    body = event.body
    if (entry := body["entry"]) not in folded.entries:
        data, rest = body["result"], None if "values" in body["result"] and folded.keeps_rows else folded.read
        if not folded.keeps_rows:
            data = {name: part for name, part in data.items() if name != "draws"}
        content = unpacked(body) if folded.keeps_rows else b""
        values = logged_values(content, None if rest is None else partial(rest, entry))
        logged = LoggedRow(
            entry,
            body["key"],
            benchmark(body["result"]["benchmark"]).name,
            event.time,
            body["user"],
            body["organisation"],
            body["sha256"],
            _ours(logged_result(data, values), body),
            own=body.get("own", False),
            packed=content,
            is_scored=body.get("scored_by") == VERSION,
            tasks=tuple(body["tasks"]) if "tasks" in body else None,
        )
        folded.entries[logged.entry] = logged
        folded.same.add(logged.entry, logged.result, body.get("identity", {}))
        answers = folded.same.first.get(logged.entry, logged.entry)
        folded.attempts.add(logged.entry, logged.result, logged.user, logged.organisation, answers)
        baseline = baseline_of(logged.result)
        if baseline is not None:
            folded.baselines[baseline] = logged.entry


def _marked(folded: LogState, event: Event) -> None:
    body = event.body
    if folded.lost and body["entry"] not in folded.entries:
        return
    logged = folded.entries[body["entry"]]
    mark = Mark(body["by"], event.time, body["reason"], body.get("evidence", {}), SIGNATURE in body)
    if event.kind == "verified" and (is_forged(body, folded.key) or (folded.signs and not mark.is_signed)):
        folded.forged.append(event.number)
    elif event.kind in ("verified", "unverified"):
        folded.entries[logged.entry] = replace(logged, verified=mark if event.kind == "verified" else None)
        folded.signs = folded.signs or (bool(folded.key) and mark.is_signed)
    elif event.kind == "released":
        folded.entries[logged.entry] = replace(logged, released=mark)
    else:
        folded.withdrawn.pop(logged.entry, None)
        if event.kind == "withdrawn":
            folded.withdrawn[logged.entry] = logged.benchmark
        folded.entries[logged.entry] = replace(logged, withdrawn=mark if event.kind == "withdrawn" else None)


def _lost(folded: LogState, event: Event) -> None:
    folded.lost.add(event.number)


def _mended(folded: LogState, event: Event) -> None:
    if event.body["lost"]:
        numbers = ", ".join(map(str, event.body["lost"]))
        folded.mendings.append(f"the log was mended at {event.time}; lost: event {numbers}")


def _pruned(folded: LogState, event: Event) -> None:
    removed = set(event.body["sha256"])
    for submission in list(folded.submissions.values()):
        if submission.sha256 in removed:
            folded.submissions[submission.id] = replace(submission, pruned=event.time)


def _revoked(folded: LogState, event: Event) -> None:
    name = event.body["token"] or f"user:{event.body['user']}"
    folded.revoked[name] = event.number, event.time
    folded.revocations.setdefault(event.body["by"], []).append(event.time)


def _wanted(folded: LogState, event: Event) -> None:
    body, key = event.body, event.body["model"].casefold()
    wish = folded.wanted.get(key) or Wish(body["model"], event.time)
    if event.kind == "struck":
        folded.wanted[key] = replace(wish, state="struck", reason=body["reason"])
    else:
        folded.wanted[key] = replace(wish, askers={**wish.askers, body["user"].casefold(): body["benchmark"]})


_FOLDS: dict[Kind, Callable[[LogState, Event], None]] = {
    **dict.fromkeys(OF_ROWS, _marked),
    **{"accepted": _accepted, "result": _result, "scored": _scored, "refused": _refused, "failed": _failed},
    **{"lost": _lost, "mended": _mended, "pruned": _pruned, "revoked": _revoked, "wanted": _wanted, "struck": _wanted},
}
