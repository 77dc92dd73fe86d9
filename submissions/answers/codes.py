"""One byte per answer, for comparisons of two submissions item by item.

A choice is coded by its reading, an image by its labels, and a text by `PERMUTATIONS` codes whose agreement estimates
the share of common runs of three words (MinHash, Broder 1997). Only tasks that tell models apart are coded
(`Task.alike`).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from fairspace.submissions.answers.rows import as_text, read_rows
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.format.schema import LABELS, Submission

CODES = np.dtype([("task", "u1"), ("item", "<u8"), ("code", "u1")])
"""Place of the task in the benchmark's `telling_tasks`; a hash of task, id and sample; the code of the answer."""
Codes = NDArray[np.void]
Words = NDArray[np.uint64]
PERMUTATIONS = 16
_RUN = 3
_WORD = re.compile(r"\w+")
_MIX = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


def answer_codes(submission: Submission) -> Codes:
    """(n,) of `CODES`: all answers of a checked submission to the tasks that tell models apart."""
    bench = benchmark(submission.meta.benchmark)
    telling = list(bench.telling_tasks)
    parts = [np.empty(0, CODES)]
    for rows in read_rows(submission, bench):
        if rows.task in telling:
            there = rows.readings.place >= 0
            items = item_hashes(rows.task, rows.rows)[there]
            if any(isinstance(reading.value, Mapping) for reading in rows.readings.distinct):
                parts.append(_of_texts(telling.index(rows.task), items, rows.rows["answer"].filter(pa.array(there))))
            else:
                said = [_byte(f"{reading.outcome} {as_text(reading.value)}") for reading in rows.readings.distinct]
                codes = np.array([*said, 0], np.uint8)[rows.readings.place[there]]
                parts.append(_coded(telling.index(rows.task), items, codes))
    for task in bench.tasks:
        if task.table == "annotations" and task.name in telling:
            parts.append(_of_images(telling.index(task.name), task.name, submission.rows("annotations", task.name)))
    return np.concatenate(parts)


def mixed(words: Words) -> Words:
    """Each word with its bits mixed (the finaliser of SplitMix64)."""
    words = words + _MIX[0]
    words = (words ^ (words >> np.uint64(30))) * _MIX[1]
    words = (words ^ (words >> np.uint64(27))) * _MIX[2]
    return words ^ (words >> np.uint64(31))


def _coded(task: int, items: Words, codes: NDArray[np.uint8]) -> Codes:
    coded = np.empty(len(items), CODES)
    coded["task"], coded["item"], coded["code"] = task, items, codes
    return coded


def _of_images(task: int, name: str, table: pa.Table) -> Codes:
    """The labels of each image's first face; other statuses do not count."""
    table = table.filter(pc.equal(table["face"], 0))
    there = [column for column in ("status", *LABELS) if column in table.column_names]
    columns = [pc.fill_null(pc.cast(table[column], pa.string()), "") for column in there]
    texts = pc.binary_join_element_wise(*columns, "|").combine_chunks().dictionary_encode()
    codes = np.array([*map(_byte, texts.dictionary.to_pylist()), 0], np.uint8)
    return _coded(task, item_hashes(name, table), codes[np.asarray(texts.indices)])


def _of_texts(task: int, items: Words, texts: pa.ChunkedArray) -> Codes:
    keys = mixed(np.arange(1, PERMUTATIONS + 1, dtype=np.uint64))
    known: dict[str, int] = {}
    codes = np.empty((len(items), PERMUTATIONS), np.uint8)
    for row, text in enumerate(texts.to_pylist()):
        words = _WORD.findall(text.casefold())
        known.update((word, _word(word)) for word in set(words) - known.keys())
        hashes = np.array([known[word] for word in words] or [0], np.uint64)
        runs = hashes[: max(1, len(hashes) - _RUN + 1)]
        for step in range(1, min(_RUN, len(hashes))):
            runs = mixed(runs) ^ hashes[step : len(runs) + step]
        codes[row] = mixed(runs[None] ^ keys[:, None]).min(axis=1).astype(np.uint8)
    return _coded(task, mixed(items[:, None] ^ keys).ravel(), codes.ravel())


def item_hashes(task: str, rows: pa.Table) -> Words:
    """(n,) a hash of task, id and sample of each row."""
    from pandas.util import hash_array  # half a second, too slow for the start of the Space

    ids = hash_array(rows["id"].to_numpy(), categorize=False)
    samples = np.asarray(rows["sample"], np.int64).view(np.uint64)
    return mixed(mixed(ids ^ np.uint64(_word(task))) ^ samples)


def _word(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")


def _byte(text: str) -> int:
    return hashlib.blake2b(text.encode(), digest_size=1).digest()[0]
