"""What a person sees while a model is run: what is done, how much of it, how fast, and how long it will take."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

LINE_SECONDS = 60.0
"""Between two lines where nobody watches: in a log, a bar would be noise."""


class Rate(ProgressColumn):
    """Steps in a second."""

    def render(self, task: Task) -> Text:
        """`12.3/s`, or nothing before the first steps."""
        return Text(f"{task.speed:.1f}/s" if task.speed else "")


@contextmanager
def watched() -> Iterator[Callable[[str, int, int], None]]:
    """Show progress on standard error while the block runs: a bar on a terminal, else a line now and then."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _Lines()
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        Rate(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True, speed_estimate_period=60) as bar:
        tasks: dict[str, int] = {}

        def tell(what: str, done: int, total: int) -> None:
            name = _name(what)
            if name not in tasks:
                tasks[name] = bar.add_task(name, total=total or None)
            bar.update(tasks[name], completed=done, total=total or None)  # type: ignore[arg-type]

        yield tell


def _name(what: str) -> str:
    """What is being done, without how far it is."""
    return what.partition(" (")[0].partition(",")[0]


class _Lines:
    """A line at the start of each thing that is done, then one a minute."""

    def __init__(self) -> None:
        self._what, self._next, self._began, self._from = "", 0.0, 0.0, 0

    def __call__(self, what: str, done: int, total: int) -> None:
        at, what = time.monotonic(), _name(what)
        if what != self._what:
            self._what, self._began, self._from = what, at, done
        elif at < self._next:
            return
        self._next = at + LINE_SECONDS
        seconds = at - self._began
        rate = (done - self._from) / seconds if seconds > 0 else 0.0
        left = f", {rate:.1f}/s, about {(total - done) / rate / 60:.0f} min left" if rate else ""
        sys.stderr.write(f"{what}: {done} of {total}{left}\n" if total else f"{what}\n")
