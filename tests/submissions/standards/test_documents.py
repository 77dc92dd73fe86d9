"""Standards: frozen documents, differences, proposals, succession, and every result under every standard."""

from __future__ import annotations

import importlib
import json
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from fairspace.leaderboard_space.state import State
from fairspace.metrics.iris_score.granular import Granular, table_sha256
from fairspace.metrics.iris_score.standards import ALGORITHM_1, GRANULAR, INAUGURAL, STANDARDS, IrisStandard
from fairspace.submissions.benchmarks.registry import NAMES, benchmark
from fairspace.submissions.errors import UsageError
from fairspace.submissions.results.board import board
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.row import Row
from fairspace.submissions.standards.documents import (
    changed_references,
    differences,
    digest,
    document,
    fields,
    listed,
    named,
)
from fairspace.submissions.standards.proposal import SMALLEST_COHORT, calibrated, chosen, median_scores, propose
from fairspace.submissions.standards.source import source
from fairspace.submissions.standards.triggers import succession
from tests.submissions.benchmarks.iris.results import board_store, iris_result, release_all, state_of

FROZEN = {
    "iris/inaugural": "45516fe539786c7bac82ef5a183ca91985e89621ec029d16e00883a29263ceb6",
    "iris/bounded": "be17b1930ef60b7c186f2abd29816b103d8438e354059680674f079121bdabd1",
    "fact_or_fair/inaugural": "852498fd3c3f1cfed681f8af48eab572a4966325c4120bd662a3aca1503c51c4",
    "fact_or_fair/revised_truth": "e182cd98cdd11c9caa934590593f1f7e058dd8f7a187d0651e0ac7363f3e615f",
    "fact_or_fair/shuffled": "4b427e1113592b4b8255db3fdfb4baa315870423b06a71f925d4d3f5c774ec03",
    "fact_or_fair/shuffled_revised_truth": "6c6c415afeb71cb8b133f7cb6b7d8a7dcb20464c1878533daf67915e2f527f32",
    "stereotypical_bias/inaugural": "733f520c9a0a0610a36684d1a84ca5c17a5ee4998c73fa18c3448fdfb53b5ebb",
    "stereotypical_bias/up_to_twenty": "c919f39c56b4e14aa87a241ba43544a03510695c5d3662789e70651e458f86ea",
    "genres/inaugural": "18048decf09f21f28d2a13796e58ec942bc391049c8ea097a013fe496d75f5ac",
    "genres/zero_centred": "bc02ba0c082196c7dd7fa8db9f3dd844712876f445a543cdfd3933f3b9c9003e",
}
"""Every released standard's whole document; a line is added with a release, and none ever changes."""
ROOT = Path(__file__).parents[3]
Run = Callable[..., tuple[int, str, str]]


def test_the_whole_document_of_every_released_standard_is_frozen() -> None:
    released = {f"{one.benchmark}/{one.name}": one.sha256 for one in listed() if not one.draft}
    assert released == FROZEN


def test_any_other_field_changes_the_hash() -> None:
    whole = document("iris", INAUGURAL)
    told = dict(fields(whole))
    assert {f"metrics.{metric.name}" for metric in GRANULAR} | {"tau", "scale.total", "cohort"} <= set(told)
    for name in whole:
        if whole[name] not in ("", [], {}):
            assert digest({**whole, name: "another"}) != digest(whole)
    assert digest({**whole, "of_later_standards": {}}) == digest(whole)


@pytest.mark.parametrize("name", NAMES)
def test_the_referenced_files_have_their_hashes(name: str) -> None:
    for standard in benchmark(name).standards.values():
        assert changed_references(standard) == []
        assert standard.date
        assert standard.why
        assert standard.dataset_revisions[name if name != "iris" else "iris_gen_52"]
        told = [revision for revisions in standard.dataset_revisions.values() for revision in revisions]
        assert set(told) <= set(benchmark(name).revisions)
    assert changed_references(replace(INAUGURAL, references={"nowhere.csv": "0"})) == ["nowhere.csv"]


def test_an_iris_standard_is_one_file_that_names_its_table_of_metrics() -> None:
    folder = ROOT / "metrics" / "iris_score"
    assert {f"standard_{name}" for name in STANDARDS} == {path.stem for path in folder.glob("standard_*.py")}
    script = (folder / "iris_score.py").read_text()
    assert f"Dropdown({json.dumps(list(STANDARDS))}" in (folder / "app.py").read_text()
    for name, standard in STANDARDS.items():
        assert f"from .standard_{name} import {name.upper()}\n" in script
        assert standard.metrics_sha256 == table_sha256(standard.metrics)
        assert (standard.cohort, standard.cohort_source, standard.ares) != ((), "", "")
    with pytest.raises(ValueError, match=r"standard inaugural: its metrics have the hash .* lists its own"):
        replace(INAUGURAL, metrics=(*GRANULAR[:-1], replace(GRANULAR[-1], bound=2.0)))


def test_a_difference_is_told_field_by_field() -> None:
    other = replace(INAUGURAL, metrics=GRANULAR[1:], metrics_sha256="", tau=65.0)
    found = {one.name: (one.first, one.second) for one in differences(*map(_told, (INAUGURAL, other)))}
    assert set(found) == {"tau", "metrics_sha256", "metrics.RD_gender"}
    assert found["tau"] == (60.0, 65.0)
    assert found["metrics.RD_gender"][0]["sector"] == "IFS_Gen"
    assert differences(_told(INAUGURAL), _told(INAUGURAL)) == []


def _told(standard: IrisStandard) -> dict[str, Any]:
    return document("iris", standard)


def test_a_standard_is_named_with_its_benchmark() -> None:
    assert named("genres/inaugural")[1].default_cohort == "mistral"
    with pytest.raises(UsageError, match="iris/algorithm_1"):
        named("algorithm_1")
    with pytest.raises(UsageError, match=r"iris has no standard .inagural."):
        named("iris/inagural")


def _cohort() -> list[Result]:
    return [iris_result(f"m{n}", f"lab {n}", 0.05 * n) for n in range(1, 9)]


def test_a_proposal_puts_the_median_of_its_cohort_at_60_and_keeps_k() -> None:
    rows = board("iris", "algorithm_1", _cohort())
    found = propose(chosen(rows, ALGORITHM_1, (), printed=False), ALGORITHM_1, "second", "2026-12-01", "A test.")
    new = found.standard
    assert new.decay == ALGORITHM_1.decay
    assert new.cohort == tuple(f"m{n}" for n in range(1, 9))  # the best first
    assert {part: pytest.approx(60, abs=1e-3) for part in new.scale} == median_scores(new)
    again = sorted(row.scores["IFS_Gen"].value or 0 for row in rows if row.result is not None)
    ratio = new.scale["IFS_Gen"] / ALGORITHM_1.scale["IFS_Gen"]
    assert (again[3] + again[4]) / 2 * ratio == pytest.approx(60, abs=1e-3)
    assert {fit.rows for fit in found.fits} == {8}


def test_the_printed_cohort_gives_the_scale_of_the_literal_standard_where_its_magnitudes_are_printed() -> None:
    rows = board("iris", "inaugural")
    new = propose(chosen(rows, INAUGURAL, (), printed=True), INAUGURAL, "second", "2026-12-01", "A test.").standard
    assert set(new.cohort) == set(INAUGURAL.cohort)
    for sector in ("BIS_Gen", "IFS_Und"):
        assert new.scale[sector] == ALGORITHM_1.scale[sector]
    assert new.scale["RFS_Gen"] == ALGORITHM_1.scale["RFS_Gen"]
    assert new.scale["IFS_Gen"] == pytest.approx(ALGORITHM_1.scale["IFS_Gen"], rel=1e-4)
    literal = chosen(board("iris", "algorithm_1"), ALGORITHM_1, (), printed=True)
    with pytest.raises(UsageError, match=f"RFS_Und: 0 of 7 rows have a distance for it, {SMALLEST_COHORT} are needed"):
        propose(literal, ALGORITHM_1, "second", "2026-12-01", "A test.")


def test_a_proposal_is_refused_with_too_few_rows_or_a_missing_value() -> None:
    partial = iris_result("partial", "lab", 0.2, ac_diff_age=float("nan"))
    rows = board("iris", "algorithm_1", [*_cohort(), partial])
    few = chosen(rows, ALGORITHM_1, ["m1", "m2", "m1", _entry(rows, "m1")], printed=False)
    with pytest.raises(UsageError, match="IFS_Gen: 2 of 2 rows"):
        propose(few, ALGORITHM_1, "second", "2026-12-01", "A test.")
    assert "partial" not in {row.model for row in chosen(rows, ALGORITHM_1, (), printed=False)}
    with pytest.raises(UsageError, match=r"ac_diff_age has no value \(the result does not hold it\)"):
        calibrated(next(row for row in rows if row.model == "partial"), ALGORITHM_1)
    with pytest.raises(UsageError, match="published row"):
        chosen(rows, ALGORITHM_1, ["p-01"], printed=False)
    with pytest.raises(UsageError, match="no row is called 'nobody'"):
        chosen(rows, ALGORITHM_1, ["nobody"], printed=False)
    with pytest.raises(UsageError, match="--name"):
        propose(chosen(rows, ALGORITHM_1, (), printed=False), ALGORITHM_1, "../x", "2026-12-01", "A test.")


def test_a_named_row_without_a_rank_may_not_calibrate_and_is_told_why() -> None:
    refusing = iris_result("refusing", "lab", 0.0, competence_accuracy=0.01)
    partial = iris_result("partial", "lab", 0.2, ac_diff_age=float("nan"))
    rows = board("iris", "algorithm_1", [*_cohort(), refusing, partial])
    for name, why in (("refusing", "competence_accuracy"), ("partial", "ac_diff_age")):
        entry = _entry(rows, name)
        for called in (name, entry):
            with pytest.raises(UsageError, match=f"'{called}' has no rank under algorithm_1 .*{why}"):
                chosen(rows, ALGORITHM_1, ["m1", called], printed=False)


def _entry(rows: Sequence[Row], model: str) -> str:
    (found,) = (row.entry for row in rows if row.model == model)
    return found


def _loaded(folder: Path, text: str, name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    package = shutil.copytree(ROOT / "metrics" / "iris_score", folder / f"alone_{name}")
    (package / "__init__.py").touch()
    (package / f"standard_{name}.py").write_text(text)
    monkeypatch.syspath_prepend(str(folder))
    module = importlib.import_module(f"alone_{name}.standard_{name}")
    for loaded in [loaded for loaded in sys.modules if loaded.startswith("alone_")]:
        del sys.modules[loaded]
    return module


def test_a_proposed_file_says_what_was_proposed_whatever_the_models_are_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hostile = '"""); import os; os.abort()  # \u202e\\N{BULLET}\n\U0001f9d1'
    extra = Granular("PFS_appeal", "PFS_Und", "appeal_gap", "gender", bound=2.0)
    like = replace(
        ALGORITHM_1,
        metrics=(*GRANULAR, extra),
        metrics_sha256="",
        scale={**ALGORITHM_1.scale, "PFS_Und": 100.0},
        decay={**ALGORITHM_1.decay, "PFS_Und": 1.0},
    )
    monkeypatch.setitem(STANDARDS, "wider", replace(like, name="wider"))
    results = [iris_result(f"{hostile}{n}", f"lab {n}", 0.05 * n, PFS_appeal=0.1 * n) for n in range(1, 8)]
    rows = chosen(board("iris", "wider", results), like, (), printed=True)
    found = propose(rows, like, "third", "2026-12-01", "It scores appeals. " * 12)
    text = source(found)
    assert text.isascii()
    module = _loaded(tmp_path, text, "third", monkeypatch)
    assert asdict(module.THIRD) == asdict(found.standard)
    assert module.THIRD.metrics[-1].name == "PFS_appeal"


def test_the_ceiling_trigger_needs_more_than_five_institutions_with_two_high_sectors() -> None:
    names = ["A", "B", "C", "D", "E"]
    high = [iris_result(f"model {name}", f"Lab {name}", 0.01) for name in names]
    more = [
        iris_result("model again", "lab  e", 0.011),  # the same institution but for case and spaces
        iris_result("bagel", "Lab F", 0.01),  # of the cohort, so not new
        iris_result("low", "Lab G", 0.9),
        iris_result("idle", "Lab H", 0.01, competence_accuracy=0.01),  # below a floor, so unranked
    ]

    def asked(results: list[Result]) -> Any:
        return succession(board("iris", "inaugural", results), "inaugural", INAUGURAL.sectors, INAUGURAL.cohort)

    found = asked([*high, *more])
    assert (found.institutions, found.met, found.looked_at) == (5, False, 7)
    assert {one.model for one in found.reached} == {*(f"model {name}" for name in names), "model again"}
    sixth = iris_result("model F", "Lab F", 0.01)
    assert (asked([*high, *more, sixth]).institutions, asked([*high, sixth]).met) == (6, True)


def test_the_low_end_of_the_interval_is_counted_beside_the_worst_case() -> None:
    sure, unsure = iris_result("sure", "Lab A", 0.05, 0.01), iris_result("unsure", "Lab B", 0.2, 0.9)
    none = iris_result("none", "Lab C", 0.05)
    found = succession(board("iris", "inaugural", [sure, unsure, none]), "inaugural", INAUGURAL.sectors, ())
    surely = {one.model: one.surely for one in found.reached}
    assert (found.institutions, found.institutions_surely, found.unknown) == (3, 1, 1)
    assert surely["none"] is None
    assert surely["unsure"] is not None
    assert len(surely["unsure"]) < 2 <= len(surely["sure"] or ())


def test_the_interval_that_must_reach_the_mark_is_that_of_the_worst_case() -> None:
    """As measured even the low end is above 85. The worst case is 85, and its low end below."""
    rows = board("iris", "inaugural", [iris_result("thin", "Lab A", 0.05, 0.05)])

    def surely(worst: float) -> tuple[str, ...]:
        scores = {
            name: replace(v, low=None if v.value is None else max(v.value * worst, 85.0))
            for name, v in rows[0].scores.items()
        }
        found = succession([replace(rows[0], scores=scores)], "inaugural", INAUGURAL.sectors, ())
        assert found.reached[0].surely is not None
        return found.reached[0].surely

    assert len(surely(1.0)) >= 2
    assert surely(0.0) == ()


def test_a_new_standard_rescores_old_results_and_changes_no_history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = board_store(tmp_path / "store", iris_result("old", "Lab A"), iris_result("other", "Lab B", 0.3))
    before = {path: path.read_bytes() for path in (tmp_path / "store").rglob("*") if path.is_file()}
    shown = state_of(storage).board("iris", "inaugural")
    needs = Granular("PFS_appeal", "PFS_Und", "appeal_gap", "gender")
    second = replace(ALGORITHM_1, name="second", scale={**ALGORITHM_1.scale, "total": 1000.0})
    third = replace(
        second,
        name="third",
        metrics=(*GRANULAR, needs),
        metrics_sha256="",
        scale={**second.scale, "PFS_Und": 100.0},
        decay={**second.decay, "PFS_Und": 1.0},
    )
    for standard in (second, third):
        monkeypatch.setitem(STANDARDS, standard.name, standard)
    state = state_of(storage)
    rows = {name: {row.model: row for row in state.board("iris", name)} for name in ("second", "third", "algorithm_1")}
    ratio = 1000.0 / ALGORITHM_1.scale["total"]
    was, now = (rows[name]["old"].scores["iris_score"].value for name in ("algorithm_1", "second"))
    assert was is not None
    assert now == pytest.approx(was * ratio)
    assert (rows["second"]["old"].rank, rows["second"]["other"].rank) == (1, 2)
    lacking = rows["third"]["old"]
    assert (lacking.rank, lacking.ranked) == (None, None)
    assert any("PFS_Und is undefined" in why and "the result does not hold it" in why for why in lacking.unranked)
    assert lacking.scores["IFS_Gen"] == rows["second"]["old"].scores["IFS_Gen"]
    assert rows["third"]["Bagel"].scores["PFS_Und"].state == "not_run"
    assert state.board("iris", "inaugural") == shown
    assert {path: path.read_bytes() for path in before} == before
    assert {path for path in (tmp_path / "store").rglob("*") if path.is_file()} == set(before)
    storage.close()


def test_the_command_lists_shows_compares_proposes_and_checks(run: Run, tmp_path: Path) -> None:
    store = tmp_path / "store"
    storage = board_store(store, *_cohort(), *(iris_result(f"n{n}", f"new {n}", 0.01) for n in range(6)))
    release_all(State(storage))
    storage.close()
    assert json.loads(run("standard", "list", "--json")[1])[0]["name"] == "inaugural"
    for name in NAMES:
        told = json.loads(run("standard", "show", f"{name}/inaugural", "--json")[1])
        assert told["sha256"] == FROZEN[f"{name}/inaugural"]
        assert told["changed_references"] == []
    shown = run("standard", "show", "iris/inaugural")[1]
    assert "metrics.RD_gender" in shown
    assert "total_divisor.answer_consistency_difference   9\n" in shown
    assert "bound none: log(1 + value) is taken" in shown
    told = run("standard", "diff", "iris/inaugural", "iris/algorithm_1", "--store", store, "--json")[1]
    ranks = {row["model"]: (row["first"], row["second"]) for row in json.loads(told)["ranks"]}
    assert ranks["m1"][1] is not None
    assert ranks["Bagel"][1] is None
    told = " ".join(run("standard", "diff", "iris/inaugural", "iris/algorithm_1", "--store", store)[1].split())
    assert "no rank here: partial: RFS_Und, iris_score not available under algorithm_1" in told
    assert run("standard", "diff", "iris/inaugural", "genres/inaugural")[0] == 2
    out = tmp_path / "standard_second.py"
    assert run("standard", "propose", "second", "--why", "A test.", "--store", store, "--out", out)[0] == 0
    compile(out.read_text(), out.name, "exec")
    assert "second" not in STANDARDS
    code, _, err = run("standard", "propose", "second", "--why", "A test.", "--store", store, "--out", out)
    assert (code, "there already" in err) == (2, True)
    assert run("standard", "propose", "inaugural", "--why", "A test.", "--store", store)[0] == 2
    code, text, _ = run("standard", "check", "--store", store, "--json")
    assert (code, json.loads(text)["institutions"]) == (1, 14)  # the worst, too: its RFS_Und rewards drift
    assert (
        json.loads(run("standard", "check", "--store", store, "--standard", "bounded", "--json")[1])["institutions"]
        == 7
    )
    (tmp_path / "empty").mkdir()
    code, text, _ = run("standard", "check", "--store", tmp_path / "empty")
    assert (code, "Ceiling: not met" in text, "people to decide" in text) == (0, True, True)
    assert "from 0 institutions" in text
    assert "keep no draws" not in text


@pytest.mark.parametrize(
    "command",
    [
        ("standard", "check"),
        ("standard", "propose", "second", "--why", "A test."),
        ("standard", "diff", "iris/inaugural", "iris/algorithm_1"),
        ("standard", "validate"),
        ("leaderboard", "show"),
        ("store", "check"),
    ],
)
def test_a_store_that_is_not_there_is_wrong_use_and_is_not_made(
    run: Run, tmp_path: Path, command: tuple[str, ...]
) -> None:
    option = () if command[0] == "store" else ("--store",)
    code, out, err = run(*command, *option, tmp_path / "nowhere")
    assert (code, out) == (2, "")
    assert "There is no store" in err
    assert not (tmp_path / "nowhere").exists()
