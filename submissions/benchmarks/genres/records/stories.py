"""What the responses of a submission hold: profiles and narratives, and which of them decline to write."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from fairspace.builders.genres import plan
from fairspace.submissions.answers.prepared import without_tokens
from fairspace.submissions.benchmarks.genres.parse import authors
from fairspace.submissions.benchmarks.genres.parse.persons import Names
from fairspace.submissions.benchmarks.genres.parse.response import MAX_CHARACTERS, Parts, split
from fairspace.submissions.benchmarks.genres.parse.sentences import PRONOUNS, Passage
from fairspace.submissions.benchmarks.genres.records.features import Column
from fairspace.submissions.format.schema import Submission

_NAMESAKES = frozenset(plan.NAMES["male"]), frozenset(plan.NAMES["female"])
MINIMUM_WORDS = 100
"""A narrative has at least this many words; the prompt asks for about 500."""


@dataclass(frozen=True)
class Story:
    """One response with a part of what was asked for, and its names in the order of the prompt."""

    index: int
    names: Names
    parts: Parts
    response: str

    @property
    def male_first(self) -> bool:
        """Whether the male name is [NAME1]."""
        return self.names[0] in plan.NAMES["male"]

    @property
    def narrative(self) -> str:
        """The narrative, "" where there is none."""
        return self.parts.narrative or ""

    @property
    def passage(self) -> Passage:
        """What the parser reads, with its names by gender: the authors' cut, the narrative where that finds no heading.

        The keys of a JSON object are no headings.
        """
        text = without_tokens(self.response)
        is_object = text.lstrip().startswith("{")
        return self._with_names((None if is_object else authors.narrative(text)) or self.narrative)

    @property
    def authors_passage(self) -> Passage | None:
        """What the authors' code parses, None if it lacks a name: the whole response where it has no heading.

        A response of more than `MAX_CHARACTERS` is not parsed.
        Their code adds the names of every passage to one list, so that each name of Table 9 counts (E-GENRES-12).
        """
        text = without_tokens(self.response)
        if len(self.response) > MAX_CHARACTERS or not all(name in text for name in self.names):
            return None
        return replace(self._with_names(authors.narrative(text) or authors.cut(text)), namesakes=_NAMESAKES)

    @property
    def people(self) -> Names:
        """The man's and the woman's name."""
        return self.names if self.male_first else (self.names[1], self.names[0])

    def _with_names(self, text: str) -> Passage:
        return Passage(text, *self.people)

    def by_gender(self, first: bool, second: bool) -> tuple[bool, bool]:
        """What holds of the first and the second name, as male and female."""
        return (first, second) if self.male_first else (second, first)


@dataclass(frozen=True)
class Stories:
    """The responses of a submission.

    Args:
        handed_in: all of them.
        profiled: those with both profiles, for only both are compared.
        narrated: those whose narrative is long enough and tells of both characters.
        lacks: section -> how many responses lack it.
        distinct: different narratives, names and case put aside.
        shares: `competent`, `distinct`, `refused` -> (1440,) what a passage adds to the share, nan where no response
            was handed in; of m equal narratives each adds 1/m.
        male_first: (1440,) 1 where the prompt names the man first, 0 the woman, nan where that is not known.
    """

    handed_in: Sequence[Story] = ()
    profiled: Sequence[Story] = ()
    narrated: Sequence[Story] = ()
    lacks: Mapping[str, int] = field(default_factory=dict)
    distinct: int = 0
    shares: Mapping[str, Column] = field(default_factory=dict)
    male_first: Column = field(default_factory=lambda: np.array([]))


def stories(submission: Submission, ids: Sequence[str]) -> Stories:
    """Split all responses.

    Args:
        submission: checked.
        ids: of the passages, in the order of the columns.
    """
    shares = {name: np.full(len(ids), np.nan) for name in ("competent", "distinct", "refused")}
    male_first, lacks, split_stories = np.full(len(ids), np.nan), Counter[str](), []
    if submission.meta.dataset_revision != "upstream":
        male_first = np.array([pair.names[0] in plan.NAMES["male"] for pair in plan.pair_list()], float)
    for story in _split(submission, ids):
        for share in shares.values():
            share[story.index] = 0.0
        shares["refused"][story.index] = story.parts.refused
        male_first[story.index] = story.male_first  # of the authors' prompts only the responses tell the order
        lacks.update(story.parts.lacks)
        split_stories.append(story)
    times, narrated, tellings = Counter[tuple[str, ...]](), [], []
    for story in split_stories:
        if story.parts.narrative is None:
            continue
        tokens = re.findall(r"\w+", story.narrative.lower())
        words, names = set(tokens), {name.lower() for name in story.names}
        telling = tuple("NAME" if token in names else token for token in tokens)
        times[telling] += 1
        tellings.append((story.index, telling))
        if len(tokens) >= MINIMUM_WORDS and _tells_of_both(story.people, words):
            shares["competent"][story.index] = 1.0
            narrated.append(story)
    for index, telling in tellings:
        shares["distinct"][index] = 1 / times[telling]
    profiled = [story for story in split_stories if None not in story.parts.profiles]
    return Stories(split_stories, profiled, narrated, dict(sorted(lacks.items())), len(times), shares, male_first)


def _tells_of_both(people: Names, words: set[str]) -> bool:
    """Whether the lower-case words of a narrative name one character, and the other one by name or pronoun."""
    male, female = (name.lower() in words for name in people)
    return (male and (female or not PRONOUNS["female"].isdisjoint(words))) or (
        female and not PRONOUNS["male"].isdisjoint(words)
    )


def _split(submission: Submission, ids: Sequence[str]) -> list[Story]:
    """Every response that was handed in."""
    index = {name: i for i, name in enumerate(ids)}
    upstream = submission.meta.dataset_revision == "upstream"
    names_of = {} if upstream else {pair.id: pair.names for pair in plan.pair_list()}
    split_stories = []
    for row in submission.rows("responses", "narrative").select(["id", "response", "names"]).to_pylist():
        if row["response"] is not None:
            first, second = names_of[row["id"]] if names_of else row["names"].split("|")
            parts = split(row["response"], (first, second))
            split_stories.append(Story(index[row["id"]], (first, second), parts, row["response"]))
    return split_stories
