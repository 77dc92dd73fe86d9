"""Annotate images with ARES or a package: from folders or Parquet to a submission's annotations.

    annotations-00000-of-0000N.parquet   a submission's table; its metadata name the model's revision and measurement
    routes/routes-00000-of-0000N.parquet   the same rows with routes, regressed values, probabilities, notes on reading
    annotation.json                      labeller, source and counts; written last
    .annotate/                           finished parts of unfinished work; gone when it is done
Every image has its faces, one row each, or one row with the reason why there is none. Killed work resumes at the first
shard that is not entered in `.annotate/`, with the same bytes for any batch size and number of threads. Other
processors differ at thresholds and by single rounding steps (`rounding_ares`).
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairspace.ares.annotating.labellers import ARES
from fairspace.ares.annotating.session import Counts, Settings, added, find_labeller, open_session, versions
from fairspace.ares.annotating.source import contents, list_images, open_source
from fairspace.builders.engine.build import file_hash, write_atomically
from fairspace.builders.errors import BuildError

if TYPE_CHECKING:
    import pyarrow as pa

    from fairspace.ares.faces_ares import FaceDetector

FILE, WORK = "annotation.json", ".annotate"
SHARD, MOST = 1_000, 1_000
"""Images of a shard, and most shards; more images make larger shards."""
_TABLES = {"annotations": "", "routes": "routes/"}
"""Table -> its folder."""


@dataclass(frozen=True)
class Report:
    """The outcome of `annotate`; `images` and `seconds` are of this call alone. `data`: `annotation.json`."""

    out: Path
    data: Mapping[str, Any]
    images: int
    seconds: float

    @property
    def images_per_second(self) -> float | None:
        """Speed of this call; None if nothing was left to do."""
        return self.images / self.seconds if self.images else None

    @property
    def shares(self) -> dict[str, dict[str, float]]:
        """Task of ARES -> route -> share of the faces."""
        routes: Mapping[str, Mapping[str, int]] = self.data["counts"]["routes"]
        return {
            task: {route: n / sum(counts.values()) for route, n in counts.items()} for task, counts in routes.items()
        }

    @property
    def files(self) -> list[Path]:
        """The annotations."""
        return [self.out / shard["annotations"]["file"] for shard in self.data["shards"]]


def annotate(
    model: Path | str,
    images: Path | str,
    out: Path,
    *,
    batch: int = 64,
    workers: int = 2,
    task: str = "",
    names: str = "items",
    columns: Mapping[str, str] | None = None,
    detector: FaceDetector | Mapping[str, Any] | None = None,
    device: str = "",
    precision: str = "float32",
    ask_endpoint: bool = False,
    labeller: str = ARES,
    measurement: Path | None = None,
    shard: int = SHARD,
    progress: Callable[[str, int, int], None] = lambda what, done, total: None,
) -> Report:
    """Annotate images, or resume an earlier call with the same arguments; `batch` and `workers` change speed alone.

    Args:
        model: Folder, or repository on the Hub with `@<revision>` at its end; '' for another labeller than ARES.
        images: Source of images (`source.open_source`).
        out: New or empty folder, or one with this work, finished or not.
        batch: Faces per batch.
        workers: Threads that read ahead.
        task: Task of all images, where their names do not say it.
        names: `items`, or `files` where images are no benchmark's.
        columns: Names of the columns `task`, `id`, `sample` and `image`, where they differ.
        detector: Face detector, or the settings of one (`faces_ares.open_faces`).
        device: Device of torch; '' takes a GPU if there is one.
        precision: `float32` or `bfloat16`.
        ask_endpoint: Whether images may be sent to the endpoint that the model names.
        labeller: `ares`, or a package (`labellers`).
        measurement: Output of `fairspace ares evaluate` for a package; its error then goes with the labels.
        shard: Images of a shard.
        progress: Callback with a text on work and speed, the number done, and the total.
    Errors: BuildError: SOURCE_MISSING, SOURCE_LAYOUT, SOURCE_VALUE for the images; OUT_IN_USE for other work in `out`;
    TOOL_MISSING for models and packages; as `find_labeller`.
    """
    if out.is_file():
        raise _in_use(out, "it is a file")
    source = open_source(images, task, names, columns)
    by = find_labeller(labeller, model, measurement)
    session = open_session(Settings(by.folder, labeller, batch, workers, detector, device, precision, ask_endpoint))
    progress("Listing images", 0, 0)
    entries, sha256 = list_images(source)
    where = {"kind": source.kind, "task": source.task, "names": source.names, "sha256": sha256}
    if source.name:
        where |= {"name": source.name, "revision": source.revision}
    request: dict[str, Any] = {  # all that decides the bytes of the output
        "model": dict(by.named),
        "settings": session.about(),
        "source": where,
        "images": len(entries),
        "shard": shard,
        "versions": versions(by.software),
    }
    if precision == "float32" and by.error is not None:
        request["label_error"] = by.error
    if (out / FILE).is_file():
        return Report(out, _finished(out, request), 0, 0.0)
    _claim(out, request)
    began, done, size = time.monotonic(), 0, max(shard, -(-len(entries) // MOST))
    starts = range(0, max(1, len(entries)), size)
    files = {start: out / WORK / f"{place:05}-of-{len(starts):05}.json" for place, start in enumerate(starts)}
    pending = [start for start, file in files.items() if not _is_done(out, file)]
    before = len(entries) - sum(len(entries[start : start + size]) for start in pending)

    def step(more: int) -> None:
        nonlocal done
        done += more
        speed = done / max(time.monotonic() - began, 1e-9)
        progress(f"Annotating, {speed:.1f} images/s", before + done, len(entries))

    for start in pending:
        part = entries[start : start + size]
        _write(out, files[start], *session.answer(part, contents(source, part), step), by.named)
    data = _finish(out, list(files.values()), request)
    shutil.rmtree(out / WORK)
    return Report(out, data, done, time.monotonic() - began)


def _is_done(out: Path, file: Path) -> bool:
    if not file.is_file():
        return False
    entry = json.loads(file.read_text(encoding="utf-8"))
    return all(_is_there(out, entry[table]) for table in _TABLES)


def _is_there(out: Path, table: Mapping[str, Any]) -> bool:
    file = out / table["file"]
    return file.is_file() and file.stat().st_size == table["bytes"]


def _write(
    out: Path, file: Path, annotations: pa.Table, routes: pa.Table, counts: Counts, named: Mapping[str, str]
) -> None:
    import pyarrow.parquet as pq

    metadata = {f"ares_{key}": named[key] for key in ("name", "revision", "sha256", "measurement")}
    entry: dict[str, Any] = {"tally": counts}
    for table, rows in (("annotations", annotations), ("routes", routes)):
        name = f"{_TABLES[table]}{table}-{file.stem}.parquet"
        whole = out / name
        whole.parent.mkdir(exist_ok=True)
        part = whole.with_name(f"{whole.name}.part")
        pq.write_table(rows.replace_schema_metadata(metadata), part, compression="zstd")
        with part.open("rb") as stream:
            os.fsync(stream.fileno())
        size = part.stat().st_size
        entry[table] = {"file": name, "rows": rows.num_rows, "bytes": size, "sha256": file_hash(part)}
        part.replace(whole)
    write_atomically(file, json.dumps(entry, ensure_ascii=False))


def _finish(out: Path, files: Sequence[Path], request: Mapping[str, Any]) -> dict[str, Any]:
    """Write `annotation.json`, and return it. BuildError BUILD_CHECK if inputs and fates do not agree."""
    shards = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    total: Counts = reduce(added, (shard.pop("tally") for shard in shards))
    if total["images"] != request["images"] or total["rows"] != sum(total["status"].values()):
        what = f"{total['images']} images, {total['rows']} rows, {total['status']}"
        raise BuildError("BUILD_CHECK", str(out), what, f"a fate for {request['images']} images", "report this")
    data = {"format": 1, **request, "counts": total, "shards": shards}
    write_atomically(out / FILE, json.dumps(data, ensure_ascii=False, indent=1) + "\n")
    return data


def _claim(out: Path, request: Mapping[str, Any]) -> None:
    file = out / WORK / "asked.json"
    text = json.dumps(request, indent=1, sort_keys=True)
    if not file.is_file():
        if out.is_dir() and any(out.iterdir()):
            raise _in_use(out, "it is not empty")
        write_atomically(file, text)
    elif file.read_text(encoding="utf-8") != text:
        before = json.loads(file.read_text(encoding="utf-8"))
        raise _in_use(out, f"unfinished work with {_difference(before, request)}")


def _finished(out: Path, request: Mapping[str, Any]) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((out / FILE).read_text(encoding="utf-8"))
    if {name: data.get(name) for name in request} != request:
        raise _in_use(out, f"finished work with {_difference(data, request)}")
    for shard in data["shards"]:
        for table in _TABLES:
            if not _is_there(out, shard[table]):
                raise _in_use(out, f"{shard[table]['file']} is not what was written")
    return data


def _difference(before: Mapping[str, Any], request: Mapping[str, Any]) -> str:
    return "another " + ", ".join(name for name, value in request.items() if before.get(name) != value)


def _in_use(out: Path, what: str) -> BuildError:
    mend = "name another --out, or remove the folder"
    return BuildError("OUT_IN_USE", str(out), what, "a new folder, or this work's own", mend)
