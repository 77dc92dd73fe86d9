"""A labeller, opened once, for any images: ARES, or a package."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from fairspace.ares.annotating.labellers.packages import ARES, package
from fairspace.ares.annotating.rows import Counts, route_schema, tables
from fairspace.ares.annotating.source import Entry
from fairspace.builders.errors import BuildError

if TYPE_CHECKING:
    import pyarrow as pa

    from fairspace.ares.classifying_ares import Answered
    from fairspace.ares.faces_ares import FaceDetector

PRECISIONS = ("float32", "bfloat16")
"""Of an opened model; what was measured of one says nothing of the other."""
_STEP = 32
"""Images between two reports of progress."""
_PROCESSOR = ("image_size", "max_bytes", "max_pixels", "min_side", "detail")


@dataclass(frozen=True)
class Settings:
    """How to annotate.

    Args:
        model: folder of ARES.
        labeller: `ares`, or the name of a package (`labellers.packages`), which takes the place of the model.
        batch: faces that are decided together.
        workers: threads that read ahead.
        detector: finds faces; or the settings that `open_faces` takes, or None.
        device: of torch; '' takes a GPU if there is one.
        precision: one of `PRECISIONS`, of weights and sums.
        ask_endpoint: whether images may be sent to the endpoint that the model names.
    """

    model: Path
    labeller: str = ARES
    batch: int = 64
    workers: int = 2
    detector: FaceDetector | Mapping[str, Any] | None = None
    device: str = ""
    precision: str = "float32"
    ask_endpoint: bool = False


def open_session(settings: Settings) -> BaseSession:
    """The labeller that settings name, opened. BuildError as its session says."""
    return Session(settings) if settings.labeller == ARES else PackageSession(settings)


class BaseSession(ABC):
    """An opened labeller."""

    routes: pa.Schema

    @abstractmethod
    def about(self) -> dict[str, Any]:
        """What decides the answers, beside the images and the labeller's files."""

    @abstractmethod
    def answered(self, images: Iterable[Any]) -> Iterator[Answered]:
        """The answers for each image, in order; images are as `source.contents` gives them."""

    def answer(
        self, entries: Sequence[Entry], images: Iterable[Any], step: Callable[[int], None]
    ) -> tuple[pa.Table, pa.Table, Counts]:
        """The rows of some inputs: annotations, routes, counts.

        Args:
            entries: the inputs.
            images: one for each, in order.
            step: called with how many images more are done.
        """
        return tables(entries, _reported(self.answered(images), step), self.routes)


class Session(BaseSession):
    """ARES, opened.

    BuildError CONFIG_INVALID for another precision; TOOL_MISSING if the vision-language model or the detector is not
    there.
    """

    def __init__(self, settings: Settings) -> None:
        import torch

        from fairspace.ares.asking_ares import ArbiterError
        from fairspace.ares.evaluating.evaluate import open_arbiter, open_model
        from fairspace.ares.faces_ares import FaceError, open_faces
        from fairspace.ares.image_processing_ares import AresImageProcessor

        if settings.precision not in PRECISIONS:
            expected = " or ".join(PRECISIONS)
            raise BuildError("CONFIG_INVALID", "precision", settings.precision, expected, "choose one")
        self.settings = settings
        device = settings.device or ("cuda" if torch.cuda.is_available() else "cpu")
        self.model = open_model(settings.model).to(device=device, dtype=getattr(torch, settings.precision))
        given = settings.detector
        try:
            self.detector = open_faces(given) if isinstance(given, Mapping) else given
            open_arbiter(self.model, settings.ask_endpoint)
        except (ArbiterError, FaceError) as error:
            raise BuildError("TOOL_MISSING", str(settings.model), str(error), "a model", "see the message") from error
        stored = (settings.model / "preprocessor_config.json").is_file()
        size = self.model.config.image_size
        self.processor = AresImageProcessor.from_pretrained(settings.model) if stored else AresImageProcessor(size)
        self.routes = route_schema(self.model.config)

    def about(self) -> dict[str, Any]:
        """What decides the answers, beside the images and the model's files."""
        arbiter = self.model.arbiter
        return {
            "ablation": self.model.config.ablation,
            "arbiter": arbiter.name if arbiter is not None else "",
            "detector": self.detector.name if self.detector is not None else "",
            "precision": self.settings.precision,
            "processor": {name: getattr(self.processor, name) for name in _PROCESSOR},
        }

    def answered(self, images: Iterable[Any]) -> Iterator[Answered]:
        """The answers of ARES for each image."""
        from fairspace.ares.classifying_ares import answered

        options = {"batch": self.settings.batch, "workers": self.settings.workers}
        return answered(self.model, self.processor, images, detector=self.detector, **options)


class PackageSession(BaseSession):
    """A package, opened. BuildError TOOL_MISSING; CONFIG_INVALID for settings that only ARES has."""

    def __init__(self, settings: Settings) -> None:
        from fairspace.ares.image_processing_ares import AresImageProcessor

        if settings.detector is not None or settings.precision != "float32":
            what, mend = "a face detector or a precision", "leave them out: the package brings its own"
            raise BuildError("CONFIG_INVALID", f"--labeller {settings.labeller}", what, "neither", mend)
        self.package = package(settings.labeller)
        self.adapter = self.package.open()
        self.processor = AresImageProcessor()
        tasks = [{"name": name, "arbiter": ""} for name in self.package.attributes]
        self.routes = route_schema(SimpleNamespace(tasks=tasks, attributes=self.package.attributes))

    def about(self) -> dict[str, Any]:
        """What decides the answers, beside the images and the weights."""
        return {
            "labeller": f"{self.package.name} {self.package.version}",
            "licence": self.package.licence,
            "processor": {name: getattr(self.processor, name) for name in _PROCESSOR[1:]},
        }

    def answered(self, images: Iterable[Any]) -> Iterator[Answered]:
        """The answers of the package for each image, the largest face first."""
        from fairspace.ares.classifying_ares import Answered
        from fairspace.ares.deciding_ares import Answer
        from fairspace.ares.reading_ares import quiet

        with quiet():
            for image in images:
                prepared = self.processor.prepare(image, square=False, keep=True)
                if prepared.image is None:
                    yield Answered(prepared.fate, [Answer(prepared.fate.status, prepared.fate.reason, faces=0)])
                    continue
                faces = sorted(self.adapter.label(prepared.image), key=lambda face: (-face.area, face.box))
                answers = [
                    Answer(
                        "ok",
                        "",
                        face.labels,
                        face.probabilities,
                        dict.fromkeys(face.labels, self.package.name),
                        face=number,
                        faces=len(faces),
                    )
                    for number, face in enumerate(faces)
                ]
                yield Answered(prepared.fate, answers or [Answer("no_face", "no_face", faces=0)])


def _reported(results: Iterator[Answered], step: Callable[[int], None]) -> Iterator[Answered]:
    done = 0
    for each in results:
        yield each
        done += 1
        if done == _STEP:
            step(done)
            done = 0
    step(done)
