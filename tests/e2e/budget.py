"""What each step of the walk took: time, processor, tokens, and the share of answers that can be read."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass
class Step:
    """One step.

    Args:
        name: of it.
        seconds: by the clock.
        cpu: seconds of processors, with those of programs that ended meanwhile.
        tokens: that came out of the model.
        readable: task -> share of its answers that can be read.
    """

    name: str
    seconds: float = 0.0
    cpu: float = 0.0
    tokens: int = 0
    readable: dict[str, float] = field(default_factory=dict)


@dataclass
class Budget:
    """The steps so far, each printed as it ends."""

    steps: list[Step] = field(default_factory=list)

    @contextmanager
    def step(self, name: str) -> Iterator[Step]:
        """Time what happens inside, and print its line even if it fails."""
        step, began, used = Step(name), time.monotonic(), _cpu()
        try:
            yield step
        finally:
            step.seconds, step.cpu = time.monotonic() - began, _cpu() - used
            self.steps.append(step)
            print(_line(step), flush=True)

    def total(self) -> Step:
        """All steps together."""
        seconds, cpu = sum(step.seconds for step in self.steps), sum(step.cpu for step in self.steps)
        return Step("in all", seconds, cpu, sum(step.tokens for step in self.steps))


def heading() -> str:
    """The head of the table whose lines the steps print."""
    return f"{'step':34}{'seconds':>9}{'CPU s':>8}{'tokens':>8}  readable"


def _line(step: Step) -> str:
    readable = ", ".join(f"{task} {share:.0%}" for task, share in step.readable.items())
    return f"{step.name:34}{step.seconds:9.1f}{step.cpu:8.1f}{step.tokens or '':>8}  {readable}".rstrip()


def _cpu() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
