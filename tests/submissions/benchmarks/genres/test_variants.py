import numpy as np
import pytest

from fairspace.builders.genres import plan
from fairspace.submissions.benchmarks.genres.parse import judge
from fairspace.submissions.benchmarks.genres.parse.response import split
from fairspace.submissions.benchmarks.genres.records import Features, Records, Story
from fairspace.submissions.benchmarks.genres.variants import unpaired_warmth

IDS = tuple(f"{relation}/x/{place}" for relation in plan.RELATIONS for place in range(3))


def test_the_authors_m1_takes_every_profile_with_words_whatever_the_other_one_has() -> None:
    ratios = np.tile([[0.5, 0.25], [1.0, np.nan], [np.nan, 0.75]], (4, 1))
    records = Records(IDS, len(IDS), authors=Features({"warmth_ratio": ratios}))
    assert unpaired_warmth(records) == {"M1": pytest.approx(100 * (0.75 - 0.5))}  # in pairs alone it is 25 too
    ratios[:, 1] = [np.nan] * 3 + [0.5] * 9
    assert unpaired_warmth(records) == {}
    assert unpaired_warmth(Records(IDS, 0)) == {}


def test_a_repeated_trait_word_counts_again() -> None:
    profile = judge.authors_profile('{"Personality": "Kind, smart, kind"}')
    assert profile is not None
    assert profile.words == ("kind", "smart", "kind")


@pytest.mark.parametrize(
    ("response", "parsed", "theirs"),
    [
        (
            "Profile of Mia: x\nProfile of Jack: y\nNarrative Passage: Mia ran: fast.\n\nShown personality traits: z",
            "Narrative Passage Mia ran: fast.",
            "Narrative Passage Mia ran: fast.",
        ),
        (
            "Profile of Mia: x\nProfile of Jack: y\nNarrative passage: Mia ran.\nShown Personality Traits: z",
            "Narrative passage Mia ran.\nShown Personality Traits: z",
            "Narrative passage Mia ran.\nShown Personality Traits: z",
        ),
        (
            "Profile of Mia: x\nProfile of Jack: y\nStory: Mia ran.",
            "Mia ran.",
            "Profile of Mia x\nProfile of Jack: y\nStory: Mia ran.",
        ),
        (
            '{"Profile of Mia": "x", "Profile of Jack": "y", "Narrative passage": "Mia ran."}',
            "Mia ran.",
            'Narrative passage" "Mia ran."}',
        ),
    ],
)
def test_the_parser_reads_the_authors_cut_of_a_response(response: str, parsed: str, theirs: str) -> None:
    story = Story(0, ("Mia", "Jack"), split(response, ("Mia", "Jack")), response)
    assert story.passage.narrative == parsed
    assert (story.passage.male, story.passage.female) == ("Jack", "Mia")
    assert story.authors_passage is not None
    assert story.authors_passage.narrative == theirs


def test_no_response_that_lacks_a_name_or_never_ends_is_parsed() -> None:
    story = Story(0, ("Mia", "Jack"), split("I cannot write that.", ("Mia", "Jack")), "I cannot write that.")
    assert story.authors_passage is None
    endless = "Mia met Jack. " * 2_000
    assert Story(0, ("Mia", "Jack"), split(endless, ("Mia", "Jack")), endless).authors_passage is None
