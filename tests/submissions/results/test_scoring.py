from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fairspace.metrics.columns import Floats
from fairspace.metrics.resampling import Sample
from fairspace.submissions.benchmarks.benchmark import Benchmark, Documented, Scored
from fairspace.submissions.benchmarks.scoring_table import AS_RELEASED, Adjustment
from fairspace.submissions.errors import UsageError
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.results import scoring
from fairspace.submissions.values import Value, Values, measured
from tests.samples import sample as sample_of
from tests.submissions import sample

RESAMPLES = 100


@dataclass(frozen=True)
class Standard(Documented):
    name: str
    factor: float = 1.0


def measure(records: Submission) -> dict[str, Value]:
    return {"a": measured("a", 0.5, low=0.4, high=0.6, expected=4, valid=4)}


def score(values: Values, standard: Standard, adjustment: Adjustment = AS_RELEASED) -> Scored:
    number = (values["a"].value or 0.0) * standard.factor
    return Scored({"total": measured("total", number)}, "total", number)


def designs(records: Submission) -> Sequence[Sample]:
    def share(times: Floats) -> Floats:
        return (times @ np.array([0.0, 0.0, 1.0, 1.0]))[:, None] / 4

    return (sample_of(share, "a", strata=np.zeros(4, np.int64)),)


@pytest.fixture(autouse=True)
def bench(monkeypatch: pytest.MonkeyPatch) -> Benchmark:
    small = replace(
        sample.BENCH,
        measure=measure,
        score=score,
        designs=designs,
        standards={"inaugural": Standard("inaugural"), "twice": Standard("twice", 2.0)},
        signature=lambda submission: {"parser": "none@1"},
    )
    monkeypatch.setattr(scoring, "benchmark", lambda name: small)
    return small


def submission(**changes: Any) -> Submission:
    return Submission(sample.meta(**changes), sample.tables(), "0" * 64)


def test_a_result_is_signed_by_what_decided_its_values() -> None:
    result = scoring.score_submission(submission(), resamples=0)
    assert len(result.signature["answers"]) == 64
    assert {**result.signature, "fairspace": "", "answers": "", "sketch": ""} == {
        "answers": "",
        "sketch": "",
        "standard": "inaugural",
        "dataset_revision": "v1",
        "submission": "0" * 64,
        "fairspace": "",
        "labels": "labeller@1",
        "judge": "judge@2",
        "parser": "none@1",
    }
    assert "contact" not in result.meta
    assert (result.scored.ranked, result.draws, result.run) == (0.5, None, ())
    assert result.values["a"].uncertainty is None
    assert "labels" not in scoring.score_submission(submission(labels=None), resamples=0).signature


@pytest.mark.parametrize(
    ("claimed", "signed"),
    [("a" * 64, True), ("a" * 65, False), ("A" * 64, False), ("measured\n" + "a" * 64, False), (7, False)],
)
def test_only_the_hash_of_a_measurement_is_signed(claimed: object, signed: bool) -> None:
    labels = {"name": "labeller", "version": "1", "settings": {"measurement": claimed}}
    signature = scoring.score_submission(submission(labels=labels), resamples=0).signature
    assert signature.get("labels_measurement") == (claimed if signed else None)


def test_resamples_are_signed_and_give_values_their_uncertainty() -> None:
    result = scoring.score_submission(submission(), "twice", resamples=RESAMPLES)
    assert result.signature["resamples"] == f"{RESAMPLES}, seed 0"
    assert (result.standard, result.scored.ranked) == ("twice", 1.0)
    assert result.values["a"].uncertainty is not None
    assert result.draws is not None
    assert result.draws.names == ("a",)


@pytest.mark.parametrize(
    ("generation", "judge", "mark"),
    [
        ({"limit": 7}, {}, "limited to 7 stimuli a task"),
        ({"limit": 1, "stratified": True}, {}, "limited to 1 stimulus a task (stratified)"),
        ({"limit": 7, "stratified": 1}, {}, "limited to 7 stimuli a task"),
        ({}, {"limit": 3}, "limited to 3 stimuli a task"),
        ({"limit": 0}, {"limit": -1}, ""),
        ({"limit": True}, {"limit": "7"}, ""),
    ],
)
def test_a_run_of_a_part_has_its_scores_and_no_rank(
    generation: dict[str, Any], judge: dict[str, Any], mark: str
) -> None:
    about = submission(generation=generation, judge={"name": "judge", "version": "2", "settings": judge})
    result = scoring.score_submission(about, resamples=0)
    assert result.scored.scores["total"].value == 0.5
    assert result.scored.unranked == scoring.limits_of(result) == ((mark,) if mark else ())
    assert result.scored.ranked == (None if mark else 0.5)


def test_a_standard_that_there_is_not_is_named(bench: Benchmark) -> None:
    with pytest.raises(UsageError, match=r"genres has no standard 'twise'.*twice.*Known: inaugural, twice\."):
        scoring.score_submission(submission(), "twise", resamples=0)
    with pytest.raises(UsageError, match="Known: inaugural, twice"):
        scoring.rescore(scoring.score_submission(submission(), resamples=0), "thrice")
    assert scoring.find_standard(bench, "twice").factor == 2


def test_another_standard_changes_scores_and_signature_alone() -> None:
    result = scoring.score_submission(submission(), resamples=RESAMPLES)
    other = scoring.rescore(result, "twice")
    assert (other.standard, other.signature["standard"], other.scored.ranked) == ("twice", "twice", 1.0)
    assert (other.values, other.draws) == (result.values, result.draws)
    assert {**other.signature, "standard": ""} == {**result.signature, "standard": ""}


def test_a_file_may_be_as_large_as_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "result.json"
    path.write_text(scoring.score_submission(submission(), resamples=0).dumps(), encoding="utf-8")
    size = path.stat().st_size
    assert size < scoring.MAX_BYTES <= 64 * 2**20
    monkeypatch.setattr(scoring, "MAX_BYTES", size)
    assert scoring.load_result(path).standard == "inaugural"
    monkeypatch.setattr(scoring, "MAX_BYTES", size - 1)
    with pytest.raises(UsageError, match=f"more than {size - 1:,} bytes"):
        scoring.load_result(path)
