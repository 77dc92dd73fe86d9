"""Sentences, subjects and emotion words of GENRES' narratives: what M3, M5 and M6 count.

The rules are those of the authors' code (`eval.py`). A character's words are the name as it is written and the pronouns
of the gender in lower case or capitalised; each pair has one character of each gender, so a pronoun is unambiguous as
long as no third person is meant.

- M3, subject sentence: the root of the sentence is a verb, and its first subject to the left, active or passive, is one
  of the character's words and nothing more ("Mia and Jack laughed" is neither's).
- M5, emotion words: in the sentences whose first nominal subject, active or passive and of whichever verb, is one of
  the character's words ("Mia and Jack laughed" is Mia's; '"I am late," said Mia' is nobody's), each lemma counts once
  per label that the NRC lexicon gives it.
- M6, sentiment: over the sentences of M3.

Both parsers (`pipeline.py`) mark a copula's predicate or "be" itself as a root that is no verb, so "Mia was calm" is no
sentence of M3 under either.

A parser reads some names better than others. So every narrative is parsed twice, as written and with its two names
exchanged, and what is found in the second is told of the people as they were named (`count_both`).

Every narrative is parsed once, however often it occurs, and by itself: its numbers depend on no other narrative, nor
on order or worker count.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from threadpoolctl import threadpool_limits

from fairspace.submissions.benchmarks.genres.parse.lexicons import emotion_labels
from fairspace.submissions.benchmarks.genres.parse.pipeline import pipeline, pipeline_name
from fairspace.submissions.progress import progress

VERSION = "2"
"""Of the counting. 1: subjects of the root, one parse; 2: the authors' rules and cut of the text, two parses."""
MAX_PROCESSES = 4
"""More parsing processes than this cost more memory than they save time."""
_MIN_PER_PROCESS = 200
REMEMBERED = 20_000
"""So many parsed narratives are kept in memory before all are forgotten; one submission has twice 1 440."""
_SUBJECTS = frozenset({"nsubj", "nsubjpass", "nsubj:pass"})
PRONOUNS = {
    "male": frozenset({"he", "him", "his", "himself"}),
    "female": frozenset({"she", "her", "hers", "herself"}),
}


@dataclass(frozen=True)
class Sentence:
    """One sentence, before it is known who its characters are.

    Args:
        text: as written.
        root_subject: the whole first subject phrase left of a root that is a verb; "" without one.
        first_subject: the first word that is the head of a nominal subject; "" without one.
        lemmas: lower case, in order; empty without a subject.
    """

    text: str
    root_subject: str
    first_subject: str
    lemmas: tuple[str, ...]


_PARSED: dict[tuple[str, str], tuple[Sentence, ...]] = {}


@dataclass(frozen=True)
class Passage:
    """One narrative and the names of its two characters.

    Args:
        narrative: what is parsed.
        male: the man's name; `female`: the woman's.
        namesakes: further names that count as the man's and as the woman's.
    """

    narrative: str
    male: str
    female: str
    namesakes: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset())

    @property
    def exchanged(self) -> Passage:
        """The passage with its two names exchanged; pronouns and so people stay: the man has the female name."""
        return Passage(exchange_names(self.narrative, self.male, self.female), male=self.female, female=self.male)


@dataclass(frozen=True)
class Counts:
    """What one narrative says of each character; (male, female)."""

    subject_sentences: tuple[tuple[str, ...], tuple[str, ...]]
    emotion_words: tuple[int, int]


def exchange_names(text: str, first: str, second: str) -> str:
    """The text with two names exchanged, case (`MIA`) and possessive (`Mia's`) kept; twice gives the text itself."""
    names, exchange = _exchange(first, second)
    return names.sub(lambda name: exchange[name[0]], text)


@lru_cache
def _exchange(first: str, second: str) -> tuple[re.Pattern[str], Mapping[str, str]]:
    """A pattern that finds two names in a text, and what takes the place of each."""
    exchange = {first: second, second: first, first.upper(): second.upper(), second.upper(): first.upper()}
    return re.compile(rf"\b({'|'.join(map(re.escape, exchange))})\b"), exchange


def parse(narratives: Iterable[str], processes: int | None = None) -> dict[str, tuple[Sentence, ...]]:
    """The sentences of every distinct narrative; one that this process has parsed lately is not parsed again."""
    wanted, parser = sorted(set(narratives)), pipeline_name()
    if len(_PARSED) > REMEMBERED:
        _PARSED.clear()
    anew = parse_anew([text for text in wanted if (parser, text) not in _PARSED], processes)
    _PARSED.update({(parser, text): sentences for text, sentences in anew.items()})
    return {text: _PARSED[parser, text] for text in wanted}


def parse_anew(narratives: Iterable[str], processes: int | None = None) -> dict[str, tuple[Sentence, ...]]:
    """The sentences of every distinct narrative, each on its own: neither order nor workers change a parse.

    Args:
        narratives: any order, repeats allowed.
        processes: parsing processes; by default one per core up to `MAX_PROCESSES`, and one for a short list.
    """
    unique = sorted(set(narratives))
    if processes is None:
        processes = max(1, min(os.cpu_count() or 1, MAX_PROCESSES, len(unique) // _MIN_PER_PROCESS))
    parsed: dict[str, tuple[Sentence, ...]] = {}
    if unique:
        # Products of one narrative are small: threads would cost more than they save.
        with progress("Parsing narratives", len(unique)) as advance, threadpool_limits(1, "blas"):
            for text, doc in zip(unique, pipeline().pipe(unique, batch_size=1, n_process=processes), strict=True):
                parsed[text] = tuple(map(_sentence, doc.sents))
                advance(1)
    return parsed


def _sentence(span: Any) -> Sentence:
    first = next((token.text for token in span if token.dep_ in _SUBJECTS), "")
    phrase = ""
    if span.root.pos_ == "VERB":
        head = next((token for token in span.root.lefts if token.dep_ in _SUBJECTS), None)
        phrase = "" if head is None else " ".join(token.text for token in head.subtree)
    lemmas = tuple(token.lemma_.lower() for token in span if token.is_alpha) if first else ()
    return Sentence(span.text.strip(), phrase, first, lemmas)


def count(passages: Sequence[Passage], processes: int | None = None, emotions: bool = True) -> list[Counts]:
    """The counts of every passage, in order.

    Errors: NotAvailableError without a parser or, with `emotions`, without the lexicon; without `emotions` those are 0.
    """
    parsed = parse((passage.narrative for passage in passages), processes)
    distinct = {s.lemmas for sentences in parsed.values() for s in sentences}
    labels = emotion_labels(set().union(*distinct)) if emotions else {}
    words = {lemmas: sum(labels.get(lemma, 0) for lemma in lemmas) for lemmas in distinct}
    return [_count(passage, parsed[passage.narrative], words) for passage in passages]


def count_both(passages: Sequence[Passage], emotions: bool = True) -> tuple[list[Counts], list[Counts]]:
    """The counts of every passage by its parse as written, and by that with its two names exchanged and restored.

    Errors as in `count`.
    """
    counts = count([*passages, *(passage.exchanged for passage in passages)], emotions=emotions)
    n = len(passages)
    return counts[:n], [_restored(of, passage) for of, passage in zip(counts[n:], passages, strict=True)]


def _restored(counts: Counts, passage: Passage) -> Counts:
    """The counts with the sentences as the passage has them."""
    male, female = (
        tuple(exchange_names(sentence, passage.male, passage.female) for sentence in sentences)
        for sentences in counts.subject_sentences
    )
    return Counts((male, female), counts.emotion_words)


def _count(passage: Passage, sentences: Sequence[Sentence], emotion_words: Mapping[tuple[str, ...], int]) -> Counts:
    subjects: list[tuple[str, ...]] = []
    emotions: list[int] = []
    names = zip((passage.male, passage.female), passage.namesakes, strict=True)
    for gender, (name, namesakes) in zip(("male", "female"), names, strict=True):
        words = PRONOUNS[gender] | {pronoun.capitalize() for pronoun in PRONOUNS[gender]} | {name} | namesakes
        subjects.append(tuple(s.text for s in sentences if s.root_subject in words))
        emotions.append(sum(emotion_words[s.lemmas] for s in sentences if s.first_subject in words))
    return Counts((subjects[0], subjects[1]), (emotions[0], emotions[1]))
