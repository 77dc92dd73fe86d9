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
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.checking.submission import check_submission, read_submission
from fairspace.submissions.format.schema import SCHEMAS, LabelError, Submission
from fairspace.submissions.format.writing import write_submission
from fairspace.submissions.plotting import digits
from fairspace.submissions.reading.canonical import digest
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import score_submission
from fairspace.submissions.show.result import result_text
from fairspace.submissions.uncertainty.label_errors import (
    LabelChecks,
    Shares,
    correct,
    label_variants,
    paired_counts,
    posterior_intervals,
    prediction_powered,
)
from fairspace.submissions.values import Value, measured
from tests.metrics.tables import rows
from tests.submissions.benchmarks.iris.factory import META
from tests.submissions.sample import meta, tables

ORDER = {"gender": ("female", "male"), "age": ("young", "middle", "older"), "skin_tone": ("light", "middle", "dark")}
RACES = ("Asian", "Black", "Hispanic", "White")


def paper(attribute: str) -> Floats:
    cells = [row for row in rows("ares_table16_18_confusion") if row["attribute"] == attribute]
    counts = {(row["true"], row["predicted"]): float(row["count"]) for row in cells}
    return np.array([[counts[true, answer] for answer in ORDER[attribute]] for true in ORDER[attribute]])


def rates(counts: Floats) -> Floats:
    return np.asarray(counts / counts.sum(axis=-1, keepdims=True))


def error(**attributes: Floats) -> LabelError:
    words = {"gender": ["female", "male"], "age": ["young", "middle-aged", "older"], "race": list(RACES)}
    words["skin_tone"] = list(ORDER["skin_tone"])
    matrices = {n: {"labels": words[n], "counts": c.astype(int).tolist()} for n, c in attributes.items()}
    return LabelError.model_validate({"source": "drawn", "attributes": matrices})


@pytest.mark.parametrize("attribute", ORDER)
def test_the_truth_lies_in_the_intervals_of_corrected_shares_at_the_papers_matrices(attribute: str) -> None:
    rng = np.random.default_rng(7)
    matrix, images = paper(attribute), 2_000
    held, raw = [], []
    for study in range(6):
        truth = rng.dirichlet(np.full(len(matrix), 0.7), 52)
        seen = rng.multinomial(images, truth @ rates(matrix)).astype(float)
        tested = np.stack([rng.multinomial(int(row.sum()), rates(row)) for row in matrix]).astype(float)
        draws = correct(seen, {attribute: tested}, "study", seed=study).draws
        low, high = np.quantile(draws, [0.025, 0.975], axis=0)
        held.append((low <= truth) & (truth <= high))
        share = seen / images
        raw.append(np.abs(share - truth) <= 1.96 * np.sqrt(share * (1 - share) / images))
    assert np.mean(held) >= 0.92
    assert np.mean(raw) < np.mean(held) - 0.1


def test_the_corrected_disparity_of_occupations_has_a_tenth_of_the_bias() -> None:
    rng = np.random.default_rng(8)
    matrix, off, bias = paper("skin_tone"), [], []

    def statistic(p: Floats) -> Floats:
        return disparity(p).mean(-1, keepdims=True)

    for study in range(8):
        truth = rng.dirichlet(np.full(3, 0.5), 52)
        seen = rng.multinomial(160, truth @ rates(matrix)).astype(float)
        tested = np.stack([rng.multinomial(int(row.sum()), rates(row)) for row in matrix]).astype(float)
        corrected = correct(seen, {"skin_tone": tested}, "study", seed=study)
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


def labelled(rng: np.random.Generator, studies: int, people: int, others: int) -> tuple[Floats, Floats, Floats]:
    """Truth, pairs and others of studies of one distribution, labelled with the paper's errors in age."""
    truth = np.array([0.6, 0.3, 0.1])
    matrix = rates(paper("age"))
    joint = (truth[:, None] * matrix).ravel()
    pairs = rng.multinomial(people, joint, studies).reshape(studies, 3, 3).astype(float)
    return truth, pairs, rng.multinomial(others, truth @ matrix, studies).astype(float)


def test_prediction_powered_shares_hit_the_truth_and_vary_less_than_the_peoples_alone() -> None:
    truth, pairs, others = labelled(np.random.default_rng(4), 3_000, 150, 3_000)
    shares, weight = prediction_powered(pairs, others)
    human = pairs.sum(axis=2) / 150
    assert 0 < weight < 1
    assert (shares.std(axis=0) < 0.75 * human.std(axis=0)).all()
    assert shares.mean(axis=0) == pytest.approx(truth, abs=2e-3)
    assert np.abs(others.mean(axis=0) / 3_000 - truth).max() > 5e-3


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


@pytest.mark.parametrize("name", ["genres", "stereotypical_bias"])
def test_a_benchmark_without_images_takes_no_error_of_labels(tmp_path: Path, name: str) -> None:
    revision = benchmark(name).revisions[0]
    told = meta(benchmark=name, dataset_revision=revision, label_error=error(gender=paper("gender")).model_dump())
    faults = check_submission(write_submission(tmp_path / "s", told, {})).faults
    (found,) = (fault for fault in faults if fault.code == "LABEL_ERROR")
    assert found.what == f"label_error of 'drawn', and no annotations for {name}"
    assert "remove it where nothing is labelled" in found.mend


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
        answers = (rng.random(n)[:, None] > np.cumsum(rates(paper(name)), axis=1)[real]).sum(axis=1)
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
    matrix = rates(paper("gender"))
    real = rng.integers(2, size=n)
    blurred = np.where(rng.random(n) < 0.3, 0, real)
    words = {
        "gender": [ORDER["gender"][code] for code in blurred],
        "race": [RACES[code] for code in rng.integers(4, size=n)],
    }
    annotations = faces("t2i_subjective", items, samples, {**words, "status": ["ok"] * n, "faces": [1] * n})
    people = faces("t2i_subjective", items, samples, {"gender": [ORDER["gender"][code] for code in real]})
    people = people.filter(pa.array(np.arange(n) % 3 == 0))
    assert matrix.shape == (2, 2)
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
