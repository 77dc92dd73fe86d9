"""The configuration of ARES: its attribute registry, experts, routers and thresholds (IRIS, Table 10, B.1, A.4.2).

A *task* is what one group of experts decides together; it may settle several attributes (`age_gender` settles `age` and
`gender`). Adding an attribute is adding a task: experts, a registry entry and a routing rule; the other tasks stay.
"""

from __future__ import annotations

from typing import Any

from transformers import PretrainedConfig

GENDERS = ("female", "male")
AGES = ("young", "middle-aged", "older")
SKIN_TONES = ("light", "middle", "dark")
RACES = ("Asian", "Black", "Hispanic", "White")

FAST_CONFIDENCE = 0.9
"""The fast path is taken where its router is surer than this."""
ESCALATION = 0.7
"""An image is escalated where its probability is above this."""
CUTS = (0.48, 1.24)
"""Where the regressed skin tone on 0-2 becomes `middle` and `dark`; calibrated on a validation set."""
DECISIONS = 2
"""The newest rules; see `deciding_ares`."""

BACKBONES: dict[str, dict[str, Any]] = {
    "clip": {"source": "openai/clip-vit-base-patch16", "shared": 0},
    "dinov2": {"source": "facebook/dinov2-base", "shared": 8},
    "convnext": {"source": "facebook/convnext-base-224-22k", "shared": 2},
}
"""The three L1 backbones: upstream checkpoint, and how many leading blocks are frozen and so shared between tasks.

CLIP is trained whole but for its embeddings; of DINOv2's twelve layers the last four, of ConvNeXt's four stages the
last two are trained (B.2)."""
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
    """Everything that decides ARES' answers, but for its weights.

    Args:
        tasks: the attribute registry, in order. Each entry has `name`; `labels` (what experts choose from);
            `attributes` (attribute -> its label for each of `labels`); `prompts` (text of CLIP's prototypes, one per
            label); `arbiter`: `fusion`, with its `cuts` and the `slope` of its probabilities; or what escalated
            images go to, `vlm` or `vote`.
        backbones: kind (`clip`, `dinov2`, `convnext`) -> `source` and `revision` of the upstream checkpoint, `shared`
            leading blocks, `config` of its architecture.
        router: `source`, `revision`, `config` of the fast path's EfficientNet.
        fast_confidence: 0.9 in the paper; 1 or more closes the fast path.
        escalation: 0.7 in the paper; 1 or more closes the escalation.
        minimum_confidence: answers below it are abstained from; 0 never abstains.
        image_size: pixels of the square that experts and router see.
        tile: images per forward pass. Every pass has exactly so many rows (the last one is filled up), so that all run
            on the same kernels; what an image's place in the pass still changes is rounded away (`rounding_ares`).
        fusion_hidden: width of the fusion regressor's hidden layers.
        vlm: how to reach the L2 vision-language model: `source` and `revision` of an InternVL-class checkpoint, or
            `endpoint` and `model` of an OpenAI-compatible server; empty for none.
        ablation: `full`, or which parts are switched off (E1 to E7 of Tables 11 and 12), by `ares.ablations`.
        training: name and hash of the training configuration, dataset revision; for the record.
        gate: what is no face is told by (`gate_ares`): `kind` of its stem, `channels`, `side`, `hidden`; the `cut` of
            the probability of a face below which an image has no label; `trained_on` (kinds of non-faces), and what it
            did at the end of training: `kept` of faces and `answered` of each kind of non-faces, each as [images of
            which, images]. Empty for a model without a gate, which labels whatever it is given.
        decisions: the rules that decide (`deciding_ares`), 1 or 2. A configuration without this entry is of before
            there were rules 2, and keeps rules 1; what is trained now has `DECISIONS`.

    Raises:
        ValueError: it decides by rules that this code does not know.
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
        """Attribute -> its labels, over all tasks."""
        return {
            attribute: list(dict.fromkeys(labels))
            for task in self.tasks
            for attribute, labels in task["attributes"].items()
        }
