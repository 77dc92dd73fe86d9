"""Images by a model, from a plan of prompts to shards: streamed, seeded one by one, going on wherever they stopped.

`make_images` runs a plan, by one process or by several that `accelerate launch` started; `remake` makes one of its
images again, alone. The seed of an image follows from the run's seed and the image's key, so that neither order nor
processes nor restarts change it. Prompts of one call of a model are fixed parts of the plan as well, and a part that is
not complete is made again whole: rounding may depend on what else is in a batch.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple

import pyarrow.parquet as pq

from builders.alone import alone
from builders.errors import BuildError
from builders.tools import Prompt
from submissions.format import IMAGES
from submissions.reading import Progress
from submissions.running.asks import Ask, ask_seed
from submissions.running.errors import RunError
from submissions.running.image_made import ImageModel, Made, sha256
from submissions.running.image_process import Process, this_process
from submissions.running.image_store import NOTHING, ImageStore, Packed, plan_hash, read_about, read_plan, slice_size

SILENT_AFTER = 20
"""Calls in a row without any usable answer after which a model counts as silent."""
_PAUSE = 0.5
"""Seconds between two looks at what the other processes have done."""


@dataclass(frozen=True)
class ImageReport:
    """What became of a plan.

    Args:
        images: prompts of the plan.
        answered: images in the shards.
        refused: rows of the shards without an image.
        failed: images that are in no shard, and so missing in the submission.
        reasons: why images were refused or failed, as `refused: ...` or `failed: ...` -> images.
        shards: the files, in order.
        bytes: of the shards.
    """

    images: int
    answered: int
    refused: int
    failed: int
    reasons: Mapping[str, int] = field(default_factory=dict)
    shards: tuple[Path, ...] = ()
    bytes: int = 0

    def fates(self) -> dict[str, int]:
        """Fate -> images, as a manifest has it."""
        return {"answered": self.answered, "refused": self.refused, "failed": self.failed}


class Remade(NamedTuple):
    """An image made again, and whether its bytes have the hash that stands in the shard."""

    image: bytes
    same: bool


def make_images(
    plan: Sequence[Ask],
    model: ImageModel,
    folder: Path,
    *,
    seed: int,
    progress: Progress = lambda what, done, total: None,
    process: Process | None = None,
    silent_after: int = SILENT_AFTER,
    retry_failed: bool = False,
) -> ImageReport | None:
    """Make the images of a plan, or those that a stopped run of it left.

    Args:
        plan: what is asked, each key once.
        model: makes them.
        folder: of this run alone; `shards/` in it is what `fairspace ares annotate` reads.
        seed: of the run; with its key it decides the seed of each image.
        progress: called with what is done and how fast, how many images are done, and of how many.
        process: which of several this is; None asks accelerate.
        silent_after: calls in a row without any usable answer that end the run; none of them is recorded.
        retry_failed: whether to ask again for what failed before; what was refused stays so.

    Returns:
        What became of the plan; None in every process but the first, which waits for the others.

    Errors: RunError RUN_OTHER, RUN_IN_USE, MODEL_SILENT, MODEL_OUTPUT, and what the model raises.
    """
    process = process or this_process()
    if not plan or len({ask.key for ask in plan}) != len(plan):
        raise ValueError("a plan has at least one image, and each once")
    store = ImageStore(folder, plan)
    with ExitStack() as held:
        if process.index == 0:
            _hold(held, folder)
            store.create(_about(model, plan, seed))
        process.wait()
        store.check(_about(model, plan, seed))
        mine = range(process.index, store.count, process.count)
        if retry_failed:
            for number in mine:
                store.forget_failed(number)
            process.wait()
        _Work(store, model, seed, progress, silent_after).do(mine)
        return _finished(store, progress) if process.index == 0 else None


def remake(
    folder: Path, task: str, item: str, sample: int, *, model: ImageModel | None = None, device: str = ""
) -> Remade:
    """Make one image of a run again, from what the run's folder says; nothing is written.

    Args:
        folder: of the run, complete or not.
        task: of the image.
        item: its id.
        sample: its number.
        model: that the run had; None opens it by its name. With a batch above 1 the whole batch is made again.
        device: to open it on.

    Errors: RunError IMAGE_UNKNOWN if the run has no such image; RUN_OTHER if the model is not the run's; MODEL_OUTPUT
        if it makes no image now.
    """
    about, plan = read_about(folder), read_plan(folder)
    store = ImageStore(folder, plan)
    key = (task, item, sample)
    place = next((place for place, ask in enumerate(plan) if ask.key == key), -1)
    expected = _hash_of(store, place) if place >= 0 else None
    where = f"{task}/{item}/{sample}"
    if expected is None:
        mend = "name the task, id and sample of an image in the run's shards"
        raise RunError("IMAGE_UNKNOWN", where, "no such image", f"one that was made in {folder}", mend)
    if model is None:
        from submissions.running.image_models import open_image_model

        if not about["named"]:
            expected_model = "a model that was opened by name"
            raise RunError(
                "MODEL_UNKNOWN", str(folder), "a model without a name", expected_model, "hand the model over"
            )
        model = open_image_model(about["named"], device=device)
    store.check(_about(model, plan, about["seed"]))
    call = _call_of(store, place, model.batch)
    made = _ask(model, plan, call, about["seed"])[place - call.start]
    if made.image is None:
        raise RunError("MODEL_OUTPUT", where, f"{made.fate}: {made.reason}", "an image", "try again")
    return Remade(made.image, sha256(made.image) == expected)


def _about(model: ImageModel, plan: Sequence[Ask], seed: int) -> dict[str, Any]:
    """What decides the content of the shards."""
    return {
        "format": 1,
        "named": model.named,
        "name": model.name,
        "revision": model.revision,
        "engine": model.engine,
        "engine_version": model.engine_version,
        "settings": dict(model.settings()),
        "batch": model.batch,
        "seed": seed,
        "slice": slice_size(len(plan)),
        "images": len(plan),
        "plan": plan_hash(plan),
    }


def _hold(held: ExitStack, folder: Path) -> None:
    try:
        held.enter_context(alone(folder))
    except BuildError as error:
        mend = "wait until it is done, or name another folder"
        raise RunError(
            "RUN_IN_USE", str(folder), "another process makes images here", "one run at a time", mend
        ) from error


class _Call(NamedTuple):
    """The prompts of one call: a slice, the first position in the plan, the one after the last, and those to keep."""

    number: int
    start: int
    stop: int
    wanted: frozenset[int]


class _Failure(NamedTuple):
    place: int
    made: Made


class _Outcome(NamedTuple):
    """What a call brought: the call, how many images and refusals were kept, and its failures, which were not."""

    call: _Call
    kept: int
    failures: list[_Failure]


class _Work:
    """The slices of one process."""

    def __init__(self, store: ImageStore, model: ImageModel, seed: int, progress: Progress, silent_after: int) -> None:
        self.store, self.model, self.seed, self.progress = store, model, seed, progress
        self.silent_after = silent_after
        self.missing: dict[int, int] = {}
        self.unsure: list[_Failure] = []
        self.silent = 0
        self.heard = False
        self.done = self.before = 0
        self.began = time.monotonic()

    def do(self, numbers: Iterable[int]) -> None:
        """Make what is missing of these slices, and pack them."""
        for call, kept, failures in _in_turn(self._calls(numbers), self._answer, self.model.concurrency):
            self.unsure += failures
            self.silent = 0 if kept else self.silent + 1
            self.heard = self.heard or kept > 0
            if self.silent >= self.silent_after:
                raise self._is_silent()
            if kept:
                self._fated(call.number, kept)
                self._settle()
        if self.unsure and not self.heard:
            raise self._is_silent()
        self._settle()

    def _calls(self, numbers: Iterable[int]) -> Iterator[_Call]:
        """The calls that are left to make, slice by slice; complete slices are packed on the way."""
        store = self.store
        for number in numbers:
            places = store.places(number)
            if (packed := store.packed(number)) is not None:
                store.tidy(number)
                self.heard = self.heard or len(packed.failed) < len(places)
                self.before += len(places)
                continue
            store.open(number)
            known = store.loose(number, check=True)
            self.heard = self.heard or any(found.fate != "failed" for found in known.values())
            self.before += len(known)
            self.missing[number] = len(places) - len(known)
            if not self.missing[number]:
                self._pack(number)
                continue
            for start in range(places.start, places.stop, self.model.batch):
                part = range(start, min(start + self.model.batch, places.stop))
                if wanted := frozenset(part) - known.keys():
                    yield _Call(number, part.start, part.stop, wanted)

    def _answer(self, call: _Call) -> _Outcome:
        """Make one call, and keep what it brought but for failures: those may be the model's silence."""
        failures, kept = [], 0
        for place, made in enumerate(_ask(self.model, self.store.plan, call, self.seed), call.start):
            if place not in call.wanted:
                continue
            if made.fate == "failed":
                failures.append(_Failure(place, made))
            else:
                self.store.keep(place, made)
                kept += 1
        return _Outcome(call, kept, failures)

    def _settle(self) -> None:
        """Record failures: the model does answer, but not these."""
        for failure in self.unsure:
            self.store.keep(*failure)
            self._fated(failure.place // self.store.size, 1)
        self.unsure.clear()

    def _fated(self, number: int, images: int) -> None:
        self.missing[number] -= images
        self.done += images
        speed = self.done / max(time.monotonic() - self.began, 1e-9)
        self.progress(f"Making images, {speed:.2f} images/s", self.before + self.done, len(self.store.plan))
        if not self.missing[number]:
            self._pack(number)

    def _pack(self, number: int) -> None:
        self.store.pack(number)
        del self.missing[number]

    def _is_silent(self) -> RunError:
        last = self.unsure[-1]
        what = f"{self.silent} calls in a row without a usable answer; the last: {last.made.reason}"
        mend = "mend what it says, then run again: it goes on where it stopped"
        return RunError("MODEL_SILENT", self.model.name, what, "an image now and then", mend)


def _ask(model: ImageModel, plan: Sequence[Ask], call: _Call, seed: int) -> list[Made]:
    asks = [plan[place] for place in range(call.start, call.stop)]
    made = model.make([Prompt(ask.prompt, ask_seed(seed, *ask.key)) for ask in asks])
    if len(made) != len(asks):
        found, mend = f"{len(made)} answers to {len(asks)} prompts", "correct the model's code"
        raise RunError("MODEL_OUTPUT", model.name, found, "one for each prompt", mend)
    return made


def _in_turn(calls: Iterator[_Call], answer: Callable[[_Call], _Outcome], concurrency: int) -> Iterator[_Outcome]:
    """The outcomes as they come; `concurrency` calls at a time, and as many waiting for their turn."""
    if concurrency == 1:
        yield from map(answer, calls)
        return
    ended: SimpleQueue[Future[_Outcome]] = SimpleQueue()
    under_way: set[Future[_Outcome]] = set()
    with ThreadPoolExecutor(concurrency) as pool:
        try:
            for call in calls:
                future = pool.submit(answer, call)
                under_way.add(future)
                future.add_done_callback(ended.put)
                if len(under_way) >= 2 * concurrency:
                    yield _next(ended, under_way)
            while under_way:
                yield _next(ended, under_way)
        finally:
            for future in under_way:
                future.cancel()


def _next(ended: SimpleQueue[Future[_Outcome]], under_way: set[Future[_Outcome]]) -> _Outcome:
    future = ended.get()
    under_way.remove(future)
    return future.result()


def _call_of(store: ImageStore, place: int, batch: int) -> _Call:
    """The call that a place of the plan belongs to."""
    number = place // store.size
    places = store.places(number)
    start = places.start + (place - places.start) // batch * batch
    return _Call(number, start, min(start + batch, places.stop), frozenset({place}))


def _hash_of(store: ImageStore, place: int) -> str | None:
    """The hash of an image of the run; None if it is not made, refused or failed."""
    number, ask = place // store.size, store.plan[place]
    if store.packed(number) is None:
        found = store.loose(number).get(place)
        return found.sha256 if found and found.fate == "answered" else None
    for row in pq.read_table(store.shard(number), columns=IMAGES.names).to_pylist():
        if (row["task"], row["id"], row["sample"]) == ask.key and row["sha256"] != NOTHING:
            return str(row["sha256"])
    return None


def _finished(store: ImageStore, progress: Progress) -> ImageReport:
    """What became of the plan, once every process has packed its slices."""
    entries: dict[int, Packed] = {}
    while len(entries) < store.count:
        for number in range(store.count):
            if number not in entries and (entry := store.packed(number)) is not None:
                entries[number] = entry
        if len(entries) < store.count:
            progress("Waiting for the other processes", len(entries) * store.size, len(store.plan))
            time.sleep(_PAUSE)
    ordered = [entries[number] for number in range(store.count)]
    reasons = Counter(f"refused: {why}" for entry in ordered for why in entry.refused.values())
    reasons.update(f"failed: {why}" for entry in ordered for why in entry.failed.values())
    return ImageReport(
        images=len(store.plan),
        answered=sum(entry.answered for entry in ordered),
        refused=sum(len(entry.refused) for entry in ordered),
        failed=sum(len(entry.failed) for entry in ordered),
        reasons=dict(reasons.most_common()),
        shards=tuple(store.shard(number) for number in range(store.count)),
        bytes=sum(entry.bytes for entry in ordered),
    )
