"""Label a submission's images with ARES or a package, into a submission with their annotations instead.

`fairspace ares annotate` gives the same annotations, and goes on after an interruption.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, reduce
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from fairspace.ares.annotating.labellers import ARES, Package
from fairspace.builders.errors import BuildError
from fairspace.builders.writing import write_text
from fairspace.submissions.benchmarks.registry import NAMES, benchmark
from fairspace.submissions.checking.submission import check_table
from fairspace.submissions.errors import UsageError, did_you_mean
from fairspace.submissions.format.faults import Collector, RefusedError, SubmissionError
from fairspace.submissions.format.schema import LABELS, VOCABULARY, Submission, SubmissionMeta
from fairspace.submissions.reading.canonical import digest
from fairspace.submissions.reading.containers import LIMITS, open_container
from fairspace.submissions.reading.images import stream_images
from fairspace.submissions.reading.tables import META, Progress, Rows, sort_files
from fairspace.submissions.running.asking.inspect_task import ChosenPart
from fairspace.submissions.running.settings import ModelFacts, meta_of

if TYPE_CHECKING:
    from fairspace.ares.annotating.annotate import AnnotationWork

_SETTINGS = ("ablation", "arbiter", "detector", "precision", "labeller", "licence", "use")
"""Settings of the labeller in the manifest."""
_CHUNK = 1_000
"""Images whose rows are made at a time."""


def benchmark_names(asked: str) -> Callable[[Any], Any]:
    """Names images as the benchmarks do: their id may begin with the task once. `asked`: BENCHMARK[@REVISION] or ''.

    The function takes an `ImageEntry`. BuildError SOURCE_VALUE for an id that the task does not have; UsageError.
    """
    name, _, revision = asked.partition("@")
    benches = [benchmark(each) for each in ([name] if name else NAMES)]

    @cache
    def ids_of(name: str) -> frozenset[str] | None:
        """The ids of a task with images; None for one of no benchmark."""
        tasks = [(bench, task) for bench in benches for task in bench.tasks if task.name == name]
        revisions = [(task, each) for bench, task in tasks for each in ([revision] if revision else bench.revisions)]
        return frozenset(item for task, each in revisions for item in task.ids(each).to_pylist()) if tasks else None

    def named(entry: Any) -> Any:
        ids, whole = ids_of(entry.task), f"{entry.task}/{entry.id}"
        if ids is None and not asked:
            return entry
        if (right := next((each for each in (entry.id, whole) if each in (ids or ())), None)) is None:
            what, mend = f"the id {entry.id!r}{did_you_mean(whole, ids or ())}", "name it <task>/<id>/<sample>.png"
            raise BuildError("SOURCE_VALUE", entry.where, what, f"an id of the task {entry.task}", mend)
        return entry._replace(id=right)

    return named


def open_labelling(
    images: str,
    out: Path,
    model: str,
    *,
    names: str = "items",
    faces: str = "",
    **options: Any,
) -> AnnotationWork:
    """The opened work of `fairspace ares annotate`, whose words the arguments are. A process of Ray calls it, too.

    `names` may be BENCHMARK@REVISION; `options`: as of `annotate.open_work`. Errors: as there, and of `benchmark_names`
    and the labeller.
    """
    from fairspace.ares.annotating.annotate import open_work
    from fairspace.ares.annotating.source import NAMES
    from fairspace.submissions.running.zero_shot import face_detector, open_labeller

    submission, names = ("", names) if names in NAMES else (names, "items")
    options |= {"names": names, "rename": benchmark_names(submission), "submission": submission}
    labeller, ares = open_labeller(model)
    return open_work(ares, images, out, labeller=labeller, detector=face_detector(faces), **options)


def join_annotations(parts: Sequence[Path], out: Path) -> dict[str, Any]:
    """Join parts of `fairspace ares annotate` into `out`, as one process would have made it; its `annotation.json`.

    `parts` are the folders with parts, or the folder of all, which may be `out`. BuildError as of `files.join`.
    """
    from fairspace.ares.annotating.files import join

    data, submission = join(parts, out)
    if submission:
        hand_in(out, submission, data)
    return data


def hand_in(out: Path, asked: str, data: Mapping[str, Any]) -> None:
    """Make the folder of `annotate` a submission: writes `submission.json`. `data`: its `annotation.json`."""
    name, _, revision = asked.partition("@")
    use = {"use": data["use"]} if "use" in data else {}
    labels = labels_of(data["model"], data["settings"] | use, data.get("label_error"))
    meta = meta_of(ChosenPart(name, dataset_revision=revision), {}, ModelFacts(), **labels)
    write_text(out / META, meta.model_dump_json(exclude_none=True, indent=1) + "\n")


def labels_of(named: Mapping[str, str], about: Mapping[str, Any], error: Mapping[str, Any] | None) -> dict[str, Any]:
    """`labels` in submission.json and, if it was measured, `label_error`, from the parts of `annotation.json`."""
    settings = {"sha256": named["sha256"], "measurement": named["measurement"] or "not measured"}
    settings |= {name: about[name] or "none" for name in _SETTINGS if name in about}
    labels = {"labels": {"name": named["name"], "version": named["revision"], "settings": settings}}
    attributes = {
        name: matrix
        for name, matrix in (error or {"attributes": {}})["attributes"].items()
        if name in LABELS and sorted(matrix["labels"]) == sorted(VOCABULARY[name])
    }
    measured = {"label_error": {"source": error["source"], "attributes": attributes}} if error and attributes else {}
    return labels | measured


def label_images(
    path: Path,
    submission: Submission,
    model: Path | str = "",
    labeller: str | Package = ARES,
    measurement: Path | None = None,
    detector: Any = None,
    *,
    batch: int = 64,
    device: str = "",
    progress: Progress = lambda what, done, total: None,
) -> Submission:
    """The submission with annotations by a labeller instead of images.

    `model`: folder of ARES, or repository on the Hub with `@<revision>`; '' for another labeller (as
    `zero_shot.open_labeller` gives both), whose `measurement` is the output of `fairspace ares evaluate`.
    `detector`: face finder or its settings; None takes each image as one face. `batch` changes only speed.

    Errors: SubmissionError if the files cannot be read again; UsageError if they changed meanwhile, or there is none;
        BuildError as `find_labeller`.
    """
    from fairspace.ares.annotating.annotate import find_labeller, open_session
    from fairspace.ares.annotating.files import added, use_of
    from fairspace.ares.annotating.source import ImageEntry

    images = submission.images
    if images is None:
        raise UsageError(f"{path} holds no images.")
    by = find_labeller(labeller, model, measurement)
    session = open_session(labeller, by.folder, batch=batch, detector=detector, device=device)
    tables, counts = [], []
    done = 0

    def step(number: int) -> None:
        nonlocal done
        done += number
        progress("Labelling images", done, images.num_rows)

    faults = Collector(LIMITS.faults)
    with open_container(path, LIMITS, faults) as members:
        files = sort_files(members, faults).tables.get("images", [])
        stream = stream_images(files, LIMITS)
        try:
            for start in range(0, images.num_rows, _CHUNK):
                rows = images.slice(start, _CHUNK).to_pylist()
                entries = [
                    ImageEntry(row["task"], row["id"], row["sample"], "images", start + place, 0, row["sha256"])
                    for place, row in enumerate(rows)
                ]
                labelled, _, of_chunk = session.answer(entries, _contents(stream, entries), step)
                tables.append(labelled)
                counts.append(of_chunk)
        except RefusedError as refused:
            faults.refuse(refused, "images")
            raise SubmissionError(list(faults.all())) from refused
    use = use_of(getattr(labeller, "told", ""), by.named["name"], reduce(added, counts))
    labels = labels_of(by.named, session.about | ({"use": use} if use else {}), by.error)
    meta = SubmissionMeta.model_validate({**submission.dump_meta(), **labels})
    annotations = _sorted(pa.concat_tables(tables), meta)
    whole = {**submission.tables, "annotations": annotations}
    return Submission(meta, whole, digest(meta, whole), manifest=submission.manifest)


def _contents(stream: Iterator[Any], entries: list[Any]) -> Iterator[dict[str, Any] | None]:
    """The images of some entries for the labeller. UsageError if they are not those that were checked."""
    place = 0
    for place, (key, data) in enumerate(islice(stream, len(entries)), start=1):
        entry = entries[place - 1]
        if key != (entry.task, entry.id, entry.sample, entry.sha256):
            break
        yield None if data is None else {"bytes": data, "path": "", "sha256": entry.sha256}
    else:
        if place == len(entries):
            return
    raise UsageError("The files of images changed while they were read. Score the submission again.")


def _sorted(table: pa.Table, meta: SubmissionMeta) -> pa.Table:
    """The annotations in the order of a checked submission. SubmissionError if they break the format."""
    faults = Collector(LIMITS.faults)
    rows = Rows(table, np.arange(1, table.num_rows + 1), ("annotations.parquet",))
    checked = check_table("annotations", rows, meta, benchmark(meta.benchmark), LIMITS, faults)
    if faults.all():
        raise SubmissionError(list(faults.all()))
    return checked
