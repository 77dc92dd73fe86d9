"""What the parser says of the characters: columns of M3, M5 and M6.

Every narrative is parsed as written and with its two names exchanged; a count is the mean of both parses, in which what
the parser makes of a name falls on either character alike. Each parse alone stays, for the sensitivity variants, and so
does the authors' way: one parse as written, of every response that has both names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fairspace.submissions.benchmarks.genres.parse import lexicons, sentences
from fairspace.submissions.benchmarks.genres.parse.lexicons import NotAvailableError
from fairspace.submissions.benchmarks.genres.parse.sentences import Counts
from fairspace.submissions.benchmarks.genres.records.features import Column, Features
from fairspace.submissions.benchmarks.genres.records.stories import Stories

Placed = Sequence[tuple[int, Counts]]
"""Position of a passage, and its counts."""


@dataclass(frozen=True)
class Parsed:
    """Columns `subject`, `emotion`, and `positive` with `sentences`, by each way of parsing."""

    mean: Features
    as_written: Features
    exchanged: Features
    authors: Features


def parsed(stories: Stories, n: int) -> Parsed:
    """The columns of all narratives, (n, 2)."""
    absent = without_lexicon()
    places = [story.index for story in stories.narrated]
    passages = {story.index: story.authors_passage for story in stories.handed_in}
    whole = {place: passage for place, passage in passages.items() if passage is not None}
    try:
        both = sentences.count_both([story.passage for story in stories.narrated], emotions="M5" not in absent)
        once = sentences.count([*whole.values()], emotions="M5" not in absent)
    except NotAvailableError as error:
        nothing = Features(absent=absent | dict.fromkeys(("M3", "M5", "M6"), str(error)))
        return Parsed(nothing, nothing, nothing, nothing)
    as_written, exchanged = (list(zip(places, counts, strict=True)) for counts in both)
    authors = list(zip(whole, once, strict=True))
    moods = moods_of((as_written, exchanged, authors), absent)
    ways = [counted_columns(placed, moods, n) for placed in (as_written, exchanged, authors)]
    mean = {name: (column + ways[1][name]) / 2 for name, column in ways[0].items()}
    return Parsed(*(features_of(columns, absent) for columns in (mean, *ways)))


def without_lexicon() -> dict[str, str]:
    """Why M5 cannot be run; empty if it can."""
    try:
        lexicons.emotion_labels([])
    except NotAvailableError as error:
        return {"M5": str(error)}
    return {}


def moods_of(ways: Sequence[Placed], absent: dict[str, str]) -> dict[str, bool] | None:
    """Whether each sentence of these parses is positive; None without the model, and then `absent` says why."""
    try:
        return lexicons.positive_sentences(
            {text for way in ways for _, counts in way for texts in counts.subject_sentences for text in texts}
        )
    except NotAvailableError as error:
        absent["M6"] = str(error)
        return None


def counted_columns(placed: Placed, moods: Mapping[str, bool] | None, n: int) -> dict[str, Column]:
    """(n, 2) counts of one parse: `subject`, `emotion` and `positive`, nan for passages that it does not have."""
    subject, emotion, positive = (np.full((n, 2), np.nan) for _ in range(3))
    for place, counts in placed:
        subject[place] = [len(sentences) for sentences in counts.subject_sentences]
        emotion[place] = counts.emotion_words
        if moods is not None:
            positive[place] = [sum(moods[text] for text in sentences) for sentences in counts.subject_sentences]
    return {"subject": subject, "emotion": emotion, "positive": positive}


def features_of(counted: Mapping[str, Column], absent: Mapping[str, str]) -> Features:
    """The columns of the metrics that can be run; a passage in which a character has no sentence has no M6."""
    columns = {"subject": counted["subject"]}
    if "M5" not in absent:
        columns["emotion"] = counted["emotion"]
    if "M6" not in absent:
        columns["sentences"] = counted["subject"]
        lacking = (counted["subject"] == 0).any(axis=1, keepdims=True)
        columns["positive"] = np.where(lacking, np.nan, counted["positive"])
    return Features(columns, absent)
