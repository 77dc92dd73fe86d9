"""The folder of a run that makes images: what is done stays done, whenever the run is killed.

    run.json                               model, settings, seed and plan: what must be the same for it to go on
    plan.parquet                           task, id, sample, prompt, in the order of the images
    made/00012/0003-<sha256>.image         an image of an unfinished slice; .refused, .failed: why there is none
    made/00012.json                        a complete slice: its shard and fates
    shards/images-00012-of-00224.parquet   its images, as `submissions/FORMAT.md` lays them out

A slice is a fixed part of the plan. Every file is there whole or not at all, so that files alone say what is done, and
several processes need nothing but slices of their own. A refused image is a row without an image; a failed one is no
row, and counted in `made/`.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from fairspace.builders.engine.build import write_atomically
from fairspace.submissions.benchmarks.asks import Ask
from fairspace.submissions.format.schema import IMAGES
from fairspace.submissions.running.errors import RunError
from fairspace.submissions.running.images.made import Fate, Made, sha256
from fairspace.submissions.running.images.shards import NOTHING, ShardRow, read_images, write_shard

SLICE = 64
"""Images of a shard, unless there would be more than `SHARDS`."""
SHARDS = 1_000
PLAN = pa.schema([*list(IMAGES)[:3], pa.field("prompt", pa.string(), nullable=False)])
_LOOSE = re.compile(r"(\d{4,})(?:-([0-9a-f]{64}))?\.(image|refused|failed)")


class Loose(NamedTuple):
    """A fate that is in no shard yet: what it is, the file that holds the image or the reason, and the image's hash."""

    fate: Fate
    file: Path
    sha256: str


@dataclass(frozen=True)
class Packed:
    """A complete slice.

    Args:
        shard: name of its file.
        bytes: of the file.
        sha256: of the file.
        answered: images in it.
        refused: position in the plan -> why.
        failed: likewise.
    """

    shard: str
    bytes: int
    sha256: str
    answered: int
    refused: Mapping[str, str] = field(default_factory=dict)
    failed: Mapping[str, str] = field(default_factory=dict)


class ImageStore:
    """The slices of one run. One process opens it with `create`; every process works on slices of its own.

    Args:
        folder: of the run.
        plan: what is asked, in order.
        size: of a slice; 0 chooses it.
    """

    def __init__(self, folder: Path, plan: Sequence[Ask], size: int = 0) -> None:
        self.folder, self.plan = folder, plan
        self.size = size or slice_size(len(plan))
        self.count = -(-len(plan) // self.size)

    def create(self, about: Mapping[str, Any]) -> None:
        """Begin the run, or find that it is this one. RunError RUN_OTHER if it is another."""
        file = self.folder / "run.json"
        if not file.is_file():
            write_plan(self.folder / "plan.parquet", self.plan)
            write_atomically(file, json.dumps(about, ensure_ascii=False, indent=1) + "\n")
        self.check(about)

    def check(self, about: Mapping[str, Any]) -> None:
        """RunError RUN_OTHER if the run in the folder is another; a model may be named in another way."""
        known = read_about(self.folder)
        for name in about.keys() | known.keys():
            if name != "named" and known.get(name) != about.get(name):
                what = f"{name} {known.get(name)!r}, and now {about.get(name)!r}"
                mend = "go on with the same model, settings and prompts, or name another folder"
                raise RunError("RUN_OTHER", str(self.folder / "run.json"), what, "the workings of this very run", mend)

    def places(self, number: int) -> range:
        """Positions in the plan of a slice."""
        return range(number * self.size, min((number + 1) * self.size, len(self.plan)))

    def packed(self, number: int) -> Packed | None:
        """What a slice has become; None if it is not complete, or its shard is gone."""
        file = self._entry(number)
        if not file.is_file():
            return None
        entry = Packed(**json.loads(file.read_text(encoding="utf-8")))
        shard = self.shard(number)
        return entry if shard.is_file() and shard.stat().st_size == entry.bytes else None

    def shard(self, number: int) -> Path:
        """The file of a complete slice."""
        return self.folder / "shards" / f"images-{number:05}-of-{self.count:05}.parquet"

    def loose(self, number: int, *, check: bool = False) -> dict[int, Loose]:
        """Position in the plan -> fate, of a slice that is not complete.

        Args:
            number: of the slice.
            check: whether files that are not whole, as after a power cut, are removed.
        """
        loose: dict[int, Loose] = {}
        folder = self._folder(number)
        for file in sorted(folder.iterdir()) if folder.is_dir() else ():
            match = _LOOSE.fullmatch(file.name)
            if check and (match is None or not _whole(file, match[2])):
                file.unlink()
            elif match is not None:
                place = self.places(number)[int(match[1])]
                fate: Fate = "answered" if match[2] else "failed" if match[3] == "failed" else "refused"
                loose.setdefault(place, Loose(fate, file, match[2] or NOTHING))
        return loose

    def keep(self, place: int, image: Made) -> None:
        """Keep a fate; the operating system has it when this returns."""
        folder, name = self._folder(place // self.size), f"{place % self.size:04}"
        if image.image is not None:
            _write(folder / f"{name}-{sha256(image.image)}.image", image.image)
        else:
            _write(folder / f"{name}.{image.fate}", image.reason.encode())

    def open(self, number: int) -> None:
        """Make the folder that a slice's images are kept in."""
        self._folder(number).mkdir(parents=True, exist_ok=True)

    def forget_failed(self, number: int) -> None:
        """Forget what failed in a slice, so that it is asked again; a complete slice is taken apart for that."""
        entry = self.packed(number)
        if entry is not None and entry.failed:
            self.open(number)
            places = (place for place in self.places(number) if str(place) not in entry.failed)
            for place, image in zip(places, read_images(self.shard(number)), strict=True):
                reason = entry.refused.get(str(place), "")
                self.keep(place, Made(image, "refused" if image is None else "answered", reason))
            self._entry(number).unlink()
        if entry is None or entry.failed:
            for loose in self.loose(number).values():
                if loose.fate == "failed":
                    loose.file.unlink()

    def pack(self, number: int) -> Packed:
        """Write the shard of a slice whose fates are all known, enter it, and remove the loose files."""
        loose = self.loose(number)
        if sorted(loose) != list(self.places(number)):
            raise RunError("RUN_INCOMPLETE", f"slice {number}", f"{len(loose)} fates", "one per image", "report this")
        rows = [
            ShardRow(
                self.plan[place], loose[place].file if loose[place].fate == "answered" else None, loose[place].sha256
            )
            for place in self.places(number)
            if loose[place].fate != "failed"
        ]
        shard = self.shard(number)
        size, content = write_shard(shard, rows)
        refused, failed = (
            {str(at): image.file.read_text("utf-8") for at, image in sorted(loose.items()) if image.fate == fate}
            for fate in ("refused", "failed")
        )
        packed = Packed(shard.name, size, content, len(rows) - len(refused), refused, failed)
        write_atomically(self._entry(number), json.dumps(asdict(packed), ensure_ascii=False))
        self.tidy(number)
        return packed

    def tidy(self, number: int) -> None:
        """Remove the loose files of a complete slice, if there still are some."""
        shutil.rmtree(self._folder(number), ignore_errors=True)

    def _folder(self, number: int) -> Path:
        return self.folder / "made" / f"{number:05}"

    def _entry(self, number: int) -> Path:
        return self.folder / "made" / f"{number:05}.json"


def slice_size(images: int) -> int:
    """Images of a slice, which the plan alone decides."""
    return max(SLICE, -(-images // SHARDS))


def read_about(folder: Path) -> dict[str, Any]:
    """What `run.json` says. RunError IMAGE_UNKNOWN if there is none."""
    file = folder / "run.json"
    if not file.is_file():
        mend = "name the folder that the images were made in"
        raise RunError("IMAGE_UNKNOWN", str(folder), "no run.json", "the folder of a run", mend)
    return dict(json.loads(file.read_text(encoding="utf-8")))


def read_plan(file: Path) -> list[Ask]:
    """The plan in a Parquet file, in order."""
    rows = pq.read_table(file, columns=PLAN.names).cast(PLAN).to_pylist()
    return [Ask(row["task"], row["id"], row["sample"], row["prompt"]) for row in rows]


def plan_hash(plan: Sequence[Ask]) -> str:
    """The sha256 of prompts and keys in their order, which decides the slices."""
    total = hashlib.sha256()
    for ask in plan:
        total.update("\0".join((*map(str, ask.key), ask.prompt)).encode() + b"\n")
    return total.hexdigest()


def write_plan(file: Path, plan: Sequence[Ask]) -> None:
    """Write a plan as a Parquet file, whole or not at all."""
    columns = [[getattr(ask, name) for ask in plan] for name in PLAN.names]
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name(f"{file.name}.part")
    pq.write_table(pa.table(columns, schema=PLAN), part, compression="zstd")
    part.replace(file)


def _write(file: Path, data: bytes) -> None:
    part = file.with_name(f"{file.name}.part")
    part.write_bytes(data)
    part.replace(file)


def _whole(file: Path, expected: str | None) -> bool:
    data = file.read_bytes()
    return sha256(data) == expected if expected else bool(data)
