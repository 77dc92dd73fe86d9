"""`fairspace join`: the parts of a run (`--part I/N`) as one submission, equal to that of one process.

Parts of the same tasks are one work: each of its N parts is there once, of one model under one set of settings. Works
of other tasks of the same model may be joined with it, such as IRIS' steered images with what they follow from. An
empty part, of a run with fewer stimuli than parts, may state less than the others.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pydantic import ValidationError

from fairspace.builders.errors import BuildError
from fairspace.builders.part import numbers, read_part
from fairspace.builders.writing import beside
from fairspace.submissions.answers.rows import readable_shares
from fairspace.submissions.benchmarks.task import add_hashes
from fairspace.submissions.checking.submission import check_submission
from fairspace.submissions.format.faults import SubmissionError, first, show
from fairspace.submissions.format.manifest import PART_MARK, Manifest, Scalar, Stage, read_manifest
from fairspace.submissions.format.schema import KEYS, SCHEMAS, Submission, SubmissionMeta
from fairspace.submissions.format.writing import check_new, write_submission
from fairspace.submissions.reading.tables import META
from fairspace.submissions.running.folders import link, work_folder

_SUMS = ("requests", "input_tokens", "output_tokens")
_OF_PART = {*_SUMS, "settings", "fates", "course", "prompts"}
"""Fields of a stage that are joined; all but these and `_OF_PROCESS` are equal in all parts."""
_OF_PROCESS = {"hardware", "software", "git", "started", "ended"}
_SHARES = ("empty", "looping", "cut_off")
"""Shares of the answers in a stage's course; the rest are sums, but for `readable_TASK`."""
_LABELS = {"labels", "label_error"}
"""Fields of `submission.json` that a part without an image does not have."""
_DRAWN = "pixels"
"""Setting of a stage that follows from its first image."""


@dataclass(frozen=True)
class RunPart:
    """A part of a run, or a whole one (`part` is ''); `submission` is None if it has nothing to do."""

    folder: Path
    part: str
    meta: Mapping[str, Any]
    stages: Sequence[Stage]
    submission: Submission | None

    @property
    def tasks(self) -> tuple[str, ...]:
        """Its tasks, those without a row included."""
        return tuple(sorted({task for stage in self.stages for task in stage.tasks}))


def join(folders: Sequence[Path], out: Path) -> tuple[Stage, ...]:
    """Write the joined submission to `out`, a new folder, and return its stages.

    Errors: BuildError PARTS_UNJOINABLE, which names the folder, before anything is written; SubmissionError for a part
    that breaks the format; UsageError if there is something at `out`.
    """
    check_new(out)
    parts = [_read(folder) for folder in folders]
    works: dict[tuple[str, ...], list[RunPart]] = {}
    for part in parts:
        works.setdefault(part.tasks, []).append(part)
    if len(parts) == 1 and not parts[0].part:
        raise _unjoinable(parts[0], "a whole run, no part of one", "--part I/N, as a part of a run states")
    for work in works.values():
        _check_complete(work)
    wholes = [_one_meta(work, strict=True) for work in works.values()]
    meta = SubmissionMeta.model_validate(_one_meta(wholes, strict=False).meta)
    joined = {name: _joined_rows(name, parts) for name in (*SCHEMAS, "images")}
    tables = {name: rows for name, rows in joined.items() if rows is not None and name in SCHEMAS}
    stages = [_joined_stage(same) for work in works.values() for same in _steps(work)]
    if "responses" in tables:
        shares = readable_shares(meta, tables["responses"])
        for number, stage in enumerate(stages):
            if stage.what == "responses":
                of_it = {name: share for name, share in shares.items() if name.partition("_")[2] in stage.tasks}
                stages[number] = stage.model_copy(update={"course": {**stage.course, **of_it}})
    shards = [file for part in parts if part.submission for file in sorted(part.folder.glob("images*.parquet"))]
    shards = [file for file in shards if pq.read_metadata(file).num_rows]
    with beside(out) as place:
        write_submission(place, meta, tables, manifest=Manifest(stages=stages))
        for number, shard in enumerate(shards):
            link(shard, place / f"images-{number:05}-of-{len(shards):05}.parquet")
    return tuple(stages)


def _read(folder: Path) -> RunPart:
    """A part from its folder. BuildError PARTS_UNJOINABLE if there is none, or it is not finished."""
    if not (folder / META).is_file():
        begun = work_folder(folder).is_dir()
        what = "a part that is not finished" if begun else "no submission"
        mend = "run the same command again: it goes on" if begun else "name the folders of parts"
        raise BuildError("PARTS_UNJOINABLE", str(folder), what, "a part of a run", mend)
    try:
        meta = SubmissionMeta.model_validate_json((folder / META).read_bytes()).model_dump(exclude_none=True)
        stages = read_manifest(folder).stages
    except ValidationError as error:
        raise BuildError("PARTS_UNJOINABLE", str(folder), first(error), "a submission", "run the part again") from error
    mark = str(meta["generation"].pop(PART_MARK, ""))
    try:
        part = read_part(mark, {})
    except BuildError as error:
        what = f"part {show(mark)}"
        raise BuildError("PARTS_UNJOINABLE", str(folder), what, error.expected, "run the part again") from error
    if not stages:
        mend = "join what `fairspace run` wrote, with its manifest.json"
        raise BuildError("PARTS_UNJOINABLE", str(folder), "nothing says how it was run", "a part of a run", mend)
    if not any(stage.requests for stage in stages):
        return RunPart(folder, part, meta, stages, None)
    report = check_submission(folder, allow_images=True)
    if report.submission is None:
        raise SubmissionError(list(report.faults))
    return RunPart(folder, part, meta, stages, report.submission)


def _unjoinable(part: RunPart, what: str, expected: str, mend: str = "name each part of one run once") -> BuildError:
    return BuildError("PARTS_UNJOINABLE", str(part.folder), what, expected, mend)


def _check_complete(work: Sequence[RunPart]) -> None:
    """BuildError PARTS_UNJOINABLE unless each of N parts is there once."""
    head, tasks = work[0], ", ".join(work[0].tasks)
    number_of = numbers(head.part)[1]
    for part in work[1:]:
        if numbers(part.part)[1] != number_of:
            what = f"{_named(part)} of {tasks}, beside {_named(head)} in {head.folder}"
            raise _unjoinable(part, what, "parts of one division")
        if same := [other for other in work if other.part == part.part and other is not part]:
            raise _unjoinable(part, f"{_named(part)} of {tasks}, which {same[0].folder} is too", "each part once")
    if lacking := sorted(set(range(number_of)) - {numbers(part.part)[0] for part in work}):
        names = ", ".join(f"{number}/{number_of}" for number in lacking[:9])
        more = f" and {len(lacking) - 9} more" if len(lacking) > 9 else ""
        mend = "run what is missing, and name all parts"
        raise _unjoinable(head, f"part {names}{more} of {tasks} is missing", f"{number_of} parts, each once", mend)


def _named(part: RunPart) -> str:
    return f"part {part.part}" if part.part else "a whole run"


def _one_meta(parts: Sequence[RunPart], *, strict: bool) -> RunPart:
    """One part with all that they state. BuildError PARTS_UNJOINABLE if one contradicts it.

    `strict`: only empty parts may state less; else it is the one that states most, and each may be silent.
    """
    head = max(
        parts,
        key=lambda part: (part.submission is not None, "labels" in part.meta, strict or len(_flat(part.meta))),
    )
    stated = _flat(head.meta)
    for part in parts:
        facts, less = _flat(part.meta), not strict or part.submission is None
        names = sorted({name for name, value in facts.items() if name not in stated or stated[name] != value})
        names = [name for name in names if strict or name in stated]
        labelled = part.submission is not None and "annotations" in part.submission.tables
        names += [] if less else sorted(stated.keys() - facts - (set() if labelled else _LABELS))
        if names:
            what = f"another {', '.join(names)} than {head.folder}"
            mend = "run the part again as the others, in a new folder; between tasks, --about says model and revision"
            raise _unjoinable(part, what, "one model, revision and settings", mend)
    meta: dict[str, Any] = {}
    for part in (head, *parts):
        generation = {**part.meta["generation"], **meta.get("generation", {})}
        meta = {**part.meta, **meta, "generation": generation}
    return RunPart(head.folder, "", meta, head.stages, head.submission)


def _flat(meta: Mapping[str, Any]) -> dict[str, Any]:
    settings = {f"generation {name}": value for name, value in meta["generation"].items()}
    return {name: value for name, value in meta.items() if name != "generation"} | settings


def _joined_rows(name: str, parts: Iterable[RunPart]) -> pa.Table | None:
    """The rows of a table, sorted by key; None without any. BuildError PARTS_UNJOINABLE for a key in two parts."""
    by_part: dict[Path, pa.Table] = {}
    for part in parts:
        if part.submission is None:
            continue
        rows = part.submission.images if name == "images" else part.submission.tables.get(name)
        if rows is not None and rows.num_rows:
            by_part[part.folder] = rows
    if not by_part:
        return None
    table = pa.concat_tables(by_part.values())
    keys = [key for key in KEYS.get(name, ("task", "id", "sample")) if table[key].null_count < table.num_rows]
    counts = table.group_by(keys).aggregate([([], "count_all")])
    if counts.num_rows != table.num_rows:
        twice = counts.filter(pc.greater(counts["count_all"], 1)).select(keys).slice(0, 1).to_pylist()[0]
        holders = [str(folder) for folder, rows in by_part.items() if twice in rows.select(keys).to_pylist()]
        where, key = " and ".join(holders), "/".join(map(str, twice.values()))
        raise BuildError("PARTS_UNJOINABLE", where, f"{key} in {name} of both", "each answer once", "name one of them")
    return table.sort_by([(key, "ascending") for key in keys]).combine_chunks()


def _steps(work: Sequence[RunPart]) -> list[list[tuple[RunPart, Stage]]]:
    """Each step in all parts; a part without images has no labels. BuildError PARTS_UNJOINABLE if one lacks."""
    steps: dict[tuple[str, ...], list[tuple[RunPart, Stage]]] = {}
    for part in sorted(work, key=lambda part: -len(part.stages)):
        for stage in part.stages:
            steps.setdefault((stage.what, *stage.tasks), []).append((part, stage))
    for (step, *tasks), same in steps.items():
        for part in work:
            idle = not any(stage.requests for stage in part.stages if stage.tasks == tasks)
            if not idle and part not in [each for each, _ in same]:
                what = f"no {step} of {', '.join(tasks)}, unlike {same[0][0].folder}"
                raise _unjoinable(part, what, "the same steps in all parts", "run it with the options of the others")
    return list(steps.values())


def _joined_stage(same: Sequence[tuple[RunPart, Stage]]) -> Stage:
    """A stage with the sums of its parts. BuildError PARTS_UNJOINABLE if they were run otherwise."""
    stages = [stage for _, stage in same]
    head = max(stages, key=lambda stage: stage.requests > 0)
    shared = head.model_dump(exclude=_OF_PART | _OF_PROCESS)
    counts = Counter[str]()
    for part, stage in same:
        names = [name for name, value in stage.model_dump(include=set(shared)).items() if value != shared[name]]
        ours, theirs = _settings(stage), _settings(head)
        names += [name for name in {**ours, **theirs} if ours.get(name) != theirs.get(name)] if stage.requests else []
        if names:
            what = f"other {', '.join(names)} of {stage.what} of {', '.join(stage.tasks)}"
            raise _unjoinable(part, what, "one way in all parts", "run the parts with the same settings and versions")
        counts.update(stage.fates)
    settings = {name: value for name, value in head.settings.items() if name != PART_MARK}
    return head.model_copy(
        update={
            **{name: sum(getattr(stage, name) for stage in stages) for name in _SUMS},
            "settings": settings,
            "fates": {**dict.fromkeys(head.fates, 0), **counts},
            "prompts": add_hashes(stage.prompts for stage in stages) if head.prompts else "",
            "course": _joined_course(stages),
            "started": min(stage.started for stage in stages),
            "ended": max(stage.ended for stage in stages),
        }
    )


def _settings(stage: Stage) -> dict[str, Scalar]:
    return {name: value for name, value in stage.settings.items() if name not in (PART_MARK, _DRAWN)}


def _joined_course(stages: Sequence[Stage]) -> dict[str, Scalar]:
    """Sums, of seconds too, and shares by the answers of each part; `parts`: their number."""
    if len(stages) == 1:
        return dict(stages[0].course)
    course: dict[str, Scalar] = {}
    for name in dict.fromkeys(name for stage in stages for name in stage.course if not name.startswith("readable_")):
        weights = [stage.fates.get("answered", 0) if name in _SHARES else 1 for stage in stages]
        values = [float(stage.course.get(name) or 0) for stage in stages]
        total = sum(value * weight for value, weight in zip(values, weights, strict=True))
        share = round(total / sum(weights), 4) if sum(weights) else None
        course[name] = share if name in _SHARES else int(total)
    return course | ({"parts": len(stages)} if course else {})
