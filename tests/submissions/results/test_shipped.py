from pathlib import Path

import pytest

from fairspace.submissions.checking.submission import read_submission
from fairspace.submissions.results import shipped
from fairspace.submissions.results.board import board
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import load_result, score_submission
from fairspace.submissions.results.shipped import shipped_reruns, shipped_results

PRINTED = {"Qwen-3B": (0.097, -3.172), "Qwen-7B": (0.092, -3.01), "Phi4": (-0.312, -3.03)}
"""M3 and M5 of GENRES' Table 2."""
ANSWERS = [
    pytest.param(file, id=file.stem, marks=[pytest.mark.slow] if file.stem.startswith("genres") else [])
    for file in sorted(Path(shipped.__file__).parent.glob("*.zip"))
]


@pytest.mark.parametrize("result", shipped_results(), ids=lambda result: result.meta["model"])
def test_a_shipped_result_is_a_row_of_its_board(result: Result) -> None:
    (row,) = [row for row in board(result.benchmark, result.standard, [result]) if row.result is not None]
    assert (row.model, row.row_class, row.provenance) == (result.meta["model"], "own", "scored here")
    assert result.run or result.meta["model"] in PRINTED


def test_each_shipped_file_is_named_and_each_rerun_is_of_one_and_agreed() -> None:
    folder = Path(shipped.__file__).parent
    named = (folder / "README.md").read_text(encoding="utf-8")
    assert all(f"`{file.name}`" in named for file in folder.glob("*.json"))
    handed = {result.signature["submission"] for result in shipped_results()}
    for submission, rerun in shipped_reruns().items():
        evidence = rerun["evidence"]
        assert (submission in handed, evidence["verdict"], evidence["reasons"]) == (True, "agrees", [])
        asked = f"{sum(evidence['part'].values()):,}"
        assert rerun["reason"].startswith(f"{asked} of {asked} answers"), "every answer that was asked again"


@pytest.mark.parametrize("file", ANSWERS)
def test_the_answers_beside_a_result_are_those_that_it_scores(file: Path) -> None:
    result = load_result(file.with_suffix(".json"))
    submission = read_submission(file)
    assert (submission.digest, file.stat().st_size < 2_000_000) == (result.signature["submission"], True)
    again = score_submission(submission, result.standard, resamples=0)
    scored = {name: value.value for name, value in again.values.items()}
    listed = {name: value.value for name, value in result.values.items()}
    assert {name for name, number in scored.items() if number is None} == {n for n, v in listed.items() if v is None}
    numbers = [name for name, number in scored.items() if number is not None]
    assert [scored[name] for name in numbers] == pytest.approx([listed[name] for name in numbers], rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("result", shipped_results(), ids=lambda result: result.meta["model"])
def test_no_reason_tells_visitors_what_an_operator_could_install(result: Result) -> None:
    reasons = {value.reason for value in (*result.values.values(), *result.scored.scores.values())}
    for text in (*reasons, *result.scored.unranked):
        assert not any(word in text for word in ("FAIRSPACE_", "`", "pip ", "hf download", "this machine")), text


def test_smollm2_was_shown_no_picture_and_has_no_score() -> None:
    core, result = [
        result
        for result in shipped_results()
        if (result.benchmark, result.meta["model"]) == ("stereotypical_bias", "SmolLM2-135M-Instruct")
    ]
    rows = [row for row in board("stereotypical_bias", "", [core, result]) if row.result is not None]
    assert {row.protocol for row in rows} == {"v2-core, text only", "v2, text only"}
    (row,) = (row for row in rows if row.protocol == "v2, text only")
    assert (row.rank, row.scores["total"].state) == (None, "undefined")
    assert {row.scores[f"{attribute}_occupation"].state for attribute in ("gender", "race")} == {"not_run"}
    assert row.scores["race_persona"].reason == "an instance has no answer that names a group"
    read = result.values["gender_persona_na_rate"]
    assert read.value == pytest.approx(1 - 1501 / read.expected)
    measured = {n: value for n, value in core.values.items() if value.uncertainty is not None and n in result.values}
    assert len(measured) == 6
    for name, value in measured.items():
        about, whole = value.uncertainty, result.values[name].value
        assert about is not None
        assert whole is not None
        assert about.low <= whole <= about.high, "the core's interval holds the value of all answers"


def test_the_published_narratives_of_genres_are_scored_as_printed_and_none_of_their_text_is_kept() -> None:
    """The intervals of values without a judge hold the printed ones; the others are not run."""
    results = [result for result in shipped_results() if result.meta["model"] in PRINTED]
    rows = {row.model: row for row in board("genres", "", results) if row.result is not None}
    assert set(rows) == set(PRINTED)
    for model, row in rows.items():
        for name, printed in zip(("M3", "M5"), PRINTED[model], strict=True):
            about = row.scores[name].uncertainty
            assert about is not None
            assert about.low < printed < about.high
        assert (row.rank, row.scores["TBS"].state, row.scores["M1"].state) == (None, "undefined", "not_run")
    assert [dict(result.items) for result in results] == [{}, {}, {}]


def test_smollm2_wrote_no_passage_so_that_nothing_is_measured_of_its_stories() -> None:
    core, result = [
        result
        for result in shipped_results()
        if (result.benchmark, result.meta["model"]) == ("genres", "SmolLM2-135M-Instruct")
    ]
    none = core.values["competent_narratives"]
    assert (core.signature["dataset_revision"], none.value, none.valid, none.expected) == ("v1-core", 0, 72, 72)
    assert not any("limited" in reason for reason in core.scored.unranked)
    (row,) = [row for row in board("genres", "", [result]) if row.result is not None]
    assert (row.model, row.rank, row.scores["TBS"].state) == ("SmolLM2-135M-Instruct", None, "undefined")
    assert {row.scores[name].reason for name in ("M3", "M5")} == {"no passage can be used for it"}
    share = result.values["competent_narratives"]
    assert (share.value, share.valid, share.expected) == (0, 96, 1440)
    assert share.uncertainty is not None
    assert share.uncertainty.high == pytest.approx(1 - 0.025 ** (1 / 84)), "96 passages of 84 elements"
    assert any("limited to 96 stimuli a task (stratified)" in reason for reason in row.unranked)
