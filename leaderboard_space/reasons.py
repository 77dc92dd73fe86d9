"""Reasons why a row that was scored here has no rank: equal or too similar answers, attempts, imitated names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fairspace.leaderboard_space.logged import LoggedRow
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.checking.names import owner_of, skeleton
from fairspace.submissions.errors import plain
from fairspace.submissions.results.known_answers import COPY, FEWEST, Bytes, LikeBaseline, kappas, likeness, read_sketch
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.row import TO_CHECK, UNRANKED, Row, keep_out, row_with

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


@dataclass(frozen=True)
class ShownRows:
    """A benchmark's rows that were scored here, under every standard; `reasons`: entry -> why it has no rank."""

    entries: Sequence[LoggedRow]
    baselines: Mapping[str, str]
    reasons: Mapping[str, str]

    @classmethod
    def of(
        cls, entries: Sequence[LoggedRow], same: SameAnswers, attempts: Attempts, every: Mapping[str, LoggedRow]
    ) -> ShownRows:
        """Entries on the board with their copied baselines and the reasons why they have no rank.

        `every`: all entries of the log, withdrawn ones too.
        """
        marks = baseline_copies(same, entries)
        reasons = too_alike(same, entries) | reposts(same, every, entries)
        reasons |= earlier_attempts(attempts, entries) | imitations(entries)
        words = {name: mark if mark.startswith(COPY) else f"{mark}. {TO_CHECK}" for name, mark in marks.items()}
        return cls(entries, marks, reasons | copies(same, entries) | words)


def without_ranks(rows: Sequence[Row], attempts: Attempts, shown: ShownRows) -> list[Row]:
    """The rows of a board; a submission has a rank only if it was verified or released, and is no copy."""
    kept = []
    for row in rows:
        reason = shown.reasons.get(row.entry, "")
        if mark := shown.baselines.get(row.entry, ""):
            row = row_with(row, copy_of=mark)
        elif row.row_class == "submitted" and not row.released:
            reason = f"{UNRANKED}; {reason}" if reason else UNRANKED
        row = keep_out(row, reason) if reason else row
        if number := attempts.of_model.get(row.entry):
            row = row_with(row, attempt=number, account_attempt=attempts.of_account[row.entry])
        kept.append(row)
    return kept


def earlier_attempts(attempts: Attempts, shown: Iterable[LoggedRow]) -> dict[str, str]:
    """Entry -> why it has no rank: its account tried again with the model. A verified row keeps its rank."""
    tried = [logged for logged in shown if logged.entry in attempts.models and not logged.verified]
    newest = {attempts.models[logged.entry]: logged.entry for logged in tried}
    entries = {logged.entry: newest[attempts.models[logged.entry]] for logged in tried}
    return {
        entry: f"an earlier attempt at this model; its newest is row {last}"
        for entry, last in entries.items()
        if entry != last
    }


def baseline_copies(same: SameAnswers, shown: Iterable[LoggedRow]) -> dict[str, str]:
    """Entry -> the bundled baselines that its answers are or look like; without verified or released entries."""
    firsts = {logged.entry: same.first.get(logged.entry, "") for logged in shown if not _is_vouched(logged)}
    return {entry: same.baselines[first] for entry, first in firsts.items() if first in same.baselines}


def copies(same: SameAnswers, shown: Iterable[LoggedRow]) -> dict[str, str]:
    """Entry -> why it has no rank: it has the answers of another row on the board.

    Of rows with the same answers the first released one keeps its rank, or the verified one. If its account submits
    the answers again under the same model name, that is the same row, and the newest keeps the rank.
    """
    groups: dict[str, list[LoggedRow]] = {}
    for logged in shown:
        if (first := same.first.get(logged.entry)) is not None:
            groups.setdefault(first, []).append(logged)
    reasons: dict[str, str] = {}
    for members in groups.values():
        verified = [logged for logged in members if logged.verified]
        ranked = [logged for logged in members if logged.released] or members
        kept = verified[0] if verified else [logged for logged in ranked if who(logged) == who(ranked[0])][-1]
        others = (logged.entry for logged in members if logged is not kept)
        reasons |= dict.fromkeys(others, f"the same answers as row {kept.entry}")
    return reasons


def too_alike(same: SameAnswers, shown: Sequence[LoggedRow]) -> dict[str, str]:
    """Entry -> why a maintainer must look: its answers are more like another row's than usual for two models.

    Exempt are verified and released rows, rows of the same account and model, and rows alike to one off the board.
    """
    by_entry = {logged.entry: logged for logged in shown}
    reasons = {}
    for logged in shown:
        alike = same.alike.get(logged.entry)
        if alike is None or _is_vouched(logged):
            continue
        other = by_entry.get(alike.entry)
        if other is not None and who(other) != who(logged):
            reasons[logged.entry] = (
                f"its answers are more like those of row {alike.entry} than two models' are by nature "
                f"(kappa {alike.kappa:.2f})"
            )
    return reasons


def imitations(shown: Sequence[LoggedRow]) -> dict[str, str]:
    """Entry -> why a maintainer must look: its name looks like that of a row of ours, a verified or a proved owner's.

    Of two proved owners' rows neither is marked, nor is what a maintainer released.
    """
    firm = {who(logged)[1]: "a row that is verified or ours" for logged in shown if logged.own or logged.verified}
    proved = {logged.entry: who(logged)[1] for logged in shown if proved_owner(logged)}
    words = dict.fromkeys(proved.values(), "whose proved owner is on this board") | firm
    names, reasons = {skeleton(name): name for name in (*proved.values(), *firm)}, {}
    for logged in shown:
        model = who(logged)[1]
        name = names.get(skeleton(model), model)
        is_marked = name.casefold() != model.casefold() and (name in firm or logged.entry not in proved)
        if is_marked and not logged.own and not _is_vouched(logged):
            reasons[logged.entry] = f"its name looks like {plain(name)}, {words[name]}"
    return reasons


def reposts(same: SameAnswers, every: Mapping[str, LoggedRow], shown: Sequence[LoggedRow]) -> dict[str, str]:
    """Entry -> why a maintainer must look: it has the answers of a withdrawn row of another account or model."""
    firsts = {logged.entry: every[same.first.get(logged.entry, logged.entry)] for logged in shown}
    return {
        logged.entry: f"the answers of row {first.entry}, which was withdrawn"
        for logged in shown
        if (first := firsts[logged.entry]).withdrawn and not _is_vouched(logged) and who(first) != who(logged)
    }


def _is_vouched(logged: LoggedRow) -> bool:
    return logged.verified is not None or logged.released is not None


def proved_owner(logged: LoggedRow) -> str:
    """The owner of a row's model, if it is its submitter or their organisation; '' otherwise."""
    return owner_of(who(logged)[1], filter(None, (logged.user, logged.organisation)))


def who(logged: LoggedRow) -> tuple[str, str]:
    """Submitter and model of a row."""
    return logged.user, str(logged.result.meta.get("model", ""))
