"""Which answers of a submission a person labels: drawn by chance, of every task and outcome its share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fairspace.submissions.answers.labelled import NO_CHOICE
from fairspace.submissions.answers.rows import as_text, read_rows
from fairspace.submissions.answers.summary import excerpt
from fairspace.submissions.benchmarks.benchmark import Benchmark
from fairspace.submissions.errors import UsageError, did_you_mean, plain
from fairspace.submissions.format.schema import Submission

SEED = 14
OTHERS = NO_CHOICE[:3]
"""What a person can type of an answer that makes no choice."""
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Drawn:
    """An answer that a person is asked about.

    Args:
        fields: of its labelled line, but for `gold`.
        choices: the possible golds; (low, high) for a number between them.
        read: what the reader reads, for people.
    """

    fields: Mapping[str, Any]
    choices: tuple[str, ...] | tuple[float, float]
    read: str

    @property
    def key(self) -> str:
        """What its line is found by."""
        return str(self.fields["id"])

    def gold(self, typed: str) -> str:
        """What was typed, as the labelled line has it. UsageError says what could have been typed."""
        word = _word(typed)
        if isinstance(self.choices[0], float):
            return word if word in OTHERS else _number(word, float(self.choices[0]), float(self.choices[1]))
        known = {_word(str(choice)): str(choice) for choice in (*self.choices, *OTHERS)}
        starting = [choice for name, choice in known.items() if name.startswith(word)] if word else []
        if word in known or len(starting) == 1:
            return known.get(word) or starting[0]
        more = f": {' or '.join(starting)}?" if starting else did_you_mean(word, known)
        raise UsageError(f"{plain(typed)[:40]!r} is not clear{more}")

    def by_itself(self) -> str | None:
        """The gold of an answer that is one of the choices and nothing else; None of any other answer."""
        answer = _word(self.fields["answer"].strip().strip("."))
        if isinstance(self.choices[0], float):
            return self.gold(answer) if answer.isdigit() and len(answer) < 3 and _within(answer, self.choices) else None
        return {_word(str(choice)): str(choice) for choice in self.choices}.get(answer)


def _word(text: str) -> str:
    return " ".join(text.lower().replace("_", " ").split())


def _within(digits: str, ends: Sequence[Any]) -> bool:
    return bool(ends[0] <= int(digits) <= ends[1])


def _number(word: str, low: float, high: float) -> str:
    try:
        number = float(word.replace(",", "."))
    except ValueError:
        number = float("nan")
    if not low <= number <= high:
        raise UsageError(f"expected a number from {low:g} to {high:g}, or {', '.join(OTHERS)}")
    return f"{number:g}"


def draw(submission: Submission, bench: Benchmark, n: int, seed: int = SEED) -> list[Drawn]:
    """`n` answers to label: of every task and outcome its share, at least one where `n` suffices; by task, shuffled.

    `weight` in the fields says for how many answers of the submission each one stands.
    """
    random = np.random.RandomState(seed)
    items = bench.items(submission.meta.dataset_revision)
    strata = [
        (read.task, rows)
        for read in read_rows(submission, bench)
        if read.task in items and _can_be_labelled(bench, read.task, items[read.task])
        for rows in _by_outcome(read.table())
    ]
    drawn: list[Drawn] = []
    for (task, rows), size in zip(strata, shares([len(rows) for _, rows in strata], n), strict=True):
        chosen = [rows.slice(place, 1).to_pylist()[0] for place in random.choice(len(rows), size, replace=False)]
        by_id = _by_id(items[task], [row["id"] for row in chosen])
        drawn += [_drawn(submission, bench, task, row, by_id[row["id"]], len(rows) / size) for row in chosen]
    order = {task: place for place, task in enumerate(items)}
    return sorted(
        (drawn[place] for place in random.permutation(len(drawn))), key=lambda one: order[one.fields["row"][0]]
    )


def shares(sizes: Sequence[int], n: int) -> list[int]:
    """How many to draw of each stratum: in proportion to its size, one at least, together `n` if there are so many.

    With more strata than `n`, one of each of the largest.
    """
    total = sum(sizes)
    if total <= n:
        return list(sizes)
    if len(sizes) >= n:
        largest = sorted(range(len(sizes)), key=lambda k: -sizes[k])[:n]
        return [int(k in largest) for k in range(len(sizes))]
    drawn = [max(1, n * size // total) for size in sizes]
    while (more := n - sum(drawn)) != 0:
        step = 1 if more > 0 else -1
        can = [k for k in range(len(sizes)) if (drawn[k] < sizes[k] if step > 0 else drawn[k] > 1)]
        k = max(can, key=lambda k: step * (n * sizes[k] / total - drawn[k]))
        drawn[k] += step
    return drawn


def _can_be_labelled(bench: Benchmark, task: str, items: pa.Table) -> bool:
    return bench.label_line(task, items.slice(0, 1).to_pylist()[0]) is not None


def _by_outcome(rows: pa.Table) -> Iterator[pa.Table]:
    """The rows with an answer, by what they are read as."""
    for outcome in rows["outcome"].unique().to_pylist():
        if outcome != "not_handed_in":
            yield rows.filter(pc.equal(rows["outcome"], outcome))


def _by_id(items: pa.Table, ids: Sequence[str]) -> dict[str, Row]:
    rows = items.filter(pc.is_in(items["id"], pa.array(ids, pa.string())))
    return {row["id"]: row for row in rows.to_pylist()}


def _drawn(submission: Submission, bench: Benchmark, task: str, row: Row, item: Row, weight: float) -> Drawn:
    needs = bench.label_line(task, item) or {}
    fields = {"id": f"{task}:{row['id']}#{row['sample']}", "benchmark": bench.name, "task": task, "ask": item["prompt"]}
    fields |= {name: value for name, value in needs.items() if name != "choices"}
    fields |= {"answer": row["answer"], "style": submission.meta.model, "source": "labelled", "weight": weight}
    fields |= {"row": [task, row["id"], row["sample"]], "submission": submission.digest[:16]}
    read = row["outcome"] if row["value"] is None else f"{row['outcome']} {as_text(row['value'])}"
    read += f" ({row['rule']})" if row["rule"] else ""
    if row["start"] is not None:
        read += f", from {excerpt(row['answer'], (row['start'], row['end']))[1]!r}"
    return Drawn(fields, tuple(needs["choices"]), plain(read))
