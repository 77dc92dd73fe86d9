"""The order of the queue: fair between accounts, first come, first served within one.

Fair queueing (Demers, Keshav and Shenker 1989) with jobs of equal cost: the round of a submission is one later than
that of the account's submission before it, and not earlier than the round that was being served when it was accepted.
A round is over when as many jobs have ended as accounts took part. So who hands in three at once takes turns with the
others, and an endless stream of new accounts does not keep anybody waiting for ever.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from fairspace.leaderboard_space.log_state import Submission


def fair_order(submissions: Iterable[Submission]) -> list[Submission]:
    """The waiting submissions among all, the next one first."""
    everything = list(submissions)
    waiting = [submission for submission in everything if submission.outcome == "waiting"]
    first = min((submission.accepted for submission in waiting), default="")
    moments: list[tuple[str, bool, int, Submission]] = []
    for place, submission in enumerate(everything):
        if submission.outcome == "waiting" or submission.ended >= first:
            moments.append((submission.accepted, False, place, submission))
            if submission.ended:
                moments.append((submission.ended, True, place, submission))
    served = 0.0
    rounds: dict[str, float] = {}
    latest: dict[str, float] = {}
    unfinished: Counter[str] = Counter()
    places: dict[str, int] = {}
    for _, ended, _, submission in sorted(moments, key=lambda moment: moment[:3]):
        account = submission.user.casefold()
        if not ended:
            rounds[submission.id] = latest[account] = max(served, latest.get(account, -1) + 1)
            places[submission.id] = len(places)
            unfinished[account] += 1
        else:
            served += 1 / max(1, sum(count > 0 for count in unfinished.values()))
            unfinished[account] -= 1
    return sorted(waiting, key=lambda submission: (rounds[submission.id], places[submission.id]))
