"""The processes and devices of a training run, and what they share.

One process is the plain case. `accelerate launch` and `torchrun` start several, on one machine or on several that see
the same output folder. accelerate connects them (NCCL between GPUs, gloo between CPUs), and DistributedDataParallel
averages their gradients. Of n processes each takes every n-th row of a batch, and reads no other image.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from fairspace.builders.errors import BuildError

if TYPE_CHECKING:
    from accelerate import Accelerator

Event = Mapping[str, Any]
Progress = Callable[[Event], None]
DEVICES = ("cpu", "cuda")
_PATIENCE = timedelta(hours=2)
"""How long processes wait for each other, for example while the first one prepares the data."""


@dataclass(frozen=True)
class Run:
    """What all stages of a run share.

    Args:
        accelerator: process group and device.
        work: where checkpoints lie.
        seed: of all draws.
        workers: processes that decode images, for each process that trains.
        progress: called with the metrics of each epoch, in the first process.
        precision: `bf16` for gradients in mixed precision. Whatever is measured is measured in float32.
        compiler: backend of `torch.compile`, or `no`.
    """

    accelerator: Accelerator
    work: Path
    seed: int
    workers: int
    progress: Progress
    precision: str = "no"
    compiler: str = "no"

    @property
    def device(self) -> torch.device:
        """Where this process trains."""
        device: torch.device = self.accelerator.device
        return device

    @property
    def processes(self) -> int:
        """How many there are."""
        return int(self.accelerator.num_processes)

    def own(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """The rows of a batch that this process takes; none where the batch is smaller than the number of processes."""
        return rows[self.accelerator.process_index :: self.processes]

    def autocast(self) -> AbstractContextManager[Any]:
        """The precision of training steps."""
        return torch.autocast(self.device.type, torch.bfloat16, enabled=self.precision == "bf16")

    def moved(self, tensor: torch.Tensor) -> torch.Tensor:
        """A tensor on the device; from pinned memory, so that this process need not wait for a GPU."""
        if self.device.type == "cuda" and not tensor.is_pinned():
            tensor = tensor.pin_memory()
        return tensor.to(self.device, non_blocking=True)

    def parallel(self, module: nn.Module) -> nn.Module:
        """The module as it takes steps: with the mean of all processes' gradients, and compiled if that is wanted."""
        if self.processes > 1:
            module = self.accelerator.prepare_model(module)
        return module if self.compiler == "no" else cast(nn.Module, torch.compile(module, backend=self.compiler))

    def summed(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sum of what each process has."""
        if self.processes == 1:
            return numbers
        whole: Any = self.accelerator.reduce(torch.as_tensor(numbers, device=self.device), "sum")
        result: NDArray[np.float64] = whole.cpu().numpy()
        return result

    def has(self, file: Path) -> bool:
        """Whether the first process sees a file: all of them must take the same way."""
        from accelerate.utils import broadcast_object_list

        return bool(broadcast_object_list([file.is_file()])[0])


def opened_accelerator() -> Accelerator:
    """This process' device, and its place among the others.

    Settings of `accelerate config` that would change what is trained (mixed precision, compilation, accumulation) are
    not followed: the configuration of the training decides them.

    Errors: BuildError TRAINING_DEVICES for a device that ARES is not trained on, for processes that do not know of each
    other, and for ways to split a model that this training does not know.
    """
    from accelerate import Accelerator, InitProcessGroupKwargs

    count = int(os.environ.get("WORLD_SIZE", "1"))
    # Without being told, accelerate takes several processes on CPUs for strangers.
    cpu = os.environ.get("ACCELERATE_USE_CPU") == "true" or (count > 1 and not torch.accelerator.is_available())
    accelerator = Accelerator(
        cpu=cpu,
        mixed_precision="no",
        dynamo_backend="no",
        kwargs_handlers=[InitProcessGroupKwargs(timeout=_PATIENCE)],
    )
    if accelerator.device.type not in DEVICES:
        mend = "set ACCELERATE_USE_CPU=true to train on the CPU"
        where = f"device {accelerator.device.type}"
        raise BuildError("TRAINING_DEVICES", where, "ARES was never trained on one", " or ".join(DEVICES), mend)
    if accelerator.num_processes != count:
        what = f"WORLD_SIZE says {count} processes, and this one sees {accelerator.num_processes}"
        mend = "start it with `accelerate launch` or `torchrun`; with --cpu where there is no GPU"
        raise BuildError("TRAINING_DEVICES", "the launch", what, "processes that know of each other", mend)
    if (kind := accelerator.distributed_type.value) not in ("NO", "MULTI_CPU", "MULTI_GPU"):
        mend = "start it without FSDP, DeepSpeed and Megatron: ARES fits on every single GPU"
        raise BuildError("TRAINING_DEVICES", "the launch", kind, "data parallel processes", mend)
    return accelerator


@contextmanager
def repeatable(device: torch.device) -> Iterator[None]:
    """Deterministic kernels on a CPU; leaves the caller's random numbers and settings as they were."""
    strict = torch.are_deterministic_algorithms_enabled()
    with torch.random.fork_rng([device] if device.type == "cuda" else []):
        # On a GPU some operations of the backbones have no deterministic form.
        torch.use_deterministic_algorithms(device.type == "cpu" or strict)
        try:
            yield
        finally:
            torch.use_deterministic_algorithms(strict)
