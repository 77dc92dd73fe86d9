from fairspace.leaderboard_space.jobs.jobs import fair_order
from fairspace.leaderboard_space.logged import LoggedSubmission


def accepted(name: str, minute: int) -> LoggedSubmission:
    return LoggedSubmission(name, name[0], "", "0" * 64, 1, f"2026-01-31T12:{minute:02}:00.000Z")


def names(submissions: list[LoggedSubmission]) -> list[str]:
    return [submission.id for submission in fair_order(submissions)]


def test_accounts_take_turns_and_each_is_served_in_its_order() -> None:
    queue = [accepted(name, minute) for minute, name in enumerate(["a1", "a2", "a3", "b1", "b2", "c1", "A4"])]
    assert names(queue) == ["a1", "b1", "c1", "a2", "b2", "a3", "A4"]
    assert names(queue[::-1]) == names(queue)
    assert names([]) == []
