"""Whether a model answers public items otherwise than hidden ones of the same grammar: a sign of training on them.

Both are asked anew with the same settings, the same ids and as many of them, so that only the draw differs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import sqrt
from pathlib import Path
from typing import Any

from scipy.stats import norm

from fairspace.builders.hidden import PRACTICE
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.checking.submission import read_submission
from fairspace.submissions.errors import UsageError
from fairspace.submissions.format.schema import SubmissionMeta
from fairspace.submissions.results.scoring import score_submission
from fairspace.submissions.running.asking.inspect_task import Chosen
from fairspace.submissions.running.asking.models import ModelSettings
from fairspace.submissions.running.asking.parts import without_images
from fairspace.submissions.running.rerunning.draw import chosen_as
from fairspace.submissions.running.run import run
from fairspace.submissions.running.settings import RunSettings, Tell
from fairspace.submissions.values import Value

RESAMPLES = 200


@dataclass(frozen=True)
class Difference:
    """A raw value on hidden items less that on public ones, with an interval corrected for the number of values."""

    hidden: float
    public: float
    low: float
    high: float

    @property
    def is_certain(self) -> bool:
        """Whether the interval leaves 0 out."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True)
class HiddenComparison:
    """Values on a hidden set beside those on the public items with the same ids.

    Args:
        revision: of the hidden set.
        public: the revision that it is compared with.
        values: raw value -> its difference; those that both have with an error.
    """

    revision: str
    public: str
    values: Mapping[str, Difference]

    @property
    def differing(self) -> tuple[str, ...]:
        """The values of which the difference is certain."""
        return tuple(name for name, difference in self.values.items() if difference.is_certain)

    def to_json(self) -> dict[str, Any]:
        """As JSON data; values that do not differ are counted alone."""
        certain = {name: vars(self.values[name]) for name in self.differing}
        return {"revision": self.revision, "public": self.public, "values": len(self.values), "differing": certain}


def compare_hidden(
    meta: SubmissionMeta,
    model: ModelSettings,
    revision: str,
    out: Path,
    *,
    data: str = "",
    stimuli: int | None = None,
    tell: Tell = lambda what, done, total: None,
) -> HiddenComparison:
    """Ask a model the items of a hidden set and their public likes, and compare the values.

    Args:
        meta: of the submission whose settings are taken.
        model: who is asked; its temperature, top p and tokens are the submission's.
        revision: of the hidden set.
        out: folder of the workings.
        data: where the datasets are, for items with pictures.
        stimuli: of each task at most; None for all.
        tell: progress, as of a run.

    Errors: UsageError if the benchmark has no hidden sets, or the seed of this one is not at hand; others as `run`.
    """
    bench = benchmark(meta.benchmark)
    if meta.benchmark not in PRACTICE or not bench.has_revision(revision) or bench.base_revision(revision) == revision:
        raise UsageError(
            f"{revision!r} is no hidden set of {meta.benchmark}; FAIRSPACE_HIDDEN names the file of seeds."
        )
    public = PRACTICE[meta.benchmark]
    whole = replace(all_tasks(meta, revision, data), limit=stimuli, stratified=stimuli is not None)
    values: dict[str, Mapping[str, Value]] = {}
    for name in (public, revision):
        settings = RunSettings(replace(whole, dataset_revision=name), out / name, model, score=False, again=True)
        run(settings, _naming(tell, name))
        values[name] = score_submission(read_submission(out / name), resamples=RESAMPLES).values
    return HiddenComparison(revision, public, differences(values[revision], values[public]))


def all_tasks(meta: SubmissionMeta, revision: str, data: str) -> Chosen:
    """A run of all tasks of a revision with a submission's settings, without images where no task is about one."""
    bench, stated = benchmark(meta.benchmark), chosen_as(meta, data)
    tasks = [task for task in bench.tasks if task.ask is not None and not task.optional and len(task.ids(revision))]
    spared = "text_only" in bench.options and not any(task.about_image for task in tasks)
    if stated.text_only or spared:
        stated, tasks = replace(stated, text_only=True), without_images(meta.benchmark, tasks)
    return replace(stated, tasks=tuple(task.name for task in tasks))


def _naming(tell: Tell, name: str) -> Tell:
    return lambda what, done, total: tell(f"{what}, {name}", done, total)


def differences(hidden: Mapping[str, Value], public: Mapping[str, Value]) -> dict[str, Difference]:
    """The differences of all values that both have with an error, simultaneous at 95 %."""
    both = [
        (name, value, public[name])
        for name, value in hidden.items()
        if name in public and _error(value) + _error(public[name]) > 0
    ]
    z = float(norm.ppf(1 - 0.025 / max(1, len(both))))
    compared = {}
    for name, one, other in both:
        assert one.value is not None
        assert other.value is not None
        half = z * sqrt(_error(one) ** 2 + _error(other) ** 2)
        less = one.value - other.value
        compared[name] = Difference(one.value, other.value, less - half, less + half)
    return compared


def _error(value: Value) -> float:
    """Its standard error; -inf where there is no number or none of its error, so that no sum of two is above 0."""
    if value.value is None or value.uncertainty is None:
        return float("-inf")
    return value.uncertainty.error
