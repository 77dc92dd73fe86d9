"""Detectable differences: the smallest ones between two models that a run can show, value by value."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from fairspace.submissions.benchmarks.asks import Stimulus
from fairspace.submissions.benchmarks.power import smallest_difference
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.validity.measured_error import MeasuredError

MEASURED = "as the samples of --like vary, prompts alike for both models; worst: prompts in no way alike"
ALL_ALIKE = "as the prompts of --like vary, whose samples are all alike"
"""Notes of values whose error was measured."""
Chosen = Mapping[str, Sequence[Stimulus]]
"""Task -> the stimuli of it that are run; a task that is not run is not there. An image that is made is one."""


@dataclass(frozen=True)
class Detectable:
    """What a run can show of one value.

    Args:
        value: its name, as in a result.
        family: of values that are shown as one line, such as `AD`.
        task: whose items it rests on.
        n: how many of them.
        of: what `n` counts, such as `images of the smallest group`.
        smallest: difference between two models that is found with 80 % at 5 %, where the assumptions hold; None if no
            difference can be, or the value is undefined.
        worst: the same at the worst spread, and where all answers about a stimulus are alike; None if then no
            difference can be found, or that is unknown.
        floor: what a fair model shows on average by chance; None for a value that chance does not push up.
        unit: of all three, such as `share`.
        note: what is assumed; or why the value is undefined.
        full: `smallest` with all that the data hold; None if this is all of it.
    """

    value: str
    family: str
    task: str
    n: int
    of: str
    smallest: float | None
    worst: float | None = None
    floor: float | None = None
    unit: str = "share"
    note: str = ""
    full: float | None = None

    def to_json(self) -> dict[str, Any]:
        """As JSON data."""
        return asdict(self)


def from_errors(
    value: str,
    family: str,
    task: str,
    n: int,
    of: str,
    error: float,
    worst: float | None = None,
    floor: float | None = None,
    unit: str = "share",
    note: str = "",
    bound: float = math.inf,
) -> Detectable:
    """A detectable difference from the standard errors of the value: the usual one and the worst.

    Two values are never more than `bound` apart (shares: 1): a larger one is no difference that can be found.
    """
    usual = smallest_difference(error)
    most = None if worst is None else smallest_difference(max(worst, error))
    bound = min(bound, 1.0) if unit == "share" else bound
    if usual > bound:
        return Detectable(value, family, task, n, of, None, None, floor, unit, f"too few items; {note}")
    most = None if most is None or most > bound else most
    return Detectable(value, family, task, n, of, usual, most, floor, unit, note)


def empty(value: str, family: str, task: str, n: int, of: str, why: str, unit: str = "share") -> Detectable:
    """A value that the run leaves undefined."""
    return Detectable(value, family, task, n, of, None, unit=unit, note=f"undefined: {why}")


def detectable(
    benchmark: str, chosen: Chosen, whole: Chosen, measured: Sequence[MeasuredError] = ()
) -> tuple[Detectable, ...]:
    """What a run can show of each headline value of the benchmark, in the order of its tasks.

    Args:
        benchmark: its name.
        chosen: what is run.
        whole: the same tasks without a limit.
        measured: the errors of another run, which replace what is assumed.
    """
    power, errors = find_benchmark(benchmark).power, {error.value: error for error in measured}
    values: list[Detectable] = [_as_measured(value, errors.get(value.value)) for value in power(chosen)]
    if all(len(chosen[task]) == len(whole[task]) for task in chosen):
        return tuple(values)
    full = {value.value: _as_measured(value, errors.get(value.value)).smallest for value in power(whole)}
    return tuple(replace(value, full=full[value.value]) for value in values)


def _as_measured(value: Detectable, error: MeasuredError | None) -> Detectable:
    """A value with the error that as many items would have in a measured run."""
    if error is None or not value.n or not error.drawn:
        return value
    scale = math.sqrt(error.n / value.n)
    usual = error.repeated or error.drawn
    note = MEASURED if error.repeated else ALL_ALIKE
    about = value.floor, value.unit, note
    return from_errors(
        value.value, value.family, value.task, value.n, value.of, usual * scale, error.drawn * scale, *about
    )


def families(values: Sequence[Detectable]) -> dict[str, list[Detectable]]:
    """Label -> values that are shown on one line: of one family and task, undefined ones apart from the others."""
    tasks: dict[str, set[str]] = {}
    for value in values:
        tasks.setdefault(value.family, set()).add(value.task)
    by_label: dict[str, list[Detectable]] = {}
    for value in values:
        label = value.family if len(tasks[value.family]) == 1 else f"{value.family}, {value.task}"
        by_label.setdefault(label if value.smallest is not None else f"{label}, undefined", []).append(value)
    return by_label


def counted(stimuli: Sequence[Stimulus], key: Callable[[Stimulus], Any]) -> dict[Any, int]:
    """Key -> requests of the stimuli that have it."""
    asks: dict[Any, int] = {}
    for stimulus in stimuli:
        asks[key(stimulus)] = asks.get(key(stimulus), 0) + stimulus.asks
    return asks
