import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fairspace.metrics.iris_score.granular import table_sha256
from fairspace.metrics.iris_score.standards import ALGORITHM_1, GRANULAR, INAUGURAL, STANDARDS, IrisStandard
from fairspace.submissions import standards
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.errors import UsageError
from tests.leaderboard_space.factory import state_of
from tests.papers import NAMES
from tests.submissions.benchmarks.iris.results import iris_result
from tests.submissions.conftest import Run

FROZEN = {
    "iris/inaugural": "45516fe539786c7bac82ef5a183ca91985e89621ec029d16e00883a29263ceb6",
    "iris/bounded": "be17b1930ef60b7c186f2abd29816b103d8438e354059680674f079121bdabd1",
    "iris/inaugural_points": "cdf8de5bcf17115576814e97ac461a162ccdef80197365a471f6a63ed29f0e34",
    "fact_or_fair/inaugural": "852498fd3c3f1cfed681f8af48eab572a4966325c4120bd662a3aca1503c51c4",
    "fact_or_fair/revised_truth": "e182cd98cdd11c9caa934590593f1f7e058dd8f7a187d0651e0ac7363f3e615f",
    "fact_or_fair/shuffled": "4b427e1113592b4b8255db3fdfb4baa315870423b06a71f925d4d3f5c774ec03",
    "fact_or_fair/shuffled_revised_truth": "6c6c415afeb71cb8b133f7cb6b7d8a7dcb20464c1878533daf67915e2f527f32",
    "fact_or_fair/authors_questions": "b0a2ad741cd9bcde0662589bddfc8f9c9910830ceac3b6d09e42913e203edd6d",
    "stereotypical_bias/inaugural": "733f520c9a0a0610a36684d1a84ca5c17a5ee4998c73fa18c3448fdfb53b5ebb",
    "stereotypical_bias/up_to_twenty": "c919f39c56b4e14aa87a241ba43544a03510695c5d3662789e70651e458f86ea",
    "genres/inaugural": "4208145c2050dd8deb3f3e52075fd4e972beab7b13f6929f5efd358b9c73e437",
    "genres/zero_centred": "92d3c3e831e151b0316d819317c787ac7ff9753965a73a9568fa7f760d064896",
}
"""Every released standard's whole document; a line is added with a release, and none ever changes."""
ROOT = Path(__file__).parents[3]


def test_the_whole_document_of_every_released_standard_is_frozen() -> None:
    released = {
        f"{entry['benchmark']}/{entry['name']}": entry["sha256"] for entry in standards.listed() if not entry["draft"]
    }
    assert released == FROZEN


def test_any_other_field_changes_the_hash() -> None:
    whole = standards.document("iris", INAUGURAL)
    fields = dict(standards.fields(whole))
    assert {f"metrics.{metric.name}" for metric in GRANULAR} | {"tau", "scale.total", "cohort"} <= set(fields)
    for name in whole:
        if whole[name] not in ("", [], {}):
            assert standards.digest({**whole, name: "another"}) != standards.digest(whole)
    assert standards.digest({**whole, "of_later_standards": {}}) == standards.digest(whole)


@pytest.mark.parametrize("name", NAMES)
def test_the_referenced_files_have_their_hashes(name: str) -> None:
    for standard in benchmark(name).standards.values():
        assert standards.changed_references(standard) == []
        assert standard.date
        assert standard.why
        assert standard.dataset_revisions[name if name != "iris" else "iris_gen_52"]
        told = [revision for revisions in standard.dataset_revisions.values() for revision in revisions]
        assert set(told) <= set(benchmark(name).revisions)
    assert standards.changed_references(replace(INAUGURAL, references={"nowhere.csv": "0"})) == ["nowhere.csv"]


def test_an_iris_standard_is_one_file_that_names_its_table_of_metrics() -> None:
    folder = ROOT / "metrics" / "iris_score"
    assert {f"standard_{name}" for name in STANDARDS} == {path.stem for path in folder.glob("standard_*.py")}
    script = (folder / "iris_score.py").read_text()
    for name, standard in STANDARDS.items():
        assert f"from .standard_{name} import {name.upper()}\n" in script
        assert standard.metrics_sha256 == table_sha256(standard.metrics)
        assert (standard.cohort, standard.cohort_source, standard.ares) != ((), "", "")
    with pytest.raises(ValueError, match=r"standard inaugural: its metrics have the hash .* lists its own"):
        replace(INAUGURAL, metrics=(*GRANULAR[:-1], replace(GRANULAR[-1], bound=2.0)))


def test_a_difference_is_told_field_by_field() -> None:
    other = replace(INAUGURAL, metrics=GRANULAR[1:], metrics_sha256="", tau=65.0)
    changed = {name: (one, two) for name, one, two in standards.differences(*map(_told, (INAUGURAL, other)))}
    assert set(changed) == {"tau", "metrics_sha256", "metrics.RD_gender"}
    assert changed["tau"] == (60.0, 65.0)
    assert changed["metrics.RD_gender"][0]["sector"] == "IFS_Gen"
    assert standards.differences(_told(INAUGURAL), _told(INAUGURAL)) == []


def _told(standard: IrisStandard) -> dict[str, Any]:
    return standards.document("iris", standard)


def test_a_standard_is_named_with_its_benchmark() -> None:
    assert standards.named("genres/inaugural")[1].default_cohort == "mistral"
    with pytest.raises(UsageError, match="iris/algorithm_1"):
        standards.named("algorithm_1")
    with pytest.raises(UsageError, match=r"iris has no standard .inagural."):
        standards.named("iris/inagural")


def test_a_new_standard_rescores_old_results_and_changes_no_history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    earlier = state_of(tmp_path / "store", iris_result("old", "Lab A"), iris_result("other", "Lab B", 0.3))
    before = {path: path.read_bytes() for path in (tmp_path / "store").rglob("*") if path.is_file()}
    shown = earlier.board("iris", "inaugural")
    second = replace(ALGORITHM_1, name="second", scale={**ALGORITHM_1.scale, "total": 1000.0})
    monkeypatch.setitem(STANDARDS, "second", second)
    state = state_of(tmp_path / "store")
    rows = {name: {row.model: row for row in state.board("iris", name)} for name in ("second", "algorithm_1")}
    ratio = 1000.0 / ALGORITHM_1.scale["total"]
    was, now = (rows[name]["old"].scores["iris_score"].value for name in ("algorithm_1", "second"))
    assert was is not None
    assert now == pytest.approx(was * ratio)
    assert (rows["second"]["old"].rank, rows["second"]["other"].rank) == (1, 2)
    assert state.board("iris", "inaugural") == shown
    assert {path: path.read_bytes() for path in before} == before
    assert {path for path in (tmp_path / "store").rglob("*") if path.is_file()} == set(before)
    for each in (earlier, state):
        each.storage.close()


def test_the_command_lists_shows_and_compares(run: Run) -> None:
    assert json.loads(run("standard", "--json")[1])[0]["name"] == "inaugural"
    for name in NAMES:
        told = json.loads(run("standard", f"{name}/inaugural", "--json")[1])
        assert told["sha256"] == FROZEN[f"{name}/inaugural"]
        assert told["changed_references"] == []
    shown = run("standard", "iris/inaugural")[1]
    assert "metrics.RD_gender" in shown
    assert "total_divisor.answer_consistency_difference   9\n" in shown
    assert "bound none: log(1 + value) is taken" in shown
    both = ("standard", "iris/inaugural", "iris/algorithm_1")
    changed = {field["name"] for field in json.loads(run(*both, "--json")[1])["fields"]}
    assert {"scale.total", "note"} <= changed
    assert "scale.total\n  iris/inaugural: " in run(*both)[1]
