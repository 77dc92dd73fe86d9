"""Runs in further forms: asked after the run, kept apart from its submission, never ranked, compared by value."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from fairspace.submissions.benchmarks.baselines import write_baseline
from fairspace.submissions.checking.submission import read_submission
from fairspace.submissions.errors import UsageError
from fairspace.submissions.results.forms import forms_folder, values_by_form
from fairspace.submissions.results.scoring import score_submission
from fairspace.submissions.running.asking.inspect_task import Chosen
from fairspace.submissions.running.asking.models import ModelSettings
from fairspace.submissions.running.forms import run_forms
from fairspace.submissions.running.run import run
from fairspace.submissions.running.settings import RunSettings
from tests.served.environment import served  # noqa: F401, a fixture

FORMS = ["reworded", "answer_first"]


@pytest.mark.slow  # three runs through Inspect, which takes seconds to import
@pytest.mark.usefixtures("served")
def test_a_run_in_all_forms(tmp_path: Path) -> None:
    model = ModelSettings("openai-api/served/served-text", connections=4)
    settings = RunSettings(Chosen("fact_or_fair", limit=3, seed=1), tmp_path / "mine", model=model, score=False)
    run(settings)
    before = {file.name: file.read_bytes() for file in (tmp_path / "mine").iterdir()}
    done = list(run_forms(settings))
    assert {file.name: file.read_bytes() for file in (tmp_path / "mine").iterdir()} == before
    assert [outcome.out for outcome in done] == [forms_folder(tmp_path / "mine") / form for form in FORMS]
    scored = read_submission(tmp_path / "mine")
    for form, outcome in zip(FORMS, done, strict=True):
        answers = read_submission(outcome.out)
        assert answers.meta.generation["form"] == form
        assert answers.tables["responses"]["id"].equals(scored.tables["responses"]["id"])
        assert outcome.stages[0].prompts != scored.manifest.stages[0].prompts  # type: ignore[union-attr]
        result = score_submission(answers, resamples=0).scored
        assert result.ranked is None
        assert f"asked in another form than the paper's ({form})" in result.unranked
    by_value = values_by_form(tmp_path / "mine")
    assert by_value
    assert all(next(iter(numbers)) == "paper" and set(numbers) <= {"paper", *FORMS} for numbers in by_value.values())


def handed_in(tmp_path: Path, form: str = "reworded", **changes: object) -> Path:
    """A baseline's answers in the paper's form, and those of another one in a further form."""
    mine = write_baseline("stereotyped", "fact_or_fair", tmp_path / "mine", revision="v2-core")
    other = write_baseline("balanced", "fact_or_fair", forms_folder(mine) / "reworded", revision="v2-core")
    data = json.loads((other / "submission.json").read_text()) | {"model": "baseline: stereotyped"}
    data["generation"] |= {"form": form}
    (other / "submission.json").write_text(json.dumps(data | changes))
    return mine


def test_values_are_compared_by_form(tmp_path: Path) -> None:
    by_value = values_by_form(handed_in(tmp_path))
    assert by_value["factuality_llm_objective_gender"] == {"paper": 1.0, "reworded": 1.0}
    fairness = by_value["fairness_llm_base_gender"]
    assert list(fairness) == ["paper", "reworded"]
    assert fairness["paper"] < fairness["reworded"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"model": "another"}, "are of model another, the others of baseline: stereotyped"),
        ({"form": "paper"}, "say that they are in the form paper"),
        ({"generation": {"seed": 0, "form": "reworded", "limit": 7}}, "another choice of stimuli"),
    ],
)
def test_answers_of_another_run_are_not_compared(tmp_path: Path, changes: dict[str, object], said: str) -> None:
    form = str(changes.pop("form", "reworded"))
    with pytest.raises(UsageError, match=said):
        values_by_form(handed_in(tmp_path, form, **changes))


def test_a_submission_without_forms_says_how_to_ask_them(tmp_path: Path) -> None:
    mine = write_baseline("constant", "fact_or_fair", tmp_path / "mine", revision="v2-core")
    with pytest.raises(UsageError, match="run it again with --forms"):
        values_by_form(mine)


def test_forms_need_questions(run: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    asked = ("run", "--benchmark", "fact_or_fair", "--forms")
    code, _, err = run(*asked, "--images", "endpoint:http://127.0.0.1:9/v1#m", "--out", tmp_path / "mine")
    assert (code, "--forms asks questions in other words" in err) == (2, True)
    code, _, err = run(*asked, "--dry-run")
    assert (code, "Leave out --forms" in err) == (2, True)
    assert not list(tmp_path.iterdir())
