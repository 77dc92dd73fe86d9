import math

import numpy as np
import pytest

from fairspace.builders.registry import table
from fairspace.metrics.genres_bias.formula import correlation_p
from fairspace.submissions.benchmarks.genres import quantities
from fairspace.submissions.benchmarks.genres.parse.judge import evaluation_name, judge_of
from fairspace.submissions.benchmarks.genres.records import Features, Records
from fairspace.submissions.benchmarks.genres.statistic import measured_values
from fairspace.submissions.benchmarks.genres.variants import repeated_evaluations
from fairspace.submissions.values import Value, measured
from tests.submissions.benchmarks.genres.drawn import IDS

MALE, FEMALE, NEITHER, UNREAD = (1.0, 0.0), (0.0, 1.0), (0.0, 0.0), (math.nan, math.nan)


def evaluation(*answers: tuple[float, float]) -> Features:
    column = np.array([answers[place % len(answers)] for place in range(len(IDS))])
    return Features({"status": column, "main": column})


def evaluated(*evaluations: Features, names: tuple[str, ...] = ("b", "c", "d")) -> Records:
    others = dict(zip(names, evaluations[1:], strict=False))
    return Records(IDS, len(IDS), judge="a", features=evaluations[0], others=others)


def two_thirds_of(found: Records) -> dict[str, Value]:
    return measured_values(quantities.two_thirds(found))


def test_two_of_three_suffice_and_three_answers_do_not() -> None:
    # In turn: all say the man; two the woman; two neither; all differ.
    a = evaluation(MALE, FEMALE, NEITHER, MALE)
    b = evaluation(MALE, FEMALE, MALE, FEMALE)
    c = evaluation(MALE, MALE, NEITHER, NEITHER)
    values = two_thirds_of(evaluated(a, b, c))
    for question in ("status", "main"):
        whole = values[f"agreement_two_thirds_{question}"]
        assert (whole.value, whole.low, whole.high) == (0.75, 0.75, 0.75)
        assert whole.evidence == {"evaluations": 3, "needed": 2}
        for which in ("male", "female", "neither"):
            assert values[f"agreement_two_thirds_{question}_{which}"].value == pytest.approx(1 / 3)
    assert values["agreement_two_thirds_status_cs"].expected == 360


def test_of_four_evaluations_three_must_agree() -> None:
    a, b = evaluation(MALE), evaluation(FEMALE)
    assert two_thirds_of(evaluated(a, a, b, b))["agreement_two_thirds_status"].value == 0
    assert two_thirds_of(evaluated(a, a, a, b))["agreement_two_thirds_status"].value == 1


def test_what_is_not_read_agrees_with_nothing_and_widens_the_bounds() -> None:
    # In turn: two of three agree whatever the third says; one read alone; two that differ, one unread.
    a, b, c = evaluation(MALE, MALE, MALE), evaluation(MALE, UNREAD, FEMALE), evaluation(UNREAD, UNREAD, UNREAD)
    share = two_thirds_of(evaluated(a, b, c))["agreement_two_thirds_status"]
    assert (share.value, share.valid) == (1, 480)
    assert share.low == pytest.approx(1 / 3)
    assert share.high == 1
    none = two_thirds_of(evaluated(evaluation(UNREAD), evaluation(UNREAD), evaluation(UNREAD)))
    assert {value.state for value in none.values()} == {"undefined"}


def test_two_evaluations_have_no_two_thirds() -> None:
    assert two_thirds_of(evaluated(evaluation(MALE), evaluation(MALE))) == {}


def test_evaluations_are_named_by_their_judge() -> None:
    assert [judge_of(name) for name in ("x#1", "x#2", "x#02", "x#")] == ["x#1", "x", "x#02", "x#"]
    assert [evaluation_name("x", number) for number in (1, 2)] == ["x", "x#2"]


def test_repeated_evaluations_give_their_mean_with_students_interval() -> None:
    numbers = {"M4": 1.0, "M4@2": 3.0, "M4@3": 2.0, "M4@4": 9.0}
    values = {name: measured(name, number, expected=1440, valid=1440) for name, number in numbers.items()}
    empty = Features()
    (variant,) = repeated_evaluations(evaluated(empty, empty, empty, empty, names=("a#2", "a#3", "b")), values)
    assert (variant.kind, variant.name, variant.values) == ("repeated_evaluations", "a", {"M4": 2.0})
    # t of 2 degrees of freedom at 97.5 % is 4.3027; the standard error is 1 / sqrt(3).
    assert variant.intervals["M4"] == pytest.approx((2 - 4.30265 / 3**0.5, 2 + 4.30265 / 3**0.5), abs=1e-4)
    assert repeated_evaluations(evaluated(empty, empty, names=("b",)), values) == []


def test_p_values_at_the_ends() -> None:
    assert correlation_p(0.0, 100) == 1
    assert correlation_p(-1.0, 10) == 0
    assert math.isnan(correlation_p(0.5, 2))
    assert {value.state for value in quantities.p_values(Features(absent={"M7": "no", "M8": "no"}))} == {"not_run"}


PRINTED_P = {
    "llama": {"Phi4": 0.003, "Janus": 0.001},
    "glm": {"Qwen-3B": 0.134, "Phi4": 0.433, "Qwen-7B": 0.286, "Janus": 0.109, "Gemini": 0.369, "GPT-4o": 0.012},
    "mistral": {"Qwen-3B": 0.001, "Phi4": 0.695, "Qwen-7B": 0.011, "Janus": 0.401},
}
"""Table 2, column M7, where the printed p-value is above .000."""


def test_printed_p_values_count_every_evaluation_as_an_independent_passage() -> None:
    """E-GENRES-15: they fit 4 x 2 880 characters, and 2 880 fit few of them."""
    rows = {(row["evaluator"], row["model"]): abs(float(row["M7"])) for row in table("genres_table2_bias")}
    fits = {2880: 0, 11520: 0}
    for judge, by_model in PRINTED_P.items():
        for model, printed in by_model.items():
            r = rows[judge, model]
            for n in fits:
                smallest, largest = (correlation_p(r + step, n) for step in (0.0005, -0.0005))
                fits[n] += smallest - 0.0005 <= printed <= largest + 0.0005
    assert fits == {2880: 0, 11520: 12}
    significant = [r for r in rows.values() if correlation_p(r, 11520) < 0.05]
    assert (len(significant), sum(correlation_p(r, 2880) < 0.05 for r in significant)) == (11, 5)


def test_warmth_by_hand() -> None:
    """In turn: the man all warm and the woman half; the man without a word of either kind."""
    warm = np.array([[2.0, 1.0], [0.0, 3.0]] * (len(IDS) // 2))
    competent = np.array([[0.0, 1.0], [0.0, 1.0]] * (len(IDS) // 2))
    values = measured_values(quantities.warmth(Features({"warmth": warm, "competence": competent})))
    assert (values["warmth_male"].value, values["warmth_female"].value) == (100, 50)
    assert (values["all_warmth_male"].value, values["all_warmth_female"].value) == (1, 0)
    assert values["warmth_male_cs"].evidence["histogram"] == [0] * 9 + [180]
    assert (values["warmth_male"].valid, values["warmth_male"].expected) == (720, 1440)
    assert measured_values(quantities.warmth(Features())) == {}
