from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from fairspace.builders.fact_or_fair.plan import ids
from fairspace.builders.iris.groups import OCCUPATIONS
from fairspace.metrics.columns import Floats
from fairspace.metrics.distribution_divergence.formula import divergence
from fairspace.metrics.representation_disparity.formula import disparity
from fairspace.submissions.benchmarks.fact_or_fair.variants import CORRECTED
from fairspace.submissions.benchmarks.iris.variants import HELD
from fairspace.submissions.checking.submission import read_submission
from fairspace.submissions.format.schema import SCHEMAS, LabelError, Submission
from fairspace.submissions.format.writing import write_submission
from fairspace.submissions.plotting import digits
from fairspace.submissions.reading.canonical import digest
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import score_submission
from fairspace.submissions.show.result import result_text
from fairspace.submissions.uncertainty.label_errors import (
    LEAST,
    LabelChecks,
    Shares,
    correct,
    fault,
    first_guess,
    label_variants,
    next_parameters,
    on_simplex,
    paired_counts,
    pairs_fault,
    posterior_intervals,
    powered_draws,
    prediction_powered,
    worse,
)
from fairspace.submissions.values import Value, measured
from tests.benchmarks.label_coverage import ORDER, labeller, rates, shares_held
from tests.benchmarks.label_coverage import matrix as paper
from tests.benchmarks.label_coverage import tested as measured_anew
from tests.submissions.benchmarks.iris.factory import META
from tests.submissions.sample import meta, tables

RACES = ("Asian", "Black", "Hispanic", "White")


def error(**attributes: Floats) -> LabelError:
    words = {"gender": ["female", "male"], "age": ["young", "middle-aged", "older"], "race": list(RACES)}
    words["skin_tone"] = list(ORDER["skin_tone"])
    matrices = {n: {"labels": words[n], "counts": c.astype(int).tolist()} for n, c in attributes.items()}
    return LabelError.model_validate({"source": "drawn", "attributes": matrices})


@pytest.mark.parametrize("attribute", ORDER)
def test_the_truth_lies_in_the_intervals_of_corrected_shares_at_the_papers_matrices(attribute: str) -> None:
    rng = np.random.default_rng(7)
    labels, images = {attribute: paper(attribute)}, 2_000
    held, raw = [], []
    for study in range(6):
        truth = rng.dirichlet(np.full(len(labels[attribute]), 0.7), 52)
        seen = rng.multinomial(images, truth @ rates(labels)).astype(float)
        draws = correct(seen, measured_anew(labels, rng), "study", seed=study).draws
        low, high = np.quantile(draws, [0.025, 0.975], axis=0)
        held.append((low <= truth) & (truth <= high))
        share = seen / images
        raw.append(np.abs(share - truth) <= 1.96 * np.sqrt(share * (1 - share) / images))
    assert np.mean(held) >= 0.92
    assert np.mean(raw) < np.mean(held) - 0.1


def test_the_corrected_disparity_of_occupations_has_a_tenth_of_the_bias() -> None:
    rng = np.random.default_rng(8)
    labels, off, bias = {"skin_tone": paper("skin_tone")}, [], []

    def statistic(p: Floats) -> Floats:
        return disparity(p).mean(-1, keepdims=True)

    for study in range(8):
        truth = rng.dirichlet(np.full(3, 0.5), 52)
        seen = rng.multinomial(160, truth @ rates(labels)).astype(float)
        corrected = correct(seen, measured_anew(labels, rng), "study", seed=study)
        ((mean, _),) = posterior_intervals(corrected, statistic, [(0.0, 1.0)])  # type: ignore[misc]
        true = float(statistic(truth[None])[0, 0])
        off.append(disparity(seen / 160).mean() - true)
        bias.append(mean - true)
    assert np.mean(off) < -0.06
    assert abs(np.mean(bias)) < 0.006


def test_a_variant_of_many_images_is_the_value_by_hand() -> None:
    """RD is |0.7 - 0.3| = 0.4 where it seemed |0.69 - 0.31| = 0.38; a worse labeller saw a wider gap narrowed."""
    counts = np.zeros((2, 3, 2))
    counts[:, 2] = [[690_000, 310_000], [690_000, 310_000]]
    many = np.array([[9_000_000, 1_000_000], [2_000_000, 8_000_000]])
    checks = LabelChecks(error(gender=many), people=None)
    half = np.array([0.5, 0.5])

    def statistic(p: Floats) -> Floats:
        return np.stack([disparity(p).mean(-1), divergence(p, half).mean(-1)], axis=-1)

    shares = Shares("hand", ("gender",), counts, ("RD", "JSD"), statistic, ((0.0, 1.0), (0.0, 1.0)))
    raw: dict[str, Value] = {name: measured(name, 0.38) for name in ("RD", "JSD")}
    variant, five, ten = label_variants(checks, raw, [shares], HELD)
    assert variant.values["RD"] == pytest.approx(0.4, abs=2e-3)
    assert variant.values["JSD"] == pytest.approx(float(divergence(np.array([0.7, 0.3]), half)), abs=1e-3)
    assert variant.intervals["RD"][0] < 0.4 < variant.intervals["RD"][1]
    # 0.85 x + 0.25 (1 - x) = 0.69 where x = 0.7333, and 0.8 x + 0.3 (1 - x) = 0.69 where x = 0.78
    assert [(v.kind, v.name) for v in (five, ten)] == [
        ("labels_transported", "5 points worse"),
        ("labels_transported", "10 points worse"),
    ]
    assert five.values["RD"] == pytest.approx(2 * 0.44 / 0.6 - 1, abs=3e-3)
    assert ten.values["RD"] == pytest.approx(2 * 0.39 / 0.5 - 1, abs=3e-3)
    assert not five.intervals
    nothing = replace(shares, counts=np.zeros((2, 3, 2)))
    assert [dict(variant.values) for variant in label_variants(checks, raw, [nothing], HELD)] == [{}, {}, {}]
    aged = replace(shares, columns=("age",))
    for variant in label_variants(checks, raw, [aged], HELD):
        assert not variant.values
        assert "age: label_error has no confusion matrix of it" in variant.note


@pytest.mark.parametrize("attribute", ORDER)
def test_corrected_shares_are_shares_also_where_all_samples_are_of_one_group(attribute: str) -> None:
    matrix = paper(attribute)
    counts = 160 * np.eye(len(matrix))
    corrected = correct(counts, {attribute: matrix}, "edge")
    for shares in (corrected.shares, corrected.draws):
        assert shares.min() >= 0
        assert shares.max() <= 1 + 1e-9
        assert shares.sum(axis=-1) == pytest.approx(1)
    assert np.diagonal(corrected.shares).min() > 0.9
    nothing = correct(np.zeros((1, len(matrix))), {attribute: matrix}, "edge")
    assert np.isnan(nothing.shares).all()
    assert np.isnan(nothing.draws).all()


def test_samples_are_counted_by_cell_by_peoples_label_and_by_labeller() -> None:
    cell, machine, human = np.array([0, 0, 0, 1]), np.array([1, 0, -1, 0]), np.array([0, -1, 1, 1])
    counts = paired_counts(cell, machine, human, (3, 2), np.array([1.0, 2.0, 4.0, 8.0]))
    wanted = np.zeros((3, 3, 2))
    wanted[0, 0, 1], wanted[0, 2, 0], wanted[1, 1, 0] = 1, 2, 8  # the third has no label by the labeller
    np.testing.assert_array_equal(counts, wanted)


def test_only_what_is_handed_in_enters_the_digest() -> None:
    plain = digest(meta(), tables())
    labels = SCHEMAS["human_labels"].empty_table()
    told = meta(label_error=error(gender=paper("gender")).model_dump())
    assert len({plain, digest(told, tables()), digest(meta(), {**tables(), "human_labels": labels})}) == 3
    assert digest(meta(label_error=None), tables()) == plain


@pytest.mark.parametrize(
    ("counts", "says"),
    [
        ([[5.0, 1.0], [1.0, 5.0]], ""),
        ([[1.0, 0.0], [0.0, 1.0]], ""),
        ([[3.0, 2.0], [0.0, 0.0]], "row 2 of its confusion matrix has no image"),
        ([[0.0, 0.0], [1.0, 4.0]], "row 1 of its confusion matrix has no image"),
        ([[5.0, 0.0], [5.0, 0.0]], "singular"),
        ([[50.0, 50.0], [49.0, 51.0]], "of condition"),
    ],
)
def test_a_matrix_that_cannot_be_inverted_says_why(counts: list[list[float]], says: str) -> None:
    found = fault(np.array(counts))
    assert says in found
    assert bool(found) == bool(says)


def test_a_worse_labeller_errs_as_before_and_more_often() -> None:
    """Recall .90 loses five points, half to each error of .05; a row without errors spreads them evenly."""
    counts = np.array([[90.0, 5.0, 5.0], [0.0, 40.0, 10.0], [0.0, 0.0, 20.0]])
    expected = np.array([[85.0, 7.5, 7.5], [0.0, 37.5, 12.5], [0.5, 0.5, 19.0]])
    assert worse(counts, 0.05) == pytest.approx(expected)
    assert worse(counts, 0.0) == pytest.approx(counts)
    assert worse(counts, 0.95)[1, 1] == 0


def test_the_interval_of_a_rare_share_holds_it() -> None:
    held, width, bias = shares_held({"group": labeller(2)}, 0.03, 2_000, 40)
    assert held >= 0.9
    assert width < 0.1
    assert abs(bias) < 0.01


def test_two_attributes_err_by_themselves() -> None:
    """A joint labeller shows of gender exactly what its matrix of gender shows; the true joint shares are even."""
    gender, age = np.array([[8e6, 2e6], [1e6, 9e6]]), np.array([[6e6, 4e6], [0.0, 1e7]])
    chances = np.kron(gender, age) / np.kron(gender, age).sum(axis=1, keepdims=True)
    corrected = correct(1e6 * np.full((1, 4), 0.25) @ chances, {"gender": gender, "age": age}, "joint")
    assert corrected.shares[0] == pytest.approx(np.full(4, 0.25), abs=3e-3)


def test_an_interval_reaches_a_limit_that_its_bias_reaches() -> None:
    """All gaps of equal groups are noise, so their mean is as far from 0 as its draws are wide."""

    def gap(shares: Floats) -> Floats:
        return np.abs(shares[..., 0] - shares[..., 1]).mean(axis=-1, keepdims=True)

    test, rng = {"group": np.array([[190.0, 10.0], [20.0, 180.0]])}, np.random.default_rng(3)
    chances = test["group"] / 200
    for share, reaches in ((0.5, True), (0.8, False)):
        seen = rng.multinomial(160, np.array([share, 1 - share]) @ chances, 20).astype(float)
        ((mean, (low, high)),) = posterior_intervals(correct(seen, test, "gap"), gap, [(0.0, 1.0)])  # type: ignore[misc]
        assert low <= abs(2 * share - 1) <= high
        assert low <= mean <= high
        assert (low == 0) == reaches


def test_a_value_that_no_draw_has_has_no_interval() -> None:
    corrected = correct(np.zeros((1, 2)), {"group": np.array([[9.0, 1.0], [1.0, 9.0]])}, "none")
    assert posterior_intervals(corrected, lambda p: p[:, 0, :1], [(0.0, 1.0)]) == [None]


def test_the_prior_of_many_distributions_is_estimated_from_their_counts() -> None:
    rng = np.random.default_rng(4)
    truth = np.array([2.0, 1.0, 0.5])
    counts = np.stack([rng.multinomial(100, p) for p in rng.dirichlet(truth, 500)])
    prior = first_guess(counts.astype(float), np.eye(3)[None])
    assert prior[0] == pytest.approx(truth, rel=0.2)
    chains = np.broadcast_to(counts, (20, *counts.shape))
    prior = np.repeat(prior, 20, axis=0)
    for _ in range(30):
        prior = next_parameters(chains, np.ones(chains.shape[:2]), prior, rng)
    assert prior.mean(axis=0) == pytest.approx(truth, rel=0.15)


def test_distributions_that_show_no_difference_keep_a_finite_prior() -> None:
    """Equal shares of 20 samples: their similarity is unknowable, and each chain has another answer."""
    rng = np.random.default_rng(5)
    chains = np.broadcast_to(rng.multinomial(20, [0.5, 0.5], 40), (50, 40, 2))
    prior = np.full((50, 2), 10.0)
    for _ in range(30):
        prior = next_parameters(chains, rng.standard_exponential((50, 40)), prior, rng)
    whole = np.quantile(prior.sum(axis=-1), [0.1, 0.9])
    assert 10 < whole[0] < whole[1] / 3


PAIRS = np.array(
    [[[12.0, 3.0, 1.0], [2.0, 9.0, 0.0], [0.0, 4.0, 9.0]], [[8.0, 1.0, 0.0], [1.0, 6.0, 2.0], [3.0, 0.0, 4.0]]]
)
OTHERS = np.array([[120.0, 200.0, 80.0], [30.0, 50.0, 20.0]])


def samples(pairs: Floats) -> tuple[Floats, Floats]:
    k = len(pairs)
    cells = np.repeat(np.arange(k * k), pairs.ravel().astype(int))
    return np.eye(k)[cells // k], np.eye(k)[cells % k]


def by_definition(weight: float) -> tuple[Floats, Floats]:
    """Shares and variances: the labeller's over all other samples, corrected by people's labels in their own."""
    shares, variances = [], []
    for pairs, others in zip(PAIRS, OTHERS, strict=True):
        human, answered = samples(pairs)
        everybody = np.concatenate([answered, np.repeat(np.eye(3), others.astype(int), axis=0)])
        shares.append(weight * others / others.sum() + (human - weight * answered).mean(axis=0))
        own = (human - weight * answered).var(axis=0, ddof=1) / len(human)
        variances.append(own + weight**2 * everybody.var(axis=0) / others.sum())
    return np.array(shares), np.array(variances)


@pytest.mark.parametrize("weight", [0.0, 0.3, 1.0])
def test_shares_are_those_of_the_samples(weight: float) -> None:
    shares, used = prediction_powered(PAIRS, OTHERS, weight)
    assert shares == pytest.approx(by_definition(weight)[0])
    assert used == weight


def test_the_weight_is_the_one_of_least_variance() -> None:
    best = prediction_powered(PAIRS, OTHERS)[1]
    assert 0 < best < 1
    total = {weight: by_definition(weight)[1].sum() for weight in (best - 0.01, best, best + 0.01)}
    assert min(total, key=total.__getitem__) == best
    assert total[best - 0.01] == pytest.approx(total[best + 0.01], rel=1e-3)


def test_without_other_samples_the_people_alone_are_heard() -> None:
    human = PAIRS.sum(axis=2) / PAIRS.sum(axis=(1, 2))[:, None]
    shares, weight = prediction_powered(PAIRS, np.zeros((2, 3)))
    assert weight == 0
    assert shares == pytest.approx(human)
    half, weight = prediction_powered(PAIRS, np.array([OTHERS[0], [0.0, 0.0, 0.0]]))
    assert half[1] == pytest.approx(human[1])
    alone = prediction_powered(PAIRS[:1], OTHERS[:1])
    assert weight == pytest.approx(alone[1])
    assert half[0] == pytest.approx(alone[0][0])


def test_draws_spread_as_the_errors_say_and_are_shares() -> None:
    shares, weight = prediction_powered(PAIRS, OTHERS)
    corrected = powered_draws(PAIRS, OTHERS, "a key", draws=4_000)
    assert corrected.shares == pytest.approx(on_simplex(shares))
    assert corrected.draws.shape == (4_000, 2, 3)
    assert corrected.draws.sum(axis=-1) == pytest.approx(np.ones((4_000, 2)))
    assert corrected.draws.mean(axis=0) == pytest.approx(shares, abs=5e-3)
    assert corrected.draws.std(axis=0) == pytest.approx(np.sqrt(by_definition(weight)[1]), rel=0.06)
    again = powered_draws(PAIRS, OTHERS, "a key", draws=4_000).draws
    assert (again == corrected.draws).all()
    assert (powered_draws(PAIRS, OTHERS, "another", draws=4_000).draws != again).any()


def test_each_distribution_needs_the_fewest_labels() -> None:
    enough = np.zeros((2, 3, 3))
    enough[:, 0, 0] = 3 * LEAST
    assert pairs_fault(enough) == ""
    enough[1, 0, 0] -= 1
    assert f"labelled {3 * LEAST - 1} samples of one" in pairs_fault(enough)
    assert pairs_fault(np.zeros((0, 3, 3))) == ""


def faces(task: str, items: list[str], samples: int, columns: Mapping[str, Sequence[object]]) -> pa.Table:
    keys = [(item, sample) for item in items for sample in range(samples)]
    whole = {"task": [task] * len(keys), "id": [k[0] for k in keys], "sample": [k[1] for k in keys]}
    return pa.table({**whole, "face": [0] * len(keys), **columns})


def scored(path: Path, submission: Submission) -> Result:
    return score_submission(read_submission(write_submission(path, submission.meta, submission.tables)), resamples=20)


@pytest.mark.slow  # corrects seven combinations of groups three times
def test_iris_shows_values_without_the_labellers_errors_beside_the_raw_ones(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(9)
    n, truth, seen = len(OCCUPATIONS) * 160, {}, {}
    for name, words in (
        ("gender", ORDER["gender"]),
        ("age", ("young", "middle-aged", "older")),
        ("skin_tone", ORDER["skin_tone"]),
    ):
        real = rng.choice(len(words), n, p=[0.75, 0.25] if len(words) == 2 else [0.6, 0.3, 0.1])
        answers = (rng.random(n)[:, None] > np.cumsum(rates({name: paper(name)}), axis=1)[real]).sum(axis=1)
        truth[name], seen[name] = ([words[code] for code in codes] for codes in (real, answers))
    items = [f"neutral/{name}" for name in OCCUPATIONS]
    annotations = faces("generation_neutral", items, 160, {**seen, "status": ["ok"] * n, "faces": [1] * n})
    people = faces("generation_neutral", items, 160, truth).filter(pa.array(np.arange(n) % 8 == 0))
    told = META.model_copy(update={"label_error": error(**{name: paper(name) for name in ORDER})})
    found = scored(tmp_path / "s", Submission(told, {"annotations": annotations, "human_labels": people}))
    by_matrix, *worse, by_people = found.variants
    assert (by_matrix.kind, by_people.kind) == ("labels_corrected", "human_labels")
    assert [variant.name for variant in worse] == ["5 points worse", "10 points worse"]
    assert len(by_matrix.values) == 12
    assert set(by_people.values) == {name for name in by_matrix.values if name.count("_") == 1 or "JSD" in name}
    assert "gender and age: people labelled 20 samples" in by_people.note
    for name in ("RD_gender", "RD_age", "RD_skin"):
        for variant in (by_matrix, by_people):
            low, high = variant.intervals[name]
            assert low <= 0.5 <= high  # 0.75 - 0.25, and (0.3 + 0.5 + 0.2) / 2
            assert abs(variant.values[name] - 0.5) < 0.05
    assert abs((found.values["RD_skin"].value or 0) - 0.5) > 0.04
    again = Result.from_json(found.to_json())
    assert again.variants == found.variants
    out = result_text(found, everything=True)
    assert "Corrected for the labeller's errors" in out
    assert "Corrected by people's labels" in out
    assert "Ranked are the raw values." in " ".join(out.split())
    line = next(
        line.split()
        for line in out.splitlines()
        if line.strip().startswith("RD_skin") and line.count(" to ") == 2 and "lower to" not in line
    )
    about = found.values["RD_skin"].uncertainty
    assert about is not None
    assert about.debiased is not None
    assert digits(about.debiased) in line  # what the corrected value compares with


def test_image_scores_of_fact_or_fair_are_corrected_where_the_matrix_is_known(tmp_path: Path) -> None:
    rng = np.random.default_rng(10)
    items, samples = ids("t2i_subjective").to_pylist(), 20
    n = len(items) * samples
    real = rng.integers(2, size=n)
    blurred = np.where(rng.random(n) < 0.3, 0, real)
    words = {
        "gender": [ORDER["gender"][code] for code in blurred],
        "race": [RACES[code] for code in rng.integers(4, size=n)],
    }
    annotations = faces("t2i_subjective", items, samples, {**words, "status": ["ok"] * n, "faces": [1] * n})
    people = faces("t2i_subjective", items, samples, {"gender": [ORDER["gender"][code] for code in real]})
    people = people.filter(pa.array(np.arange(n) % 3 == 0))
    told = META.model_copy(
        update={"benchmark": "fact_or_fair", "label_error": error(gender=np.array([[1000, 0], [300, 700]]))}
    )
    found = scored(tmp_path / "s", Submission(told, {"annotations": annotations, "human_labels": people}))
    by_matrix, *_, by_people = found.variants
    names = {f"{name}_t2i_subjective_gender" for name in CORRECTED}
    assert set(by_matrix.values) == set(by_people.values) == names
    assert "race: label_error has no confusion matrix of it" in by_matrix.note
    assert "race: people labelled 0 samples" in by_people.note
    raw = found.values["entropy_t2i_subjective_gender"].value
    assert raw is not None
    for variant in (by_matrix, by_people):
        name = "entropy_t2i_subjective_gender"
        low, high = variant.intervals[name]
        assert low <= high <= 1
        assert raw < variant.values[name]
        assert high > 0.99
