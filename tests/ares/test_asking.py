import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from fairspace.ares.asking_ares import LONGEST, ArbiterAsking, ArbiterCounts, ArbiterError, Reply, question, read_answer
from fairspace.ares.configuration_ares import AGE_GENDER, RACE, SKIN_TONE

GOOD = '{"age": "young", "gender": "female"}'


PHRASES = Path(__file__).parents[1] / "data" / "phrases" / "ares.jsonl"
ANSWERS = [json.loads(line) for line in PHRASES.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("line", ANSWERS, ids=lambda line: line["case"])
def test_exactly_one_object_with_known_values_is_an_answer(line: Mapping[str, str]) -> None:
    (task,) = (task for task in (AGE_GENDER, SKIN_TONE, RACE) if task["name"] == line["reader"])
    assert (read_answer(line["answer"], task) or "unusable") == line["gold"]


@pytest.mark.parametrize("text", [GOOD + " " * LONGEST, '{"age":' + "[" * 900], ids=["too long", "deep"])
def test_no_more_is_read_than_an_answer_needs(text: str) -> None:
    assert read_answer(text, AGE_GENDER) is None


def test_the_question_lists_every_value_names_none_as_example_and_says_perceived() -> None:
    for task in (AGE_GENDER, SKIN_TONE, RACE):
        asked = question(task)
        assert "perceived presentation" in asked
        for attribute, labels in task["attributes"].items():
            assert f"{attribute}: {', '.join(dict.fromkeys(labels))}" in asked
            assert all(asked.count(f'"{label}"') == 0 for label in labels)
        assert question(task, again=True).startswith(asked)
        assert question(task, again=True) != asked


def test_a_task_whose_labels_an_answer_could_not_tell_apart_is_refused() -> None:
    task = {"name": "t", "labels": ["a", "b"], "attributes": {"shape": ["round", "round"]}}
    with pytest.raises(ArbiterError, match=r"t: two labels have the same attributes"):
        question(task)


class Scripted(ArbiterAsking):
    """Answers from a table: first and second reply about each image, here a string."""

    def __init__(self, table: Mapping[str, tuple[Reply, Reply]]) -> None:
        super().__init__()
        self.table, self.asked = table, list[tuple[str, ...]]()

    @property
    def name(self) -> str:
        return "scripted"

    def _replies(self, images: Sequence[Any], question: str) -> list[Reply]:
        self.asked.append(tuple(images))
        return [self.table[image][len(self.asked) - 1] for image in images]


def test_what_is_not_usable_is_asked_once_more_and_counted() -> None:
    good, bad = Reply(GOOD), Reply("Sure!")
    table = {
        "a": (good, bad),
        "b": (bad, good),
        "c": (bad, bad),
        "d": (Reply(missing="refused"), good),
        "e": (Reply(missing="failed"), good),
        "f": (bad, Reply(missing="refused")),
    }
    arbiter = Scripted(table)
    found = arbiter.answer(list(table), AGE_GENDER)
    assert found == ["young female", "young female", None, None, None, None]
    assert arbiter.asked == [("a", "b", "c", "d", "e", "f"), ("b", "c", "f")]
    assert arbiter.counts == ArbiterCounts(asked=6, answered=2, asked_again=3, unusable=1, refused=2, failed=1)
    counts = arbiter.counts
    assert counts.asked == counts.answered + counts.unusable + counts.refused + counts.failed
    assert arbiter.answer([], AGE_GENDER) == []
    assert arbiter.counts.asked == 6
