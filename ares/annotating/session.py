"""A worker that annotates: a labeller, opened once, for any part of the inputs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairspace.ares.annotating.labellers.packages import ARES
from fairspace.ares.annotating.source import Entry, Source, contents
from fairspace.builders.errors import BuildError

if TYPE_CHECKING:
    import pyarrow as pa

    from fairspace.ares.annotating.rows import Tally
    from fairspace.ares.classifying_ares import Answered
    from fairspace.ares.faces_ares import FaceDetector

_STEP = 32
"""Images between two reports of progress."""


@dataclass(frozen=True)
class Settings:
    """How to annotate.

    Args:
        model: folder of ARES.
        source: of the images.
        batch: faces that are decided together.
        workers: threads that read ahead.
        detector: finds faces; or the settings that `open_faces` takes, or None.
        device: of torch; '' takes a GPU if there is one.
        precision: one of `eight_bits.PRECISIONS`, of weights and sums.
        threads: of torch on a CPU; 0 leaves it to torch.
        ask_endpoint: whether images may be sent to the endpoint that the model names.
        labeller: `ares`, or the name of a package (`labellers.packages`), which takes the place of the model.
    """

    model: Path
    source: Source
    batch: int = 64
    workers: int = 2
    detector: FaceDetector | Mapping[str, Any] | None = None
    device: str = ""
    precision: str = "float32"
    threads: int = 0
    ask_endpoint: bool = False
    labeller: str = ARES


class BaseSession(ABC):
    """An opened labeller; its kinds say what it answers."""

    settings: Settings
    routes: pa.Schema

    @abstractmethod
    def about(self) -> dict[str, Any]:
        """What decides the answers, beside the images and the labeller's files."""

    @abstractmethod
    def answered(self, images: Iterable[Any]) -> Iterator[Answered]:
        """What is said of each image, in order; images are as `contents` gives them."""

    def annotate(
        self, entries: Sequence[Entry], step: Callable[[int], None] = lambda images: None
    ) -> tuple[pa.Table, pa.Table, Tally]:
        """The rows of some inputs: annotations, routes, counts. `step` is called with how many images more are done."""
        return self.answer(entries, contents(self.settings.source, list(entries)), step)

    def answer(
        self, entries: Sequence[Entry], images: Iterable[Any], step: Callable[[int], None] = lambda images: None
    ) -> tuple[pa.Table, pa.Table, Tally]:
        """The same for images that the caller reads: one for each entry, in order, as `contents` gives them."""
        from fairspace.ares.annotating.rows import tables

        return tables(entries, _reported(self.answered(images), step), self.routes)


class Session(BaseSession):
    """ARES, opened. BuildError TOOL_MISSING if the vision-language model or the detector is not there."""

    def __init__(self, settings: Settings) -> None:
        import torch

        from fairspace.ares.annotating.eight_bits import in_precision
        from fairspace.ares.annotating.rows import route_schema
        from fairspace.ares.asking_ares import ArbiterError
        from fairspace.ares.evaluating.evaluate import open_arbiter, open_model
        from fairspace.ares.faces_ares import FaceError, open_faces
        from fairspace.ares.image_processing_ares import AresImageProcessor

        self.settings = settings
        if settings.threads:
            torch.set_num_threads(settings.threads)
        device = settings.device or ("cuda" if torch.cuda.is_available() else "cpu")
        self.model = in_precision(open_model(settings.model), settings.precision, device)
        given = settings.detector
        try:
            self.detector = open_faces(given) if isinstance(given, Mapping) else given
            open_arbiter(self.model, settings.ask_endpoint)
        except (ArbiterError, FaceError) as error:
            raise BuildError("TOOL_MISSING", str(settings.model), str(error), "a model", "see the message") from error
        stored = settings.model / "preprocessor_config.json"
        size = self.model.config.image_size
        self.processor = (
            AresImageProcessor.from_pretrained(settings.model) if stored.is_file() else AresImageProcessor(size)
        )
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
        """What ARES says of each image."""
        from fairspace.ares.classifying_ares import answered

        settings = self.settings
        return answered(
            self.model,
            self.processor,
            images,
            batch=settings.batch,
            workers=settings.workers,
            detector=self.detector,
        )


_PROCESSOR = ("image_size", "max_bytes", "max_pixels", "min_side", "detail")


def _reported(results: Iterator[Answered], step: Callable[[int], None]) -> Iterator[Answered]:
    done = 0
    for each in results:
        yield each
        done += 1
        if done == _STEP:
            step(done)
            done = 0
    step(done)
