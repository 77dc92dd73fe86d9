"""A bundled baseline or another row's answers, partly changed, under a new name; attempts at one model."""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from fairspace.builders.fact_or_fair.plan import draws
from fairspace.leaderboard_space.jobs.child import ChildEnd, read_identity, read_outcome, write_identity
from fairspace.leaderboard_space.jobs.scoring import score
from fairspace.leaderboard_space.state import State
from fairspace.submissions.answers.rows import Codes, answer_codes
from fairspace.submissions.benchmarks.baselines import NAMES as BASELINES
from fairspace.submissions.benchmarks.baselines import Baseline, baseline_meta
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.checking.submission import read_submission
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.format.writing import write_submission
from fairspace.submissions.results.known_answers import (
    SketchKey,
    _parts,
    answers_digest,
    baseline_codes,
    draw_sketch,
    kappas,
    like_baseline,
    likeness,
    read_sketch,
)
from fairspace.submissions.results.row import TO_CHECK, Row
from tests.leaderboard_space.factory import add, good_zip, mark, result, state_of
from tests.submissions.results.test_tiers import BENCH as TIERS
from tests.submissions.results.test_tiers import result as with_level
from tests.submissions.results.test_tiers import waves

BENCH, REVISION = "fact_or_fair", "v2-core"
TASKS = list(find_benchmark(BENCH).telling_tasks)
SECRET = "a secret of these tests"
Tables = Mapping[str, pa.Table]


@cache
def tables(name: str, seed: int = 0, benchmark: str = BENCH, revision: str = REVISION) -> Tables:
    made: Tables = import_module(f"fairspace.submissions.benchmarks.{benchmark}.baselines").tables(name, seed, revision)
    return made


def answering(of: pa.Table, answers: list[Any]) -> Tables:
    column = pa.array(answers, pa.string())
    return {"responses": of.set_column(of.column_names.index("response"), "response", column)}


def changed(of: Tables, share: float, seed: int = 1) -> Tables:
    """Replace a drawn share of the answers with a random baseline's; all in capitals with a dot."""
    texts = of["responses"]["response"].to_pylist()
    others = tables("random", seed)["responses"]["response"].to_pylist()
    drawn = np.random.default_rng(seed).random(len(texts)) < share
    answers = [f" {(b if other else a).upper()}." for a, b, other in zip(texts, others, drawn, strict=True)]
    return answering(of["responses"], answers)


def preferring(seed: int, share: float = 0.4) -> Tables:
    """Answers of a model that shares a preference with its kind, with a strength that varies by statistic."""
    of, rng = tables("stereotyped")["responses"], np.random.default_rng(seed)
    preferred, own = of["response"].to_pylist(), tables("random", 100 + seed)["responses"]["response"].to_pylist()
    _, about = np.unique([name.split("/")[1] for name in of["id"].to_pylist()], return_inverse=True)
    follows = rng.random(len(own)) < (share + np.tile([-0.25, 0.25], about.max() + 1))[about]
    return answering(of, [a if chosen else b for a, b, chosen in zip(preferred, own, follows, strict=True)])


def submission(of: Tables, benchmark: str = BENCH, revision: str = REVISION) -> Submission:
    return Submission(baseline_meta("random", benchmark, 0, dict(of), revision), of)


@pytest.fixture
def state(tmp_path: Path) -> State:
    return state_of(tmp_path / "store")


def hand_in(state: State, model: str, of: Tables, user: str = "ada", *, release: bool = False, **meta: Any) -> str:
    """Submit a named model's answers; the scores are unrelated."""
    folder = state.storage.root.parent  # type: ignore[attr-defined]
    write_identity(submission(of), folder)
    scored = result(BENCH, "stereotyped", "some model")
    signature = {**scored.signature, "answers": answers_digest(of), "submission": model}
    named = replace(scored, meta={**scored.meta, "model": model, **meta}, signature=signature)
    return add(state, named, user, "", read_identity(folder, BENCH, REVISION, SECRET), is_released=release)


def rows(state: State) -> dict[str, Row]:
    return {row.model: row for row in state.board(BENCH) if row.result is not None}


def reason(state: State, model: str) -> str:
    row = rows(state)[model]
    assert row.rank is None
    return "; ".join(row.unranked)


def test_a_renamed_baseline_takes_no_rank_whatever_it_is_called_and_however_it_is_written(state: State) -> None:
    hand_in(state, "GPT-4o", tables("balanced"))
    hand_in(state, "GPT-5", changed(tables("balanced"), 0.01), "eve")
    hand_in(state, "honest", preferring(7), "bob", release=True)
    assert reason(state, "GPT-4o") == reason(state, "GPT-5") == "copy of balanced"
    assert {rows(state)[name].row_class for name in ("GPT-4o", "GPT-5")} == {"baseline"}
    assert rows(state)["honest"].rank == 1


def test_a_baseline_that_was_changed_or_drawn_anew_waits_for_a_maintainer_without_a_rank(state: State) -> None:
    hand_in(state, "changed", changed(tables("balanced"), 0.3))
    hand_in(state, "drawn", tables("random", 17), "eve")
    words = rf"looks like our answerer 'balanced' \((69|7\d) %\)\. {TO_CHECK}"
    assert re.fullmatch(words, reason(state, "changed"))
    assert reason(state, "drawn") == f"looks like random answers: none depends on what is asked. {TO_CHECK}"
    assert {(row.row_class, row.takes_rank, row.tier) for row in rows(state).values()} == {("submitted", False, None)}


def test_six_copies_are_one_ranked_row_and_the_honest_row_keeps_its_rank(state: State) -> None:
    first = hand_in(state, "first", preferring(7), release=True)
    hand_in(state, "honest", preferring(8), "bob", release=True)
    for number in range(6):
        copy = changed(preferring(7), 0.001 * number, seed=number)
        hand_in(state, f"copy {number}", copy, f"user {number}", release=True)
    found = rows(state)
    assert {name: row.rank for name, row in found.items() if row.rank} == {"first": 1, "honest": 1}
    assert {row.unranked for name, row in found.items() if "copy" in name} == {(f"the same answers as row {first}",)}
    state.storage.append([mark("withdrawn", first)])
    state.refresh()
    assert [name for name, row in rows(state).items() if row.rank] == ["copy 0", "honest"]


def test_a_copy_of_which_a_part_was_changed_waits_until_a_maintainer_releases_it(state: State) -> None:
    first = hand_in(state, "first", preferring(7))
    for share in (0.1, 0.2, 0.3):
        hand_in(state, f"copy {share}", changed(preferring(7), share, seed=int(100 * share)), f"user {share}")
        assert f"its answers are more like those of row {first} than two models'" in reason(state, f"copy {share}")
    hand_in(state, "released", changed(preferring(7), 0.25, seed=9), "dora", release=True)
    assert rows(state)["released"].rank == 1


def test_answers_of_a_withdrawn_row_are_told_whoever_hands_them_in_again(state: State) -> None:
    first = hand_in(state, "first", preferring(7), release=True)
    state.storage.append([mark("withdrawn", first)])
    hand_in(state, "other name", preferring(7))
    hand_in(state, "other account", changed(preferring(7), 0.01), "bob")
    assert f"the answers of row {first}, which was withdrawn" in reason(state, "other name")
    assert "the same answers as row" in reason(state, "other account")
    again = hand_in(state, "first", changed(preferring(7), 0.01), revision="2", release=True)
    assert [row.entry for row in rows(state).values() if row.rank] == [again], "its own account may, if it is released"


def test_who_changes_the_answers_that_another_key_draws_is_recognised_all_the_same() -> None:
    ours, theirs = SketchKey.of(SECRET), SketchKey.of("")
    original = answer_codes(submission(preferring(7)))
    drawn = draw_sketch(original, TASKS, theirs)
    evading = original.copy()
    known = read_sketch(drawn, TASKS)
    for place in range(len(evading)):
        alone = read_sketch(draw_sketch(evading[place : place + 1], TASKS, theirs), TASKS)
        if ((alone[0] > 0) & (alone[0] == known[0])).any():
            evading["code"][place] ^= 1
    assert 0.04 < float((evading["code"] != original["code"]).mean()) < 0.08, "128 of the answers"

    def kappa(key: SketchKey) -> float:
        of = [read_sketch(draw_sketch(codes, TASKS, key), TASKS) for codes in (original, evading)]
        return kappas(*of)[0]

    assert kappa(theirs) < 0.2
    assert kappa(ours) > 0.85


def test_the_same_model_handed_in_again_by_its_account_is_the_same_row(state: State) -> None:
    hand_in(state, "mine", preferring(7), release=True)
    for revision, share in (("2", 0.01), ("3", 0.2)):
        newest = hand_in(state, "mine", changed(preferring(7), share), revision=revision, release=True)
        assert [row.entry for row in state.board(BENCH) if row.model == "mine" and row.rank] == [newest]


def test_results_without_an_identity_are_nobodys_copies(state: State) -> None:
    for name in ("one", "two"):
        add(state, result(BENCH, "stereotyped", name), "ada", is_released=True)
    assert [row.rank for row in rows(state).values()] == [1, 1]


def test_a_jobs_child_leaves_the_identity_and_its_worker_draws_with_the_secret(tmp_path: Path) -> None:
    score(good_zip(tmp_path / "a.zip", "a model"), tmp_path)
    ended = ChildEnd("", "", halted=False, seconds=1.0)
    one, other = (read_outcome(ended, tmp_path, secret).identity for secret in (SECRET, ""))
    assert (one["baseline"]["baseline"], one["baseline"]["is_same"]) == ("stereotyped", True)
    assert one["key"] != other["key"]
    assert one["sketch"].keys() == {"llm_subjective"}
    assert one["sketch"] != other["sketch"]


def test_the_identity_is_that_of_the_answers_alone(tmp_path: Path) -> None:
    made = dict(tables("random", 3))
    meta = baseline_meta("random", BENCH, 3, made, REVISION)
    other = meta.model_copy(update={"baseline": None, "model": "GPT-4o", "organisation": "OpenAI"})
    backwards = {name: table.take(np.arange(table.num_rows)[::-1]) for name, table in made.items()}
    written = [
        write_submission(tmp_path / "a.zip", meta, made),
        write_submission(tmp_path / "b", other, backwards, table_format="jsonl", shards=3),
    ]
    one, two = map(read_submission, written)
    assert one.digest != two.digest
    assert answers_digest(one.tables) == answers_digest(two.tables)
    assert np.array_equal(answer_codes(one), answer_codes(two))


def test_models_that_share_a_preference_are_no_copies() -> None:
    rng = np.random.default_rng(0)
    items, preferred = np.ones((1, 128), np.uint8), rng.integers(0, 2, (1, 128))

    def answers(share: float) -> np.ndarray:
        return np.where(rng.random((1, 128)) < share, preferred, 1 - preferred).astype(np.uint8)

    def is_alike(share: float) -> tuple[bool, bool]:
        same, kappa = likeness(kappas((items, answers(share)), (items, answers(share))), [0.6])
        return same, kappa > 0

    assert np.mean([is_alike(0.97)[0] for _ in range(400)]) < 0.03
    assert np.mean([is_alike(0.85)[1] for _ in range(200)]) <= 0.1
    assert not any(is_alike(0.75)[1] for _ in range(200))
    declining = [(items, np.where(rng.random((1, 128)) < 0.02, 1, 2).astype(np.uint8)) for _ in range(2)]
    assert kappas(*declining)[0] < 0.5


def codes_of(name: Baseline, seed: int, benchmark: str, revision: str, share: float, others_seed: int = 0) -> Codes:
    """Codes of a baseline, a share of them replaced by drawn answers."""
    codes = baseline_codes(name, benchmark, revision, seed).copy()
    others = baseline_codes("random", benchmark, revision, 100 + others_seed)
    drawn = np.flatnonzero(np.random.default_rng(others_seed).random(len(codes)) < share)
    both = drawn[np.isin(codes["item"][drawn], others["item"])]
    order = np.argsort(others["item"])
    codes["code"][both] = others["code"][order][np.searchsorted(others["item"][order], codes["item"][both])]
    return codes


@pytest.mark.parametrize(
    ("benchmark", "revision"),
    [
        ("fact_or_fair", "v2-core"),
        pytest.param("genres", "v1", marks=pytest.mark.slow),
        pytest.param("iris", "v2", marks=pytest.mark.slow),
    ],
)
def test_a_baseline_is_recognised_from_another_seed_and_the_even_one_with_half_of_its_answers_drawn(
    benchmark: str, revision: str
) -> None:
    for name in BASELINES:
        like = like_baseline(codes_of(name, 5, benchmark, revision, 0), benchmark, revision)
        assert like is not None, name
        assert like.baseline == name or find_benchmark(benchmark).title == "GENRES", "they share their sentences"
    for share in (0.05, 0.15, 0.3, 0.5):
        like = like_baseline(codes_of("balanced", 0, benchmark, revision, share), benchmark, revision)
        assert like is not None, share
        assert like.baseline == "balanced"


@pytest.mark.parametrize(
    ("benchmark", "revision", "name"),
    [
        *(("fact_or_fair", "v2-core", name) for name in ("stereotyped", "balanced")),
        *(pytest.param("iris", "v2", name, marks=pytest.mark.slow) for name in ("stereotyped", "balanced")),
        pytest.param("stereotypical_bias", "v2", "stereotyped", marks=pytest.mark.slow),
    ],
)
def test_a_mixture_of_a_baseline_and_drawn_answers_is_told_with_its_share(
    benchmark: str, revision: str, name: Baseline
) -> None:
    is_large = benchmark == "stereotypical_bias"
    for share in (0.25,) if is_large else (0.2, 0.25, 0.35):
        codes = [codes_of(name, 0, benchmark, revision, 1 - share, seed) for seed in range(1 if is_large else 3)]
        told = [like_baseline(each, benchmark, revision) for each in codes]
        assert sum(like is not None for like in told) >= len(told) - 1, "one in fifty seems to depend on the item"
        for like in filter(None, told):
            assert (like.baseline, like.is_drawn, like.is_same) == (name, True, False)
            assert like.shares[name] == pytest.approx(share, abs=0.05)
            assert like.words == f"looks like our answerer '{name}' ({100 * like.shares[name]:.0f} %)"


def honest(mean: float, spread: float, benchmark: str, revision: str, seed: int) -> Codes:
    """Codes of a model that agrees with the stereotyped baseline to a degree that varies by topic."""
    codes, rng = baseline_codes("stereotyped", benchmark, revision).copy(), np.random.default_rng(seed)
    drawn = baseline_codes("random", benchmark, revision, 100 + seed)["code"]
    size = mean * (1 - mean) / spread**2 - 1
    for place, task in enumerate(find_benchmark(benchmark).telling_tasks):
        of_task = np.flatnonzero(codes["task"] == place)
        if len(of_task):
            parts = _parts(benchmark, task, revision)
            column = -2 if "vision" in task else 1
            about = parts["parts"][np.searchsorted(parts["item"], codes["item"][of_task]), column]
            shares = rng.beta(mean * size, (1 - mean) * size, about.max() + 1)
            others = of_task[rng.random(len(of_task)) >= shares[about]]
            codes["code"][others] = drawn[others]
    return codes


@pytest.mark.parametrize(
    ("benchmark", "revision"),
    [
        ("fact_or_fair", "v2-core"),
        ("iris", "v2"),
        pytest.param("stereotypical_bias", "v2", marks=pytest.mark.slow),
    ],
)
def test_a_model_with_preferences_of_its_own_is_no_mixture(benchmark: str, revision: str) -> None:
    """A tenth of natural answers match the stereotyped baseline; at most one model in ten may be flagged.

    GENRES' texts reveal a baseline by any sentence; the answers of the other benchmarks are choices or images.
    """
    cases = [(0.1, 0.15), (0.25, 0.2), (0.4, 0.2)]
    told = [
        like_baseline(honest(mean, spread, benchmark, revision, seed), benchmark, revision)
        for seed in range(1 if benchmark == "stereotypical_bias" else 4)
        for mean, spread in cases
    ]
    assert sum(like is not None for like in told) <= 1


def test_answers_to_a_revision_that_nobody_knows_are_like_no_baseline() -> None:
    assert like_baseline(answer_codes(submission(tables("balanced"))), BENCH, REVISION) is not None
    assert like_baseline(answer_codes(submission(tables("balanced"))), BENCH, "v99") is None
    images = baseline_codes("balanced", BENCH, REVISION).copy()
    images["task"] = list(find_benchmark(BENCH).telling_tasks).index("t2i_objective")
    assert like_baseline(images, BENCH, REVISION) is None, "no baseline makes images"


def test_no_model_with_a_preference_of_its_own_is_like_a_baseline() -> None:
    for seed in range(3):
        assert like_baseline(answer_codes(submission(preferring(seed, 0.3))), BENCH, REVISION) is None


def test_a_model_that_always_prefers_one_group_is_not_like_the_even_baseline() -> None:
    own = tables("random", 100)["responses"]
    drawn = draws(REVISION)
    subjective = np.flatnonzero(np.asarray(pc.equal(own["task"], "llm_subjective")))
    for attribute, group in (("gender", 0), ("gender", 1), ("race", 0), ("race", 3)):
        letters = np.array(list("ABCD"))[(drawn.profiles(attribute) == group).argmax(axis=1)]
        answers = np.array(own["response"].to_pylist(), object)
        answers[subjective] = letters
        codes = answer_codes(submission(answering(own, answers.tolist())))
        assert like_baseline(codes, BENCH, REVISION) is None, (attribute, group)


def attempt(state: State, model: str, revision: str, user: str) -> str:
    scored = with_level(model, 0.3, waves(0.02, 3), revision=revision)
    scored = replace(scored, signature={**scored.signature, "submission": revision})
    return add(state, scored, user, is_released=True)


def test_the_newest_attempt_is_ranked_and_those_before_are_counted(state: State) -> None:
    honest = attempt(state, "honest", "1", "bob")
    names = (("mine", "1"), ("Mine", "2"), ("MI-NE", "3"))
    tries = [attempt(state, model, revision, "eve") for model, revision in names]
    of = {row.entry: row for row in state.board(TIERS) if row.result is not None}
    assert [of[entry].attempt for entry in (honest, *tries)] == [1, 1, 2, 3]
    assert [of[entry].rank for entry in (honest, *tries)] == [1, None, None, 1]
    assert of[tries[0]].unranked == (f"an earlier attempt at this model; its newest is row {tries[2]}",)
    assert of[tries[2]].ranked == of[honest].ranked


def test_withdrawn_attempts_count_and_leave_a_trace_and_other_accounts_count_for_nothing(state: State) -> None:
    first = attempt(state, "mine", "1", "eve")
    state.storage.append([mark("withdrawn", first)])
    second, other = (attempt(state, "mine", revision, user) for revision, user in (("2", "eve"), ("3", "ada")))
    of = {row.entry: row for row in state.board(TIERS) if row.result is not None}
    assert (of[second].attempt, of[second].account_attempt, of[other].attempt) == (2, 2, 1)
    assert [logged.entry for logged in state.withdrawn(TIERS)] == [first]
    assert [logged.entry for logged in state.withdrawn_attempts(second)] == [first]
    assert state.withdrawn_attempts(other) == []
