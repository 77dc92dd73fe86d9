"""Which rows rest on the same answers, or on such as are too alike: compared as results enter the log, once each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.results.answer_sketch import FEWEST, Bytes, kappas, likeness, read_sketch
from fairspace.submissions.results.known_answers import LikeBaseline
from fairspace.submissions.results.result import Result

Sketch = tuple[Bytes, Bytes]


@dataclass(frozen=True)
class Alike:
    """Answers that a row shares beyond what models share by nature.

    Args:
        kappa: of a task whose answers are alike.
        entry: of the other row.
    """

    kappa: float
    entry: str = ""


@dataclass
class _Sketches:
    """The sketches of one benchmark and key, one behind the other.

    Args:
        entries: whose they are.
        content: `items`, then `codes` of each.
    """

    entries: list[str] = field(default_factory=list)
    content: bytearray = field(default_factory=bytearray)

    def add(self, entry: str, sketch: Sketch) -> None:
        """Add the sketch of an entry."""
        self.entries.append(entry)
        self.content += np.stack(sketch).tobytes()

    def near(self, sketch: Sketch, bounds: list[float]) -> list[tuple[str, Sketch]]:
        """The entries of which a task has as many equal codes as its bound: kappa is no larger than that share."""
        items, codes = sketch
        both = np.frombuffer(bytes(self.content), np.uint8).reshape(-1, 2, *items.shape)
        common = (both[:, 0] == items) & (items > 0)
        equal = np.count_nonzero(common & (both[:, 1] == codes), axis=-1)
        near = equal >= np.maximum(FEWEST, np.count_nonzero(common, axis=-1)) * np.array(bounds)
        return [(self.entries[place], (both[place, 0], both[place, 1])) for place in np.flatnonzero(near.any(axis=-1))]


@dataclass
class SameAnswers:
    """Groups of entries with the same answers, in the order of the log. Results without a digest are in none.

    Args:
        first: entry -> the first entry of its group.
        baselines: first entry of a group -> the bundled baselines whose answers the group has, in words.
        alike: entry -> what its answers are too alike to be taken for a model's of its own.
    """

    first: dict[str, str] = field(default_factory=dict)
    baselines: dict[str, str] = field(default_factory=dict)
    alike: dict[str, Alike] = field(default_factory=dict)
    _digests: dict[tuple[str, str], str] = field(default_factory=dict)
    _sketches: dict[tuple[str, str], _Sketches] = field(default_factory=dict)

    def add(self, entry: str, result: Result, identity: Mapping[str, Any]) -> None:
        """Compare a result with those before it. Baselines that say so are compared with nothing.

        Args:
            entry: of its row.
            result: the result; its signature has a digest of the answers.
            identity: of the answers, as `read_identity` gives it; {} where the log has none, as of results from
                before: then only equal answers are noticed.
        """
        digest = result.signature.get("answers")
        if digest is None or result.meta.get("baseline"):
            return
        first = self._digests.get((result.benchmark, digest)) or self._like(entry, result, identity)
        if (like := identity.get("baseline")) is not None and first == entry:
            self.baselines[entry] = LikeBaseline(**like).words
        self._digests[result.benchmark, digest] = first
        self.first[entry] = first

    def _like(self, entry: str, result: Result, identity: Mapping[str, Any]) -> str:
        """The first entry with the same answers by their sketches; the entry itself, if there is none."""
        if "sketch" not in identity:
            return entry
        alike = benchmark(result.benchmark).telling_tasks
        bounds = list(alike.values())
        mine = read_sketch(identity["sketch"], list(alike))
        others = self._sketches.setdefault((result.benchmark, identity["key"]), _Sketches())
        for other, theirs in others.near(mine, bounds):
            same, kappa = likeness(kappas(mine, theirs), bounds)
            if same:
                return other
            if kappa > self.alike.get(entry, Alike(0.0)).kappa:
                self.alike[entry] = Alike(kappa, entry=other)
        others.add(entry, mine)
        return entry
