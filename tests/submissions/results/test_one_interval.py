from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from fairspace.leaderboard_space.intake import add_result
from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.storage.local import LocalStorage
from fairspace.submissions.benchmarks.registry import NAMES, benchmark
from fairspace.submissions.benchmarks.scoring_table import AS_RELEASED
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.row_errors import with_errors
from fairspace.submissions.results.scoring import load_result, score_submission
from fairspace.submissions.values import Value
from tests.scored_baselines import baseline


@pytest.mark.parametrize("name", NAMES)
def test_a_score_that_is_made_of_one_raw_value_as_it_is_is_that_value(name: str) -> None:
    bench = benchmark(name)
    for standard in bench.standards.values():
        rules = bench.scoring.table(standard, AS_RELEASED).rules
        for rule in rules.values():
            parts = tuple(rule.weights)
            if (len(parts) == 1 and parts[0] not in rules) or parts == (rule.name,):
                assert rule.rescale is not None or rule.original == parts[0], rule.name


@pytest.mark.slow  # scores with resamples: some seconds each
@pytest.mark.parametrize("name", ["fact_or_fair", "stereotypical_bias", "iris"])
def test_no_value_of_a_result_has_two_intervals_wherever_it_is_shown(tmp_path: Path, name: str) -> None:
    scored = score_submission(baseline("stereotyped", name), resamples=100)
    file = tmp_path / "result.json"
    file.write_text(scored.dumps(), encoding="utf-8")
    loaded = load_result(file)
    assert_one_interval(loaded)
    storage = LocalStorage(tmp_path / "store")
    add_result(storage, scored)
    state = State(storage)
    state.refresh()
    [row] = [row for row in with_errors(state.board(name, scored.standard), scored.standard) if row.result is not None]
    assert row.scores.keys() == loaded.scored.scores.keys()
    for score, value in row.scores.items():  # the log keeps seven digits
        words, numbers = _fields(value)
        assert words == _fields(loaded.scored.scores[score])[0], score
        assert numbers == pytest.approx(_fields(loaded.scored.scores[score])[1], rel=1e-6), score
    assert row.chances == pytest.approx(loaded.scored.chances, rel=1e-6)
    storage.close()


def _fields(value: Value) -> tuple[dict[str, Any], dict[str, float]]:
    fields = {} if value.uncertainty is None else asdict(value.uncertainty)
    numbers = {name: field for name, field in fields.items() if isinstance(field, float)}
    return {name: field for name, field in fields.items() if name not in numbers}, numbers


def assert_one_interval(result: Result) -> None:
    bench = benchmark(result.benchmark)
    rules = bench.table_of(result.scored, bench.standards[result.standard]).rules
    originals = {score: rule.original for score, rule in rules.items() if rule.original is not None}
    assert {score for score in result.scored.scores if score in result.values} <= originals.keys()
    for score, original in originals.items():
        assert result.scored.scores[score].uncertainty == result.values[original].uncertainty, score
