"""How an image's vector becomes its quality: nearer to good words than to bad ones, or what a trained model says.

Both can be handed over wherever a `Rating` is taken. `Antonyms` is CLIP-IQA (Wang, Chan and Loy, AAAI 2023), with CLIP
as transformers runs it: the published variant without positional embeddings needs CLIP's ResNet, which it does not run.
`PyiqaRating` is a model of the pyiqa toolbox, for faces TOPIQ trained on rated faces (Chen et al. 2024).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cached_property
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from fairspace.builders.errors import BuildError
from fairspace.builders.models import weights
from fairspace.submissions.running.errors import RunError
from fairspace.submissions.running.quality.models import ImageFeatures, TextFeatures
from fairspace.submissions.running.quality.scores import DIGITS, Vector, antonym_score

if TYPE_CHECKING:
    from PIL.Image import Image

FACE_METRIC = "topiq_nr-face"


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
