"""Drawn and damaged answers as submissions; an oracle knows the drawn codes, not the texts."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fairspace.submissions.benchmarks.benchmark import Benchmark
from fairspace.submissions.format.schema import RESPONSES, Submission, SubmissionMeta, Tool
from fairspace.submissions.values import Value

REFUSED, GARBLED, NULL, ABSENT = -1, -2, -3, -4
"""A refusal, an answer that says nothing, a row without an answer, and no row."""
HANDED_IN = GARBLED
TEXTS = {REFUSED: "I'm sorry, but I can't help with that.", GARBLED: "Qxv, zzt!", NULL: None}
DAMAGE = (0.06, 0.05, 0.04, 0.05)
"""Shares of refused, garbled, null and absent answers in damaged data."""
Integers = NDArray[np.int_]


@dataclass(frozen=True)
class Oracle:
    """An independent computation of a benchmark's values.

    Args:
        draw: Function (seed, kind of data) -> drawn data.
        tables: Function drawn data -> tables of a submission.
        values: Function drawn data -> every value, nan where undefined.
        scorer: Function from a value's name to its scorer.
        instruments: Drawn tools in place of a parser or a lexicon while a submission is read.
    """

    benchmark: Benchmark
    revision: str
    draw: Callable[[int, str], Any]
    tables: Callable[[Any], Mapping[str, Sequence[pa.Table]]]
    values: Callable[[Any], dict[str, float]]
    scorer: Callable[[str], str]
    about: Mapping[str, object] = field(default_factory=dict)
    instruments: Callable[[], AbstractContextManager[None]] = nullcontext

    def submission(self, drawn: Any) -> Submission:
        return submission(meta(self.benchmark.name, self.revision, **self.about), self.tables(drawn))

    def values_of(self, drawn: Any) -> dict[str, Value]:
        """This project's values, by its own path: tables, records, values."""
        with self.instruments():
            return self.benchmark.measure(self.benchmark.read(self.submission(drawn)))

    def measured(self, drawn: Any) -> dict[str, float | None]:
        return {name: value.value for name, value in self.values_of(drawn).items()}


def random(seed: int) -> np.random.RandomState:
    """A stream that is the same in every version of NumPy."""
    return np.random.RandomState(seed)


def damaged(choices: Integers, draws: np.random.RandomState, shares: Sequence[float] = DAMAGE) -> Integers:
    u, codes, low = draws.random_sample(choices.shape), choices.copy(), 0.0
    for code, share in zip((REFUSED, GARBLED, NULL, ABSENT), shares, strict=True):
        codes[(low <= u) & (u < low + share)] = code
        low += share
    return codes


def meta(benchmark: str, revision: str = "v1", **more: object) -> SubmissionMeta:
    return SubmissionMeta.model_validate(
        {
            "format": 1,
            "benchmark": benchmark,
            "dataset_revision": revision,
            "model": "drawn",
            "revision": "1",
            "organisation": "oracles",
            "licence": "Apache-2.0",
            "contact": "nobody@example.org",
            "generation": {},
            **more,
        }
    )


def tool(name: str) -> Tool:
    return Tool(name=name, version="1")


def responses(task: str, ids: Sequence[str], samples: Sequence[int], texts: Sequence[str | None]) -> pa.Table:
    n = len(ids)
    columns = [[task] * n, list(ids), list(samples), list(texts), [None] * n]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, RESPONSES, strict=True)]
    return pa.table(arrays, schema=RESPONSES)


def answered(
    task: str,
    ids: Sequence[str],
    samples: Sequence[int],
    codes: Integers,
    words: Sequence[str],
    texts: Mapping[int, str | None] | None = None,
) -> pa.Table:
    """Rows of one task: the text of each choice or damage; no row if absent."""
    damages = {**TEXTS, **(texts or {})}
    said = codes.tolist()
    kept = [place for place, code in enumerate(said) if code != ABSENT]
    answers = [words[said[i]] if said[i] >= 0 else damages[said[i]] for i in kept]
    return responses(task, [ids[i] for i in kept], [samples[i] for i in kept], answers)


def submission(about: SubmissionMeta, tables: Mapping[str, Sequence[pa.Table]]) -> Submission:
    keys = [("task", "ascending"), ("id", "ascending"), ("sample", "ascending")]
    joined = {name: pa.concat_tables(parts) for name, parts in tables.items()}
    ordered = {
        name: rows.sort_by([*keys, *([("face", "ascending")] if "face" in rows.column_names else [])])
        for name, rows in joined.items()
    }
    return Submission(about, ordered, digest="drawn")
