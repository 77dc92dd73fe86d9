"""A lease stands still when it does not count on for longer than the patience, by a clock that only grows."""

from fairspace.leaderboard_space.jobs.queue import Job, Lease
from fairspace.leaderboard_space.jobs.watchdog import Watchdog

JOB, OTHER = Job("a", 1), Job("b", 1)


def test_a_lease_that_counts_on_is_left_and_one_that_does_not_is_found() -> None:
    at = [0.0]
    watchdog = Watchdog(10, lambda: at[0])
    for second in range(0, 30, 3):
        at[0] = second
        still = watchdog.still({JOB: Lease("w", second), OTHER: Lease("w", 0)})
        assert set(still) == ({OTHER} if second > 10 else set())


def test_a_lease_in_other_hands_is_seen_afresh() -> None:
    at = [0.0]
    watchdog = Watchdog(10, lambda: at[0])
    assert not watchdog.still({JOB: Lease("w")})
    at[0] = 11.0
    assert not watchdog.still({JOB: Lease("v")})
    at[0] = 20.0
    assert not watchdog.still({})
    assert not watchdog.still({JOB: Lease("v")})
    at[0] = 31.0
    assert set(watchdog.still({JOB: Lease("v")})) == {JOB}
