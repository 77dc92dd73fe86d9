"""One loop for everything in ARES that gradients train: cosine schedule, early stopping, a checkpoint per epoch.

Epoch e of a stage draws everything from (seed, stage, e); so a run that was killed goes on from its last finished
epoch, and on a CPU it ends with the weights of a run that was not, to the bit. Checkpoints are safetensors with the
state as JSON in their header: nothing is pickled.

Several processes (`fairspace.ares.training.processes`) take one step with the gradient that one process has, up to
rounding: the mean over the whole batch, whether or not the batch can be divided evenly. Between the first and the last
batch of an epoch no process waits for its device: losses stay there until the epoch is over.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from fairspace.ares.training.augmentation import image_seed
from fairspace.ares.training.processes import Event, Run
from fairspace.ares.training.settings import Schedule


@dataclass(frozen=True)
class Stage:
    """Something to train.

    Args:
        name: of the stage, and of its checkpoint.
        module: what is trained; holds the best epoch's weights in the end. Every weight that requires a gradient must
            play a part in every loss, else processes would wait for gradients that never come.
        groups: parameters with their `lr`.
        schedule: epochs, batch, patience, warm-up, weight decay, clipping.
        rows: how many training images there are.
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


def fit(stage: Stage, run: Run) -> list[dict[str, Any]]:
    """Train a stage, or go on with it, or take its finished weights.

    Returns:
        The metrics of each epoch. The module holds the weights of the best one.
    """
    final, running = run.work / f"{stage.name}.safetensors", run.work / f"{stage.name}.running.safetensors"
    if run.has(final):
        tensors, history = read_state(final)
        stage.module.load_state_dict(tensors)
        stage.module.eval()
        return list(history["epochs"])
    optimiser, scheduler = make_optimiser(stage)
    epochs: list[dict[str, Any]] = []
    best = _copy(stage.module)
    if run.has(running):
        tensors, state = read_state(running)
        epochs = state["epochs"]
        best = _part(tensors, "best")
        stage.module.load_state_dict(_part(tensors, "module"))
        _load_optimiser(optimiser, tensors)
        scheduler.load_state_dict(state["scheduler"])
        for group, rate in zip(optimiser.param_groups, scheduler.get_last_lr(), strict=True):
            group["lr"] = rate
    trained = run.parallel(stage.module)
    while not _finished(epochs, stage.schedule):
        epoch = len(epochs)
        torch.manual_seed(image_seed(run.seed, stage.name, epoch, run.accelerator.process_index))
        loss = train_epoch(stage, trained, run, epoch, optimiser, scheduler)
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
    if run.processes > 1:
        run.accelerator.free_memory()
    return epochs


def make_optimiser(stage: Stage) -> tuple[torch.optim.Optimizer, torch.optim.lr_scheduler.LambdaLR]:
    """A stage's optimiser, and the schedule of its learning rates over all steps."""
    from transformers import get_cosine_schedule_with_warmup

    groups = [dict(group) for group in stage.groups]
    decay = stage.schedule.weight_decay
    kind = torch.optim.Adam if stage.adam else torch.optim.AdamW
    optimiser = kind(groups, lr=stage.schedule.learning_rate, weight_decay=decay)
    steps = -(-stage.rows // stage.schedule.batch) * stage.schedule.epochs
    return optimiser, get_cosine_schedule_with_warmup(optimiser, round(steps * stage.schedule.warmup), steps)


def train_epoch(
    stage: Stage, trained: nn.Module, run: Run, epoch: int, optimiser: torch.optim.Optimizer, scheduler: Any
) -> float:
    """One pass over the training images; the mean loss."""
    trained.train()
    order = np.random.RandomState(image_seed(run.seed, stage.name, "order", epoch)).permutation(stage.rows)
    batches = [order[start : start + stage.schedule.batch] for start in range(0, stage.rows, stage.schedule.batch)]
    # A process that gets no image of a short batch takes its first one, which then counts nothing.
    shares = [own if len(own := run.own(rows)) else rows[:1] for rows in batches]
    counts = [float(len(rows) > run.accelerator.process_index) for rows in batches]
    parameters = [parameter for group in optimiser.param_groups for parameter in group["params"]]
    sums = []
    for rows, counted, loss in zip(batches, counts, stage.losses(trained, shares, epoch), strict=True):
        optimiser.zero_grad()
        # Gradients are averaged over processes, so their mean must be that of the batch.
        mean: Any = loss * (counted * run.processes / len(rows))
        mean.backward()
        if stage.schedule.clip:
            nn.utils.clip_grad_norm_(parameters, stage.schedule.clip)
        optimiser.step()
        scheduler.step()
        sums.append(loss.detach().float() * counted)
    whole = torch.stack(sums).cpu().double().sum()
    return float(run.summed(whole.numpy())) / stage.rows


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
