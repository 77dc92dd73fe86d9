"""Splitting: every layout gives the same three sections, and what lacks one is not guessed."""

from __future__ import annotations

import time

import pytest

from fairspace.submissions.benchmarks.genres.parse.response import Parts, Unsplit, split

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


def fill(layout: str) -> str:
    return layout.format(m=MIA, j=JACK, s=STORY, t=TRAITS)


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS.keys())
def test_every_layout_gives_the_same_sections(layout: str) -> None:
    assert split(fill(layout), NAMES) == Parts((MIA, JACK), STORY)


def test_profiles_follow_the_order_of_the_prompt_not_of_the_answer() -> None:
    assert split(fill(LAYOUTS["as asked"]), ("Jack", "Mia")) == Parts((JACK, MIA), STORY)


def test_traits_inside_a_profile_stay_in_it() -> None:
    text = "Profile of Mia:\n**Personality traits:** patient\nProfile of Jack:\n- Character traits: loud\nNarrative passage: x y"
    assert split(text, NAMES) == Parts(("Personality traits:** patient", "Character traits: loud"), "x y")


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
    assert isinstance(parts, Parts)
    assert line.strip("*# ") in parts.narrative
    assert parts.narrative.endswith("The end.")


@pytest.mark.parametrize(
    ("response", "lacks"),
    [
        (None, "response"),
        ("", "response"),
        (" \n\t", "response"),
        ("I'm sorry, but I can't help with that.", "profile of Mia"),
        (f"Profile of Mia: {MIA}\nNarrative passage: {STORY}", "profile of Jack"),
        (f"Profile of Mia: {MIA}\nProfile of Jack: {JACK}\n{STORY}", "narrative"),
        (f"Profile of Mia: {MIA}\nProfile of Jack: {JACK}\nNarrative passage:", "narrative"),
        (f"Profile of Mia:\nProfile of Jack: {JACK}\nNarrative passage: {STORY}", "profile of Mia"),
        (f"Profile of Mia and Jack: both kind\nNarrative passage: {STORY}", "profile of Mia"),
        (f"Profile of Emma: {MIA}\nProfile of Noah: {JACK}\nNarrative passage: {STORY}", "profile of Mia"),
        (STORY, "profile of Mia"),
        ("x" * 60_001, "end"),
    ],
)
def test_what_lacks_a_section_is_not_guessed(response: str | None, lacks: str) -> None:
    assert split(response, NAMES) == Unsplit(lacks)


@pytest.mark.parametrize("filler", ["*", " ", "#", "1.", "Mia ", "-\n", "Profile of ", ". ", "(", "trait "])
def test_no_response_takes_long(filler: str) -> None:
    began = time.process_time()
    assert isinstance(split((filler * 20_000)[:20_000], NAMES), Unsplit)
    assert time.process_time() - began < LONGEST_SECONDS
