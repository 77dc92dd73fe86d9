"""The configuration of ARES: its attribute registry, experts, routers and thresholds (IRIS, Table 10, B.1, A.4.2).

A *task* is decided by one group of experts; it may settle several attributes (`age_gender` settles `age` and `gender`).
A new attribute is a new task: experts, a registry entry and a routing rule; the other tasks stay.
"""

from __future__ import annotations

from typing import Any

from transformers import PretrainedConfig

GENDERS = ("female", "male")
AGES = ("young", "middle-aged", "older")
SKIN_TONES = ("light", "middle", "dark")
RACES = ("Asian", "Black", "Hispanic", "White")

FAST_CONFIDENCE = 0.9
"""Router's confidence above which the fast path is taken."""
ESCALATION = 0.7
"""Probability above which an image is escalated."""
CUTS = (0.48, 1.24)
"""Cuts of the regressed skin tone on 0-2 to `middle` and `dark`; calibrated on a validation set."""
DECISIONS = 2
"""The newest rules; see `deciding_ares`."""

BACKBONES: dict[str, dict[str, Any]] = {
    "clip": {"source": "openai/clip-vit-base-patch16", "shared": 0},
    "dinov2": {"source": "facebook/dinov2-base", "shared": 8},
    "convnext": {"source": "facebook/convnext-base-224-22k", "shared": 2},
}
"""The three L1 backbones: upstream checkpoint, and number of leading blocks frozen and so shared between tasks.

B.2 trains CLIP but for its embeddings, the last four of DINOv2's layers, and the last two of ConvNeXt's stages.
"""
ROUTER = "google/efficientnet-b0"

AGE_GENDER: dict[str, Any] = {
    "name": "age_gender",
    "labels": [f"{age} {gender}" for gender in GENDERS for age in AGES],
    "attributes": {
        "gender": [gender for gender in GENDERS for _ in AGES],
        "age": [age for _ in GENDERS for age in AGES],
    },
    "prompts": [f"a photo of a {age} {gender}" for gender in GENDERS for age in AGES],
    "arbiter": "vlm",
}
SKIN_TONE: dict[str, Any] = {
    "name": "skin_tone",
    "labels": list(SKIN_TONES),
    "attributes": {"skin_tone": list(SKIN_TONES)},
    "prompts": [f"a photo of a person with {tone} skin" for tone in SKIN_TONES],
    "arbiter": "fusion",
    "cuts": list(CUTS),
}
RACE: dict[str, Any] = {
    "name": "race",
    "labels": list(RACES),
    "attributes": {"race": list(RACES)},
    "prompts": [f"a photo of {'an' if race == 'Asian' else 'a'} {race} person" for race in RACES],
    "arbiter": "vote",
}
"""The worked example of an extension: FACT-OR-FAIR's four races, as perceived."""


class AresConfig(PretrainedConfig):
    """All that decides ARES' answers, but for its weights.

    Args:
        tasks: Attribute registry, in order. Each entry has `name`; `labels` (the experts' choices); `attributes`
            (attribute -> its label for each of `labels`); `prompts` (text of CLIP's prototypes, one per label);
            `arbiter`: `fusion`, with its `cuts` and the `slope` of its probabilities; or for escalated images `vlm` or
            `vote`.
        backbones: Kind (`clip`, `dinov2`, `convnext`) -> `source` and `revision` of the upstream checkpoint, `shared`
            leading blocks, `config` of its architecture; `own_stems` where tasks share none, `raw` where CLIP's
            embedding keeps its length.
        router: `source`, `revision`, `config` of the fast path's EfficientNet.
        fast_confidence: Threshold of the fast path, 0.9 in the paper; 1 or more closes it.
        escalation: Threshold of the escalation, 0.7 in the paper; 1 or more closes it.
        minimum_confidence: Confidence below which answers are abstained from; 0 never abstains.
        image_size: Pixels of the square that experts and router see.
        tile: Images per forward pass. Every pass has exactly so many rows (the last one is filled up), so that all run
            on the same kernels; the remaining effect of an image's place is rounded away (`rounding_ares`).
        fusion_hidden: Widths of the fusion regressor's hidden layers; `fusion_norm=False` leaves out its normalisation.
        vlm: Access to the L2 vision-language model: `source` and `revision` of an InternVL-class checkpoint, or
            `endpoint` and `model` of an OpenAI-compatible server; empty for none.
        ablation: `full`, or the parts switched off (E1 to E7 of Tables 11 and 12), by `ares.ablations`.
        training: Name and hash of the training configuration, dataset revision; for the record.
        gate: The gate against non-faces (`gate_ares`): `kind` of its stem, `channels`, `side`, `hidden`; the `cut` of
            the probability of a face below which an image has no label; `trained_on` (kinds of non-faces); its results
            `kept` of faces and `answered` of each kind of non-faces, each as [passed images, images]. Empty for a model
            without a gate, which labels everything.
        decisions: Decision rules (`deciding_ares`), 1 or 2; older configurations without this entry keep rules 1, new
            models have `DECISIONS`.

    Raises:
        ValueError: Unknown decision rules.
    """

    model_type = "ares"

    def __init__(
        self,
        tasks: list[dict[str, Any]] | None = None,
        backbones: dict[str, dict[str, Any]] | None = None,
        router: dict[str, Any] | None = None,
        fast_confidence: float = FAST_CONFIDENCE,
        escalation: float = ESCALATION,
        minimum_confidence: float = 0.0,
        image_size: int = 224,
        tile: int = 8,
        fusion_hidden: tuple[int, ...] | list[int] = (512, 128),
        vlm: dict[str, Any] | None = None,
        ablation: str = "full",
        training: dict[str, Any] | None = None,
        gate: dict[str, Any] | None = None,
        decisions: int = 1,
        **kwargs: Any,
    ) -> None:
        self.tasks = [dict(AGE_GENDER), dict(SKIN_TONE)] if tasks is None else tasks
        # In alphabetical order, as in the JSON file: routers and the fusion regressor count on the experts' order.
        self.backbones = {kind: dict(entry) for kind, entry in sorted((backbones or BACKBONES).items())}
        self.router = dict(router or {"source": ROUTER})
        self.fast_confidence = fast_confidence
        self.escalation = escalation
        self.minimum_confidence = minimum_confidence
        self.image_size = image_size
        self.tile = tile
        self.fusion_hidden = list(fusion_hidden)
        self.vlm = dict(vlm or {})
        self.ablation = ablation
        self.training = dict(training or {})
        self.gate = dict(gate or {})
        if decisions not in range(1, DECISIONS + 1):
            raise ValueError(f"this ARES decides by rules {decisions}; known are 1 to {DECISIONS}. Update fairspace")
        self.decisions = decisions
        kwargs.setdefault(
            "auto_map",
            {
                "AutoConfig": "configuration_ares.AresConfig",
                "AutoModel": "modeling_ares.AresModel",
                "AutoImageProcessor": "image_processing_ares.AresImageProcessor",
            },
        )
        kwargs.setdefault(
            "custom_pipelines",
            {"image-classification": {"impl": "pipeline_ares.AresPipeline", "pt": ["AutoModel"], "type": "image"}},
        )
        super().__init__(**kwargs)

    @property
    def kinds(self) -> list[str]:
        """The kinds of experts, in order."""
        return list(self.backbones)

    def task(self, name: str) -> dict[str, Any]:
        """A registry entry. KeyError names the known ones."""
        for task in self.tasks:
            if task["name"] == name:
                return task
        raise KeyError(f"ARES has no task {name!r}; it has {', '.join(task['name'] for task in self.tasks)}")

    @property
    def attributes(self) -> dict[str, list[str]]:
        """Attribute -> labels, over all tasks."""
        return {
            attribute: list(dict.fromkeys(labels))
            for task in self.tasks
            for attribute, labels in task["attributes"].items()
        }
