import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fairspace.builders.iris.groups import GROUPS, OCCUPATIONS
from fairspace.submissions.benchmarks.iris.records import NEUTRAL, STEER
from fairspace.submissions.benchmarks.task import Ask
from fairspace.submissions.errors import RunError, UsageError
from fairspace.submissions.format.schema import ANNOTATIONS
from fairspace.submissions.running.asking.inspect_task import ChosenPart
from fairspace.submissions.running.asking.models import ModelSettings
from fairspace.submissions.running.images.generating import _public_name, _steer_plan, _why_no_steer, generate
from fairspace.submissions.running.images.made import failed
from fairspace.submissions.running.settings import RunSettings
from fairspace.submissions.running.settings import RunSteps as Gathered
from tests.submissions.running.images.painter import plan
from tests.submissions.running.images.test_making import PAINT, Leaving, Toy, made


def lying_together(*words: str, samples: int = 30) -> list[Ask]:
    return [
        Ask("generation_neutral", f"neutral/{place}", sample, f"{word} {place}")
        for place, word in enumerate(words)
        for sample in range(samples)
    ]


@pytest.mark.parametrize("concurrency", [1, 4])
@pytest.mark.parametrize(
    "words", [("paint", "fail", "paint"), ("fail", "paint"), ("paint", "fail"), ("fail", "refuse")]
)
def test_a_prompt_that_fails_at_all_its_images_ends_no_run(
    tmp_path: Path, words: tuple[str, ...], concurrency: int
) -> None:
    report = made(lying_together(*words), tmp_path, Toy(concurrency=concurrency))
    assert (report.fates["failed"], sum(report.fates.values())) == (30, 30 * len(words))


def test_a_run_that_goes_on_knows_what_was_answered_before(tmp_path: Path) -> None:
    asks = lying_together("paint", "fail", "fail")
    first = Leaving()
    first.stays = 30
    with pytest.raises(RunError, match=r"MODEL_SILENT.*20 calls in a row"):
        made(asks, tmp_path, first)
    again = Toy()
    assert made(asks, tmp_path, again).fates == {"answered": 30, "refused": 0, "failed": 60}
    assert [prompt.text for call in again.asked for prompt in call].count("paint 0") == 3


@pytest.mark.parametrize("batch", [1, 4])
def test_an_outage_at_the_end_is_no_failure(tmp_path: Path, batch: int) -> None:
    asks = plan(60)
    leaving = Leaving(batch=batch)
    leaving.stays = 45 // batch
    with pytest.raises(RunError, match=r"MODEL_SILENT at toy: \d+ calls in a row.*nobody is there"):
        made(asks, tmp_path, leaving)
    assert made(asks, tmp_path, Toy(batch=batch)).fates == {"answered": 60, "refused": 0, "failed": 0}


def test_a_reason_steers_no_terminal() -> None:
    assert failed("a\x1b[2Jb\x07\u202ec\n\ud800d").reason == "a [2Jb c ?d"


def settings(out: Path, tasks: tuple[str, ...], **more: Any) -> RunSettings:
    chosen = ChosenPart("iris" if any("generation" in task for task in tasks) else "fact_or_fair", "", tasks, 2)
    return RunSettings(chosen, out, **{"images": PAINT, **more})


def generated(chosen: RunSettings) -> Gathered:
    found = Gathered()
    generate(chosen, chosen.out.with_name("mine.run"), found, lambda what, done, total: None)
    return found


def test_a_stage_of_images_has_the_times_of_its_first_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = settings(tmp_path / "mine", ("t2i_objective",))
    times = [f"2026-01-01T00:00:{second:02}Z" for second in range(10, 40)]
    monkeypatch.setattr("fairspace.submissions.running.images.making.now", lambda: times.pop(0))
    (first,) = generated(chosen).stages
    for later in (chosen, replace(chosen, again=True)):
        (second,) = generated(later).stages
        assert (second.started, second.ended) == (first.started, first.ended)
    assert first.started < first.ended


def test_the_board_calls_a_model_of_images_by_its_own_name(tmp_path: Path) -> None:
    assert generated(settings(tmp_path / "mine", ("t2i_objective",))).name == "painter:paint"
    assert _public_name(Toy(name="owner/folder/sd", engine="diffusers")) == "sd"
    assert _public_name(Toy(name="owner/gpt-image-1", engine="openai")) == "owner/gpt-image-1"


@pytest.fixture
def steered(tmp_path: Path) -> Path:
    folder = tmp_path / "mine.run" / "images" / STEER
    made([Ask(STEER, "steer/x/y/male", 0, "x")], folder)
    return folder


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({}, r"name generation_neutral \(--tasks\) and what labels them \(--labeller\)"),
        ({"ares": "a"}, r"name generation_neutral \(--tasks\)\."),
    ],
)
def test_steer_images_stay_where_nothing_is_decided(
    steered: Path, tmp_path: Path, more: Mapping[str, str], said: str
) -> None:
    chosen = settings(tmp_path / "mine", (STEER,), model=ModelSettings("openai/m"), **more)
    (note,) = generated(chosen).notes
    assert re.search(said, note)
    with pytest.raises(UsageError, match=said):
        generated(replace(chosen, model=None))
    assert [folder.name for folder in steered.parent.iterdir()] == [STEER]


def test_steer_images_of_other_prompts_are_set_aside_and_it_is_said(
    steered: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = settings(tmp_path / "mine", (NEUTRAL, STEER), ares="a")
    work, found = tmp_path / "mine.run", Gathered(tables={"annotations": ANNOTATIONS.empty_table()})
    counts = np.zeros((len(OCCUPATIONS), len(GROUPS)), int)
    monkeypatch.setattr(
        "fairspace.submissions.running.images.generating.neutral_group_counts", lambda submission: counts
    )
    assert _steer_plan(chosen, Toy(), work, found) is None
    assert "none of the neutral images has all three labels" in _why_no_steer(chosen)
    assert (steered.is_dir(), found.notes) == (True, [])
    counts += 1
    assert _steer_plan(chosen, Toy(), work, found)
    assert [folder.name for folder in steered.parent.iterdir()] == [f"{STEER}.1"]
    assert any("are kept in" in note for note in found.notes)
