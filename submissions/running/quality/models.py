"""The models behind image quality and semantics: opened by name, as vectors that can be kept and ratings of these.

    iqa         clip[:ID[@REVISION]]              CLIP-IQA: "Good photo." against "Bad photo."
    face-iqa    clip[:ID[@REVISION]]              the same with words for faces, on the largest face: a proxy
                pyiqa[:METRIC]                    a model trained on rated faces; an extra of its own, non-commercial
    similarity  clip[:ID[@REVISION]]              cosine of image and prompt
    reference   dinov2[:ID[@REVISION]]            mean cosine to the reference images of the prompt

ID is a repository on the Hub or a folder, with safetensors. Licences of the default weights: CLIP ViT-L/14 MIT, DINOv2
Apache-2.0. Weights are looked for when a model is opened, and loaded when it is first used; one model in memory serves
every role that names it.

Every pass has exactly `TILE` images of one shape (the last one is filled up), in float32, and every text is a pass of
its own: what is found in an image does not depend on the images beside it, nor on how many are handed over at once.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from fairspace.builders.errors import BuildError
from fairspace.builders.models import weights
from fairspace.builders.models.clip import CLIP, Clip
from fairspace.builders.models.schemes import Scheme, read
from fairspace.submissions.running.data.data import Data, open_data
from fairspace.submissions.running.data.images import Images
from fairspace.submissions.running.errors import RunError
from fairspace.submissions.running.quality.scores import DIGITS, FACE, PHOTO, Vector, antonym_score

if TYPE_CHECKING:
    from PIL.Image import Image

    from fairspace.ares.faces_ares import FaceDetector

DINOV2 = "facebook/dinov2-base"
"""The model if the user names none: Apache-2.0, and the backbone of an expert of ARES (Table 10)."""
FACE_METRIC = "topiq_nr-face"
IDEAL = "iris_ideal_52"
TILE = 8


class ImageFeatures(Protocol):
    """Sees images."""

    @property
    def name(self) -> str:
        """Model, revision and all else that decides its vectors."""

    def images(self, images: Sequence[Image]) -> list[Vector]:
        """A vector for each RGB image; an empty one where there is nothing that it looks at, such as no face."""


class TextFeatures(ImageFeatures, Protocol):
    """Sees images and texts in one space."""

    def text(self, text: str) -> Vector:
        """The vector of a text."""

    def scale(self) -> float:
        """What cosines are multiplied with before a softmax."""


class ClipFeatures:
    """Embeddings of images and texts by CLIP (Radford et al. 2021): the projected ones, of length 1.

    Args:
        model: folder or ID[@REVISION].
        device: of torch; '' takes a GPU if there is one.

    Errors: BuildError TOOL_MISSING without the weights or packages, or if the weights are none of CLIP.
    """

    def __init__(self, model: str = CLIP, *, device: str = "") -> None:
        check_type(model, "clip")
        self._clip = _Float32(model, device=device, batch=TILE)

    @property
    def name(self) -> str:
        """Model with commit or hash."""
        return self._clip.name

    def images(self, images: Sequence[Image]) -> list[Vector]:
        """(projection,) each."""
        vectors = self._clip.images(filled(images))
        return [each.astype(np.float32) for each in vectors[: len(images)]]

    def text(self, text: str) -> Vector:
        """(projection,); a text ends where CLIP's context does, after 77 tokens."""
        vector: Vector = self._clip.texts([text])[0].astype(np.float32)
        return vector

    def scale(self) -> float:
        """CLIP's own temperature: 100 in the published checkpoints, as CLIP-IQA has it."""
        return self._clip.scale


class _Float32(Clip):
    """CLIP in float32, whatever its weights are stored in."""

    @cached_property
    def _model(self) -> Any:
        return super()._model.float()


class DinoFeatures:
    """Embeddings of images by DINOv2 (Oquab et al. 2024): the class token after the last norm (`pooler_output`).

    The image is prepared as the checkpoint says: for Meta's, the shorter side to 256, the middle 224 x 224.

    Args:
        model: folder or ID[@REVISION].
        device: of torch; '' takes a GPU if there is one.

    Errors: as for `ClipFeatures`.
    """

    def __init__(self, model: str = DINOV2, *, device: str = "") -> None:
        self._weights = check_type(model, "dinov2")
        self.device = device

    @property
    def name(self) -> str:
        """Model with commit or hash."""
        return f"dinov2 {self._weights.name}"

    def images(self, images: Sequence[Image]) -> list[Vector]:
        """(hidden,) each."""
        import torch

        processor, model = self._loaded
        whole, vectors = filled(images), []
        for start in range(0, len(whole), TILE):
            pixels = processor(images=list(whole[start : start + TILE]), return_tensors="pt")["pixel_values"]
            with torch.inference_mode():
                vectors += list(model(pixels.to(model.device)).pooler_output.float().cpu().numpy())
        return vectors[: len(images)]

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        import torch
        from transformers import AutoImageProcessor, Dinov2Model

        where, revision = self._weights.where, self._weights.revision
        with weights.loading(self._weights):
            processor = AutoImageProcessor.from_pretrained(where, revision=revision, backend="pil")
            model, loaded = Dinov2Model.from_pretrained(
                where, revision=revision, use_safetensors=True, dtype=torch.float32, output_loading_info=True
            )
        if missing := sorted(loaded["missing_keys"]):
            expected = "all weights of DINOv2"
            mend = "download the model again"
            raise BuildError("TOOL_MISSING", self._weights.name, f"no weights {missing[0]}", expected, mend)
        return processor, model.eval().to(weights.best_device(self.device))


class FaceCrops:
    """What a model sees of the largest face of an image.

    Args:
        features: looks at the face.
        detector: finds faces, as ARES' own (`fairspace.ares.faces_ares`); the largest is face 0 of the annotations.
    """

    def __init__(self, features: TextFeatures, detector: FaceDetector) -> None:
        self.features, self.detector = features, detector

    @property
    def name(self) -> str:
        """The model and the detector."""
        return f"{self.features.name} on faces by {self.detector.name}"

    def images(self, images: Sequence[Image]) -> list[Vector]:
        """A vector for each image's face; an empty one without a face."""
        from fairspace.ares.faces_ares import face_crops

        crops = [face_crops(image, boxes) for image, boxes in zip(images, self.detector.detect(images), strict=True)]
        seen = iter(self.features.images([crop[0] for crop in crops if crop]))
        return [next(seen) if crop else np.zeros(0, np.float32) for crop in crops]

    def text(self, text: str) -> Vector:
        """As the model has it."""
        return self.features.text(text)

    def scale(self) -> float:
        """As the model has it."""
        return self.features.scale()


def filled(images: Sequence[Image]) -> list[Image]:
    """The images, and the first one as often as whole tiles need."""
    return [*images, *list(images[:1]) * (-len(images) % TILE)]


def check_type(model: str, expected: str) -> weights.Weights:
    """The weights of a model whose configuration is of the expected type.

    Errors: BuildError TOOL_MISSING: transformers would fill another model's places with random numbers, and go on.
    """
    weights.need("torch", "run", model)
    weights.need("transformers", "run", model)
    source = weights.find(model, "config.json")
    try:
        said = json.loads(source.marker.read_text(encoding="utf-8")).get("model_type")
    except (ValueError, AttributeError) as error:
        raise BuildError("TOOL_MISSING", model, f"config.json: {error}", "JSON", "download the model again") from error
    if said != expected:
        mend = f"name a model of the type {expected}"
        raise BuildError("TOOL_MISSING", model, f"a model of the type {said}", f"the type {expected}", mend)
    return source


class Rating(Protocol):
    """Rates one image."""

    @property
    def name(self) -> str:
        """What rates, with all that decides the score."""

    @property
    def features(self) -> ImageFeatures:
        """What is kept of an image."""

    @property
    def texts(self) -> tuple[str, ...]:
        """What images are compared with; () if they are not. With texts, `features` are `TextFeatures`."""

    def rate(self, image: Vector, texts: Sequence[Vector], scale: float) -> float:
        """The score in [0, 1].

        Args:
            image: of `features`, not empty.
            texts: one for each of `texts`.
            scale: of `TextFeatures`; 1 without texts.
        """


class Antonyms:
    """CLIP-IQA: the mean over pairs of opposite words of the softmax of an image's cosines to both.

    Args:
        features: CLIP.
        pairs: good and bad words.
    """

    def __init__(self, features: TextFeatures, pairs: Sequence[tuple[str, str]]) -> None:
        self.features, self.pairs = features, tuple(pairs)

    @property
    def name(self) -> str:
        """The model, and the first pair of words."""
        good, bad = self.pairs[0]
        more = f" and {len(self.pairs) - 1} more" if len(self.pairs) > 1 else ""
        return f"CLIP-IQA {self.features.name} '{good}' '{bad}'{more}"

    @property
    def texts(self) -> tuple[str, ...]:
        """All words, pair by pair."""
        return tuple(word for pair in self.pairs for word in pair)

    def rate(self, image: Vector, texts: Sequence[Vector], scale: float) -> float:
        """See `quality_scores.antonym_score`."""
        return antonym_score(image, list(zip(texts[::2], texts[1::2], strict=True)), scale)


class PyiqaRating:
    """Faces by a no-reference model of pyiqa, on the face that it finds and aligns itself; without one, no score.

    pyiqa's code is under PolyForm Noncommercial 1.0.0, and parts of it under the S-Lab License 1.0: not for commercial
    use. It needs torchvision and much else, downloads its weights when it is first used, and these are pickles, which
    can run code when they are opened. It is therefore an extra of its own, and imported only here.

    Args:
        metric: as pyiqa calls it; a higher score must be better, and lie in about [0, 1], to which it is clipped.
        device: of torch; '' takes a GPU if there is one.

    Errors: BuildError TOOL_MISSING if pyiqa is not installed or knows no such metric; RunError MODEL_OUTPUT if what it
        says is no number.
    """

    texts: tuple[str, ...] = ()

    def __init__(self, metric: str = FACE_METRIC, *, device: str = "") -> None:
        weights.need("pyiqa", "iqa", metric)
        self.metric, self.device = metric, device

    @cached_property
    def name(self) -> str:
        """The metric, and the version of the package, which pins its weights."""
        try:
            return f"pyiqa {self.metric} {version('pyiqa')}"
        except PackageNotFoundError:
            return f"pyiqa {self.metric}"

    @property
    def features(self) -> ImageFeatures:
        """The score itself."""
        return self

    def images(self, images: Sequence[Image]) -> list[Vector]:
        """(1,) the score of each image, one at a time as pyiqa wants it; empty without a face."""
        return [self._score(image) for image in images]

    def rate(self, image: Vector, texts: Sequence[Vector], scale: float) -> float:
        """The score, in [0, 1]."""
        return min(max(round(float(image[0]), DIGITS), 0.0), 1.0)

    def _score(self, image: Image) -> Vector:
        import torch

        pixels = torch.from_numpy(np.array(image.convert("RGB"))).permute(2, 0, 1)[None].float() / 255
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it says every time that it takes one image at a time
            try:
                ratings = self._metric(pixels)
            except AssertionError as error:
                if "No face" not in str(error):
                    raise
                return np.zeros(0, np.float32)
        score = float(ratings)
        if not np.isfinite(score):
            raise RunError("MODEL_OUTPUT", self.name, f"the score {score}", "a number", "name another face-iqa")
        return np.array([score], np.float32)

    @cached_property
    def _metric(self) -> Any:
        pyiqa = import_module("pyiqa")
        known = pyiqa.list_models(metric_mode="NR")
        if self.metric not in known:
            expected = f"one of {', '.join(name for name in known if 'face' in name) or ', '.join(known)}"
            raise BuildError("TOOL_MISSING", self.metric, "no metric of pyiqa", expected, "name one of these")
        metric = pyiqa.create_metric(self.metric, device=weights.best_device(self.device))
        if metric.lower_better:
            expected = "a metric that is higher for better faces"
            raise BuildError("TOOL_MISSING", self.metric, "lower is better", expected, f"name pyiqa:{FACE_METRIC}")
        return metric


class References:
    """The reference images of steer prompts (M9, SCL): those of IRIS-Ideal-52 that show what a prompt asks for.

    They are the same for every model, 29 of each occupation and group, so that a stereotypical prompt has as many as a
    counter-stereotypical one, and a model gains nothing by making all images of a prompt alike.

    Args:
        data: where the dataset is.

    Errors: RunError DATA_MISSING, DATA_INVALID, of `images`, `of` and `name`.
    """

    def __init__(self, data: Data) -> None:
        self._data = data

    @classmethod
    def opened(cls, where: str, revision: str = "") -> References:
        """Those in a folder of builds, or of `NAMESPACE[@TAG]` on the Hub; that it holds images is checked at once."""
        references = cls(open_data(where, revision))
        _ = references.images
        return references

    @cached_property
    def images(self) -> Images:
        """All of them, by id."""
        return self._data.images(IDEAL, "occupation", "test")

    @property
    def name(self) -> str:
        """Which build or commit of the dataset it is."""
        _ = self.images
        return f"{IDEAL} ({self._data.used[IDEAL]})"

    def of(self, item: str) -> list[bytes]:
        """The images of what a steer prompt asks for, in the order of the dataset.

        Args:
            item: id of the prompt, `steer/<occupation>/<stereotypical group>/<requested group>`.
        """
        _, occupation, _, requested = item.split("/")
        return [self.images.get(image) for image in self._cells.get(f"ideal/{occupation}/{requested}", ())]

    @cached_property
    def _cells(self) -> dict[str, list[str]]:
        cells: dict[str, list[str]] = {}
        for image in self.images:
            cells.setdefault(image.rpartition("/")[0], []).append(image)
        return cells


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
    tools = _Tools(device, _detector(detector) if isinstance(detector, Mapping) else detector)

    def opened(role: str, named: str) -> Any:
        if not named:
            return None
        scheme, what, chosen = read(role, named, SCHEMES[role])
        return scheme.open(what, chosen, tools)

    return QualityModels(
        image=opened("iqa", iqa),
        face=opened("face-iqa", face_iqa),
        similarity=opened("similarity", similarity),
        reference=opened("reference", reference),
        references=references,
    )


@dataclass
class _Tools:
    """Options shared by all roles, and the CLIP models that are open already."""

    device: str
    detector: FaceDetector | None
    clips: dict[str, ClipFeatures] = field(default_factory=dict)

    def clip(self, model: str) -> ClipFeatures:
        if model not in self.clips:
            self.clips[model] = ClipFeatures(model, device=self.device)
        return self.clips[model]

    def face(self, model: str) -> Antonyms:
        clip = self.clip(model)
        return Antonyms(clip if self.detector is None else FaceCrops(clip, self.detector), FACE)


_CLIP: tuple[str, str, dict[str, type]] = ("clip[:ID[@REVISION]]", CLIP, {})
SCHEMES: dict[str, dict[str, Scheme]] = {
    "iqa": {"clip": Scheme(*_CLIP, lambda what, chosen, tools: Antonyms(tools.clip(what), PHOTO))},
    "face-iqa": {
        "clip": Scheme(*_CLIP, lambda what, chosen, tools: tools.face(what)),
        "pyiqa": Scheme(
            "pyiqa[:METRIC]", FACE_METRIC, {}, lambda what, chosen, tools: PyiqaRating(what, device=tools.device)
        ),
    },
    "similarity": {"clip": Scheme(*_CLIP, lambda what, chosen, tools: tools.clip(what))},
    "reference": {
        "dinov2": Scheme(
            "dinov2[:ID[@REVISION]]", DINOV2, {}, lambda what, chosen, tools: DinoFeatures(what, device=tools.device)
        )
    },
}
"""Role -> scheme -> opener."""


def _detector(given: Mapping[str, Any]) -> FaceDetector | None:
    from fairspace.ares.faces_ares import FaceError, open_faces

    try:
        return open_faces(given)
    except FaceError as error:
        mend = "see the message"
        raise BuildError("TOOL_MISSING", "--faces", str(error), "a detector of faces", mend) from error
