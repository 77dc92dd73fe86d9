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

import hashlib
import json
import math
import sqlite3
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from itertools import groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from fairspace.builders.errors import BuildError
from fairspace.builders.models import weights
from fairspace.builders.models.clip import CLIP, Clip
from fairspace.builders.models.opening import Scheme, read
from fairspace.submissions.benchmarks.pictures import open_data
from fairspace.submissions.errors import RunError, UsageError, did_you_mean
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

Item = tuple[str, str]
Key = tuple[str, str, int]
"""Task, id and sample of an image."""
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


_FORMAT = 2
_TABLE = """CREATE TABLE IF NOT EXISTS vector (model TEXT, of TEXT, value BLOB NOT NULL, PRIMARY KEY (model, of))
WITHOUT ROWID"""


class Vectors:
    """Vectors of images and texts in a file, keyed by model, settings and content. RunError RUN_OTHER for others."""

    def __init__(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        self._db = sqlite3.connect(file, isolation_level=None, timeout=60)
        try:
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            (version,) = self._db.execute("PRAGMA user_version").fetchone()
            (tables,) = self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()
            if version != _FORMAT and (version or tables):
                raise sqlite3.DatabaseError(f"format {version}")
            self._db.executescript(f"{_TABLE}; PRAGMA user_version={_FORMAT};")
        except sqlite3.DatabaseError as error:
            self._db.close()
            mend = "name another file, or remove it: all that is in it can be computed again"
            raise RunError("RUN_OTHER", str(file), f"{error}", "a cache of image quality", mend) from error

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def get(self, model: str, key: str) -> Vector | None:
        """The vector of a model and a key; None if it is not cached."""
        row = self._db.execute("SELECT value FROM vector WHERE model = ? AND of = ?", (model, key)).fetchone()
        return None if row is None else np.frombuffer(row[0], np.float32)

    def put(self, features: Any, values: Mapping[str, Vector]) -> None:
        """Keep vectors by their keys. RunError MODEL_OUTPUT for a vector without a direction (zero or not finite)."""
        for vector in values.values():
            if not np.isfinite(vector).all() or (vector.size > 1 and not vector.any()):
                mend = "name other weights, or run them on another device"
                what = "a vector that is not finite, or zero"
                raise RunError("MODEL_OUTPUT", features.name, what, "a direction", mend)
        rows = [(features.name, key, np.asarray(value, np.float32).tobytes()) for key, value in values.items()]
        self._db.execute("BEGIN IMMEDIATE")
        with self._db:
            self._db.executemany("INSERT OR REPLACE INTO vector VALUES (?, ?, ?)", rows)

    def images(self, features: ImageFeatures, images: Mapping[str, Image]) -> int:
        """Embed those images (key -> pixels) that have no vector yet; return their number."""
        missing = [key for key in images if self.get(features.name, key) is None]
        if missing:
            computed = features.images([images[key] for key in missing])
            self.put(features, dict(zip(missing, computed, strict=True)))
        return len(missing)

    def seen(self, features: ImageFeatures, images: Mapping[Any, str]) -> dict[Any, Vector]:
        """The vectors of images (name -> key); an image without one, or without the model's subject, is left out."""
        cached = {name: self.get(features.name, key) for name, key in images.items()}
        return {name: vector for name, vector in cached.items() if vector is not None and vector.size}

    def files(self, features: ImageFeatures, images: Iterable[bytes]) -> list[Vector]:
        """The vectors of encoded images, each embedded unless it is cached."""
        encoded = {image_key(hashlib.sha256(image).hexdigest()): image for image in images}
        missing = iter([key for key in encoded if self.get(features.name, key) is None])
        while part := list(islice(missing, 8)):
            decoded = {key: decode({"bytes": encoded[key], "path": ""})[1] for key in part}
            self.images(features, {key: image for key, image in decoded.items() if image is not None})
        return list(self.seen(features, {key: key for key in encoded}).values())

    def text(self, features: Any, text: str) -> Vector:
        """The vector of a text."""
        return self._once(features, f"text {hashlib.sha256(text.encode()).hexdigest()}", lambda: features.text(text))

    def scale(self, features: Any) -> float:
        """A model's scale of cosines."""
        return float(self._once(features, "scale", lambda: np.array([features.scale()], np.float32))[0])

    def _once(self, features: Any, key: str, compute: Callable[[], Vector]) -> Vector:
        if (vector := self.get(features.name, key)) is None:
            self.put(features, {key: (vector := np.asarray(compute(), np.float32))})
        return vector


def image_key(sha256: str) -> str:
    """Key of an image with these bytes."""
    return f"image {sha256}"


def decode(image: Any) -> tuple[str, Image | None]:
    """The sha256 and the pixels; None if they cannot be read, or the bytes are not those of their hash."""
    from fairspace.ares.fates_ares import ImageLimits
    from fairspace.ares.reading_ares import read_image

    if isinstance(image, Path):
        try:
            image = {"bytes": image.read_bytes(), "path": image.name}
        except OSError:
            return "", None
    pixels, _ = read_image(image, ImageLimits(), 0)
    if pixels is None:
        return "", None
    return image.get("sha256") or hashlib.sha256(image["bytes"]).hexdigest(), pixels


class Measure(ABC):
    """A column of the annotations: `features` see an image, and `scores` follow from their vectors of all images."""

    column: str
    features: ImageFeatures

    @property
    @abstractmethod
    def name(self) -> str:
        """The model and the way of measuring, for the manifest."""

    @abstractmethod
    def scores(self, images: Mapping[Key, Vector], prompts: Mapping[Item, str], vectors: Vectors) -> dict[Key, float]:
        """Image -> its score; an image that cannot be measured is left out. `prompts`: those of the items."""


class Antonyms(Measure):
    """CLIP-IQA: the mean over pairs of opposite words (good, bad) of the softmax of an image's cosines to both."""

    def __init__(self, column: str, features: TextFeatures, pairs: Sequence[tuple[str, str]]) -> None:
        self.column, self.features, self.pairs = column, features, tuple(pairs)

    @property
    def name(self) -> str:
        """The model, and the first pair of words."""
        good, bad = self.pairs[0]
        more = f" and {len(self.pairs) - 1} more" if len(self.pairs) > 1 else ""
        return f"CLIP-IQA {self.features.name} '{good}' '{bad}'{more}"

    def scores(self, images: Mapping[Key, Vector], prompts: Mapping[Item, str], vectors: Vectors) -> dict[Key, float]:
        """The `antonym_score` of each image."""
        if not images:
            return {}
        words = [(vectors.text(self.features, good), vectors.text(self.features, bad)) for good, bad in self.pairs]
        scale = vectors.scale(self.features)
        return {key: antonym_score(image, words, scale) for key, image in images.items()}


class PromptSimilarity(Measure):
    """SIL: the cosine of an image and its prompt."""

    column = "prompt_similarity"

    def __init__(self, features: TextFeatures) -> None:
        self.features = features

    @property
    def name(self) -> str:
        """The model."""
        return f"cosine of {self.features.name}"

    def scores(self, images: Mapping[Key, Vector], prompts: Mapping[Item, str], vectors: Vectors) -> dict[Key, float]:
        """The cosine of each image."""
        return {key: cosine(image, vectors.text(self.features, prompts[key[:2]])) for key, image in images.items()}


class ReferenceSimilarity(Measure):
    """SCL: the mean cosine to the `references` of the prompt; without them to its other images, as in revision v1."""

    column = "reference_similarity"

    def __init__(self, features: ImageFeatures, references: References | None = None) -> None:
        self.features, self.references = features, references

    @property
    def name(self) -> str:
        """The model, and what images are compared with."""
        compared = "the prompt's others" if self.references is None else self.references.name
        return f"mean cosine to {compared} of {self.features.name}"

    def scores(self, images: Mapping[Key, Vector], prompts: Mapping[Item, str], vectors: Vectors) -> dict[Key, float]:
        """The mean of each image, where its prompt has other images to compare it with."""
        means: dict[Key, float | None] = {}
        for (_, item), group in groupby(images, key=lambda key: key[:2]):
            keys = list(group)
            if self.references is None:
                means |= zip(keys, mean_to_others([images[key] for key in keys]), strict=True)
            else:
                references = vectors.files(self.features, self.references.of(item))
                means |= {key: mean_to(images[key], references) for key in keys}
        return {key: mean for key, mean in means.items() if mean is not None}


class PyiqaRating(Measure):
    """Faces by a no-reference model of pyiqa, on the face that it finds and aligns itself; without a face, no score.

    Its code is under PolyForm Noncommercial 1.0.0 and the S-Lab License 1.0 (not for commercial use), and its weights
    are pickles, which can run code when opened: therefore an extra of its own, imported only here. A higher score must
    be better, and lie in about [0, 1], to which it is clipped.

    Errors: BuildError TOOL_MISSING if pyiqa or the metric is absent; RunError MODEL_OUTPUT for no number.
    """

    column = "face_quality"

    def __init__(self, metric: str = FACE_METRIC, device: str = "") -> None:
        weights.need("pyiqa", "iqa", metric)
        self.metric, self.device = metric, device
        self.features = self

    @property
    def name(self) -> str:
        """The metric and the version of the package, which pins its weights."""
        return f"pyiqa {self.metric} {version('pyiqa')}".rstrip()

    def images(self, images: Sequence[Image]) -> list[Vector]:
        """The score of each image, shape (1,), one image at a time; empty without a face."""
        return [self._score(image) for image in images]

    def scores(self, images: Mapping[Key, Vector], prompts: Mapping[Item, str], vectors: Vectors) -> dict[Key, float]:
        """The scores in [0, 1]."""
        return {key: _inside(image[0], 0.0) for key, image in images.items()}

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


def open_quality(
    name: Mapping[str, str],
    *,
    references: References | None = None,
    detector: FaceDetector | Mapping[str, Any] | None = None,
    device: str = "",
) -> list[Measure]:
    """Open the measures of roles (`SCHEMES`), in that order, by the names of their models.

    `detector` finds faces for `clip` (a detector, or settings of `open_faces` of ARES); None takes every image as one
    face. pyiqa has its own. `device` '' takes a GPU if there is one. `references`: as of `ReferenceSimilarity`.

    Errors: UsageError for an unknown role; BuildError TOOL_MISSING if a scheme is not known, or a package, file or
    model is not there.
    """
    for role in name:
        if role not in SCHEMES:
            raise UsageError(f"Nothing rates {role!r}{did_you_mean(role, SCHEMES)}. Known: {', '.join(SCHEMES)}.")
    if isinstance(detector, Mapping):
        from fairspace.ares.faces_ares import FaceError, open_faces

        try:
            detector = open_faces(detector)
        except FaceError as error:
            raise BuildError("TOOL_MISSING", "--faces", str(error), "a detector of faces", "see the message") from error
    tools, measures = _Tools(device, detector, references), []
    for role in filter(name.__contains__, SCHEMES):
        scheme, what, settings = read(role, name[role], SCHEMES[role])
        measures.append(scheme.open(what, settings, tools))
    return measures


@dataclass
class _Tools:
    device: str
    detector: FaceDetector | None
    references: References | None
    clips: dict[str, ClipFeatures] = field(default_factory=dict)

    def clip(self, model: str) -> ClipFeatures:
        if model not in self.clips:
            self.clips[model] = ClipFeatures(model, device=self.device)
        return self.clips[model]

    def faces(self, model: str) -> TextFeatures:
        clip = self.clip(model)
        return clip if self.detector is None else FaceCrops(clip, self.detector)


_CLIP: tuple[str, str, dict[str, type]] = ("clip[:ID[@REVISION]]", CLIP, {})
SCHEMES: dict[str, dict[str, Scheme]] = {
    "iqa": {"clip": Scheme(*_CLIP, lambda what, _, tools: Antonyms("image_quality", tools.clip(what), PHOTO))},
    "face-iqa": {
        "clip": Scheme(*_CLIP, lambda what, _, tools: Antonyms("face_quality", tools.faces(what), FACE)),
        "pyiqa": Scheme("pyiqa[:METRIC]", FACE_METRIC, {}, lambda what, _, tools: PyiqaRating(what, tools.device)),
    },
    "similarity": {"clip": Scheme(*_CLIP, lambda what, _, tools: PromptSimilarity(tools.clip(what)))},
    "reference": {
        "dinov2": Scheme(
            "dinov2[:ID[@REVISION]]",
            DINOV2,
            {},
            lambda what, _, tools: ReferenceSimilarity(DinoFeatures(what, device=tools.device), tools.references),
        )
    },
}
"""Role -> scheme -> opener."""
