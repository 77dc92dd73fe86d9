"""The settings of a training run: one TOML file, read strictly.

`ares/configs/paper.toml` holds IRIS' values (B.2), `ares/configs/tiny.toml` a small model that a CPU trains in minutes.
Unknown keys, wrong types and unpinned upstream checkpoints are refused before anything is read or written.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from fairspace.ares.configuration_ares import AGE_GENDER, CUTS, ESCALATION, FAST_CONFIDENCE, RACE, SKIN_TONE
from fairspace.builders.errors import BuildError

Share = Field(default=0.0, ge=0, le=1)


class StrictConfig(BaseModel):
    """A table without unknown keys, and with exact types."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Augmentation(StrictConfig):
    """Bounds of a training image's differences from its original.

    Args:
        scale: Smallest and largest share of the area that a crop keeps.
        ratio: Narrowest and widest aspect of a crop.
        brightness, contrast, saturation: Largest deviation of the factor from 1.
        hue: Largest turn, as a share of the circle of hues.
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


class Upstream(StrictConfig):
    """Source of weights: a checkpoint at a pinned revision or in a folder, or `config` alone for random ones.

    `source`: Hub repository, or folder; '' for random weights. `revision`: full commit hash, 40 hexadecimal digits.
    """

    source: str = ""
    revision: str = ""
    config: dict[str, Any] = Field(default_factory=dict)


class Schedule(StrictConfig):
    """Length and steps of training.

    Args:
        patience: Epochs without a better score on held-out images before stopping.
        batch: Images per step, over all devices.
        warmup: Share of the steps in which the learning rate rises, before it falls along a cosine.
        learning_rate: Rate of heads, prototypes and temperature, or of everything without a backbone.
        clip: Largest norm of a step's gradient; 0 for no clipping.
    """

    epochs: int = Field(gt=0)
    patience: int = Field(gt=0)
    batch: int = Field(gt=0)
    warmup: float = Share
    learning_rate: float = Field(gt=0)
    weight_decay: float = Field(default=0.0, ge=0)
    clip: float = Field(default=1.0, ge=0)


class ExpertSettings(Upstream, Schedule):
    """One kind of expert; `gamma` and `alpha` are of the focal loss.

    `shared`: leading blocks that stay frozen and are shared between tasks; `backbone_learning_rate`: of the other
    blocks; `text_learning_rate`: of CLIP's text encoder, which makes the prototypes; 0 freezes it.
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
    """The fusion regressor; `hidden`: widths of its hidden layers."""

    hidden: list[int] = Field(min_length=1)


class GateSettings(Schedule):
    """The gate, on the stem of the backbone `kind`: channels, training faces and non-faces of each kind.

    `faces`: most of each part; `hard`: images of each `hard` kind; `tested`: images of each kind in the test;
    `without`: kinds of `nonfaces` left out of training, beside those held out.
    """

    kind: Literal["clip", "dinov2", "convnext"]
    hidden: int = Field(gt=0)
    faces: int = Field(gt=0)
    images: int = Field(gt=0)
    hard: int = Field(gt=0)
    tested: int = Field(gt=0)
    without: list[str] = []


class EscalationSettings(StrictConfig):
    """The escalation router: `rounds` boosted trees of a depth and learning rate.

    `indifferent`: weight of images whose answer an arbiter would not make better or worse; `balanced`: whether the
    images to escalate weigh as much as all others together, which escalates more where the experts are mostly right.
    """

    rounds: int = Field(gt=0)
    depth: int = Field(gt=0)
    learning_rate: float = Field(gt=0)
    indifferent: float = Field(default=1.0, gt=0, le=1)
    balanced: bool = False


class RouterSettings(StrictConfig):
    """The routers' training images, and the thresholds of answers (`AresConfig`).

    `images`: most images of the validation set (the paper: 8 000), only generated ones in the paper.
    """

    images: int = Field(gt=0)
    generated_only: bool = False
    fast_confidence: float = FAST_CONFIDENCE
    escalation: float = ESCALATION
    minimum_confidence: float = Share


CONFIGS = Path(__file__).parents[1] / "configs"
KNOWN_TASKS: dict[str, dict[str, Any]] = {task["name"]: task for task in (AGE_GENDER, SKIN_TONE, RACE)}
_PINNED = re.compile(r"[0-9a-f]{40}")


class TaskSettings(StrictConfig):
    """A task: the name of a known one (`age_gender`, `skin_tone`, `race`), or a whole registry entry (`AresConfig`).

    `arbiter` and `cuts` may differ from the known task's. `colour` is this task's share of the augmentation's colour
    jitter (1 all, 0 none): a skin tone is a colour.
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
        defaults = KNOWN_TASKS.get(self.name, {})
        entry: dict[str, Any] = {
            "name": self.name,
            "labels": self.labels or defaults.get("labels", []),
            "attributes": self.attributes or defaults.get("attributes", {}),
            "prompts": self.prompts or defaults.get("prompts", []),
            "arbiter": self.arbiter or defaults.get("arbiter", "vote"),
        }
        cuts = self.cuts or defaults.get("cuts", [])
        if entry["arbiter"] == "fusion" and not cuts:
            cuts = list(CUTS) if len(entry["labels"]) == 3 else [i + 0.5 for i in range(len(entry["labels"]) - 1)]
        return entry | {"cuts": list(cuts)}


class TrainingConfig(StrictConfig):
    """A training run.

    Args:
        tile: Images per forward pass of the finished model.
        gate: Settings of the gate; without them the model labels everything.
        vlm: Access to the L2 vision-language model; see `AresConfig`.
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
    gate: GateSettings | None = None
    vlm: dict[str, Any] = Field(default_factory=dict)

    @property
    def sha256(self) -> str:
        """Hash of all settings that can change the weights: all but the number of workers."""
        decides = self.model_dump(mode="json", exclude={"workers"})
        return hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()

    def task(self, name: str) -> TaskSettings:
        """The settings of a task."""
        return next(task for task in self.tasks if task.name == name)


def read_config(file: Path) -> TrainingConfig:
    """Read a training configuration.

    BuildError CONFIG_INVALID (not TOML, an unknown key, a wrong value: the first is named), or REVISION_UNPINNED.
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
        expected = "one of the keys that ares/configs/paper.toml shows" if unknown else first["msg"]
        what = "unknown key" if unknown else repr(first.get("input"))[:80]
        mend = "correct it, or remove it"
        raise BuildError("CONFIG_INVALID", f"{file}, key {key}", what, expected, mend) from error
    for key, upstream in {**{f"experts.{k}": v for k, v in config.experts.items()}, "fast": config.fast}.items():
        name, revision = upstream.source, upstream.revision
        if name and not Path(name).is_dir() and not _PINNED.fullmatch(revision):
            expected = "the 40 hexadecimal digits of a commit that holds model.safetensors"
            mend = f"look the commit up under https://huggingface.co/{name}/commits/main, and write it there"
            where = f"{file}, key {key}.revision"
            raise BuildError("REVISION_UNPINNED", where, f"{revision!r} for {name}", expected, mend)
    return config
