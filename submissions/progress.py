"""Progress on standard error for anything that may take over two seconds."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

Tell = Callable[[str, int, int], None]
"""Called with activity, number done, and total."""
LINE_SECONDS = 60.0
"""Seconds between two lines where there is no terminal."""


@contextmanager
def progress(description: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """Show a bar while the block runs; the block calls the yielded function with the number of steps just done."""
    with _bar() as bar:
        task = bar.add_task(description, total=total)
        yield lambda steps: bar.update(task, advance=steps)


@contextmanager
def reported(description: str) -> Iterator[Tell]:
    """Show a bar while the block runs; nothing without a terminal."""
    with _bar() as bar:
        task = bar.add_task(description, total=None)
        yield lambda what, done, total: bar.update(task, description=what, completed=done, total=total)


@contextmanager
def watched() -> Iterator[Tell]:
    """Show the progress of a run: a bar on a terminal, else a line now and then."""
    if not Console(stderr=True).is_terminal:
        yield _lines()
        return
    with reported("Starting") as tell:
        yield tell


def _bar() -> Progress:
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


def _lines() -> Tell:
    """Tell progress in lines: one at the start of each activity, or where its count begins anew, then one a minute."""
    doing, line_at, began, at_first, latest = "", 0.0, 0.0, 0, 0

    def tell(what: str, done: int, total: int) -> None:
        nonlocal doing, line_at, began, at_first, latest
        at, what = time.monotonic(), what.partition(" (")[0].partition(",")[0]
        begins, latest = what != doing or done < latest, done
        if begins:
            doing, began, at_first = what, at, done
        elif at < line_at:
            return
        line_at = at + LINE_SECONDS
        minutes = (at - began) / 60
        rate = (done - at_first) / minutes if minutes > 0 else 0.0
        speed = f"{rate / 60:.1f}/s" if rate >= 60 else f"{rate:.1f} a minute"
        left = f", {speed}, about {(total - done) / rate:.0f} min left" if rate else ""
        sys.stderr.write(f"{what}: {done} of {total}{left}\n" if total else f"{what}\n")

    return tell
