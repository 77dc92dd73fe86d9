"""Images by a model, from a plan of prompts to shards; a stopped run goes on where it was.

    made/                                  settings and plan of the run; fates, and images until their slice is complete
    shards/images-00012-of-00224.parquet   a complete slice of the plan, in the layout of `submissions/FORMAT.md`

An image's seed follows from the run's seed and the image's key; a call always has the same part of a slice. A refused
image is a row without an image; a failed one is no row. A failure is recorded only once the model has answered
something later: after many in a row, and at the end, it is asked again for something that it has answered before.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from fairspace.builders.engine.making import MadeFiles
from fairspace.builders.engine.tools import ImagePrompt
from fairspace.builders.writing import beside
from fairspace.submissions.benchmarks.task import Ask, ask_seed
from fairspace.submissions.errors import RunError
from fairspace.submissions.format.manifest import now
from fairspace.submissions.format.schema import IMAGES
from fairspace.submissions.reading.tables import Progress
from fairspace.submissions.running.asking.journal import FATES
from fairspace.submissions.running.folders import held
from fairspace.submissions.running.images.made import GeneratedImage, ImageModel, extension, sha256

ALIKE = {
    "openai": "send seeds (no seed=false): SGLang draws with 42 where it gets none. Where the server ignores them, as"
    " vLLM-Omni does with some models (vllm-omni#1702), take another version of it",
    "torchumm": "name the field of a request that takes the seed: seed=FIELD",
}
"""Engine -> remedy where it gives one image twice; `_DRAW` of all others."""
_DRAW = "let each sample be drawn by its own seed: no seed=false, and no temperature of 0"
SILENT_AFTER = 20
"""Calls in a row without a usable answer after which a model counts as silent."""
SLICE = 64
"""Images of a shard, unless there would be more than `SHARDS`."""
SHARDS = 1_000
MADE, _FORMER = "made", "made.sqlite"
"""Name of the run's `MadeFiles`, and of what earlier versions kept."""
_RUN = "run"
"""Name of the run itself among them, beside places and shards."""
_ROWS = 8
"""Images of a row group: the number that a writer or reader holds in memory."""
_IMAGE = pa.struct([pa.field("bytes", pa.binary()), pa.field("path", pa.string())])
_SCHEMA = IMAGES.append(pa.field("image", _IMAGE))
_LEAVES = ("task", "id", "sample", "sha256", "image.bytes", "image.path")
_WRITING: Mapping[str, Any] = {
    # Images are compressed already, and no two are alike; a page holds one, not a row group of them.
    "compression": {leaf: "none" if leaf == "image.bytes" else "zstd" for leaf in _LEAVES},
    "use_dictionary": ["task", "id"],
    "write_statistics": ["task", "id", "sample"],
    "write_batch_size": 1,
}


@dataclass(frozen=True)
class ImageReport:
    """The fates of a plan's images.

    Args:
        fates: numbers of images `answered`, `refused` (rows of the shards without an image) and `failed` (in no shard).
        reasons: `refused: REASON` or `failed: REASON` -> images.
        ended: time at which every image had its fate.
        pixels: `WIDTHxHEIGHT` of the first image, whatever was asked; '' if there is none.
        refused: fields of a request that the endpoint did not know, so that it was asked without them.
    """

    fates: Mapping[str, int]
    reasons: Mapping[str, int] = field(default_factory=dict)
    shards: tuple[Path, ...] = ()
    started: str = ""
    ended: str = ""
    pixels: str = ""
    refused: tuple[str, ...] = ()


def make_images(
    plan: Sequence[Ask],
    model: ImageModel,
    folder: Path,
    *,
    seed: int,
    progress: Progress = lambda what, done, total: None,
    silent_after: int = SILENT_AFTER,
    retry_failed: bool = False,
    may_be_empty: bool = False,
) -> ImageReport:
    """Make the images of a plan, or those that a stopped run of it left.

    `plan` has each key once; if it `may_be_empty`, the one shard has no rows then. `folder` is of this run alone;
    `fairspace ares annotate` reads `shards/` in it. After `silent_after` calls in a row without a usable answer the run
    ends, and none of them is recorded. `retry_failed`: failures are asked again, refusals are not.

    Errors: RunError RUN_OTHER, RUN_IN_USE, MODEL_SILENT, MODEL_OUTPUT, DUPLICATE_IMAGE, and those of the model.
    """
    if not (plan or may_be_empty) or len({ask.key for ask in plan}) != len(plan):
        raise ValueError("a plan has at least one image, and each once")
    with held(folder):
        store = _Store(folder, plan, _about(model, plan, seed))
        if retry_failed:
            store.forget_failed()
        _Making(store, model, seed, progress, silent_after).run()
        return store.report(sorted(getattr(model, "refused", ())))


def plan_hash(plan: Sequence[Ask]) -> str:
    """The sha256 of prompts and keys in order."""
    total = hashlib.sha256()
    for ask in plan:
        total.update("\0".join((*map(str, ask.key), ask.prompt)).encode() + b"\n")
    return total.hexdigest()


def made_of(folder: Path) -> str:
    """The `plan_hash` of the images in a folder; '' if none were begun there."""
    return str((MadeFiles(folder / MADE).get(_RUN) or {}).get("plan", ""))


class _Call(NamedTuple):
    """The prompts of one call (positions in the plan), and those without a fate."""

    places: range
    wanted: frozenset[int]


class _Outcome(NamedTuple):
    call: _Call
    images: Mapping[int, GeneratedImage]
    began: float
    ended: float


class _Making:
    def __init__(self, store: _Store, model: ImageModel, seed: int, progress: Progress, silent_after: int) -> None:
        self.store, self.model, self.seed, self.progress = store, model, seed, progress
        self.silent_after = silent_after
        self.unsure: list[_Outcome] = []
        self.answered: range | None = None
        self.before = self.done = 0
        self.began = time.monotonic()

    def run(self) -> None:
        calls = self._calls()
        with closing(_in_turn(calls, self._answer, self.model.concurrency)) as outcomes:
            for outcome in outcomes:
                answers = {place: image for place, image in outcome.images.items() if image.fate != "failed"}
                self._keep(answers)
                if not answers:
                    self.unsure.append(outcome)
                    if len(self.unsure) >= self.silent_after:
                        self._settle()
                    continue
                self.answered = outcome.call.places
                self._keep(outcome.images)
                # Only an answer to a call that began later says that the model was there and failed at these.
                for settled in [each for each in self.unsure if each.ended <= outcome.began]:
                    self._keep(settled.images)
                self.unsure = [each for each in self.unsure if each.ended > outcome.began]
        self._settle()

    def _calls(self) -> list[_Call]:
        """Calls with images that have no fate; complete slices are packed on the way."""
        calls, fates = [], self.store.fates
        self.before = len(fates)
        there = next((place for place, each in fates.items() if each["fate"] != "failed"), None)
        self.answered = None if there is None else self._call_of(there)
        for number in range(self.store.count):
            places = self.store.places(number)
            self.store.pack(number)
            for start in range(places.start, places.stop, self.model.batch):
                part = self._call_of(start)
                if wanted := frozenset(part) - fates.keys():
                    calls.append(_Call(part, wanted))
        return calls

    def _call_of(self, place: int) -> range:
        places = self.store.places(place // self.store.size)
        start = place - (place - places.start) % self.model.batch
        return range(start, min(start + self.model.batch, places.stop))

    def _answer(self, call: _Call) -> _Outcome:
        began = time.monotonic()
        images = zip(call.places, self._ask(call.places), strict=True)
        wanted = {place: image for place, image in images if place in call.wanted}
        return _Outcome(call, wanted, began, time.monotonic())

    def _ask(self, places: range) -> list[GeneratedImage]:
        """The model's images of a call's prompts. RunError MODEL_OUTPUT for another number of them."""
        asks = [self.store.plan[place] for place in places]
        images = self.model.make([ImagePrompt(ask.prompt, ask_seed(self.seed, *ask.key)) for ask in asks])
        if len(images) != len(asks):
            problem, mend = f"{len(images)} answers to {len(asks)} prompts", "correct the model's code"
            raise RunError("MODEL_OUTPUT", self.model.name, problem, "one for each prompt", mend)
        return images

    def _keep(self, images: Mapping[int, GeneratedImage]) -> None:
        """Keep new fates, and pack the slice if it is complete now."""
        for place, image in images.items():
            if image.image is not None and (sample := self.store.twin(place, image.image)) is not None:
                ask = self.store.plan[place]
                what = f"sample {ask.sample} of {ask.id} is the same image as sample {sample}"
                mend = f"{ALIKE.get(self.model.engine, _DRAW)}. Then name another --out"
                raise RunError("DUPLICATE_IMAGE", self.model.name, what, "an image of its own for each sample", mend)
            if not self.store.keep(place, image):
                continue
            self.done += 1
            speed = self.done / max(time.monotonic() - self.began, 1e-9)
            self.progress(f"Making images, {speed:.2f} images/s", self.before + self.done, len(self.store.plan))
            self.store.pack(place // self.store.size)

    def _settle(self) -> None:
        """Record the failures in doubt if the model is there now; RunError MODEL_SILENT if it is not."""
        if self.unsure and not self._is_there():
            last = list(self.unsure[-1].images.values())[-1]
            what = f"{len(self.unsure)} calls in a row without a usable answer; the last: {last.reason}"
            mend = "mend what it says, then run again: it goes on where it stopped"
            raise RunError("MODEL_SILENT", self.model.name, what, "an image now and then", mend)
        for outcome in self.unsure:
            self._keep(outcome.images)
        self.unsure = []

    def _is_there(self) -> bool:
        """Whether the model answers an earlier answered prompt, or, if there is none, another one. Nothing is kept."""
        plan, places = self.store.plan, self.answered
        if places is None:
            failed = {plan[place].prompt for outcome in self.unsure for place in outcome.images}
            other = next((place for place in reversed(range(len(plan))) if plan[place].prompt not in failed), None)
            if other is None:
                return False
            places = self._call_of(other)
        return any(image.fate != "failed" for image in self._ask(places))


def _in_turn(calls: Iterable[_Call], answer: Callable[[_Call], _Outcome], concurrency: int) -> Generator[_Outcome]:
    """The outcomes in order of arrival; `concurrency` calls at a time, and as many waiting."""
    if concurrency == 1:
        yield from map(answer, calls)
        return
    remaining, under_way = iter(calls), set[Future[_Outcome]]()
    with ThreadPoolExecutor(concurrency) as pool:
        try:
            while True:
                while len(under_way) < 2 * concurrency and (call := next(remaining, None)) is not None:
                    under_way.add(pool.submit(answer, call))
                if not under_way:
                    return
                ended, under_way = wait(under_way, return_when=FIRST_COMPLETED)
                while ended:
                    yield ended.pop().result()
        finally:
            for future in under_way:
                future.cancel()


class _Store:
    """The fates of one run's images in its folder: in files of their own, or beside their shard once that is whole."""

    def __init__(self, folder: Path, plan: Sequence[Ask], about: Mapping[str, Any]) -> None:
        """Begin the run, or go on with it. RunError RUN_OTHER if the folder holds another."""
        self.folder, self.plan, self.files = folder, plan, MadeFiles(folder / MADE)
        self.size = max(SLICE, -(-len(plan) // SHARDS))
        self.count = max(1, -(-len(plan) // self.size))
        begun = {"images": "of an earlier version"} if (folder / _FORMER).exists() else self.files.get(_RUN)
        self.run = begun or self.files.put(_RUN, {"started": now(), **about})
        for name in about:
            if self.run.get(name) != about[name]:
                what = f"{name} {self.run.get(name)!r}, and now {about[name]!r}"
                mend = "go on with the same model, settings and prompts, or name another folder"
                raise RunError("RUN_OTHER", str(folder), what, "the workings of this very run", mend)
        self.packed: set[int] = set()
        self.fates: dict[int, dict[str, Any]] = {}
        for number in range(self.count):
            places, shard = self.places(number), self.shard(number)
            if (whole := self.files.get(shard.stem)) and shard.is_file() and shard.stat().st_size == whole["bytes"]:
                self.packed.add(number)
                self.fates |= zip(places, whole["fates"], strict=True)
            else:
                self.fates |= {place: fate for place in places if (fate := self.files.get(str(place)))}
        self._first = {self._content(place, fate["sha256"]): place for place, fate in self.fates.items()}

    def _content(self, place: int, sha256: str) -> tuple[str, str, str]:
        ask = self.plan[place]
        return ask.task, ask.id, sha256

    def places(self, number: int) -> range:
        return range(number * self.size, min((number + 1) * self.size, len(self.plan)))

    def keep(self, place: int, made: GeneratedImage) -> bool:
        """Keep an image's fate; whether it had none before."""
        if is_new := place not in self.fates:
            fate = {"fate": made.fate, "reason": made.reason}
            self.fates[place] = self.files.put(str(place), fate, made.image or b"")
        return is_new

    def twin(self, place: int, image: bytes) -> int | None:
        """Another sample of the same item with the same image, if there is one."""
        first = self._first.setdefault(self._content(place, sha256(image)), place)
        return None if first == place else self.plan[first].sample

    def forget_failed(self) -> None:
        """Forget failures, so that they are asked again; the images of their slices leave their shards."""
        failed = [place for place, fate in self.fates.items() if fate["fate"] == "failed"]
        for number in {place // self.size for place in failed} & self.packed:
            kept = [place for place in self.places(number) if place not in failed]
            for place, image in zip(kept, _read_images(self.shard(number)), strict=True):
                self.files.put(str(place), self.fates[place], image or b"")
            self.files.forget(self.shard(number).stem)
            self.packed.remove(number)
        for place in failed:
            self.files.forget(str(place))
            del self.fates[place]
        if failed:
            self.run = self.files.put(_RUN, {name: value for name, value in self.run.items() if name != "ended"})

    def shard(self, number: int) -> Path:
        return self.folder / "shards" / f"images-{number:05}-of-{self.count:05}.parquet"

    def pack(self, number: int) -> None:
        """Write the shard of a slice if that is complete, and remove its files."""
        file, places = self.shard(number), self.places(number)
        if number in self.packed or not all(place in self.fates for place in places):
            return
        file.parent.mkdir(exist_ok=True)
        rows = [place for place in places if self.fates[place]["fate"] != "failed"]
        with beside(file) as unfinished:
            with pq.ParquetWriter(unfinished, _SCHEMA, **_WRITING) as writer:
                for start in range(0, len(rows), _ROWS):
                    group = [self._row(place) for place in rows[start : start + _ROWS]]
                    writer.write_table(pa.Table.from_pylist(group, _SCHEMA))
            with unfinished.open("rb") as stream:
                os.fsync(stream.fileno())
        self.files.put(file.stem, {"bytes": file.stat().st_size, "fates": [self.fates[place] for place in places]})
        self.packed.add(number)
        for place in places:
            self.files.forget(str(place))

    def _row(self, place: int) -> dict[str, Any]:
        ask, image = self.plan[place], self.files.image(str(place))
        path = f"{ask.task}/{ask.id}/{ask.sample}"
        cell = {"bytes": image, "path": f"{path}.{extension(image)}"} if image else None
        sha256 = self.fates[place]["sha256"]
        return {"task": ask.task, "id": ask.id, "sample": ask.sample, "sha256": sha256, "image": cell}

    def report(self, refused: Sequence[str]) -> ImageReport:
        if "ended" not in self.run:
            self.run = self.files.put(_RUN, {**self.run, "ended": now(), "refused": [*refused]})
        fates = Counter(each["fate"] for each in self.fates.values())
        reasons = Counter(f"{each['fate']}: {each['reason']}" for each in self.fates.values() if each["reason"])
        return ImageReport(
            {fate: fates[fate] for fate in FATES},
            dict(sorted(reasons.items(), key=lambda each: (-each[1], each[0]))),
            tuple(self.shard(number) for number in range(self.count)),
            self.run["started"],
            self.run["ended"],
            self._pixels(),
            tuple(self.run["refused"]),
        )

    def _pixels(self) -> str:
        from PIL import Image

        shards = (self.shard(number) for number in range(self.count))
        content = next((image for file in shards for image in _read_images(file) if image), None)
        if content is None:
            return ""
        with Image.open(BytesIO(content)) as image:
            return f"{image.width}x{image.height}"


def _read_images(file: Path) -> Iterator[bytes | None]:
    """The images of a shard, in order; None for a refused one."""
    with pq.ParquetFile(file) as shard:
        for batch in shard.iter_batches(_ROWS, columns=["image"]):
            for cell in batch.column(0):
                image = cell.as_py()
                yield image["bytes"] if image else None


def _about(model: ImageModel, plan: Sequence[Ask], seed: int) -> dict[str, Any]:
    """All that decides the content of the shards."""
    return {
        "images": len(plan),
        "plan": plan_hash(plan),
        "name": model.name,
        "revision": model.revision,
        "engine": model.engine,
        "engine_version": model.engine_version,
        "settings": dict(model.settings()),
        "batch": model.batch,
        "seed": seed,
    }
