"""Stages 2, 3 and 5: fusion regressor and routers, from the experts' outputs (IRIS, B.2), and our gate.

The regressor is trained with the mean absolute error on the experts' concatenated embeddings; the routers on images
that the experts were not trained on. Decisions where the paper is silent:
- *The expert for an image* where several are right: the most often right one, with the probability that it gives to the
  right label; where none is right, all with equal probabilities. Below the threshold the pool is asked.
- *When to escalate*: the vote is wrong and the arbiter right; for a vision-language model, which is not asked in
  training, the vote being wrong is enough. Images with both right or both wrong teach to trust the vote, with a smaller
  weight.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional

from fairspace.ares.gate_ares import FACE, OUTCOMES, ImageGate, as_map
from fairspace.ares.modeling_ares import AresModel
from fairspace.ares.rounding_ares import rounded
from fairspace.ares.routing_ares import EscalationRouter, FastRouter, cut, meta_features, vote
from fairspace.ares.training import loop
from fairspace.ares.training.config import Augmentation, EscalationSettings, TrainingConfig
from fairspace.ares.training.data import Data, Faces
from fairspace.ares.training.experts import predictions
from fairspace.ares.training.nonfaces import KINDS, nonface
from fairspace.builders.errors import BuildError


@dataclass(frozen=True)
class Pool:
    """The experts' outputs for some images in a task.

    (n,) `rows` of the part and right `labels`; (n, experts, labels) rounded `probabilities`; (n, width) `embeddings`,
    the experts' concatenated.
    """

    rows: NDArray[np.intp]
    labels: NDArray[np.intp]
    probabilities: NDArray[np.float64]
    embeddings: torch.Tensor

    @property
    def right(self) -> NDArray[np.bool_]:
        """(n, experts): whether each expert is right."""
        correct: NDArray[np.bool_] = self.probabilities.argmax(axis=2) == self.labels[:, None]
        return correct


def pool(
    model: AresModel, task: Mapping[str, Any], part: str, faces: Faces, rows: NDArray[np.intp], run: loop.TrainingRun
) -> Pool:
    """Outputs of all experts of a task for some images of a part, kept in the run's folder."""
    name, kinds = str(task["name"]), model.config.kinds
    file = run.work / f"{name}__{part}.pool"

    def make() -> None:
        if file.is_file():
            return
        modules = [(model.stems[kind], model.expert(name, kind)) for kind in kinds]
        for stem, expert in modules:
            stem.to(run.device).eval()
            expert.to(run.device).eval()

        def forward(pixels: torch.Tensor) -> torch.Tensor:
            outputs = [expert(stem(pixels)) for stem, expert in modules]
            return torch.cat([*(logits.softmax(-1) for _, logits in outputs), *(each for each, _ in outputs)], dim=1)

        loop.write_state(file, predictions(forward, faces, rows, 64, run).float())

    run.shared(make)
    outputs = loop.read_state(file)
    chances = outputs[:, : len(kinds) * len(task["labels"])].numpy()
    return Pool(
        rows,
        faces.labels[name][rows],
        rounded(chances).reshape(len(rows), len(kinds), len(task["labels"])),
        outputs[:, chances.shape[1] :],
    )


def labelled_pool(
    model: AresModel,
    task: Mapping[str, Any],
    part: str,
    data: Data,
    run: loop.TrainingRun,
    most: int = 0,
    generated: bool = False,
) -> Pool:
    """The experts' outputs for the labelled images of a part.

    `most`: most images, drawn by the seed, 0 for all; `generated`: only generated images.
    """
    name = str(task["name"])
    faces = data.part(part, name)
    keep = faces.labels[name] >= 0
    if generated:
        keep = keep & getattr(faces, "generated", np.ones(len(keep), bool))
    rows = np.flatnonzero(keep)
    if most and len(rows) > most:
        places = np.random.RandomState(loop.image_seed(run.seed, "routers", name)).permutation(len(rows))[:most]
        rows = rows[np.sort(places)]
    return pool(model, task, part, faces, rows, run)


def train_fusion(
    model: AresModel, task: Mapping[str, Any], config: TrainingConfig, data: Data, run: loop.TrainingRun
) -> list[loop.Event]:
    """Train a task's fusion regressor on its experts' embeddings, and return each epoch's metrics.

    Adam, mean absolute error, targets 0, 1, 2.
    """
    name, settings, device = str(task["name"]), config.fusion, run.device
    pools = {part: labelled_pool(model, task, part, data, run) for part in ("train", "stop")}
    embeddings = {part: pool.embeddings.to(device) for part, pool in pools.items()}
    targets = {part: torch.as_tensor(pool.labels, dtype=torch.float32, device=device) for part, pool in pools.items()}
    regressor = model.fusion[name].to(device)

    def losses(module: nn.Module, batches: Sequence[NDArray[np.intp]], epoch: int) -> Iterator[torch.Tensor]:
        for batch in batches:
            rows = run.moved(torch.as_tensor(batch))
            yield (module(embeddings["train"][rows]) - targets["train"][rows]).abs().sum()

    def score() -> dict[str, Any]:
        error = float((regressor(embeddings["stop"]) - targets["stop"]).abs().cpu().double().mean())
        return {"score": [-error], "held_out_error": error}

    rate = {"params": list(regressor.parameters()), "lr": settings.learning_rate}
    rows = len(pools["train"].labels)
    return loop.fit(
        loop.TrainingStage(f"fusion_{name}", regressor, [rate], settings, rows, losses, score, adam=True), run
    )


def fusion_values(model: AresModel, task: str, embeddings: torch.Tensor) -> NDArray[np.float64]:
    """The regressor's values of embeddings, on the CPU, rounded."""
    regressor = model.fusion[task].cpu().eval()
    with torch.inference_mode():
        return rounded(regressor(embeddings).numpy())


_HELD_OUT = 10
"""One of the routers' images in this many is held out to stop the fast router early."""
_STATISTICS = 256
"""Images whose statistics normalise the layers of a random trunk."""


def suited(pool: Pool) -> NDArray[np.float32]:
    """(n, experts) target probabilities of the fast router.

    The right expert (of several the most often right one, then the first) has the probability that it gives to the
    right label, the others share the rest; where none is right, all are equal.
    """
    n, experts = pool.right.shape
    order = np.argsort(-pool.right.mean(axis=0), kind="stable")
    first = order[pool.right[:, order].argmax(axis=1)]
    sure = pool.probabilities[np.arange(n), first, pool.labels]
    target = np.repeat((1 - sure[:, None]) / max(experts - 1, 1), experts, axis=1)
    target[np.arange(n), first] = sure
    target[~pool.right.any(axis=1)] = 1 / experts
    return target.astype(np.float32)


def train_fast(
    model: AresModel,
    tasks: Sequence[Mapping[str, Any]],
    config: TrainingConfig,
    data: Data,
    run: loop.TrainingRun,
    pools: Mapping[str, Pool],
    *,
    heads_only: bool,
) -> list[loop.Event]:
    """Train the fast path's router, one head per task on a shared trunk, and return each epoch's metrics.

    `pools`: task -> its experts' outputs; `heads_only`: whether the trunk stays as it is.
    """
    settings, names = config.fast, [str(task["name"]) for task in tasks]
    routed = Routed(model.fast, names, heads_only=heads_only).to(run.device)
    units = [(name, i) for name in names for i in range(len(pools[name].rows))]
    held = np.array([loop.image_seed(run.seed, "fast", name, i) % _HELD_OUT == 0 for name, i in units])
    train, stop = np.flatnonzero(~held), np.flatnonzero(held)
    faces = {name: data.part("routers", name) for name in names}
    targets = {name: torch.as_tensor(suited(pool)) for name, pool in pools.items()}
    # The experts saw whole images, so they are not cropped here.
    mirrored = Augmentation(scale=(1.0, 1.0), ratio=(1.0, 1.0), flip=config.augmentation.flip)

    def loss(module: nn.Module, pixels: torch.Tensor, pairs: Sequence[tuple[str, int]]) -> torch.Tensor:
        wanted = run.moved(torch.stack([targets[name][i] for name, i in pairs]))
        heads = run.moved(torch.tensor([names.index(name) for name, _ in pairs]))
        logits = module(pixels)[torch.arange(len(pairs), device=pixels.device), heads]
        return functional.cross_entropy(logits.float(), wanted, reduction="none")

    def batches(order: Sequence[NDArray[np.intp]], rows: NDArray[np.intp]) -> Iterator[tuple[Any, torch.Tensor]]:
        """The units of each batch, with their images; each task's images are read in one go."""
        pairs = [[units[rows[i]] for i in batch] for batch in order]
        readers = {
            name: iter(each.batches([_rows(pools[name], part, name) for part in pairs], run.workers))
            for name, each in faces.items()
        }
        for part in pairs:
            images = torch.empty(len(part), 3, config.image_size, config.image_size, dtype=torch.uint8)
            for name, reader in readers.items():
                mine = [place for place, (task, _) in enumerate(part) if task == name]
                images[mine] = next(reader)
            yield part, run.moved(images).float() / 255

    def losses(module: nn.Module, order: Sequence[NDArray[np.intp]], epoch: int) -> Iterator[torch.Tensor]:
        for part, images in batches(order, train):
            draws = run.moved(loop.drawn([loop.image_seed(run.seed, "fast", epoch, name, i) for name, i in part]))
            with run.autocast():
                each = loss(module, loop.augmented(images, draws, mirrored), part)
            yield each.sum()

    def score() -> dict[str, Any]:
        order = [np.arange(len(stop))[i : i + settings.batch] for i in range(0, len(stop), settings.batch)]
        sums = [loss(routed, images, part).sum() for part, images in batches(order, stop)]
        mean = float(torch.stack(sums).cpu().double().sum()) / len(stop) if sums else 0.0
        return {"score": [-mean], "held_out_loss": mean}

    if not heads_only and not settings.source:
        order = [train[:_STATISTICS]]
        routed.measure_statistics(next(images for _, images in batches(order, np.arange(len(units)))))
    group = {"params": [each for each in routed.parameters() if each.requires_grad], "lr": settings.learning_rate}
    name = "fast" if not heads_only else f"fast_{'_'.join(names)}"
    history = loop.fit(loop.TrainingStage(name, routed, [group], settings, len(train), losses, score), run)
    model.fast.requires_grad_(True)
    return history


class Routed(nn.Module):
    """The fast router while some heads are trained, and the trunk if it is.

    Batch normalisation keeps the checkpoint's statistics, or those of the first training images for a random trunk, so
    outputs are independent of the batch, and training computes the same as inference.
    """

    def __init__(self, router: FastRouter, names: Sequence[str], *, heads_only: bool) -> None:
        super().__init__()
        self.router, self.names, self.heads_only = router, tuple(names), heads_only
        router.requires_grad_(False)
        router.trunk.requires_grad_(not heads_only)
        for name in names:
            router.heads[name].requires_grad_(True)

    def train(self, mode: bool = True) -> Routed:
        """Switch dropout on where the trunk is trained; statistics are never updated."""
        super().train(mode and not self.heads_only)
        for layer in self._normalisations():
            layer.eval()
        return self

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        """(n, 3, s, s) in [0, 1] -> (n, heads, experts) logits."""
        logits = self.router(pixels)
        return torch.stack([logits[name] for name in self.names], dim=1)

    @torch.no_grad()
    def measure_statistics(self, pixels: torch.Tensor) -> None:
        """Take the statistics of these images."""
        self.eval()
        layers = self._normalisations()
        before = [layer.momentum for layer in layers]
        for layer in layers:
            layer.momentum = 1.0
            layer.train()
        self(pixels)
        for layer, momentum in zip(layers, before, strict=True):
            layer.momentum = momentum
            layer.eval()

    def _normalisations(self) -> list[nn.BatchNorm2d]:
        return [layer for layer in self.modules() if isinstance(layer, nn.BatchNorm2d)]


def _rows(pool: Pool, units: Sequence[tuple[str, int]], name: str) -> NDArray[np.intp]:
    return pool.rows[np.array([i for task, i in units if task == name], dtype=np.intp)]


def train_escalation(
    model: AresModel, task: Mapping[str, Any], pool: Pool, settings: EscalationSettings, seed: int
) -> dict[str, Any]:
    """Train a task's escalation router on one thread, for reproducible trees; return counts of its examples.

    Counts: images, wrong votes, votes that an arbiter corrects, and votes that it spoils.
    """
    import xgboost

    wrong = vote(pool.probabilities) != pool.labels
    name = str(task["name"])
    if task["arbiter"] == "fusion":
        arbiter_right = cut(fusion_values(model, name, pool.embeddings), task["cuts"]) == pool.labels
    else:
        arbiter_right = wrong.copy()
    mends, spoils = wrong & arbiter_right, ~wrong & ~arbiter_right
    weights = np.where(mends | (spoils if task["arbiter"] == "fusion" else ~wrong), 1.0, settings.indifferent)
    if settings.balanced and mends.any():
        weights[mends] *= weights[~mends].sum() / weights[mends].sum()
    matrix = xgboost.DMatrix(meta_features(pool.probabilities), label=mends.astype(float), weight=weights)
    options = {
        "objective": "binary:logistic",
        "tree_method": "hist",
        "max_depth": settings.depth,
        "eta": settings.learning_rate,
        "base_score": 0.5,
        "nthread": 1,
        "seed": seed,
    }
    model.escalation[name] = EscalationRouter(xgboost.train(options, matrix, settings.rounds))
    counts = {"images": len(wrong), "wrong_votes": wrong.sum(), "mends": mends.sum()}
    counts |= {"spoils": spoils.sum()} if task["arbiter"] == "fusion" else {}
    return {"stage": f"escalation_{name}", **{key: int(count) for key, count in counts.items()}}


# Stage 5: only the gate's own weights are trained, on a finished stem, from faces and drawn non-faces. The cut lets the
# share `KEPT` of the calibration set's faces pass. The configuration keeps the passing shares of the test set's faces
# and of fresh non-faces of every kind, held-out ones included.

KEPT = 0.99
"""Smallest expected share of passing faces, of all that are like the calibration set's."""
_REACH = 16
"""Inverse of the largest move of a training image, as a part of its size; every other epoch is mirrored."""
_SHRUNK, _INNER = 0.15, (0.7, 0.95)
"""Share of the training images shrunk in an epoch, and range of the factor: small faces are rare."""
_BATCH = 64


def train_gate(model: AresModel, config: TrainingConfig, data: Data, run: loop.TrainingRun) -> list[loop.Event]:
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
    held = np.array([loop.image_seed(run.seed, "gate", row) % _HELD_OUT == 0 for row in range(len(pixels))])
    train, stop, reach = np.flatnonzero(~held), np.flatnonzero(held), pixels.shape[-1] // _REACH
    with torch.no_grad():
        channels, side = as_map(stem(run.moved(pixels[:1]).float() / 255)).shape[1:3]
    torch.manual_seed(loop.image_seed(run.seed, "gate"))
    gate = model.gate = ImageGate(channels, side, settings.hidden).to(run.device)

    def loss(module: nn.Module, rows: NDArray[np.intp], images: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            hidden = stem(run.moved(images).float() / 255)
        wanted = run.moved(targets[torch.as_tensor(rows)])
        return functional.cross_entropy(module(hidden).float(), wanted, reduction="sum")

    def losses(module: nn.Module, batches: Sequence[NDArray[np.intp]], epoch: int) -> Iterator[torch.Tensor]:
        random = np.random.RandomState(loop.image_seed(run.seed, "gate", epoch))
        small = random.random_sample(len(pixels)) < _SHRUNK
        grounds = torch.from_numpy(random.randint(0, 256, (len(pixels), 3)).astype(np.uint8))
        for batch, rows in enumerate(batches):
            random = np.random.RandomState(loop.image_seed(run.seed, "gate", epoch, batch))
            shift = random.randint(-reach, reach + 1, 2)
            images = pixels[torch.as_tensor(train[rows])].roll(shift.tolist(), (2, 3))
            images = images.flip(-1) if epoch % 2 else images
            shrunk = torch.as_tensor(small[train[rows]])
            images[shrunk] = _shrunk(images[shrunk], grounds[torch.as_tensor(train[rows])][shrunk], random)
            yield loss(module, train[rows], images)

    def score() -> dict[str, object]:
        parts = [stop[start : start + _BATCH] for start in range(0, len(stop), _BATCH)]
        sums = [loss(gate, rows, pixels[torch.as_tensor(rows)]) for rows in parts]
        mean = float(torch.stack(sums).cpu().double().sum()) / len(stop)
        return {"score": [-mean], "held_out_loss": mean}

    group = {"params": list(gate.parameters()), "lr": settings.learning_rate}
    history = loop.fit(loop.TrainingStage("gate", gate, [group], settings, len(train), losses, score), run)
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


def _chances(gate: ImageGate, stem: nn.Module, images: torch.Tensor, run: loop.TrainingRun) -> NDArray[np.float64]:
    with torch.inference_mode():
        parts = torch.split(images, _BATCH)
        chances = [gate(stem(run.moved(part).float() / 255)).softmax(-1)[:, 0].cpu() for part in parts]
    return rounded(torch.cat(chances).numpy())


def _faces(data: Data, part: str, task: str, most: int, run: loop.TrainingRun) -> torch.Tensor:
    faces = data.part(part, task)
    order = np.random.RandomState(loop.image_seed(run.seed, "gate", part)).permutation(len(faces.labels[task]))
    (pixels,) = faces.batches([np.sort(order[:most])], 0)
    return pixels


def _nonfaces(kind: str, part: str, images: int, faces: torch.Tensor, run: loop.TrainingRun) -> torch.Tensor:
    pictures = faces.permute(0, 2, 3, 1).numpy()
    drawn = np.stack([nonface(kind, part, number, pictures, seed=run.seed) for number in range(images)])
    return torch.from_numpy(drawn).permute(0, 3, 1, 2)
