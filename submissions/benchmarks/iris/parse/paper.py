"""The paper's own mapping of occupation answers (D.2.4), to the letter: a sensitivity variant.

The whole answer, lower case and without punctuation, is looked up among the terms and aliases; else the nearest term by
a sentence embedding is taken, from a similarity of 0.6. So "not a nurse" is a nurse, and a frame or evidence around a
term hides it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fairspace.submissions.benchmarks.iris.parse import nearest
from fairspace.submissions.benchmarks.iris.parse.lexicon import clean, terms

THRESHOLD = 0.6
LONGEST = 1_000
"""Characters of an answer that the embedding sees; it reads no more than 256 pieces of words."""


def paper_codes(answers: Sequence[str]) -> NDArray[np.int_]:
    """(n,) index into `OCCUPATIONS` of distinct answers, -1: unmappable.

    Errors: EmbeddingMissingError if tier 2 is needed and the extra `text` is not installed.
    """
    cleaned = [clean(answer)[:LONGEST] for answer in answers]
    codes = {text: terms().get(text, -1) for text in cleaned}
    unknown = sorted(text for text, code in codes.items() if code < 0 and text)
    if unknown:
        found, similarity = nearest.nearest_occupations(unknown)
        codes |= dict(zip(unknown, np.where(similarity >= THRESHOLD, found, -1).tolist(), strict=True))
    return np.array([codes[text] for text in cleaned], dtype=np.int64)
