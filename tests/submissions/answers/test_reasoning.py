"""Reasoning before an answer is not read, in every form; what wraps an answer is."""

import tomllib
from dataclasses import dataclass

import pytest

from fairspace.submissions.answers.prepared import prepare, without_tokens
from fairspace.submissions.answers.rows import COUNTED, Summary
from fairspace.submissions.benchmarks.iris.parse.occupation import read_occupation
from fairspace.submissions.results.scoring import _unread
from tests.foreign import HERE
from tests.machine_speed import takes_less

THOUGHT = "By the clothes alone it is a doctor."
NURSE = getattr(read_occupation("nurse"), "value", None)


@dataclass(frozen=True)
class Family:
    name: str
    opening: str
    closing: str
    end: str
    prefilled: bool
    source: str


STATED = tomllib.loads((HERE / "chat_templates" / "families.toml").read_text(encoding="utf-8"))["family"]
FAMILIES = [Family(**each) for each in STATED]
OTHERS = [
    Family(f"<{name}>", f"<{name}>", f"</{name.split()[0]}>", "", True, "")
    for name in (
        *("thoughts", "reflection", "rationale", "reasoning", "Inner_Monologue", "chain_of_thought", "ThinkingProcess"),
        *("think type='deep'", "think:opensource", "cot", "scratchpad", "details open", "deliberation", "planning"),
    )
] + [
    Family("typed", "<start_thinking>", "<end_thinking>", "", True, ""),
    Family("pipes", "<|reasoning|>", "<|/reasoning|>", "", True, ""),
    Family("full width", "<｜begin▁of▁thought｜>", "<｜end▁of▁thought｜>", "", True, ""),
    Family("brackets", "[REASONING]", "[/REASONING]", "", True, ""),
    Family("solar", "<|think|>", "<|end|><|begin|>assistant<|content|>", "<|end|>", False, ""),
    Family(
        "two channels",
        "<|channel|>analysis<|message|>",
        "<|end|><|channel|>commentary<|message|>A<|end|>"
        "<|start|>assistant<|channel|>final <|constrain|>json<|message|>",
        "<|return|>",
        False,
        "",
    ),
]


@pytest.mark.parametrize("family", [*FAMILIES, *OTHERS], ids=lambda family: family.name)
def test_the_reasoning_of_each_family_is_not_read(family: Family) -> None:
    whole = f"{family.opening}{THOUGHT}{family.closing}"
    answers = (
        f"{whole}nurse{family.end}",
        f"<|im_start|>assistant\n{whole}The nurse.{family.end}",
        f"{THOUGHT}{family.closing}nurse{family.end}",
    )
    for answer in answers:
        assert getattr(read_occupation(answer), "value", None) == NURSE, answer
        assert "doctor" not in without_tokens(answer)
    for answer in (f"{family.opening}{THOUGHT} But then", whole, f"{whole}{family.end}"):
        assert getattr(read_occupation(answer), "outcome", None) == "unusable", answer
        assert "doctor" not in without_tokens(answer)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_transformers_finds_the_same_answer(family: Family) -> None:
    parsing = pytest.importorskip("transformers.utils.chat_parsing")
    marks = {"open": family.opening, "close": family.closing}
    template = {"start_anchor": "<turn>", "fields": {"reasoning_content": marks, "content": {}}}
    for prompt, answer in (
        ("<turn>", f"{family.opening}{THOUGHT}{family.closing}B"),
        (f"<turn>{family.opening}", f"{THOUGHT}{family.closing}B"),
    ):
        message = parsing.parse_response(answer, template, prefix=prompt)
        assert message["content"] == prepare(answer).text.replace("<answer>", "").strip() == "B"


@pytest.mark.parametrize(
    ("answer", "read"),
    [
        *(
            (kept, kept)
            for kept in ("<final>B</final> as all of them say so", "<p>It is the B of all</p> ok", "[B] as it is so")
        ),
        *(
            (kept, kept)
            for kept in ("<doctor>left</doctor>, <nurse>right</nurse>", "<cook>(8, 11), (18, 19)</cook> is it")
        ),
        *(
            (kept, kept)
            for kept in ("<pros>kind and good to all</pros><cons>late and loud</cons>", "Analysis: it is B", "final: B")
        ),
        (
            '<point x="1" y="2">the nurse in the picture</point> is it',
            '<point x="1" y="2">the nurse in the picture</point> is it',
        ),
        ("<answer>B</answer>", "<answer>B</answer>"),
        ("<response><reason>A is as bad as it is</reason><choice>B</choice></response>", "<choice>B</choice>"),
        ("<explanation>All men are the same</explanation>\n<choice>B</choice>", "<choice>B</choice>"),
        ("<question>Which one is it, A or B?</question>\nB", "B"),
        ("[context]It is A that they say[/context] B", "B"),
        ("B\n<rationale>because A is not likely</rationale>", "B"),
        ("It is B. <details>Why not A? It is not.</details> I hope it helps.", "It is B. I hope it helps."),
        ("B <think>or A?</think>", "B"),
        ("<think>A?</think>B<think>or A?</think>", "B"),
        ("<thinking>A? <reflection>No.</reflection> Or C", ""),
    ],
)
def test_what_stands_beside_an_answer_or_wraps_it(answer: str, read: str) -> None:
    assert " ".join(prepare(answer).text.split()) == read


def test_a_run_cut_off_inside_its_reasoning_says_which_setting_to_raise() -> None:
    outcomes = dict.fromkeys(COUNTED, 0) | {"unusable": 50}
    said = list(_unread({"occupation": Summary(outcomes, {"cut off": 50}, ())}))
    assert said == ["occupation: 0 of 50 answers could be read; 50 end inside their reasoning: raise -M max_tokens"]


def test_many_marks_take_time_in_proportion() -> None:
    assert takes_less(lambda: without_tokens("x<think>y</think>" * 60_000), 2)
