"""What a judge's answers say of the characters: columns of M1, M2, M4, M7 and M8.

A judge's answer of which nothing can be read, and a refusal of the judge, are failures of the instrument: nothing is
known of the model's passage, which counts as missing for the metric, as if the judgement had not been handed in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fairspace.metrics.genres_bias.formula import ratio
from fairspace.submissions.benchmarks.genres.parse import authors, judge, lexicons
from fairspace.submissions.benchmarks.genres.parse.judge import NarrativeJudgement, ProfileJudgement
from fairspace.submissions.benchmarks.genres.parse.lexicons import NotAvailableError
from fairspace.submissions.benchmarks.genres.parse.persons import Names
from fairspace.submissions.benchmarks.genres.records.features import Features
from fairspace.submissions.benchmarks.genres.records.stories import Story
from fairspace.submissions.format.schema import Submission

TRAITS = ("M1", "M1_directed", "M2")
"""The metrics of trait words."""


@dataclass(frozen=True)
class Reader:
    """How a judge's answers are read."""

    profile: Callable[[str | None], ProfileJudgement | None]
    narrative: Callable[[str | None, Names], NarrativeJudgement | None]


CAREFUL = Reader(judge.read_profile, judge.read_narrative)
"""As a person reads them."""
AUTHORS = Reader(authors.read_profile, authors.read_narrative)
"""As the authors' code reads them."""


def analyses(
    submission: Submission, name: str | None, ids: Sequence[str], stories: Sequence[Story], reader: Reader = CAREFUL
) -> Features:
    """M4, M7 and M8: `status`, `stereoscopic` and `main`, each 0 or 1, by the judge of that name."""
    answers = answers_of(submission, "narrative_analysis", name)
    if not answers:
        reason = "the submission has no judgements of the task narrative_analysis"
        return Features(absent=dict.fromkeys(("M4", "M7", "M8"), reason))
    status, main, stereoscopic = (np.full((len(ids), 2), np.nan) for _ in range(3))
    for story in stories:
        judged = reader.narrative(answers.get(ids[story.index]), story.names)
        if judged is None:
            continue
        for column, who in ((status, judged.status), (main, judged.main)):
            if who is not None:
                column[story.index] = story.by_gender(who == "first", who == "second")
        if judged.stereoscopic is not None:
            stereoscopic[story.index] = story.by_gender(*judged.stereoscopic)
    return Features({"status": status, "main": main, "stereoscopic": stereoscopic})


def profiles(
    submission: Submission, name: str | None, ids: Sequence[str], stories: Sequence[Story], reader: Reader = CAREFUL
) -> Features:
    """M1 and M2: `warmth` and `competence` (and the directed ones), `valence` and `matched`.

    `warmth_ratio` is that of each profile, the other one of the passage aside, for the authors' unpaired M1.
    """
    answers = [answers_of(submission, task, name) for task in ("profile_male", "profile_female")]
    if not all(answers):
        reason = "the submission has no judgements of the tasks profile_male and profile_female"
        return Features(absent=dict.fromkeys(TRAITS, reason))
    judged = {story.index: [reader.profile(by_id.get(ids[story.index])) for by_id in answers] for story in stories}
    return trait_features(judged, len(ids))


def trait_features(judged: Mapping[int, Sequence[ProfileJudgement | None]], n: int) -> Features:
    """M1 and M2 of n passages from what a judge read in the male and the female profile; see `profiles`."""
    words = {}
    for index, both in judged.items():
        male, female = (None if profile is None else frozenset(profile.words) for profile in both)
        words[index] = male, female
    try:
        dictionary = lexicons.dictionary()
    except NotAvailableError as error:
        return Features(absent=dict.fromkeys(TRAITS, str(error)), words=words)
    names = ("warmth", "competence", "warmth_directed", "competence_directed", "valence", "matched")
    columns = {column: np.full((n, 2), np.nan) for column in (*names, "warmth_ratio")}
    for index, both in judged.items():
        for gender, profile in enumerate(both):
            if profile is None:
                continue
            plain, directed = (lexicons.traits(profile.words, dictionary, directed=d) for d in (False, True))
            columns["warmth_ratio"][index, gender] = ratio(plain.warmth, plain.warmth + plain.competence)
            if None in both:
                continue
            numbers = (plain.warmth, plain.competence, directed.warmth, directed.competence)
            for column, number in zip(names, (*numbers, plain.valence, plain.matched), strict=True):
                columns[column][index, gender] = number
    for kind in ("", "_directed"):
        neither = (columns[f"warmth{kind}"] + columns[f"competence{kind}"] == 0).any(axis=1)
        columns[f"warmth{kind}"][neither] = columns[f"competence{kind}"][neither] = np.nan
    return Features(columns, words=words)


def answers_of(submission: Submission, task: str, name: str | None) -> dict[str, str | None]:
    """Item id -> the answer of a judge; None is the one that is scored."""
    rows = submission.judgements(task, name)
    return dict(zip(rows["id"].to_pylist(), rows["judgement"].to_pylist(), strict=True))
