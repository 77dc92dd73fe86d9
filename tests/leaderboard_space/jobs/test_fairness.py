from dataclasses import replace

from fairspace.leaderboard_space.jobs.jobs import fair_order
from fairspace.leaderboard_space.log_state import Submission


def accepted(name: str, minute: int) -> Submission:
    return Submission(name, name[0], "", "0" * 64, 1, f"2026-01-31T12:{minute:02}:00.000Z")


def ended(submission: Submission, minute: int) -> Submission:
    return replace(submission, outcome="scored", ended=f"2026-01-31T12:{minute:02}:00.000Z")


def names(submissions: list[Submission]) -> list[str]:
    return [submission.id for submission in fair_order(submissions)]


def test_accounts_take_turns_and_each_is_served_in_its_order() -> None:
    queue = [accepted(name, minute) for minute, name in enumerate(["a1", "a2", "a3", "b1", "b2", "c1", "A4"])]
    assert names(queue) == ["a1", "b1", "c1", "a2", "b2", "a3", "A4"]
    assert names(queue[::-1]) == names(queue)
    assert names([]) == []


def test_who_was_served_while_others_waited_does_not_go_first_again() -> None:
    queue = [accepted(name, minute) for minute, name in enumerate(["a1", "a2", "b1"])]
    assert names([ended(queue[0], 9), *queue[1:]]) == ["b1", "a2"]


def test_nobody_is_passed_by_an_endless_stream_of_new_accounts() -> None:
    log, order = [accepted("a1", 0), accepted("a2", 0)], list[str]()
    for minute in range(1, 10):
        log.append(accepted(f"{chr(ord('b') + minute)}1", minute))
        served = fair_order(log)[0]
        log = [ended(each, minute) if each.id == served.id else each for each in log]
        order.append(served.id)
    assert order.index("a2") <= 4


def test_what_ended_before_anybody_waited_counts_for_nothing() -> None:
    before = [ended(accepted(f"a{n}", n), n) for n in range(5)]
    assert names([*before, accepted("a9", 20), accepted("b1", 21)]) == ["a9", "b1"]
