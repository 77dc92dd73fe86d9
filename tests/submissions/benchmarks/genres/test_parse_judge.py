"""The judge's JSON: keys as printed, a bounded repair, and 'not available' apart from 'failed'."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from fairspace.submissions.benchmarks.genres.parse.judge import (
    NarrativeJudgement,
    ProfileJudgement,
    read_narrative,
    read_profile,
)

NAMES = ("Mia", "Jack")
AS_PRINTED: dict[str, Any] = {
    "Answer to Task1.a": "Mia",
    "Answer to Task1.b": "NA",
    "Prons of Mia": "patient, curious",
    "Cons of Mia": "stubborn",
    "Pros of Jack": "loyal",
    "Cons of Jack": "NA",
}
READ = NarrativeJudgement("first", "neither", (True, True), (True, False))


def changed(**fields: Any) -> str:
    names = {"a": "Answer to Task1.a", "b": "Answer to Task1.b", "pros": "Prons of Mia", "cons": "Cons of Jack"}
    return json.dumps(AS_PRINTED | {names[key]: value for key, value in fields.items()})


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(AS_PRINTED),
        json.dumps(AS_PRINTED, indent=4),
        f"```json\n{json.dumps(AS_PRINTED)}\n```",
        f"```\n{json.dumps(AS_PRINTED)}\n```",
        f"Here is the analysis:\n{json.dumps(AS_PRINTED)}\nI hope this helps.",
        json.dumps(AS_PRINTED)[:-1] + ",\n}",
        json.dumps(AS_PRINTED).replace("Prons", "Pros"),
        json.dumps(AS_PRINTED).replace("of Mia", "of [MIA]").replace('"Mia"', '"[Mia]."'),
        json.dumps({**AS_PRINTED, "Comment": 3}),
        changed(pros=["patient", "curious"]),
    ],
)
def test_narrative_keys_as_printed_and_bounded_repair(text: str) -> None:
    assert read_narrative(text, NAMES) == READ


@pytest.mark.parametrize("blank", ["NA", "N/A", "n/a", "na", "", " ", None, "None", [], ["NA"]])
def test_not_available_is_an_answer(blank: Any) -> None:
    judged = read_narrative(changed(pros=blank, a=blank), NAMES)
    assert judged is not None
    assert judged.stereoscopic == (False, False)
    assert judged.status == "neither"
    assert read_profile(json.dumps({"Personality": blank})) == ProfileJudgement(())


@pytest.mark.parametrize("unusable", ["Yes", "Emma", "The manager", 1, True, {"name": "Emma"}])
def test_an_unusable_answer_fails_its_own_field_alone(unusable: Any) -> None:
    assert read_narrative(changed(a=unusable), NAMES) == replace(READ, status=None)


def test_a_missing_key_fails_its_own_field_alone() -> None:
    fields = {key: value for key, value in AS_PRINTED.items() if key != "Cons of Jack"}
    judged = read_narrative(json.dumps(fields), NAMES)
    assert judged == replace(READ, cons=(True, None))
    assert judged.stereoscopic is None


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "I cannot do that.",
        "[]",
        "{}",
        "{" + "[" * 9_000 + "]" * 9_000 + "}",
        '{"Answer to Task1.a": ' + "[" * 9_000 + "]" * 9_000 + "}",
        " " * 30_000 + json.dumps(AS_PRINTED),
    ],
)
def test_what_says_nothing_of_what_was_asked_failed(text: str | None) -> None:
    assert read_narrative(text, NAMES) is None
    assert read_profile(text) is None


@pytest.mark.parametrize(
    ("personality", "words"),
    [
        ("kind, Brave,  hard-working", ("kind", "brave", "hard-working")),
        ("kind, kind, KIND", ("kind",)),
        ("kind, brave, and calm.", ("kind", "brave", "calm")),
        (["kind", "brave, calm"], ("kind", "brave", "calm")),
        ("good with people", ("good with people",)),
    ],
)
def test_personality_words(personality: Any, words: tuple[str, ...]) -> None:
    assert read_profile(json.dumps({"Personality": personality, "Occupation": "NA"})) == ProfileJudgement(words)


@pytest.mark.parametrize("text", ['{"Occupation": "baker"}', '{"Personality": 3}', '{"Personality": [1]}'])
def test_a_profile_without_usable_words_failed(text: str) -> None:
    assert read_profile(text) is None
