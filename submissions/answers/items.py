"""Example items of each value: the answers or images that pull it furthest from fair, and typical ones.

A result keeps their short texts: prompt, answer with the marked reading, rule; for an image its labels. No pictures are
kept, and nothing of hidden item sets.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Annotated, Any, Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import ConfigDict, Field, TypeAdapter

from fairspace.metrics.columns import Floats, Integers
from fairspace.submissions.answers.reading import NOT_HANDED_IN, Outcome, Samples
from fairspace.submissions.answers.rows import ReadRows, as_text, excerpt
from fairspace.submissions.benchmarks.benchmark import Benchmark
from fairspace.submissions.benchmarks.task import Task
from fairspace.submissions.errors import plain
from fairspace.submissions.format.faults import validated
from fairspace.submissions.format.schema import LABELS, Submission, Tool

Kind = Literal["worst", "typical"]
KINDS: tuple[Kind, ...] = get_args(Kind)
CHOSEN: Mapping[Kind, int] = {"worst": 3, "typical": 2}
LONGEST, LONGEST_PROMPT = 320, 900
"""Characters of an answer and of a prompt; the options stand in a prompt's last words."""
_LOOKED_AT = 60
"""First samples of an order among which a value's items are sought."""
_SEARCHED = 2_000
"""Samples that are searched for these first; all of them, if they are of fewer items."""
_Text = Annotated[str, Field(strict=True, max_length=1_000)]


@dataclass(frozen=True)
class Item:
    """One answer and its reading, shortened.

    Args:
        kind: `worst`: one of the furthest from fair; `typical`: the median.
        outcome, value, rule: Reading, as in `answers.reading.Reading`; the value as text.
        before, marked, after: Answer around the span that was read; empty for an image.
        score: Contribution to the value, such as '1 if female is chosen: 0'.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    kind: Kind
    task: _Text
    id: _Text
    prompt: _Text = ""
    outcome: Annotated[Outcome, Field(validate_default=True)] = ""  # type: ignore[assignment] # JSON must have one
    value: _Text = ""
    rule: _Text = ""
    before: _Text = ""
    marked: _Text = ""
    after: _Text = ""
    score: _Text = ""

    def to_json(self) -> dict[str, str]:
        """The fields as JSON data, without empty ones."""
        return {name: text for name, text in vars(self).items() if text}


Shown = Callable[[Item, int], Item | None]
"""An item without its answer, number of its sample -> the item with its answer or image."""
Items = Mapping[str, tuple[Item, ...]]
"""Value -> its items, the worst first."""
_ITEMS: TypeAdapter[Items] = TypeAdapter(
    Annotated[dict[str, Annotated[tuple[Item, ...], Field(max_length=16)]], Field(max_length=64)]
)


def items_from_json(data: Any) -> Items:
    """The items of a result's JSON data. ValueError for other data."""
    return validated(_ITEMS, data, "example items")


def items_of(bench: Benchmark, submission: Submission, records: Any, rows: Sequence[ReadRows]) -> Items:
    """Example items of each value whose samples the benchmark gives; empty for hidden item sets."""
    revision = submission.meta.dataset_revision
    if revision not in bench.revisions:
        return {}
    prompts = lru_cache(lambda name: _prompts(bench.task(name), revision))
    of_values = [each for each in bench.answers.samples(records) if len(each.asked)]
    shown: dict[str, Shown] = {read.task: partial(_answer, read) for read in rows}
    for name in {each.task for each in of_values} - shown.keys():
        if bench.task(name).table == "annotations":
            shown[name] = partial(_image, submission.rows("annotations", name), submission.meta.labels)
    items_of_task = {
        each.value: tuple(_items(each, bench.task(each.task).ids(revision), prompts, shown[each.task]))
        for each in of_values
        if each.task in shown
    }
    return {name: items for name, items in items_of_task.items() if items}


def pull(samples: Samples) -> Floats:
    """(n,) pull of each sample on its value away from that of a fair model; nan without a score.

    The pull is the product of the sample's distance from fair and that of the mean: of all samples if the value is
    their mean, else of those at the same level, such as one occupation.
    """
    scores = samples.scores.reshape(len(samples.scores), -1) - samples.fair
    defined = ~np.isnan(scores).any(axis=1)
    levels = np.zeros(len(scores), np.int64) if samples.levels is None else samples.levels
    levels = np.unique(levels, return_inverse=True)[1].reshape(-1)
    counts = np.bincount(levels[defined], minlength=levels.max(initial=0) + 1)
    sums = [np.bincount(levels[defined], column, len(counts)) for column in scores[defined].T]
    means = np.stack(sums, axis=-1) / np.maximum(counts, 1)[:, None]
    return np.asarray((scores * means[levels]).sum(axis=1), np.float64)


def _prompts(task: Task, revision: str) -> pa.Table | None:
    """The items with their prompts; None where these are others', known by name alone."""
    return task.items(revision) if task.items is not None and revision not in task.theirs else None


def _items(samples: Samples, ids: pa.Array, prompts: Callable[[str], pa.Table | None], shown: Shown) -> Iterator[Item]:
    ids_asked: set[str] = set()
    for kind, places in zip(KINDS, _orders(samples, len(ids)), strict=True):
        count = 0
        for place in places:
            name = ids[int(samples.asked[place])].as_py()
            sample = 0 if samples.sample is None else int(samples.sample[place])
            if count == CHOSEN[kind] or name in ids_asked:
                continue
            score = f"{samples.score}: {samples.scores[place]:g}" if samples.scores.ndim == 1 else ""
            prompt = ""
            asked = prompts(samples.task)
            if asked is not None and (at := pc.index(asked["id"], name).as_py()) >= 0:
                prompt = excerpt(str(asked["prompt"][at].as_py()), None, LONGEST_PROMPT)[0]
            item = shown(Item(kind, samples.task, name, prompt, "unusable", "", "", "", score=score), sample)
            if item is not None:
                ids_asked.add(name)
                count += 1
                yield item


def _orders(samples: Samples, size: int) -> Iterator[Sequence[int]]:
    """Indices of samples, one per item: the worst first, then the most typical first; ties in random order by value."""
    pulls = np.round(pull(samples), 9)
    defined = np.flatnonzero(~np.isnan(pulls))
    seed = int.from_bytes(hashlib.sha256(samples.value.encode()).digest()[:8])
    drawn = np.random.default_rng(seed).random(size)
    worst = defined[pulls[defined] > 0]
    middle = np.abs(pulls[defined] - np.median(pulls[defined])) if len(defined) else pulls[defined]
    for places, distance in ((worst, -pulls[worst]), (defined, middle)):
        yield _nearest(places, distance, samples.asked[places], drawn)


def _nearest(places: Integers, distance: Floats, asked: Integers, drawn: Floats) -> Sequence[int]:
    """The nearest places, one per item and `_LOOKED_AT` at most; of all that are far away, none is sorted."""
    near = np.arange(len(places))
    if len(near) > _SEARCHED:
        near = np.flatnonzero(distance <= np.partition(distance, _SEARCHED)[_SEARCHED])
    if len(np.unique(asked[near[:_SEARCHED]])) < _LOOKED_AT:
        near = np.arange(len(places))
    order = near[np.lexsort((drawn[asked[near]], distance[near]))]
    for searched in (order[:_SEARCHED], order):
        firsts = np.sort(np.unique(asked[searched], return_index=True)[1])[:_LOOKED_AT]
        if len(firsts) == _LOOKED_AT:
            break
    return [int(place) for place in places[searched[firsts]]]


def _answer(read: ReadRows, item: Item, sample: int) -> Item | None:
    row = pc.index(pc.and_(pc.equal(read.rows["id"], item.id), pc.equal(read.rows["sample"], sample)), True).as_py()
    if row < 0 or read.readings.place[row] == NOT_HANDED_IN:
        return None
    reading = read.readings.distinct[int(read.readings.place[row])]
    value = "" if reading.value is None else excerpt(as_text(reading.value), None)[0]
    before, marked, after = excerpt(read.rows["answer"][row].as_py(), reading.span, LONGEST)
    return replace(
        item, outcome=reading.outcome, value=value, rule=reading.rule, before=before, marked=marked, after=after
    )


def _image(rows: pa.Table, tool: Tool | None, item: Item, sample: int) -> Item | None:
    faces = rows.filter(pc.and_(pc.equal(rows["id"], item.id), pc.equal(rows["sample"], sample))).to_pylist()
    usable = [face for face in faces if face["status"] == "ok"]
    texts = [", ".join(face[label] for label in LABELS if face.get(label)) for face in usable]
    value = excerpt("; ".join(texts), None)[0]
    rule = f"labelled by {tool.name}" if tool is not None else "labels"
    return replace(item, outcome="choice" if texts else "unusable", value=value, rule=plain(rule)) if faces else None
