"""Recognition by answers: of the bundled baselines (under any name or seed, changed, mixed), and of copies (sketches).

All coded answers are compared. A baseline whose answers follow from the items is made again; constant answers are known
as such; text baselines are known by their few sentences.
A mixture's shares are the non-negative least-squares solution of w in a_j = c_j + sum over k of w_k (b_jk - c_j): a_j
is the answers' agreement with baseline j, b_jk baseline k's, and c_j that of drawn answers. Whether the rest is drawn
is tested by chi-squared over the parts of the items' names: drawn answers agree equally often for every statistic,
occupation or person, a model's do not.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from scipy.special import chdtrc

from fairspace.submissions.answers.rows import Codes, answer_codes, item_hashes, mixed
from fairspace.submissions.benchmarks.baselines import NAMES, Baseline, baseline_meta, keys
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.benchmarks.task import TEXTS_ALIKE
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.reading.canonical import in_order, tables_digest

# A sketch holds, of each task with `Task.alike`, the codes of 128 answers (`answers/rows.py`) drawn by a secret key:
# the share of equal codes of two submissions has a standard error of at most 4.4 %. Compared is Cohen's kappa (Cohen
# 1960), (p - c) / (1 - c), with chance agreement c from both models' frequencies of codes. From a task's `alike` on a
# person must look: a copy with a quarter of its answers redrawn has .75; few models agree as much by nature.

Bytes = NDArray[np.uint8]
COPY = "copy of"
"""Beginning of the mark of a row with a baseline's very answers; rows with another mark wait for a maintainer."""
SKETCH = "sketch"
"""Name of a sketch without a key, in signatures of older results; the digest of the answers is `answers`."""
BUCKETS = 128
"""Answers of a task in a sketch."""
FEWEST = 64
"""Fewest common answers to a task that can be compared."""
SAME = 0.97
"""Smallest kappa of equal answers."""
_ANSWERS = ("responses", "annotations", "judgements")
_PURPOSE = b"fairspace: answer sketches"


def answers_digest(tables: Mapping[str, Any]) -> str:
    """The sha256 of the answers alone, independent of name, order, sharding, compression and file format."""
    return tables_digest(hashlib.sha256(), {name: table for name, table in tables.items() if name in _ANSWERS})


@dataclass(frozen=True)
class SketchKey:
    """The 64 bits that draw the answers of a sketch; only sketches of one `name` (8 hex digits) can be compared."""

    word: np.uint64
    name: str

    @classmethod
    def of(cls, secret: str) -> SketchKey:
        """The key from a Space's secret; with an empty secret the key is public."""
        digest = hmac.digest(secret.encode(), _PURPOSE, "sha256")
        return cls(np.uint64(int.from_bytes(digest[:8], "big")), digest[8:12].hex())


def draw_sketch(codes: Codes, tasks: Sequence[str], key: SketchKey) -> dict[str, str]:
    """Task -> items and codes of its drawn answers, 344 letters; tasks without an answer are left out."""
    sketch = {}
    for place, task in enumerate(tasks):
        of_task = codes[codes["task"] == place]
        if len(of_task):
            order = mixed(of_task["item"] ^ key.word)
            bucket = (order >> np.uint64(57)).astype(np.int64)
            by_bucket = np.lexsort((order, bucket))
            first = by_bucket[np.unique(bucket[by_bucket], return_index=True)[1]]
            items, answers = np.zeros(BUCKETS, np.uint8), np.zeros(BUCKETS, np.uint8)
            items[bucket[first]] = 1 + mixed(order[first]) % np.uint64(255)
            answers[bucket[first]] = of_task["code"][first]
            sketch[task] = base64.b64encode(np.concatenate([items, answers]).tobytes()).decode()
    return sketch


def read_sketch(sketch: Mapping[str, str], tasks: Sequence[str]) -> tuple[Bytes, Bytes]:
    """(tasks, BUCKETS) items, 0 for none, and codes. ValueError for an invalid sketch."""
    both = np.zeros((len(tasks), 2 * BUCKETS), np.uint8)
    for place, task in enumerate(tasks):
        if task in sketch:
            both[place] = np.frombuffer(base64.b64decode(sketch[task], validate=True), np.uint8)
    return both[:, :BUCKETS], both[:, BUCKETS:]


def kappa(first: Bytes, second: Bytes) -> float:
    """Cohen's kappa of (n,) codes of the same items; 0 if there are few, or if nothing varies."""
    n = len(first)
    if n < FEWEST:
        return 0.0
    equal = float((first == second).mean())
    both = np.bincount(first, minlength=256).astype(float) * np.bincount(second, minlength=256)
    chance = float(both.sum()) / n**2
    return (equal - chance) / (1 - chance) if chance < 1 else 0.0


def kappas(first: tuple[Bytes, Bytes], second: tuple[Bytes, Bytes]) -> list[float]:
    """The kappa of each task on the items that both sketches have."""
    common = (first[0] == second[0]) & (first[0] > 0)
    return [kappa(a[there], b[there]) for a, b, there in zip(first[1], second[1], common, strict=True)]


def likeness(of_tasks: Sequence[float], alike: Sequence[float]) -> tuple[bool, float]:
    """Whether answers are the same, and the largest kappa beyond natural likeness, 0 for none.

    `of_tasks`: kappa of each task, 0 if unknown; `alike`: `Task.alike` of each.
    """
    likenesses = [value for value in of_tasks if value]
    beyond = [value for value, bound in zip(of_tasks, alike, strict=True) if value >= bound]
    return bool(likenesses) and min(likenesses) >= SAME, max(beyond, default=0.0)


_DRAWN: Baseline = "random"
_DEPENDING: tuple[Baseline, ...] = ("stereotyped", "balanced")
"""Baselines whose answers follow from the items."""
_MIXED, _UNMIXED = 0.15, 0.04
"""Share of `_DEPENDING` from which drawn answers are a mixture, and up to which they are `_DRAWN`."""
_EVEN: Baseline = "balanced"
_EVEN_SHARE = 0.3
"""Share of `_EVEN`, which takes the options in turn, that no preference explains."""
_ENOUGH = 1000
"""Fewest answers of a task for its shares."""
_CHANCE = 1e-3
"""Probability below which answers are not drawn."""
_PER_CELL = 50
_SENTENCES = 0.06
"""Smallest kappa of texts with sentences of a baseline."""
Shares = Mapping[str, float]


@dataclass(frozen=True)
class LikeBaseline:
    """Likeness of answers to the bundled baselines, most to `baseline`, whose answers all tasks have if `is_same`.

    `kappa` is 1 where its rule is met; `shares` of a mixture are by baseline; `is_drawn`: the rest of the mixture is
    drawn.
    """

    baseline: str
    kappa: float
    is_same: bool
    shares: Shares = field(default_factory=dict)
    is_drawn: bool = True

    @property
    def words(self) -> str:
        """The mark of a row: "copy of random", or "looks like our answerer 'stereotyped' (35 %)", which waits."""
        if self.is_same:
            return f"{COPY} {self.baseline}"
        if not self.shares and self.baseline == _DRAWN and self.kappa == 1.0:
            return "looks like random answers: none depends on what is asked"
        parts = " and ".join(f"'{name}' ({100 * share:.0f} %)" for name, share in self.shares.items())
        return f"looks like our answerer{'s' * (len(self.shares) > 1)} " + (
            parts or f"'{self.baseline}', changed in part"
        )


def like_baseline(codes: Codes, benchmark: str, revision: str) -> LikeBaseline | None:
    """The bundled baselines that answers are like; None for none, or if they cannot answer the revision."""
    alike = find_benchmark(benchmark).telling_tasks
    if not _has_baselines(benchmark, revision):
        return None
    bounds = [_SENTENCES if bound == TEXTS_ALIKE else bound for bound in alike.values()]
    matches: list[LikeBaseline] = []
    for name in NAMES:
        theirs = baseline_codes(name, benchmark, revision)
        tasks = range(len(alike))
        of_tasks = [kappa(*_both(codes[codes["task"] == n], theirs[theirs["task"] == n])) for n in tasks]
        same, beyond = likeness(of_tasks, bounds)
        constant = all(len(np.unique(theirs["code"][theirs["task"] == n])) == 1 for n in np.unique(theirs["task"]))
        same |= constant and _share(codes, theirs) >= SAME
        if same or beyond:
            matches.append(LikeBaseline(name, beyond or 1.0, same))
    best = max(matches, key=lambda like: (like.is_same, like.kappa), default=None)
    return best if best is not None and best.is_same else _mixture(codes, benchmark, revision) or best


def _mixture(codes: Codes, benchmark: str, revision: str) -> LikeBaseline | None:
    """The mixture of baselines behind answers to choices or images; None for none.

    The rest must be drawn in every task, and one task must have the shares.
    """
    answered = set(baseline_codes(_DRAWN, benchmark, revision)["task"].tolist())
    by_task: list[tuple[Shares, bool]] = []
    for place, (task, alike) in enumerate(find_benchmark(benchmark).telling_tasks.items()):
        ours = codes[codes["task"] == place]
        if alike == TEXTS_ALIKE or len(ours) < _ENOUGH or place not in answered:
            continue
        theirs = {name: _answered(baseline_codes(name, benchmark, revision), place, ours) for name in NAMES}
        shares = _shares(ours["code"], theirs)
        depending: Shares = {name: shares[name] for name in _DEPENDING if shares[name] >= _UNMIXED}
        by_task.append((depending, _is_drawn(ours, theirs, _parts(benchmark, task, revision))))
    is_drawn = all(drawn for _, drawn in by_task)
    most: Shares = max((shares for shares, _ in by_task), key=lambda shares: sum(shares.values()), default={})
    even: Shares = max((shares for shares, _ in by_task), key=lambda shares: shares.get(_EVEN, 0.0), default={})
    if even.get(_EVEN, 0.0) >= _EVEN_SHARE:
        return LikeBaseline(_EVEN, 1.0, is_same=False, shares=even, is_drawn=is_drawn)
    if by_task and is_drawn and (not most or sum(most.values()) >= _MIXED):
        return LikeBaseline(max(most, key=most.__getitem__, default=_DRAWN), 1.0, is_same=False, shares=most)
    return None


def _answered(others: Codes, task: int, ours: Codes) -> NDArray[np.int64]:
    others = others[others["task"] == task]
    order = np.argsort(others["item"])
    at = order[np.minimum(np.searchsorted(others["item"][order], ours["item"]), len(order) - 1)]
    return np.where(others["item"][at] == ours["item"], others["code"][at].astype(np.int64), -1)


def _shares(ours: NDArray[np.uint8], theirs: Mapping[Baseline, NDArray[np.int64]]) -> Shares:
    from scipy.optimize import nnls  # a third of a second, which a Space that only shows rows need not wait for

    names = [name for name in NAMES if name != _DRAWN]
    by_chance = np.array([(theirs[_DRAWN] == theirs[name]).mean() for name in names])
    both = np.array([[(theirs[name] == theirs[other]).mean() for other in names] for name in names])
    weights, _ = nnls(
        both - by_chance[:, None], np.array([(ours == theirs[name]).mean() for name in names]) - by_chance
    )
    return dict(zip(names, map(float, weights), strict=True))


def _is_drawn(ours: Codes, theirs: Mapping[Baseline, NDArray[np.int64]], parts: Codes) -> bool:
    """Whether the answers that the baselines leave open are independent of the item.

    A cell holds answers with the same codes of all baselines, or of those that agree where these are many.
    """
    fixed = [theirs[name] for name in ("constant", *_DEPENDING)]
    cells = np.unique(np.stack(fixed), axis=1, return_inverse=True)[1]
    if cells.max() >= len(ours) / _PER_CELL:
        cells = (fixed[0] == fixed[1]) + 2 * (fixed[0] == fixed[2]) + 4 * (fixed[1] == fixed[2])
    parts = parts[np.searchsorted(parts["item"], ours["item"])]
    for baseline in fixed:
        agrees = (ours["code"] == baseline).astype(float)
        size = np.maximum(1, np.bincount(cells))
        expected = (np.bincount(cells, agrees) / size)[cells]
        for part in parts["parts"].T:
            spread = np.bincount(part, expected * (1 - expected))
            away = np.bincount(part, agrees - expected)[spread > 0]
            if chdtrc(len(away), float((away**2 / spread[spread > 0]).sum())) < _CHANCE:
                return False
    return True


@lru_cache(maxsize=16)
def _parts(benchmark: str, task: str, revision: str) -> NDArray[np.void]:
    """Hash of each item and sample of a task -> the parts of its name by number, and all but the last; by hash."""
    of = next(each for each in find_benchmark(benchmark).tasks if each.name == task)
    ids = pa.array(of.ids(revision))
    table = pa.table(keys(task, ids, of.samples_of(revision)))
    split = pc.split_pattern(table["id"], "/").combine_chunks()
    count = pc.min(pc.list_value_length(split)).as_py()
    columns = [pc.list_element(split, number) for number in range(count)]
    columns.append(pc.replace_substring_regex(table["id"], "/[^/]*$", "").combine_chunks())
    coded = np.empty(len(table), [("item", "<u8"), ("parts", "<i4", (len(columns),))])
    coded["item"] = item_hashes(task, table)
    coded["parts"] = np.stack([np.asarray(column.dictionary_encode().indices) for column in columns], axis=1)
    return np.sort(coded, order="item")


def _has_baselines(benchmark: str, revision: str) -> bool:
    """Whether baselines can answer a revision: a known one whose prompts are ours."""
    bench = find_benchmark(benchmark)
    return revision in bench.revisions and not any(revision in task.named_in for task in bench.tasks)


@lru_cache(maxsize=64)  # all baselines of all revisions: 40 MB
def baseline_codes(name: Baseline, benchmark: str, revision: str, seed: int = 0) -> Codes:
    """The coded answers of a baseline. BuildError REVISION_UNKNOWN."""
    tables = find_benchmark(benchmark).baseline(name, seed, revision)
    answers = in_order({name: table for name, table in tables.items() if name != "judgements"})
    return answer_codes(Submission(baseline_meta(name, benchmark, seed, tables, revision), answers))


def _share(ours: Codes, theirs: Codes) -> float:
    first, second = _both(ours, theirs)
    return float((first == second).mean()) if len(first) >= FEWEST else 0.0


def _both(ours: Codes, theirs: Codes) -> tuple[np.ndarray, np.ndarray]:
    if np.array_equal(ours["item"], theirs["item"]):
        return ours["code"], theirs["code"]
    _, first, second = np.intersect1d(ours["item"], theirs["item"], return_indices=True)
    return ours["code"][first], theirs["code"][second]
