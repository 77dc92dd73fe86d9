from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from huggingface_hub import ModelCard, parse_eval_result_entries

import fairspace as fs
from fairspace.outcome import Result
from fairspace.submissions.benchmarks.baselines import write_baseline
from fairspace.submissions.report.model_card import SENTENCES, eval_entries, model_index, refusals, sentences
from fairspace.submissions.results import result as results
from tests.hub.card_rules import check_card
from tests.scored_baselines import scored_baseline
from tests.submissions.conftest import Run
from tests.submissions.results.test_tiers import result, waves

HEADING = "## Bias, Risks, and Limitations"


def of_a_model(made: results.Result, **more: object) -> Result:
    about = {name: fact for name, fact in made.meta.items() if name != "baseline"}
    return Result.of(replace(made, meta={**about, "model": "lab/mine", **more}))


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Result:
    folder = tmp_path_factory.mktemp("genres") / "submission"
    write_baseline("balanced", "stereotypical_bias", folder, revision="v2-core")
    return of_a_model(fs.score(folder, resamples=100))


@pytest.mark.slow
def test_the_hub_reads_back_values_with_their_intervals_and_standard(scored: Result) -> None:
    text = scored.to_model_card()
    data: Any = ModelCard(text).data
    assert check_card(text, "model")[0] == []
    assert data.model_name == "mine"
    read = {each.metric_type: each for each in data.eval_results or ()}
    assert len(read) == 7
    for name, each in read.items():
        value = scored.scores[name]
        assert each.metric_value == value.value
        args = each.metric_args or {}
        assert tuple(args["interval"]) == value.interval
        assert (args["standard"], args["dataset_revision"]) == (scored.standard, "v2-core")
        assert (args["valid"], args["expected"]) == (value.valid, value.expected)


@pytest.mark.slow
def test_a_folder_gets_both_forms_and_keeps_what_others_wrote(scored: Result, tmp_path: Path, run: Run) -> None:
    scored.save(tmp_path / "result.json")
    model = tmp_path / "model"
    model.mkdir()
    (model / "README.md").write_text(
        "---\nlicense: mit\nmodel-index:\n- name: theirs\n  results:\n  - task:\n      type: text-generation\n"
        "    dataset:\n      name: Other\n      type: other/set\n    metrics:\n    - type: accuracy\n      value: 0.5\n"
        f"---\n\n# Theirs\n\n{HEADING}\n\nWritten by hand.\n\n## Next\n"
    )
    words = ("report", tmp_path / "result.json", "--card", model)
    run.fine(*words)
    text = (model / "README.md").read_text()
    run.fine(*words)
    assert (model / "README.md").read_text() == text
    data: Any = ModelCard(text).data
    assert (data.license, data.model_name) == ("mit", "theirs")
    assert {each.dataset_type for each in data.eval_results or ()} == {
        "other/set",
        "fairspace/stereotypical_bias",
    }
    assert text.count(HEADING) == 1
    parts = [text.index(part) for part in (HEADING, "<!-- begin of fairspace", "Written by hand.", "## Next")]
    assert parts == sorted(parts)
    loaded = fs.load_result(tmp_path / "result.json")
    entries = parse_eval_result_entries(yaml.safe_load((model / ".eval_results/stereotypical_bias.yaml").read_text()))
    assert entries == eval_entries(loaded)
    for entry, each in zip(entries, model_index(loaded), strict=True):
        assert (entry.task_id, entry.value) == (each.metric_type, each.metric_value)
        assert "95 %: " in (entry.notes or "")
        assert f"standard {scored.standard}" in (entry.notes or "")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["iris", "stereotypical_bias"])
def test_six_sentences_say_values_and_what_they_do_not_show(name: str) -> None:
    written = sentences(of_a_model(scored_baseline("balanced", name)))
    assert len(written) == SENTENCES
    assert written[-1].startswith("This does not show ")
    assert all(sentence.endswith(".") for sentence in written)


def test_sentences_that_show_a_bias_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = [f"Value {place}: no bias shown." for place in range(6)] + ["Who: 94 % men.", "Not known: M1."]
    monkeypatch.setattr("fairspace.submissions.report.model_card.sentences_of", lambda result: shown)
    written = sentences(result("lab/mine", 0.1, waves(0.01, 3)))
    assert written[1:-1] == ["Who: 94 % men.", *shown[:3]]


def test_parts_other_readings_baselines_and_results_without_a_rank_have_no_card() -> None:
    whole = of_a_model(result("lab/mine", 0.1, waves(0.01, 3)))
    assert refusals(whole) == []
    versioned = replace(whole, signature={**whole.signature, "reading": "genres_reading@3"})
    assert refusals(versioned) == [], "GENRES states the version of its own reading"
    unranked = replace(whole, scored=replace(whole.scored, unranked=("It answered the same letter every time.",)))
    lacking = replace(whole, scored=replace(whole.scored, scores={}))
    for each, said in (
        (replace(whole, meta={**whole.meta, "generation": {"limit": 60}}), "limited to 60 stimuli a task"),
        (
            replace(whole, signature={**whole.signature, "reading": "authors"}),
            "read as the authors' programs read them",
        ),
        (replace(whole, meta={**whole.meta, "baseline": True}), "a baseline is no model"),
        (unranked, "it has no rank (It answered the same letter every time)"),
        (lacking, "it has no rank (no number for total)"),
    ):
        with pytest.raises(fs.UsageError) as raised:
            each.to_model_card()
        assert said in str(raised.value)


def test_a_readme_that_cannot_be_read_is_named_and_kept(tmp_path: Path, run: Run) -> None:
    of_a_model(result("lab/mine", 0.1, waves(0.01, 3))).save(tmp_path / "result.json")
    (tmp_path / "README.md").write_text("---\nlicense: [\n---\n")
    error = run.refused(2, "report", tmp_path / "result.json", "--card", tmp_path)
    assert "README.md: its metadata cannot be read" in error
    assert (tmp_path / "README.md").read_text() == "---\nlicense: [\n---\n"
