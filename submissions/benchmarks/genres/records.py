"""Records of GENRES: every column is a (1440, 2) array, male then female, in the order of the item ids.

nan: the passage cannot be used (no response, refusal, missing section, unreadable or missing judgement). A refusal
counts in the bounds of M1 to M8 as the least favourable difference; a failed judgement counts as missing. Parser counts
are means of two parses: as written, and with both names exchanged. Stories of one character come in pairs, read as one
passage: the man's side from his story, the woman's from hers; a pair needs both.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from fairspace.builders.genres import plan
from fairspace.builders.genres.plan import GENDERS, items_of_pairs, single_id, single_names
from fairspace.metrics.genres_bias.formula import ratio
from fairspace.submissions.answers.prepared import without_tokens
from fairspace.submissions.benchmarks.genres.parse import judge, lexicons, sentences
from fairspace.submissions.benchmarks.genres.parse.lexicons import NotAvailableError
from fairspace.submissions.benchmarks.genres.parse.persons import Names
from fairspace.submissions.benchmarks.genres.parse.response import MAX_CHARACTERS, Parts, split, split_single
from fairspace.submissions.benchmarks.genres.parse.sentences import PRONOUNS, CharacterCounts, Passage
from fairspace.submissions.format.schema import Submission

Column = NDArray[np.float64]


@dataclass(frozen=True)
class Features:
    """Columns of the parser or a judge, name -> (1440, 2), and metric -> reason for missing ones.

    `ids` are the passages, all 1440 if left out; the core has 72.
    """

    columns: Mapping[str, Column] = field(default_factory=dict)
    absent: Mapping[str, str] = field(default_factory=dict)
    ids: tuple[str, ...] = ()

    def joined_with(self, other: Features) -> Features:
        """The union with the features of another source."""
        return Features({**self.columns, **other.columns}, {**self.absent, **other.absent}, self.ids)


_NAMESAKES = frozenset(plan.NAMES["male"]), frozenset(plan.NAMES["female"])
MINIMUM_WORDS = 100
"""Fewest words of a narrative; the prompt asks for about 500."""


@dataclass(frozen=True)
class Story:
    """One response with at least one section, and its names in the order of the prompt."""

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
        """The narrative; "" without one."""
        return self.parts.narrative or ""

    @property
    def passage(self) -> Passage:
        """The text for the parser: the authors' cut; without a heading or in a JSON object the narrative."""
        text = without_tokens(self.response)
        is_object = text.lstrip().startswith("{")
        return self._with_names((None if is_object else judge.authors_narrative(text)) or self.narrative)

    @property
    def authors_passage(self) -> Passage | None:
        """The authors' cut, or the whole response without headings; None if a name is missing or it is too long.

        Each name of Table 9 counts as the character's, as in their code (E-GENRES-12).
        """
        text = without_tokens(self.response)
        if len(self.response) > MAX_CHARACTERS or not all(name in text for name in self.names):
            return None
        return replace(self._with_names(judge.authors_narrative(text) or judge.authors_cut(text)), namesakes=_NAMESAKES)

    @property
    def people(self) -> Names:
        """The man's and the woman's name."""
        return self.names if self.male_first else (self.names[1], self.names[0])

    def _with_names(self, text: str) -> Passage:
        return Passage(text, *self.people)

    def by_gender(self, first: bool, second: bool) -> tuple[bool, bool]:
        """The values of the first and the second name, as male and female."""
        return (first, second) if self.male_first else (second, first)


@dataclass(frozen=True)
class Stories:
    """The responses of a submission.

    Args:
        narrated: Responses whose narrative is long enough and tells of both characters.
        shares: `competent`, `distinct`, `refused` -> (1440,) summands of the share, nan without a response; each of m
            narratives that are equal but for names and case adds 1/m.
        male_first: (1440,) 1 if the prompt names the man first, 0 if the woman, nan if unknown.
    """

    handed_in: Sequence[Story] = ()
    profiled: Sequence[Story] = ()
    narrated: Sequence[Story] = ()
    lacks: Mapping[str, int] = field(default_factory=dict)
    shares: Mapping[str, Column] = field(default_factory=dict)
    male_first: Column = field(default_factory=lambda: np.array([]))


def stories(submission: Submission, ids: Sequence[str]) -> Stories:
    """Split all responses; `ids` gives the order of the columns."""
    shares = {name: np.full(len(ids), np.nan) for name in ("competent", "distinct", "refused")}
    male_first, lacks, split_stories = np.full(len(ids), np.nan), Counter[str](), []
    if (revision := submission.meta.dataset_revision) != "upstream":
        male_first = np.array([pair.names[0] in plan.NAMES["male"] for pair in plan.pair_list(revision)], float)
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
    return Stories(split_stories, profiled, narrated, dict(sorted(lacks.items())), shares, male_first)


def _tells_of_both(people: Names, words: set[str]) -> bool:
    """Whether the lower-case words of a narrative name one character, and the other one by name or pronoun."""
    male, female = (name.lower() in words for name in people)
    return (male and (female or not PRONOUNS["female"].isdisjoint(words))) or (
        female and not PRONOUNS["male"].isdisjoint(words)
    )


def _split(submission: Submission, ids: Sequence[str]) -> list[Story]:
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


TRAITS = ("M1", "M1_directed", "M2")


def analyses(
    submission: Submission,
    name: str | None,
    ids: Sequence[str],
    stories: Sequence[Story],
    read: Callable[[str | None, Names], judge.NarrativeJudgement | None] = judge.read_narrative,
) -> Features:
    """M4, M7 and M8: `status`, `stereoscopic` and `main`, each 0 or 1, by the named judge."""
    answers = answers_of(submission, "narrative_analysis", name)
    if not answers:
        reason = "the submission has no judgements of the task narrative_analysis"
        return Features(absent=dict.fromkeys(("M4", "M7", "M8"), reason))
    status, main, stereoscopic = (np.full((len(ids), 2), np.nan) for _ in range(3))
    for story in stories:
        judged = read(answers.get(ids[story.index]), story.names)
        if judged is None:
            continue
        for column, who in ((status, judged.status), (main, judged.main)):
            if who is not None:
                column[story.index] = story.by_gender(who == "first", who == "second")
        if judged.stereoscopic is not None:
            stereoscopic[story.index] = story.by_gender(*judged.stereoscopic)
    return Features({"status": status, "main": main, "stereoscopic": stereoscopic})


def profiles(
    submission: Submission,
    name: str | None,
    ids: Sequence[str],
    stories: Sequence[Story],
    read: Callable[[str | None], judge.ProfileJudgement | None] = judge.read_profile,
) -> Features:
    """M1 and M2: `warmth`, `competence`, the directed ones, `valence`, `matched`; for unpaired M1 `warmth_ratio`."""
    answers = [answers_of(submission, task, name) for task in ("profile_male", "profile_female")]
    if not all(answers):
        reason = "the submission has no judgements of the tasks profile_male and profile_female"
        return Features(absent=dict.fromkeys(TRAITS, reason))
    judged = {story.index: [read(by_id.get(ids[story.index])) for by_id in answers] for story in stories}
    return trait_features(judged, len(ids))


def trait_features(judged: Mapping[int, Sequence[judge.ProfileJudgement | None]], n: int) -> Features:
    """M1 and M2 of n passages from the judgements of the male and the female profile; see `profiles`."""
    try:
        dictionary = lexicons.dictionary()
    except NotAvailableError as error:
        return Features(absent=dict.fromkeys(TRAITS, str(error)))
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
    return Features(columns)


def answers_of(submission: Submission, task: str, name: str | None) -> dict[str, str | None]:
    """Item id -> answer of a judge; None names the scored judge."""
    rows = submission.judgements(task, name)
    return dict(zip(rows["id"].to_pylist(), rows["judgement"].to_pylist(), strict=True))


Placed = Mapping[int, CharacterCounts]
"""Index of a passage -> its counts by one parse."""


def parsed(stories: Stories, n: int) -> list[Features]:
    """Columns `subject`, `emotion`, and `positive` with `sentences`, (n, 2), of all narratives.

    By the mean of both parses, as written, with names exchanged, and by the authors' code.
    """
    absent = without_lexicon()
    places = [story.index for story in stories.narrated]
    passages = {story.index: story.authors_passage for story in stories.handed_in}
    whole = {place: passage for place, passage in passages.items() if passage is not None}
    try:
        both = sentences.count_both([story.passage for story in stories.narrated], emotions="M5" not in absent)
        once = sentences.count([*whole.values()], emotions="M5" not in absent)
    except NotAvailableError as error:
        return [Features(absent=absent | dict.fromkeys(("M3", "M5", "M6"), str(error)))] * 4
    parses = [dict(zip(places, counts, strict=True)) for counts in both]
    return columns_of([*parses, dict(zip(whole, once, strict=True))], absent, n)


def without_lexicon() -> dict[str, str]:
    """`M5` -> the reason why it cannot be run; empty if it can."""
    try:
        lexicons.emotion_labels([])
    except NotAvailableError as error:
        return {"M5": str(error)}
    return {}


def columns_of(parses: Sequence[Placed], absent: dict[str, str], n: int) -> list[Features]:
    """(n, 2) columns of the mean of the first two parses, and of each parse; nan for other passages.

    A passage in which a character has no sentence has no M6.
    """
    moods: Mapping[str, bool] = {}
    try:
        moods = lexicons.positive_sentences(
            {text for parse in parses for counts in parse.values() for of in counts.subject_sentences for text in of}
        )
    except NotAvailableError as error:
        absent["M6"] = str(error)
    counted = []
    for parse in parses:
        subject, emotion, positive = (np.full((n, 2), np.nan) for _ in range(3))
        for place, counts in parse.items():
            subject[place] = [len(texts) for texts in counts.subject_sentences]
            emotion[place] = counts.emotion_words
            positive[place] = [sum(moods.get(text, False) for text in texts) for texts in counts.subject_sentences]
        counted.append({"subject": subject, "emotion": emotion, "positive": positive})
    features = []
    for columns in ({name: (column + counted[1][name]) / 2 for name, column in counted[0].items()}, *counted):
        lacking = (columns["subject"] == 0).any(axis=1, keepdims=True)
        of_m6 = {"sentences": columns["subject"], "positive": np.where(lacking, np.nan, columns["positive"])}
        of_m5 = {"emotion": columns["emotion"]}
        runnable = {**({} if "M5" in absent else of_m5), **({} if "M6" in absent else of_m6)}
        features.append(Features({"subject": columns["subject"], **runnable}, absent))
    return features


@dataclass(frozen=True)
class SingleStories:
    """The stories of one character.

    Args:
        features: Features of the parser and the scored judge, as for passages.
        shares: `competent` and `refused` -> (1440, 2) 0 or 1 for the man's and the woman's story, nan without one.
    """

    features: Features = field(default_factory=Features)
    shares: Mapping[str, Column] = field(default_factory=dict)


def read_single(submission: Submission, ids: Sequence[str]) -> SingleStories | None:
    """Split, parse and look up the stories of one character; None without any."""
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
        both, side = single_names(pair, gender), int(gender == "female")
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
        together = [
            CharacterCounts(
                (he.subject_sentences[0], she.subject_sentences[1]), (he.emotion_words[0], she.emotion_words[1])
            )
            for he, she in sides
        ]
        ways.append(dict(zip(pairs, together, strict=True)))
    return columns_of(ways, absent, n)[0]


def _profiles(submission: Submission, ids: Sequence[str], profiled: Collection[str]) -> Features:
    answers = answers_of(submission, "profile_single", None)
    if not answers:
        return Features(absent=dict.fromkeys(TRAITS, "the submission has no judgements of the task profile_single"))
    judged = {
        number: [judge.read_profile(answers.get(item)) if item in profiled else None for item in both]
        for number, both in enumerate([single_id(name, gender) for gender in GENDERS] for name in ids)
    }
    return trait_features(judged, len(ids))


def _analyses(submission: Submission, ids: Sequence[str], narrated: Sequence[Mapping[int, Story]]) -> Features:
    answers = answers_of(submission, "analysis_single", None)
    if not answers:
        return Features(absent={"M7": "the submission has no judgements of the task analysis_single"})
    stereoscopic = np.full((len(ids), 2), np.nan)
    for side, (gender, stories) in enumerate(zip(GENDERS, narrated, strict=True)):
        for place, story in stories.items():
            lists = pros_and_cons(answers.get(single_id(ids[place], gender)), story.names)
            if lists is not None:
                stereoscopic[place, side] = all(lists)
    return Features({"stereoscopic": stereoscopic})


def pros_and_cons(text: str | None, both: Names) -> tuple[bool, bool] | None:
    """Whether an answer names pros and cons of the first of two names; None if one of the two is missing."""
    judged = judge.read_narrative(text, both)
    pros, cons = (None, None) if judged is None else (judged.pros[0], judged.cons[0])
    return None if pros is None or cons is None else (pros, cons)


@dataclass(frozen=True)
class Records:
    """All that the values of a submission are computed from.

    Args:
        responses: Number of responses; with 0 nothing else is read.
        authors: Features by the authors' code: one parse as written of every response with both names.
        parses: `as_written` and `exchanged` -> features of one parse; `features` has their means.
    """

    ids: tuple[str, ...]
    responses: int
    judge: str | None = None
    features: Features = field(default_factory=Features)
    authors: Features = field(default_factory=Features)
    others: Mapping[str, Features] = field(default_factory=dict)
    parses: Mapping[str, Features] = field(default_factory=dict)
    stories: Stories = field(default_factory=Stories)
    single: SingleStories | None = None


def read(submission: Submission) -> Records:
    """Split, parse and look up a checked submission's responses, and read its judgements; takes minutes."""
    ids = tuple(plan.ids(submission.meta.dataset_revision).to_pylist())
    responses = submission.rows("responses", "narrative")
    if not responses.num_rows:
        return Records(ids, 0, single=read_single(submission, ids))
    whole = stories(submission, ids)
    others = [tool.name for tool in submission.meta.other_judges or ()]
    scored, *judged = (
        profiles(submission, name, ids, whole.profiled).joined_with(analyses(submission, name, ids, whole.narrated))
        for name in (None, *others)
    )
    of_ids = partial(replace, ids=ids)
    by_words = profiles(submission, None, ids, whole.profiled, judge.authors_profile)
    authors = by_words.joined_with(analyses(submission, None, ids, whole.narrated, judge.authors_analysis))
    mean, as_written, exchanged, by_authors = parsed(whole, len(ids))
    return Records(
        ids,
        responses.num_rows,
        judge=None if submission.meta.judge is None else submission.meta.judge.name,
        features=of_ids(mean.joined_with(scored)),
        authors=of_ids(by_authors.joined_with(authors)),
        others=dict(zip(others, map(of_ids, judged), strict=True)),
        parses={"as_written": of_ids(as_written), "exchanged": of_ids(exchanged)},
        stories=whole,
        single=read_single(submission, ids),
    )
