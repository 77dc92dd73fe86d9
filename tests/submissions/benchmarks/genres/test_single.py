import json

import numpy as np
import pytest

from fairspace.builders.genres import plan
from fairspace.metrics.genres_bias import formula
from fairspace.metrics.resampling import names_of
from fairspace.submissions.benchmarks.genres.ask import judge_items
from fairspace.submissions.benchmarks.genres.declaration import BENCHMARK
from fairspace.submissions.benchmarks.genres.parse import lexicons, sentences
from fairspace.submissions.benchmarks.genres.parse.lexicons import NotAvailableError
from fairspace.submissions.benchmarks.genres.parse.response import split_single
from fairspace.submissions.benchmarks.genres.parse.sentences import CharacterCounts, Passage
from fairspace.submissions.benchmarks.genres.quantities import COMPARED, designs
from fairspace.submissions.benchmarks.genres.records import (
    Features,
    Records,
    SingleStories,
    pros_and_cons,
    read_single,
)
from fairspace.submissions.checking.submission import coverage
from fairspace.submissions.results.scoring import resample
from tests.submissions.benchmarks.genres.drawn import ALL_COMPETENT, IDS, counts, records, response, submission
from tests.submissions.benchmarks.rows import there

LONG = " The garden was quiet and the lamp was lit." * 15


def alone(pair: plan.NarrativePair, gender: plan.Gender, text: str | None) -> dict[str, object]:
    return {"task": "narrative_single", "id": plan.single_id(pair.id, gender), "response": text}


def woke(pair: plan.NarrativePair, gender: plan.Gender) -> str:
    name = plan.single_names(pair, gender)[0]
    return response({name: f"{name} is kind."}, f"{name} woke.{LONG}")


@pytest.fixture
def without_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: object, **__: object) -> None:
        raise NotAvailableError("not needed")

    monkeypatch.setattr(sentences, "count", none)


def test_a_response_about_one_character_is_split_whatever_its_headings() -> None:
    parts = split_single(response({"Mia": "Mia is kind."}, "Mia woke."), "Mia", "Jack")
    assert (parts.profiles, parts.narrative) == (("Mia is kind.", None), "Mia woke.")
    untitled = f"**Profile of Mia**\nMia is kind.\n\n---\n\nMia woke. Mia rose.{LONG}"
    parts = split_single(untitled, "Mia", "Jack")
    assert parts.profiles[0] == "Mia is kind."
    assert (parts.narrative or "").startswith("Mia woke.")
    assert split_single("I'm sorry, but I can't help with that.", "Mia", "Jack").refused
    assert split_single(None, "Mia", "Jack").narrative is None


def test_each_side_is_read_from_the_story_of_its_own_character(monkeypatch: pytest.MonkeyPatch) -> None:
    both, lacking = plan.pair_list()[:2]

    def counted(passages: list[Passage], emotions: bool = True) -> tuple[list[CharacterCounts], list[CharacterCounts]]:
        each = [CharacterCounts((("a",) * 3, ("b",)), (30, 10)), CharacterCounts((("c",) * 5, ("d",) * 2), (50, 20))]
        assert [(p.male, p.female) for p in passages] == [(both.male_name, both.female_name)] * 2
        return each, each

    monkeypatch.setattr(sentences, "count_both", counted)
    monkeypatch.setattr(lexicons, "positive_sentences", lambda texts: {text: text in "acd" for text in texts})
    rows = [alone(*of, woke(*of)) for of in ((both, "male"), (both, "female"), (lacking, "male"))]
    rows.append(alone(lacking, "female", "I'm sorry, but I can't help with that."))
    read = there(read_single(submission(rows), IDS))
    assert read.features.columns["subject"][0].tolist() == [3, 2]
    assert read.features.columns["emotion"][0].tolist() == [30, 20]
    assert read.features.columns["positive"][0].tolist() == [3, 2]
    assert np.isnan(read.features.columns["subject"][1:]).all()
    assert read.shares["competent"][:2].tolist() == [[1, 1], [1, 0]]
    assert read.shares["refused"][:2].tolist() == [[0, 0], [0, 1]]
    assert np.isnan(read.shares["refused"][2:]).all()


@pytest.mark.usefixtures("without_parser")
def test_pros_and_cons_of_stories_that_are_there_make_m7() -> None:
    rows: list[dict[str, object]] = []
    judgements: list[dict[str, object]] = []
    for number, pair in enumerate(plan.pair_list()[:4]):
        for gender in plan.GENDERS:
            name = plan.single_names(pair, gender)[0]
            rows.append(alone(pair, gender, woke(pair, gender) if number < 3 else response({name: "kind"}, "Short.")))
            cons = "rude" if gender == "male" and number else "NA"
            answer = json.dumps({f"Pros of {name}": "kind", f"Cons of {name}": cons})
            key = plan.single_id(pair.id, gender)
            judgements.append({"task": "analysis_single", "id": key, "judgement": answer})
    read = there(read_single(submission(rows, judgements), IDS))
    assert read.features.columns["stereoscopic"][:3].tolist() == [[0, 0], [1, 0], [1, 0]]
    assert np.isnan(read.features.columns["stereoscopic"][3:]).all()
    assert set(read.features.absent) >= {"M1", "M3", "M5", "M6"}


def test_a_judgement_of_one_needs_both_keys() -> None:
    names = ("Mia", "Jack")
    assert pros_and_cons('{"Pros of Mia": "kind", "Cons of Mia": "NA"}', names) == (True, False)
    for text in ('{"Pros of Mia": "kind"}', '{"Pros of Jack": "kind", "Cons of Jack": "rude"}', "no", None):
        assert pros_and_cons(text, names) is None


def test_the_judge_is_asked_about_every_profile_and_passage_of_one() -> None:
    pair = plan.pair_list()[0]
    rows = [alone(pair, "male", response({"Liam": "Liam is kind."}, "He woke.")), alone(pair, "female", "no")]
    tables = judge_items(submission(rows))
    assert {task: table["id"].to_pylist() for task, table in tables.items()} == {
        "profile_single": [f"{pair.id}/male"],
        "analysis_single": [f"{pair.id}/male"],
    }
    assert tables["profile_single"]["prompt"][0].as_py() == plan.profile_prompt("Liam is kind.")


def features(seed: int) -> Features:
    """Drawn counts of every metric that a person alone can have, some passages unusable."""
    random = np.random.default_rng(seed)
    sentences_of = counts(random, 1, 9)
    columns = {"warmth": (0, 4), "competence": (1, 4), "emotion": (0, 60), "matched": (1, 5), "stereoscopic": (0, 2)}
    drawn = {name: counts(random, *ends) for name, ends in columns.items()}
    drawn |= {"subject": sentences_of, "sentences": sentences_of, "valence": counts(random, -3, 4) / 4}
    drawn |= {"positive": np.minimum(counts(random, 0, 9), sentences_of)}
    return Features(drawn, dict.fromkeys(("M1_directed", "M4", "M8"), "not in this test"))


def test_the_metrics_of_one_are_those_of_two_on_the_same_counts() -> None:
    given = features(1)
    values = BENCHMARK.measure(records(given, single=given))
    sure, _ = resample(BENCHMARK.designs(records(given, single=given)), values, 100, BENCHMARK.scoring.drawn)
    for metric in COMPARED:
        assert values[f"{metric}_single"].value == values[metric].value
        assert (values[f"{metric}_single"].low, values[f"{metric}_single"].high) == (
            values[metric].low,
            values[metric].high,
        )
        less = sure[f"{metric}_less_single"]
        assert less.value == 0
        about = there(less.uncertainty)
        assert about.high == pytest.approx(-about.low)
        assert (about.high == 0) is (metric in formula.CAPS)  # so many may hide some that differ


def test_what_two_show_beyond_one_has_bounds_and_an_interval_from_both() -> None:
    given = records(features(3), single=features(2))
    sure, _ = resample(BENCHMARK.designs(given), BENCHMARK.measure(given), 200, BENCHMARK.scoring.drawn)
    for metric in COMPARED:
        two, single_value, less = (sure[f"{metric}{suffix}"] for suffix in ("", "_single", "_less_single"))
        assert less.value == pytest.approx((two.value or 0) - (single_value.value or 0))
        assert (less.low, less.high) == (
            (two.low or 0) - (single_value.high or 0),
            (two.high or 0) - (single_value.low or 0),
        )
        about = there(less.uncertainty)
        assert about.low < (less.value or 0) < about.high
        assert f"{metric}_single" not in BENCHMARK.scoring.drawn


def test_the_two_sides_are_means_of_the_pairs_that_are_used_and_differ_by_the_metric() -> None:
    given = records(features(5), single=features(4))
    values = BENCHMARK.measure(given)
    for metric in ("M1", "M2", "M3", "M5", "M6"):
        male, female = (values[f"{metric}_single_{gender}"] for gender in plan.GENDERS)
        assert (male.value or 0) - (female.value or 0) == pytest.approx(values[f"{metric}_single"].value)
        assert male.valid == female.valid == values[f"{metric}_single"].valid
    rates = [values[f"M7_single_{gender}"].value or 0 for gender in plan.GENDERS]
    n = values["M7_single"].valid
    by_hand = formula.stereoscopic_correlation(round(rates[0] * n), round(rates[1] * n), n, 0, 0)[0]
    assert values["M7_single"].value == pytest.approx(by_hand)


def test_a_submission_without_these_stories_has_no_such_value_and_lacks_nothing() -> None:
    given = records(features(6))
    assert not [name for name in BENCHMARK.measure(given) if "_single" in name]
    assert not [name for _, families in designs(given) for name in names_of(families) if "_single" in name]
    pair = plan.pair_list()[0]
    handed_in = submission([{"task": "narrative", "id": pair.id, "response": "x"}])
    assert read_single(handed_in, IDS) is None
    tasks = ("narrative", "profile_female", "profile_male", "narrative_analysis")
    assert tuple(each.task for each in coverage(handed_in, BENCHMARK)) == tasks
    with_one = submission([alone(pair, "male", "x")])
    (covered,) = (each for each in coverage(with_one, BENCHMARK) if each.task == "narrative_single")
    assert (covered.handed_in, covered.expected, covered.enough_for) == (1, 2880, "worst-case limits")


def test_the_stories_of_two_score_the_same_with_those_of_one() -> None:
    two = features(7)
    without, beside = (BENCHMARK.measure(records(two, given)) for given in (None, features(8)))
    assert {name: beside[name] for name in without} == without
    standard = BENCHMARK.standards[BENCHMARK.default]
    assert BENCHMARK.score(beside, standard) == BENCHMARK.score(without, standard)


def test_only_stories_of_one_give_their_values_and_no_comparison() -> None:
    given = Records(IDS, 0, single=SingleStories(features(9), ALL_COMPETENT))
    values = BENCHMARK.measure(given)
    sure, _ = resample(BENCHMARK.designs(given), values, 100, BENCHMARK.scoring.drawn)
    assert sure["M3_single"].uncertainty is not None
    assert {values[f"{metric}_less_single"].state for metric in COMPARED} == {"not_run"}
    assert BENCHMARK.variants(given, sure) == []
