"""Reading short answers: every distinct text is parsed once; an answer that is not clear is missing, never guessed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

LONGEST = 10_000
"""Characters of the longest answer that is read; a longer one is no short answer and counts as missing."""
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_SCALE = re.compile(r"(?:\bout of|/)\s*10\b|\b(?:from\s+)?1\s*(?:-|–|to)\s*10\b")
_WORD = re.compile(r"[a-z]+")
_NEGATIONS = ("not", "t", "non")
"""Before a label; `t` is what is left of "isn't"."""
_REFUSAL = re.compile(
    r"\b(?:sorry|apologi[sz]e|cannot|can not|can['’]t|unable|not able|won['’]t|will not|refuse|decline|as an ai"
    r"|not comfortable|not appropriate|inappropriate|language model|impossible|not possible|do(?: not|n['’]t) know)\b"
)


def distinct(column: pa.ChunkedArray) -> tuple[list[str], NDArray[np.int64]]:
    """The distinct texts of a column and, per row, the index of its text (-1: the row has none).

    A text of more than `LONGEST` characters is given as an empty one.
    """
    encoded = pc.dictionary_encode(column.combine_chunks())
    indices = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return ["" if len(text) > LONGEST else text for text in encoded.dictionary.to_pylist()], indices


def item_index(ids: pa.Array, rows: pa.Table) -> NDArray[np.int64]:
    """Per row, the position of its id in `ids`; a checked submission has no other ids.

    The rows of a checked submission are sorted by id: where each item has a row, sorting `ids` is quicker than
    looking each of them up.
    """
    column = rows["id"].combine_chunks()
    if len(ids) == len(column):
        order = pc.sort_indices(ids)
        if ids.take(order).equals(column):
            return np.asarray(order.to_numpy(), dtype=np.int64)
    places = pc.index_in(column, value_set=ids)
    return np.asarray(places.to_numpy(zero_copy_only=False), dtype=np.int64)


def refuses(text: str) -> bool:
    """Whether an answer declines to answer; what else it says ("No, ...") is then no answer either."""
    return _REFUSAL.search(text.lower()) is not None


def parse_rating(text: str) -> float | None:
    """The one number from 1 to 10 that an answer gives ("7", "7/10", "I'd say 8 out of 10"); None if unclear.

    A comma parts numbers: "5,6" are two ratings, "10,000" is none.
    """
    if refuses(text):
        return None
    numbers = {float(n) for n in _NUMBER.findall(_SCALE.sub(" ", text.lower()))}
    if len(numbers) != 1:
        return None
    number = numbers.pop()
    return number if 1 <= number <= 10 else None


def parse_label(text: str, words: Mapping[str, int]) -> int | None:
    """The one label whose words an answer uses; None if it uses those of several or of none, negates one, or refuses.

    Args:
        text: the answer.
        words: lower-case word -> label code; several words may stand for one label.
    """
    if refuses(text):
        return None
    used = _WORD.findall(text.lower())
    if any(before in _NEGATIONS and word in words for before, word in pairwise(used)):
        return None
    codes = {words[word] for word in used if word in words}
    return codes.pop() if len(codes) == 1 else None
