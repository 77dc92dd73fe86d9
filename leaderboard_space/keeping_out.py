"""Why rows of a board have no rank for reasons that do not come from their scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from fairspace.leaderboard_space.attempts import Attempts
from fairspace.leaderboard_space.log_state import Entry, LogState
from fairspace.leaderboard_space.same_answers import SameAnswers
from fairspace.submissions.results.board import keep_out
from fairspace.submissions.results.row import UNRANKED, Row, row_with


@dataclass(frozen=True)
class Shown:
    """The rows of a benchmark that were scored here, and what the log says of their ranks, under every standard.

    Args:
        entries: in the order of the log.
        baselines: entry -> the bundled baselines whose answers it has, in words.
        reasons: entry -> why it has no rank beside that it waits: a copy, too like another row, or an earlier attempt.
    """

    entries: Sequence[Entry]
    baselines: Mapping[str, str]
    reasons: Mapping[str, str]

    @classmethod
    def of(cls, folded: LogState, entries: Sequence[Entry]) -> Shown:
        """What the log says of entries."""
        marks = baseline_copies(folded.same, entries)
        reasons = too_alike(folded.same, entries) | earlier_attempts(folded.attempts, entries)
        return cls(entries, marks, reasons | copies(folded.same, entries) | marks)


def without_ranks(rows: Sequence[Row], attempts: Attempts, shown: Shown) -> list[Row]:
    """The rows of a board; what was handed in has a rank only if it was verified or released, and is no copy.

    Args:
        rows: of the board, with the numbers that ranks go by.
        attempts: which each of them is.
        shown: of the rows that were scored here.
    """
    kept = []
    for row in rows:
        reason = shown.reasons.get(row.entry, "")
        if mark := shown.baselines.get(row.entry, ""):
            row = row_with(row, copy_of=mark)
        elif row.row_class == "handed in" and not row.released:
            reason = f"{UNRANKED}; {reason}" if reason else UNRANKED
        kept.append(_counted(keep_out(row, reason) if reason else row, attempts))
    return kept


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
    """The row with its number among the attempts."""
    number = attempts.of_model.get(row.entry, 0)
    if not number:
        return row
    return row_with(row, attempt=number, account_attempt=attempts.of_account[row.entry])


def baseline_copies(same: SameAnswers, shown: Iterable[Entry]) -> dict[str, str]:
    """Entry -> the bundled baselines whose answers it has, in words; for none that was verified or released."""
    firsts = {logged.entry: same.first.get(logged.entry, "") for logged in shown if not _is_vouched(logged)}
    return {entry: same.baselines[first] for entry, first in firsts.items() if first in same.baselines}


def copies(same: SameAnswers, shown: Iterable[Entry]) -> dict[str, str]:
    """Entry -> why it has no rank: it has the answers of another row.

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
    reasons: dict[str, str] = {}
    for members in groups.values():
        verified = [logged for logged in members if logged.verified]
        kept = verified[0] if verified else [logged for logged in members if _who(logged) == _who(members[0])][-1]
        others = (logged.entry for logged in members if logged is not kept)
        reasons |= dict.fromkeys(others, f"the same answers as row {kept.entry}")
    return reasons


def too_alike(same: SameAnswers, shown: Sequence[Entry]) -> dict[str, str]:
    """Entry -> why a maintainer must look: its answers are more like another row's than two models' are by nature.

    Not so for verified and released rows, for a row beside another one of its own account and model, nor for one beside
    a row that is no longer on the board. Arguments as of `copies`.
    """
    by_entry = {logged.entry: logged for logged in shown}
    reasons = {}
    for logged in shown:
        alike = same.alike.get(logged.entry)
        if alike is None or _is_vouched(logged):
            continue
        other = by_entry.get(alike.entry)
        if other is not None and _who(other) != _who(logged):
            reasons[logged.entry] = (
                f"its answers are more like those of row {alike.entry} than two models' are by nature "
                f"(kappa {alike.kappa:.2f})"
            )
    return reasons


def _is_vouched(logged: Entry) -> bool:
    """Whether a maintainer verified or released the row."""
    return logged.verified is not None or logged.released is not None


def _who(logged: Entry) -> tuple[str, str]:
    """The account and the model that it names."""
    return logged.user, str(logged.result.meta.get("model", ""))
