"""`--as-authors`: the authors' settings reach the model, and rows of it have a protocol of their own."""

from pathlib import Path
from typing import Any

import pytest

import fairspace as fs
from fairspace.submissions.benchmarks.benchmark import AS_AUTHORS, PAPER
from fairspace.submissions.benchmarks.registry import NAMES, benchmark
from fairspace.submissions.errors import UsageError
from fairspace.submissions.format.schema import Tool
from fairspace.submissions.results.scoring import score_submission
from fairspace.submissions.running.asking.inspect_task import ChosenPart
from fairspace.submissions.running.asking.models import ModelSettings
from fairspace.submissions.running.evaluating import evaluate
from fairspace.submissions.running.judging import as_the_authors
from tests.submissions.running.test_running_page import PAGE

TEXT = {"stereotypical_bias": ("language_gender",), "fact_or_fair": ("llm_objective",)}


@pytest.mark.parametrize("name", TEXT)
def test_a_run_as_the_authors_states_their_settings(name: str, tmp_path: Path) -> None:
    """Its settings reach the model's function and `submission.json`, and its result has a protocol of its own."""
    authors = benchmark(name).asking.authors
    given: set[tuple[Any, Any]] = set()

    def model(prompt: str, *, temperature: float | None = None, max_tokens: int | None = None) -> str:
        given.add((temperature, max_tokens))
        return "A"

    ours, alone = benchmark(name).revisions[0], name == "stereotypical_bias"
    answers = fs.run(*(model, name), tasks=TEXT[name], limit=2, as_authors=True, dataset_revision=ours, text_only=alone)
    stated = answers.submission.meta.generation
    assert stated[AS_AUTHORS] is True
    assert authors.settings.items() <= stated.items()
    ((temperature, most),) = given
    assert temperature == authors.settings.get("temperature")
    assert most == authors.settings.get("max_tokens", benchmark(name).task(TEXT[name][0]).max_tokens)
    result = score_submission(answers.submission, resamples=0)
    protocol = benchmark(name).protocol_of(result.signature, result.scored)
    assert protocol.endswith(", as the authors ran it")
    assert f"Settings of the authors: {authors.source}." in benchmark(name).protocol_text(protocol)


def test_settings_other_than_the_authors_are_refused(tmp_path: Path) -> None:
    chosen = ChosenPart("fact_or_fair", tasks=("llm_objective",), limit=1, as_authors=True)
    for model, form in ((ModelSettings("python/f", temperature=1), PAPER), (ModelSettings("python/f"), "json")):
        with pytest.raises(UsageError, match="--as-authors sets temperature"):
            evaluate(ChosenPart(**{**vars(chosen), "form": form}), model, tmp_path)
    with pytest.raises(UsageError, match="--as-authors is for a benchmark with a judge"):
        as_the_authors(benchmark("iris"), ModelSettings("python/f"))
    with pytest.raises(UsageError, match="--as-authors sets temperature"):
        as_the_authors(benchmark("genres"), ModelSettings("python/f", top_p=0.5))


def test_a_mark_without_the_settings_gives_no_protocol_of_the_authors() -> None:
    """The mark alone is not enough: neither of a judge at temperature 0, nor of a table that only says so."""
    answers = fs.run(lambda prompt: "A", "genres", text_only=True, limit=1, as_authors=True, dataset_revision="v1")
    authors, meta = benchmark("genres").asking.authors, answers.submission.meta
    assert authors.kept(meta)
    for settings, kept in ((dict(authors.judge), True), ({**authors.judge, "temperature": 0.0}, False)):
        judge = Tool(name="m", version="1", settings={**settings})
        assert authors.kept(meta.model_copy(update={"judge": judge})) is kept
    assert not authors.kept(meta.model_copy(update={"generation": {AS_AUTHORS: True}}))


def test_the_authors_judge_evaluates_four_times_at_their_temperature() -> None:
    judges = as_the_authors(benchmark("genres"), ModelSettings("python/f"))
    assert [(each.temperature, each.top_p, each.max_tokens) for each in judges] == [(0.7, 0.95, 1024)] * 4


def test_the_page_says_the_authors_settings() -> None:
    """Each number that `--as-authors` sets stands in the table of RUNNING.md, beside the program that states it."""
    for name in NAMES:
        authors = benchmark(name).asking.authors
        for setting, number in {**authors.settings, **authors.judge}.items():
            words = {"temperature": f"temperature {number:g}", "max_tokens": f"{number} tokens"}
            assert words.get(setting, f"{setting} {number}") in PAGE or number == 0
        assert not authors.revision or f"revision `{authors.revision}`" in PAGE
