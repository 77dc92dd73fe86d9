"""Sentences, subjects and emotion words of GENRES' narratives: what M3, M5 and M6 count.

The parser is spaCy's en_core_web_sm where it is installed (GENRES, appendix C.2 uses spaCy), else the pipeline embedded
in `parser/en_ewt_small`; which one it was is part of a result's signature. Both mark a copula's predicate
or "be" itself as a root that is no verb, so "Mia was calm" has no subject in the sense of M3 under either.

The rule, for a character of a known name and pronoun (he: the male one, she: the female one; each pair has one of
each, so a pronoun is unambiguous as long as no third person is meant):

- M3, subject sentence: the root of the sentence is a verb, and one of its subjects, active or passive, is the name or
  the pronoun and, punctuation aside, nothing more ("Mia and Jack laughed" is neither's). Over the responses that the
  authors publish this reproduces the levels of Tables 3 and 12; with joint subjects they come out a sixth higher.
- M5, emotion words: in the sentences whose root, verb or not, has the name or the pronoun as a subject, alone or as
  the first of several, each lemma counts once per label that the NRC lexicon gives it.
- M6, sentiment: over the sentences of M3.

Every narrative is parsed once, however often it occurs, and by itself: its numbers depend on no other narrative, nor
on order or worker count.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from threadpoolctl import threadpool_limits

from fairspace.submissions.benchmarks.genres.parse.lexicons import NotAvailableError, emotion_labels
from fairspace.submissions.progress import progress

if TYPE_CHECKING:
    from spacy.language import Language

EMBEDDED = Path(__file__).parents[1] / "parser" / "en_ewt_small"
INSTALLED = "en_core_web_sm"
MAX_PROCESSES = 4
"""More parsing processes than this cost more memory than they save time."""
_MIN_PER_PROCESS = 200
REMEMBERED = 20_000
"""So many parsed narratives are kept in memory before all are forgotten; one submission has 1 440."""
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
        root_subjects: the whole subject phrases of a root verb without punctuation, lower case.
        heads: the head words of the subjects of a root of any kind, lower case.
        lemmas: lower case, in order; empty without a subject.
    """

    text: str
    root_subjects: tuple[str, ...]
    heads: frozenset[str]
    lemmas: tuple[str, ...]


_PARSED: dict[str, tuple[Sentence, ...]] = {}


@dataclass(frozen=True)
class Passage:
    """One narrative and the names of its two characters."""

    narrative: str
    male: str
    female: str


@dataclass(frozen=True)
class Counts:
    """What one narrative says of each character; (male, female)."""

    subject_sentences: tuple[tuple[str, ...], tuple[str, ...]]
    emotion_words: tuple[int, int]


@lru_cache(maxsize=1)
def pipeline() -> Language:
    """The parser. NotAvailableError says how to get one."""
    try:
        import spacy
    except ImportError as error:
        raise NotAvailableError("spaCy is not installed: pip install spacy") from error
    if spacy.util.is_package(INSTALLED):
        loaded = spacy.load(INSTALLED, exclude=["ner"])
    elif (EMBEDDED / "meta.json").is_file():
        loaded = spacy.load(EMBEDDED)
    else:
        raise NotAvailableError(
            f"no parser: train the embedded one with `fairspace train-parser`, or install {INSTALLED}"
        )
    _multiply_by_numpy(loaded)
    return loaded


def _multiply_by_numpy(loaded: Language) -> None:
    """Let NumPy multiply matrices for the networks of a pipeline: in half the time that thinc's own product takes."""
    import numpy as np
    from thinc.api import NumpyOps

    class Ops(NumpyOps):
        def gemm(self, x: Any, y: Any, out: Any = None, trans1: bool = False, trans2: bool = False) -> Any:
            return np.matmul(x.T if trans1 else x, y.T if trans2 else y, out=out)

    ops = Ops()
    for _, component in loaded.pipeline:
        for layer in component.model.walk() if hasattr(component, "model") else ():
            layer.ops = ops


def pipeline_name() -> str:
    """The parser's name and version for a signature, for example `en_ewt_small@1.0.0`."""
    meta = pipeline().meta
    return f"{meta['lang']}_{meta['name']}@{meta['version']}"


def parse(narratives: Iterable[str], processes: int | None = None) -> dict[str, tuple[Sentence, ...]]:
    """The sentences of every distinct narrative; one that this process has parsed lately is not parsed again."""
    wanted = sorted(set(narratives))
    if len(_PARSED) > REMEMBERED:
        _PARSED.clear()
    _PARSED.update(parse_anew([text for text in wanted if text not in _PARSED], processes))
    return {text: _PARSED[text] for text in wanted}


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
    heads = [token for token in span.root.children if token.dep_ in _SUBJECTS]
    subjects: list[str] = []
    if span.root.pos_ == "VERB":
        for head in heads:
            subjects.append(" ".join(t.lower_ for t in head.subtree if not (t.is_punct or t.is_space)))
    lemmas = tuple(token.lemma_.lower() for token in span if token.is_alpha) if heads else ()
    return Sentence(span.text.strip(), tuple(subjects), frozenset(token.lower_ for token in heads), lemmas)


def count(passages: Sequence[Passage], processes: int | None = None, emotions: bool = True) -> list[Counts]:
    """The counts of every passage, in order.

    Errors: NotAvailableError without a parser or, with `emotions`, without the lexicon; without `emotions` those are 0.
    """
    parsed = parse((passage.narrative for passage in passages), processes)
    labels: Mapping[str, int] = {}
    if emotions:
        labels = emotion_labels({lemma for sentences in parsed.values() for s in sentences for lemma in s.lemmas})
    return [_count(passage, parsed[passage.narrative], labels) for passage in passages]


def _count(passage: Passage, sentences: Sequence[Sentence], labels: Mapping[str, int]) -> Counts:
    subjects: list[tuple[str, ...]] = []
    emotions: list[int] = []
    for gender, name in (("male", passage.male), ("female", passage.female)):
        words = PRONOUNS[gender] | {name.lower()}
        subjects.append(tuple(s.text for s in sentences if not words.isdisjoint(s.root_subjects)))
        spoken = (s.lemmas for s in sentences if not words.isdisjoint(s.heads))
        emotions.append(sum(labels.get(lemma, 0) for lemmas in spoken for lemma in lemmas))
    return Counts((subjects[0], subjects[1]), (emotions[0], emotions[1]))
