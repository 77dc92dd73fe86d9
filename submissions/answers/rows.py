"""Readings of a submission's rows: beside raw answers, as counts with examples, and as codes of one byte."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray
from pydantic import ConfigDict, Field, TypeAdapter

from fairspace.builders.writing import beside
from fairspace.submissions.answers.reading import NOT_HANDED_IN, OUTCOMES, Outcome, Reading, Readings
from fairspace.submissions.benchmarks.benchmark import Benchmark
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.errors import UsageError, plain
from fairspace.submissions.format.faults import validated
from fairspace.submissions.format.schema import LABELS, Submission, SubmissionMeta
from fairspace.submissions.reading.canonical import digest

Counted = Literal["choice", "refused", "several", "unusable", "not_handed_in"]
COUNTED: tuple[Counted, ...] = get_args(Counted)
LONGEST = 160
"""Characters of an answer in an example."""
Count = Annotated[int, Field(strict=True, ge=0, lt=2**31)]
_Text = Annotated[str, Field(strict=True, max_length=300)]


@dataclass(frozen=True)
class Example:
    """An answer before, within (`marked`) and after the span that was read, shortened, with its reading."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    outcome: Outcome
    value: _Text | None = None
    rule: _Text = ""
    before: _Text = ""
    marked: _Text = ""
    after: _Text = ""

    def to_json(self) -> dict[str, str]:
        """The fields as JSON data, without empty ones."""
        return {name: text for name, text in vars(self).items() if text}


@dataclass(frozen=True)
class Summary:
    """The readings of a task: number of answers by outcome and by (frequent) rule, a few examples of every outcome.

    Of the `outcomes`, `not_handed_in` counts samples without an answer.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    outcomes: Annotated[Mapping[Counted, Count], Field(min_length=len(COUNTED))]
    rules: Annotated[Mapping[_Text, Count], Field(max_length=64)]
    examples: Annotated[tuple[Example, ...], Field(max_length=64)]

    @property
    def handed_in(self) -> int:
        """Number of answers."""
        return sum(self.outcomes.get(outcome, 0) for outcome in OUTCOMES)

    def to_json(self) -> dict[str, Any]:
        """The fields as JSON data."""
        examples = [example.to_json() for example in self.examples]
        return {"outcomes": dict(self.outcomes), "rules": dict(self.rules), "examples": examples}

    @classmethod
    def from_json(cls, data: Any) -> Summary:
        """The summary in JSON data of `to_json`. ValueError for other data."""
        return validated(_SUMMARY, data, "the readings of a task")


_SUMMARY = TypeAdapter(Summary)


def excerpt(answer: str, span: tuple[int, int] | None, length: int = LONGEST) -> tuple[str, str, str]:
    """Before, within and after the span, about `length` characters in one line, without control characters."""
    if span is None:
        return _line(answer[:length]) + ("…" if len(answer) > length else ""), "", ""
    start, end = span
    if len(answer) <= length:
        pieces = answer[:start], answer[start:end], answer[end:]
    else:
        kept = min(end - start, length // 2)
        room = (length - kept) // 2
        before, marked = answer[max(0, start - room) : start], answer[start : start + kept]
        after = answer[end : end + length - kept - len(before)]
        pieces = (
            ("…" if start > room else "") + before,
            marked + ("…" if kept < end - start else ""),
            after + ("…" if end + len(after) < len(answer) else ""),
        )
    shown = [_line(piece) for piece in pieces]
    return shown[0], shown[1], shown[2]


def _line(text: str) -> str:
    words = " ".join(plain(text).split())
    left = " " if text[:1].isspace() and words else ""
    return left + words + (" " if text[-1:].isspace() and words else "")


ANSWERS = {"responses": "response", "judgements": "judgement"}
"""Table -> column of its answers."""
READ = pa.schema(
    [
        pa.field("task", pa.string(), nullable=False),
        pa.field("id", pa.string(), nullable=False),
        pa.field("sample", pa.int32(), nullable=False),
        pa.field("answer", pa.string()),
        pa.field("outcome", pa.string(), nullable=False),
        pa.field("value", pa.string()),
        pa.field("start", pa.int32()),
        pa.field("end", pa.int32()),
        pa.field("rule", pa.string(), nullable=False),
    ]
)
"""`value`: choice as text, else as JSON. `start`, `end`: span in the answer. `outcome` may be `not_handed_in`."""
_EXAMPLES = 3
_EXAMPLES_IN_ALL = 48
"""Examples per outcome of a task, and per submission."""
_RULES_SHOWN = 12


@dataclass(frozen=True)
class ReadRows:
    """The rows of a task (`task` or `task/part`) with `id`, `sample` and `answer`, and their readings."""

    task: str
    rows: pa.Table
    readings: Readings[Any]

    def table(self) -> pa.Table:
        """A row of `READ` for each answer."""
        distinct = [*self.readings.distinct, Reading("unusable")]
        columns: dict[str, list[Any]] = {
            "outcome": [reading.outcome for reading in distinct],
            "value": [None if reading.value is None else as_text(reading.value) for reading in distinct],
            "start": [None if reading.span is None else reading.span[0] for reading in distinct],
            "end": [None if reading.span is None else reading.span[1] for reading in distinct],
            "rule": [reading.rule for reading in distinct],
        }
        columns["outcome"][-1] = "not_handed_in"
        places = pa.array(np.where(self.readings.place < 0, len(distinct) - 1, self.readings.place))
        read = {name: pa.array(values, READ.field(name).type).take(places) for name, values in columns.items()}
        task = pa.repeat(pa.scalar(self.task, pa.string()), self.rows.num_rows)
        parts = {"task": task, **{name: self.rows[name] for name in ("id", "sample", "answer")}, **read}
        return pa.table([parts[name] for name in READ.names], schema=READ)


def as_text(value: Any) -> str:
    """The value of a reading as text."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def read_rows(submission: Submission, bench: Benchmark) -> Iterator[ReadRows]:
    """The readings of every task with text answers, in the benchmark's order."""
    for task, readings in bench.answers.rows(submission).items():
        name = task.partition("/")[0]
        table = bench.task(name).table
        rows = submission.scored_rows(table, name)
        answers = rows[ANSWERS[table]]
        yield ReadRows(task, pa.table({"id": rows["id"], "sample": rows["sample"], "answer": answers}), readings)


def write_read_rows(tables: Iterable[pa.Table], out: Path) -> int:
    """Write tables of `READ` to a .parquet or .jsonl file; returns the number of rows."""
    count = 0
    if out.suffix == ".parquet":
        with beside(out) as place, pq.ParquetWriter(place, READ) as writer:
            for table in tables:
                writer.write_table(table)
                count += table.num_rows
        return count
    with beside(out) as place, place.open("w", encoding="utf-8", errors="backslashreplace") as stream:
        for table in tables:
            for batch in table.to_batches(max_chunksize=10_000):
                stream.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in batch.to_pylist())
            count += table.num_rows
    return count


def summarise(every: Sequence[ReadRows], bench: Benchmark, revision: str) -> dict[str, Summary]:
    """Summaries by task, with a few examples of each outcome; tasks without rows are left out."""
    run = [rows for rows in every if rows.rows.num_rows]
    examples = max(1, min(_EXAMPLES, _EXAMPLES_IN_ALL // (len(OUTCOMES) * max(1, len(run)))))
    asked = {rows.task: bench.task(rows.task.partition("/")[0]).samples_asked(revision) for rows in run}
    return {rows.task: _summary(rows, asked[rows.task], examples) for rows in run}


def _summary(rows: ReadRows, asked: int, most: int) -> Summary:
    distinct, place = rows.readings.distinct, rows.readings.place
    times = np.bincount(place[place != NOT_HANDED_IN], minlength=len(distinct))
    outcomes: dict[Counted, int] = dict.fromkeys(OUTCOMES, 0)
    rules: dict[str, int] = {}
    for reading, count in zip(distinct, times.tolist(), strict=True):
        outcomes[reading.outcome] += count
        rules[reading.rule] = rules.get(reading.rule, 0) + count
    ranked = sorted(rules, key=lambda rule: (-rules[rule], rule))
    shown = {rule: rules[rule] for rule in ranked[:_RULES_SHOWN]}
    others = sum(rules[rule] for rule in ranked[_RULES_SHOWN:])
    missing = max(0, asked - int(times.sum()))
    examples = tuple(_examples(rows, times, rules, most))
    return Summary(
        {**outcomes, "not_handed_in": missing}, shown | ({"other rules": others} if others else {}), examples
    )


def _examples(rows: ReadRows, times: Any, rules: Mapping[str, int], most: int) -> Iterator[Example]:
    distinct = rows.readings.distinct
    places, first = np.unique(rows.readings.place, return_index=True)
    first_row = dict(zip(places.tolist(), first.tolist(), strict=True))
    read = [k for k in range(len(distinct)) if k in first_row]
    answers = dict(
        zip(read, rows.rows["answer"].take(pa.array([first_row[k] for k in read], pa.int64())).to_pylist(), strict=True)
    )

    def frequent_first(k: int) -> tuple[Any, ...]:
        return -rules[distinct[k].rule], -int(times[k]), answers[k], str(distinct[k].value)

    ordered = sorted(read, key=frequent_first)
    for outcome in OUTCOMES:
        of_outcome = [k for k in ordered if distinct[k].outcome == outcome]
        one_a_rule = {distinct[k].rule: k for k in reversed(of_outcome)}
        examples = [k for k in of_outcome if one_a_rule[distinct[k].rule] == k]
        examples += [k for k in of_outcome if one_a_rule[distinct[k].rule] != k]
        different: dict[str, int] = {}
        for k in examples:
            different.setdefault(answers[k], k)
        for k in [*different.values()][:most]:
            reading = distinct[k]
            before, marked, after = excerpt(answers[k], reading.span)
            value = None if reading.value is None else "".join(excerpt(as_text(reading.value), None))
            yield Example(outcome, value, reading.rule, before, marked, after)


# Codes: a choice is coded by its reading, an image by its labels, and a text by `PERMUTATIONS` codes whose agreement
# estimates the share of common runs of three words (MinHash, Broder 1997).

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
    numbers: dict[str, int] = {}
    codes = np.empty((len(items), PERMUTATIONS), np.uint8)
    for row, text in enumerate(texts.to_pylist()):
        words = _WORD.findall(text.casefold())
        numbers.update((word, _word(word)) for word in set(words) - numbers.keys())
        hashes = np.array([numbers[word] for word in words] or [0], np.uint64)
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


def readable_shares(meta: SubmissionMeta, responses: pa.Table) -> dict[str, float]:
    """`readable_TASK` -> share of the task's answers with a readable choice; {} if a reader's package is absent."""
    tables = {"responses": responses}
    try:
        readings = benchmark(meta.benchmark).answers.rows(Submission(meta, tables, digest(meta, tables)))
    except UsageError:
        return {}
    shares = {}
    for task, read in readings.items():
        outcomes = read.outcomes()
        if len(outcomes):
            shares[f"readable_{task}"] = round(float((outcomes == OUTCOMES.index("choice")).mean()), 4)
    return shares
