"""A person labels answers of a submission: what is drawn, what can be typed, and what is kept when it stops."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairspace.submissions.answers.drawing import Drawn, draw, shares
from fairspace.submissions.answers.labelled import read_lines
from fairspace.submissions.answers.labelling import label
from fairspace.submissions.answers.measuring import Compared, compare, measure
from fairspace.submissions.answers.reading import Reading, Readings, read_column
from fairspace.submissions.errors import UsageError
from fairspace.submissions.format.schema import Submission
from tests.submissions import sample

WORDS = ("cat", "cow", "dog")


def read_animal(answer: str, key: int = 0) -> Reading:
    """The only animal that is named."""
    named = [word for word in WORDS if word in answer]
    if len(named) == 1:
        start = answer.index(named[0])
        return Reading("choice", named[0], (start, start + 3), "name")
    return Reading("several" if named else "unusable")


def row_readings(submission: Submission) -> dict[str, Readings[Any]]:
    rows = submission.rows("responses", "quiz")
    return {"quiz": read_column(rows["response"], [0] * rows.num_rows, read_animal)}


def compare_animal(fields: Mapping[str, Any]) -> list[Compared]:
    return [compare(fields["task"], fields["gold"], read_animal(fields["answer"]))]


def _items(revision: str) -> pa.Table:
    return pa.table(
        {"id": [f"quiz/{n:03}" for n in range(200)], "prompt": [f"What is in picture {n}?" for n in range(200)]}
    )


def _label_line(task: str, item: Mapping[str, Any]) -> dict[str, Any] | None:
    return {"choices": WORDS} if task == "quiz" else None


TASKS = tuple(replace(task, items=_items if task.name == "quiz" else None) for task in sample.BENCH.tasks)
BENCH = replace(
    sample.BENCH, tasks=TASKS, row_readings=row_readings, label_line=_label_line, compare_reading=compare_animal
)
ANSWERS = [*["It is a dog."] * 60, *["A cat, I think"] * 30, *["cow"] * 6, *["a cat or a dog"] * 3, "no idea", None]


def submission(answers: list[str | None] = ANSWERS) -> Submission:
    rows = {
        "task": ["quiz"] * len(answers),
        "id": [f"quiz/{number:03}" for number in range(len(answers))],
        "sample": pa.array([0] * len(answers), pa.int32()),
        "response": answers,
    }
    return Submission(sample.meta(), {"responses": pa.table(rows)}, digest="d" * 64)


class Person:
    """Types what a test says, and keeps what was printed."""

    def __init__(self, *typed: str | BaseException):
        self.typed: Iterator[str | BaseException] = iter(typed)
        self.printed = ""

    def ask(self, prompt: str) -> str:
        typed = next(self.typed, EOFError())
        if isinstance(typed, BaseException):
            raise typed
        return typed

    def tell(self, text: str) -> None:
        self.printed += text + "\n"


@given(st.lists(st.integers(1, 500), min_size=1, max_size=12), st.integers(1, 300))
def test_shares_are_n_in_all_and_follow_the_sizes(sizes: list[int], n: int) -> None:
    drawn = shares(sizes, n)
    assert sum(drawn) == min(n, sum(sizes))
    assert all(0 <= few <= size for few, size in zip(drawn, sizes, strict=True))
    if n >= len(sizes):
        assert min(drawn) >= 1


def test_every_outcome_is_drawn_and_the_weights_stand_for_all_answers() -> None:
    drawn = draw(submission(), BENCH, 20)
    assert len(drawn) == 20
    assert Counter(one.read.split(" ")[0] for one in drawn) == {"choice": 18, "several": 1, "unusable": 1}
    assert sum(one.fields["weight"] for one in drawn) == pytest.approx(100)
    assert len({one.key for one in drawn}) == 20
    assert [one.key for one in draw(submission(), BENCH, 20)] == [one.key for one in drawn]
    assert [one.key for one in draw(submission(), BENCH, 20, seed=1)] != [one.key for one in drawn]


def test_an_answer_that_was_not_handed_in_is_never_drawn() -> None:
    assert len(draw(submission(), BENCH, 5_000)) == 100


@pytest.mark.parametrize(
    ("typed", "gold"),
    [("dog", "dog"), ("DOG ", "dog"), ("d", "dog"), ("ca", "cat"), ("none", "none"), ("ref", "refused")],
)
def test_first_letters_are_enough(typed: str, gold: str) -> None:
    assert Drawn({"answer": ""}, WORDS, "").gold(typed) == gold


@pytest.mark.parametrize(("typed", "said"), [("c", "cat or cow"), ("dgo", "did you mean 'dog'"), ("", "not clear")])
def test_what_is_not_clear_is_asked_again(typed: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Drawn({"answer": ""}, WORDS, "").gold(typed)


@pytest.mark.parametrize(("typed", "gold"), [("7", "7"), ("7,5", "7.5"), ("7.50", "7.5"), ("several", "several")])
def test_a_number_is_typed_as_a_number(typed: str, gold: str) -> None:
    rating = Drawn({"answer": "8"}, (1.0, 10.0), "")
    assert rating.gold(typed) == gold
    for wrong in ("11", "0", "nan", "x"):
        with pytest.raises(UsageError, match="from 1 to 10"):
            rating.gold(wrong)
    assert rating.by_itself() == "8"
    assert Drawn({"answer": "12"}, (1.0, 10.0), "").by_itself() is None


def test_what_was_typed_is_kept_and_measured(tmp_path: Path) -> None:
    out = tmp_path / "labelled.jsonl"
    drawn = draw(submission(), BENCH, 20)
    alone = sum(one.fields["answer"] == "cow" for one in drawn)
    person = Person("dog", "what", "cat", KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        label(drawn, out, person.ask, person.tell)
    assert len(read_lines([out])) == alone + 2
    assert "'what' is not clear" in person.printed
    assert "The reader: choice" in person.printed
    assert f"{alone} of 20 answers are a choice and nothing else" in person.printed
    again = Person(*["none"] * 40)
    assert label(drawn, out, again.ask, again.tell) == 20
    assert f"{alone + 3} of 20: quiz" in again.printed
    lines = read_lines([out])
    assert [line.fields["id"] for line in lines] == [one.key for one in drawn]
    assert {line.fields["style"] for line in lines} == {"Test 1B"}


def test_the_last_one_can_be_taken_back_and_one_be_left_out(tmp_path: Path) -> None:
    out = tmp_path / "labelled.jsonl"
    drawn = draw(submission(["It is a dog."] * 5), BENCH, 3)
    person = Person("u", "cat", "u", "dog", "s", "u", "s", "dog")
    assert label(drawn, out, person.ask, person.tell) == 2
    assert [line.fields["gold"] for line in read_lines([out])] == ["dog", "dog"]


def test_the_reading_is_shown_before_only_if_that_is_wanted(tmp_path: Path) -> None:
    drawn = draw(submission(["It is a dog."] * 5), BENCH, 1)
    for show in (False, True):
        person = Person("q")
        label(drawn, tmp_path / "a.jsonl", person.ask, person.tell, show=show)
        assert ("The reader: choice dog (name), from 'dog'" in person.printed) == show


def test_an_answer_cannot_steer_the_terminal(tmp_path: Path) -> None:
    person = Person("q")
    label(draw(submission(["a\x1b[2Jdog\u202e\nnext"]), BENCH, 1), tmp_path / "a.jsonl", person.ask, person.tell)
    assert "\x1b" not in person.printed
    assert "\u202e" not in person.printed
    assert "  | next" in person.printed


def test_a_file_of_another_submission_is_left_alone(tmp_path: Path) -> None:
    out = tmp_path / "labelled.jsonl"
    label(draw(submission(), BENCH, 3), out, Person(*["dog"] * 9).ask, lambda text: None)
    before = out.read_bytes()
    others = draw(replace(submission(), digest="e" * 64), BENCH, 3)
    with pytest.raises(UsageError, match="another submission"):
        label(others, out, Person("dog").ask, lambda text: None)
    assert out.read_bytes() == before


def test_the_labelled_file_gives_the_estimate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fairspace.submissions.benchmarks.registry.benchmark", lambda name: BENCH)
    out = tmp_path / "labelled.jsonl"
    drawn = draw(submission(), BENCH, 100)
    label(drawn, out, Person(*["dog"] * 100).ask, lambda text: None)
    report = measure(read_lines([out]))
    tally = report.tasks["genres/quiz"]
    assert (tally.n, tally.right, tally.false, tally.lost) == (100, 66, 30, 4)
    # each stands for itself alone: the estimate is the share, with the interval of Clopper and Pearson
    estimate = report.estimates["genres/quiz"]
    assert estimate["right"] == pytest.approx((0.66, 0.5585, 0.7518), abs=1e-4)


WALK = """
import sys
from tests.submissions.answers.test_labelling import BENCH, submission
import fairspace.submissions.commands.readings as readings
import fairspace.submissions.benchmarks.registry as registry
registry.benchmark = lambda name: BENCH
readings.checked_submission = lambda path: submission()
sys.argv = ["fairspace", "readings", "label", ".", "--out", sys.argv[1], "--n", "10"]
from fairspace.submissions.commands.main import main
main()
"""


def _walk(out: Path) -> subprocess.Popen[str]:
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    command = [sys.executable, "-c", WALK, str(out)]
    return subprocess.Popen(command, text=True, cwd=Path(__file__).parents[3], preexec_fn=_heed_ctrl_c, **pipes)


def _heed_ctrl_c() -> None:
    """A shell starts what runs behind it with Ctrl-C ignored, and its children inherit that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.process
def test_the_command_needs_no_terminal_and_ends_with_the_input(tmp_path: Path) -> None:
    out = tmp_path / "labelled.jsonl"
    with _walk(out) as process:
        printed, _ = process.communicate("dog\ndog\n")
    assert process.returncode == 0
    kept = [json.loads(line) for line in out.read_text().splitlines()]
    assert f"{len(kept)} of 10 answers labelled (the same command goes on)" in printed
    assert len(kept) >= 2


@pytest.mark.process
def test_ctrl_c_keeps_what_was_typed(tmp_path: Path) -> None:
    out = tmp_path / "labelled.jsonl"
    with _walk(out) as process:
        assert process.stdin is not None
        process.stdin.write("dog\n")
        process.stdin.flush()
        deadline = time.monotonic() + 240
        while not (out.exists() and '"dog"' in out.read_text()) and time.monotonic() < deadline:
            time.sleep(0.05)
        os.kill(process.pid, signal.SIGINT)
        try:
            printed, _ = process.communicate(timeout=600)
        finally:
            process.kill()
    assert process.returncode == 130
    assert "Traceback" not in printed
    assert "answers labelled (the same command goes on)" in printed
    assert all(json.loads(line)["gold"] for line in out.read_text().splitlines())
