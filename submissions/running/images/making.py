"""Images by a model, from a plan of prompts to shards: streamed, seeded one by one, going on wherever they stopped.

`make_images` runs a plan, by one process or by several that `accelerate launch` started; `remake` makes one of its
images again, alone. The seed of an image follows from the run's seed and the image's key, so that neither order nor
processes nor restarts change it.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from fairspace.builders.engine.alone import alone
from fairspace.builders.errors import BuildError
from fairspace.submissions.benchmarks.asks import Ask
from fairspace.submissions.errors import UsageError
from fairspace.submissions.reading.tables import Progress
from fairspace.submissions.running.errors import RunError
from fairspace.submissions.running.images.made import ImageModel, sha256
from fairspace.submissions.running.images.process import Process, this_process
from fairspace.submissions.running.images.shards import image_hash
from fairspace.submissions.running.images.store import ImageStore, Packed, plan_hash, read_about, read_plan, slice_size
from fairspace.submissions.running.images.work import Work, ask, call_of

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
        Work(store, model, seed, progress, silent_after).do(mine)
        return _finished(store, progress) if process.index == 0 else None


def remake(
    folder: Path,
    task: str,
    item: str,
    sample: int,
    *,
    model: ImageModel | None = None,
    images: str = "",
    device: str = "",
) -> Remade:
    """Make one image of a run again, from what the run's folder says; nothing is written.

    Args:
        folder: of the run, complete or not.
        task: of the image.
        item: its id.
        sample: its number.
        model: that the run had; None opens it by its name. With a batch above 1 the whole batch is made again.
        images: the name of the run's model. Only a pipeline of diffusers is opened without it: the folder may be of
            other people, and what it names else is code that would run, or an address that would get a key.
        device: to open it on.

    Errors: RunError IMAGE_UNKNOWN if the run has no such image; RUN_OTHER if the model is not the run's; MODEL_OUTPUT
        if it makes no image now. UsageError if the model's name is needed.
    """
    about, plan = read_about(folder), read_plan(folder / "plan.parquet")
    store = ImageStore(folder, plan)
    key = (task, item, sample)
    place = next((place for place, ask in enumerate(plan) if ask.key == key), -1)
    expected = _hash_of(store, place) if place >= 0 else None
    where = f"{task}/{item}/{sample}"
    if expected is None:
        mend = "name the task, id and sample of an image in the run's shards"
        raise RunError("IMAGE_UNKNOWN", where, "no such image", f"one that was made in {folder}", mend)
    if model is None:
        from fairspace.submissions.running.images.models import open_image_model

        model = open_image_model(_named(folder, str(about["named"]), images), device=device)
    store.check(_about(model, plan, about["seed"]))
    call = call_of(store, place, model.batch)
    result = ask(model, plan, call, about["seed"])[place - call.start]
    if result.image is None:
        raise RunError("MODEL_OUTPUT", where, f"{result.fate}: {result.reason}", "an image", "try again")
    return Remade(result.image, sha256(result.image) == expected)


def _named(folder: Path, known: str, given: str) -> str:
    """The name to open a run's model by, if whoever starts this may know what they open."""
    if not known:
        expected = "a model that was opened by name"
        raise RunError("MODEL_UNKNOWN", str(folder), "a model without a name", expected, "hand the model over")
    if given and given != known:
        mend = "name the model as for the run, with all its settings"
        what = f"a run of {known}, and now {given}"
        raise RunError("RUN_OTHER", str(folder / "run.json"), what, "the model of this very run", mend)
    if not given and not known.startswith("diffusers:"):
        raise UsageError("Name the model with --images, as for the run: it is code, or an address that may get a key.")
    return known


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


def _hash_of(store: ImageStore, place: int) -> str | None:
    """The hash of an image of the run; None if it is not made, refused or failed."""
    number = place // store.size
    if store.packed(number) is None:
        loose = store.loose(number).get(place)
        return loose.sha256 if loose and loose.fate == "answered" else None
    return image_hash(store.shard(number), store.plan[place].key)


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
