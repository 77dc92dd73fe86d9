"""Stage 1: one expert per task and kind, on top of the stem that the kind's experts share (IRIS, B.2).

CLIP's prototypes begin as its text encoder's embeddings of the task's prompts. In training a prototype is that
embedding (learning at the text encoder's low rate) plus an offset (at the head's rate); afterwards their sum is fixed.
Without an upstream checkpoint the stem is random, so it is trained together with the first task's expert, and frozen
from then on.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pickle import UnpicklingError
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional
from transformers import (
    AutoTokenizer,
    CLIPTextModelWithProjection,
    CLIPVisionModelWithProjection,
    ConvNextModel,
    Dinov2Model,
    EfficientNetModel,
)

from fairspace.ares.experts_ares import Expert, Stem
from fairspace.ares.modeling_ares import AresModel, expert_name
from fairspace.ares.pinned_ares import pinned
from fairspace.ares.training.config import ExpertSettings, TrainingConfig, Upstream
from fairspace.ares.training.data import Data, Faces
from fairspace.ares.training.loop import TrainingRun, TrainingStage, augmented, drawn, image_seed
from fairspace.builders.errors import BuildError

# Upstream checkpoints: a pinned commit or a folder. Two of the paper's exist only as pickles, which are read with
# `weights_only`: it builds tensors and nothing else, and refuses whatever would run code.

CLASSES: dict[str, Any] = {
    "clip": CLIPVisionModelWithProjection,
    "dinov2": Dinov2Model,
    "convnext": ConvNextModel,
    "efficientnet": EfficientNetModel,
}
_RECORDS = ("transformers_version", "architectures", "dtype", "torch_dtype", "model_type", "_name_or_path")
"""Entries of a configuration beside the architecture."""


class Texts(nn.Module):
    """CLIP's text encoder with the prompts of one task."""

    def __init__(self, encoder: nn.Module, tokens: dict[str, torch.Tensor]) -> None:
        super().__init__()
        self.encoder = encoder
        for name, value in tokens.items():
            self.register_buffer(name, value, persistent=False)
        self._names = tuple(tokens)

    def forward(self) -> torch.Tensor:
        """(prompts, width) embeddings of length one."""
        out = self.encoder(**{name: getattr(self, name) for name in self._names}).text_embeds
        return nn.functional.normalize(out, dim=-1)


def backbone_weights(kind: str, upstream: Upstream) -> nn.Module | None:
    """A backbone with its checkpoint's weights; None without a source.

    BuildError TRAINING_DATA if the checkpoint cannot be had, or holds anything but tensors.
    """
    module: nn.Module | None = _load(CLASSES[kind], upstream) if upstream.source else None
    return module


def texts(upstream: Upstream, prompts: Sequence[str]) -> Texts | None:
    """CLIP's text encoder with a task's prompts; None without a source. Errors as in `backbone_weights`."""
    if not upstream.source:
        return None
    encoder = _load(CLIPTextModelWithProjection, upstream)
    tokenizer = _load(AutoTokenizer, upstream)
    tokens = tokenizer(list(prompts), padding=True, return_tensors="pt")
    return Texts(encoder, {name: tokens[name] for name in ("input_ids", "attention_mask")})


def architecture(module: Any) -> dict[str, Any]:
    """The configuration that makes an equal module with random weights."""
    options: dict[str, Any] = {key: value for key, value in module.config.to_diff_dict().items() if key not in _RECORDS}
    return options


def _load(kind: Any, upstream: Upstream) -> Any:
    source, options = upstream.source, pinned(upstream.source, upstream.revision)
    where = f"{upstream.source}@{upstream.revision}" if upstream.revision else upstream.source
    mend = "correct source and revision, and see that the Hub can be reached"
    expected = f"a checkpoint of tensors for {kind.__name__}"
    try:
        if kind is AutoTokenizer:
            return kind.from_pretrained(source, **options)
        module, report = kind.from_pretrained(source, weights_only=True, output_loading_info=True, **options)
    except (OSError, ValueError, RuntimeError, UnpicklingError) as error:
        what = str(error).split("\n", 1)[0]
        raise BuildError("TRAINING_DATA", where, what, expected, mend) from error
    if lacks := sorted(str(key) for key in {*report["missing_keys"], *report["mismatched_keys"]}):
        what = f"it lacks {len(lacks)} weights, first {lacks[0]}"
        raise BuildError("TRAINING_DATA", where, what, expected, mend)
    return module


HEADS = ("head.", "prototypes", "temperature")
"""Weights trained at the head's learning rate."""


def focal_loss(logits: torch.Tensor, labels: torch.Tensor, gamma: float, alpha: float) -> torch.Tensor:
    """(n,) losses -alpha * (1 - p) ** gamma * log p, with p the probability of the right label; gamma 0: cross-entropy.

    `logits`: (n, labels); `labels`: (n,) indices.
    """
    log = functional.log_softmax(logits, dim=-1).gather(1, labels[:, None]).squeeze(1)
    return -alpha * (1 - log.exp()) ** gamma * log


class Trained(nn.Module):
    """An expert in training, with the text encoder of its prototypes and the stem, if they are trained too."""

    def __init__(self, expert: Expert, texts: Texts | None, stem: Stem | None) -> None:
        super().__init__()
        self.expert, self.texts, self.stem = expert, texts, stem
        if stem is not None:
            stem.requires_grad_(True)
            if stem.kind == "dinov2":  # its mask token stands for patches that are hidden, and none is
                stem.embeddings.mask_token.requires_grad_(False)
        if texts is not None:
            nn.init.zeros_(expert.prototypes)

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        """Images in [0, 1] where the stem is trained, else the stem's output -> (n, labels) logits."""
        hidden = pixels if self.stem is None else self.stem(pixels)
        changed = {} if self.texts is None else {"prototypes": self.expert.prototypes + self.texts()}
        logits: torch.Tensor = torch.func.functional_call(self.expert, changed, (hidden,))[1]
        return logits

    def settle(self) -> None:
        """Freeze the stem, and fix the expert's prototypes."""
        if self.stem is not None:
            self.stem.requires_grad_(False)
        if self.texts is not None:
            with torch.no_grad():
                self.expert.prototypes.add_(self.texts())
            self.texts = None


def expert_stage(
    model: AresModel,
    kind: str,
    task: Mapping[str, Any],
    config: TrainingConfig,
    data: Data,
    run: TrainingRun,
    texts: Texts | None,
    *,
    with_stem: bool,
) -> TrainingStage:
    """The stage that trains one expert of the model, and with `with_stem` its stem, in place; `Trained.settle` ends it.

    Metrics have a confusion matrix over the held-out images (rows: true, columns: predicted).
    """
    settings, name = config.experts[kind], str(task["name"])  # type: ignore[index]
    faces, held_out = data.part("train", name), data.part("stop", name)
    labelled, held = np.flatnonzero(faces.labels[name] >= 0), np.flatnonzero(held_out.labels[name] >= 0)
    device, stem = run.device, model.stems[kind].to(run.device).eval()
    assert isinstance(stem, Stem)
    if texts is not None:
        texts.requires_grad_(bool(settings.text_learning_rate))
    trained = Trained(model.expert(name, kind), texts, stem if with_stem else None).to(device)
    before: nn.Module = nn.Identity() if with_stem else stem
    stage = expert_name(name, kind)
    colour = config.task(name).colour

    def losses(module: nn.Module, batches: Sequence[NDArray[np.intp]], epoch: int) -> Iterator[torch.Tensor]:
        rows = [labelled[batch] for batch in batches]
        for batch, pixels in zip(rows, faces.batches(rows, run.workers), strict=True):
            draws = drawn([image_seed(run.seed, stage, epoch, int(row)) for row in batch])
            labels = run.moved(torch.as_tensor(faces.labels[name][batch]))
            images = augmented(run.moved(pixels).float() / 255, run.moved(draws), config.augmentation, colour)
            with run.autocast():
                with torch.no_grad():
                    features = before(images)
                logits = module(features)
            yield _loss(logits.float(), labels, settings).sum()

    def score() -> dict[str, Any]:
        logits = predictions(lambda images: trained(before(images)), held_out, held, settings.batch, run)
        labels = held_out.labels[name][held]
        confusion = np.zeros((len(task["labels"]),) * 2)
        np.add.at(confusion, (labels, logits.argmax(1).numpy()), 1)
        loss = float(_loss(logits.double(), torch.as_tensor(labels), settings).sum())
        return {**_metrics(confusion, loss), "lr": settings.learning_rate}

    return TrainingStage(stage, trained, _groups(trained, settings), settings, len(labelled), losses, score)


def _groups(trained: Trained, settings: ExpertSettings) -> list[dict[str, Any]]:
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
    forward: Callable[[torch.Tensor], torch.Tensor], faces: Faces, rows: NDArray[np.intp], batch: int, run: TrainingRun
) -> torch.Tensor:
    """Outputs of a module for some rows, (rows, f) on the CPU, in float32, as inference computes them."""
    batches = [rows[start : start + batch] for start in range(0, len(rows), batch)]
    with torch.inference_mode():
        outs = [forward(run.moved(pixels).float() / 255) for pixels in faces.batches(batches, run.workers)]
        return torch.cat(outs).cpu()


def _metrics(confusion: NDArray[np.float64], loss: float) -> dict[str, Any]:
    """Metrics from counts; `score` is the mean recall, then the smaller loss."""
    support, n = confusion.sum(axis=1), max(1.0, float(confusion.sum()))
    recall = float(np.mean(np.diag(confusion)[support > 0] / support[support > 0]))
    return {
        "score": [recall, -loss / n],
        "accuracy": float(np.trace(confusion) / n),
        "held_out_loss": loss / n,
        "confusion": confusion.astype(int).tolist(),
    }
