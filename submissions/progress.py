"""Progress bars on standard error for anything that may take over two seconds; silent where nobody watches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn


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


@contextmanager
def progress(description: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """Show a bar while the block runs; the block calls what it is given with the number of steps just done."""
    with _bar() as bar:
        task = bar.add_task(description, total=total)
        yield lambda steps: bar.update(task, advance=steps)


@contextmanager
def reported(description: str) -> Iterator[Callable[[str, int, int], None]]:
    """Show a bar while the block runs; the block calls what it is given with what it does, how far, and of how much."""
    with _bar() as bar:
        task = bar.add_task(description, total=None)
        yield lambda what, done, total: bar.update(task, description=what, completed=done, total=total)
