import hashlib
import json
import math
import re
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from fairspace.ares.annotating.source import contents, list_entries, open_source
from fairspace.builders.engine.tools import ImagePrompt
from fairspace.builders.iris.groups import GROUPS, OCCUPATIONS
from fairspace.submissions.benchmarks.iris.records import NEUTRAL, STEER
from fairspace.submissions.benchmarks.task import Ask, ask_seed
from fairspace.submissions.checking.submission import check_submission
from fairspace.submissions.errors import RunError, UsageError
from fairspace.submissions.format.schema import ANNOTATIONS
from fairspace.submissions.running.asking.inspect_task import ChosenPart
from fairspace.submissions.running.asking.models import ModelSettings
from fairspace.submissions.running.images.generating import _public_name, _steer_plan, _why_no_steer, generate
from fairspace.submissions.running.images.made import GeneratedImage, ImageModel, checked, failed, refused
from fairspace.submissions.running.images.making import ImageReport, make_images
from fairspace.submissions.running.images.models import open_image_model
from fairspace.submissions.running.settings import RunSettings, RunSteps
from tests.submissions.running.images import killed as images_killed
from tests.submissions.running.images import painter as images_painter
from tests.submissions.running.images.painter import picture, plan

ROOT = Path(__file__).parents[4]
PAINT = f"python:{images_painter.FILE}:paint"


@dataclass
class Toy(ImageModel):
    """A model that refuses or fails where a prompt says so, and that nobody hears after some calls."""

    name: str = "toy"
    revision: str = "1"
    engine: str = "toy"
    engine_version: str = "1"
    batch: int = 1
    concurrency: int = 1
    chosen: Mapping[str, Any] = field(default_factory=dict)
    heard: float = math.inf
    asked: list[list[ImagePrompt]] = field(default_factory=list)
    lock: Any = field(default_factory=threading.Lock)

    def settings(self) -> Mapping[str, Any]:
        return self.chosen

    def make(self, prompts: Sequence[ImagePrompt]) -> list[GeneratedImage]:
        with self.lock:
            is_heard = len(self.asked) < self.heard
            self.asked.append(list(prompts))
        return [self._made(prompt) if is_heard else failed("nobody is there") for prompt in prompts]

    def images(self, prompts: Sequence[ImagePrompt]) -> list[GeneratedImage]:
        return self.make(prompts)

    def _made(self, prompt: ImagePrompt) -> GeneratedImage:
        if prompt.text.startswith("fail"):
            return failed("nobody is there")
        return refused("not that") if prompt.text.startswith("refuse") else checked(picture(prompt))


def made(asks: Sequence[Ask], folder: Path, model: Any = None, **more: Any) -> ImageReport:
    return make_images(asks, model or Toy(), folder, seed=7, **more)


def rows(folder: Path) -> list[dict[str, Any]]:
    return [row for shard in sorted((folder / "shards").iterdir()) for row in pq.read_table(shard).to_pylist()]


def shards(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in (folder / "shards").iterdir()}


def test_shards_hold_every_image_in_the_order_of_the_plan(tmp_path: Path) -> None:
    asks = plan(130, refused=[2, 80])
    report = made(asks, tmp_path)
    assert report.fates == {"answered": 128, "refused": 2, "failed": 0}
    assert [file.name for file in report.shards] == [f"images-{n:05}-of-00003.parquet" for n in range(3)]
    found = rows(tmp_path)
    assert [(row["task"], row["id"], row["sample"]) for row in found] == [ask.key for ask in asks]
    for place, (row, ask) in enumerate(zip(found, asks, strict=True)):
        image = row["image"]
        if place in (2, 80):
            assert image is None
            assert row["sha256"] == hashlib.sha256(b"").hexdigest()
        else:
            assert image["bytes"] == checked(picture(ImagePrompt("", ask_seed(7, *ask.key)))).image
            assert row["sha256"] == hashlib.sha256(image["bytes"]).hexdigest()
            assert image["path"] == f"{ask.task}/{ask.id}/{ask.sample}.png"
    assert report.reasons == {"refused: not that": 2}


def test_a_submission_may_hold_the_shards_as_they_are_and_ares_sees_refusals(tmp_path: Path) -> None:
    word = {1: "refuse", 64: "fail", 65: "fail"}
    asks = [
        Ask("generation_neutral", f"neutral/{name}", sample, word.get(sample, "paint"))
        for name in ("nurse", "teacher")
        for sample in range(66 if name == "teacher" else 64)
    ]
    report = made(asks, tmp_path)
    assert pq.read_table(report.shards[2]).num_rows == 0
    about: dict[str, Any] = dict.fromkeys(("model", "revision", "organisation", "licence", "contact"), "x")
    about |= {"format": 1, "benchmark": "iris", "dataset_revision": "v1", "generation": {"seed": 7}}
    (tmp_path / "shards" / "submission.json").write_text(json.dumps(about))
    checked = check_submission(tmp_path / "shards", allow_images=True)
    assert not checked.faults
    assert checked.submission is not None
    assert checked.submission.images is not None
    assert checked.submission.images.num_rows == 128
    source = open_source(tmp_path / "shards")
    found = list(list_entries(source))
    missing = [entry.sample for entry, image in zip(found, contents(source, found), strict=True) if image is None]
    assert missing == [1, 1]


@pytest.mark.process
@pytest.mark.parametrize("model", [PAINT, f"{PAINT}?batch=4"])
def test_killed_again_and_again_the_result_has_the_bytes_of_an_unbroken_run(tmp_path: Path, model: str) -> None:
    # 128: all fates of the first slice are there, and the shard is not; then 1: the shard is, and is not entered.
    count = 150
    points = [0, 1, 128, 0, 0, 1, 2, *Random(model).sample(range(2, 24), 4)]
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    command = [sys.executable, "-m", "tests.submissions.running.images.killed", killed, model, str(count)]
    subprocess.run([*map(str, command), *map(str, points)], cwd=ROOT, check=True, timeout=600)
    asks = plan(count, refused=images_killed.REFUSED, failed=images_killed.FAILED)
    report = made(asks, whole, open_image_model(model))
    assert shards(killed) == shards(whole)
    spoiled = 2 if model == PAINT else 8
    assert report.fates["failed"] == spoiled
    assert len(rows(whole)) == count - spoiled


def test_a_complete_run_asks_nothing_and_a_stopped_one_only_the_rest(tmp_path: Path) -> None:
    class StoppedError(Exception):
        pass

    class Stopping(Toy):
        def make(self, prompts: Sequence[ImagePrompt]) -> list[GeneratedImage]:
            if len(self.asked) == 70:
                raise StoppedError
            return super().make(prompts)

    asks = plan(100)
    with pytest.raises(StoppedError):
        made(asks, tmp_path, Stopping())
    again = Toy()
    made(asks, tmp_path, again)
    assert len(again.asked) == 30
    nothing = Toy()
    assert made(asks, tmp_path, nothing).fates["answered"] == 100
    assert nothing.asked == []


def test_a_batch_that_is_not_complete_and_a_slice_whose_shard_is_gone_are_made_again_whole(tmp_path: Path) -> None:
    asks = plan(70)
    with pytest.raises(RunError, match="MODEL_SILENT"):
        made(asks, tmp_path, Toy(batch=4, heard=17), silent_after=1)
    before = shards(tmp_path)
    (tmp_path / "shards" / "images-00000-of-00002.parquet").unlink()
    model = Toy(batch=4)
    made(asks, tmp_path, model)
    assert [len(call) for call in model.asked] == [4] * 16 + [2]
    assert before.items() <= shards(tmp_path).items()


@pytest.mark.parametrize(
    ("what", "change"),
    [
        ("settings", {"model": Toy(chosen={"steps": 2})}),
        ("revision", {"model": Toy(revision="2")}),
        ("batch", {"model": Toy(batch=2)}),
        ("engine_version", {"model": Toy(engine_version="2")}),
        ("plan", {"asks": plan(9)}),
        ("plan", {"asks": plan(10)[::-1]}),
        ("seed", {"seed": 8}),
    ],
)
def test_another_run_does_not_go_on_in_the_folder(tmp_path: Path, what: str, change: Mapping[str, Any]) -> None:
    made(plan(10), tmp_path)
    given = {"asks": plan(10), "model": Toy(), "seed": 7, **change}
    with pytest.raises(RunError, match=rf"RUN_OTHER.*(images|{what}) .*and now"):
        make_images(given["asks"], given["model"], tmp_path, seed=given["seed"])


def test_images_of_an_earlier_version_are_neither_taken_nor_made_again(tmp_path: Path) -> None:
    (tmp_path / "made.sqlite").touch()
    with pytest.raises(RunError, match=r"RUN_OTHER.*images 'of an earlier version', and now 3"):
        made(plan(3), tmp_path)


def test_one_process_at_a_time_makes_images_in_a_folder(tmp_path: Path) -> None:
    class Twice(Toy):
        def make(self, prompts: Sequence[ImagePrompt]) -> list[GeneratedImage]:
            with pytest.raises(RunError, match="RUN_IN_USE"):
                make_images(plan(1), Toy(), tmp_path, seed=7)
            return super().make(prompts)

    assert made(plan(1), tmp_path, Twice()).fates["answered"] == 1


def test_what_failed_is_missing_and_counted_and_no_refusal(tmp_path: Path) -> None:
    asks = plan(70, refused=[1], failed=[0, 3, 68])
    report = made(asks, tmp_path)
    assert report.fates == {"answered": 66, "refused": 1, "failed": 3}
    assert report.reasons == {"failed: nobody is there": 3, "refused: not that": 1}
    keys = [(row["task"], row["id"], row["sample"]) for row in rows(tmp_path)]
    assert keys == [ask.key for place, ask in enumerate(asks) if place not in (0, 3, 68)]
    quiet = Toy()
    assert made(asks, tmp_path, quiet).fates["failed"] == 3
    assert quiet.asked == []


def test_what_failed_can_be_asked_again_and_fills_its_place(tmp_path: Path) -> None:
    class Healed(Toy):
        def _made(self, prompt: ImagePrompt) -> GeneratedImage:
            return super()._made(ImagePrompt(prompt.text.replace("fail", "paint"), prompt.seed))

    asks = plan(70, refused=[1], failed=[0, 3, 68])
    made(asks, tmp_path)
    with pytest.raises(RunError, match="MODEL_SILENT"):
        made(asks, tmp_path, Toy(heard=0), retry_failed=True, silent_after=3)
    healed = Healed()
    report = made(asks, tmp_path, healed, retry_failed=True)
    assert len(healed.asked) == 3
    assert report.fates == {"answered": 69, "refused": 1, "failed": 0}
    assert report.reasons == {"refused: not that": 1}
    whole = tmp_path / "whole"
    made(asks, whole, Healed())
    assert shards(whole) == shards(tmp_path)


@pytest.mark.parametrize("concurrency", [1, 4])
def test_a_silent_model_ends_the_run_and_fails_at_nothing(tmp_path: Path, concurrency: int) -> None:
    asks = plan(100)
    dying = Toy(concurrency=concurrency, heard=30)
    with pytest.raises(RunError, match=r"MODEL_SILENT.*20 calls in a row.*nobody is there"):
        made(asks, tmp_path, dying)
    assert 50 <= len(dying.asked) <= 50 + 2 * concurrency
    well = Toy()
    assert made(asks, tmp_path, well).fates == {"answered": 100, "refused": 0, "failed": 0}
    assert len(well.asked) == 70


def test_a_model_that_never_answered_a_short_plan_is_silent_too(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"MODEL_SILENT.*5 calls"):
        made(plan(5), tmp_path, Toy(heard=0))
    assert made(plan(5), tmp_path).fates["answered"] == 5


@pytest.mark.parametrize(("batch", "concurrency"), [(1, 8), (4, 1), (3, 5), (64, 2), (100, 1)])
def test_neither_batch_nor_concurrency_changes_a_shard(tmp_path: Path, batch: int, concurrency: int) -> None:
    asks = plan(200, refused=[0, 64, 199])
    made(asks, tmp_path / "one")
    made(asks, tmp_path / "many", Toy(batch=batch, concurrency=concurrency))
    assert shards(tmp_path / "one") == shards(tmp_path / "many")


def test_a_model_that_answers_with_too_few_images_is_wrong(tmp_path: Path) -> None:
    class Few(Toy):
        def make(self, prompts: Sequence[ImagePrompt]) -> list[GeneratedImage]:
            return super().make(prompts)[1:]

    with pytest.raises(RunError, match="MODEL_OUTPUT at toy: 0 answers to 1 prompts"):
        made(plan(3), tmp_path, Few())


def test_a_plan_has_each_image_once(tmp_path: Path) -> None:
    for wrong in ([], [*plan(3), *plan(1)]):
        with pytest.raises(ValueError, match="each once"):
            made(wrong, tmp_path)


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
    with pytest.raises(RunError, match=r"MODEL_SILENT.*20 calls in a row"):
        made(asks, tmp_path, Toy(heard=30))
    again = Toy()
    assert made(asks, tmp_path, again).fates == {"answered": 30, "refused": 0, "failed": 60}
    assert [prompt.text for call in again.asked for prompt in call].count("paint 0") == 3


@pytest.mark.parametrize("batch", [1, 4])
def test_an_outage_at_the_end_is_no_failure(tmp_path: Path, batch: int) -> None:
    asks = plan(60)
    with pytest.raises(RunError, match=r"MODEL_SILENT at toy: \d+ calls in a row.*nobody is there"):
        made(asks, tmp_path, Toy(batch=batch, heard=45 // batch))
    assert made(asks, tmp_path, Toy(batch=batch)).fates == {"answered": 60, "refused": 0, "failed": 0}


def settings(out: Path, tasks: tuple[str, ...], **more: Any) -> RunSettings:
    chosen = ChosenPart("iris" if any("generation" in task for task in tasks) else "fact_or_fair", "", tasks, 2)
    return RunSettings(chosen, out, **{"images": PAINT, **more})


def generated(chosen: RunSettings) -> RunSteps:
    found = RunSteps()
    generate(chosen, chosen.out.with_name("mine.run"), found, lambda what, done, total: None)
    return found


def test_a_stage_of_images_has_the_times_of_its_first_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = settings(tmp_path / "mine", ("t2i_objective",))
    times = [f"2026-01-01T00:00:{second:02}Z" for second in range(10, 40)]
    monkeypatch.setattr("fairspace.submissions.running.images.making.now", lambda: times.pop(0))
    (first,) = generated(chosen).stages
    assert (first.model, first.engine, first.settings["strokes"]) == ("painter:paint", "callable", 3)
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
    work, found = tmp_path / "mine.run", RunSteps(tables={"annotations": ANNOTATIONS.empty_table()})
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
