"""The form of the questions as a factor, and values form by form."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fairspace.submissions.benchmarks.baselines import write_baseline
from fairspace.submissions.checking.submission import read_submission
from fairspace.submissions.errors import UsageError
from fairspace.submissions.format.schema import Submission, Tool
from fairspace.submissions.results.forms import check_form, forms_folder
from fairspace.submissions.validity.components import components
from fairspace.submissions.validity.forms import Answers, form_report
from fairspace.submissions.validity.study import Factor, Floats, Study, over_forms
from fairspace.submissions.values import measured, not_run

Run = Callable[..., tuple[int, str, str]]
ITEMS = 12


def study(scores: Floats) -> Study:
    """Two samples of each of six topics, which their items alone tell apart."""
    item = np.arange(ITEMS)
    return Study("t", "", "v", scores, (Factor("topic", "prompt", item // 2),), "topic", items=item)


def shares(in_forms: dict[str, Floats]) -> dict[str, float]:
    joined = over_forms({form: study(scores) for form, scores in in_forms.items()})
    return {part.effect: part.share for part in components(joined).parts}


def test_scores_that_differ_by_form_alone_give_it_all_variance() -> None:
    found = shares({"paper": np.zeros(ITEMS), "reworded": np.ones(ITEMS), "answer_first": np.full(ITEMS, 4.0)})
    assert found == {"form": 1, "topic": 0, "form × topic": 0, "item in topic": 0, "within": 0}


def test_forms_that_change_nothing_have_no_share() -> None:
    same = np.random.default_rng(0).normal(0, 1, ITEMS)
    found = shares(dict.fromkeys(("paper", "reworded", "answer_first"), same))
    assert (found["form"], found["form × topic"], found["within"]) == (0, 0, 0)
    assert found["topic"] + found["item in topic"] == pytest.approx(1)


def test_shares_are_those_of_the_analysis_of_variance() -> None:
    rng = np.random.default_rng(1)
    scores = rng.normal(0, 1, (3, 1, 1)) + rng.normal(0, 1, (1, 6, 2)) + rng.normal(0, 1, (3, 6, 2))
    joined = over_forms({str(form): study(of.ravel()) for form, of in enumerate(scores)})
    parts = {part.effect: (part.variance, part.negative) for part in components(joined).parts}
    square = {
        "form": 12 * scores.mean(axis=(1, 2)).var(ddof=1),
        "form × topic": 2 * np.square(_interaction(scores.mean(axis=2))).sum() / 10,
        "within": np.square(_interaction(scores - scores.mean(axis=2, keepdims=True))).sum() / 12,
    }
    expected = (square["form"] - square["form × topic"]) / 12
    assert parts["form"] == pytest.approx((max(0, expected), expected < 0))
    assert parts["within"][0] == pytest.approx(square["within"])


def _interaction(scores: Floats) -> Floats:
    return (
        scores
        - scores.mean(axis=0)
        - scores.reshape(3, -1).mean(axis=1).reshape(3, *[1] * (scores.ndim - 1))
        + (scores.mean())
    )


def test_what_a_form_has_no_score_of_is_told() -> None:
    scores = np.arange(ITEMS, dtype=float)
    paper = Answers([study(scores)], {"v": measured("v", 1.0), "w": measured("w", 2.0)})
    unjudged = Answers([], {"v": not_run("v", "no judgements"), "w": measured("w", 3.0)})
    report = form_report(["m"], [{"paper": paper, "reworded": unjudged}], frozenset(("v", "w")))
    assert report is not None
    assert report.studies == ()
    assert [(value.value, value.numbers) for value in report.values] == [("w", {"paper": 2.0, "reworded": 3.0})]
    assert report.notes == ("Not in the form reworded: v, t (no judgements).",)
    assert form_report(["m"], [{"paper": paper}], frozenset(("v",))) is None


def test_the_form_stands_beside_the_model() -> None:
    answers = [
        {form: Answers([study(np.full(ITEMS, float(model + 2 * place)))], {}) for place, form in enumerate("ab")}
        for model in range(2)
    ]
    answers = [{"paper": forms["a"], "reworded": forms["b"]} for forms in answers]
    alone = {"paper": answers[0]["paper"], "choice": answers[0]["reworded"]}
    report = form_report(["m", "n", "o"], [*answers, {"paper": answers[0]["paper"]}], frozenset())
    assert report is not None
    assert report.models == ("m", "n")
    found = {part.effect: part.share for part in report.studies[0].components}
    assert (found["model"], found["form"]) == pytest.approx((0.2, 0.8))
    report = form_report(["m", "n"], [answers[0], alone], frozenset())
    assert report is not None
    assert report.studies == ()
    assert "Not in the form choice: t (not every submission was asked in it)." in report.notes


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A baseline's answers, with those of another one as its answers in a further form."""
    folder = write_baseline("stereotyped", "fact_or_fair", tmp_path / "mine", revision="v2-core")
    other = write_baseline("balanced", "fact_or_fair", forms_folder(folder) / "reworded", revision="v2-core")
    data = json.loads((other / "submission.json").read_text()) | {"model": "baseline: stereotyped"}
    data["generation"] |= {"form": "reworded"}
    (other / "submission.json").write_text(json.dumps(data))
    return folder


def test_the_command_finds_the_forms_beside_a_submission(mine: Path, run: Run) -> None:
    code, out, err = run("standard", "validate", mine, "--json")
    assert code == 0, err
    said = json.loads(out)
    forms = said["forms"]
    assert forms["forms"] == ["paper", "reworded"]
    by_name = {study["study"]: study for study in forms["studies"]}
    assert by_name["llm_objective, gender"]["reason"] == "all samples score alike, so nothing varies"
    subjective = {part["effect"]: part["share"] for part in by_name["llm_subjective, gender"]["components"]}
    assert subjective["form × topic"] > 0.2  # one is stereotyped by topic, the other by nothing
    (base,) = (value for value in forms["values"] if value["value"] == "fairness_llm_base_gender")
    assert base["numbers"]["paper"] < base["numbers"]["reworded"]
    assert {study["samples"] for study in said["studies"]} == {n // 2 for n in (s["samples"] for s in forms["studies"])}
    # named as well, it is the same form, not a further run
    assert run("standard", "validate", mine, forms_folder(mine) / "reworded", "--json")[1] == out


def test_the_command_takes_forms_that_lie_elsewhere(mine: Path, tmp_path: Path, run: Run) -> None:
    elsewhere = (forms_folder(mine) / "reworded").rename(tmp_path / "elsewhere")
    code, out, _ = run("standard", "validate", mine, elsewhere)
    assert (code, "Values by form" in out) == (0, True)
    assert "In the forms paper, reworded, of which the first scores" in out
    code, _, err = run("standard", "validate", elsewhere)
    assert (code, "in the paper's form too" in err) == (2, True)
    assert "the paper's alone was asked" in run("standard", "validate", mine)[1]


def test_forms_that_others_judged_are_not_compared(mine: Path) -> None:
    paper, other = read_submission(mine), read_submission(forms_folder(mine) / "reworded")

    def judged(submission: Submission, *names: str) -> Submission:
        tools = [Tool(name=name, version="1") for name in names]
        judges = {"judge": tools[0], "other_judges": tools[1:] or None} if tools else {}
        return replace(submission, meta=submission.meta.model_copy(update=judges))

    check_form(judged(paper, "a", "b"), judged(other, "a"), "reworded")
    check_form(judged(paper, "a"), other, "reworded")
    with pytest.raises(UsageError, match="are judged by b, the others by a"):
        check_form(judged(paper, "a"), judged(other, "b"), "reworded")
