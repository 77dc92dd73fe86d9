"""One loop for everything in ARES that gradients train: cosine schedule, early stopping, a checkpoint per epoch.

Epoch e of a stage draws everything from (seed, stage, e); so a run that was killed goes on from its last finished
epoch, and on a CPU it ends with the weights of a run that was not, to the bit. Checkpoints are safetensors with the
state as JSON in their header: nothing is pickled.

With several devices (`accelerate launch`), each one takes its share of every batch, and gradients are added up.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from fairspace.ares.training.augmentation import image_seed
from fairspace.ares.training.settings import Schedule

if TYPE_CHECKING:
    from accelerate import Accelerator

Event = Mapping[str, Any]
Progress = Callable[[Event], None]


@dataclass(frozen=True)
class Run:
    """What all stages of a run share.

    Args:
        accelerator: devices and precision.
        work: where checkpoints lie.
        seed: of all draws.
        workers: processes that decode images.
        progress: called with the metrics of each epoch.
    """

    accelerator: Accelerator
    work: Path
    seed: int
    workers: int
    progress: Progress

    def own(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """The rows of a batch that this process takes."""
        return rows[self.accelerator.process_index :: self.accelerator.num_processes]


@dataclass(frozen=True)
class Stage:
    """Something to train.

    Args:
        name: of the stage, and of its checkpoint.
        module: what is trained; keeps the best epoch's weights in the end.
        groups: parameters with their `lr`.
        schedule: epochs, batch, patience, warm-up, weight decay.
        rows: how many training images there are.
        losses: for a list of batches of rows, and the epoch, the sum of the losses of each batch.
        score: metrics on held-out images; `score` is a list of numbers, the first ones count most, to maximise.
        adam: whether the optimiser is Adam instead of AdamW.
    """

    name: str
    module: nn.Module
    groups: Sequence[Mapping[str, Any]]
    schedule: Schedule
    rows: int
    losses: Callable[[Sequence[NDArray[np.intp]], int], Iterator[torch.Tensor]]
    score: Callable[[], dict[str, Any]]
    adam: bool = False


def fit(stage: Stage, run: Run) -> list[dict[str, Any]]:
    """Train a stage, or go on with it, or take its finished weights.

    Returns:
        The metrics of each epoch. The module holds the weights of the best one.
    """
    final, running = run.work / f"{stage.name}.safetensors", run.work / f"{stage.name}.running.safetensors"
    if final.is_file():
        tensors, history = read_state(final)
        stage.module.load_state_dict(tensors)
        stage.module.eval()
        return list(history["epochs"])
    optimiser, scheduler = _optimiser(stage)
    epochs: list[dict[str, Any]] = []
    best = _copy(stage.module)
    if running.is_file():
        tensors, state = read_state(running)
        epochs = state["epochs"]
        best = _part(tensors, "best")
        stage.module.load_state_dict(_part(tensors, "module"))
        _load_optimiser(optimiser, tensors)
        scheduler.load_state_dict(state["scheduler"])
        for group, rate in zip(optimiser.param_groups, scheduler.get_last_lr(), strict=True):
            group["lr"] = rate
    while not _finished(epochs, stage.schedule):
        epoch = len(epochs)
        torch.manual_seed(image_seed(run.seed, stage.name, epoch, run.accelerator.process_index))
        loss = _epoch(stage, run, epoch, optimiser, scheduler)
        stage.module.eval()
        with torch.inference_mode():
            score = stage.score()
        epochs.append({"stage": stage.name, "epoch": epoch, "of": stage.schedule.epochs, "loss": loss, **score})
        if _best(epochs) == epoch:
            best = _copy(stage.module)
        if run.accelerator.is_main_process:
            tensors = {f"module/{name}": value for name, value in stage.module.state_dict().items()}
            tensors |= {f"best/{name}": value for name, value in best.items()} | _optimiser_tensors(optimiser)
            write_state(running, tensors, {"epochs": epochs, "scheduler": scheduler.state_dict()})
        run.accelerator.wait_for_everyone()
        run.progress(epochs[-1])
    stage.module.load_state_dict(best)
    stage.module.eval()
    if run.accelerator.is_main_process:
        write_state(final, best, {"epochs": epochs})
        running.unlink(missing_ok=True)
    run.accelerator.wait_for_everyone()
    return epochs


def _optimiser(stage: Stage) -> tuple[torch.optim.Optimizer, torch.optim.lr_scheduler.LambdaLR]:
    from transformers import get_cosine_schedule_with_warmup

    groups = [dict(group) for group in stage.groups]
    decay = stage.schedule.weight_decay
    kind = torch.optim.Adam if stage.adam else torch.optim.AdamW
    optimiser = kind(groups, lr=stage.schedule.learning_rate, weight_decay=decay)
    steps = -(-stage.rows // stage.schedule.batch) * stage.schedule.epochs
    return optimiser, get_cosine_schedule_with_warmup(optimiser, round(steps * stage.schedule.warmup), steps)


def _epoch(stage: Stage, run: Run, epoch: int, optimiser: torch.optim.Optimizer, scheduler: Any) -> float:
    """One pass over the training images; the mean loss."""
    stage.module.train()
    order = np.random.RandomState(image_seed(run.seed, stage.name, "order", epoch)).permutation(stage.rows)
    batches = [order[start : start + stage.schedule.batch] for start in range(0, stage.rows, stage.schedule.batch)]
    parameters = [parameter for group in optimiser.param_groups for parameter in group["params"]]
    total = torch.zeros((), dtype=torch.float64)
    for rows, loss in zip(batches, stage.losses([run.own(rows) for rows in batches], epoch), strict=True):
        optimiser.zero_grad(set_to_none=False)
        mean: Any = loss / len(rows)
        mean.backward()
        if run.accelerator.num_processes > 1:
            for parameter in parameters:
                if parameter.grad is not None:
                    parameter.grad = run.accelerator.reduce(parameter.grad, "sum")
        nn.utils.clip_grad_norm_(parameters, 1.0)
        optimiser.step()
        scheduler.step()
        total += loss.detach().double().cpu()
    whole: Any = run.accelerator.reduce(total.to(run.accelerator.device), "sum")
    return float(whole) / stage.rows


def _finished(epochs: Sequence[Event], schedule: Schedule) -> bool:
    return len(epochs) >= schedule.epochs or (bool(epochs) and len(epochs) - 1 - _best(epochs) >= schedule.patience)


def _best(epochs: Sequence[Event]) -> int:
    """The first epoch with the best score."""
    return max(range(len(epochs)), key=lambda epoch: (epochs[epoch]["score"], -epoch))


def _copy(module: nn.Module) -> dict[str, torch.Tensor]:
    return {name: value.detach().clone() for name, value in module.state_dict().items()}


def _part(tensors: Mapping[str, torch.Tensor], part: str) -> dict[str, torch.Tensor]:
    prefix = f"{part}/"
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}


def _optimiser_tensors(optimiser: torch.optim.Optimizer) -> dict[str, torch.Tensor]:
    state = optimiser.state_dict()["state"]
    return {f"optimiser/{place}/{name}": value for place, entry in state.items() for name, value in entry.items()}


def _load_optimiser(optimiser: torch.optim.Optimizer, tensors: Mapping[str, torch.Tensor]) -> None:
    """Moments and step counts; the learning rates come from the scheduler."""
    state: dict[int, dict[str, torch.Tensor]] = {}
    for key, value in _part(tensors, "optimiser").items():
        place, _, name = key.partition("/")
        state.setdefault(int(place), {})[name] = value
    optimiser.load_state_dict({"state": state, "param_groups": optimiser.state_dict()["param_groups"]})


def write_state(file: Path, tensors: Mapping[str, torch.Tensor], state: Mapping[str, Any]) -> None:
    """Write tensors with a state as JSON in the header, in one move."""
    from safetensors.torch import save_file

    beside = file.with_suffix(".writing")
    flat = {name: value.detach().cpu().contiguous().clone() for name, value in tensors.items()}
    save_file(flat, beside, metadata={"state": json.dumps(state)})
    beside.replace(file)


def read_state(file: Path) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """What `write_state` wrote."""
    from safetensors import safe_open

    with safe_open(file, framework="pt") as opened:
        tensors = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
        return tensors, json.loads(opened.metadata()["state"])
