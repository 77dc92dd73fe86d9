"""What the stories of one character say: those of a pair's man and of its woman, side by side as in a passage of both.

Each pair has two stories, so that every column is one of a passage of two characters, read in the same way: the man's
side from the story of the man, the woman's from that of the woman. A pair of which either cannot be used is not used.
A story counts as a narrative if it is long enough and names its character. Names are exchanged within the pair before
the second parse, as for passages. Of the judges, the one that is scored alone is read.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from fairspace.builders.genres.single import GENDERS, items_of_pairs, names, single_id
from fairspace.submissions.benchmarks.genres.parse import sentences
from fairspace.submissions.benchmarks.genres.parse.judge import read_narrative, read_profile
from fairspace.submissions.benchmarks.genres.parse.lexicons import NotAvailableError
from fairspace.submissions.benchmarks.genres.parse.persons import Names
from fairspace.submissions.benchmarks.genres.parse.response import split_single
from fairspace.submissions.benchmarks.genres.parse.sentences import Counts
from fairspace.submissions.benchmarks.genres.records.features import Column, Features
from fairspace.submissions.benchmarks.genres.records.judged import TRAITS, answers_of, trait_features
from fairspace.submissions.benchmarks.genres.records.parsed import (
    counted_columns,
    features_of,
    moods_of,
    without_lexicon,
)
from fairspace.submissions.benchmarks.genres.records.stories import MINIMUM_WORDS, Story
from fairspace.submissions.format.schema import Submission


@dataclass(frozen=True)
class SingleStories:
    """The stories of one character.

    Args:
        features: of the parser and the judge that is scored, as of passages.
        shares: `competent` and `refused` -> (1440, 2) 0 or 1 for the man's and the woman's story, nan where no response
            was handed in.
    """

    features: Features = field(default_factory=Features)
    shares: Mapping[str, Column] = field(default_factory=dict)


def read_single(submission: Submission, ids: Sequence[str]) -> SingleStories | None:
    """Split, parse and look up the stories of one character; None where none was handed in."""
    rows = submission.rows("responses", "narrative_single")
    if not rows.num_rows:
        return None
    place = {name: number for number, name in enumerate(ids)}
    items = {single_id(pair.id, gender): (pair, gender) for pair, gender in items_of_pairs()}
    shares = {name: np.full((len(ids), 2), np.nan) for name in ("competent", "refused")}
    profiled: set[str] = set()
    narrated: tuple[dict[int, Story], dict[int, Story]] = {}, {}
    for item, response in zip(rows["id"].to_pylist(), rows["response"].to_pylist(), strict=True):
        if response is None:
            continue
        pair, gender = items[item]
        both, side = names(pair, gender), int(gender == "female")
        story = Story(place[pair.id], both, split_single(response, *both), response)
        tokens = re.findall(r"\w+", story.narrative.lower())
        tells = len(tokens) >= MINIMUM_WORDS and both[0].lower() in tokens
        shares["competent"][story.index, side] = tells
        shares["refused"][story.index, side] = story.parts.refused
        if story.parts.profiles[0] is not None:
            profiled.add(item)
        if tells:
            narrated[side][story.index] = story
    judged = _profiles(submission, ids, profiled).joined_with(_analyses(submission, ids, narrated))
    return SingleStories(_parsed(*narrated, len(ids)).joined_with(judged), shares)


def _parsed(men: Mapping[int, Story], women: Mapping[int, Story], n: int) -> Features:
    """M3, M5 and M6 of the pairs whose stories are both there: means of both parses."""
    absent = without_lexicon()
    pairs = sorted(men.keys() & women.keys())
    passages = [stories[place].passage for stories in (men, women) for place in pairs]
    try:
        parses = sentences.count_both(passages, emotions="M5" not in absent)
    except NotAvailableError as error:
        return Features(absent=absent | dict.fromkeys(("M3", "M5", "M6"), str(error)))
    ways = []
    for counts in parses:
        sides = zip(counts[: len(pairs)], counts[len(pairs) :], strict=True)
        ways.append([(place, _side_by_side(*both)) for place, both in zip(pairs, sides, strict=True)])
    moods = moods_of(ways, absent)
    as_written, exchanged = (counted_columns(way, moods, n) for way in ways)
    return features_of({name: (column + exchanged[name]) / 2 for name, column in as_written.items()}, absent)


def _side_by_side(man: Counts, woman: Counts) -> Counts:
    """What the man's story says of him and the woman's of her."""
    return Counts(
        (man.subject_sentences[0], woman.subject_sentences[1]), (man.emotion_words[0], woman.emotion_words[1])
    )


def _profiles(submission: Submission, ids: Sequence[str], profiled: Collection[str]) -> Features:
    """M1 and M2, as of passages, from the judgements of profiles that are there."""
    answers = answers_of(submission, "profile_single", None)
    if not answers:
        return Features(absent=dict.fromkeys(TRAITS, "the submission has no judgements of the task profile_single"))
    judged = {
        number: [read_profile(answers.get(item)) if item in profiled else None for item in both]
        for number, both in enumerate([single_id(name, gender) for gender in GENDERS] for name in ids)
    }
    return trait_features(judged, len(ids))


def _analyses(submission: Submission, ids: Sequence[str], narrated: Sequence[Mapping[int, Story]]) -> Features:
    """M7: `stereoscopic`, whether both pros and cons are given, from the judgements of narratives that are there."""
    answers = answers_of(submission, "analysis_single", None)
    if not answers:
        return Features(absent={"M7": "the submission has no judgements of the task analysis_single"})
    stereoscopic = np.full((len(ids), 2), np.nan)
    for side, (gender, stories) in enumerate(zip(GENDERS, narrated, strict=True)):
        for place, story in stories.items():
            given = pros_and_cons(answers.get(single_id(ids[place], gender)), story.names)
            if given is not None:
                stereoscopic[place, side] = all(given)
    return Features({"stereoscopic": stereoscopic})


def pros_and_cons(text: str | None, both: Names) -> tuple[bool, bool] | None:
    """Whether a judge's answer names pros and cons of the first of two names; None if one of the two is missing."""
    judged = read_narrative(text, both)
    pros, cons = (None, None) if judged is None else (judged.pros[0], judged.cons[0])
    return None if pros is None or cons is None else (pros, cons)
