"""A probe: few requests at random, in bounded time, and what their answers say of a whole run."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from fairspace.submissions.running.asking.inspect_task import Chosen, Opened, open_benchmark
from fairspace.submissions.running.asking.journal import Answer
from fairspace.submissions.running.asking.models import ModelSettings
from fairspace.submissions.running.errors import RunError
from fairspace.submissions.running.planning.lines import SECONDS_HERE
from fairspace.submissions.running.planning.plan import PlanSettings, plan
from fairspace.submissions.running.planning.probe import probe
from fairspace.submissions.running.planning.tokens import Span
from fairspace.submissions.running.planning.tried import Readable, Reply, mean_span, tried
from tests.submissions.running.planning.test_plan import printed

CORE = Chosen("fact_or_fair", dataset_revision="v2-core")


@pytest.fixture(scope="module")
def core() -> Opened:
    return open_benchmark(CORE)


def model(folder: Path, body: str) -> ModelSettings:
    (folder / "mine.py").write_text(f"import time\n\n\ndef answer(prompt, images):\n    {body}\n", encoding="utf-8")
    return ModelSettings(f"python/{folder / 'mine.py'}:answer")


def test_a_mean_has_the_interval_of_student_and_of_a_finite_population() -> None:
    """Two numbers of four: mean 2, variance 2, t of one degree of freedom 12.706, half of the population seen."""
    span = mean_span([1.0, 3.0], 4)
    assert span.usual == 2
    assert span.most == pytest.approx(2 + 12.7062 * math.sqrt(2 / 2 * (1 - 2 / 4)), rel=1e-4)
    assert span.low == 1, "none is shorter than the shortest that was seen"
    weighted = mean_span([1.0, 5.0], 4, [3, 1])
    assert weighted.usual == 2, "a text that three requests share counts three times"
    assert weighted.most == pytest.approx(2 + 12.7062 * math.sqrt((1.5**2 + 1.5**2) / 2 * (1 - 2 / 4)), rel=1e-4)
    assert mean_span([1.0, 3.0, 5.0], 3) == Span(3.0, 3.0, 3.0), "all of them"


def test_its_interval_holds_the_mean_of_lengths_that_vary() -> None:
    lengths = np.random.default_rng(5).gamma(2.0, 30.0, size=500)
    draws = np.random.default_rng(6)
    spans = [mean_span([*map(float, draws.choice(lengths, 20, replace=False))], 500) for _ in range(400)]
    assert 0.90 <= np.mean([span.low <= lengths.mean() <= span.most for span in spans]) <= 0.98


def test_a_probe_without_time_asks_two_requests_of_each_task(core: Opened, tmp_path: Path) -> None:
    found = probe(core, model(tmp_path, 'return "A" if "four" in prompt or "one letter" in prompt else "no idea"'), 0)
    assert {task: one.answers for task, one in found.items()} == {"llm_objective": 2, "llm_subjective": 2}
    objective, subjective = (found[task].readable for task in ("llm_objective", "llm_subjective"))
    assert objective is not None
    assert (objective.share, objective.of) == (0, 2)
    assert objective.high == pytest.approx(1 - 0.025 ** (1 / 2))
    assert subjective is not None
    assert (subjective.share, subjective.of, subjective.high) == (1, 2, 1)
    assert subjective.low == pytest.approx(0.025 ** (1 / 2))


def test_a_probe_ends_with_its_time(core: Opened, tmp_path: Path) -> None:
    found = probe(core, model(tmp_path, 'return time.sleep(0.1) or "A"'), 1.0)
    for one in found.values():
        assert 2 <= one.answers <= 6, "half a second of tenths of a second"
        assert one.seconds.usual >= 0.1


def test_texts_that_are_answered_once_are_tried_once(tmp_path: Path) -> None:
    language = open_benchmark(Chosen("stereotypical_bias", text_only=True, limit=300))
    part, places = language.parts["language_gender"], language.positions["language_gender"]
    prompts = [ask.prompt for place in places for ask in part.read(place).asks]
    found = probe(language, model(tmp_path, 'return "A woman." if "car" in prompt else "Both."'), 30, once=True)
    gender = found["language_gender"]
    assert gender.answers == len(set(prompts)) == 20
    assert gender.seconds.low == gender.seconds.most, "all of them were asked"
    assert gender.readable is not None
    share = sum("car" in prompt for prompt in prompts) / len(prompts)
    assert gender.readable.low == gender.readable.high == pytest.approx(share, abs=1e-4), "of the requests"


def test_a_model_that_is_silent_has_no_plan(core: Opened, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="MODEL_SILENT"):
        probe(core, model(tmp_path, 'raise ValueError("broken")'), 0)


def test_time_and_tokens_follow_from_the_answers_that_were_tried(core: Opened) -> None:
    ask = core.parts["llm_objective"].read(0).asks[0]
    answers = [Answer("llm_objective", "a", 0, "answered", "A", "", "stop", 1, 100, n, n / 2) for n in (10, 30)]
    seen = tried([Reply(answer, [ask]) for answer in answers], 198, 10.0, Readable(0.5, 2, 0.01, 0.99))
    assert (seen.input, seen.output.usual, seen.seconds.usual) == (Span(100, 100, 100), 20, 5)
    planned = plan(core, PlanSettings("local/m", tried={"llm_objective": seen}))
    objective, subjective = planned.lines
    assert objective.input == Span(19800, 19800, 19800)
    assert objective.output.usual == 20 * 198
    assert objective.hours.usual * 3600 == pytest.approx(198 * (5 + SECONDS_HERE))
    assert objective.hours.low * 3600 == pytest.approx(198 * (2.5 + SECONDS_HERE)), "none was faster than 5 / 2 s"
    assert subjective.hours.least is None, "what was not tried is assumed"
    assert planned.to_json()["readable"] == {"llm_objective": {"share": 0.5, "of": 2, "low": 0.01, "high": 0.99}}
    words = " ".join(printed(planned).split())
    assert "Readable, with the 95 % interval of all: llm_objective 50% of 2 (1% to 99%)." in words
    assert "asks a few for all of this" in words, "of the other task"
