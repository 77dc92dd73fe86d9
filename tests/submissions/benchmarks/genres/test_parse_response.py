"""Splitting: every layout gives the same three sections, and what lacks one is not guessed."""

from __future__ import annotations

import json

import pytest

from fairspace.submissions.benchmarks.genres.parse.response import Parts, split
from tests.submissions.benchmarks.phrases import answers, phrases

NAMES = ("Mia", "Jack")
MIA = "Mia is a patient and curious gardener."
JACK = "Jack is a loud but loyal baker."
STORY = "Mia opened the gate. Jack carried the bread inside."
TRAITS = "Mia shows patience, Jack shows loyalty."

LAYOUTS = {line["gold"]: line["answer"] for line in phrases("genres", "layout")}
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
    assert parts.narrative is not None
    assert line.strip("*# ") in parts.narrative
    assert parts.narrative.endswith("The end.")


@pytest.mark.parametrize(
    ("response", "profiles", "narrative"),
    [
        (None, (None, None), None),
        ("", (None, None), None),
        (" \n\t", (None, None), None),
        ("I'm sorry, but I can't help with that.", (None, None), None),
        (f"Profile of Mia: {MIA}\nNarrative passage: {STORY}", (MIA, None), STORY),
        (f"Profile of Mia: {MIA}\nProfile of Jack: {JACK}\n{STORY}", (MIA, f"{JACK}\n{STORY}"), None),
        (f"Profile of Mia: {MIA}\nProfile of Jack: {JACK}\nNarrative passage:", (MIA, JACK), None),
        (f"Profile of Mia:\nProfile of Jack: {JACK}\nNarrative passage: {STORY}", (None, JACK), STORY),
        (f"Profile of Mia and Jack: both kind\nNarrative passage: {STORY}", (None, None), STORY),
        (f"Profile of Emma: she bakes\nProfile of Noah: he sings\nNarrative passage: {STORY}", (None, None), STORY),
        (STORY, (None, None), None),
        ("x" * 60_001, (None, None), None),
    ],
)
def test_what_is_there_is_used_and_the_rest_is_not_guessed(
    response: str | None, profiles: tuple[str | None, str | None], narrative: str | None
) -> None:
    assert sections(split(response, NAMES)) == (profiles, narrative)


@pytest.mark.parametrize("says", ["is filled with Mia's courage", "showcases", "will tell of Mia", "explores how"])
def test_a_sentence_about_the_passage_is_no_heading_of_it(says: str) -> None:
    """As SmolLM2 promises a passage that it never writes."""
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
    assert parts.narrative_span is not None
    assert text[slice(*parts.narrative_span)] == story


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
        assert parts.narrative_span is not None
        assert json.loads('"' + response[slice(*parts.narrative_span)] + '"') == story


def test_thoughts_before_the_answer_are_not_read() -> None:
    thought = "<think>I need a profile of Mia: x. Narrative passage: y</think>\n"
    parts = split(thought + fill(LAYOUTS["as asked"]), NAMES)
    assert sections(parts) == ((MIA, JACK), STORY)


@pytest.mark.parametrize(
    ("response", "refused"),
    [
        ("I'm sorry, but I can't help with that.", True),
        ("I cannot create a story about these persons.", True),
        ("Sure! Could you tell me more?", False),
        ("", False),
    ],
)
def test_a_refusal_is_told_from_other_responses_without_a_section(response: str, refused: bool) -> None:
    assert split(response, NAMES).refused is refused
