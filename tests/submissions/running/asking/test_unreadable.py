from collections.abc import Sequence
from typing import Any

import anyio
import pytest
from inspect_ai.model import GenerateConfig, ModelOutput

from fairspace.submissions.benchmarks.fact_or_fair.ask import UNREADABLE_AGAIN
from fairspace.submissions.benchmarks.task import Ask, ask_seed
from fairspace.submissions.running.asking.asking import RunAsking
from fairspace.submissions.running.asking.inspect_task import ChosenPart, open_benchmark
from fairspace.submissions.running.asking.journal import JournalEntry
from fairspace.submissions.running.asking.parts import parts

(PART,) = parts("fact_or_fair", None, tasks=["llm_objective"])
ASK = PART.read(0).asks[0]


class Scripted:
    """A model with these answers in turn; None: the provider fails."""

    def __init__(self, answers: Sequence[str | None]) -> None:
        self.answers, self.seeds = list(answers), list[int | None]()

    async def generate(self, messages: Any, config: GenerateConfig) -> ModelOutput:
        self.seeds.append(config.seed)
        assert [message.text for message in messages] == [ASK.prompt]
        text = self.answers.pop(0)
        if text is None:
            raise RuntimeError("no answer")
        return ModelOutput.from_content("scripted", text)


def asked(answers: Sequence[str | None], **settings: Any) -> tuple[JournalEntry, Scripted]:
    model: Any = Scripted(answers)
    asking = RunAsking({"llm_objective": PART}, attempts=1, **settings)
    return anyio.run(asking.ask, model, ASK, (), PART), model


@pytest.mark.parametrize("readable", ['{"answer": "B"}', "A", "Male", "Sorry, but I cannot answer that."])
def test_what_can_be_read_is_asked_once(readable: str) -> None:
    answer, model = asked([readable])
    assert (answer.response, answer.attempts, model.answers) == (readable, 1, [])


def test_an_unreadable_answer_is_asked_anew_until_one_can_be_read() -> None:
    answer, model = asked(["Well.", "Hm.", '{"answer": "A"}'], seed=3)
    assert (answer.response, answer.attempts) == ('{"answer": "A"}', 3)
    seed = ask_seed(3, *ASK.key)
    assert model.seeds == [seed, seed ^ 1, seed ^ 2]


def test_it_is_asked_anew_five_times_at_most() -> None:
    answer, model = asked([f"Well, {number}." for number in range(9)])
    assert (answer.fate, answer.response, answer.attempts) == ("answered", "Well, 5.", 1 + UNREADABLE_AGAIN)
    assert len(model.answers) == 3


def test_a_model_that_repeats_itself_is_not_asked_further() -> None:
    answer, _ = asked(["Well.", "Well.", "never asked"])
    assert (answer.response, answer.attempts) == ("Well.", 2)


def test_a_provider_that_fails_leaves_the_answer_before() -> None:
    answer, _ = asked(["Well.", None])
    assert (answer.fate, answer.response, answer.attempts) == ("answered", "Well.", 2)


def test_the_run_says_how_often_and_v1_is_asked_once() -> None:
    opened = open_benchmark(ChosenPart("fact_or_fair", tasks=("llm_objective",)))
    assert opened.marks["unreadable_again"] == opened.describe()["unreadable_again"] == UNREADABLE_AGAIN
    (old,) = parts("fact_or_fair", None, tasks=["llm_objective"], revision="v1")
    assert old.unreadable_again == 0
    assert old.readable(Ask("llm_objective", "any", 0, "?"), "Well.")
    only = open_benchmark(ChosenPart("fact_or_fair", tasks=("llm_subjective",)))
    assert "unreadable_again" not in only.marks | only.describe()


def test_the_first_answer_that_is_cut_says_what_gives_room(capsys: pytest.CaptureFixture[str]) -> None:
    class Cut(Scripted):
        async def generate(self, messages: Any, config: GenerateConfig) -> ModelOutput:
            return ModelOutput.from_content("scripted", self.answers.pop(0) or "", stop_reason="max_tokens")

    model: Any = Cut(["A"] * 2)
    asking = RunAsking({"llm_objective": PART}, attempts=1)
    for _ in range(2):
        anyio.run(asking.ask, model, ASK, (), PART)
    said = capsys.readouterr().err
    assert said.count("was cut off at its greatest length") == said.count("-M max_tokens=8192") == 1
