"""Images made until they pass (generate, check, try the next seed, log rejections), and the choice for a plan's cells.

IRIS fills the gaps of IRIS-Ideal-52 with synthetic images "checked by a classifier" (appendix C.1); GENRES repeats
generation and filtering "until five qualified images are obtained" (appendix B.2). A candidate's name is the sha256 of
the tool's name, key, prompt, the attempt's seed and the edited image; neither a kill nor the batch size changes the
images or the log.

  .build/made/<name>.json, .png   verdict; image, only if it passed
"""

from __future__ import annotations

import hashlib
import json
import math
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from fairspace.builders.engine.dataset import Job
from fairspace.builders.engine.reviews import REASON, Reviews
from fairspace.builders.engine.tools import Prompt
from fairspace.builders.errors import BuildError

if TYPE_CHECKING:
    from PIL.Image import Image

AT_ONCE = 8
"""Images made and checked together; it changes none of them."""


@dataclass(frozen=True)
class Wanted:
    """One image to make from a prompt or, with the bytes of a `base` image, from an instruction to `Tools.editor`.

    `key`, unique in a build, is its name in the log and decides the seeds.
    """

    key: str
    prompt: str
    base: bytes = b""


@dataclass(frozen=True)
class Verdict:
    """A check's result: '' or one of few reasons to reject the image, and the numbers behind it."""

    reason: str = ""
    evidence: Mapping[str, str | int | float] = field(default_factory=dict)


Accept = Callable[[Sequence["Image"], Sequence[Wanted]], Sequence[Verdict | str]]
"""Images and their wishes -> a verdict each, or just its reason ('' accepts)."""


def seed(build: int, key: str, attempt: int) -> int:
    """The seed of an attempt at an image: 32 bits of the sha256 of the build's seed, the key and the attempt."""
    return int.from_bytes(hashlib.sha256(json.dumps([build, key, attempt]).encode()).digest()[:4], "big")


def jpeg(image: Image) -> bytes:
    """The image as JPEG of quality 95 without metadata."""
    stream = BytesIO()
    image.convert("RGB").save(stream, "JPEG", quality=95, comment=b"")
    return stream.getvalue()


def make(
    job: Job,
    wanted: Sequence[Wanted],
    accept: Accept,
    *,
    attempts: int = 10,
    batch: int = AT_ONCE,
) -> Iterator[tuple[Wanted, Image | None]]:
    """Make images, in order, with `seed` and evidence in `info`; an image that passed no attempt comes as None.

    Rejected candidates are logged with the number of the attempt, failures with the reason `gave up`. `accept` must
    judge each image alone, without neighbours or earlier ones; `batch` changes no image; keys differ.

    Errors: BuildError TOOL_MISSING without a generator (or an editor, for a `base`); TOOL_OUTPUT for a wrong number.
    """
    reviews, done = Reviews(job.options), 0
    for start in range(0, len(wanted), batch):
        items = [_Item(each, job, attempts, reviews) for each in wanted[start : start + batch]]
        while tried := [item for item in items if item.open]:
            images = _generate(job, [item.wanted for item in tried], [item.attempt for item in tried])
            verdicts = accept(images, [item.wanted for item in tried])
            for item, image, verdict in zip(tried, images, verdicts, strict=True):
                item.settle(image, verdict if isinstance(verdict, Verdict) else Verdict(verdict))
        for item in items:
            done += 1
            job.progress("Making images", done, len(wanted))
            yield item.wanted, item.close()


class _Item:
    """A wanted image and the progress of its attempts; knows the reviews and the candidates left by an earlier run."""

    def __init__(self, wanted: Wanted, job: Job, attempts: int, reviews: Reviews) -> None:
        self.wanted, self.job, self.attempts = wanted, job, attempts
        self.reviews = reviews
        self.store = MadeStore(job.work)
        self.rejected: list[Verdict] = []
        self.passed = False
        self.evidence: Mapping[str, str | int | float] = {}
        self._take_up()

    @property
    def attempt(self) -> int:
        return len(self.rejected)

    @property
    def open(self) -> bool:
        return not self.passed and self.attempt < self.attempts

    @property
    def seed(self) -> int:
        return seed(self.job.seed, self.wanted.key, self.attempt)

    @property
    def name(self) -> str:
        tool = self.job.tools.editor if self.wanted.base else self.job.tools.generator
        decided_by = [
            tool.name if tool else "",
            self.wanted.key,
            self.wanted.prompt,
            self.seed,
            hashlib.sha256(self.wanted.base).hexdigest(),
        ]
        return hashlib.sha256(json.dumps(decided_by).encode()).hexdigest()

    def settle(self, image: Image, verdict: Verdict) -> None:
        evidence = {name: _plain(value) for name, value in verdict.evidence.items()}
        said = {"key": self.wanted.key, "attempt": self.attempt, "reason": verdict.reason, "evidence": evidence}
        self.store.keep(self.name, image, said)
        self._take_up()

    def close(self) -> Image | None:
        for attempt, verdict in enumerate(self.rejected):
            self.job.reject(self.wanted.key, verdict.reason, attempt=attempt, **verdict.evidence)
        if self.passed:
            image = self.store.image(self.name)
            image.info.update(dict(self.evidence))
            image.info["seed"] = self.seed
            return image
        self.job.reject(self.wanted.key, "gave up", attempts=self.attempts)
        return None

    def _take_up(self) -> None:
        while self.open:
            if self.reviews.refuses(self.wanted.key, self.seed):
                self._count(Verdict(REASON))
            elif (known := self.store.verdict(self.name)) is not None:
                self._count(Verdict(known["reason"], known["evidence"]))
            else:
                return

    def _count(self, verdict: Verdict) -> None:
        if verdict.reason:
            self.rejected.append(verdict)
        else:
            self.passed, self.evidence = True, verdict.evidence


def _generate(job: Job, wanted: Sequence[Wanted], attempts: Sequence[int]) -> list[Image]:
    from PIL import Image as Images

    by_place: dict[int, Image] = {}
    prompts = [Prompt(item.prompt, seed(job.seed, item.key, n)) for item, n in zip(wanted, attempts, strict=True)]
    plain = [place for place, item in enumerate(wanted) if not item.base]
    edits = [place for place, item in enumerate(wanted) if item.base]
    if plain:
        if job.tools.generator is None:
            raise _missing(wanted[plain[0]], "generator")
        images = job.tools.generator.generate([prompts[place] for place in plain])
        by_place.update(_matched(plain, images, job.tools.generator.name))
    if edits:
        if job.tools.editor is None:
            raise _missing(wanted[edits[0]], "editor")
        bases = [Images.open(BytesIO(wanted[place].base)).convert("RGB") for place in edits]
        images = job.tools.editor.edit(bases, [prompts[place] for place in edits])
        by_place.update(_matched(edits, images, job.tools.editor.name))
    return [by_place[place] for place in range(len(wanted))]


def _matched(places: Sequence[int], images: Sequence[Image], tool: str) -> dict[int, Image]:
    if len(images) != len(places):
        count, expected = f"{len(images)} images", f"one for each of {len(places)} prompts"
        raise BuildError("TOOL_OUTPUT", tool, count, expected, "use another version of the model or of its library")
    return dict(zip(places, images, strict=True))


def _missing(wanted: Wanted, role: str) -> BuildError:
    remedy = f"name a model with --{role}, or try --sample"
    return BuildError("TOOL_MISSING", wanted.key, f"no {role}", f"a model that makes {wanted.prompt!r}", remedy)


def _plain(value: str | int | float) -> str | int | float:
    """A number as JSON holds it, with four decimals: more would be noise of the arithmetic's order."""
    if isinstance(value, str | int):
        return value
    return round(float(value), 4) if math.isfinite(value) else str(value)


class MadeStore:
    """The verdicts and images below a folder (`job.work`)."""

    def __init__(self, work: Path) -> None:
        self.folder = work / "made"

    def verdict(self, name: str) -> dict[str, Any] | None:
        """The verdict given to `keep`; None for an unchecked candidate."""
        file = self._file(name, ".json")
        return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else None

    def image(self, name: str) -> Image:
        """A candidate that passed, pixel for pixel."""
        from PIL import Image as Images

        with Images.open(self._file(name, ".png")) as image:
            return image.convert("RGB")

    def keep(self, name: str, image: Image, verdict: dict[str, Any]) -> None:
        """Keep the image, if it passed, then its verdict (`key`, `attempt`, `reason`, `evidence`)."""
        if not verdict["reason"]:
            stream = BytesIO()
            image.convert("RGB").save(stream, "PNG", compress_level=1)
            _write(self._file(name, ".png"), stream.getvalue())
        _write(self._file(name, ".json"), json.dumps(verdict, ensure_ascii=False).encode())

    def _file(self, name: str, suffix: str) -> Path:
        return self.folder / f"{name}{suffix}"


def forget_made(work: Path) -> None:
    """Remove verdicts and images once they are in a shard, so that the disk holds one shard's at a time."""
    shutil.rmtree(work / "made", ignore_errors=True)


def _write(file: Path, data: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name(f"{file.name}.part")
    part.write_bytes(data)
    part.replace(file)


# Candidates of a cell are ordered by sha256(seed, key), so the choice does not depend on the calls that added them.


class Candidate(NamedTuple):
    """A candidate for a cell: `key` names it, `data` is kept for the builder."""

    key: str
    cell: str
    data: Any


class Chosen(NamedTuple):
    """A candidate that entered a cell, at `place` 0, 1, ... of it."""

    cell: str
    place: int
    key: str
    data: Any


class PlanStore:
    """Candidates in memory; `seed` decides their order within a cell."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._candidates: dict[str, Candidate] = {}

    def add(self, candidates: Iterable[Candidate]) -> None:
        """Add candidates. A repeated one changes nothing; ValueError for a known key with other content."""
        for candidate in candidates:
            known = self._candidates.setdefault(candidate.key, candidate)
            if known != candidate:
                raise ValueError(f"{candidate.key} stands in the plan as {tuple(known)}, not as {tuple(candidate)}")

    def counts(self) -> dict[str, int]:
        """Cell -> candidates, in the order of the cells' names."""
        return dict(sorted(Counter(candidate.cell for candidate in self._candidates.values()).items()))

    def select(self, per_cell: int | Mapping[str, int], order: Sequence[str] | None = None) -> list[Chosen]:
        """The first candidates of each named cell, at most `per_cell`, by `order` of the cells or their names."""
        by_cell: dict[str, list[Candidate]] = {}
        for candidate in self._candidates.values():
            by_cell.setdefault(candidate.cell, []).append(candidate)
        chosen = []
        for cell in sorted(by_cell) if order is None else order:
            limit = per_cell if isinstance(per_cell, int) else per_cell.get(cell, 0)
            first = sorted(by_cell.get(cell, []), key=self._rank)[:limit]
            chosen += [Chosen(cell, place, each.key, each.data) for place, each in enumerate(first)]
        return chosen

    def _rank(self, candidate: Candidate) -> bytes:
        return hashlib.sha256(f"{self.seed}/{candidate.key}".encode()).digest()
