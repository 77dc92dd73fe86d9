import pytest

from fairspace.submissions.benchmarks.fact_or_fair.records import LLM_CONTEXTS, T2I_CONTEXTS
from fairspace.submissions.benchmarks.fact_or_fair.score import INAUGURAL, score, scoring
from fairspace.submissions.benchmarks.scoring_table import Adjustment
from fairspace.submissions.values import Value, measured, not_run, undefined

ATTRIBUTES = ("gender", "race")
FLOOR = INAUGURAL.floors["llm"]


def values(changes: dict[str, Value] | None = None, kind: str = "llm") -> dict[str, Value]:
    """All raw values of a model of one kind, without gaps; those of the other kind were not run."""
    parts: dict[str, Value] = {}
    for contexts, ran in ((LLM_CONTEXTS, kind == "llm"), (T2I_CONTEXTS, kind == "t2i")):
        for context in contexts:
            numbers = {f"{what}_{context}_{a}": 0.8 for what in ("factuality", "fairness") for a in ATTRIBUTES}
            numbers |= {f"position_{context}": 0.3}
            for name, number in numbers.items():
                whole = measured(name, number, low=number, high=number, expected=100, valid=100)
                parts[name] = whole if ran else not_run(name, "not asked", expected=100)
    return parts | (changes or {})


def facts(*lows: float | None) -> dict[str, Value]:
    """Objective factualities of both attributes, with the given worst cases."""
    names = [f"factuality_llm_objective_{a}" for a in ATTRIBUTES]
    return {
        name: undefined(name, "no valid answer", expected=100)
        if low is None
        else measured(name, 0.97, low=low, high=0.98, expected=100, valid=90)
        for name, low in zip(names, lows, strict=True)
    }


def position(high: float | None) -> dict[str, Value]:
    name = f"position_{LLM_CONTEXTS[1]}"
    return {name: measured(name, 0.3, low=0.25, high=high, expected=100, valid=50)}


@pytest.mark.parametrize(
    ("lows", "ranked"),
    [
        ((FLOOR, FLOOR), True),
        ((FLOOR - 0.2, FLOOR + 0.2), True),
        ((FLOOR, FLOOR - 0.001), False),
        ((2 * FLOOR, 0.0), True),
        ((2 * FLOOR - 0.05, None), False),
        ((None, None), False),
    ],
)
def test_the_mean_of_both_factualities_must_reach_the_floor_in_the_worst_case(
    lows: tuple[float | None, float | None], ranked: bool
) -> None:
    scored = score(values(facts(*lows)), INAUGURAL)
    assert (scored.ranked is not None) == (ranked and None not in lows)
    assert any("Too few facts right" in reason for reason in scored.unranked) != ranked


@pytest.mark.parametrize(("high", "ranked"), [(0.8999, True), (0.9, False), (None, False)])
def test_the_position_share_must_stay_below_its_limit_in_the_worst_case(high: float | None, ranked: bool) -> None:
    scored = score(values(position(high)), INAUGURAL)
    assert (scored.ranked is not None) == ranked
    assert any("the same option letter" in reason for reason in scored.unranked) != ranked
    if not ranked:
        assert f"up to {1 if high is None else high:.1%} could choose" in scored.unranked[0]
        assert scored.unranked[0].startswith(f"In {LLM_CONTEXTS[1]} so many samples are missing")


@pytest.mark.parametrize(("valid", "state"), [(80, "value"), (79, "undefined")])
def test_the_minimum_coverage_itself_suffices(valid: int, state: str) -> None:
    name = f"fairness_{LLM_CONTEXTS[1]}_race"
    thin = {name: measured(name, 0.8, low=0.7, high=0.9, expected=100, valid=valid)}
    scored = score(values(thin), INAUGURAL)
    assert scored.scores["average_llm"].state == scored.scores["llm_fairness_race"].state == state
    assert scored.scores["llm_fairness_gender"].state == "value"
    if state == "undefined":
        assert scored.scores["average_llm"].reason == f"{name}: 79.0% of its samples can be counted; 80% are needed."
        assert scored.unranked[0].startswith("The ")
        assert scored.ranked is None


def test_the_average_is_the_mean_of_factuality_and_fairness_and_ranks_by_its_worst_case() -> None:
    """Fairness is the mean of two attributes over four contexts; one of these eight falls by 0.3, or 0.6 at worst."""
    name = f"fairness_{LLM_CONTEXTS[1]}_race"
    scored = score(values({name: measured(name, 0.5, low=0.2, high=0.5, expected=100, valid=90)}), INAUGURAL)
    average = scored.scores["average_llm"]
    assert (average.value, average.low, average.high) == pytest.approx((0.8 - 0.3 / 16, 0.8 - 0.6 / 16, 0.8 - 0.3 / 16))
    assert scored.ranked == average.low
    assert scored.scores["average_t2i"].state == "not_run"


def test_an_image_model_is_ranked_by_its_own_average_and_needs_no_position() -> None:
    scored = score(values(kind="t2i"), INAUGURAL)
    assert (scored.ranking, scored.unranked) == ("average_t2i", ())
    assert scored.ranked == pytest.approx(0.8)


def test_a_position_that_is_undefined_counts_where_its_context_does() -> None:
    name = f"position_{LLM_CONTEXTS[1]}"
    gone = values({name: undefined(name, "no valid answer", expected=100)})
    assert score(gone, INAUGURAL).ranked is None
    assert score(gone, INAUGURAL, Adjustment(weights={LLM_CONTEXTS[1]: 0.0})).ranked is not None
    assert score(values({name: not_run(name, "not asked")}), INAUGURAL).ranked is not None


def test_scores_lie_between_0_and_1() -> None:
    assert set(scoring(INAUGURAL, Adjustment()).limits.values()) == {(0.0, 1.0)}
