"""Interfaces of models: find persons; make, edit, label and compare images; write descriptions.

`builders/models/` implements them with real models, `builders/drawn/tools.py` with swatches. The manifest prints each
tool's `name`, with the revision or settings that decide its output.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from PIL.Image import Image


class PersonBox(NamedTuple):
    """A person in an image, in pixels from the upper left corner; `score` is the confidence in [0, 1]."""

    x: float
    y: float
    width: float
    height: float
    score: float = 1.0


@dataclass(frozen=True)
class Picture:
    """An image, as the path or the bytes of a file.

    `name` is its key in stored results: the file's path below its source, or an item id.
    """

    name: str
    data: Path | str | bytes

    def open(self) -> Image:
        """The decoded image, upright, as RGB. OSError if it cannot be read."""
        from fairspace.builders.publishing.join_images import upright

        return upright(self.data if isinstance(self.data, bytes) else Path(self.data).read_bytes())


@dataclass(frozen=True)
class Labels:
    """The perceived presentation of the person in an image; '' without a label.

    `gender` is `female` or `male`; `age` `young`, `middle-aged` or `older`; `skin_tone` `light`, `middle` or `dark`;
    `reason` `no face`, `several faces` or `unsure` if a label is missing, else ''.
    """

    gender: str = ""
    age: str = ""
    skin_tone: str = ""
    reason: str = ""


class NamedTool(Protocol):
    """A tool with a name for the manifest."""

    @property
    def name(self) -> str:
        """Model, revision, and the settings that decide the output."""


class PersonDetector(NamedTool, Protocol):
    """Finds persons."""

    def detect(self, pictures: Sequence[Picture]) -> list[list[PersonBox]]:
        """The persons of each picture, the most certain first."""


@dataclass(frozen=True)
class ImagePrompt:
    """One image to make. `seed` alone decides the noise, independently of the batch."""

    text: str
    seed: int


class ImageGenerator(NamedTool, Protocol):
    """Makes images from text."""

    def generate(self, prompts: Sequence[ImagePrompt]) -> list[Image]:
        """One RGB image per prompt."""


class ImageEditor(NamedTool, Protocol):
    """Edits images by an instruction."""

    def edit(self, images: Sequence[Image], instructions: Sequence[ImagePrompt]) -> list[Image]:
        """One RGB image per instruction."""


class PersonLabeller(NamedTool, Protocol):
    """Labels the perceived presentation of the one person in an image."""

    def label(self, images: Sequence[Image]) -> list[Labels]:
        """Labels of each image."""


class Matcher(NamedTool, Protocol):
    """Compares images with texts and with each other (CLIP)."""

    def text_similarity(self, images: Sequence[Image], texts: Sequence[str]) -> list[float]:
        """Cosine similarity in [-1, 1] of each image and its text."""

    def image_similarity(self, first: Sequence[Image], second: Sequence[Image]) -> list[float]:
        """Cosine similarity in [-1, 1] of the images at the same place."""


class Describer(NamedTool, Protocol):
    """Writes descriptions of images (a language model, or a file of its answers)."""

    def describe(self, element: str, prompt: str) -> list[str]:
        """The descriptions for an element's images; `prompt` asks for them."""


@dataclass(frozen=True)
class Tools:
    """The tools of one build; None for roles without a tool."""

    detector: PersonDetector | None = None
    generator: ImageGenerator | None = None
    editor: ImageEditor | None = None
    labeller: PersonLabeller | None = None
    matcher: Matcher | None = None
    describer: Describer | None = None

    def names(self) -> dict[str, str]:
        """Role -> name of each tool given, for the manifest."""
        roles = ("detector", "generator", "editor", "labeller", "matcher", "describer")
        return {role: tool.name for role in roles if (tool := getattr(self, role)) is not None}
