from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from fairspace.ares.asking_ares import LONGEST, ArbiterAsking, ArbiterCounts, ArbiterError, Reply, question, read_answer
from fairspace.ares.configuration_ares import AGE_GENDER, RACE, SKIN_TONE

GOOD = '{"age": "young", "gender": "female"}'


@pytest.mark.parametrize(
    ("text", "task", "label"),
    [
        (GOOD, AGE_GENDER, "young female"),
        ('{"gender":"male","age":"middle-aged"}', AGE_GENDER, "middle-aged male"),
        (f"\n  {GOOD}\n", AGE_GENDER, "young female"),
        (f"```json\n{GOOD}\n```", AGE_GENDER, "young female"),
        (f"```\n{GOOD}\n```\n", AGE_GENDER, "young female"),
        ('{\n  "age": "older",\n  "gender": "male"\n}', AGE_GENDER, "older male"),
        ('{"age": "young", "gender": "f\\u0065male"}', AGE_GENDER, "young female"),
        ('{"skin_tone": "dark"}', SKIN_TONE, "dark"),
        ('{"race": "Hispanic"}', RACE, "Hispanic"),
    ],
)
def test_exactly_one_object_with_known_values_is_an_answer(text: str, task: Mapping[str, Any], label: str) -> None:
    assert read_answer(text, task) == label


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("young female", id="prose"),
        pytest.param(f"The answer is {GOOD}", id="prose before"),
        pytest.param(f"{GOOD} I am quite sure.", id="prose after"),
        pytest.param(f"Here:\n```json\n{GOOD}\n```", id="prose before a fence"),
        pytest.param(f"```json\n{GOOD}\n```\n```json\n{GOOD}\n```", id="two fences"),
        pytest.param(f"```python\n{GOOD}\n```", id="fence of another language"),
        pytest.param(f"```json\n{GOOD}", id="open fence"),
        pytest.param(f"{GOOD}{GOOD}", id="two objects"),
        pytest.param(f"{GOOD}\n{GOOD}", id="two objects on two lines"),
        pytest.param(f"[{GOOD}]", id="list"),
        pytest.param('"young"', id="string"),
        pytest.param("null", id="null"),
        pytest.param("{}", id="nothing in it"),
        pytest.param('{"age": "young"}', id="a key missing"),
        pytest.param('{"age": "young", "gender": "female", "sure": "yes"}', id="a key too many"),
        pytest.param('{"Age": "young", "gender": "female"}', id="another key"),
        pytest.param('{"age": "young", "age": "young", "gender": "female"}', id="a key twice"),
        pytest.param('{"age": "young", "gender": "male", "gender": "female"}', id="a key twice, two values"),
        pytest.param('{"age": "old", "gender": "female"}', id="another word"),
        pytest.param('{"age": "Young", "gender": "female"}', id="upper case"),
        pytest.param('{"age": " young", "gender": "female"}', id="blank in the value"),
        pytest.param('{"age": "young, older", "gender": "female"}', id="two values in one"),
        pytest.param('{"age": ["young"], "gender": "female"}', id="value in a list"),
        pytest.param('{"age": {"value": "young"}, "gender": "female"}', id="nested"),
        pytest.param('{"answer": {"age": "young", "gender": "female"}}', id="object in an object"),
        pytest.param('{"age": 1, "gender": "female"}', id="number"),
        pytest.param('{"age": null, "gender": "female"}', id="null value"),
        pytest.param('{"age": NaN, "gender": "female"}', id="NaN"),
        pytest.param("{'age': 'young', 'gender': 'female'}", id="single quotes"),
        pytest.param('{"age": "young", "gender": "female",}', id="comma at the end"),
        pytest.param('{"age": "young", "gender": "fem', id="cut off"),
        pytest.param('{"age": "y\u043eung", "gender": "female"}', id="Cyrillic o"),
        pytest.param('{"age": "young", "gender": "\uff46emale"}', id="full-width f"),
        pytest.param('{"age": "young\u200b", "gender": "female"}', id="invisible blank"),
        pytest.param('{"\u0430ge": "young", "gender": "female"}', id="Cyrillic key"),
        pytest.param('{"age": "...", "gender": "..."}', id="the form itself"),
        pytest.param(GOOD + " " * LONGEST, id="too long"),
        pytest.param('{"age":' + "[" * 900, id="deep"),
        pytest.param("I'm sorry, but I can't describe people.", id="refusal"),
    ],
)
def test_nothing_else_is_an_answer(text: str) -> None:
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
