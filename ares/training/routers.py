"""Stage 3: the routers, from what finished experts say of images that they were not trained on (IRIS, B.2).

Decisions where the paper is silent:

- *Which expert suits an image* where several are right: the one that is right most often. The fast router learns to
  name it with the probability that this expert gives to the right label, so that it is unsure where the expert is;
  where no expert is right, it learns equal probabilities. Below the threshold the pool is asked.
- *When to escalate*: the vote is wrong and the arbiter right. Where the arbiter is a vision-language model that is not
  asked during training, the vote being wrong is enough. Images on which both are right, or both wrong, teach to trust
  the vote, with a smaller weight.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from fairspace.ares.modeling_ares import AresModel
from fairspace.ares.routing_ares import EscalationRouter, cut, meta_features, vote
from fairspace.ares.training.augmentation import augmented, image_seed
from fairspace.ares.training.config import TrainingConfig
from fairspace.ares.training.data import Data
from fairspace.ares.training.fusion import Pool, fusion_values
from fairspace.ares.training.loop import Run, Stage, fit
from fairspace.ares.training.settings import Augmentation, EscalationSettings

_HELD_OUT = 10
"""One image in this many of the routers' images stops the fast router's training."""


def suited(pool: Pool) -> NDArray[np.float32]:
    """What the fast router is to say of images.

    Returns:
        (n, experts) probabilities. The expert that is right, of several the one that is right most often over all
        images (then the first one), has the probability that it gives to the right label, the others share what is
        left; where none is right, all are equal.
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
    run: Run,
    pools: Mapping[str, Pool],
    *,
    heads_only: bool = False,
) -> list[dict[str, Any]]:
    """Train the fast path's router, one head per task on a trunk that all share.

    Args:
        model: with finished experts.
        tasks: whose heads are trained.
        config: of the training.
        data: the images.
        run: devices, folder, seed.
        pools: task -> what its experts say of the images.
        heads_only: whether the trunk stays as it is.

    Returns:
        The metrics of each epoch.
    """
    settings, device, router = config.fast, run.accelerator.device, model.fast.to(model.device)
    router.to(device)
    units = [(str(task["name"]), i) for task in tasks for i in range(len(pools[str(task["name"])].rows))]
    held = np.array([image_seed(run.seed, "fast", name, i) % _HELD_OUT == 0 for name, i in units])
    train, stop = np.flatnonzero(~held), np.flatnonzero(held)
    faces = {str(task["name"]): data.part("routers", str(task["name"])) for task in tasks}
    targets = {name: torch.as_tensor(suited(pool)) for name, pool in pools.items()}
    # Which expert is right was seen on whole images, so they are not cropped here.
    mirrored = Augmentation(scale=(1.0, 1.0), ratio=(1.0, 1.0), flip=config.augmentation.flip)
    heads = torch.nn.ModuleDict({str(task["name"]): router.heads[str(task["name"])] for task in tasks})
    trained = heads if heads_only else router
    if heads_only:
        router.trunk.eval()

    def loss(pixels: torch.Tensor, chosen: Sequence[tuple[str, int]]) -> torch.Tensor:
        with run.accelerator.autocast():
            logits = router(pixels)
        wanted = torch.stack([targets[name][i] for name, i in chosen]).to(device)
        mine = torch.stack([logits[name][place] for place, (name, _) in enumerate(chosen)])
        return functional.cross_entropy(mine.float(), wanted, reduction="none")

    def batches(order: Sequence[NDArray[np.intp]], rows: NDArray[np.intp]) -> Iterator[tuple[Any, torch.Tensor]]:
        """The units of each batch, with their images; each task's images are read in one go."""
        chosen = [[units[rows[i]] for i in batch] for batch in order]
        readers = {
            name: iter(each.batches([_rows(pools[name], part, name) for part in chosen], run.workers))
            for name, each in faces.items()
        }
        for part in chosen:
            images = torch.empty(len(part), 3, config.image_size, config.image_size)
            for name, reader in readers.items():
                mine = [place for place, (task, _) in enumerate(part) if task == name]
                images[mine] = next(reader).float() / 255
            yield part, images.to(device)

    def losses(order: Sequence[NDArray[np.intp]], epoch: int) -> Iterator[torch.Tensor]:
        for part, images in batches(order, train):
            seeds = [image_seed(run.seed, "fast", epoch, name, i) for name, i in part]
            yield loss(augmented(images, seeds, mirrored), part).sum()

    def score() -> dict[str, Any]:
        mine = run.own(np.arange(len(stop)))
        order = [mine[i : i + settings.batch] for i in range(0, len(mine), settings.batch)]
        total = sum((loss(images, part).double().sum() for part, images in batches(order, stop)), torch.zeros(()))
        whole: Any = run.accelerator.reduce(total.to(device), "sum")
        mean = float(whole) / max(1, len(stop))
        return {"score": [-mean], "held_out_loss": mean}

    group = {"params": list(trained.parameters()), "lr": settings.learning_rate}
    name = "fast" if not heads_only else f"fast_{'_'.join(str(task['name']) for task in tasks)}"
    return fit(Stage(name, trained, [group], settings, len(train), losses, score), run)


def _rows(pool: Pool, units: Sequence[tuple[str, int]], name: str) -> NDArray[np.intp]:
    return pool.rows[np.array([i for task, i in units if task == name], dtype=np.intp)]


def train_escalation(
    model: AresModel, task: Mapping[str, Any], pool: Pool, settings: EscalationSettings, seed: int
) -> dict[str, Any]:
    """Train a task's escalation router, one thread, so that the trees are always the same.

    Returns:
        What it learnt from: counts of images, of wrong votes, of those that an arbiter mends, and of those it spoils.
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
