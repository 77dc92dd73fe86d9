"""What decides a training run: one TOML file, read strictly.

`ares/configs/paper.toml` holds IRIS' values (B.2), `ares/configs/tiny.toml` a small model that a CPU trains in minutes.
An unknown key, a value of the wrong type, and an upstream checkpoint without a pinned revision are refused before
anything is read or written.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from ares.configuration_ares import AGE_GENDER, BACKBONES, CUTS, ESCALATION, FAST_CONFIDENCE, RACE, ROUTER, SKIN_TONE
from builders.errors import BuildError

CONFIGS = Path(__file__).parent / "configs"
KNOWN_TASKS: dict[str, dict[str, Any]] = {task["name"]: task for task in (AGE_GENDER, SKIN_TONE, RACE)}
_PINNED = re.compile(r"[0-9a-f]{40}")

Share = Field(default=0.0, ge=0, le=1)


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Augmentation(_Strict):
    """How far a training image may differ from its original.

    Args:
        scale: smallest and largest share of the area that a crop keeps.
        ratio: narrowest and widest aspect of a crop.
        flip: probability of a horizontal flip.
        brightness: factors lie within 1 - this and 1 + this.
        contrast: the same.
        saturation: the same.
        hue: largest turn, as a share of the circle of hues.
    """

    scale: tuple[float, float] = (0.8, 1.0)
    ratio: tuple[float, float] = (0.75, 4 / 3)
    flip: float = Share
    brightness: float = Share
    contrast: float = Share
    saturation: float = Share
    hue: float = Field(default=0.0, ge=0, le=0.5)

    @field_validator("scale", "ratio", mode="before")
    @classmethod
    def _pair(cls, value: Any) -> Any:
        return tuple(value) if isinstance(value, list) else value

    @model_validator(mode="after")
    def _ordered(self) -> Augmentation:
        if not 0 < self.scale[0] <= self.scale[1] <= 1:
            raise ValueError("scale must be two shares in (0, 1], the smaller one first")
        if not 0 < self.ratio[0] <= self.ratio[1]:
            raise ValueError("ratio must be two positive numbers, the smaller one first")
        return self


class Upstream(_Strict):
    """Where weights come from: a checkpoint at a pinned revision or in a folder, or `config` alone for random ones.

    Args:
        source: a Hub repository, or a folder with a checkpoint; '' for random weights.
        revision: the full commit hash, 40 hexadecimal digits; not for folders.
        config: the architecture's configuration where there is no source.
    """

    source: str = ""
    revision: str = ""
    config: dict[str, Any] = Field(default_factory=dict)


class Schedule(_Strict):
    """How long, in what steps.

    Args:
        epochs: at most.
        patience: epochs without a better score on held-out images after which it stops.
        batch: images per step, over all devices.
        warmup: share of the steps in which the learning rate rises, before it falls along a cosine.
        learning_rate: of heads, prototypes and temperature, or of everything where there is no backbone.
        weight_decay: of AdamW.
    """

    epochs: int = Field(gt=0)
    patience: int = Field(gt=0)
    batch: int = Field(gt=0)
    warmup: float = Share
    learning_rate: float = Field(gt=0)
    weight_decay: float = Field(default=0.0, ge=0)


class ExpertSettings(Upstream, Schedule):
    """One kind of expert.

    Args:
        shared: leading blocks that stay as they are and are shared between tasks.
        backbone_learning_rate: of the blocks that are trained.
        text_learning_rate: of CLIP's text encoder, which makes the prototypes; 0 freezes it.
        loss: `focal`, or `cross_entropy`.
        gamma: of the focal loss.
        alpha: of the focal loss.
    """

    shared: int = Field(ge=0)
    backbone_learning_rate: float = Field(gt=0)
    text_learning_rate: float = Field(default=0.0, ge=0)
    loss: Literal["focal", "cross_entropy"] = "cross_entropy"
    gamma: float = Field(default=2.0, ge=0)
    alpha: float = Field(default=1.0, gt=0)


class FastSettings(Upstream, Schedule):
    """The fast path's router."""


class FusionSettings(Schedule):
    """The fusion regressor; `hidden` are the widths of its hidden layers."""

    hidden: list[int] = Field(min_length=1)


class EscalationSettings(_Strict):
    """The escalation router.

    Args:
        rounds: boosted trees.
        depth: of a tree.
        learning_rate: of the boosting.
        indifferent: weight of the images whose answer an arbiter would not change for better or worse.
    """

    rounds: int = Field(gt=0)
    depth: int = Field(gt=0)
    learning_rate: float = Field(gt=0)
    indifferent: float = Field(default=1.0, gt=0, le=1)


class RouterSettings(_Strict):
    """What the routers are trained on, and the thresholds that answers are given with.

    Args:
        images: at most so many of the validation set (the paper: 8 000).
        generated_only: whether only generated images are used, as in the paper.
        fast_confidence: the fast path is taken above it.
        escalation: an image is escalated above it.
        minimum_confidence: answers below it are abstained from.
    """

    images: int = Field(gt=0)
    generated_only: bool = False
    fast_confidence: float = FAST_CONFIDENCE
    escalation: float = ESCALATION
    minimum_confidence: float = Share


class TaskSettings(_Strict):
    """A task: the name of a known one (`age_gender`, `skin_tone`, `race`), or a whole registry entry.

    See `AresConfig` for the fields. `arbiter` and `cuts` may differ from the known task's. `colour` is the share of
    the augmentation's colour jitter that this task bears (1 all, 0 none): a skin tone is a colour.
    """

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    labels: list[str] = Field(default_factory=list)
    attributes: dict[str, list[str]] = Field(default_factory=dict)
    prompts: list[str] = Field(default_factory=list)
    arbiter: Literal["", "vlm", "fusion", "vote"] = ""
    cuts: list[float] = Field(default_factory=list)
    colour: float = Field(default=1.0, ge=0, le=1)

    @model_validator(mode="after")
    def _whole(self) -> TaskSettings:
        entry = self.entry()
        n = len(entry["labels"])
        if n < 2 or len(entry["prompts"]) != n or not entry["attributes"]:
            raise ValueError(
                f"task {self.name} is not one of {', '.join(KNOWN_TASKS)}, so it needs two or more `labels`, as many "
                "`prompts`, and `attributes`"
            )
        if any(len(values) != n for values in entry["attributes"].values()):
            raise ValueError(f"each attribute of task {self.name} needs one value per label, {n}")
        if len(set(zip(*entry["attributes"].values(), strict=True))) != n:
            raise ValueError(f"two labels of task {self.name} mean the same attributes")
        if entry["cuts"] and (len(entry["cuts"]) != n - 1 or sorted(entry["cuts"]) != entry["cuts"]):
            raise ValueError(f"task {self.name} needs {n - 1} rising cuts")
        return self

    def entry(self) -> dict[str, Any]:
        """The registry entry."""
        known = KNOWN_TASKS.get(self.name, {})
        entry: dict[str, Any] = {
            "name": self.name,
            "labels": self.labels or known.get("labels", []),
            "attributes": self.attributes or known.get("attributes", {}),
            "prompts": self.prompts or known.get("prompts", []),
            "arbiter": self.arbiter or known.get("arbiter", "vote"),
        }
        cuts = self.cuts or known.get("cuts", [])
        if entry["arbiter"] == "fusion" and not cuts:
            cuts = list(CUTS) if len(entry["labels"]) == 3 else [i + 0.5 for i in range(len(entry["labels"]) - 1)]
        return entry | {"cuts": list(cuts)}


class TrainingConfig(_Strict):
    """A training run.

    Args:
        name: of the configuration; stands in the model's config.
        seed: decides every draw.
        image_size: pixels of the square that experts and router see.
        tile: images per forward pass of the finished model.
        precision: `bf16` for mixed precision.
        workers: processes that decode images.
        tasks: in order.
        augmentation: of the experts' and the fast router's training images.
        experts: kind -> settings.
        fusion: settings of the fusion regressor.
        fast: settings of the fast path's router.
        escalation: settings of the escalation routers.
        routers: their images, and thresholds.
        vlm: how to reach the L2 vision-language model; see `AresConfig`.
    """

    name: str
    seed: int = Field(default=0, ge=0)
    image_size: int = Field(gt=0)
    tile: int = Field(default=8, gt=0)
    precision: Literal["no", "bf16"] = "no"
    workers: int = Field(default=0, ge=0)
    tasks: list[TaskSettings] = Field(min_length=1)
    augmentation: Augmentation
    experts: dict[Literal["clip", "dinov2", "convnext"], ExpertSettings] = Field(min_length=1)
    fusion: FusionSettings
    fast: FastSettings
    escalation: EscalationSettings
    routers: RouterSettings
    vlm: dict[str, Any] = Field(default_factory=dict)

    @property
    def sha256(self) -> str:
        """Of everything that can change the weights: all but the number of workers."""
        decides = self.model_dump(mode="json", exclude={"workers"})
        return hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()

    def task(self, name: str) -> TaskSettings:
        """The settings of a task."""
        return next(task for task in self.tasks if task.name == name)


def read_config(file: Path) -> TrainingConfig:
    """Read a training configuration.

    Errors: BuildError CONFIG_INVALID (not TOML, an unknown key, a wrong value: the first is named with its key), or
    REVISION_UNPINNED (a checkpoint whose commit is not given).
    """
    try:
        raw = tomllib.loads(file.read_text(encoding="utf-8"))
        config = TrainingConfig.model_validate(raw)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        mend = "name one of the configurations in ares/configs, or a file like them"
        raise BuildError("CONFIG_INVALID", str(file), str(error), "a TOML file", mend) from error
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"]) or "the file"
        unknown = first["type"] == "extra_forbidden"
        expected = f"one of the keys of {_siblings(first['loc'])}" if unknown else first["msg"]
        mend = "correct its spelling or remove it" if unknown else "correct it; ares/configs/paper.toml shows every key"
        what = "unknown key" if unknown else _shown(first.get("input"))
        raise BuildError("CONFIG_INVALID", f"{file}, key {key}", what, expected, mend) from error
    for key, upstream in {**{f"experts.{k}": v for k, v in config.experts.items()}, "fast": config.fast}.items():
        _check_pinned(f"{file}, key {key}.revision", upstream)
    return config


def _check_pinned(where: str, upstream: Upstream) -> None:
    if upstream.source and not Path(upstream.source).is_dir() and not _PINNED.fullmatch(upstream.revision):
        raise BuildError(
            "REVISION_UNPINNED",
            where,
            f"{upstream.revision!r} for {upstream.source}",
            "the 40 hexadecimal digits of a commit that holds model.safetensors",
            f"look the commit up under https://huggingface.co/{upstream.source}/commits/main, and write it there",
        )


def _siblings(place: tuple[int | str, ...]) -> str:
    """The part of `TrainingConfig` that a key lies in, with its keys."""
    parts = {"experts": ExpertSettings, "fast": FastSettings, "fusion": FusionSettings, "tasks": TaskSettings}
    parts |= {"augmentation": Augmentation, "escalation": EscalationSettings, "routers": RouterSettings}
    model = parts.get(str(place[0]), TrainingConfig) if len(place) > 1 else TrainingConfig
    return f"{place[0] if len(place) > 1 else 'the file'}: {', '.join(model.model_fields)}"


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


PAPER_SOURCES = {**{kind: entry["source"] for kind, entry in BACKBONES.items()}, "fast": ROUTER}
"""The upstream checkpoints of Table 10."""
