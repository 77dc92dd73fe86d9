"""Cohen's kappa and its interval: a hand-derived value, a peer, both extremes, and where it is undefined."""

from __future__ import annotations

import numpy as np
import pytest

from fairspace.builders.engine.agreement import Kappa, cohens_kappa, crossed


def of_answers(first: list[str], second: list[str]) -> Kappa:
    return cohens_kappa(crossed(first, second)[1])


def test_kappa_of_a_table_by_hand() -> None:
    """20 both yes, 15 both no, 5 and 10 apart: agreed 35/50, chance .5 * .6 + .5 * .4 = .5, kappa .4."""
    first = ["yes"] * 25 + ["no"] * 25
    second = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    answers, counts = crossed(first, second)
    assert (answers, counts.tolist()) == (("no", "yes"), [[15, 10], [5, 20]])
    assert cohens_kappa(counts)[:3] == pytest.approx((50, 0.7, 0.4))
    assert cohens_kappa([[15, 10, 0], [5, 20, 0], [0, 0, 0]]) == pytest.approx(cohens_kappa(counts))


@pytest.mark.parametrize(("answers", "images"), [(2, 40), (3, 200), (5, 500)])
def test_kappa_and_interval_are_those_of_statsmodels(answers: int, images: int) -> None:
    from statsmodels.stats.inter_rater import cohens_kappa as peer

    random = np.random.RandomState(images)
    first = random.randint(answers, size=images)
    second = np.where(random.random_sample(images) < 0.6, first, random.randint(answers, size=images))
    table = np.zeros((answers, answers))
    np.add.at(table, (first, second), 1)
    expected, kappa = peer(table), of_answers(first.astype(str).tolist(), second.astype(str).tolist())
    assert kappa[2:] == pytest.approx((expected.kappa, expected.kappa_low, expected.kappa_upp), abs=1e-9)


def test_order_and_names_of_answers_change_nothing_and_reviewers_may_be_swapped() -> None:
    first, second = list("aabbcab"), list("abbbcac")
    kappa = of_answers(first, second)
    assert of_answers(second, first) == pytest.approx(kappa)
    assert of_answers(first[::-1], second[::-1]) == pytest.approx(kappa)
    other = str.maketrans("abc", "zxy")
    assert of_answers([a.translate(other) for a in first], [b.translate(other) for b in second]) == pytest.approx(kappa)


def test_agreement_on_every_image_is_one_and_not_certain() -> None:
    few, many = (of_answers(["a", "b"] * n, ["a", "b"] * n) for n in (5, 500))
    assert few.kappa == many.kappa == 1.0 == few.high
    assert few.low == pytest.approx((10 / (10 + 1.96**2) - 0.5) / 0.5, abs=1e-3)
    assert few.low is not None
    assert many.low is not None
    assert few.low < 0.5 < 0.99 < many.low


def test_kappa_is_undefined_without_images_and_with_one_answer_alone() -> None:
    assert of_answers([], []) == Kappa(0, None, None, None, None)
    assert of_answers(["yes"] * 9, ["yes"] * 9) == Kappa(9, 1.0, None, None, None)
    assert of_answers(["yes"] * 9, ["yes"] * 8 + ["no"]).kappa == pytest.approx(0.0)
    assert of_answers(["a", "b"], ["b", "a"]).kappa == pytest.approx(-1.0)
    with pytest.raises(ValueError, match="shorter"):
        of_answers(["a", "b"], ["a"])
