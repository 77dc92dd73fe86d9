"""Variance components: printed examples, designs without balance, nesting, several columns, and what has none."""

import numpy as np
import pytest

from fairspace.submissions.validity.components import components
from fairspace.submissions.validity.decision import Z, decision
from fairspace.submissions.validity.study import Factor, Floats, Study, one_hot, over_models

RATINGS = np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], float)
"""Shrout and Fleiss, Intraclass correlations (1979), Table 2: six targets, four judges."""
YIELDS = np.array(
    [
        [1545, 1440, 1440, 1520, 1580],
        [1540, 1555, 1490, 1560, 1495],
        [1595, 1550, 1605, 1510, 1560],
        [1445, 1440, 1595, 1465, 1545],
        [1595, 1630, 1515, 1635, 1625],
        [1520, 1455, 1450, 1480, 1445],
    ],
    float,
)
"""Davies, Statistical Methods in Research and Production (1949): dyestuff from six batches, five yields each."""


def rated(scores: Floats, *, fixed: bool = False) -> Study:
    target, judge = np.indices(scores.shape[:2]).reshape(2, -1)
    flat = scores.reshape(len(target), -1)
    factors = (Factor("target", "prompt", target), Factor("judge", "judge", judge, fixed=fixed))
    return Study("ratings", "a rating", "rating", flat, factors, "target")


def variances(study: Study) -> dict[str, float]:
    return {part.effect: part.variance for part in components(study).parts}


def test_the_printed_example_of_shrout_and_fleiss() -> None:
    # Table 3: mean squares 11.24 (targets), 32.49 (judges), 1.02 (residual)
    found = variances(rated(RATINGS))
    assert found["target"] == pytest.approx((11.24 - 1.02) / 4, abs=0.01)
    assert found["judge"] == pytest.approx((32.49 - 1.02) / 6, abs=0.01)
    assert found["within"] == pytest.approx(1.02, abs=0.005)


def test_the_coefficient_is_the_printed_intraclass_correlation() -> None:
    worth = decision(components(rated(RATINGS)))
    assert worth is not None
    assert worth.coefficient == pytest.approx(0.91, abs=0.005)
    assert worth.needed_per_target == 1  # a rating by each of the four judges


def test_the_printed_components_of_dyestuff() -> None:
    batch = np.repeat(np.arange(6), 5)
    found = variances(Study("dyestuff", "yield", "yield", YIELDS.ravel(), (Factor("batch", "prompt", batch),), "batch"))
    assert found == pytest.approx({"batch": 1764.05, "within": 2451.25})


def test_unbalanced_nested_components_are_right_on_average() -> None:
    rng, estimates = np.random.default_rng(4), []
    for _ in range(60):
        a, b, c = rng.integers(0, 12, 400), rng.integers(0, 8, 400), rng.integers(0, 3, 400)
        scores = rng.normal(0, 1, 12)[a] + rng.normal(0, 0.5, 8)[b] + rng.normal(0, 0.7, (12, 8))[a, b]
        scores += rng.normal(0, 0.6, (12, 3))[a, c] + rng.normal(0, 1, 400)
        factors = (Factor("a", "prompt", a), Factor("b", "wording", b), Factor("c", "sample", c, within=("a",)))
        estimates.append(variances(Study("drawn", "", "", scores, factors, "a")))
    mean = {name: np.mean([found[name] for found in estimates]) for name in estimates[0]}
    # the standard error of the largest one is .06; a component of 0 is on average above 0, as none is negative
    assert mean == pytest.approx(
        {"a": 1, "b": 0.25, "a × b": 0.49, "c in a": 0.36, "b × c in a": 0, "within": 1}, abs=0.15
    )


def test_negative_estimates_are_0_and_say_so() -> None:
    study = rated(np.array([[1.0, 2.0], [2.0, 1.0]]))
    (target, judge, within) = sorted(components(study).parts, key=lambda part: part.effect != "target")
    assert (target.variance, target.negative) == (0.0, True)
    assert within.share + judge.share == pytest.approx(1)


def test_of_several_columns_components_are_means() -> None:
    codes = np.array([0, 0, 1, 2, 2, 2, 1, 0])
    factor = (Factor("prompt", "prompt", np.arange(8) // 2),)
    columns = [Study("s", "", "", one_hot(codes, 3)[:, k], factor, "prompt") for k in range(3)]
    whole = components(Study("s", "", "", one_hot(codes, 3), factor, "prompt"))
    # negative estimates are set to 0 after the mean is taken, so the last component alone is compared
    assert whole.parts[-1].variance == pytest.approx(
        np.mean([components(study).parts[-1].variance for study in columns])
    )


def test_samples_without_a_score_count_for_nothing() -> None:
    missing = RATINGS.copy()
    missing[0, 0] = np.nan
    dropped = rated(RATINGS)
    keep = np.arange(24) > 0
    factors = tuple(Factor(f.name, f.kind, f.codes[keep]) for f in dropped.factors)
    assert variances(rated(missing)) == pytest.approx(
        variances(Study("ratings", "", "", RATINGS.ravel()[keep], factors, "target"))
    )


@pytest.mark.parametrize(
    ("scores", "reason"),
    [
        (np.full((3, 2), np.nan), "0 samples"),
        (np.ones((3, 2)), "score alike"),
        (np.array([[1.0], [2.0]]), "no factor"),
    ],
)
def test_what_has_no_components_says_why(scores: Floats, reason: str) -> None:
    found = components(rated(scores))
    assert not found.parts
    assert reason in found.reason
    assert decision(found) is None


def test_fixed_factors_add_no_error_by_themselves() -> None:
    random, fixed = (decision(components(rated(RATINGS, fixed=fixed))) for fixed in (False, True))
    assert random is not None
    assert fixed is not None
    assert random.other_prompts is not None
    assert fixed.other_prompts is not None
    judges = (32.49 - 1.02) / 6 / 4
    assert random.other_prompts**2 - fixed.other_prompts**2 == pytest.approx(Z**2 * judges, abs=0.02)
    assert fixed.same_prompts == pytest.approx(Z * np.sqrt(1.0194 / 24), abs=0.001)


def test_as_many_samples_as_needed_give_the_wanted_width() -> None:
    scores = np.random.default_rng(0).normal(0, 1, (40, 25)) + np.random.default_rng(1).normal(0, 0.5, (40, 1))
    prompt = np.repeat(np.arange(40), 25)
    study = Study("drawn", "", "", scores.ravel(), (Factor("prompt", "prompt", prompt),), "prompt", wanted=0.03)
    estimated = components(study)
    worth = decision(estimated)
    assert worth is not None
    assert worth.needed_samples is not None
    assert worth.needed_prompts is not None
    between, within = (part.variance for part in estimated.parts)
    assert (
        Z * np.sqrt(within / 40 / worth.needed_samples) <= 0.03 < Z * np.sqrt(within / 40 / (worth.needed_samples - 1))
    )
    anew = between + within / 25
    assert Z * np.sqrt(anew / worth.needed_prompts) <= 0.03 < Z * np.sqrt(anew / (worth.needed_prompts - 1))
    needed = worth.needed_per_target
    assert needed is not None
    assert between / (between + within / needed) >= 0.8 > between / (between + within / (needed - 1))


def test_of_several_models_the_model_is_the_target() -> None:
    rng = np.random.default_rng(2)
    prompts = rng.normal(0, 1, 60)
    studies = [rated((prompts + model + rng.normal(0, 0.5, 60)).reshape(60, 1)) for model in range(4)]
    joined = components(over_models(["a", "b", "c", "d"], studies))
    shares = {part.effect: part.share for part in joined.parts}
    # variances of models 0 to 3: 5/3; of prompts 1; of the rest 1/4
    assert shares["model"] == pytest.approx(1.67 / 2.92, abs=0.1)
    assert shares["target"] == pytest.approx(1 / 2.92, abs=0.1)
    worth = decision(joined)
    assert worth is not None
    assert worth.target == "model"
    assert worth.per_target == 60
    assert worth.coefficient == pytest.approx(1.67 / (1.67 + 0.25 / 60), abs=0.01)
    assert worth.other_prompts == pytest.approx(Z * np.sqrt(1.25 / 60), rel=0.2)  # of the mean of one model
    fixed = [rated(RATINGS[:, :2] + model * np.array([0, 5]), fixed=True) for model in range(3)]
    alone = decision(components(over_models(["a", "b", "c"], fixed)))
    assert alone is not None
    assert alone.other_prompts is not None
    assert alone.other_prompts < 2  # what a model does at a fixed level is no error of its mean
    with pytest.raises(ValueError, match="other factors"):
        over_models(["a", "b"], [studies[0], Study("else", "", "", np.ones(3), (), "")])
