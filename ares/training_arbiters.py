"""Stages 2 and 3: the fusion regressor, and the routers, from what finished experts say (IRIS, B.2).

Decisions where the paper is silent:

- *Which expert suits an image* where several are right: any of them. The fast router maximises the log of the
  probability that it gives to the right experts together; where none is right it is trained towards equal
  probabilities, so that its confidence stays below the threshold and the pool is asked.
- *When to escalate*: the vote is wrong and the arbiter right. Where the arbiter is a vision-language model that is not
  asked during training, the vote being wrong is enough. Images on which both are right, or both wrong, teach to trust
  the vote, with a smaller weight.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ares.augmentation import augmented, image_seed
from ares.modeling_ares import AresModel
from ares.routing_ares import EscalationRouter, cut, meta_features, vote
from ares.training_config import EscalationSettings, TrainingConfig
from ares.training_data import Data, Faces
from ares.training_experts import predictions
from ares.training_loop import Run, Stage, fit, read_state, write_state

_HELD_OUT = 10
"""One image in this many of the routers' images stops the fast router's training."""


@dataclass(frozen=True)
class Pool:
    """What the experts of a task say of some images.

    Args:
        rows: (n,) rows of the part.
        labels: (n,) indices of the right labels.
        probabilities: (n, experts, labels).
        embeddings: (n, width), the experts' concatenated.
    """

    rows: NDArray[np.intp]
    labels: NDArray[np.intp]
    probabilities: NDArray[np.float64]
    embeddings: torch.Tensor

    @property
    def right(self) -> NDArray[np.bool_]:
        """(n, experts): who is right."""
        found: NDArray[np.bool_] = self.probabilities.argmax(axis=2) == self.labels[:, None]
        return found


def pool(model: AresModel, task: Mapping[str, Any], part: str, faces: Faces, rows: NDArray[np.intp], run: Run) -> Pool:
    """Ask all experts of a task about some images of a part; the answer is kept in the run's folder."""
    name, kinds, device = str(task["name"]), model.config.kinds, run.accelerator.device
    file = run.work / f"{name}__{part}.pool.safetensors"
    if not file.is_file():
        width = model.embedding_width(name)
        found = torch.zeros(len(rows), len(kinds) * len(task["labels"]) + width)
        place = {int(row): i for i, row in enumerate(rows)}
        modules = [(model.stems[kind].to(device).eval(), model.expert(name, kind).to(device).eval()) for kind in kinds]

        def forward(pixels: torch.Tensor) -> torch.Tensor:
            said = [expert(stem(pixels)) for stem, expert in modules]
            chances = [logits.float().softmax(-1) for _, logits in said]
            return torch.cat([*chances, *(embedding.float() for embedding, _ in said)], dim=1)

        for mine, out in predictions(forward, faces, rows, 64, run):
            found[torch.as_tensor([place[int(row)] for row in mine], dtype=torch.long)] = out
        whole: Any = run.accelerator.reduce(found.to(device), "sum")
        if run.accelerator.is_main_process:
            write_state(file, {"said": whole}, {})
        run.accelerator.wait_for_everyone()
    said = read_state(file)[0]["said"]
    chances = said[:, : len(kinds) * len(task["labels"])].double().numpy()
    return Pool(
        rows,
        faces.labels[name][rows],
        chances.reshape(len(rows), len(kinds), len(task["labels"])),
        said[:, chances.shape[1] :],
    )


def train_fusion(
    model: AresModel, task: Mapping[str, Any], config: TrainingConfig, data: Data, run: Run
) -> list[dict[str, Any]]:
    """Train a task's fusion regressor on its experts' embeddings: Adam, mean absolute error, targets 0, 1, 2.

    Returns:
        The metrics of each epoch.
    """
    name, settings, device = str(task["name"]), config.fusion, run.accelerator.device
    pools = {part: labelled_pool(model, task, part, data, run) for part in ("train", "stop")}
    embeddings = {part: found.embeddings.to(device) for part, found in pools.items()}
    targets = {part: torch.as_tensor(found.labels, dtype=torch.float32, device=device) for part, found in pools.items()}
    regressor = model.fusion[name].to(device)

    def losses(batches: Sequence[NDArray[np.intp]], epoch: int) -> Iterator[torch.Tensor]:
        for batch in batches:
            rows = torch.as_tensor(batch, device=device)
            yield (regressor(embeddings["train"][rows]) - targets["train"][rows]).abs().sum()

    def score() -> dict[str, Any]:
        error = float((regressor(embeddings["stop"]) - targets["stop"]).abs().double().mean())
        return {"score": [-error], "held_out_error": error}

    rate = {"params": list(regressor.parameters()), "lr": settings.learning_rate}
    rows = len(pools["train"].labels)
    return fit(Stage(f"fusion_{name}", regressor, [rate], settings, rows, losses, score, adam=True), run)


def labelled_pool(
    model: AresModel, task: Mapping[str, Any], part: str, data: Data, run: Run, most: int = 0, generated: bool = False
) -> Pool:
    """The experts' answers to the labelled images of a part.

    Args:
        model: with finished experts.
        task: registry entry.
        part: of the data.
        data: all parts.
        run: devices, folder, seed.
        most: at most so many images, drawn by the seed; 0 for all.
        generated: whether only generated images are wanted.
    """
    name = str(task["name"])
    faces = data.part(part, name)
    keep = faces.labels[name] >= 0
    if generated:
        keep = keep & getattr(faces, "generated", np.ones(len(keep), bool))
    rows = np.flatnonzero(keep)
    if most and len(rows) > most:
        chosen = np.random.RandomState(image_seed(run.seed, "routers", name)).permutation(len(rows))[:most]
        rows = rows[np.sort(chosen)]
    return pool(model, task, part, faces, rows, run)


def fast_loss(logits: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """Minus the log of the probability of the right experts together; where none is, the cross-entropy with equal ones.

    Args:
        logits: (n, experts).
        right: (n, experts), bool.

    Returns:
        (n,).
    """
    log = torch.log_softmax(logits, dim=-1)
    none = ~right.any(-1, keepdim=True)
    # Where no expert is right, all are taken in: a logarithm of zero would spoil the gradient, though it is not used.
    some = torch.logsumexp(log.masked_fill(~(right | none), -torch.inf), dim=-1)
    return torch.where(none.squeeze(-1), -log.mean(-1), -some)


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
    right = {name: torch.as_tensor(found.right) for name, found in pools.items()}
    heads = torch.nn.ModuleDict({str(task["name"]): router.heads[str(task["name"])] for task in tasks})
    trained = heads if heads_only else router
    if heads_only:
        router.trunk.eval()

    def loss(pixels: torch.Tensor, chosen: Sequence[tuple[str, int]]) -> torch.Tensor:
        with run.accelerator.autocast():
            logits = router(pixels)
        known = torch.stack([right[name][i] for name, i in chosen]).to(device)
        mine = torch.stack([logits[name][place] for place, (name, _) in enumerate(chosen)])
        return fast_loss(mine.float(), known)

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
            yield loss(augmented(images, seeds, config.augmentation, 0.0), part).sum()

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


def _rows(found: Pool, units: Sequence[tuple[str, int]], name: str) -> NDArray[np.intp]:
    return found.rows[np.array([i for task, i in units if task == name], dtype=np.intp)]


def train_escalation(
    model: AresModel, task: Mapping[str, Any], found: Pool, settings: EscalationSettings, seed: int
) -> dict[str, Any]:
    """Train a task's escalation router, one thread, so that the trees are always the same.

    Returns:
        What it learnt from: counts of images, of wrong votes, of those that an arbiter mends, and of those it spoils.
    """
    import xgboost

    wrong = vote(found.probabilities) != found.labels
    name = str(task["name"])
    if task["arbiter"] == "fusion":
        regressor = model.fusion[name].cpu().eval()
        with torch.inference_mode():
            values = regressor(found.embeddings).double().numpy()
        arbiter_right = cut(values, task["cuts"]) == found.labels
    else:
        arbiter_right = wrong.copy()
    mends, spoils = wrong & arbiter_right, ~wrong & ~arbiter_right
    weights = np.where(mends | (spoils if task["arbiter"] == "fusion" else ~wrong), 1.0, settings.indifferent)
    matrix = xgboost.DMatrix(meta_features(found.probabilities), label=mends.astype(float), weight=weights)
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
