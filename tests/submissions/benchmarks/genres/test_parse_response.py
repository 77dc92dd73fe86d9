"""Splitting: every layout gives the same three sections, and what lacks one is not guessed."""

from __future__ import annotations

import json
import time

import pytest

from fairspace.submissions.benchmarks.genres.parse.response import Parts, split

NAMES = ("Mia", "Jack")
MIA = "Mia is a patient and curious gardener."
JACK = "Jack is a loud but loyal baker."
STORY = "Mia opened the gate. Jack carried the bread inside."
TRAITS = "Mia shows patience, Jack shows loyalty."

LONGEST_SECONDS = 1.0
"""For 20 000 characters; each takes some milliseconds, and a pattern that tries every way takes minutes."""

# ruff: noqa: E501 -- a layout reads best on one line
LAYOUTS = {
    "as asked": "Profile of Mia: {m}\nProfile of Jack: {j}\n\nNarrative passage: {s}",
    "traits line": "Profile of Mia: {m}\nProfile of Jack: {j}\n\nNarrative passage: {s}\n\nShown personality traits: {t}",
    "text below": "Profile of Mia:\n{m}\n\nProfile of Jack:\n{j}\n\nNarrative passage:\n{s}\n",
    "markdown": "### Profile of Mia:\n{m}\n\n### Profile of Jack:\n{j}\n\n### Narrative Passage:\n{s}\n\n### Shown Personality Traits:\n- {t}",
    "no colon": "### Profile of Mia\n{m}\n\n### Profile of Jack\n{j}\n\n### Narrative Passage\n\n{s}",
    "bold": "**Profile of Mia:** {m}\n\n**Profile of Jack:** {j}\n\n**Narrative Passage:** {s}\n\n**Shown personality traits:** {t}",
    "colon outside bold": "**Profile of Mia**: {m}\n**Profile of Jack**: {j}\n**Narrative passage**: {s}",
    "bold without colon": "**Profile of Mia**\n{m}\n**Profile of Jack**\n{j}\n**Narrative Passage**\n{s}\n**Personality Traits**\n{t}",
    "bold, then text": "**Profile of Mia** {m}\n**Profile of Jack** {j}\n**Narrative Passage** {s}",
    "name's profile": "**Mia's Profile:**\n{m}\n**Jack's Profile:**\n{j}\n**Story:**\n{s}",
    "curly apostrophe": "Mia’s Profile:\n{m}\nJack’s Profile:\n{j}\nThe story:\n{s}",
    "capitals": "PROFILE OF MIA:\n{m}\nPROFILE OF JACK:\n{j}\nNARRATIVE PASSAGE:\n{s}\nSHOWN PERSONALITY TRAITS:\n{t}",
    "numbered": "1. Profile of Mia: {m}\n2. Profile of Jack: {j}\n3. Narrative passage: {s}\n4. Shown personality traits: {t}",
    "numbered in bold": "**1. Profile of Mia**\n{m}\n**2) Profile of Jack**\n{j}\n**3. Narrative**\n{s}",
    "lettered": "a) Profile of Mia: {m}\nb) Profile of Jack: {j}\nc) Narrative passage: {s}",
    "roman": "I. Profile of Mia\n{m}\nII. Profile of Jack\n{j}\nIII. Narrative passage\n{s}",
    "bullets": "- **Profile of Mia:** {m}\n- **Profile of Jack:** {j}\n\n- **Narrative passage:** {s}",
    "bare names": "**Mia**\n{m}\n\n**Jack**\n{j}\n\n**Narrative Passage**\n{s}",
    "bare names with colon": "Profiles\n\nMia: {m}\n\nJack: {j}\n\nNarrative: {s}",
    "name lines": "# Character Profiles\n**Name:** Mia\n{m}\n**Name:** Jack\n{j}\n# Plot\n{s}",
    "character n": "## Character 1: Mia\n{m}\n## Character 2: Jack\n{j}\n## Narrative Passage (about 500 words)\n{s}",
    "profile n": "Profile 1: Mia\n{m}\nProfile 2: Jack\n{j}\nNarrative Passage\n{s}",
    "profile for": "Character profile for Mia\n{m}\nCharacter profile for Jack\n{j}\nStory:\n{s}",
    "profile with dash": "## Profile - Mia\n{m}\n## Profile – Jack\n{j}\n## Narrative Passage - {s}",
    "name, dash, profile": "## Mia - Character Profile\n{m}\n## Jack — Profile\n{j}\n## The Narrative\n{s}",
    "surname": "### Profile of Mia Carter:\n{m}\n### Profile of Jack Miller:\n{j}\n### Narrative Passage:\n{s}",
    "role in brackets": "### Profile of Mia (the gardener):\n{m}\n### Profile of Jack (the baker):\n{j}\n### Plot:\n{s}",
    "names in bold": "Profile of **Mia**: {m}\nProfile of **Jack**: {j}\n**Narrative passage**:\n{s}",
    "preamble": "Certainly! Here is the plot for your novel.\n\n---\n\nProfile of Mia: {m}\nProfile of Jack: {j}\n---\nNarrative passage: {s}",
    "other order": "Profile of Jack: {j}\nProfile of Mia: {m}\nNarrative passage: {s}",
    "narrative first": "Narrative passage: {s}\nProfile of Mia: {m}\nProfile of Jack: {j}",
    "one line": "Profile of Mia: {m} Profile of Jack: {j} Narrative passage: {s} Shown personality traits: {t}",
    "windows line ends": "Profile of Mia: {m}\r\nProfile of Jack: {j}\r\nNarrative passage: {s}\r\n",
    "empty sub-heading": "### Profile of Mia\n{m}\n### Profile of Jack\n{j}\n### Narrative Passage\n\n#### Plot:\n{s}",
    "answer repeated": "Profile of Mia: {m}\nProfile of Jack: {j}\nNarrative passage: {s}\nShown personality traits: {t}\nNarrative passage: {s}",
    "all repeated": "Profile of Mia: {m}\nProfile of Jack: {j}\nNarrative passage: {s}\nProfile of Mia: {t}\nNarrative passage: {t}",
    "traits cut off": "### Profile of Mia\n{m}\n### Profile of Jack\n{j}\n### Narrative Passage\n{s}\n\n### Shown Person",
    "traits of a name": "Profile of Mia: {m}\nProfile of Jack: {j}\nNarrative passage: {s}\n\n- Mia's personality trait: {t}",
    "traits shown in": "Profile of Mia: {m}\nProfile of Jack: {j}\nNarrative passage: {s}\n\n**Traits shown in the story:** {t}",
    "key traits": "Profile of Mia: {m}\nProfile of Jack: {j}\nNarrative passage: {s}\n\n**Key Character Traits Displayed**\n{t}",
    "full-width colon": "Profile of Mia：{m}\nProfile of Jack：{j}\nNarrative passage：{s}",
    "quoted": "> Profile of Mia: {m}\n> Profile of Jack: {j}\n> Narrative passage: {s}",
}


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
    text = "Profile of Mia:\n**Personality traits:** patient\nProfile of Jack:\n- Character traits: loud\nNarrative passage: x y"
    assert sections(split(text, NAMES)) == (("Personality traits:** patient", "Character traits: loud"), "x y")


@pytest.mark.parametrize(
    "line",
    [
        "Jack: I will not go.",
        "The plot thickened as Mia read on.",
        "Story after story, she waited.",
        "Her traits showed: calm, and more calm.",
        "#### Beginning",
        "**Jack**",
        "Passage to the cellar was barred.",
        "Profile views did not matter to Mia.",
    ],
)
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
    text = f"Profile of {first}:\n{first} is calm. {second} is a friend.\n\n{lead}{second} is loud.\n\nNarrative passage:\n{STORY}"
    parts = split(text, names)
    assert parts.narrative == STORY
    assert parts.profiles == (f"{first} is calm. {second} is a friend.", f"{lead}{second} is loud.".lstrip("*"))


@pytest.mark.parametrize(
    "tail",
    [
        "Shown personality traits: of Mia, patience; of Jack, loyalty.",
        "**(Shown personality traits: patience of Mia, loyalty of Jack.)**",
        "---\n\n*Personality traits expressed in the passage: Mia's patience, Jack's loyalty.*",
        "**[End of passage]**",
        "(End of the narrative)",
        "Note: the plot expresses Mia's patience and Jack's loyalty.",
        "**Note:** 502 words.",
        "(Word count: 502)",
        "This narrative passage highlights how Mia and Jack share their work.",
        "The plot adheres to the model of communal sharing.",
        "In this passage, Mia's patience shows when she waits, and Jack's loyalty when he comes.",
        "Would you like me to continue the story?",
        "Let me know if you want another ending!",
        "I hope this helps with your novel.",
        "If you'd like, I can write the next chapter.",
        "</s><|im_end|>",
    ],
)
def test_what_is_said_of_the_narrative_is_no_part_of_it(tail: str) -> None:
    story = " ".join([STORY] * 6)
    text = f"Profile of Mia: {MIA}\nProfile of Jack: {JACK}\nNarrative passage:\n{story}\n\n{tail}"
    parts = split(text, NAMES)
    assert parts.narrative == story
    assert parts.narrative_span is not None
    assert text[slice(*parts.narrative_span)] == story


@pytest.mark.parametrize(
    "paragraph",
    [
        '"Would you like to join us?" Mia asked.',
        '"Let me know if it hurts," Jack said.',
        "The response was loud, and Mia laughed.",
        "The story of the old gate spread through the village.",
        "In the plot behind the house, Mia and Jack planted beans.",
        "The note on the door said: come in.",
        "The end.",
    ],
)
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


@pytest.mark.parametrize("filler", ["*", " ", "#", "1.", "Mia ", "-\n", "Profile of ", ". ", "(", "trait "])
def test_no_response_takes_long(filler: str) -> None:
    began = time.process_time()
    assert split((filler * 20_000)[:20_000], NAMES).narrative is None
    assert time.process_time() - began < LONGEST_SECONDS
