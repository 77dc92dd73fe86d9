from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fairspace.submissions.benchmarks.benchmark import CLOSED
from fairspace.submissions.checking.submission import read_submission
from fairspace.submissions.results.scoring import score_submission
from fairspace.submissions.running.asking.inspect_task import Chosen
from fairspace.submissions.running.asking.models import ModelSettings
from fairspace.submissions.running.run import run, run_forms
from fairspace.submissions.running.settings import RunSettings
from tests.served.environment import served  # noqa: F401, a fixture

BENCH, TASK = "stereotypical_bias", "language_gender"


@pytest.mark.slow  # two runs through Inspect, which takes seconds to import
@pytest.mark.usefixtures("served")
def test_a_run_in_both_forms(tmp_path: Path) -> None:
    model = ModelSettings("openai-api/served/served-text", connections=4)
    chosen = Chosen(BENCH, tasks=(TASK,), limit=3, seed=1, text_only=True)
    settings = RunSettings(chosen, tmp_path / "mine", model=model)
    run(settings)
    before = {file.name: file.read_bytes() for file in (tmp_path / "mine").iterdir()}
    [done] = run_forms(settings)
    assert {file.name: file.read_bytes() for file in (tmp_path / "mine").iterdir()} == before
    assert done.out == tmp_path / "mine.forms" / CLOSED
    scored, answers = read_submission(tmp_path / "mine"), read_submission(done.out)
    assert answers.meta.generation["form"] == CLOSED
    assert answers.tables["responses"]["id"].equals(scored.tables["responses"]["id"])
    assert done.stages[0].prompts != scored.manifest.stages[0].prompts  # type: ignore[union-attr]
    result = score_submission(answers, resamples=0).scored
    assert result.ranked is None
    assert f"asked in another form than the paper's ({CLOSED})" in result.unranked


def test_forms_need_free_questions(run: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    asked = ("run", "--benchmark", "fact_or_fair", "--forms")
    code, _, err = run(*asked, "--model", "mockllm/model", "--out", tmp_path / "mine")
    assert (code, "--forms asks free questions in a closed form" in err) == (2, True)
    code, _, err = run(*asked, "--dry-run")
    assert (code, "Leave out --forms" in err) == (2, True)
    assert not list(tmp_path.iterdir())
