"""Records of the log: submissions, rows, wanted models; and the part of a `result` event that boards show.

That part is packed when it is written and read when a row is shown.

An event holds the scores, errors and draws of the ranked number under every released standard, and the raw values that
boards show (`shown_values`). All other values are in the file of the result, which is read when somebody asks for one.
Events of earlier versions hold every value and the draws, and some scores or none.
"""

import base64
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Generic, Literal, TypeVar

import numpy as np
import orjson

from fairspace.metrics.intervals import Uncertainty
from fairspace.submissions.benchmarks.benchmark import Scored
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.format.faults import Fault
from fairspace.submissions.results.board import facts_of, logged_row
from fairspace.submissions.results.draws import Draws
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.row_errors import Errors, errors_of, keep_errors, with_errors
from fairspace.submissions.results.tiers import keep_ranked_draws, ranked_draws
from fairspace.submissions.values import Value
from fairspace.submissions.version import VERSION

Data = dict[str, Any]
Made = TypeVar("Made")
_LOADED = 64
"""Results whose parts are kept in memory: parts of one result are usually read together."""
_SCORED = ("ranking", "ranked", "unranked", "labels", "part")
"""Fields of `Scored` that an event keeps beside its values; chances stand beside the errors."""
_DECIDING = ("cohort",)
"""Evidence behind a score: GENRES' total is a distance from the cohort of the judge's family."""


def packed(result: Result, shown: frozenset[str]) -> Data:
    """The fields of a result's event that `unpacked` and `scored_by_event` read, with the raw values named `shown`.

    Standards in draft may change and are left out.
    """
    errors, scored, drawn = {}, {}, {}
    for name, standard in benchmark(result.benchmark).standards.items():
        if standard.draft:
            continue
        row = logged_row(replace(result, standard=""), name)
        of = result.scored if row.result is None else row.result.scored
        values = {part: [*map(Value.to_json, getattr(of, part).values())] for part in ("scores", "sample")}
        scored[name] = _text({part: getattr(of, part) for part in _SCORED} | values)
        if result.draws is not None:
            [numbers] = ranked_draws([row], result.benchmark, name)
            drawn[name] = base64.b64encode(numbers.astype("<f4").tobytes()).decode()
            [row] = with_errors([row], name)
            about = errors_of(row.scores, row.chances).to_json()
            errors[name] = {**about, "scores": _text(about["scores"])}
    stated = board_values(result)
    kept = {name: stated[name].to_json() if name in stated else None for name in sorted(shown)}
    parts = {"drawn": drawn, "errors": errors, "scored": scored, "values": kept}
    content = base64.b64encode(zlib.compress(orjson.dumps(parts), 9)).decode()
    return {"packed": content, "scored_by": VERSION, "tasks": [*facts_of(result).tasks]}


def _text(data: Mapping[str, Any]) -> str:
    return orjson.dumps(data).decode()


def board_values(result: Result) -> dict[str, Value]:
    """The values of a result with what a board needs of them.

    That is `_DECIDING` evidence, and the uncertainty of values behind scores, for equal intervals.
    """
    drawn = () if result.draws is None else set(result.draws.names)
    values = {}
    for name, value in result.values.items():
        evidence = {key: part for key, part in value.evidence.items() if key in _DECIDING}
        values[name] = replace(value, evidence=evidence, uncertainty=value.uncertainty if name in drawn else None)
    return values


def unpacked(body: Mapping[str, Any]) -> bytes:
    """The packed parts of an event's body; those of an earlier version are made into such."""
    if "packed" in body:
        return base64.b64decode(body["packed"])
    values = body["result"]["values"]
    values = {value["name"]: value for value in values} if isinstance(values, list) else values
    return orjson.dumps({"values": values} | {name: body.get(name, {}) for name in ("errors", "scored")})


@lru_cache(_LOADED)
def _parts(content: bytes) -> Data:
    parts: Data = orjson.loads(content if content.startswith(b"{") else zlib.decompress(content)) if content else {}
    return parts


class Logged(Mapping[str, Made], Generic[Made]):
    """Parts of a logged result by name, made on demand from unchecked JSON of our own log.

    `path`: keys of the parts in the packed content; `rest`: gives all parts, if the log has some of them only. Names
    that the log knows as absent are not looked up in the rest.
    """

    __slots__ = ("_content", "_make", "_path", "_rest")

    def __init__(
        self,
        content: bytes,
        path: tuple[str, ...],
        make: Callable[[Data], Made],
        rest: Callable[[], Mapping[str, Made]] | None = None,
    ) -> None:
        self._content, self._path, self._make, self._rest = content, path, make, rest

    def __getitem__(self, name: str) -> Made:
        made: Mapping[str, Made | None] = _made(self._content, self._path, self._make)
        if name not in made and self._rest is not None:
            return self._rest()[name]
        part = made[name]
        if part is None:
            raise KeyError(name)
        return part

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def _all(self) -> Mapping[str, Made]:
        every: Mapping[str, Made] = _made(self._content, self._path, self._make)
        rest = None if self._rest is None else self._rest()
        return rest or {name: part for name, part in every.items() if part is not None}  # a file may be unreadable


@lru_cache(2 * _LOADED)
def _made(content: bytes, path: tuple[str, ...], make: Callable[[Data], Any]) -> Data:
    part: Any = _parts(content)
    for key in path:
        part = part.get(key, {})
    part = orjson.loads(part) if isinstance(part, str) else part
    return {name: data if data is None else make(data) for name, data in part.items()}


def logged_values(content: bytes, rest: Callable[[], Mapping[str, Value]] | None) -> Mapping[str, Value]:
    """The values of packed content; `rest` as in `Logged`."""
    return Logged(content, ("values",), _value, rest)


def scored_by_event(result: Result, content: bytes, standard: str) -> Result | None:
    """A logged result with the scores, errors and ranked draws of its event; None without scores under a standard."""
    parts = _parts(content)
    if (text := parts.get("scored", {}).get(standard)) is None:
        return None
    data = orjson.loads(text)
    scores, sample = ({value["name"]: _value(value) for value in data.get(part, ())} for part in ("scores", "sample"))
    about = data["ranking"], data["ranked"], tuple(data["unranked"]), data["labels"]
    scored = Scored(scores, *about, part=data.get("part", False), sample=sample)
    made = replace(result, standard=standard, scored=scored, signature={**result.signature, "standard": standard})
    if (drawn := parts.get("drawn", {}).get(standard)) is not None:
        keep_ranked_draws(made, np.frombuffer(base64.b64decode(drawn), "<f4"))
    return made


def join_errors(result: Result, content: bytes) -> None:
    """Keep the errors of a result's event for `with_errors`, if there are any under its standard."""
    errors = _parts(content).get("errors", {}).get(result.standard)
    if errors is not None:
        scores = Logged(content, ("errors", result.standard, "scores"), _uncertainty)
        keep_errors(result, Errors(scores, errors["chances"]))


def _value(data: Data) -> Value:
    value, about = object.__new__(Value), {**data}  # its state and numbers were checked before they were logged
    about.setdefault("evidence", {})
    if "uncertainty" in data:
        about["uncertainty"] = Uncertainty(**data["uncertainty"])
    object.__setattr__(value, "__dict__", about)  # other fields have the defaults of their class
    return value


def _uncertainty(data: Data) -> Uncertainty:
    return Uncertainty(**data)


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


def baseline_of(result: Result) -> tuple[str, str, str] | None:
    """The baseline of a result: benchmark, name, seed; equal for all versions of this software. None for a model."""
    name, generation = result.meta.get("baseline"), result.meta.get("generation")
    seed = generation.get("seed") if isinstance(generation, Mapping) else None
    return (result.benchmark, str(name), str(seed)) if name else None
