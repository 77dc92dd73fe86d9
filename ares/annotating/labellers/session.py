"""A worker that annotates with a package: the rows that ARES' session gives, made of another labeller's faces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from fairspace.ares.annotating.labellers.packages import ARES, package
from fairspace.ares.annotating.rows import route_schema
from fairspace.ares.annotating.session import BaseSession, Session, Settings
from fairspace.builders.errors import BuildError

if TYPE_CHECKING:
    from fairspace.ares.annotating.labellers.packages import SeenFace
    from fairspace.ares.classifying_ares import Answered
    from fairspace.ares.deciding_ares import Answer


def open_session(settings: Settings) -> BaseSession:
    """The labeller that settings name, opened. BuildError as its session says."""
    return Session(settings) if settings.labeller == ARES else PackageSession(settings)


class PackageSession(BaseSession):
    """A package, opened. BuildError TOOL_MISSING; CONFIG_INVALID for settings that only ARES has."""

    def __init__(self, settings: Settings) -> None:
        from fairspace.ares.image_processing_ares import AresImageProcessor

        if settings.detector is not None or settings.precision != "float32":
            what, mend = "a face detector or a precision", "leave them out: the package brings its own"
            raise BuildError("CONFIG_INVALID", f"--labeller {settings.labeller}", what, "neither", mend)
        self.settings = settings
        self.package = package(settings.labeller)
        self.adapter = self.package.open()
        self.processor = AresImageProcessor()
        tasks = [{"name": name, "arbiter": ""} for name in self.package.attributes]
        self.routes = route_schema(SimpleNamespace(tasks=tasks, attributes=self.package.attributes))

    def about(self) -> dict[str, Any]:
        """What decides the answers, beside the images and the weights."""
        limits = ("max_bytes", "max_pixels", "min_side", "detail")
        return {
            "labeller": f"{self.package.name} {self.package.version}",
            "licence": self.package.licence,
            "processor": {name: getattr(self.processor, name) for name in limits},
        }

    def answered(self, images: Iterable[Any]) -> Iterator[Answered]:
        """What the package says of each image, the largest face first."""
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
                answers = [self._answer(face, number, len(faces)) for number, face in enumerate(faces)]
                yield Answered(prepared.fate, answers or [Answer("no_face", "no_face", faces=0)])

    def _answer(self, face: SeenFace, number: int, faces: int) -> Answer:
        from fairspace.ares.deciding_ares import Answer

        routes = dict.fromkeys(face.labels, self.package.name)
        return Answer("ok", "", face.labels, face.probabilities, routes, face=number, faces=faces)
