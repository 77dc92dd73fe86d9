"""ARES, the adaptive routing expert system: perceived age, gender and skin tone of a person in a generated image.

IRIS, section 3.3, appendices A.4.2 and B. For each task: a fast path router may name one expert whose answer is taken
alone; else all experts answer, and an escalation router decides between their majority vote and an arbiter (a
vision-language model, or a regression over the experts' embeddings).

Labels are perceived presentation, with error. `measurement.json` of a release says how large it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from transformers import PreTrainedModel
from transformers.utils import cached_file

from .configuration_ares import AresConfig
from .experts_ares import Expert, Stem, backbone
from .rounding_ares import near_the_middle, rounded
from .routing_ares import EscalationRouter, FastRouter, FusionRegressor, cut, meta_features, vote

FAST, VOTE, ESCALATED, ABSTAINED = "fast", "vote", "escalated", "abstained"
SINGLE = ("dinov2", "convnext", "clip")
ABLATIONS = {
    "E1": "dinov2",
    "E2": "convnext",
    "E3": "clip",
    "E4": "vote",
    "E5": "l2",
    "E6": "no_vlm",
    "E7": "no_fusion",
    "ARES": "full",
}
"""Row of Tables 11 and 12 -> `AresConfig.ablation`."""


class Arbiter(Protocol):
    """The L2 vision-language model."""

    @property
    def name(self) -> str:
        """Model and revision, or endpoint and model."""

    def answer(self, images: Sequence[Any], task: Mapping[str, Any]) -> list[str | None]:
        """For each PIL image one of the task's `labels`, or None where it gave no usable answer."""


@dataclass
class Observed:
    """What the fast router, the experts and the fusion regressor say of n images in one task.

    Args:
        fast: (n, experts) probabilities that an expert is the one to ask; nan where the fast path is closed.
        probabilities: (n, experts, labels); nan where an expert was not asked.
        value: (n,) regressed from all experts' embeddings; nan where not all were asked, or there is no regressor.
    """

    fast: NDArray[np.float64]
    probabilities: NDArray[np.float64]
    value: NDArray[np.float64]

    @property
    def numbers(self) -> NDArray[np.float64]:
        """(n, f): all of them."""
        return np.column_stack([self.fast, self.probabilities.reshape(len(self.fast), -1), self.value])

    def rounded(self) -> Observed:
        """The same, rounded."""
        return Observed(rounded(self.fast), rounded(self.probabilities), rounded(self.value))

    def replace(self, row: int, other: Observed) -> None:
        """Put what was seen of one image in the place of a row."""
        self.fast[row], self.probabilities[row], self.value[row] = other.fast[0], other.probabilities[0], other.value[0]


@dataclass
class Decided:
    """What was decided for n images in one task.

    Args:
        label: (n,) index into the task's labels, -1 where abstained.
        probability: (n, labels): of the expert on the fast path, else the experts' mean; after a vision-language
            model's answer the mean as well (it gives no probabilities).
        route: n times `fast:<kind>`, `vote`, `escalated:<arbiter>` or `abstained`.
        reason: n times why there is no label, or ''.
        value: (n,) the fusion regressor's value; nan where it did not run.
        escalation: (n,) probability of escalation; nan on the fast path.
    """

    label: NDArray[np.intp]
    probability: NDArray[np.float64]
    route: list[str]
    reason: list[str]
    value: NDArray[np.float64]
    escalation: NDArray[np.float64]


@dataclass(frozen=True)
class Answer:
    """What ARES says of one face.

    Args:
        status: `ok`, `no_face`, `unreadable`, `refused` (there is no image) or `abstained` (no attribute has a label).
        reason: why labels are missing, '' if none are.
        labels: attribute -> label, '' where it abstains.
        probabilities: attribute -> label -> probability.
        routes: task -> route.
        values: task -> regressed value, for tasks with a fusion regressor where it ran.
        face: number of the face in the image.
        faces: how many faces the image has; 1 where no detector is on, 0 where there is no readable image.
    """

    status: str
    reason: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    probabilities: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    routes: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, float] = field(default_factory=dict)
    face: int = 0
    faces: int = 1


class AresModel(PreTrainedModel):
    """The experts, routers and arbiters of all tasks."""

    config_class = AresConfig
    main_input_name = "pixel_values"
    _no_split_modules = ("Expert", "Stem")

    def __init__(self, config: AresConfig) -> None:
        super().__init__(config)
        names = [task["name"] for task in config.tasks]
        self.stems = nn.ModuleDict()
        self.experts = nn.ModuleDict()
        for kind, entry in config.backbones.items():
            shared = int(entry.get("shared", 0))
            self.stems[kind] = Stem(kind, backbone(kind, entry.get("config", {})), shared)
            for task in config.tasks:
                whole = backbone(kind, entry.get("config", {}))
                self.experts[expert_name(task["name"], kind)] = Expert(kind, whole, shared, len(task["labels"]))
        self.fast = FastRouter(config.router.get("config", {}), names, len(config.backbones))
        self.fusion = nn.ModuleDict(
            {
                task["name"]: FusionRegressor(self.embedding_width(task["name"]), list(config.fusion_hidden))
                for task in config.tasks
                if task["arbiter"] == "fusion"
            }
        )
        self.escalation: dict[str, EscalationRouter] = {}
        self.arbiter: Arbiter | None = None
        self.post_init()

    def _init_weights(self, module: nn.Module) -> None:
        """Fill what is in no checkpoint: CLIP's position numbers. All else initialises itself when it is made."""
        numbers = getattr(module, "position_ids", None)
        if isinstance(numbers, torch.Tensor):
            with torch.no_grad():
                numbers.copy_(torch.arange(numbers.shape[-1]).expand(numbers.shape))

    def open_arbiter(self, settings: Mapping[str, Any] | None = None) -> Arbiter | None:
        """Open the vision-language model that escalated images of tasks with the arbiter `vlm` are asked of.

        Loading a model does not open it, because that can take gigabytes, or send images to an endpoint.

        Args:
            settings: instead of `config.vlm`; see `open_vlm`.

        Returns:
            The arbiter, which is `arbiter` from now on; None if no model is named.

        Errors: ArbiterError if it cannot be opened.
        """
        from .vlm_ares import open_vlm

        self.arbiter = open_vlm(self.config.vlm if settings is None else settings)
        return self.arbiter

    def embedding_width(self, task: str) -> int:
        """Width of the experts' concatenated embeddings."""
        return sum(int(self.expert(task, kind).width) for kind in self.config.kinds)

    def expert(self, task: str, kind: str) -> Expert:
        """One expert."""
        chosen = self.experts[expert_name(task, kind)]
        assert isinstance(chosen, Expert)
        return chosen

    def forward(self, pixel_values: torch.Tensor, **_: Any) -> dict[str, torch.Tensor]:
        """Every expert's logits, the router's, and the regressed values: nothing is skipped.

        Args:
            pixel_values: (n, 3, s, s) in [0, 1].

        Returns:
            `logits/<task>/<kind>` (n, labels), `embedding/<task>/<kind>` (n, width), `fast/<task>` (n, experts) and
            `value/<task>` (n,).
        """
        outputs = {f"fast/{task}": logits for task, logits in self.fast(pixel_values).items()}
        for kind in self.config.kinds:
            hidden = self.stems[kind](pixel_values)
            for task in self.config.tasks:
                embedding, logits = self.expert(task["name"], kind)(hidden)
                outputs[f"embedding/{task['name']}/{kind}"] = embedding
                outputs[f"logits/{task['name']}/{kind}"] = logits
        for name, regressor in self.fusion.items():
            joined = torch.cat([outputs[f"embedding/{name}/{kind}"] for kind in self.config.kinds], dim=-1)
            outputs[f"value/{name}"] = regressor(joined)
        return outputs

    @torch.inference_mode()
    def decide(self, pixel_values: torch.Tensor, images: Sequence[Any] | None = None) -> dict[str, Decided]:
        """Route images through fast path, vote and escalation; only what is needed runs.

        Args:
            pixel_values: (n, 3, s, s) in [0, 1].
            images: the n PIL images, for a vision-language arbiter; without them it is not asked.

        Returns:
            Task -> what was decided. Does not depend on how images are put into batches.
        """
        return self.route(self.observe(pixel_values), images)

    @torch.inference_mode()
    def observe(self, pixel_values: torch.Tensor, *, everything: bool = False) -> dict[str, Observed]:
        """What the fast router and the experts say of images, rounded.

        Args:
            pixel_values: (n, 3, s, s) in [0, 1].
            everything: whether all of them run on all images, as `route` needs it under other thresholds and
                ablations than the configuration's.

        Returns:
            Task -> what was seen. Does not depend on how images are put into batches; see `rounding_ares`.
        """
        seen = self._observe(pixel_values, everything, self.config.tile)
        unsure = np.any([near_the_middle(part.numbers).any(axis=1) for part in seen.values()], axis=0)
        for row in np.flatnonzero(unsure).tolist():
            alone = self._observe(pixel_values[row : row + 1], everything, 1)
            for name, part in seen.items():
                part.replace(row, alone[name])
        return {name: part.rounded() for name, part in seen.items()}

    @torch.inference_mode()
    def _observe(self, pixel_values: torch.Tensor, everything: bool, tile: int) -> dict[str, Observed]:
        """The same as the kernels give it, in passes of `tile` images."""
        n, kinds = len(pixel_values), self.config.kinds
        mode = self.config.ablation
        seen = {}
        chances = self._fast(pixel_values, mode, everything, tile)
        needed: dict[str, NDArray[np.bool_]] = {}
        for task in self.config.tasks:
            name, shape = task["name"], (n, len(kinds), len(task["labels"]))
            seen[name] = Observed(chances[name], np.full(shape, np.nan), np.full(n, np.nan))
            kind, sure = self.fast_path(seen[name].rounded())
            needed[name] = np.stack([~sure | (kind == place) | everything for place in range(len(kinds))])
        if mode in SINGLE and not everything:
            for mask in needed.values():
                mask[:] = np.array([kind == mode for kind in kinds])[:, None]
        pooled: dict[str, NDArray[np.bool_]] = {name: np.logical_and.reduce(needed[name]) for name in self.fusion}
        embeddings: dict[str, list[torch.Tensor]] = {name: [] for name in self.fusion}
        for place, kind in enumerate(kinds):
            rows = np.flatnonzero(np.any([mask[place] for mask in needed.values()], axis=0))
            if not len(rows):
                continue
            hidden = _tiled(self.stems[kind], pixel_values[torch.as_tensor(rows, device=pixel_values.device)], tile)[0]
            for task in self.config.tasks:
                name = task["name"]
                mine = np.flatnonzero(needed[name][place][rows])
                if not len(mine):
                    continue
                embedding, logits = _tiled(
                    self.expert(name, kind), hidden[torch.as_tensor(mine, device=hidden.device)], tile
                )
                seen[name].probabilities[rows[mine], place] = logits.float().softmax(-1).double().cpu().numpy()
                if name in pooled:
                    answering = torch.as_tensor(pooled[name][rows[mine]], device=embedding.device)
                    embeddings[name].append(embedding[answering])
        for name, parts in embeddings.items():
            if pooled[name].any():
                value = _tiled(self.fusion[name], torch.cat(parts, dim=-1), tile)[0]
                seen[name].value[pooled[name]] = value.float().double().cpu().numpy()
        return seen

    @torch.inference_mode()
    def route(self, seen: Mapping[str, Observed], images: Sequence[Any] | None = None) -> dict[str, Decided]:
        """Decide from what was observed, under the configuration's thresholds and ablation.

        Args:
            seen: of `observe`, with this configuration or with everything.
            images: as in `decide`.
        """
        return {
            task["name"]: self._decide_task(task, *self.fast_path(seen[task["name"]]), seen[task["name"]], images)
            for task in self.config.tasks
        }

    def _fast(self, pixels: torch.Tensor, mode: str, everything: bool, tile: int) -> dict[str, NDArray[np.float64]]:
        """Task -> (n, experts) probabilities that an expert is the one to ask; nan where the fast path is closed."""
        n, kinds = len(pixels), len(self.config.kinds)
        names = [task["name"] for task in self.config.tasks]
        if not everything and (mode in ("vote", "l2", *SINGLE) or self.config.fast_confidence >= 1):
            return {name: np.full((n, kinds), np.nan) for name in names}
        heads = _tiled(lambda part: tuple(self.fast(part).values()), pixels, tile)
        return {
            name: logits.float().softmax(-1).double().cpu().numpy() for name, logits in zip(names, heads, strict=True)
        }

    def fast_path(self, seen: Observed) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """The expert that the router names per image, and whether it is sure enough."""
        closed = self.config.ablation in ("vote", "l2", *SINGLE) or self.config.fast_confidence >= 1
        if closed:
            return np.zeros(len(seen.fast), np.intp), np.zeros(len(seen.fast), bool)
        return seen.fast.argmax(axis=1), seen.fast.max(axis=1) > self.config.fast_confidence

    def _decide_task(
        self,
        task: Mapping[str, Any],
        fast_kind: NDArray[np.intp],
        fast_sure: NDArray[np.bool_],
        seen: Observed,
        images: Sequence[Any] | None,
    ) -> Decided:
        mode, name, probabilities = self.config.ablation, str(task["name"]), seen.probabilities
        n, kinds = len(probabilities), self.config.kinds
        value, escalation = np.full(n, np.nan), np.full(n, np.nan)
        if mode in SINGLE:
            mean = probabilities[:, kinds.index(mode)]
            return Decided(mean.argmax(axis=1), mean, [f"fast:{mode}"] * n, [""] * n, value, escalation)
        pooled = ~fast_sure
        pool = rounded(np.nan_to_num(probabilities).mean(axis=1))
        mean = np.where(fast_sure[:, None], probabilities[np.arange(n), fast_kind], pool)
        label = mean.argmax(axis=1)
        label[pooled] = vote(probabilities[pooled])
        route = [f"{FAST}:{kinds[kind]}" if sure else VOTE for kind, sure in zip(fast_kind, fast_sure, strict=True)]
        reason = [""] * n
        if mode == "l2":
            escalated = pooled
        elif name in self.escalation and mode != "vote" and self.config.escalation < 1:
            escalation[pooled] = self.escalation[name].probability(meta_features(probabilities[pooled]))
            escalated = pooled & (escalation > self.config.escalation)
        else:
            escalated = np.zeros(n, bool)
        rows = np.flatnonzero(escalated)
        if task["arbiter"] == "fusion" and mode not in ("l2", "no_fusion") and len(rows):
            value[rows] = seen.value[rows]
            label[rows] = cut(value[rows], task["cuts"])
            for row in rows:
                route[row] = f"{ESCALATED}:fusion"
        elif mode == "l2" or (task["arbiter"] == "vlm" and mode != "no_vlm" and self.arbiter and images is not None):
            if self.arbiter is None or images is None:
                said: list[str | None] = [None] * len(rows)
                why = "no vision-language model was asked"
            else:
                said = self.arbiter.answer([images[int(row)] for row in rows], task) if len(rows) else []
                why = "the vision-language model gave no usable answer"
            for row, answer in zip(rows, said, strict=True):
                route[row] = f"{ESCALATED}:vlm" if answer is not None else ABSTAINED
                label[row] = task["labels"].index(answer) if answer is not None else -1
                reason[row] = "" if answer is not None else why
        unsure = (label >= 0) & (mean.max(axis=1) < self.config.minimum_confidence)
        for row in np.flatnonzero(unsure):
            label[row], route[row] = -1, ABSTAINED
            reason[row] = f"confidence below {self.config.minimum_confidence}"
        return Decided(label, mean, route, reason, value, escalation)

    def classify(self, images: Any, **options: Any) -> list[list[Answer]]:
        """The answers for images of any kind, one per face; see `classifying_ares.classify`."""
        from .classifying_ares import classify

        return classify(self, images, **options)

    def answers(self, decided: Mapping[str, Decided]) -> list[Answer]:
        """One `Answer` per image, attribute by attribute."""
        n = len(next(iter(decided.values())).label)
        return [self._answer(decided, row) for row in range(n)]

    def _answer(self, decided: Mapping[str, Decided], row: int) -> Answer:
        labels: dict[str, str] = {}
        probabilities: dict[str, dict[str, float]] = {}
        reasons = []
        for task in self.config.tasks:
            decision = decided[task["name"]]
            index = int(decision.label[row])
            for attribute, names in task["attributes"].items():
                labels[attribute] = names[index] if index >= 0 else ""
                chances: dict[str, float] = {}
                for name, chance in zip(names, decision.probability[row], strict=True):
                    chances[name] = chances.get(name, 0.0) + float(chance)
                probabilities[attribute] = chances
            if decision.reason[row]:
                reasons.append(f"{task['name']}: {decision.reason[row]}")
        return Answer(
            status="ok" if any(labels.values()) else "abstained",
            reason="; ".join(reasons),
            labels=labels,
            probabilities=probabilities,
            routes={name: decision.route[row] for name, decision in decided.items()},
            values={name: float(d.value[row]) for name, d in decided.items() if not np.isnan(d.value[row])},
        )

    def save_pretrained(self, save_directory: str | Path, *args: Any, **kwargs: Any) -> None:
        """Write config, safetensors, each task's escalation router as JSON, and the image processor's settings."""
        from .image_processing_ares import AresImageProcessor

        super().save_pretrained(save_directory, *args, **kwargs)
        AresImageProcessor(image_size=self.config.image_size).save_pretrained(save_directory)
        for task, router in self.escalation.items():
            router.save(Path(save_directory) / escalation_file(task))

    @classmethod
    def from_pretrained(cls, pretrained_model_name_or_path: str | Path, *args: Any, **kwargs: Any) -> AresModel:
        """Load a folder or a Hub repository, with its escalation routers."""
        place = {
            name: kwargs[name] for name in ("revision", "cache_dir", "token", "local_files_only") if name in kwargs
        }
        loaded = super().from_pretrained(pretrained_model_name_or_path, *args, **kwargs)
        model: AresModel = loaded[0] if isinstance(loaded, tuple) else loaded
        for task in model.config.tasks:
            file = cached_file(
                str(pretrained_model_name_or_path),
                escalation_file(task["name"]),
                _raise_exceptions_for_missing_entries=False,
                **place,
            )
            if file is not None:
                model.escalation[task["name"]] = EscalationRouter.load(Path(file))
        return loaded


def expert_name(task: str, kind: str) -> str:
    """The name of an expert's weights."""
    return f"{task}__{kind}"


def escalation_file(task: str) -> str:
    """The file of a task's escalation router."""
    return f"escalation_{task}.json"


def _tiled(module: Callable[..., Any], rows: torch.Tensor, tile: int) -> tuple[torch.Tensor, ...]:
    """Run a module over rows in passes of exactly `tile` rows, the last one filled up with its first row."""
    passes = []
    for start in range(0, len(rows), tile):
        part = rows[start : start + tile]
        short = tile - len(part)
        full = torch.cat([part, part[:1].expand(short, *part.shape[1:])]) if short else part
        out = module(full)
        outs = out if isinstance(out, tuple) else (out,)
        passes.append(tuple(each[: len(part)] for each in outs))
    return tuple(torch.cat(parts) for parts in zip(*passes, strict=True))
