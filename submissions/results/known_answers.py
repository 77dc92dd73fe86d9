"""The bundled baselines by their answers: recognised whatever they are called, from any seed, and partly changed.

All coded answers are compared, none is drawn. A baseline whose answers follow from the items is made again and
compared. One that answers everything alike is known by that. One that draws its answers has no answers of its own, so
its rule is tested: answers that depend on what is asked agree with those of other baselines more or less often than
answers that are drawn. Where answers are texts, a baseline's are known by its sentences, which it draws from a few.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from fairspace.submissions.answers.codes import Codes, answer_codes
from fairspace.submissions.benchmarks.baselines import NAMES, Baseline, baseline_meta
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.benchmarks.task import TEXTS_ALIKE
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.reading.canonical import in_order
from fairspace.submissions.results.answer_sketch import FEWEST, SAME, kappa, likeness

_DRAWN: Baseline = "random"
_DEPENDING: tuple[Baseline, ...] = ("stereotyped", "balanced")
"""Their answers follow from what is asked."""
_INDEPENDENT = 0.04
"""Answers whose kappa with each of `_DEPENDING` is that close to the kappa of drawn answers, on average over all, do
not depend on what is asked."""
_ENOUGH = 1000
_EVEN: Baseline = "balanced"
_EVEN_ALIKE = 0.4
"""It takes what is offered in turn, which no preference does. So `_ENOUGH` answers with this kappa are its in part.
Models that always prefer one group, side or letter have .1 at most, and .19 among the five occupations of IRIS."""
_SENTENCES = 0.06
"""Texts with this kappa have sentences of a baseline."""


@dataclass(frozen=True)
class LikeBaseline:
    """What answers have in common with a bundled baseline.

    Args:
        baseline: its name.
        kappa: of a task whose answers are alike; 1 where its rule is met.
        is_same: whether the answers are the baseline's in all tasks.
    """

    baseline: str
    kappa: float
    is_same: bool


def like_baseline(codes: Codes, benchmark: str, revision: str) -> LikeBaseline | None:
    """The bundled baseline that answers are like; None for none, and where it cannot answer the revision.

    Args:
        codes: as `answer_codes` gives them.
        benchmark: its name.
        revision: of the dataset that was answered.
    """
    alike = find_benchmark(benchmark).telling_tasks
    if not _has_baselines(benchmark, revision):
        return None
    known = {name: baseline_codes(name, benchmark, revision) for name in NAMES}
    found: list[LikeBaseline] = []
    independent = {}
    for name, theirs in known.items():
        of_tasks = _kappas(codes, theirs, len(alike))
        same, beyond = likeness(of_tasks, _bounds(name, codes, [*alike.values()]))
        of_drawn = _kappas(known[_DRAWN], theirs, len(alike))
        same |= _is_constant(theirs) and _share(codes, theirs) >= SAME
        if same or beyond:
            found.append(LikeBaseline(name, beyond or 1.0, same))
        apart = np.abs(np.subtract(of_tasks, of_drawn))
        independent[name] = float(apart @ np.bincount(codes["task"], minlength=len(alike))) < _INDEPENDENT * len(codes)
    if not found and len(codes) >= _ENOUGH and all(independent[name] for name in _DEPENDING):
        return LikeBaseline(_DRAWN, 1.0, is_same=False)
    return max(found, key=lambda like: (like.is_same, like.kappa), default=None)


def _bounds(name: Baseline, codes: Codes, alike: Sequence[float]) -> list[float]:
    """The kappa of each task from which answers are like a baseline's."""
    bounds = [_SENTENCES if bound == TEXTS_ALIKE else bound for bound in alike]
    if name != _EVEN:
        return bounds
    enough = np.bincount(codes["task"], minlength=len(alike)) >= _ENOUGH
    return [min(bound, _EVEN_ALIKE) if many else bound for bound, many in zip(bounds, enough, strict=True)]


def _has_baselines(benchmark: str, revision: str) -> bool:
    """Whether baselines can answer a revision: one whose prompts are not ours has none, nor has an unknown one."""
    bench = find_benchmark(benchmark)
    return revision in bench.revisions and not any(revision in task.named_in for task in bench.tasks)


@lru_cache(maxsize=64)  # all baselines of all revisions: 40 MB
def baseline_codes(name: Baseline, benchmark: str, revision: str, seed: int = 0) -> Codes:
    """The coded answers of a baseline. BuildError REVISION_UNKNOWN."""
    tables = find_benchmark(benchmark).baseline(name, seed, revision)
    answers = in_order({name: table for name, table in tables.items() if name != "judgements"})
    return answer_codes(Submission(baseline_meta(name, benchmark, seed, tables, revision), answers))


def _kappas(ours: Codes, theirs: Codes, tasks: int) -> list[float]:
    """The kappa of each task over the answers that both have."""
    return [kappa(*_both(ours[ours["task"] == task], theirs[theirs["task"] == task])) for task in range(tasks)]


def _share(ours: Codes, theirs: Codes) -> float:
    """The share of equal codes; 0 with few in common."""
    first, second = _both(ours, theirs)
    return float((first == second).mean()) if len(first) >= FEWEST else 0.0


def _both(ours: Codes, theirs: Codes) -> tuple[np.ndarray, np.ndarray]:
    """The codes of the items that both have."""
    if np.array_equal(ours["item"], theirs["item"]):
        return ours["code"], theirs["code"]
    _, first, second = np.intersect1d(ours["item"], theirs["item"], return_indices=True)
    return ours["code"][first], theirs["code"][second]


def _is_constant(codes: Codes) -> bool:
    """Whether a task's answers are all alike, in every task."""
    return all(len(np.unique(codes["code"][codes["task"] == task])) == 1 for task in np.unique(codes["task"]))
