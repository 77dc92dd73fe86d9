"""The settings of the parts of a training run: augmentation, checkpoints, schedules, routers."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from fairspace.ares.configuration_ares import ESCALATION, FAST_CONFIDENCE

Share = Field(default=0.0, ge=0, le=1)


class Strict(BaseModel):
    """A table without unknown keys, whose values have exactly the types that it says."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Augmentation(Strict):
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


class Upstream(Strict):
    """Where weights come from: a checkpoint at a pinned revision or in a folder, or `config` alone for random ones.

    Args:
        source: a Hub repository, or a folder with a checkpoint; '' for random weights.
        revision: the full commit hash, 40 hexadecimal digits; not for folders.
        config: the architecture's configuration where there is no source.
    """

    source: str = ""
    revision: str = ""
    config: dict[str, Any] = Field(default_factory=dict)


class Schedule(Strict):
    """How long, in what steps.

    Args:
        epochs: at most.
        patience: epochs without a better score on held-out images after which it stops.
        batch: images per step, over all devices.
        warmup: share of the steps in which the learning rate rises, before it falls along a cosine.
        learning_rate: of heads, prototypes and temperature, or of everything where there is no backbone.
        weight_decay: of AdamW.
        clip: largest norm of a step's gradient, which is shortened to it; 0 leaves gradients as they are.
    """

    epochs: int = Field(gt=0)
    patience: int = Field(gt=0)
    batch: int = Field(gt=0)
    warmup: float = Share
    learning_rate: float = Field(gt=0)
    weight_decay: float = Field(default=0.0, ge=0)
    clip: float = Field(default=1.0, ge=0)


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


class GateSettings(Schedule):
    """The gate, which tells faces from what is none.

    Args:
        kind: the backbone whose stem it looks at.
        hidden: channels of its convolutions.
        faces: at most so many of each part.
        images: non-faces of each kind that it is trained on.
        hard: the same of each kind that is `hard`.
        tested: non-faces of each kind that count what passes.
        without: kinds of `drawn_nonfaces` that are left out of its training, beside those held out.
    """

    kind: Literal["clip", "dinov2", "convnext"]
    hidden: int = Field(gt=0)
    faces: int = Field(gt=0)
    images: int = Field(gt=0)
    hard: int = Field(gt=0)
    tested: int = Field(gt=0)
    without: list[str] = []


class EscalationSettings(Strict):
    """The escalation router.

    Args:
        rounds: boosted trees.
        depth: of a tree.
        learning_rate: of the boosting.
        indifferent: weight of the images whose answer an arbiter would not change for better or worse.
        balanced: whether the images to escalate weigh as much as all others together; else few are escalated where the
            experts are mostly right.
    """

    rounds: int = Field(gt=0)
    depth: int = Field(gt=0)
    learning_rate: float = Field(gt=0)
    indifferent: float = Field(default=1.0, gt=0, le=1)
    balanced: bool = False


class RouterSettings(Strict):
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
