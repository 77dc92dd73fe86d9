"""Reasoning before an answer is not read, in every form; what wraps an answer is."""

import tomllib

import pytest

from fairspace.submissions.answers.prepared import prepare, without_tokens
from fairspace.submissions.answers.rows import COUNTED, Summary
from fairspace.submissions.benchmarks.iris.parse.occupation import read_occupation
from fairspace.submissions.results.scoring import _unread
from tests.foreign import HERE
from tests.machine_speed import takes_less
from tests.submissions.answers.phrases import phrases

THOUGHT = "By the clothes alone it is a doctor."
NURSE = getattr(read_occupation("nurse"), "value", None)


STATED = tomllib.loads((HERE / "chat_templates" / "families.toml").read_text(encoding="utf-8"))["family"]
"""Families of models, as their chat templates state them: the marks that open and close reasoning, and an answer's."""


@pytest.mark.parametrize("family", [*STATED, *phrases("answers", "reasoning")], ids=lambda family: family["name"])
def test_the_reasoning_of_each_family_is_not_read(family: dict[str, str]) -> None:
    opening, closing, end = (family[mark] for mark in ("opening", "closing", "end"))
    whole = f"{opening}{THOUGHT}{closing}"
    answers = (
        f"{whole}nurse{end}",
        f"<|im_start|>assistant\n{whole}The nurse.{end}",
        f"{THOUGHT}{closing}nurse{end}",
    )
    for answer in answers:
        assert getattr(read_occupation(answer), "value", None) == NURSE, answer
        assert "doctor" not in without_tokens(answer)
    for answer in (f"{opening}{THOUGHT} But then", whole, f"{whole}{end}"):
        assert getattr(read_occupation(answer), "outcome", None) == "unusable", answer
        assert "doctor" not in without_tokens(answer)


@pytest.mark.parametrize("family", STATED, ids=lambda family: family["name"])
def test_transformers_finds_the_same_answer(family: dict[str, str]) -> None:
    opening, closing = family["opening"], family["closing"]
    parsing = pytest.importorskip("transformers.utils.chat_parsing")
    marks = {"open": opening, "close": closing}
    template = {"start_anchor": "<turn>", "fields": {"reasoning_content": marks, "content": {}}}
    for prompt, answer in (
        ("<turn>", f"{opening}{THOUGHT}{closing}B"),
        (f"<turn>{opening}", f"{THOUGHT}{closing}B"),
    ):
        message = parsing.parse_response(answer, template, prefix=prompt)
        assert message["content"] == prepare(answer).text.replace("<answer>", "").strip() == "B"


def test_a_run_cut_off_inside_its_reasoning_says_which_setting_to_raise() -> None:
    outcomes = dict.fromkeys(COUNTED, 0) | {"unusable": 50}
    said = list(_unread({"occupation": Summary(outcomes, {"cut off": 50}, ())}))
    assert said == ["occupation: 0 of 50 answers could be read; 50 end inside their reasoning: raise -M max_tokens"]


def test_many_marks_take_time_in_proportion() -> None:
    assert takes_less(lambda: without_tokens("x<think>y</think>" * 60_000), 2)
