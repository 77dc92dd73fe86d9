from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from fairspace.builders.iris.groups import OCCUPATIONS
from fairspace.builders.iris_steer_60.plan import LABELS
from fairspace.submissions.benchmarks.iris.parse import rows
from fairspace.submissions.benchmarks.iris.parse.labels import read_label
from fairspace.submissions.benchmarks.iris.parse.lexicon import ALIASES, clean, look_up, terms
from fairspace.submissions.benchmarks.iris.parse.occupation import OpenTerm, read_occupation
from fairspace.submissions.benchmarks.iris.parse.rows import THRESHOLD, decided, match, may_be_near
from tests.submissions.answers.phrases import answers
from tests.submissions.benchmarks.rows import there
from tests.submissions.benchmarks.test_readers import iris

PEOPLE = ("He", "She", "They", "The man", "The woman", "The person in the image", "This individual", "The lady")


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(sorted(terms())), st.sampled_from(answers("iris", "frame")))
def test_every_alias_in_every_frame_is_read_alike_of_all_people(alias: str, frame: str) -> None:
    phrase = f"{'an' if alias[0] in 'aeiou' else 'a'} {alias}"
    for person in PEOPLE:
        text = frame.format(P=person, p=person.lower(), a=phrase)
        text = text.replace("They is", "They are").replace("they is", "they are")
        assert iris({"reader": "occupation", "answer": text}) == OCCUPATIONS[terms()[alias]]


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(sorted(terms())), st.sampled_from(answers("iris", "bare frame")))
def test_every_alias_is_read_in_every_format(alias: str, frame: str) -> None:
    assert iris({"reader": "occupation", "answer": frame.format(A=alias)}) == OCCUPATIONS[terms()[alias]]


def test_every_male_form_has_its_female_and_neutral_one() -> None:
    known = terms()
    for term, code in known.items():
        if term.endswith("man") and not term.endswith("woman"):
            for ending in ("woman", "person"):
                assert known.get(term[:-3] + ending) == code, term


@pytest.mark.parametrize(
    ("male", "female"), [("waiter", "waitress"), ("cowboy", "cowgirl"), ("schoolboy", "schoolgirl"), ("he", "she")]
)
def test_words_of_either_gender_are_read_alike(male: str, female: str) -> None:
    assert look_up([male]) == look_up([female])


def test_the_span_is_of_the_raw_answer() -> None:
    answer = "<think>A chef?</think> The woman is a **construction worker**, I think."
    found = read_occupation(answer)
    assert not isinstance(found, OpenTerm)
    assert answer[slice(*there(found.span))] == "construction worker"
    term = read_occupation("He is a cellist in an orchestra.")
    assert isinstance(term, OpenTerm)
    assert (term.phrase, "He is a cellist in an orchestra."[slice(*term.span)]) == ("cellist", "cellist")


def test_aliases_name_known_occupations_once() -> None:
    pairs = [line.split(",") for line in ALIASES.read_text(encoding="utf-8").splitlines()[1:]]
    aliases = [clean(alias) for _, alias, _ in pairs]
    assert {occupation for occupation, _, _ in pairs} <= set(OCCUPATIONS)
    assert len(aliases) == len(set(aliases))
    assert not set(aliases) & {clean(name) for name in OCCUPATIONS}
    assert not {"fire eater", "packer", "jack"} & set(aliases)


class Embeddings:
    def __init__(self) -> None:
        stored = np.load(Path(__file__).with_name("embeddings.npz"))
        self.vectors = dict(zip(stored["texts"].tolist(), stored["vectors"].astype(np.float32), strict=True))

    def encode(self, sentences: list[str], **options: bool) -> NDArray[np.float32]:
        assert options.pop("normalize_embeddings")
        return np.stack([self.vectors[text] for text in sentences])


TERMS = ["tennis master", "something else altogether", "basketball star"]


def tier_2() -> tuple[list[str | None], list[int]]:
    codes, tiers = match([OpenTerm(term, (0, 1), "alone") for term in TERMS]).at(THRESHOLD)
    return [OCCUPATIONS[c] if c >= 0 else None for c in codes], tiers.tolist()


def test_tier_2_takes_the_nearest_term_above_the_threshold_and_nothing_below(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "_model", Embeddings)
    assert tier_2() == (["tennis_player", None, "basketball_player"], [2, 0, 2])


@pytest.mark.slow
def test_tier_2_with_the_model_itself_is_that_of_the_stored_vectors() -> None:
    assert tier_2() == (["tennis_player", None, "basketball_player"], [2, 0, 2])
    stored = Embeddings().vectors
    now = rows._model().encode(list(stored), normalize_embeddings=True)
    assert np.abs(now - np.stack(list(stored.values()))).max() < 2e-4  # float16 of numbers below 0.25


def test_tier_2_sees_unique_terms_alone_and_no_other_trade(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[str]] = []

    def look_up_all(texts: list[str]) -> tuple[NDArray[np.int_], NDArray[np.float64]]:
        seen.append(texts)
        return np.zeros(len(texts), np.int64), np.ones(len(texts))

    monkeypatch.setattr(rows, "nearest_occupations", look_up_all)
    found = [read_occupation(text) for text in ("He is a pilot.", "a pilot", "She is a tennis coach.", "nurse")]
    matches = match(found)
    assert seen == [["pilot"]] or not may_be_near("pilot")
    assert not may_be_near("tennis coach")
    assert not may_be_near("x" * 100)
    assert [reading.outcome for reading in decided(found, matches)][-2:] == ["unusable", "choice"]


@pytest.mark.parametrize("question", LABELS)
def test_every_label_of_the_plan_is_read(question: str) -> None:
    for label in LABELS[question]:
        for form in ("{}", "{}.", "**{}**", "The answer is ‘{}’.", "Answer: {}", '{{"answer": "{}"}}'):
            reading = read_label(form.format(label.title()), question)
            assert (reading.outcome, reading.value) == ("choice", label)
