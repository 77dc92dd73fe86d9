"""Drawn responses and judgements of GENRES, and the submission that they make.

Parser, sentiment model and trait dictionary are instruments, not scorers: here they are drawn as well. A sentence that
begins with a character's name is that character's, `gladly` makes it positive, each `fear` in it is an emotion word.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import pyarrow as pa

from fairspace.builders.genres.plan import pair_list
from fairspace.submissions.benchmarks.genres.parse import lexicons, sentences
from fairspace.submissions.benchmarks.genres.parse.lexicons import Entry
from fairspace.submissions.benchmarks.genres.parse.sentences import Counts, Passage
from fairspace.submissions.format.schema import JUDGEMENTS, RESPONSES
from tests.oracles.drawing import ABSENT, GARBLED, REFUSED, TEXTS, damaged, random

WORDS = {
    "kind": Entry(True, False, 1, 0, 0.75),
    "cold": Entry(True, False, -1, 0, -0.5),
    "smart": Entry(False, True, 0, 1, 0.5),
    "lazy": Entry(False, True, 0, -1, -0.625),
    "loyal": Entry(True, True, 1, 1, 1.0),
    "tall": Entry(False, False, 0, 0, 0.125),
}
"""The drawn dictionary: warmth, competence, their directions, valence."""
UNKNOWN = "zany"
JUDGED = {**TEXTS, GARBLED: '{"Qxv": zzt!}'}
"""A judge's damaged answers; the garbled one is broken JSON."""
FULL, SHORT, NO_NARRATIVE, ONE_PROFILE = 0, 1, 2, 3
"""What a response holds; the damages of `drawing` are further ones."""
FILLING = "They walked on and talked for a long while. " * 12
GENDERS = ("male", "female")


class Story(NamedTuple):
    """What was drawn of one passage; pairs are male, female.

    Args:
        holds: what its response holds, or a damage.
        gate: a number in its first sentence: equal stories are told twice.
        sentences: of each character, whether each of its sentences is positive, and its emotion words.
        traits: the personality words of each profile.
        profiles: of each profile, 0 or a damage of the judge's answer.
        status: 0 male, 1 female, 2 neither.
        main: likewise.
        pros: of each character, whether any are named; `cons` likewise.
        analysis: 0 or a damage of the judge's answer.
    """

    holds: int
    gate: int
    sentences: tuple[list[tuple[bool, int]], list[tuple[bool, int]]]
    traits: tuple[list[str], list[str]]
    profiles: tuple[int, int]
    status: int
    main: int
    pros: tuple[bool, bool]
    cons: tuple[bool, bool]
    analysis: int


def draw(seed: int, kind: str) -> list[Story]:
    """A model that writes more of men; `damaged`, `ties` or `empty groups` on demand.

    In `whole` data every metric is defined in every passage.
    """
    draws, n = random(seed), len(pair_list())
    holds, profiles, analyses = (draws.randint(0, 1, shape) for shape in (n, (n, 2), n))
    if kind not in ("drawn", "whole"):
        holds, profiles, analyses = (damaged(codes, draws) for codes in (holds, profiles, analyses))
        lacking = (holds == FULL) & (draws.random_sample(n) < 0.1)
        holds = np.where(lacking, draws.randint(1, 4, n), holds)
    stories = []
    for place, pair in enumerate(pair_list()):
        tied = kind == "ties"
        counts = (3, 3) if tied else (draws.randint(0, 9), draws.randint(0, 7))
        if kind == "damaged" and place % 400 == 7:
            counts = (45, 1)
        written = tuple(
            [(bool(draws.randint(2)), int(draws.randint(6 if place % 400 == 7 else 3))) for _ in range(count)]
            for count in counts
        )
        known = [*WORDS, UNKNOWN]
        traits = tuple(
            list(dict.fromkeys(known[draws.randint(len(known))] for _ in range(draws.randint(1, 5)))) for _ in GENDERS
        )
        if kind == "whole":
            written = tuple([*each, (True, 1)] for each in written)
            traits = tuple(list(dict.fromkeys(["smart", *each])) for each in traits)
        if tied:
            written, traits = (written[0], list(written[0])), (traits[0], list(traits[0]))
        status = place % 3 if tied else int(draws.choice(3, p=(0.5, 0.3, 0.2)))
        main = place % 3 if tied else int(draws.choice(3, p=(0.3, 0.5, 0.2)))
        pros, cons = ((bool(a), bool(b)) for a, b in draws.random_sample((2, 2)) < (0.9, 0.6))
        if kind == "empty groups" and pair.id.startswith("em"):
            status, pros, traits = 2, (True, True), ([UNKNOWN], traits[1])
        if kind == "empty groups" and pair.id.startswith("mp"):
            holds[place] = REFUSED
        gate = place // 2 if kind == "damaged" else place
        judged = int(profiles[place][0]), int(profiles[place][1])
        stories.append(
            Story(int(holds[place]), gate, written, traits, judged, status, main, pros, cons, int(analyses[place]))  # type: ignore[arg-type]
        )
    return stories


def written(story: Story, names: Sequence[str]) -> list[str]:
    """The sentences of both characters, male first."""
    return [
        f"{name} {'gladly' if positive else 'sadly'} walked through {'fear ' * emotions}along the road"
        for name, each in zip(names, story.sentences, strict=True)
        for positive, emotions in each
    ]


def response(story: Story, names: Sequence[str], first: Sequence[str]) -> str | None:
    """The text of a response; `names` are male, female, `first` as the prompt orders them."""
    if story.holds < 0:
        return TEXTS[story.holds]
    profiles = "\n".join(f"Profile of {name}: a person of the town." for name in first)
    if story.holds == ONE_PROFILE:
        profiles = f"Profile of {first[0]}: a person of the town."
    filling = "" if story.holds == SHORT else FILLING
    opening = f"At gate {story.gate} stood {names[0]} with {names[1]}"
    if story.holds == SHORT:
        return f"{profiles}\nNarrative passage: {opening}."
    if story.holds == NO_NARRATIVE:
        return profiles
    return f"{profiles}\nNarrative passage: {'. '.join([opening, *written(story, names)])}. {filling}"


def answers(story: Story, names: Sequence[str]) -> Iterator[tuple[str, int, Mapping[str, str]]]:
    """Task of the judge, 0 or the damage of its answer, and the answer; `names` are male, female."""
    nobody = (*names, "NA")
    analysis = {"Answer to Task1.a": nobody[story.status], "Answer to Task1.b": nobody[story.main]}
    for name, pros, cons in zip(names, story.pros, story.cons, strict=True):
        analysis |= {f"Pros of {name}": "brave" if pros else "NA", f"Cons of {name}": "stubborn" if cons else "NA"}
    yield "narrative_analysis", story.analysis, analysis
    for gender, code, words in zip(GENDERS, story.profiles, story.traits, strict=True):
        yield f"profile_{gender}", code, {"Personality": ", ".join(words), "Occupation": "NA", "Interests": "NA"}


def tables(stories: Sequence[Story]) -> dict[str, list[pa.Table]]:
    """The drawn stories as responses and as a judge's answers."""
    responses, judgements = [], []
    for story, pair in zip(stories, pair_list(), strict=True):
        names = pair.male_name, pair.female_name
        base = {"id": pair.id, "sample": 0}
        if story.holds != ABSENT:
            responses.append(base | {"task": "narrative", "response": response(story, names, pair.names)})
        for task, code, answer in answers(story, names):
            text = JUDGED[code] if code in JUDGED else json.dumps(answer)
            judgements += [base | {"task": task, "judgement": text}] if code != ABSENT else []
    return {
        "responses": [pa.Table.from_pylist(responses, RESPONSES)],
        "judgements": [pa.Table.from_pylist(judgements, JUDGEMENTS)],
    }


@contextmanager
def instruments() -> Iterator[None]:
    """The drawn parser, dictionary and sentiment model in place of the real ones."""
    with ExitStack() as stack:
        stack.enter_context(patch.object(sentences, "count", _count))
        stack.enter_context(patch.object(lexicons, "dictionary", lambda: WORDS))
        moods = lambda texts: {text: "gladly" in text for text in texts}  # noqa: E731
        stack.enter_context(patch.object(lexicons, "positive_sentences", moods))
        yield


def _count(passages: Sequence[Passage], *_: Any, **__: Any) -> list[Counts]:
    counts = []
    for passage in passages:
        parts = passage.narrative.split(". ")
        mine = [tuple(part for part in parts if part.startswith(f"{name} ")) for name in (passage.male, passage.female)]
        words = [sum(part.count("fear") for part in each) for each in mine]
        counts.append(Counts((mine[0], mine[1]), (words[0], words[1])))
    return counts


__all__ = ["GARBLED", "FULL", "ONE_PROFILE", "Story", "draw", "instruments", "tables"]
