"""Stage 1: one expert per task and kind, on top of the stem that the kind's experts share (IRIS, B.2).

CLIP's prototypes begin as its text encoder's embeddings of the task's prompts. While the expert is trained, a prototype
is that embedding plus a learnable offset: the text encoder learns at its low rate, the offset at the head's rate.
Afterwards their sum is the prototype, and the text encoder is no longer needed.

A backbone without an upstream checkpoint has random weights, and nothing in its stem is worth keeping: there the stem
is trained together with the first task's expert, and stays as it is from then on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional

from fairspace.ares.experts_ares import Expert, Stem
from fairspace.ares.modeling_ares import AresModel, expert_name
from fairspace.ares.training.augmentation import augmented, image_seed
from fairspace.ares.training.config import TrainingConfig
from fairspace.ares.training.data import Data, Faces
from fairspace.ares.training.loop import Run, Stage, fit
from fairspace.ares.training.settings import ExpertSettings
from fairspace.ares.training.upstream import Texts

HEADS = ("head.", "prototypes", "temperature")
"""What is trained at the head's learning rate."""


def focal_loss(logits: torch.Tensor, labels: torch.Tensor, gamma: float, alpha: float) -> torch.Tensor:
    """-alpha * (1 - p) ** gamma * log p, with p the probability of the right label.

    Args:
        logits: (n, labels).
        labels: (n,) indices.
        gamma: how much less easy images count; 0 is the cross-entropy.
        alpha: factor.

    Returns:
        (n,).
    """
    log = functional.log_softmax(logits, dim=-1).gather(1, labels[:, None]).squeeze(1)
    return -alpha * (1 - log.exp()) ** gamma * log


class Trained(nn.Module):
    """An expert while it is trained, with the text encoder of its prototypes and the stem, if they are trained too."""

    def __init__(self, expert: Expert, texts: Texts | None, stem: Stem | None) -> None:
        super().__init__()
        self.expert, self.texts, self.stem = expert, texts, stem
        if stem is not None:
            stem.requires_grad_(True)
        if texts is not None:
            nn.init.zeros_(expert.prototypes)

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        """What the stem gave -> (n, labels) logits."""
        if self.texts is None:
            return self.expert(hidden)[1]
        prototypes = {"prototypes": self.expert.prototypes + self.texts()}
        return torch.func.functional_call(self.expert, prototypes, (hidden,))[1]

    def settle(self) -> None:
        """Freeze the stem, and make the sums the expert's prototypes."""
        if self.stem is not None:
            self.stem.requires_grad_(False)
        if self.texts is not None:
            with torch.no_grad():
                self.expert.prototypes.add_(self.texts())
            self.texts = None


def train_expert(
    model: AresModel,
    kind: str,
    task: Mapping[str, Any],
    config: TrainingConfig,
    data: Data,
    run: Run,
    texts: Texts | None,
    *,
    with_stem: bool = False,
) -> list[dict[str, Any]]:
    """Train one expert of the model in place.

    Args:
        model: with upstream weights.
        kind: of the expert.
        task: registry entry.
        config: of the training.
        data: its images.
        run: devices, folder, seed.
        texts: the text encoder with the task's prompts, for CLIP.
        with_stem: whether the stem is trained too.

    Returns:
        The metrics of each epoch, with a confusion matrix over the held-out images (rows: true, columns: predicted).
    """
    settings, name = config.experts[kind], str(task["name"])  # type: ignore[index]
    faces, held_out = data.part("train", name), data.part("stop", name)
    known, held = np.flatnonzero(faces.labels[name] >= 0), np.flatnonzero(held_out.labels[name] >= 0)
    device, stem = run.accelerator.device, model.stems[kind].to(run.accelerator.device).eval()
    assert isinstance(stem, Stem)
    trained = Trained(model.expert(name, kind), texts, stem if with_stem else None).to(device)
    stage = expert_name(name, kind)
    colour = config.task(name).colour

    def losses(batches: Sequence[NDArray[np.intp]], epoch: int) -> Iterator[torch.Tensor]:
        rows = [known[batch] for batch in batches]
        for batch, pixels in zip(rows, faces.batches(rows, run.workers), strict=True):
            seeds = [image_seed(run.seed, stage, epoch, int(row)) for row in batch]
            labels = torch.as_tensor(faces.labels[name][batch], device=device)
            images = augmented(pixels.to(device).float() / 255, seeds, config.augmentation, colour)
            with run.accelerator.autocast():
                with torch.set_grad_enabled(with_stem):
                    hidden = stem(images)
                logits = trained(hidden)
            yield _loss(logits.float(), labels, settings).sum()

    def score() -> dict[str, Any]:
        labels = held_out.labels[name]
        confusion, loss = np.zeros((len(task["labels"]),) * 2, int), 0.0
        for rows, logits in predictions(lambda x: trained(stem(x)), held_out, held, settings.batch, run):
            truth = torch.as_tensor(labels[rows])
            loss += float(_loss(logits, truth, settings).double().sum())
            np.add.at(confusion, (labels[rows], logits.argmax(1).numpy()), 1)
        return {**summed(confusion, loss, run), "lr": settings.learning_rate}

    history = fit(Stage(stage, trained, _groups(trained, settings), settings, len(known), losses, score), run)
    trained.settle()
    return history


def _groups(trained: Trained, settings: ExpertSettings) -> list[dict[str, Any]]:
    """Heads, backbone and text encoder, each at its rate."""
    heads: list[nn.Parameter] = []
    body: list[nn.Parameter] = []
    for name, parameter in trained.expert.named_parameters():
        (heads if name.startswith(HEADS) else body).append(parameter)
    if trained.stem is not None:
        body += list(trained.stem.parameters())
    groups: list[dict[str, Any]] = [
        {"params": heads, "lr": settings.learning_rate},
        {"params": body, "lr": settings.backbone_learning_rate},
    ]
    if trained.texts is not None and settings.text_learning_rate:
        groups.append({"params": list(trained.texts.parameters()), "lr": settings.text_learning_rate})
    return groups


def _loss(logits: torch.Tensor, labels: torch.Tensor, settings: ExpertSettings) -> torch.Tensor:
    if settings.loss == "focal":
        return focal_loss(logits, labels, settings.gamma, settings.alpha)
    return functional.cross_entropy(logits, labels, reduction="none")


def predictions(
    forward: Any, faces: Faces, rows: NDArray[np.intp], batch: int, run: Run
) -> Iterator[tuple[NDArray[np.intp], torch.Tensor]]:
    """What a module says of this process' share of the rows: (rows, output on the CPU as float32)."""
    mine = run.own(rows)
    batches = [mine[start : start + batch] for start in range(0, len(mine), batch)]
    for part, pixels in zip(batches, faces.batches(batches, run.workers), strict=True):
        with torch.inference_mode(), run.accelerator.autocast():
            out = forward(pixels.to(run.accelerator.device).float() / 255)
        yield part, out.float().cpu()


def summed(confusion: NDArray[np.int_], loss: float, run: Run) -> dict[str, Any]:
    """Metrics from the counts of all processes; `score` is the mean recall, ties going to the smaller loss."""
    device = run.accelerator.device
    counts: Any = run.accelerator.reduce(torch.as_tensor(confusion, device=device), "sum")
    whole: Any = run.accelerator.reduce(torch.tensor(loss, dtype=torch.float64, device=device), "sum")
    confusion = counts.cpu().numpy()
    support = confusion.sum(axis=1)
    recall = float(np.mean(np.diag(confusion)[support > 0] / support[support > 0]))
    mean = float(whole) / max(1, int(confusion.sum()))
    accuracy = float(np.trace(confusion) / max(1, confusion.sum()))
    return {
        "score": [recall, -mean],
        "accuracy": accuracy,
        "held_out_loss": mean,
        "confusion": confusion.tolist(),
    }
