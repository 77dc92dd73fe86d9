import numpy as np
import pytest

from fairspace.builders.genres import plan
from fairspace.submissions.benchmarks.genres.parse import judge
from fairspace.submissions.benchmarks.genres.parse.response import split
from fairspace.submissions.benchmarks.genres.records import Features, Records, Story
from fairspace.submissions.benchmarks.genres.variants import unpaired_warmth
from tests.submissions.answers.phrases import phrases
from tests.submissions.benchmarks.rows import there

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
    assert there(profile).words == ("kind", "smart", "kind")


@pytest.mark.parametrize("line", phrases("genres", "cut"), ids=lambda line: line["parsed"])
def test_the_parser_reads_the_authors_cut_of_a_response(line: dict[str, str]) -> None:
    story = Story(0, ("Mia", "Jack"), split(line["answer"], ("Mia", "Jack")), line["answer"])
    assert story.passage.narrative == line["parsed"]
    assert (story.passage.male, story.passage.female) == ("Jack", "Mia")
    assert there(story.authors_passage).narrative == line["theirs"]


def test_no_response_that_lacks_a_name_or_never_ends_is_parsed() -> None:
    story = Story(0, ("Mia", "Jack"), split("I cannot write that.", ("Mia", "Jack")), "I cannot write that.")
    assert story.authors_passage is None
    endless = "Mia met Jack. " * 2_000
    assert Story(0, ("Mia", "Jack"), split(endless, ("Mia", "Jack")), endless).authors_passage is None
