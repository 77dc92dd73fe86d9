"""Opens the models of image quality and semantics by name, such as `clip:openai/clip-vit-large-patch14@COMMIT`.

    iqa         clip[:ID[@REVISION]]              CLIP-IQA: "Good photo." against "Bad photo."
    face-iqa    clip[:ID[@REVISION]]              the same with words for faces, on the largest face: a proxy
                pyiqa[:METRIC]                    a model trained on rated faces; an extra of its own, non-commercial
    similarity  clip[:ID[@REVISION]]              cosine of image and prompt
    reference   dinov2[:ID[@REVISION]]            mean cosine to the reference images of the prompt

ID is a repository on the Hub or a folder, with safetensors. Licences of the default weights: CLIP ViT-L/14 MIT, DINOv2
Apache-2.0. Weights are looked for when a model is opened, and loaded when it is first used; one model in memory serves
every role that names it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fairspace.builders.errors import BuildError
from fairspace.builders.models.clip import CLIP
from fairspace.builders.models.schemes import Scheme, read
from fairspace.submissions.running.quality.models import (
    DINOV2,
    ClipFeatures,
    DinoFeatures,
    FaceCrops,
    ImageFeatures,
    TextFeatures,
)
from fairspace.submissions.running.quality.rating import FACE_METRIC, Antonyms, PyiqaRating, Rating
from fairspace.submissions.running.quality.references import References
from fairspace.submissions.running.quality.scores import FACE, PHOTO

if TYPE_CHECKING:
    from fairspace.ares.faces_ares import FaceDetector


@dataclass(frozen=True)
class QualityModels:
    """What measures the four columns; None leaves a column as it is.

    Args:
        image: `image_quality` (QPS).
        face: `face_quality` (FQP).
        similarity: `prompt_similarity` (SIL).
        reference: `reference_similarity` (SCL).
        references: what it compares with; None: the other images of the prompt, as dataset revision v1 has it.
    """

    image: Rating | None = None
    face: Rating | None = None
    similarity: TextFeatures | None = None
    reference: ImageFeatures | None = None
    references: References | None = None

    def about(self) -> dict[str, str]:
        """Column -> what measures it, for the manifest; columns that are not measured are left out."""
        compared = "the prompt's others" if self.references is None else self.references.name
        named = {
            "image_quality": self.image and self.image.name,
            "face_quality": self.face and self.face.name,
            "prompt_similarity": self.similarity and f"cosine of {self.similarity.name}",
            "reference_similarity": self.reference and f"mean cosine to {compared} of {self.reference.name}",
        }
        return {column: name for column, name in named.items() if name}

    def looking(self) -> list[ImageFeatures]:
        """What looks at images, each once: several columns may take the same."""
        rated = [rating.features for rating in (self.image, self.face) if rating is not None]
        seen = [*rated, *(model for model in (self.similarity, self.reference) if model is not None)]
        return list({features.name: features for features in seen}.values())


@dataclass
class _Asked:
    """What else the user asked for, and what was opened already."""

    device: str
    detector: FaceDetector | None = None
    clips: dict[str, ClipFeatures] = field(default_factory=dict)

    def clip(self, model: str) -> ClipFeatures:
        if model not in self.clips:
            self.clips[model] = ClipFeatures(model, device=self.device)
        return self.clips[model]


def _face(what: str, chosen: Mapping[str, Any], request: _Asked) -> Antonyms:
    clip = request.clip(what)
    return Antonyms(clip if request.detector is None else FaceCrops(clip, request.detector), FACE)


_CLIP = "clip[:ID[@REVISION]]"
SCHEMES: dict[str, dict[str, Scheme]] = {
    "iqa": {"clip": Scheme(_CLIP, CLIP, {}, lambda what, chosen, request: Antonyms(request.clip(what), PHOTO))},
    "face-iqa": {
        "clip": Scheme(_CLIP, CLIP, {}, _face),
        "pyiqa": Scheme(
            "pyiqa[:METRIC]", FACE_METRIC, {}, lambda what, chosen, request: PyiqaRating(what, device=request.device)
        ),
    },
    "similarity": {"clip": Scheme(_CLIP, CLIP, {}, lambda what, chosen, request: request.clip(what))},
    "reference": {
        "dinov2": Scheme(
            "dinov2[:ID[@REVISION]]",
            DINOV2,
            {},
            lambda what, chosen, request: DinoFeatures(what, device=request.device),
        )
    },
}
"""Role -> scheme -> what it opens."""


def open_quality(
    *,
    iqa: str = "clip",
    face_iqa: str = "clip",
    similarity: str = "clip",
    reference: str = "dinov2",
    references: References | None = None,
    detector: FaceDetector | Mapping[str, Any] | None = None,
    device: str = "",
) -> QualityModels:
    """The models that are named; '' leaves a column out.

    Args:
        iqa: rates images.
        face_iqa: rates faces.
        similarity: compares images with prompts.
        reference: compares images with references.
        references: see `QualityModels`.
        detector: finds faces for `clip`, or its settings, as `open_faces` of ARES takes them; None takes every image
            as one face, as ARES without a detector does. pyiqa has its own.
        device: of torch; '' takes a GPU if there is one.

    Errors: BuildError TOOL_MISSING if a scheme is not known, or a package, file or model is not there.
    """
    request = _Asked(device, _detector(detector))
    return QualityModels(
        image=_open("iqa", iqa, request),
        face=_open("face-iqa", face_iqa, request),
        similarity=_open("similarity", similarity, request),
        reference=_open("reference", reference, request),
        references=references,
    )


def _open(role: str, named: str, request: _Asked) -> Any:
    if not named:
        return None
    scheme, what, chosen = read(role, named, SCHEMES[role])
    return scheme.open(what, chosen, request)


def _detector(given: FaceDetector | Mapping[str, Any] | None) -> FaceDetector | None:
    if not isinstance(given, Mapping):
        return given
    from fairspace.ares.faces_ares import FaceError, open_faces

    try:
        return open_faces(given)
    except FaceError as error:
        mend = "see the message"
        raise BuildError("TOOL_MISSING", "--faces", str(error), "a detector of faces", mend) from error
