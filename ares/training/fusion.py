"""Stage 2: the fusion regressor, from what finished experts say (IRIS, B.2).

It is trained with the mean absolute error on the experts' concatenated embeddings, which are extracted once. The
experts' answers are also what the routers are trained on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from fairspace.ares.modeling_ares import AresModel
from fairspace.ares.rounding_ares import rounded
from fairspace.ares.training.augmentation import image_seed
from fairspace.ares.training.config import TrainingConfig
from fairspace.ares.training.data import Data, Faces
from fairspace.ares.training.experts import predictions
from fairspace.ares.training.loop import Event, Run, Stage, fit, read_state, write_state


@dataclass(frozen=True)
class Pool:
    """What the experts of a task say of some images.

    Args:
        rows: (n,) rows of the part.
        labels: (n,) indices of the right labels.
        probabilities: (n, experts, labels), rounded.
        embeddings: (n, width), the experts' concatenated.
    """

    rows: NDArray[np.intp]
    labels: NDArray[np.intp]
    probabilities: NDArray[np.float64]
    embeddings: torch.Tensor

    @property
    def right(self) -> NDArray[np.bool_]:
        """(n, experts): who is right."""
        correct: NDArray[np.bool_] = self.probabilities.argmax(axis=2) == self.labels[:, None]
        return correct


def pool(model: AresModel, task: Mapping[str, Any], part: str, faces: Faces, rows: NDArray[np.intp], run: Run) -> Pool:
    """Ask all experts of a task about some images of a part; the answer is kept in the run's folder."""
    name, kinds = str(task["name"]), model.config.kinds
    file = run.work / f"{name}__{part}.pool"
    if not file.is_file():
        modules = [(model.stems[kind], model.expert(name, kind)) for kind in kinds]
        for stem, expert in modules:
            stem.to(run.device).eval()
            expert.to(run.device).eval()

        def forward(pixels: torch.Tensor) -> torch.Tensor:
            said = [expert(stem(pixels)) for stem, expert in modules]
            return torch.cat([*(logits.softmax(-1) for _, logits in said), *(each for each, _ in said)], dim=1)

        write_state(file, predictions(forward, faces, rows, 64, run).float())
    said = read_state(file)
    chances = said[:, : len(kinds) * len(task["labels"])].numpy()
    return Pool(
        rows,
        faces.labels[name][rows],
        rounded(chances).reshape(len(rows), len(kinds), len(task["labels"])),
        said[:, chances.shape[1] :],
    )


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


def train_fusion(
    model: AresModel, task: Mapping[str, Any], config: TrainingConfig, data: Data, run: Run
) -> list[Event]:
    """Train a task's fusion regressor on its experts' embeddings: Adam, mean absolute error, targets 0, 1, 2.

    Returns:
        The metrics of each epoch.
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
    return fit(Stage(f"fusion_{name}", regressor, [rate], settings, rows, losses, score, adam=True), run)


def fusion_values(model: AresModel, task: str, embeddings: torch.Tensor) -> NDArray[np.float64]:
    """What the regressor makes of embeddings, on the CPU, rounded."""
    regressor = model.fusion[task].cpu().eval()
    with torch.inference_mode():
        return rounded(regressor(embeddings).numpy())
