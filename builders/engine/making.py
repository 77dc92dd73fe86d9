"""Images made until they pass (generate, check, try the next seed, log rejections), and the choice for a plan's cells.

IRIS fills the gaps of IRIS-Ideal-52 with synthetic images "checked by a classifier" (appendix C.1); GENRES repeats
generation and filtering "until five qualified images are obtained" (appendix B.2). A candidate's name is the sha256 of
the tool's name, key, prompt, the attempt's seed and the edited image; neither a kill nor the batch size changes the
images or the log.

`MadeFiles` keeps what a process has made for the next one: a build's candidates, and the images of a run
(`fairspace.submissions.running.images.making`).
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

from fairspace.builders.engine.dataset import BuildJob
from fairspace.builders.engine.reviews import REASON, Reviews
from fairspace.builders.engine.tools import ImagePrompt
from fairspace.builders.errors import BuildError
from fairspace.builders.writing import write_text

if TYPE_CHECKING:
    from PIL.Image import Image

AT_ONCE = 8
"""Images made and checked together; it changes none of them."""
_MADE = "made"
"""Folder of a build's `MadeFiles` among its workings."""


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


def synthetic_columns(job: BuildJob, item: Wanted, image: Image, size: int) -> dict[str, Any]:
    """The columns of an image that was made and passed, scaled to size x size pixels, and of its origin."""
    from PIL.Image import Resampling

    scaled = image if image.size == (size, size) else image.resize((size, size), Resampling.LANCZOS)
    return {
        "image": {"bytes": jpeg(scaled), "path": f"{item.key.replace('/', '-')}.jpg"},
        "origin": "synthetic",
        "prompt": item.prompt,
        "generator": job.tools.generator.name if job.tools.generator else None,
        "seed": image.info["seed"],
    }


def make(
    job: BuildJob,
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
    reviews = Reviews(job.options)
    for start in range(0, len(wanted), batch):
        items = [_Item(each, job, attempts, reviews) for each in wanted[start : start + batch]]
        while tried := [item for item in items if item.is_open()]:
            images = _generate(job, tried)
            verdicts = accept(images, [item.wanted for item in tried])
            for item, image, verdict in zip(tried, images, verdicts, strict=True):
                item.keep(image, verdict if isinstance(verdict, Verdict) else Verdict(verdict))
        for done, item in enumerate(items, start + 1):
            job.progress("Making images", done, len(wanted))
            yield item.wanted, item.close()


class MadeFiles:
    """Results by name in a folder: `<name>.json` with the image's hash, after `<name>.image`, if there is an image.

    A killed process leaves a result whole or not at all, and so does a power cut: an image with another hash is none.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, name: str) -> dict[str, Any] | None:
        """The result of that name; None without one whose image is there."""
        try:
            result: dict[str, Any] = json.loads((self._folder / f"{name}.json").read_bytes())
        except (FileNotFoundError, ValueError):
            return None
        return result if hashlib.sha256(self.image(name)).hexdigest() == result.get("sha256") else None

    def image(self, name: str) -> bytes:
        """The image of that name; no bytes if there is none."""
        file = self._folder / f"{name}.image"
        return file.read_bytes() if file.is_file() else b""

    def put(self, name: str, result: Mapping[str, Any], image: bytes = b"") -> dict[str, Any]:
        """Keep a result of JSON data, and return it with the hash of its image."""
        self._folder.mkdir(parents=True, exist_ok=True)
        self.forget(name)
        if image:
            (self._folder / f"{name}.image").write_bytes(image)
        kept = {**result, "sha256": hashlib.sha256(image).hexdigest()}
        write_text(self._folder / f"{name}.json", json.dumps(kept, ensure_ascii=False))
        return kept

    def forget(self, name: str) -> None:
        """Remove a result and its image."""
        for suffix in (".json", ".image"):
            (self._folder / f"{name}{suffix}").unlink(missing_ok=True)


class _Item:
    """A wanted image and the verdicts on its attempts."""

    def __init__(self, wanted: Wanted, job: BuildJob, attempts: int, reviews: Reviews) -> None:
        self.wanted, self.job, self.attempts, self.reviews = wanted, job, attempts, reviews
        self.files = MadeFiles(job.work / _MADE)
        self.rejected: list[dict[str, Any]] = []
        self.passed: dict[str, Any] | None = None

    @property
    def seed(self) -> int:
        return seed(self.job.seed, self.wanted.key, len(self.rejected))

    @property
    def name(self) -> str:
        """The name of the present attempt, by all that decides its image."""
        tool = self.job.tools.editor if self.wanted.base else self.job.tools.generator
        base = hashlib.sha256(self.wanted.base).hexdigest()
        decided_by = [tool.name if tool else "", self.wanted.key, self.wanted.prompt, self.seed, base]
        return hashlib.sha256(json.dumps(decided_by).encode()).hexdigest()

    def is_open(self) -> bool:
        """Whether an attempt is to be made, past those refused or known from an earlier run."""
        while self.passed is None and len(self.rejected) < self.attempts:
            refused = self.reviews.refuses(self.wanted.key, self.seed)
            verdict = {"reason": REASON, "evidence": {}} if refused else self.files.get(self.name)
            if verdict is None:
                return True
            if verdict["reason"]:
                self.rejected.append(verdict)
            else:
                self.passed = verdict
        return False

    def keep(self, image: Image, verdict: Verdict) -> None:
        """Keep the verdict, and the image if it passed."""
        stream = BytesIO()
        if not verdict.reason:
            image.convert("RGB").save(stream, "PNG", compress_level=1)
        evidence = {name: _plain(value) for name, value in verdict.evidence.items()}
        entry = {"key": self.wanted.key, "attempt": len(self.rejected), "reason": verdict.reason, "evidence": evidence}
        self.files.put(self.name, entry, stream.getvalue())

    def close(self) -> Image | None:
        """Log the rejected attempts; the image that passed, pixel for pixel, or None."""
        from PIL import Image as Images

        for attempt, verdict in enumerate(self.rejected):
            self.job.reject(self.wanted.key, verdict["reason"], attempt=attempt, **verdict["evidence"])
        if self.passed is None:
            self.job.reject(self.wanted.key, "gave up", attempts=self.attempts)
            return None
        image = Images.open(BytesIO(self.files.image(self.name))).convert("RGB")
        image.info.update(self.passed["evidence"] | {"seed": self.seed})
        return image


def _generate(job: BuildJob, items: Sequence[_Item]) -> list[Image]:
    from PIL import Image as Images

    by_place: dict[int, Image] = {}
    for role in ("generator", "editor"):
        places = [place for place, item in enumerate(items) if bool(item.wanted.base) == (role == "editor")]
        if not places:
            continue
        prompts = [ImagePrompt(items[place].wanted.prompt, items[place].seed) for place in places]
        tool: Any = getattr(job.tools, role)
        if tool is None:
            key, what = items[places[0]].wanted.key, f"a model that makes {prompts[0].text!r}"
            raise BuildError("TOOL_MISSING", key, f"no {role}", what, f"name a model with --{role}, or try --sample")
        if role == "generator":
            images = tool.generate(prompts)
        else:
            bases = [Images.open(BytesIO(items[place].wanted.base)).convert("RGB") for place in places]
            images = tool.edit(bases, prompts)
        if len(images) != len(places):
            what, expected = f"{len(images)} images", f"one for each of {len(places)} prompts"
            mend = "use another version of the model or of its library"
            raise BuildError("TOOL_OUTPUT", tool.name, what, expected, mend)
        by_place |= dict(zip(places, images, strict=True))
    return [by_place[place] for place in range(len(items))]


def _plain(value: str | int | float) -> str | int | float:
    """A number as JSON holds it, with four decimals: more would be noise of the arithmetic's order."""
    if isinstance(value, str | int):
        return value
    return round(float(value), 4) if math.isfinite(value) else str(value)


def forget_made(work: Path) -> None:
    """Remove verdicts and images once they are in a shard, so that the disk holds one shard's at a time."""
    shutil.rmtree(work / _MADE, ignore_errors=True)


# Candidates of a cell are ordered by sha256(seed, key), so the choice does not depend on the calls that added them.


class Candidate(NamedTuple):
    """A candidate for a cell: `key` names it, `data` is kept for the builder."""

    key: str
    cell: str
    data: Any


class ChosenCandidate(NamedTuple):
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
            first = self._candidates.setdefault(candidate.key, candidate)
            if first != candidate:
                raise ValueError(f"{candidate.key} stands in the plan as {tuple(first)}, not as {tuple(candidate)}")

    def counts(self) -> dict[str, int]:
        """Cell -> candidates, in the order of the cells' names."""
        return dict(sorted(Counter(candidate.cell for candidate in self._candidates.values()).items()))

    def select(self, per_cell: int | Mapping[str, int], order: Sequence[str] | None = None) -> list[ChosenCandidate]:
        """The first candidates of each named cell, at most `per_cell`, by `order` of the cells or their names."""
        by_cell: dict[str, list[Candidate]] = {}
        for candidate in self._candidates.values():
            by_cell.setdefault(candidate.cell, []).append(candidate)
        candidates = []
        for cell in sorted(by_cell) if order is None else order:
            limit = per_cell if isinstance(per_cell, int) else per_cell.get(cell, 0)
            first = sorted(by_cell.get(cell, []), key=self._rank)[:limit]
            candidates += [ChosenCandidate(cell, place, each.key, each.data) for place, each in enumerate(first)]
        return candidates

    def _rank(self, candidate: Candidate) -> bytes:
        return hashlib.sha256(f"{self.seed}/{candidate.key}".encode()).digest()
