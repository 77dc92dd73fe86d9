"""The training loop: cosine schedule, early stopping, a checkpoint per epoch.

Epoch e of a stage draws everything from (seed, stage, e); so a killed run resumes from its last finished epoch, and on
a CPU ends with the same weights, to the bit. Within an epoch nothing waits for the device: losses stay there until its
end.
Training images are cropped, flipped and jittered (IRIS, B.2) as one batch on any device, each from its own seed,
independent of batch and workers.
Several processes (`TrainingRun.ranks`) share each batch: a rank takes every N-th row, and gradients are summed, so that
losses differ from those of one process by rounding alone; where a module has dropout, each rank draws its own.
"""

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from fairspace.ares.training.config import Augmentation, Schedule
from fairspace.builders.errors import CodedError

T = TypeVar("T")
_GREY = (0.299, 0.587, 0.114)
_YIQ = np.array(((0.299, 0.587, 0.114), (0.5959, -0.2746, -0.3213), (0.2115, -0.5227, 0.3112)))
_RGB = np.linalg.inv(_YIQ)
_DRAWS = 9


def image_seed(*key: str | int) -> int:
    """A seed of 32 bits that depends on the key alone."""
    return int.from_bytes(hashlib.sha256("/".join(map(str, key)).encode()).digest()[:4], "little")


def drawn(seeds: Sequence[int]) -> torch.Tensor:
    """Draws for `augmented`: (n, 9) numbers in [0, 1), each image's from its own seed."""
    random = np.random.RandomState()  # seeded anew for each image: to make one takes fifty times as long as to seed it
    draws = np.empty((len(seeds), _DRAWS))
    for row, seed in enumerate(seeds):
        random.seed(seed)
        draws[row] = random.random_sample(_DRAWS)
    return torch.from_numpy(draws).float()


def augmented(pixels: torch.Tensor, draws: torch.Tensor, amounts: Augmentation, colour: float = 1.0) -> torch.Tensor:
    """A variant of each image, (n, 3, s, s) in [0, 1]. No step waits for the device.

    `draws`: from `drawn`, on the same device; `colour`: share of the colour jitter to apply.
    """
    return _jittered(_cropped(pixels, draws[:, :5], amounts), draws[:, 5:], amounts, colour)


def _cropped(pixels: torch.Tensor, draws: torch.Tensor, amounts: Augmentation) -> torch.Tensor:
    area = amounts.scale[0] + draws[:, 0] * (amounts.scale[1] - amounts.scale[0])
    low, high = math.log(amounts.ratio[0]), math.log(amounts.ratio[1])
    aspect = (low + draws[:, 1] * (high - low)).exp()
    width, height = (area * aspect).sqrt().clamp(max=1), (area / aspect).sqrt().clamp(max=1)
    x, y = (2 * draws[:, 2] - 1) * (1 - width), (2 * draws[:, 3] - 1) * (1 - height)
    mirror = 1 - 2 * (draws[:, 4] < amounts.flip).float()
    zero = torch.zeros_like(x)
    theta = torch.stack([torch.stack([width * mirror, zero, x], -1), torch.stack([zero, height, y], -1)], dim=1)
    grid = torch.nn.functional.affine_grid(theta, list(pixels.shape), align_corners=False)
    return torch.nn.functional.grid_sample(pixels, grid, padding_mode="border", align_corners=False)


def _jittered(pixels: torch.Tensor, draws: torch.Tensor, amounts: Augmentation, colour: float) -> torch.Tensor:
    limits = [each * colour for each in (amounts.brightness, amounts.contrast, amounts.saturation, amounts.hue)]
    if not any(limits):
        return pixels
    changes = (2 * draws - 1)[:, :, None, None, None].unbind(1)
    brightness, contrast, saturation, hue = (each * limit for each, limit in zip(changes, limits, strict=True))
    pixels = (pixels * (1 + brightness)).clamp_(0, 1)
    mean = _mixed(pixels, _GREY).mean((2, 3), keepdim=True)
    pixels = pixels.sub_(mean).mul_(1 + contrast).add_(mean).clamp_(0, 1)
    grey = _mixed(pixels, _GREY)
    pixels = pixels.sub_(grey).mul_(1 + saturation).add_(grey).clamp_(0, 1)
    if not limits[3]:
        return pixels
    luma, i, q = (_mixed(pixels, row) for row in _YIQ)
    turn = 2 * math.pi * hue
    sine, cosine = turn.sin(), turn.cos()
    turned = torch.cat([luma, i * cosine - q * sine, i * sine + q * cosine], dim=1)
    return torch.cat([_mixed(turned, row) for row in _RGB], dim=1).clamp(0, 1)


def _mixed(pixels: torch.Tensor, weights: Iterable[float]) -> torch.Tensor:
    """The weighted sum of three channels, (n, 1, s, s); plain numbers need no copy to the device."""
    red, green, blue = (float(weight) for weight in weights)
    return red * pixels[:, 0:1] + green * pixels[:, 1:2] + blue * pixels[:, 2:3]


Event = Mapping[str, Any]
Progress = Callable[[Event], None]


@dataclass(frozen=True)
class TrainingRun:
    """The device, folder (`work`) of checkpoints, and settings that all stages of a run share.

    `workers`: processes that decode images; `precision`: `bf16` for gradients in mixed precision, while measurements
    are float32. `rank` of `ranks` processes in a group of torch; rank 0 alone writes.
    """

    device: torch.device
    work: Path
    seed: int
    workers: int
    progress: Progress
    precision: str = "no"
    rank: int = 0
    ranks: int = 1

    def shared(self, make: Callable[[], T]) -> T:
        """The picklable result of rank 0, which alone calls `make`, on every rank, or its CodedError."""
        if self.ranks == 1:
            return make()
        results: list[Any] = [None, None]
        if self.rank == 0:
            try:
                results[0] = make()
            except CodedError as error:
                results[1] = error
        torch.distributed.broadcast_object_list(results, device=self.device)
        if results[1] is not None:
            raise results[1]
        return cast(T, results[0])

    def summed(self, tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """The sums of tensors over all ranks, equal on each."""
        flat = torch.cat([tensor.flatten() for tensor in tensors])
        torch.distributed.all_reduce(flat)
        pieces = torch.split(flat, [tensor.numel() for tensor in tensors])
        return [piece.view_as(tensor) for piece, tensor in zip(pieces, tensors, strict=True)]

    def autocast(self) -> AbstractContextManager[Any]:
        """The precision of training steps."""
        return torch.autocast(self.device.type, torch.bfloat16, enabled=self.precision == "bf16")

    def moved(self, tensor: torch.Tensor) -> torch.Tensor:
        """A tensor on the device, from pinned memory, so that nothing waits for a GPU."""
        if self.device.type == "cuda" and not tensor.is_pinned():
            tensor = tensor.pin_memory()
        return tensor.to(self.device, non_blocking=True)


@dataclass(frozen=True)
class TrainingStage:
    """A stage of training, named as its checkpoint.

    Args:
        module: Trained module; holds the best epoch's weights in the end.
        losses: Module in training, batches of rows, and epoch -> sum of the losses of each batch, on the device.
        score: Metrics on held-out images; `score` is a list of numbers to maximise, the first ones count most.
        adam: Whether the optimiser is Adam instead of AdamW.
    """

    name: str
    module: nn.Module
    groups: Sequence[Mapping[str, Any]]
    schedule: Schedule
    rows: int
    losses: Callable[[nn.Module, Sequence[NDArray[np.intp]], int], Iterator[torch.Tensor]]
    score: Callable[[], dict[str, Any]]
    adam: bool = False


def fit(stage: TrainingStage, run: TrainingRun) -> list[Event]:
    """Train a stage, resume it, or take its finished weights, the best epoch's; return the metrics of each epoch."""
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
    while not _finished(epochs, stage.schedule):
        epoch = len(epochs)
        torch.manual_seed(image_seed(run.seed, stage.name, epoch, run.rank))
        loss = train_epoch(stage, run, epoch, optimiser, scheduler)
        module.eval()
        with torch.inference_mode():
            score = run.shared(stage.score)
        epochs.append({"stage": stage.name, "epoch": epoch, "of": stage.schedule.epochs, "loss": loss, **score})
        if _best(epochs) == epoch:
            best = _copy(module)
        if run.rank == 0:
            state: dict[str, Any] = {"module": module, "optimiser": optimiser, "scheduler": scheduler}
            states = {key: each.state_dict() for key, each in state.items()}
            write_state(file, {"epochs": epochs, "best": best, **states})
        run.progress(epochs[-1])
    module.load_state_dict(best)
    module.eval()
    if run.rank == 0:
        write_state(file, {"epochs": epochs, "best": best})
    return epochs


def make_optimiser(stage: TrainingStage) -> tuple[torch.optim.Optimizer, torch.optim.lr_scheduler.LambdaLR]:
    """A stage's optimiser, and the schedule of its learning rates over all steps."""
    from transformers import get_cosine_schedule_with_warmup

    kind = torch.optim.Adam if stage.adam else torch.optim.AdamW
    groups = [dict(group) for group in stage.groups]
    optimiser = kind(groups, lr=stage.schedule.learning_rate, weight_decay=stage.schedule.weight_decay)
    steps = -(-stage.rows // stage.schedule.batch) * stage.schedule.epochs
    return optimiser, get_cosine_schedule_with_warmup(optimiser, round(steps * stage.schedule.warmup), steps)


def train_epoch(
    stage: TrainingStage, run: TrainingRun, epoch: int, optimiser: torch.optim.Optimizer, scheduler: Any
) -> float:
    """The mean loss of one pass over the training images, of which each rank takes its part of every batch."""
    stage.module.train()
    order = np.random.RandomState(image_seed(run.seed, stage.name, "order", epoch)).permutation(stage.rows)
    batches = [order[start : start + stage.schedule.batch] for start in range(0, stage.rows, stage.schedule.batch)]
    parameters = [parameter for group in optimiser.param_groups for parameter in group["params"]]
    # A rank that the last batch has no row for computes its first one, times 0.
    shares = [rows[run.rank :: run.ranks] if run.rank < len(rows) else rows[:1] for rows in batches]
    sums = []
    for rows, loss in zip(batches, stage.losses(stage.module, shares, epoch), strict=True):
        optimiser.zero_grad()
        mean: Any = loss * ((run.rank < len(rows)) / len(rows))
        mean.backward()
        if run.ranks > 1:
            trained = [parameter for parameter in parameters if parameter.grad is not None]
            for parameter, gradient in zip(trained, run.summed([each.grad for each in trained]), strict=True):
                parameter.grad = gradient
        if stage.schedule.clip:
            nn.utils.clip_grad_norm_(parameters, stage.schedule.clip)
        optimiser.step()
        scheduler.step()
        sums.append(loss.detach().float() * (run.rank < len(rows)))
    total = torch.stack(sums).cpu().double().sum()
    if run.ranks > 1:
        (total,) = run.summed([total.to(run.device)])
    return float(total) / stage.rows


def _finished(epochs: Sequence[Event], schedule: Schedule) -> bool:
    return len(epochs) >= schedule.epochs or (bool(epochs) and len(epochs) - 1 - _best(epochs) >= schedule.patience)


def _best(epochs: Sequence[Event]) -> int:
    return max(range(len(epochs)), key=lambda epoch: (epochs[epoch]["score"], -epoch))


def _copy(module: nn.Module) -> dict[str, torch.Tensor]:
    return {name: value.detach().clone() for name, value in module.state_dict().items()}


def write_state(file: Path, state: Any) -> None:
    """Write tensors, numbers and texts atomically."""
    beside = file.with_suffix(".writing")
    torch.save(state, beside)
    beside.replace(file)


def read_state(file: Path) -> Any:
    """Read a file of `write_state`; it can build nothing but tensors, numbers and texts."""
    return torch.load(file, map_location="cpu", weights_only=True)
