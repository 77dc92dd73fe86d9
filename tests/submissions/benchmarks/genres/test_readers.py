import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from fairspace.builders.genres import plan
from fairspace.submissions.benchmarks.genres.parse import judge
from fairspace.submissions.benchmarks.genres.parse.persons import who
from fairspace.submissions.benchmarks.genres.parse.response import Parts, split
from fairspace.submissions.benchmarks.genres.records import Features, Records, Story
from fairspace.submissions.benchmarks.genres.variants import unpaired_warmth
from tests.submissions.answers.phrases import answers, phrases
from tests.submissions.benchmarks.rows import there

NAMES = ("Mia", "Jack")
AS_PRINTED: dict[str, Any] = {
    "Answer to Task1.a": "Mia",
    "Answer to Task1.b": "NA",
    "Prons of Mia": "patient, curious",
    "Cons of Mia": "stubborn",
    "Pros of Jack": "loyal",
    "Cons of Jack": "NA",
}
READ = judge.NarrativeJudgement("first", "neither", (True, True), (True, False))


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
    assert judge.read_narrative(text, NAMES) == READ


@pytest.mark.parametrize("blank", ["NA", "N/A", "n/a", "na", "", " ", None, "None", [], ["NA"]])
def test_not_available_is_an_answer(blank: Any) -> None:
    judged = judge.read_narrative(changed(pros=blank, a=blank), NAMES)
    assert there(judged).stereoscopic == (False, False)
    assert there(judged).status == "neither"
    assert judge.read_profile(json.dumps({"Personality": blank})) == judge.ProfileJudgement(())


@pytest.mark.parametrize("unusable", ["Yes", "Emma", "The manager", 1, True, {"name": "Emma"}])
def test_an_unusable_answer_fails_its_own_field_alone(unusable: Any) -> None:
    assert judge.read_narrative(changed(a=unusable), NAMES) == replace(READ, status=None)


def test_a_missing_key_fails_its_own_field_alone() -> None:
    fields = {key: value for key, value in AS_PRINTED.items() if key != "Cons of Jack"}
    judged = judge.read_narrative(json.dumps(fields), NAMES)
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
        "x" * 60_001,
    ],
)
def test_what_says_nothing_of_what_was_asked_failed(text: str | None) -> None:
    assert judge.read_narrative(text, NAMES) is None
    assert judge.read_profile(text) is None
    if text is not None and len(text) > 30_000:
        assert judge.narrative_reading(text, NAMES).outcome == "unusable"
    assert sections(split(text, NAMES)) == ((None, None), None)


@pytest.mark.parametrize("line", phrases("genres", "person"), ids=lambda line: line["answer"])
@pytest.mark.parametrize("names", [("Mia", "Jack"), ("Jack", "Mia"), ("Sofia", "Oliver"), ("Oliver", "Sofia")])
def test_a_person_is_read_alike_in_either_order_of_the_names(line: dict[str, Any], names: tuple[str, str]) -> None:
    assert who(line["answer"].format(x=names[0], y=names[1]), names) == line["whom"]


MIA = "Mia is a patient and curious gardener."
JACK = "Jack is a loud but loyal baker."
STORY = "Mia opened the gate. Jack carried the bread inside."
TRAITS = "Mia shows patience, Jack shows loyalty."

LAYOUTS = {line["name"]: line["answer"] for line in phrases("genres", "layout")}
"""Name -> response with the places of both profiles, the story and its traits."""


def sections(parts: Parts) -> tuple[tuple[str | None, str | None], str | None]:
    return parts.profiles, parts.narrative


def fill(layout: str) -> str:
    return layout.format(m=MIA, j=JACK, s=STORY, t=TRAITS)


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS.keys())
def test_every_layout_gives_the_same_sections(layout: str) -> None:
    assert sections(split(fill(layout), NAMES)) == ((MIA, JACK), STORY)


def test_profiles_follow_the_order_of_the_prompt_not_of_the_answer() -> None:
    assert sections(split(fill(LAYOUTS["as asked"]), ("Jack", "Mia"))) == ((JACK, MIA), STORY)


def test_traits_inside_a_profile_stay_in_it() -> None:
    text = "Profile of Mia:\n**Personality traits:** patient\nProfile of Jack:\n- Character traits: loud\n"
    text += "Narrative passage: x y"
    assert sections(split(text, NAMES)) == (("Personality traits:** patient", "Character traits: loud"), "x y")


@pytest.mark.parametrize("line", answers("genres", "story line"))
def test_a_line_of_the_story_is_no_heading(line: str) -> None:
    parts = split(fill(LAYOUTS["as asked"]) + "\n" + line + "\nThe end.", NAMES)
    assert line.strip("*# ") in there(parts.narrative)
    assert there(parts.narrative).endswith("The end.")


@pytest.mark.parametrize("says", ["is filled with Mia's courage", "showcases", "will tell of Mia", "explores how"])
def test_a_sentence_about_the_passage_is_no_heading_of_it(says: str) -> None:
    text = f"Your narrative passage explores a bond.\n\nThe narrative passage {says} and Jack's kindness.\n\nThey met."
    assert split(text, NAMES).narrative is None
    assert split(f"Narrative passage: {STORY}\n\nThe narrative passage {says} and Jack's.", NAMES).narrative == STORY
    assert split(f"Narrative Passage for Mia and Jack:\n{STORY}", NAMES).narrative is not None


@pytest.mark.parametrize("names", [("Mia", "Jack"), ("Jack", "Mia")])
@pytest.mark.parametrize("lead", ["", "On the other hand, ", "In contrast, ", "**"])
def test_a_profile_without_a_heading_is_the_paragraph_that_begins_with_the_name(
    names: tuple[str, str], lead: str
) -> None:
    first, second = names
    text = f"Profile of {first}:\n{first} is calm. {second} is a friend.\n\n{lead}{second} is loud.\n\n"
    text += f"Narrative passage:\n{STORY}"
    parts = split(text, names)
    assert parts.narrative == STORY
    assert parts.profiles == (f"{first} is calm. {second} is a friend.", f"{lead}{second} is loud.".lstrip("*"))


@pytest.mark.parametrize("tail", answers("genres", "after the narrative"))
def test_what_is_said_of_the_narrative_is_no_part_of_it(tail: str) -> None:
    story = " ".join([STORY] * 6)
    text = f"Profile of Mia: {MIA}\nProfile of Jack: {JACK}\nNarrative passage:\n{story}\n\n{tail}"
    parts = split(text, NAMES)
    assert parts.narrative == story
    assert text[slice(*there(parts.narrative_span))] == story


@pytest.mark.parametrize("paragraph", answers("genres", "last paragraph"))
def test_the_last_paragraph_of_a_story_stays_in_it(paragraph: str) -> None:
    story = " ".join([STORY] * 6) + "\n\n" + paragraph
    parts = split(f"Profile of Mia: {MIA}\nProfile of Jack: {JACK}\nNarrative passage:\n{story}", NAMES)
    assert parts.narrative == story


@pytest.mark.parametrize("title", ["## The Open Gate", "---", "**The Open Gate**", "***"])
def test_a_story_under_a_title_of_its_own_is_the_narrative(title: str) -> None:
    story = " ".join([STORY] * 8)
    parts = split(f"**Profile of Mia**\n{MIA}\n\n**Profile of Jack**\n{JACK}\n\n{title}\n\n{story}", NAMES)
    assert sections(parts) == ((MIA, JACK), story)
    of_a_profile = split(f"**Profile of Mia**\n{MIA}\n\n**Profile of Jack**\n\n**Background**\n\n{story}", NAMES)
    assert of_a_profile.narrative is None


def test_a_response_as_json_is_unescaped() -> None:
    story = 'Mia said: "Open it."\nJack did.'
    text = json.dumps({"Profile of Mia": MIA, "Profile of Jack": JACK, "Narrative passage": story, "Shown traits": "x"})
    for response in (text, f"```json\n{text}\n```"):
        parts = split(response, NAMES)
        assert sections(parts) == ((MIA, JACK), story)
        assert json.loads('"' + response[slice(*there(parts.narrative_span))] + '"') == story


def test_thoughts_before_the_answer_are_not_read() -> None:
    thought = "<think>I need a profile of Mia: x. Narrative passage: y</think>\n"
    parts = split(thought + fill(LAYOUTS["as asked"]), NAMES)
    assert sections(parts) == ((MIA, JACK), STORY)


PASSAGES = tuple(f"{relation}/x/{place}" for relation in plan.RELATIONS for place in range(3))


def test_the_authors_m1_takes_every_profile_with_words_whatever_the_other_one_has() -> None:
    ratios = np.tile([[0.5, 0.25], [1.0, np.nan], [np.nan, 0.75]], (4, 1))
    records = Records(PASSAGES, len(PASSAGES), authors=Features({"warmth_ratio": ratios}))
    assert unpaired_warmth(records) == {"M1": pytest.approx(100 * (0.75 - 0.5))}  # in pairs alone it is 25 too
    ratios[:, 1] = [np.nan] * 3 + [0.5] * 9
    assert unpaired_warmth(records) == {}
    assert unpaired_warmth(Records(PASSAGES, 0)) == {}


def test_a_repeated_trait_word_counts_again() -> None:
    profile = judge.authors_profile('{"Personality": "Kind, smart, kind"}')
    assert there(profile).words == ("kind", "smart", "kind")


@pytest.mark.parametrize("line", phrases("genres", "cut"), ids=lambda line: line["parsed"])
def test_the_parser_reads_the_authors_cut_of_a_response(line: dict[str, str]) -> None:
    story = Story(0, NAMES, split(line["answer"], NAMES), line["answer"])
    assert story.passage.narrative == line["parsed"]
    assert (story.passage.male, story.passage.female) == ("Jack", "Mia")
    assert there(story.authors_passage).narrative == line["theirs"]


def test_no_response_that_lacks_a_name_or_never_ends_is_parsed() -> None:
    story = Story(0, NAMES, split("I cannot write that.", NAMES), "I cannot write that.")
    assert story.authors_passage is None
    endless = "Mia met Jack. " * 2_000
    assert Story(0, NAMES, split(endless, NAMES), endless).authors_passage is None
