"""One loop for everything in ARES that gradients train: cosine schedule, early stopping, a checkpoint per epoch.

Epoch e of a stage draws everything from (seed, stage, e); so a run that was killed goes on from its last finished
epoch, and on a CPU it ends with the weights of a run that was not, to the bit. Between the first and the last batch of
an epoch nothing waits for the device: losses stay there until the epoch is over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from fairspace.ares.training.augmentation import image_seed
from fairspace.ares.training.settings import Schedule

Event = Mapping[str, Any]
Progress = Callable[[Event], None]


@dataclass(frozen=True)
class Run:
    """The device, folder and settings that all stages of a run share.

    Args:
        device: where it trains.
        work: folder of the checkpoints.
        seed: of all draws.
        workers: processes that decode images.
        progress: called with the metrics of each epoch.
        precision: `bf16` for gradients in mixed precision. Whatever is measured is measured in float32.
        compiler: backend of `torch.compile`, or `no`.
    """

    device: torch.device
    work: Path
    seed: int
    workers: int
    progress: Progress
    precision: str = "no"
    compiler: str = "no"

    def autocast(self) -> AbstractContextManager[Any]:
        """The precision of training steps."""
        return torch.autocast(self.device.type, torch.bfloat16, enabled=self.precision == "bf16")

    def moved(self, tensor: torch.Tensor) -> torch.Tensor:
        """A tensor on the device; from pinned memory, so that nothing waits for a GPU."""
        if self.device.type == "cuda" and not tensor.is_pinned():
            tensor = tensor.pin_memory()
        return tensor.to(self.device, non_blocking=True)

    def compiled(self, module: nn.Module) -> nn.Module:
        """The module as it takes steps: compiled if that is wanted."""
        return module if self.compiler == "no" else cast(nn.Module, torch.compile(module, backend=self.compiler))


@dataclass(frozen=True)
class Stage:
    """Something to train.

    Args:
        name: of the stage, and of its checkpoint.
        module: what is trained; holds the best epoch's weights in the end.
        groups: parameters with their `lr`.
        schedule: epochs, batch, patience, warm-up, weight decay, clipping.
        rows: number of training images.
        losses: for the module as it is trained, a list of batches of rows, and the epoch: the sum of the losses of
            each batch, on the device.
        score: metrics on held-out images; `score` is a list of numbers, the first ones count most, to maximise.
        adam: whether the optimiser is Adam instead of AdamW.
    """

    name: str
    module: nn.Module
    groups: Sequence[Mapping[str, Any]]
    schedule: Schedule
    rows: int
    losses: Callable[[nn.Module, Sequence[NDArray[np.intp]], int], Iterator[torch.Tensor]]
    score: Callable[[], dict[str, Any]]
    adam: bool = False


def fit(stage: Stage, run: Run) -> list[Event]:
    """Train a stage, or go on with it, or take its finished weights.

    Returns:
        The metrics of each epoch. The module holds the weights of the best one.
    """
    file, module = run.work / f"{stage.name}.checkpoint", stage.module
    optimiser, scheduler = make_optimiser(stage)
    epochs: list[Event] = []
    best = _copy(module)
    if file.is_file():
        saved = read_state(file)
        epochs, best = saved["epochs"], saved["best"]
        if not _finished(epochs, stage.schedule):
            module.load_state_dict(saved["module"])
            optimiser.load_state_dict(saved["optimiser"])
            scheduler.load_state_dict(saved["scheduler"])
    trained = run.compiled(module)
    while not _finished(epochs, stage.schedule):
        epoch = len(epochs)
        torch.manual_seed(image_seed(run.seed, stage.name, epoch, 0))
        loss = train_epoch(stage, trained, run, epoch, optimiser, scheduler)
        module.eval()
        with torch.inference_mode():
            score = stage.score()
        epochs.append({"stage": stage.name, "epoch": epoch, "of": stage.schedule.epochs, "loss": loss, **score})
        if _best(epochs) == epoch:
            best = _copy(module)
        state: dict[str, Any] = {"module": module, "optimiser": optimiser, "scheduler": scheduler}
        write_state(file, {"epochs": epochs, "best": best, **{key: each.state_dict() for key, each in state.items()}})
        run.progress(epochs[-1])
    module.load_state_dict(best)
    module.eval()
    write_state(file, {"epochs": epochs, "best": best})
    return epochs


def make_optimiser(stage: Stage) -> tuple[torch.optim.Optimizer, torch.optim.lr_scheduler.LambdaLR]:
    """A stage's optimiser, and the schedule of its learning rates over all steps."""
    from transformers import get_cosine_schedule_with_warmup

    kind = torch.optim.Adam if stage.adam else torch.optim.AdamW
    groups = [dict(group) for group in stage.groups]
    optimiser = kind(groups, lr=stage.schedule.learning_rate, weight_decay=stage.schedule.weight_decay)
    steps = -(-stage.rows // stage.schedule.batch) * stage.schedule.epochs
    return optimiser, get_cosine_schedule_with_warmup(optimiser, round(steps * stage.schedule.warmup), steps)


def train_epoch(
    stage: Stage, trained: nn.Module, run: Run, epoch: int, optimiser: torch.optim.Optimizer, scheduler: Any
) -> float:
    """One pass over the training images; the mean loss."""
    trained.train()
    order = np.random.RandomState(image_seed(run.seed, stage.name, "order", epoch)).permutation(stage.rows)
    batches = [order[start : start + stage.schedule.batch] for start in range(0, stage.rows, stage.schedule.batch)]
    parameters = [parameter for group in optimiser.param_groups for parameter in group["params"]]
    sums = []
    for rows, loss in zip(batches, stage.losses(trained, batches, epoch), strict=True):
        optimiser.zero_grad()
        mean: Any = loss * (1 / len(rows))
        mean.backward()
        if stage.schedule.clip:
            nn.utils.clip_grad_norm_(parameters, stage.schedule.clip)
        optimiser.step()
        scheduler.step()
        sums.append(loss.detach().float())
    return float(torch.stack(sums).cpu().double().sum()) / stage.rows


def _finished(epochs: Sequence[Event], schedule: Schedule) -> bool:
    return len(epochs) >= schedule.epochs or (bool(epochs) and len(epochs) - 1 - _best(epochs) >= schedule.patience)


def _best(epochs: Sequence[Event]) -> int:
    """The first epoch with the best score."""
    return max(range(len(epochs)), key=lambda epoch: (epochs[epoch]["score"], -epoch))


def _copy(module: nn.Module) -> dict[str, torch.Tensor]:
    return {name: value.detach().clone() for name, value in module.state_dict().items()}


def write_state(file: Path, state: Any) -> None:
    """Write tensors, numbers and texts in one move."""
    beside = file.with_suffix(".writing")
    torch.save(state, beside)
    beside.replace(file)


def read_state(file: Path) -> Any:
    """Read what `write_state` wrote; nothing else than tensors, numbers and texts is built of it."""
    return torch.load(file, map_location="cpu", weights_only=True)
