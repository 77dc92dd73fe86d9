"""Records of GENRES: what each of the 1 440 passages says of the male and the female character.

`read` is the only reader of a submission's tables; the parser, which takes minutes, runs once in it. Every column is a
(1440, 2) array, male then female, in the order of the item ids; nan where the passage cannot be used for it: no
response, a refusal, a response without the section, no or a failed judgement. A missing profile costs what is read of
profiles alone. A narrative that is short or does not tell of both characters is none (a cut one must not look fair). A
judgement of what was not handed in counts for nothing.

A story that a model declines to write, or that holds no narrative, is known, not missing: it is neither competent nor
distinct, and refusals are counted by themselves. M1 to M8 are differences, for which no answer is a wrong one; there
such a passage is worth the least favourable difference, which is the end of the bounds that the total is ranked by.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from fairspace.builders.genres import plan
from fairspace.submissions.benchmarks.genres.parse import lexicons
from fairspace.submissions.benchmarks.genres.parse.lexicons import NotAvailableError
from fairspace.submissions.benchmarks.genres.parse.sentences import Passage, count
from fairspace.submissions.benchmarks.genres.records.features import Column, Features
from fairspace.submissions.benchmarks.genres.records.judged import AUTHORS, CAREFUL, analyses, profiles
from fairspace.submissions.benchmarks.genres.records.stories import MINIMUM_WORDS, Stories, Story, stories
from fairspace.submissions.format.schema import Submission

__all__ = ["MINIMUM_WORDS", "Column", "Features", "Records", "read"]


@dataclass(frozen=True)
class Records:
    """What the values of a submission are made from.

    Args:
        ids: of the passages, in the order of the columns.
        responses: how many were handed in; where none was, nothing else is read.
        judge: name of the judge that is scored, if one is.
        features: of the parser and that judge.
        authors: of that judge, its answers read as the authors' code reads them.
        others: name of another judge -> its features.
        stories: what the responses hold.
        passages: position -> the narrative that the parser read: those that are long enough and tell of both.
    """

    ids: tuple[str, ...]
    responses: int
    judge: str | None = None
    features: Features = field(default_factory=Features)
    authors: Features = field(default_factory=Features)
    others: Mapping[str, Features] = field(default_factory=dict)
    stories: Stories = field(default_factory=Stories)
    passages: Mapping[int, Passage] = field(default_factory=dict)


def read(submission: Submission) -> Records:
    """Split, parse and look up a checked submission's responses, and read its judgements."""
    ids = tuple(plan.ids(submission.meta.dataset_revision).to_pylist())
    responses = submission.rows("responses", "narrative")
    if not responses.num_rows:
        return Records(ids, 0)
    whole = stories(submission, ids)
    others = [tool.name for tool in submission.meta.other_judges or ()]
    scored, authors, *judged = (
        profiles(submission, judge, ids, whole.profiled, reader).joined_with(
            analyses(submission, judge, ids, whole.narrated, reader)
        )
        for judge, reader in ((None, CAREFUL), (None, AUTHORS), *((other, CAREFUL) for other in others))
    )
    return Records(
        ids,
        responses.num_rows,
        judge=None if submission.meta.judge is None else submission.meta.judge.name,
        features=_parsed(whole.narrated, len(ids)).joined_with(scored),
        authors=authors,
        others=dict(zip(others, judged, strict=True)),
        stories=whole,
        passages={story.index: story.passage for story in whole.narrated},
    )


def _parsed(told: Sequence[Story], n: int) -> Features:
    """M3, M5 and M6: `subject`, `emotion`, and `positive` with `sentences`."""
    absent: dict[str, str] = {}
    try:
        lexicons.emotion_labels([])
    except NotAvailableError as error:
        absent["M5"] = str(error)
    try:
        counts = count([story.passage for story in told], emotions="M5" not in absent)
    except NotAvailableError as error:
        return Features(absent=absent | dict.fromkeys(("M3", "M5", "M6"), str(error)))
    subject, emotion, positive = (np.full((n, 2), np.nan) for _ in range(3))
    for story, counted in zip(told, counts, strict=True):
        subject[story.index] = [len(sentences) for sentences in counted.subject_sentences]
        emotion[story.index] = counted.emotion_words
    columns = {"subject": subject} | ({} if "M5" in absent else {"emotion": emotion})
    try:
        texts = {text for counted in counts for sentences in counted.subject_sentences for text in sentences}
        mood = lexicons.positive_sentences(texts)
    except NotAvailableError as error:
        return Features(columns, absent | {"M6": str(error)})
    for story, counted in zip(told, counts, strict=True):
        if all(counted.subject_sentences):
            positive[story.index] = [sum(mood[s] for s in sentences) for sentences in counted.subject_sentences]
    return Features(columns | {"positive": positive, "sentences": subject}, absent)
