import json
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import fairspace as fs
from fairspace.submissions.benchmarks.baselines import write_baseline
from fairspace.submissions.benchmarks.benchmark import CHANCE, GAP, SIGNED, Ideal
from fairspace.submissions.comparing import DrawnScore, holm
from fairspace.submissions.gating import FAILED, UNDECIDED, _away, _chances, checked_values
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import rescore
from fairspace.submissions.results.tiers import LEVEL
from tests.submissions.conftest import Run
from tests.submissions.results.test_tiers import lacking, result, waves

ROOT = Path(__file__).parents[2]
LEVELS = {"base": 0.1, "worse": 0.3, "same": 0.1}


@pytest.fixture(scope="module")
def results() -> dict[str, Result]:
    return {name: result(name, level, waves(0.01, 3 + place)) for place, (name, level) in enumerate(LEVELS.items())}


def test_what_is_worse_fails_and_what_is_as_good_or_better_passes(results: dict[str, Result]) -> None:
    base, worse = results["base"], results["worse"]
    name = base.scored.ranking
    for tested, against, margin, verdict in (
        (worse, base, 0.0, "worse"),
        (base, worse, 0.0, "better"),
        (results["same"], base, 0.0, "no difference shown"),
        (worse, base, 0.25, "no difference shown"),
    ):
        found = fs.gate(tested, against, margin=margin)
        assert [check.name for check in found.checks] == checked_values(tested, against)
        assert (found.checks[0].name, found.checks[0].verdict) == (name, verdict)
        assert found.exit_code == (FAILED if verdict == "worse" else 0)
        assert repr(found).startswith(f"Gate: {'fails' if verdict == 'worse' else 'passes'}.")
    for most, verdict in ((0.2, "worse"), (0.4, "better"), (None, "measured")):
        check = fs.gate(worse, scores=[name], most=most).checks[0]
        assert (check.verdict, check.at_most) == (verdict, most)


def test_undefined_never_passes(results: dict[str, Result]) -> None:
    base = results["base"]
    without = lacking(base, base.scored.ranking)
    for tested, most in ((without, None), (without, 0.4), (replace(base, draws=None), 0.4)):
        found = fs.gate(tested, most=most)
        assert (found.checks[0].verdict, found.passes) == ("not enough data", False)


def test_an_undefined_score_does_not_pass_as_its_raw_value(results: dict[str, Result]) -> None:
    base = results["base"]
    name = next(name for name in base.scored.scores if name in base.values)
    without = lacking(base, name)
    for found in (fs.gate(without, base, scores=[name]), fs.gate(without, scores=[name], most=0.4)):
        assert [check.verdict for check in found.checks] == ["not enough data"]


def test_missing_answers_never_help(results: dict[str, Result]) -> None:
    base = results["base"]
    holes = [result(name, 0.1, waves(0.01, 6 + place), missing=30) for place, name in enumerate(("some", "others"))]
    verdicts = [fs.gate(*pair).checks[0].verdict for pair in ((holes[0], base), (base, holes[0]), holes)]
    assert verdicts == ["not enough data", "no difference shown", "no difference shown"]
    assert fs.gate(holes[0], most=0.2).checks[0].verdict == "not enough data"
    assert fs.gate(base, most=0.2).checks[0].verdict == "better"
    check = fs.gate(results["worse"], result("open", 0.1, waves(0.01, 8), missing=30)).checks[0]
    assert (check.verdict, check.reason) == ("not enough data", "the base could be 0.1000 to 0.4000: 30 % missing")


def test_doing_nothing_is_not_fair_and_like_is_compared_with_like(results: dict[str, Result]) -> None:
    base = results["base"]
    sides = {
        name: replace(value, value=1.0, low=1.0, high=1.0)
        for name, value in base.values.items()
        if name.endswith("_position_share")
    }
    idle = rescore(replace(base, values={**base.values, **sides}), base.standard)
    for found in (fs.gate(idle, base), fs.gate(idle, most=0.4)):
        assert {(check.verdict, bool(check.reason)) for check in found.checks} == {("not counted", True)}
        assert found.exit_code == UNDECIDED
    told = fs.gate(idle, most=0.4)
    head = repr(told).splitlines()[2].split()
    assert head == ["name", "value", "distance", "at", "most", "verdict"]
    assert f"not counted: {told.checks[0].reason}" in " ".join(repr(told).split())
    assert fs.gate(idle, idle).passes
    read = replace(base, signature={**base.signature, "reading": "authors"})
    with pytest.raises(fs.UsageError, match="v2 and by v2, authors; a gate compares"):
        fs.gate(read, base)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"margin": -1.0}, "margin of 0 or more"),
        ({"margin": float("nan")}, "finite numbers"),
        ({"scores": ["nothing"]}, "has no value 'nothing'"),
        ({"margin": 5.0}, "margin 5 of total: expected a number on its scale, 0.0000 to 0.4375"),
    ],
)
def test_a_wrong_gate_is_refused(asked: dict[str, object], said: str, results: dict[str, Result]) -> None:
    with pytest.raises(fs.UsageError, match=said):
        fs.gate(results["base"], results["same"], **asked)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("ideal", "score", "wanted"),
    [
        (GAP, (0.2, 0.1, 0.4), (0.2, 0.1, 0.4)),
        (SIGNED, (-0.2, -0.3, 0.1), (0.2, 0.0, 0.3)),
        (SIGNED, (-0.2, -0.3, -0.1), (0.2, 0.1, 0.3)),
        (Ideal(1.0, "below"), (0.7, 0.6, 0.9), (0.3, 0.1, 0.4)),
        (CHANCE, (0.4, 0.3, 0.5), (0.4, 0.3, 0.5)),
    ],
)
def test_distances_from_the_ideal(ideal: Ideal, score: tuple[float, ...], wanted: tuple[float, ...]) -> None:
    value, low, high = score
    found = _away(DrawnScore(value, value, np.full(3, value), (low, high)), ideal)
    assert (found.value, *(found.bounds or ())) == pytest.approx(wanted)


def is_worse(rng: np.random.Generator, apart: float, values: int = 3, items: int = 400, resamples: int = 200) -> bool:
    """Whether a model whose shares lie `apart` farther from one half is shown to be worse in any of some values."""
    weights = rng.multinomial(items, np.full(items, 1 / items), resamples) / items
    p = []
    for _ in range(values):
        likely = rng.beta(8, 6, items)  # items differ, and are the same for both models
        answers = [rng.random(items) < likely + more for more in (apart, 0.0)]
        ours, theirs = (_away(DrawnScore(a.mean(), a.mean(), weights @ a), Ideal(0.5, "either")) for a in answers)
        found = _chances(ours, theirs, 0.0, same=True)
        assert found is not None
        p.append(found[0])
    return min(holm(p)) < LEVEL


def test_equal_models_fail_at_most_5_percent_of_builds_and_worse_ones_most() -> None:
    rng = np.random.default_rng(1)
    alarms = np.mean([is_worse(rng, 0.0) for _ in range(400)])
    power = np.mean([is_worse(rng, 0.12) for _ in range(100)])
    assert alarms < 0.05 + 2 * np.sqrt(0.05 * 0.95 / 400)
    assert power > 0.8


def test_commands_end_with_3_where_the_gate_fails(run: Run, tmp_path: Path, results: dict[str, Result]) -> None:
    for name, each in results.items():
        (tmp_path / f"{name}.json").write_text(each.dumps())
    base, worse, same = (str(tmp_path / f"{name}.json") for name in LEVELS)
    score = results["base"].scored.ranking
    for words, code in (
        (("compare", base, worse, "--fail-if-worse"), FAILED),
        (("compare", base, same, "--fail-if-worse", "--score", score), 0),
        (("compare", base, worse, "--fail-if-worse", "--margin", "0.25"), 0),
        (("score", worse, "--require", score, "--max", "0.2"), FAILED),
        (("score", worse, "--require", score), 0),
        (("compare", base, worse, "--margin", "0.1"), 2),
        (("score", worse, "--max", "0.1"), 2),
        (("compare", base, worse, "--junit", str(tmp_path / "gate.xml")), 2),
        (("score", worse, "--summary", str(tmp_path / "page.md")), 2),
    ):
        assert run(*words)[0] == code, words
    told = json.loads(run("compare", base, worse, "--fail-if-worse", "--json")[1])
    assert told["passes"] is False
    assert told["checks"][0]["verdict"] == "worse"


def test_junit_has_a_failure_for_worse_and_an_error_for_open(
    run: Run, tmp_path: Path, results: dict[str, Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    base, worse = results["base"], results["worse"]
    tested = lacking(worse, "total", "lo\x1bst <")
    gated = fs.gate(tested, base, scores=["total", "gender_occupation", "race_persona"], margin=0.2)
    suite = ElementTree.fromstring(gated.to_junit("new.json"))[0]
    kinds = [(case[1].tag, case[1].get("type"), case.get("file")) for case in suite]
    assert kinds == [("error", "not enough data", "new.json")] + [("system-out", None, "new.json")] * 2
    assert [suite.get(kind) for kind in ("tests", "failures", "errors")] == ["3", "0", "1"]
    assert "the tested model: lo st <, margin 0.2000." in (suite[0][1].text or "")
    failure = ElementTree.fromstring(fs.gate(worse, base, margin=0.1).to_junit())[0][0][1]
    numbers = "value 0.3000, base 0.1000, distance 0.3000, at most 0.2000, p < 0.001, worse, margin 0.1000."
    assert (failure.tag, (failure.text or "").rpartition("): ")[2]) == ("failure", numbers)
    for name, each in (("base", base), ("worse", worse)):
        (tmp_path / f"{name}.json").write_text(each.dumps())
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "page.md"))
    for place in (), ("--summary", "named.md"):
        monkeypatch.chdir(tmp_path)
        assert run("compare", "base.json", "worse.json", "--fail-if-worse", *place)[0] == FAILED
        assert run("score", "worse.json", "--require", "total", *place)[0] == 0
    page = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert page == (tmp_path / "named.md").read_text(encoding="utf-8")
    assert page.count("### Stereotypical bias\n\n**Gate: ") == 2
    assert "| total | 0.1000 | 0.3000 | 0.3000 | 0.1000 | worse |" in page
    assert "worse against base. " in page


@pytest.mark.slow
def test_random_models_of_iris_near_the_floor_are_alike(tmp_path: Path) -> None:
    """Replicates of their sizes are larger than the sizes, so that scores vary less there than models do."""
    results = [
        fs.score(write_baseline("random", "iris", tmp_path / str(seed), revision="v2-core", seed=seed), resamples=300)
        for seed in range(1, 6)
    ]
    failed = [not fs.gate(tested, base).passes for tested, base in permutations(results, 2)]
    assert sum(failed) <= 1


def test_a_limit_on_a_value_whose_draws_are_not_kept_is_decided_by_its_error() -> None:
    """One group that was always refused has no draws here, and once failed no gate."""
    tested = fs.load_result(ROOT / "submissions/results/shipped/fact_or_fair_core_smollm2_135m.json")
    name = "entropy_llm_objective_gender"
    value = tested.values[name]
    assert tested.draws is None or name not in tested.draws.names
    assert value.value is not None
    assert value.uncertainty is not None
    away = 1 - value.value
    gates = [fs.gate(tested, scores=[name], most=most) for most in (away - 9 * value.uncertainty.error, away)]
    assert [gate.checks[0].verdict for gate in gates] == ["worse", "not counted"], "it is below a floor"
