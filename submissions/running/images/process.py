"""Which of several processes this one is: `accelerate launch` starts one for each GPU, and they share the slices."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import cache

from fairspace.submissions.errors import UsageError

_PATIENCE = timedelta(days=30)
"""For the others: the first process may label a whole task's images before it comes to the next one."""


@dataclass(frozen=True)
class Process:
    """One of the processes of a run.

    Args:
        index: from 0; process 0 opens the folder and finishes the run.
        count: of all processes.
        device: of torch that is this process's; '' if that is not decided.
        wait: returns when every process has come here.
    """

    index: int = 0
    count: int = 1
    device: str = ""
    wait: Callable[[], None] = lambda: None


@cache
def this_process() -> Process:
    """This one, as accelerate sees it; the only one unless a launcher started several.

    UsageError if the launcher and accelerate do not agree on how many there are: each would do all of the work.
    """
    count = int(os.environ.get("WORLD_SIZE", "1"))
    if count < 2:
        return Process()
    import torch
    from accelerate import PartialState

    # Without being told, accelerate takes processes on CPUs for strangers.
    cpu = os.environ.get("ACCELERATE_USE_CPU") == "true" or not torch.accelerator.is_available()
    state = PartialState(cpu=cpu, timeout=_PATIENCE)
    if state.num_processes != count:
        raise UsageError(
            f"WORLD_SIZE says {count} processes and accelerate {state.num_processes}: use accelerate launch."
        )
    device = "cpu" if state.device.type == "cpu" else str(state.device)
    return Process(state.process_index, state.num_processes, device, state.wait_for_everyone)
