"""Agreement of judges: alpha by hand, as published, as other libraries give it; the undefined is never agreement."""

from __future__ import annotations

import random

import numpy as np
import pytest
from numpy.typing import NDArray

from fairspace.submissions.benchmarks.genres.records import Features
from fairspace.submissions.benchmarks.genres.unranked import MISSING, Agreement, agreement, alpha, jaccard

Codes = NDArray[np.int64]
_ = MISSING
PUBLISHED = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, _, _, _],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, _, 3],
    [_, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, _],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, _],
]


def codes(*rows: list[int]) -> Codes:
    return np.array(rows, np.int64)


def drawn(seed: int, judges: int, units: int, missing: float = 0.0) -> Codes:
    draw = np.random.default_rng(seed)
    truth = draw.integers(0, 3, units)
    found = np.where(draw.random((judges, units)) < 0.6, truth, draw.integers(0, 3, (judges, units)))
    return np.where(draw.random(found.shape) < missing, MISSING, found)


def test_alpha_by_hand() -> None:
    # Three passages, two judges: 0 0 | 0 1 | 1 1. Six answers, three of each category. Pairs that disagree: two
    # of six. By chance: 2 * 3 * 3 of 6 * 5 ordered pairs. alpha = 1 - (2/6) / (18/30) = 4/9.
    assert alpha(codes([0, 0, 1], [0, 1, 1])) == Agreement(pytest.approx(4 / 9), 3)  # type: ignore[arg-type]


def test_alpha_of_the_published_example() -> None:
    found = alpha(codes(*PUBLISHED))
    assert found.value == pytest.approx(0.743, abs=0.0005)
    assert found.units == 11


def test_alpha_is_1_where_all_agree_and_below_0_where_none_do() -> None:
    assert alpha(codes([0, 1, 2], [0, 1, 2], [0, 1, 2])) == Agreement(1.0, 3)
    worst = alpha(codes([0, 1] * 50, [1, 0] * 50))
    # Nothing agrees; by chance 2 * 100 * 100 of 200 * 199 pairs would not: 1 - 199/100.
    assert worst.value == pytest.approx(-0.99)


@pytest.mark.parametrize(
    ("rows", "units", "says"),
    [
        (codes([1, 1, 1], [1, 1, 1]), 3, "the same"),
        (codes([0, 0, _], [_, 0, 1]), 1, "the same"),
        (codes([0, 1, _, _], [_, _, 0, 1]), 0, "no two judges"),
        (codes([_, _], [_, _]), 0, "no two judges"),
        (codes([0, 1, 2]), 0, "no two judges"),
        (np.zeros((2, 0), np.int64), 0, "no two judges"),
    ],
    ids=["one category", "one category where both judged", "no overlap", "nothing", "one judge", "no units"],
)
def test_what_shows_no_agreement_is_undefined_and_never_1(rows: Codes, units: int, says: str) -> None:
    found = alpha(rows)
    assert (found.value, found.units) == (None, units)
    assert says in found.reason


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_judges_and_units_and_the_names_of_categories_change_nothing(seed: int) -> None:
    found = drawn(seed, 4, 60, 0.3)
    turned = np.random.default_rng(seed).permutation(found.T).T[::-1]
    renamed = np.where(turned == MISSING, MISSING, (turned + 1) % 3 + 5)
    assert alpha(renamed).value == pytest.approx(alpha(found).value)


def test_a_passage_that_one_judge_alone_judged_changes_nothing() -> None:
    found = drawn(1, 2, 40)
    alone = np.hstack([found, codes([0, MISSING, 2], [MISSING, 1, MISSING])])
    assert alpha(alone) == alpha(found)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_alpha_is_the_one_of_nltk(missing: float) -> None:
    metrics = pytest.importorskip("nltk.metrics.agreement")
    found = drawn(3, 3, 80, missing)
    triples = [(f"judge {j}", str(u), int(c)) for (j, u), c in np.ndenumerate(found) if c != MISSING]
    assert alpha(found).value == pytest.approx(metrics.AnnotationTask(triples).alpha())


@pytest.mark.parametrize("seed", range(5))
def test_alpha_of_two_judges_with_the_same_marginals_is_cohens_kappa_but_for_the_small_sample(seed: int) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    one = drawn(seed, 1, 50)[0]
    other = one.copy()
    places = np.random.default_rng(seed).choice(50, 20, replace=False)
    other[places] = np.roll(other[places], 1)
    kappa = metrics.cohen_kappa_score(one, other)
    answers = 2 * len(one)
    assert alpha(np.stack([one, other])).value == pytest.approx(1 - (1 - kappa) * (answers - 1) / answers)


def words(*sets: str) -> dict[tuple[int, int], frozenset[str]]:
    return {(place, 0): frozenset(text.split()) for place, text in enumerate(sets)}


def test_the_jaccard_index_by_hand() -> None:
    # kind brave | kind: 1/2. cold | warm: 0. The third is empty for both: left out. Only one judge has a fourth.
    found = jaccard([words("kind brave", "cold", "", "proud"), words("kind", "warm", "")])
    assert found == Agreement(0.25, 2)
    three = jaccard([words("a b"), words("a"), words("a b")])
    assert three == Agreement(pytest.approx((0.5 + 1 + 0.5) / 3), 1)  # type: ignore[arg-type]


def test_words_of_nobody_are_no_agreement() -> None:
    for pair in ([words(""), words("")], [words("a"), {}], [words("a")], []):
        assert jaccard(pair).value is None


def judge(status: list[tuple[float, float]], said: list[str]) -> Features:
    column = np.array(status)
    return Features(
        {"status": column, "main": column[::-1], "stereoscopic": column},
        words={place: (frozenset(text.split()), None) for place, text in enumerate(said)},
    )


def test_the_values_hold_what_every_two_judges_agree_on() -> None:
    nan = float("nan")
    first = judge([(1, 0), (0, 1), (0, 0), (nan, nan)], ["kind", "cold"])
    second = judge([(1, 0), (0, 1), (0, 1), (1, 0)], ["kind", "warm"])
    third = Features(absent={"M4": "no judgements"})
    found = {value.name: value for value in agreement({"a": first, "b": second, "c": third}, 4)}
    assert list(found) == [f"agreement_{name}" for name in ("status", "main", "stereoscopic", "personality")]
    status = found["agreement_status"]
    # male male | female female | neither female: 1 - (2/6) / (1 - (2*1 + 3*2 + 0)/30) = 1 - (1/3) / (22/30)
    assert status.value == pytest.approx(1 - (1 / 3) / (22 / 30))
    assert (status.expected, status.valid, status.low, status.high) == (4, 3, None, None)
    pairs = status.evidence["pairs"]
    assert [(pair["first"], pair["second"]) for pair in pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert [pair.get("value") for pair in pairs] == [pytest.approx(status.value), None, None]
    assert pairs[2]["reason"] == "no two judges judged the same"
    both = found["agreement_stereoscopic"]
    assert (both.expected, both.valid) == (8, 6)
    assert (found["agreement_personality"].value, found["agreement_personality"].valid) == (0.5, 2)


def test_judges_that_always_say_the_same_have_no_agreement() -> None:
    constant = judge([(1, 0)] * 4, [""])
    for value in agreement({"a": constant, "b": constant}, 4):
        assert value.state == ("value" if value.name == "agreement_stereoscopic" else "undefined")
        assert value.value == (1.0 if value.name == "agreement_stereoscopic" else None)


def test_the_random_judge_agrees_with_nobody() -> None:
    draw = random.Random(4)
    rows = [[draw.randrange(3) for _ in range(4000)] for _ in range(3)]
    assert alpha(codes(*rows)).value == pytest.approx(0, abs=0.03)
