"""ARES, the adaptive routing expert system: perceived age, gender and skin tone of a person in a generated image.

IRIS, section 3.3, appendices A.4.2 and B. A task with a fusion regressor (skin tone) is decided by a regression over
the experts' embeddings, on every image. For each other task a fast path router may name one expert whose answer is
taken alone; else all experts answer, and an escalation router decides between their majority vote and a vision-language
model. `deciding_ares` holds the rules.
Labels are perceived presentation, with the error in a release's `measurement.json`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from transformers import PreTrainedModel
from transformers.utils import cached_file

from .configuration_ares import AresConfig
from .deciding_ares import (
    SINGLE,
    Answer,
    Arbiter,
    Decided,
    Observed,
    decide_task,
    fast_path,
    joined,
    refusal,
    regresses,
)
from .experts_ares import Expert, Stem, backbone
from .gate_ares import OUTCOMES, ImageGate
from .rounding_ares import near_the_middle
from .routing_ares import EscalationRouter, FastRouter, FusionRegressor
from .threads_ares import side_by_side, split


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
            for number, task in enumerate(config.tasks):
                whole, name = backbone(kind, entry.get("config", {})), expert_name(task["name"], kind)
                if number and entry.get("own_stems"):
                    self.stems[name] = Stem(kind, whole, shared)
                self.experts[name] = Expert(kind, whole, shared, len(task["labels"]), bool(entry.get("raw")))
        self.fast = FastRouter(config.router.get("config", {}), names, len(config.backbones))
        self.fusion = nn.ModuleDict(
            {
                task["name"]: FusionRegressor(
                    self.embedding_width(task["name"]),
                    list(config.fusion_hidden),
                    getattr(config, "fusion_norm", True),
                )
                for task in config.tasks
                if task["arbiter"] == "fusion"
            }
        )
        self.gate: ImageGate | None = None
        if config.gate:
            self.gate = ImageGate(*(config.gate[name] for name in ("channels", "side", "hidden")))
        self.escalation: dict[str, EscalationRouter] = {}
        self.arbiter: Arbiter | None = None
        self.post_init()

    def _init_weights(self, module: nn.Module) -> None:
        """Fill CLIP's position numbers, which are in no checkpoint; all else initialises itself."""
        numbers = getattr(module, "position_ids", None)
        if isinstance(numbers, torch.Tensor):
            with torch.no_grad():
                numbers.copy_(torch.arange(numbers.shape[-1]).expand(numbers.shape))

    def open_arbiter(self, settings: Mapping[str, Any] | None = None) -> Arbiter | None:
        """Open and return the vision-language model for tasks with the arbiter `vlm`; None if none is named.

        It becomes `arbiter`. Loading a model does not open it, because that can take gigabytes, or send images to an
        endpoint. `settings` replace `config.vlm`; see `open_vlm`. Errors: ArbiterError if it cannot be opened.
        """
        from .vlm_ares import open_vlm

        self.arbiter = open_vlm(self.config.vlm if settings is None else settings)
        return self.arbiter

    def embedding_width(self, task: str) -> int:
        """Width of the experts' concatenated embeddings."""
        return sum(int(self.expert(task, kind).width) for kind in self.config.kinds)

    def expert(self, task: str, kind: str) -> Expert:
        """One expert."""
        expert = self.experts[expert_name(task, kind)]
        assert isinstance(expert, Expert)
        return expert

    def stem(self, task: str, kind: str) -> nn.Module:
        """The stem of an expert: its own one, else that which tasks share."""
        stem = expert_name(task, kind)
        return self.stems[stem if stem in self.stems else kind]

    def _stems(self, kind: str) -> list[nn.Module]:
        """The stems of a kind, each once, the shared one first."""
        return list(dict.fromkeys([self.stems[kind], *(self.stem(t["name"], kind) for t in self.config.tasks)]))

    def forward(self, pixel_values: torch.Tensor, **_: Any) -> dict[str, torch.Tensor]:
        """Every expert's logits, the router's, and the regressed values: nothing is skipped.

        Args:
            pixel_values: (n, 3, s, s) in [0, 1].

        Returns:
            `logits/<task>/<kind>` (n, labels), `embedding/<task>/<kind>` (n, width), `fast/<task>` (n, experts) and
            `value/<task>` (n,); and with a gate `gate` (n, outcomes).
        """
        outputs = {f"fast/{task}": logits for task, logits in self.fast(pixel_values).items()}
        for kind in self.config.kinds:
            hidden = {stem: stem(pixel_values) for stem in self._stems(kind)}
            if self.gate is not None and kind == self.config.gate["kind"]:
                outputs["gate"] = self.gate(hidden[self.stems[kind]])
            for task in self.config.tasks:
                embedding, logits = self.expert(task["name"], kind)(hidden[self.stem(task["name"], kind)])
                outputs[f"embedding/{task['name']}/{kind}"] = embedding
                outputs[f"logits/{task['name']}/{kind}"] = logits
        for name, regressor in self.fusion.items():
            joined = torch.cat([outputs[f"embedding/{name}/{kind}"] for kind in self.config.kinds], dim=-1)
            outputs[f"value/{name}"] = regressor(joined)
        return outputs

    @torch.inference_mode()
    def decide(self, pixel_values: torch.Tensor, images: Sequence[Any] | None = None) -> dict[str, Decided]:
        """Task -> decisions of fast path, vote and escalation; only necessary parts run. Independent of batches.

        `pixel_values`: (n, 3, s, s) in [0, 1]; `images`: the n PIL images, without which no vision-language model is
        asked.
        """
        return self.route(self.observe(pixel_values), images)

    @torch.inference_mode()
    def observe(self, pixel_values: torch.Tensor, *, everything: bool = False) -> dict[str, Observed]:
        """Task -> rounded outputs of the fast router and the experts. Independent of batches; see `rounding_ares`.

        `pixel_values`: (n, 3, s, s) in [0, 1]; `everything`: run all parts on all images, for `route` under other
        thresholds and ablations than the configuration's.
        """
        parts = self._passes(pixel_values, everything, self.config.tile)
        if self.config.tile == 1:  # every image has passed alone already
            return {name: part.rounded() for name, part in parts.items()}
        unsure = np.flatnonzero(np.any([near_the_middle(part.numbers).any(axis=1) for part in parts.values()], axis=0))
        if len(unsure):
            alone = self._passes(pixel_values[torch.as_tensor(unsure, device=pixel_values.device)], everything, 1)
            for name, part in parts.items():
                part.replace(unsure, alone[name])
        return {name: part.rounded() for name, part in parts.items()}

    def _passes(self, pixel_values: torch.Tensor, everything: bool, tile: int) -> dict[str, Observed]:
        """Unrounded observations in passes of `tile` images; on a CPU several run side by side."""
        if tile > 1 and len(pixel_values) <= tile:
            return self._observe(pixel_values, everything, tile)
        observed = side_by_side(lambda part: self._observe(part, everything, tile), split(pixel_values, tile))
        return {name: joined([part[name] for part in observed]) for name in observed[0]}

    @torch.inference_mode()
    def _observe(self, pixel_values: torch.Tensor, everything: bool, tile: int) -> dict[str, Observed]:
        """Unrounded observations, one pass after the other."""
        n, kinds = len(pixel_values), self.config.kinds
        mode = self.config.ablation
        observed = {}
        chances = self._fast(pixel_values, mode, everything, tile)
        gate = np.full((n, len(OUTCOMES) if self.gate is not None else 0), np.nan)
        needed: dict[str, NDArray[np.bool_]] = {}
        for task in self.config.tasks:
            name, shape = task["name"], (n, len(kinds), len(task["labels"]))
            observed[name] = Observed(chances[name], np.full(shape, np.nan), np.full(n, np.nan), gate)
            kind, sure = fast_path(self.config, task, observed[name].rounded())
            needed[name] = np.stack([~sure | (kind == place) | everything for place in range(len(kinds))])
        if mode in SINGLE and not everything:
            for mask in needed.values():
                mask[:] = np.array([kind == mode for kind in kinds])[:, None]
        pooled: dict[str, NDArray[np.bool_]] = {name: np.logical_and.reduce(needed[name]) for name in self.fusion}
        embeddings: dict[str, list[torch.Tensor]] = {name: [] for name in self.fusion}
        for place, kind in enumerate(kinds):
            gated = self.gate is not None and kind == self.config.gate["kind"]
            rows = np.flatnonzero(np.any([mask[place] | gated for mask in needed.values()], axis=0))
            if not len(rows):
                continue
            part = pixel_values[torch.as_tensor(rows, device=pixel_values.device)]
            hidden = {stem: _tiled(stem, part, tile)[0] for stem in self._stems(kind)}
            if gated:
                assert self.gate is not None
                gate[:] = _chances(_tiled(self.gate, hidden[self.stems[kind]], tile)[0])
            for task in self.config.tasks:
                name = task["name"]
                mine = np.flatnonzero(needed[name][place][rows])
                if not len(mine):
                    continue
                own = hidden[self.stem(name, kind)][torch.as_tensor(mine, device=pixel_values.device)]
                embedding, logits = _tiled(self.expert(name, kind), own, tile)
                observed[name].probabilities[rows[mine], place] = _chances(logits)
                if name in pooled:
                    answering = torch.as_tensor(pooled[name][rows[mine]], device=embedding.device)
                    embeddings[name].append(embedding[answering])
        for name, parts in embeddings.items():
            if pooled[name].any():
                value = _tiled(self.fusion[name], torch.cat(parts, dim=-1), tile)[0]
                observed[name].value[pooled[name]] = value.float().double().cpu().numpy()
        return observed

    @torch.inference_mode()
    def route(self, observed: Mapping[str, Observed], images: Sequence[Any] | None = None) -> dict[str, Decided]:
        """Decide from observations, under the configuration's thresholds and ablation.

        `observed`: from `observe`, with this configuration or with everything; `images`: as in `decide`.
        """
        return {
            task["name"]: decide_task(
                self.config,
                task,
                observed[task["name"]],
                self.escalation.get(task["name"]),
                self.arbiter,
                images,
            )
            for task in self.config.tasks
        }

    def _fast(self, pixels: torch.Tensor, mode: str, everything: bool, tile: int) -> dict[str, NDArray[np.float64]]:
        """Task -> (n, experts) probabilities of the best expert; nan where the fast path is closed."""
        n, kinds = len(pixels), len(self.config.kinds)
        names = [task["name"] for task in self.config.tasks]
        closed = mode in ("vote", "l2", *SINGLE) or self.config.fast_confidence >= 1
        if not everything and (closed or all(regresses(self.config, task) for task in self.config.tasks)):
            return {name: np.full((n, kinds), np.nan) for name in names}
        heads = _tiled(lambda part: tuple(self.fast(part).values()), pixels, tile)
        return {name: _chances(logits) for name, logits in zip(names, heads, strict=True)}

    def classify(self, images: Any, **options: Any) -> list[list[Answer]]:
        """The answers for images of any kind, one per face; see `classifying_ares.classify`."""
        from .classifying_ares import classify

        return classify(self, images, **options)

    def answers(self, decided: Mapping[str, Decided]) -> list[Answer]:
        """One `Answer` per image, attribute by attribute."""
        n = len(next(iter(decided.values())).label)
        attributes = [
            (attribute, names, list(dict.fromkeys(names)), decided[task["name"]])
            for task in self.config.tasks
            for attribute, names in task["attributes"].items()
        ]
        chances = {
            attribute: decided[task["name"]].chances(task, attribute)
            for task in self.config.tasks
            for attribute in task["attributes"]
        }
        answers = []
        for row in range(n):
            labels = {
                attribute: names[decision.label[row]] if decision.label[row] >= 0 else ""
                for attribute, names, _, decision in attributes
            }
            routes = {name: decision.route[row] for name, decision in decided.items()}
            refused = {decision.reason[row] for decision in decided.values()} & set(OUTCOMES)
            if refused:
                answers.append(refusal(refused.pop(), labels, routes))
                continue
            reasons = (f"{name}: {decision.reason[row]}" for name, decision in decided.items() if decision.reason[row])
            answers.append(
                Answer(
                    status="ok" if any(labels.values()) else "abstained",
                    reason="; ".join(reasons),
                    labels=labels,
                    probabilities={
                        attribute: dict(zip(unique, chances[attribute][row].tolist(), strict=True))
                        if not np.isnan(chances[attribute][row]).any()
                        else {}
                        for attribute, _, unique, _ in attributes
                    },
                    routes=routes,
                    values={name: float(d.value[row]) for name, d in decided.items() if not np.isnan(d.value[row])},
                )
            )
        return answers

    def save_pretrained(self, save_directory: str | Path, *args: Any, **kwargs: Any) -> None:
        """Write config, safetensors, escalation routers as JSON, the image processor's settings, and the code.

        The code lets `AutoModel.from_pretrained(folder, trust_remote_code=True)` open the folder.
        """
        from .image_processing_ares import AresImageProcessor

        super().save_pretrained(save_directory, *args, **kwargs)
        AresImageProcessor(image_size=self.config.image_size).save_pretrained(save_directory)
        for file in Path(__file__).parent.glob("*_ares.py"):
            (Path(save_directory) / file.name).write_bytes(file.read_bytes())
        for task, router in self.escalation.items():
            router.save(Path(save_directory) / escalation_file(task))

    @classmethod
    def from_pretrained(cls, pretrained_model_name_or_path: str | Path, *args: Any, **kwargs: Any) -> AresModel:
        """Load a folder or a Hub repository, with its escalation routers.

        Weights are copied out of the mapped file: some kernels sum in another order where memory is not aligned as
        torch aligns its own, so that a copy of a model would round other numbers than the model.
        """
        place = {
            name: kwargs[name] for name in ("revision", "cache_dir", "token", "local_files_only") if name in kwargs
        }
        loaded = super().from_pretrained(pretrained_model_name_or_path, *args, **kwargs)
        model: AresModel = loaded[0] if isinstance(loaded, tuple) else loaded
        for tensor in (*model.parameters(), *model.buffers()):
            tensor.data = tensor.data.clone()
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


def _chances(logits: torch.Tensor) -> NDArray[np.float64]:
    chances: NDArray[np.float64] = logits.float().softmax(-1).double().cpu().numpy()
    return chances


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
