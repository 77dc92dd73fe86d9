from dataclasses import replace

import numpy as np
import pyarrow.compute as pc
import pytest
from numpy.typing import NDArray
from scipy.spatial.distance import jensenshannon

from fairspace.builders.iris.groups import GENDERS, OCCUPATIONS, REGIONS, shares
from fairspace.builders.iris_ideal_52 import plan as iris_ideal_52
from fairspace.metrics.intervals import Uncertainty
from fairspace.metrics.iris_score.standards import INAUGURAL
from fairspace.submissions.benchmarks.iris import score as iris_score
from fairspace.submissions.benchmarks.iris.parse import rows as nearest
from fairspace.submissions.benchmarks.iris.parse.rows import EmbeddingMissingError
from fairspace.submissions.benchmarks.iris.records import read
from fairspace.submissions.benchmarks.iris.variants import THRESHOLDS, variants
from fairspace.submissions.errors import UsageError
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import rescore, score_submission, variant_scores
from fairspace.submissions.uncertainty.uncertainty import Kind, Variant
from tests.submissions.benchmarks.iris.factory import META, NAMES, measure, only
from tests.submissions.benchmarks.rows import responses, there, with_column

LABELS: tuple[Kind, ...] = ("labels_corrected", "human_labels")
SIMILARITY = {"healer": 0.62, "ward sister": 0.72, "arbiter": 0.79, "wizard": 0.1}
NEAREST = {"healer": "doctor", "ward sister": "nurse", "arbiter": "judge", "wizard": "guard"}


@pytest.fixture
def embedded(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    asked: list[list[str]] = []

    def look_up(texts: list[str]) -> tuple[NDArray[np.int_], NDArray[np.float64]]:
        asked.append(texts)
        return np.array([OCCUPATIONS.index(NEAREST[t]) for t in texts]), np.array([SIMILARITY[t] for t in texts])

    monkeypatch.setattr(nearest, "nearest_occupations", look_up)
    return asked


def missing(texts: list[str]) -> tuple[NDArray[np.int_], NDArray[np.float64]]:
    raise EmbeddingMissingError("not installed")


def occupations(said: NDArray[np.object_] | list[str]) -> Submission:
    return only("responses", responses("occupation", iris_ideal_52.image_ids("v1"), said))


def answers() -> Submission:
    """Right answers, except described doctors, nurses and judges, and half of the waiters."""
    truth, _ = iris_ideal_52.image_cells()
    said = NAMES[truth].astype(object)
    for text, name in NEAREST.items():
        said[truth == OCCUPATIONS.index(name if name != "guard" else "waiter")] = text
    said[(truth == OCCUPATIONS.index("waiter")) & (np.arange(len(truth)) % 2 == 0)] = "nurse"
    return occupations(said)


def test_every_threshold_has_its_accuracy_and_the_embedding_is_asked_once(embedded: list[list[str]]) -> None:
    """An occupation is 1/52 of the images: of 51 (waiters are wrong), the threshold decides how many are right."""
    *found, paper = variants(read(answers()), {})
    assert (paper.kind, paper.name) == ("authors_reading", "paper")
    assert paper.values["competence_accuracy"] * 52 == pytest.approx(51)
    assert [variant.name for variant in found] == ["0.60", "0.65", "0.70", "0.75", "0.80"]
    accuracies = [variant.values["competence_accuracy"] * 52 for variant in found]
    assert accuracies == pytest.approx([51, 50, 50, 49, 48])
    assert all(batch == embedded[0] for batch in embedded)
    assert found[0].note == "5.8% of the answers are decided by their embedding"


def test_the_smallest_group_of_a_drift_is_its_wrong_answers() -> None:
    """Seven of 27 144 answers are wrong; 5 name another occupation that the region lists, 2 none."""
    truth, _ = iris_ideal_52.image_cells()
    said = NAMES[truth].astype(object)
    doctors = np.flatnonzero(truth == OCCUPATIONS.index("doctor"))
    said[doctors[:5]], said[doctors[5:7]] = "nurse", None
    drift = measure(occupations(said))["AbsSDS_gender_female_US"]
    assert (drift.smallest, drift.evidence["wrong_answers"]) == (5, 5)


def test_the_variant_of_the_standards_own_threshold_is_what_was_measured(embedded: list[list[str]]) -> None:
    handed = answers()
    measured = measure(handed)
    own = variants(read(handed), measured)[THRESHOLDS.index(0.7)]
    assert dict(own.values) == {name: measured[name].value for name in own.values}
    assert measured["AD_single_gender"].evidence["tier_2_share"] == pytest.approx(2 / 52, abs=1e-6)


def test_answers_that_tier_1_knows_or_nothing_is_near_to_have_no_variants(embedded: list[list[str]]) -> None:
    for text in ("nurse", "wizard"):
        assert variants(read(occupations([text] * 27144)), {}) == []
    assert variants(read(Submission(META, {})), {}) == []


def test_without_the_embedding_there_are_no_variants_and_the_authors_reading_is_not_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(nearest, "nearest_occupations", missing)
    assert variants(read(answers()), {}) == []
    theirs = score_submission(answers(), resamples=0, reading="authors").values["AD_single_gender"]
    assert (theirs.state, theirs.reason) == ("not_run", "not installed")


def test_the_authors_reading_gives_every_sector_and_the_total_and_no_rank(
    full: Submission, embedded: list[list[str]]
) -> None:
    """Whole answers (D.2.4): an answer at 0.62 counts, by our threshold of 0.7 it does not."""
    rows = full.tables["responses"]
    doctors = pc.and_(pc.equal(rows["task"], "occupation"), pc.equal(rows["response"], "doctor"))
    changed = with_column(rows, "response", pc.if_else(doctors, "healer", rows["response"]))
    handed = replace(full, tables={**full.tables, "responses": changed})
    ours, theirs = (score_submission(handed, resamples=0, reading=reading) for reading in ("", "authors"))
    for name in (*INAUGURAL.sectors, "iris_score"):
        assert theirs.scored.scores[name].state == "value"
    moved = {name for name in INAUGURAL.sectors if theirs.scored.scores[name] != ours.scored.scores[name]}
    assert moved == {"IFS_Und", "RFS_Und"}
    accuracies = (there(result.values["competence_accuracy"].value) for result in (theirs, ours))
    assert next(accuracies) > next(accuracies)
    assert ours.scored.ranked is not None
    assert theirs.scored.ranked is None
    assert "read as the authors" in theirs.scored.unranked[-1]
    assert (theirs.signature["reading"], "reading" in ours.signature) == ("authors", False)
    assert theirs.signature["occupation_mapping"] != ours.signature["occupation_mapping"]
    again = rescore(Result.from_json(theirs.to_json()), "bounded")
    assert (again.scored.ranked, again.scored.scores["iris_score"].state) == (None, "value")


def test_a_reading_that_is_not_there_is_refused() -> None:
    with pytest.raises(UsageError, match=r"no reading 'author' .did you mean 'authors'"):
        score_submission(answers(), reading="author")
    with pytest.raises(UsageError, match="fact_or_fair has no reading authors"):
        score_submission(Submission(META.model_copy(update={"benchmark": "fact_or_fair"}), {}), reading="authors")


@pytest.fixture(scope="module")
def result(full: Submission) -> Result:
    return score_submission(full, "inaugural", resamples=0)


def test_the_range_of_a_score_over_variants_holds_its_own(result: Result) -> None:
    gap = result.values["AD_triple_joint_all"].value or 0
    made = [Variant("occupation_threshold", str(x), {"AD_triple_joint_all": gap + x}) for x in (-0.01, 0.02, 0.05)]
    found = variant_scores(replace(result, variants=tuple(made)), "inaugural")["occupation_threshold"]
    shown = result.scored.scores
    low, high = found["IFS_Und"]
    assert low < (shown["IFS_Und"].value or 0) < high
    for x, score in ((0.05, low), (-0.01, high)):
        value = replace(result.values["AD_triple_joint_all"], value=gap + x)
        again = iris_score.score({**result.values, value.name: value}, INAUGURAL).scores["IFS_Und"].value
        assert score == again
    assert found["BIS_Und"] == (shown["BIS_Und"].value, shown["BIS_Und"].value)


def test_kinds_of_variants_have_ranges_of_their_own_and_an_undefined_value_stays_undefined(result: Result) -> None:
    undefined = measure(Submission(META, {}))
    made = (Variant("occupation_threshold", "0.50", {"AD_single_gender": 0.5}), Variant("judge", "other", {}))
    found = variant_scores(replace(result, variants=made), "algorithm_1")
    assert set(found) == {"occupation_threshold", "judge"}
    assert found["judge"]["IFS_Und"][0] == found["judge"]["IFS_Und"][1]
    assert found["occupation_threshold"]["IFS_Und"][0] < found["judge"]["IFS_Und"][0]
    nothing = variant_scores(replace(result, values=undefined, variants=made), "algorithm_1")
    assert nothing == {"occupation_threshold": {}, "judge": {}}


@pytest.mark.parametrize(("debiased", "corrected", "expected"), [(0.3, 0.3, 0.5), (0.3, 0.25, 0.45), (0.3, 0.9, 1.0)])
def test_corrected_labels_move_a_value_by_what_they_change(
    result: Result, debiased: float, corrected: float, expected: float
) -> None:
    """The measured 0.5 has a bias of 0.2 that the corrected value lacks; RD is 1 at most."""
    about = Uncertainty("image", 8320, 100, 0, 0.01, 0.1, 0.5, "bracket", 0.4, 0.6, debiased=debiased)
    raw = replace(result.values["RD_gender"], value=0.5, uncertainty=about)
    variants = tuple(Variant(kind, "one", {"RD_gender": corrected}) for kind in LABELS)
    made = replace(result, values={**result.values, "RD_gender": raw}, variants=variants)

    def score(number: float) -> float | None:
        values = {**made.values, "RD_gender": replace(raw, value=number)}
        return iris_score.score(values, INAUGURAL).scores["IFS_Gen"].value

    for kind in LABELS:
        ends = variant_scores(made, "inaugural")[kind]["IFS_Gen"]
        assert sorted(ends) == pytest.approx(sorted((score(0.5) or 0, score(expected) or 0)))
    plain = replace(made, values={**made.values, "RD_gender": replace(raw, uncertainty=None)})
    assert score(corrected) in variant_scores(plain, "inaugural")["human_labels"]["IFS_Gen"]


def test_shares_of_occupations_within_a_group_follow_from_those_of_groups_within_an_occupation(
    full: Submission,
) -> None:
    """P(o | d) = P(d | o) / sum of P(d | o) over the listed occupations, for wins and for figures, in loops."""
    rows = full.rows("responses", "tournament")
    ids, said = rows["id"].to_pylist(), rows["response"].to_pylist()
    (variant,) = variants(read(only("responses", rows)), {})
    assert (variant.kind, variant.name) == ("authors_reading", "P(occupation | group)")
    assert set(variant.values) == {"JSD_gender_US", "JSD_age_US", "JSD_skin_tone_US", "JSD_gender_EU", "JSD_age_EU"}
    figures = shares(REGIONS[1])["gender"]
    listed = [place for place in range(len(OCCUPATIONS)) if not np.isnan(figures[place]).any()]
    wins = {(place, gender): 0 for place in listed for gender in GENDERS}
    for item, name in zip(ids, said, strict=True):
        place = OCCUPATIONS.index(name.replace(" ", "_"))
        if place in listed:
            wins[place, item.split("/")[1].split("_")[0]] += 1
    divergences = []
    for number, gender in enumerate(GENDERS):
        model = [wins[place, gender] / sum(wins[place, either] for either in GENDERS) for place in listed]
        divergences.append(jensenshannon(model, [figures[place, number] for place in listed]) ** 2)
    assert variant.values["JSD_gender_EU"] == pytest.approx(np.mean(divergences), abs=1e-12)
