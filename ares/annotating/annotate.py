"""Annotate images with ARES or a package: from folders, Parquet, WebDataset or a dataset to a submission's annotations.

The output folder:

    annotations-00000-of-0000N.parquet   a submission's table; its metadata name the model's revision and measurement
    routes/routes-00000-of-0000N.parquet   the same rows with routes, regressed values, probabilities, what reading said
    annotation.json                      what labelled what, and what became of how many images; written last
    .annotate/                           finished parts of unfinished work; gone when it is done

Every image has one fate: its faces, one row each, or one row that says why there is none. A shard holds a fixed part of
the inputs in their order; it is written beside its name, then renamed, then entered in `.annotate/`. So work that was
killed goes on at the first shard that is not entered, and ends with the same bytes, whatever the size of a batch, the
number of threads that read, and the engine. On another processor labels and counts are the same but for images at a
threshold, and so are probabilities but for a few that differ by one step of rounding; `rounding_ares` says how many.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairspace.ares.annotating.inputs import Inputs
from fairspace.ares.annotating.labellers.packages import ARES
from fairspace.ares.annotating.labellers.session import open_session
from fairspace.ares.annotating.model import Labeller, find_labeller, versions
from fairspace.ares.annotating.session import BaseSession, Settings
from fairspace.ares.annotating.shards import FILE, Shards
from fairspace.ares.annotating.source import Source, open_source
from fairspace.ares.evaluating.measurement import error_of_labels
from fairspace.builders.engine.build import write_atomically
from fairspace.builders.errors import BuildError

if TYPE_CHECKING:
    from fairspace.ares.faces_ares import FaceDetector

ENGINES = ("local", "ray")
SHARD = 1_000
"""Images of a shard."""


@dataclass(frozen=True)
class Report:
    """What was annotated.

    Args:
        out: the folder.
        data: `annotation.json`.
        images: of this call; the others were done before.
        seconds: of this call.
    """

    out: Path
    data: Mapping[str, Any]
    images: int
    seconds: float

    @property
    def images_per_second(self) -> float | None:
        """Of this call; None if nothing was left to do."""
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
    kind: str = "",
    columns: Mapping[str, str] | None = None,
    config: str = "",
    split: str = "",
    detector: FaceDetector | Mapping[str, Any] | None = None,
    engine: str = "local",
    device: str = "",
    precision: str = "float32",
    ask_endpoint: bool = False,
    labeller: str = ARES,
    measurement: Path | None = None,
    shard: int = SHARD,
    progress: Callable[[str, int, int], None] = lambda what, done, total: None,
) -> Report:
    """Annotate images, or go on where an earlier call with the same arguments stopped.

    Args:
        model: a folder, or a repository on the Hub with `@<revision>` at its end; '' for another labeller than ARES.
        images: see `annotate_source`.
        out: a new or empty folder, or one with this work, finished or not.
        batch: faces that are decided together; changes nothing but speed.
        workers: threads that read ahead, or with Ray processes; changes nothing but speed.
        task: of all images, where their names do not say it.
        names: `items`, or `files` where images are no benchmark's.
        kind: of the source, where it cannot be told from the folder.
        columns: what the columns `task`, `id`, `sample` and `image` are called.
        config: of a dataset.
        split: of a dataset; `train` if left out.
        detector: finds faces; or the settings of one (`faces_ares.open_faces`).
        engine: `local`, or `ray` to spread the work over a cluster that sees the same files.
        device: of torch; '' takes a GPU if there is one.
        precision: `float32` or `bfloat16`.
        ask_endpoint: whether images may be sent to the endpoint that the model names.
        labeller: `ares`, or a package (`labellers.packages`).
        measurement: of a package, what `fairspace ares measure` wrote of it; its error then goes with the labels.
        shard: images of a shard.
        progress: called with what is being done and how fast, how much is done, and of how much.

    Errors: BuildError: SOURCE_MISSING, SOURCE_LAYOUT, SOURCE_VALUE for the images; OUT_IN_USE for other work in `out`;
        TOOL_MISSING for models, packages and Ray; as `find_labeller`.
    """
    if engine not in ENGINES:
        raise BuildError("CONFIG_INVALID", "engine", engine, " or ".join(ENGINES), "choose one of these")
    if out.is_file():
        raise _in_use(out, "it is a file")
    chosen = {"task": task, "names": names, "kind": kind, "columns": columns, "config": config, "split": split}
    source = open_source(images, **chosen)
    by = find_labeller(labeller, model, measurement)
    settings = Settings(
        by.folder, source, batch, workers, detector, device, precision, ask_endpoint=ask_endpoint, labeller=labeller
    )
    session = open_session(settings)
    work = out / ".annotate"
    finished = (out / FILE).is_file()
    progress("Listing images", 0, 0)
    with tempfile.TemporaryDirectory() as scratch, closing(Inputs(Path(scratch) / "inputs.sqlite", source)) as inputs:
        request = _asked(session, by, source, inputs, shard)
        if precision == "float32" and (error := error_of_labels(by.measurement, by.named)) is not None:
            request["label_error"] = error
        if finished:
            return Report(out, _finished(out, request), 0, 0.0)
        _claim(out, work / "asked.json", request)
        shards = Shards(out, work, request, progress)
        if engine == "ray":
            from fairspace.ares.annotating.ray import spread

            del session
            for number, rows in spread(settings, [(n, inputs.slice(*shards.part(n))) for n in shards.pending]):
                shards.write(number, *rows)
                shards.step(rows[2].images)
        else:
            for number in shards.pending:
                shards.write(number, *session.annotate(inputs.slice(*shards.part(number)), shards.step))
        data = shards.finish()
    shutil.rmtree(work)
    return Report(out, data, shards.done, time.monotonic() - shards.began)


def _asked(session: BaseSession, by: Labeller, source: Source, inputs: Inputs, shard: int) -> dict[str, Any]:
    """All that decides the bytes of the output."""
    where = {"kind": source.kind, "task": source.task, "names": source.names, "sha256": inputs.sha256}
    if source.kind == "dataset" and not Path(source.place).exists():
        where |= {"name": source.place, "revision": source.revision}
    return {
        "model": dict(by.named),
        "settings": session.about(),
        "source": where,
        "images": inputs.count,
        "shard": shard,
        "versions": versions(by.software),
    }


def _claim(out: Path, file: Path, request: Mapping[str, Any]) -> None:
    """Write down what is done here, or check that it is what was written down."""
    text = json.dumps(request, indent=1, sort_keys=True)
    if not file.is_file():
        if out.is_dir() and any(out.iterdir()):
            raise _in_use(out, "it is not empty")
        write_atomically(file, text)
    elif file.read_text(encoding="utf-8") != text:
        before = json.loads(file.read_text(encoding="utf-8"))
        raise _in_use(out, f"unfinished work with {_difference(before, request)}")


def _finished(out: Path, request: Mapping[str, Any]) -> dict[str, Any]:
    """What was written when the work was finished. BuildError OUT_IN_USE if it was other work, or a file is gone."""
    data: dict[str, Any] = json.loads((out / FILE).read_text(encoding="utf-8"))
    if {name: data.get(name) for name in request} != request:
        raise _in_use(out, f"finished work with {_difference(data, request)}")
    for shard in data["shards"]:
        for table in ("annotations", "routes"):
            file = out / shard[table]["file"]
            if not file.is_file() or file.stat().st_size != shard[table]["bytes"]:
                raise _in_use(out, f"{shard[table]['file']} is not what was written")
    return data


def _difference(before: Mapping[str, Any], request: Mapping[str, Any]) -> str:
    return "another " + ", ".join(name for name, value in request.items() if before.get(name) != value)


def _in_use(out: Path, what: str) -> BuildError:
    mend = "name another --out, or remove the folder"
    return BuildError("OUT_IN_USE", str(out), what, "a new folder, or this work's own", mend)
