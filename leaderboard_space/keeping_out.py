"""Why rows of a board have no rank for reasons that do not come from their scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from fairspace.leaderboard_space.attempts import Attempts
from fairspace.leaderboard_space.log_state import Entry, LogState
from fairspace.leaderboard_space.same_answers import SameAnswers
from fairspace.submissions.results.attempts import allow_for_attempts
from fairspace.submissions.results.board import keep_out
from fairspace.submissions.results.quarantine import IN_QUARANTINE, quarantined
from fairspace.submissions.results.row import Row, row_with


@dataclass(frozen=True)
class Shown:
    """The rows of a benchmark that were scored here, and what the log says of their ranks, under every standard.

    Args:
        entries: in the order of the log.
        copied: entry -> why it has no rank: a copy, or an earlier attempt.
        alike: entry -> why it waits for a maintainer.
        released: those that a maintainer let out of quarantine.
    """

    entries: Sequence[Entry]
    copied: Mapping[str, str]
    alike: Mapping[str, str]
    released: frozenset[str]

    @classmethod
    def of(cls, folded: LogState, entries: Sequence[Entry]) -> Shown:
        """What the log says of entries."""
        copied = earlier_attempts(folded.attempts, entries) | copies(folded.same, entries)
        released = frozenset(logged.entry for logged in entries if logged.released)
        return cls(entries, copied, too_alike(folded.same, entries), released)


def without_ranks(rows: Sequence[Row], attempts: Attempts, shown: Shown, benchmark: str, standard: str) -> list[Row]:
    """The rows of a board; copies, earlier attempts and rows in quarantine have no rank and say why.

    Args:
        rows: of the board, with the numbers that ranks go by.
        attempts: which each of them is.
        shown: of the rows that were scored here.
        benchmark: of the board.
        standard: of the board.
    """
    copied = shown.copied
    kept = [keep_out(row, copied[row.entry]) if row.entry in copied else row for row in rows]
    kept = allow_for_attempts([_counted(row, attempts) for row in kept], benchmark, standard)
    waiting = {
        **shown.alike,
        **dict.fromkeys(quarantined(kept, benchmark, standard, shown.released), IN_QUARANTINE),
    }
    return [keep_out(row, waiting[row.entry]) if row.entry in waiting else row for row in kept]


def earlier_attempts(attempts: Attempts, shown: Iterable[Entry]) -> dict[str, str]:
    """Entry -> why it has no rank: its account tried again with the model. A verified row keeps its rank."""
    tried = [logged for logged in shown if logged.entry in attempts.models and not logged.verified]
    newest = {attempts.models[logged.entry]: logged.entry for logged in tried}
    entries = {logged.entry: newest[attempts.models[logged.entry]] for logged in tried}
    return {
        entry: f"an earlier attempt at this model; its newest is row {last}"
        for entry, last in entries.items()
        if entry != last
    }


def _counted(row: Row, attempts: Attempts) -> Row:
    """The row with its number among the attempts, and a remark on what that does to its rank."""
    number = attempts.of_model.get(row.entry, 0)
    if not number:
        return row
    remark = (f"attempt {number} at this model: its rank allows for the best of {number}",) if number > 1 else ()
    about = {"attempt": number, "account_attempt": attempts.of_account[row.entry]}
    return row_with(row, **about, remarks=(*row.remarks, *remark))


def copies(same: SameAnswers, shown: Iterable[Entry]) -> dict[str, str]:
    """Entry -> why it has no rank: it has the answers of a bundled baseline, or of another row.

    Of rows with the same answers the first one on the board keeps its rank, or the one that is verified. Where its
    account handed them in again under the same model name, that is the same row, and the newest of these keeps it.

    Args:
        same: which entries have the same answers.
        shown: what a board shows, in the order of the log.
    """
    groups: dict[str, list[Entry]] = {}
    for logged in shown:
        if (first := same.first.get(logged.entry)) is not None:
            groups.setdefault(first, []).append(logged)
    reasons = {}
    for first, members in groups.items():
        verified = [logged for logged in members if logged.verified]
        kept = verified[0] if verified else [logged for logged in members if _who(logged) == _who(members[0])][-1]
        baseline = same.baselines.get(first)
        for logged in members:
            if baseline:
                reasons[logged.entry] = f"the answers of the bundled baseline {baseline}, which has no rank"
            elif logged is not kept:
                reasons[logged.entry] = f"the same answers as row {kept.entry}, which has the rank"
    return reasons


def too_alike(same: SameAnswers, shown: Sequence[Entry]) -> dict[str, str]:
    """Entry -> why it waits for a maintainer: its answers are more like others' than those of two models are by nature.

    Verified and released rows do not wait, and neither does a row for another one of its own account and model, nor for
    one that is no longer on the board. Arguments as of `copies`.
    """
    by_entry = {logged.entry: logged for logged in shown}
    reasons = {}
    for logged in shown:
        alike = same.alike.get(logged.entry)
        if alike is None or logged.verified or logged.released:
            continue
        other = by_entry.get(alike.entry)
        if alike.baseline or (other is not None and _who(other) != _who(logged)):
            reasons[logged.entry] = (
                "in quarantine, waiting for a maintainer: its answers are like those of the bundled baseline "
                f"{alike.baseline}, changed in part"
                if alike.baseline
                else f"in quarantine, waiting for a maintainer: its answers are more like those of row {alike.entry} "
                f"than two models' are by nature (kappa {alike.kappa:.2f})"
            )
    return reasons


def _who(logged: Entry) -> tuple[str, str]:
    """The account and the model that it names."""
    return logged.user, str(logged.result.meta.get("model", ""))
