"""Image runs that meet failures in a row, outages and foreign texts, and that are started or made again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from builders.tools import Prompt
from submissions.faults import UsageError
from submissions.running.asks import Ask
from submissions.running.errors import RunError
from submissions.running.image_made import Made, failed
from submissions.running.images import remake
from tests.submissions.running.images_painter import plan
from tests.submissions.running.test_images import Toy, made


def lying_together(*words: str, samples: int = 30) -> list[Ask]:
    """All images of a prompt one after another, as plans have them."""
    return [
        Ask("generation_neutral", f"neutral/{place}", sample, f"{word} {place}")
        for place, word in enumerate(words)
        for sample in range(samples)
    ]


class Leaving(Toy):
    """A model that answers so many calls and then none."""

    stays = 0

    def make(self, prompts: Sequence[Prompt]) -> list[Made]:
        self.deaf = len(self.asked) >= self.stays
        return super().make(prompts)


@pytest.mark.parametrize("concurrency", [1, 4])
@pytest.mark.parametrize(
    "words", [("paint", "fail", "paint"), ("fail", "paint"), ("paint", "fail"), ("fail", "refuse")]
)
def test_a_prompt_that_fails_at_all_its_images_ends_no_run(
    tmp_path: Path, words: tuple[str, ...], concurrency: int
) -> None:
    report = made(lying_together(*words), tmp_path, Toy(concurrency=concurrency))
    assert (report.failed, report.images) == (30, 30 * len(words))


def test_a_run_that_goes_on_knows_what_was_answered_before(tmp_path: Path) -> None:
    asks = lying_together("paint", "fail", "fail")
    first = Leaving()
    first.stays = 30
    with pytest.raises(RunError, match=r"MODEL_SILENT.*20 calls in a row"):
        made(asks, tmp_path, first)
    again = Toy()
    assert made(asks, tmp_path, again).fates() == {"answered": 30, "refused": 0, "failed": 60}
    assert [prompt.text for call in again.asked for prompt in call].count("paint 0") == 3


@pytest.mark.parametrize("batch", [1, 4])
def test_an_outage_at_the_end_is_no_failure(tmp_path: Path, batch: int) -> None:
    asks = plan(60)
    leaving = Leaving(batch=batch)
    leaving.stays = 45 // batch
    with pytest.raises(RunError, match=r"MODEL_SILENT at toy: \d+ calls in a row.*nobody is there"):
        made(asks, tmp_path, leaving)
    assert made(asks, tmp_path, Toy(batch=batch)).fates() == {"answered": 60, "refused": 0, "failed": 0}


def test_a_reason_steers_no_terminal() -> None:
    assert failed("a\x1b[2Jb\x07\u202ec\n\ud800d").reason == "a [2Jb c d"


@pytest.mark.parametrize("scheme", ["python:{}/evil.py:make", "endpoint:https://evil.example/v1#m"])
def test_what_a_folder_names_is_neither_run_nor_asked(tmp_path: Path, scheme: str) -> None:
    """The folder may be of other people, who name what they like in it."""
    asks = plan(5)
    made(asks, tmp_path / "run")
    (tmp_path / "evil.py").write_text(f"open({str(tmp_path / 'was_here')!r}, 'w')\ndef make(prompts): ...\n")
    file = tmp_path / "run" / "run.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"named": scheme.format(tmp_path)}))
    with pytest.raises(UsageError, match="Name the model with --images"):
        remake(tmp_path / "run", *asks[0].key)
    with pytest.raises(RunError, match="RUN_OTHER"):
        remake(tmp_path / "run", *asks[0].key, images="python:mine:make")
    assert not (tmp_path / "was_here").exists()
