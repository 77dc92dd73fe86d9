"""Pairs that the data could not fill are no missing answers, if the register of published builds says so."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from fairspace.builders.stereotypical_bias import builds, plan
from fairspace.submissions.benchmarks.stereotypical_bias.declaration import BENCHMARK
from fairspace.submissions.benchmarks.stereotypical_bias.records.lacking import expected
from fairspace.submissions.checking.coverage import coverage
from fairspace.submissions.errors import UsageError
from fairspace.submissions.format.manifest import Manifest, Stage
from fairspace.submissions.format.schema import RESPONSES, Submission, SubmissionMeta
from tests.submissions.benchmarks.stereotypical_bias.test_measure import submission as answering_all

BUILD, TASK = "ab" * 32, "vision_gender"


@pytest.fixture
def registered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A register with one build: all faces up to 40, and half of the places above."""
    rows = []
    for attribute in plan.ATTRIBUTES:
        cells = dict.fromkeys(builds._key(attribute, cell)[1:] for cell in plan.cells(attribute))
        by_age = [20 if age <= 40 else 10 for age in plan.AGES]
        rows += [[BUILD, "v2", attribute, shared, groups, *by_age] for shared, groups in cells]
    register = tmp_path / "register.csv"
    with register.open("w", encoding="utf-8", newline="") as lines:
        csv.writer(lines).writerows([builds.COLUMNS, *rows])
    monkeypatch.setattr(builds, "REGISTER", register)


def stage(datasets: str, tasks: Sequence[str] = (TASK,)) -> Stage:
    time = "2026-11-22T00:00:00Z"
    named = {"what": "responses", "model": "m", "revision": "1", "engine": "e", "engine_version": "1"}
    return Stage.model_validate(
        named | {"datasets": {"stereotypical_bias": datasets}, "tasks": list(tasks), "started": time, "ended": time}
    )


def answers(*stages: Stage, keep: Sequence[bool] | None = None, rest: str | None = None) -> Submission:
    """`left` about every pair of faces that the build has, or of `keep`; `rest` about all others."""
    build = builds.pairs_in(BUILD, "gender", "v2")
    assert build is not None
    there, ids = np.repeat(build if keep is None else np.asarray(keep), len(plan.INSTANCES)), plan.ids(TASK)
    n = len(ids)
    columns = [[TASK] * n, ids, np.zeros(n, np.int32), np.where(there, "left", rest or ""), [None] * n]
    table = pa.table([pa.array(c, f.type) for c, f in zip(columns, RESPONSES, strict=True)], schema=RESPONSES)
    table = table if rest else table.filter(pa.array(there))
    about = dict.fromkeys(("model", "revision", "organisation", "licence", "contact"), "x")
    kind = {"format": 1, "benchmark": "stereotypical_bias", "dataset_revision": "v2", "generation": {}}
    meta = SubmissionMeta.model_validate(kind | about)
    return Submission(meta, {"responses": table}, manifest=Manifest(stages=list(stages)) if stages else None)


NAMED = f"v2, sha256:{BUILD}, commit:0123"


@pytest.mark.usefixtures("registered")
def test_pairs_that_the_registered_build_lacks_are_not_expected() -> None:
    whole = answers(stage(NAMED))
    (covered,) = [part for part in coverage(whole, BENCHMARK) if part.task == TASK]
    pairs = 4 * (23 * 20 + 25 * 10)
    assert (covered.handed_in, covered.expected) == (pairs * 20, pairs * 20)
    value = BENCHMARK.measure(BENCHMARK.read(whole))["gender_occupation"]
    assert (value.coverage, value.low, value.high) == pytest.approx((1.0, value.value, value.value))
    (note,) = BENCHMARK.lacking(whole).notes
    assert note == f"{TASK}: the data, build abababababab, lack {3840 - pairs:,} of 3,840 planned pairs: not expected"
    assert BENCHMARK.signature(whole)["data"] == f"sha256:{BUILD}"


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize(
    ("stages", "said"),
    [
        ([], "manifest.json does not name the one build"),
        ([stage("v2")], "manifest.json does not name the one build"),
        ([stage(f"v2, vision/gender:{BUILD}")], "manifest.json does not name the one build"),
        ([stage(NAMED, ("vision_race",))], "manifest.json does not name the one build"),
        ([stage(NAMED), stage("v2, sha256:" + "cd" * 32)], "manifest.json does not name the one build"),
        ([stage("v2, sha256:" + "cd" * 32)], "the build cdcdcdcdcdcd is not in the register"),
    ],
)
def test_without_a_registered_build_all_pairs_are_expected_and_check_says_so(stages: list[Stage], said: str) -> None:
    unknown = answers(*stages)
    (covered,) = [part for part in coverage(unknown, BENCHMARK) if part.task == TASK]
    assert covered.expected == 3840 * 20
    value = BENCHMARK.measure(BENCHMARK.read(unknown))["gender_occupation"]
    assert value.coverage == pytest.approx(4 * (23 * 20 + 25 * 10) / 3840)
    assert value.high is not None
    assert value.value is not None
    assert value.high > value.value
    (note,) = BENCHMARK.lacking(unknown).notes
    assert "1,000 of 3,840 planned pairs have no answer and count as missing" in note
    assert said in note
    assert "data" not in BENCHMARK.signature(unknown)


@pytest.mark.usefixtures("registered")
def test_a_hard_pair_cannot_be_left_out_as_one_that_the_data_lack() -> None:
    build = builds.pairs_in(BUILD, "gender", "v2")
    assert build is not None
    fewer = build.copy()
    fewer[np.flatnonzero(build)[::7]] = False
    less = BENCHMARK.measure(BENCHMARK.read(answers(stage(NAMED), keep=fewer.tolist())))["gender_occupation"]
    whole = BENCHMARK.measure(BENCHMARK.read(answers(stage(NAMED))))["gender_occupation"]
    assert less.high is not None
    assert whole.high is not None
    assert less.high > whole.high
    assert less.coverage == pytest.approx(fewer.sum() / build.sum())


@pytest.mark.usefixtures("registered")
def test_answers_to_pairs_that_the_named_build_lacks_disprove_it() -> None:
    told = answers(stage(NAMED), rest="right")
    assert expected(told)[TASK].build == ""
    assert BENCHMARK.lacking(told).notes == ()  # every planned pair has an answer
    build = builds.pairs_in(BUILD, "gender", "v2")
    assert build is not None
    other = build.copy()
    other[np.flatnonzero(~build)[0]] = True
    (note,) = BENCHMARK.lacking(answers(stage(NAMED), keep=other.tolist())).notes
    assert "pairs are answered that the build abababababab lacks" in note


@pytest.mark.usefixtures("registered")
def test_the_same_ages_are_drawn_anew_whatever_the_build_has() -> None:
    for whole in (answers(stage(NAMED)), answers()):
        (design,) = BENCHMARK.designs(BENCHMARK.read(whole))
        assert len(design.strata) == len(plan.AGES)


@pytest.mark.usefixtures("registered")
def test_a_comparison_over_one_build_expects_its_pairs_and_over_several_all() -> None:
    from fairspace.submissions.benchmarks.stereotypical_bias.compare import compare

    name, same, other = "similarity_gender_occupation_1_2", answers(stage(NAMED)), answers()
    assert compare([same, same])[name].coverage == 1.0
    assert compare([same, other])[name].coverage == pytest.approx(4 * (23 * 20 + 25 * 10) / 3840)
    with pytest.raises(UsageError, match=r"questions of v1 and v2 cannot be compared"):
        compare([same, answering_all(lambda task, row: "left", tasks=(TASK,))])
