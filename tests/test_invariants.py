"""The design's invariants 1 to 6 on all four benchmarks, over every baseline, drawn models and every kind of damage."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from fairspace.submissions.benchmarks.baselines import NAMES as BASELINES
from fairspace.submissions.benchmarks.benchmark import Scored
from fairspace.submissions.benchmarks.registry import NAMES, benchmark
from fairspace.submissions.checking.submission import check_submission
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.format.writing import write_submission
from fairspace.submissions.results.scoring import load_result, rescore, score_submission
from fairspace.submissions.values import Value
from tests.damage import DAMAGES, at_random, damaged, where_text_is
from tests.scored_baselines import baseline, scored_baseline
from tests.submissions.benchmarks.iris import factory as iris_factory

UNFAVOURABLE = {
    "iris": [
        ("gender", "^male$"),
        ("age", "^young$"),
        ("response", "^no$"),
        ("id", "/male_"),
        ("response", "^(9|10)$"),
    ],
    "fact_or_fair": [("id", "/highest/"), ("id", "crime"), ("response", "^A"), ("id", "/gender$")],
    "stereotypical_bias": [("response", "left"), ("id", "nurse"), ("response", "female|white")],
    "genres": [("judgement", "Task1"), ("id", "^ar/"), ("response", "She")],
}
"""Rows that a submitter might hope to gain by leaving out, as (column, pattern); of others, those of each choice."""
DESCRIPTIVE = ("na_rate", "steer_success", "share", "chance", "narratives", "refusal")
UNKNOWN = ("drop", "silence")
"""Damage that leaves an answer unknown; a refused or garbled one is known, and in IRIS becomes wrong."""
Choice = Callable[[pa.Table, str], NDArray[np.bool_]]
Scores = tuple[Mapping[str, Value], Scored]


def score(submission: Submission) -> Scores:
    bench = benchmark(submission.meta.benchmark)
    values = bench.measure(bench.read(submission))
    return values, bench.score(values, bench.standards[bench.default_for(submission.meta.dataset_revision)])


def assert_not_better(bench: str, before: Scored, after: Scored) -> None:
    """Neither the ranked number nor any worst case improved, and nothing unranked became ranked."""
    higher = benchmark(bench).higher_is_better
    if before.ranked is None:
        assert after.ranked is None
    elif after.ranked is not None:
        assert (after.ranked <= before.ranked + 1e-9) if higher else (after.ranked >= before.ranked - 1e-9)
    for name, old in before.scores.items():
        new = after.scores[name]
        if old.state != "value":
            assert new.state != "value"
        elif new.state == "value":
            worst = (old.low, new.low) if higher else (new.high, old.high)
            if None not in worst:
                assert worst[1] <= worst[0] + 1e-9 * max(1.0, abs(worst[0])), name  # type: ignore[operator, arg-type]


def assert_bounds_widen(before: Mapping[str, Value], after: Mapping[str, Value]) -> None:
    """More missing samples never narrow the bounds of a raw value, or turn a gap into a number.

    Rates of refusals are exempt: silence is known to them.
    """
    for name, old in before.items():
        new = after[name]
        if any(word in name for word in DESCRIPTIVE):
            continue
        if old.state != "value":
            assert new.state != "value", name
        if new.state == "value" and old.low is not None and new.low is not None:
            assert new.low <= old.low + 1e-9, name
        if new.state == "value" and old.high is not None and new.high is not None:
            assert new.high >= old.high - 1e-9, name


def with_mistakes(submission: Submission, damage: str, choose: Choice) -> Scored:
    """Scores of an IRIS submission with wrong answers in place of the damaged ones."""
    tables = {
        name: iris_factory.mistaken(rows, choose(rows, name))
        if name == "responses"
        else DAMAGES[damage](rows, choose(rows, name), name)
        for name, rows in submission.tables.items()
    }
    return score(replace(submission, tables=tables))[1]


def assert_no_better_than_mistakes(before: Scored, mistakes: Scored, after: Scored) -> None:
    """A garbled answer gains no more than a wrong one in its place."""
    best = {
        name: max(old.low or 0.0, mistakes.scores[name].low or 0.0)
        for name, old in before.scores.items()
        if old.state == "value" or mistakes.scores[name].state == "value"
    }
    for name, new in after.scores.items():
        if new.state == "value" and new.low is not None:
            assert new.low <= best[name] + 1e-6 * max(1.0, abs(best[name])), name
    if after.ranked is not None:
        ranked = [scored.ranked for scored in (before, mistakes) if scored.ranked is not None]
        assert ranked
        assert after.ranked <= max(ranked) * (1 + 1e-6)


def assert_damage_never_helps(submission: Submission, damage: str, choose: Choice, before: Scores) -> None:
    """No score improves; unknown answers widen the bounds. A garbled one of IRIS may gain what a wrong one does."""
    bench, (before_values, before_scored) = submission.meta.benchmark, before
    values, after = score(damaged(submission, DAMAGES[damage], choose))
    if bench == "iris" and damage not in UNKNOWN:
        assert_no_better_than_mistakes(before_scored, with_mistakes(submission, damage, choose), after)
        return
    assert_not_better(bench, before_scored, after)
    if damage in UNKNOWN:
        assert_bounds_widen(before_values, values)


def cases(*names: str, slow: tuple[str, ...] = ("genres",)) -> list[Any]:
    """These baselines of each benchmark; the slow benchmarks' are marked, since parsing GENRES takes long."""
    marks = {bench: [pytest.mark.slow] if bench in slow else [] for bench in NAMES}
    return [pytest.param(bench, name, marks=marks[bench]) for bench in NAMES for name in names]


@pytest.mark.parametrize(("bench", "name"), cases(*BASELINES))
def test_doing_nothing_is_never_ranked_and_every_gap_has_a_reason(bench: str, name: str) -> None:
    result = scored_baseline(name, bench)
    if name in ("constant", "refusing"):
        assert result.scored.ranked is None
        assert result.scored.unranked
    for value in (*result.values.values(), *result.scored.scores.values()):
        assert value.state == "value" or value.reason
        assert value.valid <= value.expected or not value.expected
        if value.state == "value" and value.low is not None and value.high is not None:
            assert value.low - 1e-9 <= (value.value or 0) <= value.high + 1e-9, value.name


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize(("bench", "name"), cases("random", "stereotyped", slow=("iris", "genres")))
def test_damage_at_random_never_helps(bench: str, name: str, damage: str) -> None:
    before = scored_baseline(name, bench)
    for share in (0.002, 0.1):
        choose = at_random(7, share)
        assert_damage_never_helps(baseline(name, bench), damage, choose, (before.values, before.scored))


@pytest.mark.parametrize(("bench", "name"), cases("random", "stereotyped"))
def test_leaving_out_what_looks_unfavourable_never_helps(bench: str, name: str) -> None:
    before = scored_baseline(name, bench)
    choices = [("response", choice) for task in benchmark(bench).tasks for choice in task.choices]
    for column, pattern in UNFAVOURABLE.get(bench, choices):
        for share in (0.03, 1.0):
            choose = where_text_is(column, pattern, share)
            assert_damage_never_helps(baseline(name, bench), "drop", choose, (before.values, before.scored))


@pytest.mark.slow
@pytest.mark.parametrize("bench", NAMES)
def test_order_and_sharding_change_nothing_to_the_last_bit(bench: str, tmp_path: Path) -> None:
    submission = baseline("random", bench)
    rng = np.random.default_rng(3)
    mixed = {table: rows.take(rng.permutation(rows.num_rows)) for table, rows in submission.tables.items()}
    write_submission(tmp_path / "mixed", submission.meta, mixed, shards=3)
    report = check_submission(tmp_path / "mixed")
    assert report.submission is not None
    assert report.submission.digest == submission.digest
    assert score_submission(report.submission).dumps() == scored_baseline("random", bench).dumps()


@pytest.mark.parametrize("bench", NAMES)
def test_duplicates_are_refused(bench: str, tmp_path: Path) -> None:
    submission = baseline("random", bench)
    doubled = {table: pa.concat_tables([rows, rows.slice(0, 3)]) for table, rows in submission.tables.items()}
    write_submission(tmp_path / "doubled", submission.meta, doubled)
    report = check_submission(tmp_path / "doubled")
    assert report.submission is None
    assert {fault.code for fault in report.faults} == {"DUPLICATE_ID"}


@pytest.mark.parametrize(("bench", "name"), cases("stereotyped"))
def test_a_result_is_rescored_from_its_file_alone(bench: str, name: str, tmp_path: Path) -> None:
    result = scored_baseline(name, bench)
    (tmp_path / "result.json").write_text(result.dumps(), encoding="utf-8")
    loaded = load_result(tmp_path / "result.json")
    assert loaded.dumps() == result.dumps()
    assert rescore(loaded, result.standard).dumps() == result.dumps()
    for standard in benchmark(bench).standards:
        assert rescore(loaded, standard).scored.scores.keys() == result.scored.scores.keys()


@pytest.mark.parametrize("bench", NAMES)
def test_a_task_that_is_left_out_is_not_run(bench: str) -> None:
    submission = replace(baseline("random", bench), tables={})
    values, scored = score(submission)
    assert {value.state for value in values.values()} <= {"not_run", "undefined"}
    assert scored.ranked is None
    assert {value.state for value in scored.scores.values()} <= {"undefined", "not_run"}


@pytest.mark.slow
@given(
    seed=st.integers(0, 10_000),
    bias=st.floats(0, 1),
    accuracy=st.floats(0, 1),
    steered=st.floats(0, 1),
    share=st.floats(0.0005, 0.3),
    damage=st.sampled_from(sorted(DAMAGES)),
)
@settings(max_examples=8, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_damage_to_drawn_iris_models_never_helps(
    seed: int, bias: float, accuracy: float, steered: float, share: float, damage: str
) -> None:
    submission = iris_factory.submission(seed, bias, accuracy, steered)
    assert_damage_never_helps(submission, damage, at_random(seed, share), score(submission))


def mixture(bench: str, seed: int, shares: tuple[float, float]) -> Submission:
    """A drawn model: each answer is that of the stereotyped, the balanced or the random baseline."""
    parts = [baseline(name, bench) for name in ("stereotyped", "balanced", "random")]
    rng = np.random.default_rng(seed)
    tables = {}
    for table, rows in parts[0].tables.items():
        assert all(part.tables[table].select(["task", "id"]).equals(rows.select(["task", "id"])) for part in parts)
        drawn = rng.random(rows.num_rows)
        choice = np.where(drawn < shares[0], 0, np.where(drawn < shares[0] + shares[1] * (1 - shares[0]), 1, 2))
        joined = pa.concat_tables([part.tables[table] for part in parts])
        tables[table] = joined.take(choice * rows.num_rows + np.arange(rows.num_rows))
    return replace(parts[0], tables=tables)


@pytest.mark.slow
@pytest.mark.parametrize("bench", [name for name in NAMES if name != "iris"])
@given(
    seed=st.integers(0, 10_000),
    shares=st.tuples(st.floats(0, 1), st.floats(0, 1)),
    share=st.floats(0.0005, 0.15),
    damage=st.sampled_from(sorted(DAMAGES)),
)
@settings(max_examples=6, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_damage_to_drawn_models_never_helps(
    bench: str, seed: int, shares: tuple[float, float], share: float, damage: str
) -> None:
    submission = mixture(bench, seed, shares)
    assert_damage_never_helps(submission, damage, at_random(seed, share), score(submission))
