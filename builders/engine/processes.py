"""Tools in processes of their own, each on a device: how a build uses several GPUs, or several cores.

One process plans, checks and writes, as ever; it shares the images of every call out to the others, and puts what they
return in order again. An image depends on its prompt and seed alone, so the number of processes changes no byte, and
a build that was stopped may go on with another number.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from traceback import format_exc
from typing import TYPE_CHECKING, Any

from fairspace.builders.engine.tools import AT_ONCE, Box, Labels, Picture, Prompt, Tools
from fairspace.builders.errors import BuildError

if TYPE_CHECKING:
    from PIL.Image import Image

Opener = Callable[[str], Tools]
"""Device -> tools; a function that another process can import, or a partial of one."""
HERE = ("describer",)
"""Roles that stay in the first process: an endpoint waits for the network, not for a device."""
_AGAIN = "again"
"""Sent in place of a list that the other process got last: one set of images is compared with many texts."""


def devices(device: str, processes: int) -> list[str]:
    """The device of each process, by its rank.

    Args:
        device: as the user names it: '' or `cuda` for every GPU there is in turn, several with commas, or one for all.
        processes: how many.
    """
    named = device.split(",")
    if device in ("", "cuda") and processes > 1:
        import torch

        named = [f"cuda:{number}" for number in range(torch.cuda.device_count())] or [device]
    return [named[rank % len(named)] for rank in range(processes)]


@contextmanager
def in_processes(opener: Opener, ranks: Sequence[str], here: Tools) -> Iterator[Tools]:
    """The tools of `here`, whose work is done by a process for each device; they end with the block.

    Args:
        opener: opens the same tools in each process.
        ranks: the device of each.
        here: the tools opened in this process: they give the names, and load nothing.

    Errors: what a tool raises; BuildError TOOL_OUTPUT if a process ends by itself.
    """
    workers = _Workers(opener, ranks)
    try:
        roles = {name: tool for name, tool in _roles(here).items() if tool is not None and name not in HERE}
        remote: dict[str, Any] = {role: _Remote(role, tool.name, workers) for role, tool in roles.items()}
        yield replace(here, **remote, at_once=AT_ONCE * len(ranks))
    finally:
        workers.end()


def _roles(tools: Tools) -> dict[str, Any]:
    return {field.name: getattr(tools, field.name) for field in fields(Tools) if field.name != "at_once"}


class _Workers:
    """The processes, each at the end of a pipe: it ends when this process does, however that ends."""

    def __init__(self, opener: Opener, ranks: Sequence[str]) -> None:
        context = get_context("spawn")  # a process that was forked cannot use a GPU
        self.processes: list[BaseProcess] = []
        self.ends: list[Connection] = []
        for rank, device in enumerate(ranks):
            end, other = context.Pipe()
            process = context.Process(target=_serve, args=(other, opener, device), name=f"tools {rank}", daemon=True)
            process.start()
            other.close()
            self.processes.append(process)
            self.ends.append(end)

    def end(self) -> None:
        for process, end in zip(self.processes, self.ends, strict=True):
            end.close()
            process.terminate()
        for process in self.processes:
            process.join()

    def died(self, rank: int, role: str) -> BuildError:
        self.processes[rank].join(10)
        what = f"process {rank} of {len(self.processes)} ended with {self.processes[rank].exitcode}"
        mend = "look for lack of memory; the same command with fewer --processes goes on where it was"
        return BuildError("TOOL_OUTPUT", f"the {role}", what, "an answer", mend)


class _Remote:
    """A tool of any role whose calls are shared out to the processes."""

    def __init__(self, role: str, name: str, workers: _Workers) -> None:
        self.role, self.name, self._workers = role, name, workers
        self._sent: Sequence[Any] | None = None

    def detect(self, pictures: Sequence[Picture]) -> list[list[Box]]:
        return self._shared("detect", pictures)

    def generate(self, prompts: Sequence[Prompt]) -> list[Image]:
        return self._shared("generate", prompts)

    def edit(self, images: Sequence[Image], instructions: Sequence[Prompt]) -> list[Image]:
        return self._shared("edit", images, instructions)

    def label(self, images: Sequence[Image]) -> list[Labels]:
        return self._shared("label", images)

    def text_similarity(self, images: Sequence[Image], texts: Sequence[str]) -> list[float]:
        return self._shared("text_similarity", images, texts)

    def image_similarity(self, first: Sequence[Image], second: Sequence[Image]) -> list[float]:
        return self._shared("image_similarity", first, second)

    def _shared(self, method: str, *lists: Sequence[Any]) -> list[Any]:
        """What the tools of all processes return, in order: each has a part of the lists, as large as the others'."""
        first, *others = lists
        share = -(-len(first) // len(self._workers.ends))
        parts = [slice(start, start + share) for start in range(0, len(first), max(1, share))]
        known, self._sent = first is self._sent, first
        for rank, part in enumerate(parts):
            of_first = _AGAIN if known else list(first[part])
            self._send(rank, (self.role, method, of_first, [list(other[part]) for other in others]))
        answers = [self._receive(rank) for rank in range(len(parts))]
        if error := next((answer for answer in answers if isinstance(answer, Exception)), None):
            self._sent = None
            raise error
        for part, answer in zip(parts, answers, strict=True):
            if len(answer) != len(first[part]):
                what, expected = f"{len(answer)} answers", f"one for each of {len(first[part])} images"
                raise BuildError("TOOL_OUTPUT", self.name, what, expected, "use another version of the model")
        return [value for answer in answers for value in answer]

    def _send(self, rank: int, call: tuple[Any, ...]) -> None:
        try:
            self._workers.ends[rank].send(call)
        except OSError as error:
            raise self._workers.died(rank, self.role) from error

    def _receive(self, rank: int) -> Any:
        try:
            return self._workers.ends[rank].recv()
        except (EOFError, OSError) as error:
            raise self._workers.died(rank, self.role) from error


def _serve(end: Connection, opener: Opener, device: str) -> None:
    """Answer calls until the other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process is told, and ends this one
    tools: dict[str, Any] | None = None
    last: dict[str, Sequence[Any]] = {}
    while True:
        try:
            role, method, first, others = end.recv()
        except (EOFError, OSError):
            return
        try:
            tools = tools or _roles(opener(device))
            last[role] = last[role] if isinstance(first, str) else first
            answer = getattr(tools[role], method)(last[role], *others)
        except Exception as error:  # noqa: BLE001 -- it is raised again in the first process
            error.add_note(f"In a process of its own:\n{format_exc()}")
            answer = error
        try:
            end.send(answer)
        except OSError:
            return
