"""Stage 5: the gate, from faces and from drawn non-faces.

Only the gate's own weights are trained, on a finished stem. The cut lets the share `KEPT` of the calibration set's
faces pass, which nothing was trained on. The configuration keeps the passing shares of the test set's faces, and of
fresh non-faces of every kind, held-out ones included.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional

from fairspace.ares.gate_ares import FACE, OUTCOMES, Gate, as_map
from fairspace.ares.modeling_ares import AresModel
from fairspace.ares.rounding_ares import rounded
from fairspace.ares.training.config import TrainingConfig
from fairspace.ares.training.data import Data
from fairspace.ares.training.drawn_nonfaces import KINDS, nonface
from fairspace.ares.training.loop import Event, Run, Stage, fit, image_seed
from fairspace.builders.errors import BuildError

KEPT = 0.99
"""Smallest expected share of passing faces, of all that are like the calibration set's."""
_HELD_OUT = 10
"""One image in this many is held out for early stopping."""
_REACH = 16
"""Inverse of the largest move of a training image, as a part of its size; every other epoch is mirrored."""
_SHRUNK, _INNER = 0.15, (0.7, 0.95)
"""Share of the training images shrunk in an epoch, and range of the factor: small faces are rare."""
_BATCH = 64


def train_gate(model: AresModel, config: TrainingConfig, data: Data, run: Run) -> list[Event]:
    """Train the gate of a model with finished experts, if the configuration wants one; return each epoch's metrics."""
    settings = config.gate
    if settings is None:
        return []
    stem = model.stems[settings.kind].to(run.device).eval()
    task = str(model.config.tasks[0]["name"])
    if unknown := set(settings.without) - set(KINDS):
        raise BuildError("CONFIG_INVALID", "gate.without", ", ".join(sorted(unknown)), ", ".join(KINDS), "name kinds")
    parts = ("train", "routers", "calibration", "test")
    faces = {part: _faces(data, part, task, settings.faces, run) for part in parts}
    trained = torch.cat([faces["train"], faces["routers"]])
    kinds = [kind for kind, about in KINDS.items() if not about.held_out and kind not in settings.without]
    counts = {kind: settings.hard if KINDS[kind].hard else settings.images for kind in kinds}
    drawn = {kind: _nonfaces(kind, "train", count, trained, run) for kind, count in counts.items()}
    pixels = torch.cat([trained, *drawn.values()])
    outcomes = [FACE] * len(trained) + [KINDS[kind].outcome for kind, part in drawn.items() for _ in part]
    targets = torch.tensor([OUTCOMES.index(outcome) for outcome in outcomes])
    held = np.array([image_seed(run.seed, "gate", row) % _HELD_OUT == 0 for row in range(len(pixels))])
    train, stop, reach = np.flatnonzero(~held), np.flatnonzero(held), pixels.shape[-1] // _REACH
    with torch.no_grad():
        channels, side = as_map(stem(run.moved(pixels[:1]).float() / 255)).shape[1:3]
    torch.manual_seed(image_seed(run.seed, "gate"))
    gate = model.gate = Gate(channels, side, settings.hidden).to(run.device)

    def loss(module: nn.Module, rows: NDArray[np.intp], images: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            hidden = stem(run.moved(images).float() / 255)
        wanted = run.moved(targets[torch.as_tensor(rows)])
        return functional.cross_entropy(module(hidden).float(), wanted, reduction="sum")

    def losses(module: nn.Module, batches: Sequence[NDArray[np.intp]], epoch: int) -> Iterator[torch.Tensor]:
        random = np.random.RandomState(image_seed(run.seed, "gate", epoch))
        small = random.random_sample(len(pixels)) < _SHRUNK
        grounds = torch.from_numpy(random.randint(0, 256, (len(pixels), 3)).astype(np.uint8))
        for batch, rows in enumerate(batches):
            random = np.random.RandomState(image_seed(run.seed, "gate", epoch, batch))
            shift = random.randint(-reach, reach + 1, 2)
            images = pixels[torch.as_tensor(train[rows])].roll(shift.tolist(), (2, 3))
            images = images.flip(-1) if epoch % 2 else images
            chosen = torch.as_tensor(small[train[rows]])
            images[chosen] = _shrunk(images[chosen], grounds[torch.as_tensor(train[rows])][chosen], random)
            yield loss(module, train[rows], images)

    def score() -> dict[str, object]:
        parts = [stop[start : start + _BATCH] for start in range(0, len(stop), _BATCH)]
        sums = [loss(gate, rows, pixels[torch.as_tensor(rows)]) for rows in parts]
        mean = float(torch.stack(sums).cpu().double().sum()) / len(stop)
        return {"score": [-mean], "held_out_loss": mean}

    group = {"params": list(gate.parameters()), "lr": settings.learning_rate}
    history = fit(Stage("gate", gate, [group], settings, len(train), losses, score), run)
    cut = kept_cut(_chances(gate, stem, faces["calibration"], run))

    def passing(images: torch.Tensor) -> list[int]:
        return [int((_chances(gate, stem, images, run) >= cut).sum()), len(images)]

    fresh = {kind: passing(_nonfaces(kind, "test", settings.tested, faces["test"], run)) for kind in KINDS}
    about = {"kind": settings.kind, "channels": int(channels), "side": int(side), "hidden": settings.hidden}
    model.config.gate = {**about, "cut": cut, "trained_on": kinds, "kept": passing(faces["test"]), "answered": fresh}
    return history


def kept_cut(chances: NDArray[np.float64]) -> float:
    """The highest cut at which a new face passes with the probability `KEPT` at least.

    It is the k-th smallest of the n held-out probabilities, k = (n + 1)(1 - KEPT) rounded down (split conformal
    prediction: Vovk et al., Algorithmic Learning in a Random World, 2005); with fewer than 99 faces the smallest.
    """
    order = math.floor((len(chances) + 1) * (1 - KEPT))
    return float(np.sort(chances)[max(0, order - 1)])


def _shrunk(images: torch.Tensor, grounds: torch.Tensor, random: np.random.RandomState) -> torch.Tensor:
    side = images.shape[-1]
    inner = round(side * random.uniform(*_INNER))
    down, across = random.randint(side - inner + 1, size=2).tolist()
    places = torch.arange(inner) * side // inner
    whole = grounds[:, :, None, None].expand_as(images).clone()
    whole[:, :, down : down + inner, across : across + inner] = images[:, :, places][..., places]
    return whole


def _chances(gate: Gate, stem: nn.Module, images: torch.Tensor, run: Run) -> NDArray[np.float64]:
    with torch.inference_mode():
        parts = torch.split(images, _BATCH)
        said = [gate(stem(run.moved(part).float() / 255)).softmax(-1)[:, 0].cpu() for part in parts]
    return rounded(torch.cat(said).numpy())


def _faces(data: Data, part: str, task: str, most: int, run: Run) -> torch.Tensor:
    faces = data.part(part, task)
    order = np.random.RandomState(image_seed(run.seed, "gate", part)).permutation(len(faces.labels[task]))
    (pixels,) = faces.batches([np.sort(order[:most])], 0)
    return pixels


def _nonfaces(kind: str, part: str, images: int, faces: torch.Tensor, run: Run) -> torch.Tensor:
    given = faces.permute(0, 2, 3, 1).numpy()
    drawn = np.stack([nonface(kind, part, number, given, seed=run.seed) for number in range(images)])
    return torch.from_numpy(drawn).permute(0, 3, 1, 2)
