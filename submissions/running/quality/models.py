"""Models behind IRIS' image scores (M8 QPS and FQP, M9 SIL and SCL), opened by name, and the scores from their vectors.

    iqa         clip[:ID[@REVISION]]              CLIP-IQA: "Good photo." against "Bad photo."
    face-iqa    clip[:ID[@REVISION]]              the same with words for faces, on the largest face: a proxy
                pyiqa[:METRIC]                    a model trained on rated faces; an extra of its own, non-commercial
    similarity  clip[:ID[@REVISION]]              cosine of image and prompt
    reference   dinov2[:ID[@REVISION]]            mean cosine to the reference images of the prompt

ID: a repository on the Hub or a folder, with safetensors. Default weights: CLIP ViT-L/14 (MIT), DINOv2 (Apache-2.0).
Every pass has exactly `TILE` images of one shape in float32, and every text its own pass, so a vector does not depend
on its neighbours.
"""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from fairspace.builders.errors import BuildError
from fairspace.builders.models import weights
from fairspace.builders.models.clip import CLIP, Clip
from fairspace.builders.models.opening import Scheme, read
from fairspace.submissions.benchmarks.pictures import open_data
from fairspace.submissions.errors import RunError
from fairspace.submissions.format.manifest import version

if TYPE_CHECKING:
    from PIL.Image import Image

    from fairspace.ares.faces_ares import FaceDetector

# QPS is CLIP-IQA (Wang et al. 2023): the softmax of an image's cosines to "Good photo." and "Bad photo.", in [0, 1];
# FQP the same with words for faces, or a trained model's score; SIL the CLIP cosine to the prompt, and SCL the mean
# DINO cosine to the reference images of the prompt, both in [-1, 1]. The paper names no models (D.2.3: "DINO-based")
# and publishes no reference image: ours are *the images of IRIS-Ideal-52 of the occupation and group that the prompt
# asks for* (`References`). Without them (dataset revision v1) they are the other images of the same prompt, which
# rewards uniform output.

Vector = npt.NDArray[np.float32]
"""Embedding of an image or a text, (d,); empty if the model found no subject, such as a face."""

PHOTO = (("Good photo.", "Bad photo."),)
"""CLIP-IQA's antonyms for overall quality."""
FACE = (
    ("Good photo of a face.", "Bad photo of a face."),
    ("Sharp photo of a face.", "Blurry photo of a face."),
    ("Natural photo of a face.", "Distorted photo of a face."),
)
"""Our words after CLIP-IQA's: quality, sharpness, typical faults of generated faces. Not validated on rated faces."""
DIGITS = 6
"""Decimals kept: float32 has no more, and rounding hides the order of summation."""


def cosine(vector: Vector, other: Vector) -> float:
    """Cosine similarity, in [-1, 1]; both (d,), neither of length zero."""
    first, second = (np.asarray(each, np.float64) for each in (vector, other))
    return _inside(first @ second / math.sqrt((first @ first) * (second @ second)), -1.0)


def antonym_score(image: Vector, antonyms: Sequence[tuple[Vector, Vector]], scale: float) -> float:
    """Mean over pairs of opposite words of the softmax of an image's cosines: the share of the good word, in [0, 1].

    0.5 at equal cosines. All vectors are (d,); at least one pair (good, bad). `scale` multiplies cosines (CLIP: 100).
    """
    gaps = [scale * (cosine(image, good) - cosine(image, bad)) for good, bad in antonyms]
    return _inside(sum(1 / (1 + math.exp(-gap)) for gap in gaps) / len(gaps), 0.0)


def mean_to(vector: Vector, others: Sequence[Vector]) -> float | None:
    """The mean cosine of an image to others, in [-1, 1]; None without any."""
    return _inside(sum(cosine(vector, other) for other in others) / len(others), -1.0) if others else None


def mean_to_others(vectors: Sequence[Vector]) -> list[float | None]:
    """Mean cosine of each image of a prompt to all others, in [-1, 1]; None for a single image. Linear time."""
    if len(vectors) < 2:
        return [None] * len(vectors)
    directions = np.stack([np.asarray(each, np.float64) for each in vectors])
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    others = (directions @ directions.sum(axis=0) - 1) / (len(vectors) - 1)
    return [_inside(value, -1.0) for value in others]


def _inside(value: Any, least: float) -> float:
    """The value with `DIGITS` decimals, clipped to [least, 1]."""
    return min(max(round(float(value), DIGITS), least), 1.0)


DINOV2 = "facebook/dinov2-base"
"""Default model: Apache-2.0, and the backbone of an expert of ARES (Table 10)."""
FACE_METRIC = "topiq_nr-face"
IDEAL = "iris_ideal_52"
TILE = 8


class ImageFeatures(Protocol):
    """A model that embeds images."""

    @property
    def name(self) -> str:
        """Model, revision and all else that decides its vectors."""

    def images(self, images: Sequence[Image]) -> list[Vector]:
        """A vector for each RGB image; empty if the image lacks the model's subject, such as a face."""


class TextFeatures(ImageFeatures, Protocol):
    """A model that embeds images and texts in one space."""

    def text(self, text: str) -> Vector:
        """The vector of a text."""

    def scale(self) -> float:
        """Factor of cosines before a softmax."""


class ClipFeatures:
    """Embeddings of images and texts by CLIP (Radford et al. 2021), projected and of length 1.

    `model`: folder or ID[@REVISION]. `device`: torch device; '' takes a GPU if there is one.

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
        """Vectors of shape (projection,)."""
        vectors = self._clip.images(filled(images))
        return [each.astype(np.float32) for each in vectors[: len(images)]]

    def text(self, text: str) -> Vector:
        """A vector of shape (projection,); the text is cut at CLIP's 77 tokens."""
        vector: Vector = self._clip.texts([text])[0].astype(np.float32)
        return vector

    def scale(self) -> float:
        """CLIP's own temperature: 100 in the published checkpoints, and in CLIP-IQA."""
        return self._clip.scale


class _Float32(Clip):
    @cached_property
    def _model(self) -> Any:
        return super()._model.float()


class DinoFeatures:
    """Embeddings of images by DINOv2 (Oquab et al. 2024): the class token after the last norm (`pooler_output`).

    Preprocessing is the checkpoint's: for Meta's, the shorter side to 256, the middle 224 x 224. Arguments and errors
    are those of `ClipFeatures`.
    """

    def __init__(self, model: str = DINOV2, *, device: str = "") -> None:
        self._weights = check_type(model, "dinov2")
        self.device = device

    @property
    def name(self) -> str:
        """Model with commit or hash."""
        return f"dinov2 {self._weights.name}"

    def images(self, images: Sequence[Image]) -> list[Vector]:
        """Vectors of shape (hidden,)."""
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
    """A model's vectors of the largest face of each image, which is face 0 of the annotations (`ares.faces_ares`)."""

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
        vectors = iter(self.features.images([crop[0] for crop in crops if crop]))
        return [next(vectors) if crop else np.zeros(0, np.float32) for crop in crops]

    def text(self, text: str) -> Vector:
        """The model's vector of a text."""
        return self.features.text(text)

    def scale(self) -> float:
        """The model's scale of cosines."""
        return self.features.scale()


def filled(images: Sequence[Image]) -> list[Image]:
    """The images, filled up to whole tiles with copies of the first."""
    return [*images, *list(images[:1]) * (-len(images) % TILE)]


def check_type(model: str, expected: str) -> weights.Weights:
    """Weights of the expected type of model; BuildError TOOL_MISSING, as transformers would fill gaps at random."""
    weights.need("torch", "run", model)
    weights.need("transformers", "run", model)
    source = weights.find(model, "config.json")
    try:
        model_type = json.loads(source.marker.read_text(encoding="utf-8")).get("model_type")
    except (ValueError, AttributeError) as error:
        raise BuildError("TOOL_MISSING", model, f"config.json: {error}", "JSON", "download the model again") from error
    if model_type != expected:
        mend = f"name a model of the type {expected}"
        raise BuildError("TOOL_MISSING", model, f"a model of the type {model_type}", f"the type {expected}", mend)
    return source


class Antonyms:
    """CLIP-IQA: the mean over pairs of opposite words (good, bad) of the softmax of an image's cosines to both."""

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
        """The score of `scores.antonym_score`."""
        return antonym_score(image, list(zip(texts[::2], texts[1::2], strict=True)), scale)


class PyiqaRating:
    """Faces by a no-reference model of pyiqa, on the face that it finds and aligns itself; without a face, no score.

    Its code is under PolyForm Noncommercial 1.0.0 and the S-Lab License 1.0 (not for commercial use), and its weights
    are pickles, which can run code when opened: therefore an extra of its own, imported only here. A higher score must
    be better, and lie in about [0, 1], to which it is clipped.

    Errors: BuildError TOOL_MISSING if pyiqa or the metric is absent; RunError MODEL_OUTPUT for no number.
    """

    texts: tuple[str, ...] = ()

    def __init__(self, metric: str = FACE_METRIC, *, device: str = "") -> None:
        weights.need("pyiqa", "iqa", metric)
        self.metric, self.device = metric, device

    @cached_property
    def name(self) -> str:
        """The metric and the version of the package, which pins its weights."""
        return f"pyiqa {self.metric} {version('pyiqa')}".rstrip()

    @property
    def features(self) -> ImageFeatures:
        """The score itself."""
        return self

    def images(self, images: Sequence[Image]) -> list[Vector]:
        """The score of each image, shape (1,), one image at a time; empty without a face."""
        return [self._score(image) for image in images]

    def rate(self, image: Vector, texts: Sequence[Vector], scale: float) -> float:
        """The score in [0, 1]."""
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
        names = pyiqa.list_models(metric_mode="NR")
        if self.metric not in names:
            expected = f"one of {', '.join(name for name in names if 'face' in name) or ', '.join(names)}"
            raise BuildError("TOOL_MISSING", self.metric, "no metric of pyiqa", expected, "name one of these")
        metric = pyiqa.create_metric(self.metric, device=weights.best_device(self.device))
        if metric.lower_better:
            expected = "a metric that is higher for better faces"
            raise BuildError("TOOL_MISSING", self.metric, "lower is better", expected, f"name pyiqa:{FACE_METRIC}")
        return metric


Rating = Antonyms | PyiqaRating
"""A rating of single images: `features` see an image, `rate` gives a score in [0, 1] from that and the `texts`."""


class References:
    """The reference images of steer prompts (M9, SCL): those of IRIS-Ideal-52 that show the requested persons.

    They are the same for every model, 29 for each occupation and group. `where`: a folder of builds, or
    `NAMESPACE[@TAG]` on the Hub; `name`: name, and build or commit, of the dataset.
    Errors: RunError DATA_MISSING, DATA_INVALID.
    """

    def __init__(self, where: str, revision: str = "") -> None:
        data = open_data(where, revision)
        self._images = data.images(IDEAL, "occupation", "test")
        self.name = f"{IDEAL} ({data.used[IDEAL]})"
        self._cells: dict[str, list[str]] = {}
        for image in self._images:
            self._cells.setdefault(image.rpartition("/")[0], []).append(image)

    def of(self, item: str) -> list[bytes]:
        """The reference images of a prompt `steer/<occupation>/<stereotypical group>/<requested group>`, in order."""
        _, occupation, _, requested = item.split("/")
        return [self._images.get(image) for image in self._cells.get(f"ideal/{occupation}/{requested}", ())]


@dataclass(frozen=True)
class QualityModels:
    """Models for the four columns; None leaves a column as it is.

    The columns are `image_quality` (QPS), `face_quality` (FQP), `prompt_similarity` (SIL) and `reference_similarity`
    (SCL). Without `references`, SCL takes the other images of the prompt, as in dataset revision v1.
    """

    image: Rating | None = None
    face: Rating | None = None
    similarity: TextFeatures | None = None
    reference: ImageFeatures | None = None
    references: References | None = None

    def about(self) -> dict[str, str]:
        """Column -> name of its model, for the manifest; columns without a model are left out."""
        compared = "the prompt's others" if self.references is None else self.references.name
        models = {
            "image_quality": self.image and self.image.name,
            "face_quality": self.face and self.face.name,
            "prompt_similarity": self.similarity and f"cosine of {self.similarity.name}",
            "reference_similarity": self.reference and f"mean cosine to {compared} of {self.reference.name}",
        }
        return {column: name for column, name in models.items() if name}

    def looking(self) -> list[ImageFeatures]:
        """The models that see images, each once."""
        rated = [rating.features for rating in (self.image, self.face) if rating is not None]
        models = [*rated, *(model for model in (self.similarity, self.reference) if model is not None)]
        return list({features.name: features for features in models}.values())


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
    """Open models for `iqa` (images), `face_iqa`, `similarity` and `reference` by name; '' leaves a column out.

    `detector` finds faces for `clip` (a detector, or settings of `open_faces` of ARES); None takes every image as one
    face. pyiqa has its own. `device` '' takes a GPU if there is one.

    Errors: BuildError TOOL_MISSING if a scheme is not known, or a package, file or model is not there.
    """
    if isinstance(detector, Mapping):
        from fairspace.ares.faces_ares import FaceError, open_faces

        try:
            detector = open_faces(detector)
        except FaceError as error:
            raise BuildError("TOOL_MISSING", "--faces", str(error), "a detector of faces", "see the message") from error
    tools = _Tools(device, detector)

    def opened(role: str, name: str) -> Any:
        if not name:
            return None
        scheme, what, settings = read(role, name, SCHEMES[role])
        return scheme.open(what, settings, tools)

    return QualityModels(
        image=opened("iqa", iqa),
        face=opened("face-iqa", face_iqa),
        similarity=opened("similarity", similarity),
        reference=opened("reference", reference),
        references=references,
    )


@dataclass
class _Tools:
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
    "iqa": {"clip": Scheme(*_CLIP, lambda what, settings, tools: Antonyms(tools.clip(what), PHOTO))},
    "face-iqa": {
        "clip": Scheme(*_CLIP, lambda what, settings, tools: tools.face(what)),
        "pyiqa": Scheme(
            "pyiqa[:METRIC]", FACE_METRIC, {}, lambda what, settings, tools: PyiqaRating(what, device=tools.device)
        ),
    },
    "similarity": {"clip": Scheme(*_CLIP, lambda what, settings, tools: tools.clip(what))},
    "reference": {
        "dinov2": Scheme(
            "dinov2[:ID[@REVISION]]", DINOV2, {}, lambda what, settings, tools: DinoFeatures(what, device=tools.device)
        )
    },
}
"""Role -> scheme -> opener."""
