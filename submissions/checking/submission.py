"""Check a submission: read it safely, compare it with its benchmark, and return the submission or every fault.

`submission.json` and `manifest.json` have one fault per field or problem. Also coverage by task.
A submission is data: nothing in it is executed, unpickled, followed or used as a path, and nothing is written.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from fairspace.submissions.benchmarks.benchmark import Benchmark
from fairspace.submissions.benchmarks.registry import NAMES, benchmark
from fairspace.submissions.benchmarks.scoring_table import AS_RELEASED, ScoringTable
from fairspace.submissions.benchmarks.task import Task
from fairspace.submissions.checking.consistency import answered
from fairspace.submissions.checking.names import check_names, names_taken
from fairspace.submissions.checking.rows import TASKS_OF, RowCheck
from fairspace.submissions.errors import did_you_mean
from fairspace.submissions.format.faults import Collector, Fault, RefusedError, SubmissionError, show
from fairspace.submissions.format.manifest import ENTRIES, STAGES, Manifest
from fairspace.submissions.format.schema import (
    ANNOTATIONS,
    OTHER_JUDGES,
    SCHEMAS,
    Confusion,
    LabelError,
    Submission,
    SubmissionMeta,
    Tool,
)
from fairspace.submissions.reading.canonical import digest
from fairspace.submissions.reading.containers import LIMITS, Limits, Member, open_container
from fairspace.submissions.reading.images import read_image_keys
from fairspace.submissions.reading.tables import (
    META,
    Budget,
    Progress,
    Rows,
    SubmissionFiles,
    read_object,
    read_table,
    sort_files,
)

Record = TypeVar("Record", SubmissionMeta, Manifest)
_TEXT_ERRORS = ("string_too_short", "string_too_long", "string_pattern_mismatch")
SHOWN = 1_000
"""Details of a file that are turned into faults; submission.json has 17 fields."""
_KINDS = {
    "string_type": "a text, in quotation marks",
    "dict_type": "an object",
    "model_type": "an object",
    "list_type": "a list",
    "float_type": "a number",
    "bool_type": "true or false",
    "too_short": "at least one, or no such field",
    "too_long": f"at most {OTHER_JUDGES}",
}
_BEYOND = ("greater_than_equal", "less_than_equal", "finite_number")
_SHAPES = ("value_error", "too_short", "too_long")
_IN_MANIFEST = {
    "missing": "every required field",
    "extra_forbidden": "the fields of manifest.json alone",
    "string_pattern_mismatch": "one plain line, in the form that FORMAT.md shows",
    "string_too_short": "one plain line",
    "string_too_long": "one plain line of at most 200 characters (1,000 in settings)",
    "too_long": f"at most {STAGES} stages, and {ENTRIES} entries of a list or an object",
}
_SCALARS = ("settings", "hardware")
_CHOICES = {"format": "UNKNOWN_FORMAT", "benchmark": "UNKNOWN_BENCHMARK"}


def _read_meta(member: Member | None, any_member: bool, limits: Limits, faults: Collector) -> SubmissionMeta | None:
    """The content of `submission.json`; a fault if it is missing beside any member, and for each field that is wrong.

    With faults it holds only the fields that rows can be checked against; None without known benchmark and revision.
    """
    if member is None:
        if any_member or not faults.all():
            what = "no submission.json" if any_member else "nothing at all"
            faults.add("MISSING_FILE", META, what, expected="submission.json beside the tables")
        return None
    data, meta = _read_record(SubmissionMeta, member, limits, faults, _of_meta, ("UNKNOWN_FORMAT", "format"))
    return meta or _salvaged(data)


def _read_record(
    kind: type[Record],
    member: Member,
    limits: Limits,
    faults: Collector,
    described: Callable[[ErrorDetails], tuple[str, str, str, str]],
    no_format: tuple[str, str],
) -> tuple[dict[str, Any], Record | None]:
    """The JSON data of a file and the record in it; None with a fault for each problem, as `described`."""
    name, data = member.name, dict[str, Any]()
    try:
        data = read_object(member, limits.meta_bytes, limits.depth)
        record = kind.model_validate(data)
    except RefusedError as refused:
        faults.refuse(refused, name)
    except ValidationError as error:
        noted: set[tuple[str, str]] = set()
        for detail in error.errors(include_url=False)[:SHOWN]:
            code, where, what, expected = described(detail)
            if (code, where) not in noted:
                noted.add((code, where))
                faults.add(code, name, what, expected=expected, kind=where[:64])
    else:
        if type(data.get("format", 1)) is int:
            return data, record
        code, what = no_format[0], f"{no_format[1]} {show(data['format'])}"
        faults.add(code, name, what, expected="the integer 1", kind="format")
        data = {}
    return data, None


def _salvaged(data: dict[str, Any]) -> SubmissionMeta | None:
    name, revision = data.get("benchmark"), data.get("dataset_revision")
    if name not in NAMES or not isinstance(revision, str) or not benchmark(name).has_revision(revision):
        return None
    tool = {"name": "faulty", "version": "faulty"}
    rest = dict.fromkeys(("model", "revision", "organisation", "licence", "contact"), "faulty")
    tools = {role: tool for role in ("labels", "judge") if role in data}
    fields = {"format": 1, "benchmark": name, "dataset_revision": revision, "generation": {}}
    meta = SubmissionMeta.model_validate(fields | rest | tools)
    others = data.get("other_judges")
    names = [entry["name"] for entry in others if _is_named(entry)] if isinstance(others, list) else []
    return meta.model_copy(update={"other_judges": [Tool.model_construct(name=n, version="faulty") for n in names]})


def _is_named(entry: Any) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("name"), str)


def _of_meta(detail: ErrorDetails) -> tuple[str, str, str, str]:
    """Code, place, finding and requirement of a wrong field of `submission.json`."""
    place = [str(part) for part in detail["loc"] if part not in ("str", "int", "float", "bool")]
    where = ".".join(place[:4])
    value, kind = detail["input"], detail["type"]
    name = f"field {show(where)}"
    matrix = place[0] == "label_error"
    nested = Tool if not matrix else LabelError if len(place) < 3 else Confusion
    fields = list((SubmissionMeta if len(place) < 2 else nested).model_fields)
    if kind == "missing":
        code, what, expected = "MISSING_FIELD", f"no {name}", "every required field"
    elif kind == "extra_forbidden":
        code, what, expected = "UNKNOWN_FIELD", f"{name}{did_you_mean(place[-1][:64], fields)}", ", ".join(fields)
    elif kind == "literal_error":
        code, expected = _CHOICES.get(where, "UNKNOWN_VALUE"), str(detail.get("ctx", {}).get("expected", ""))
        choices = expected.replace("'", "").replace(" or ", ", ").split(", ")
        what = f"{name} is {show(value)}{did_you_mean(value[:64], choices) if isinstance(value, str) else ''}"
    elif kind in _TEXT_ERRORS:
        code, what, expected = "BAD_TEXT", f"{name} is {show(value)}", "one line of 1 to 200 printable characters"
    elif matrix and kind in _SHAPES:
        message = detail["msg"].removeprefix("Value error, ")
        expected = (
            message if kind == "value_error" else "for each attribute its labels, and a row of counts for each label"
        )
        code, what = "LABEL_ERROR", f"{name} is {show(value)}"
    elif kind in _BEYOND:
        expected = "a count from 0 to 10,000,000" if matrix else "billions, from 1e-9 to 100,000"
        code, what = "VALUE_RANGE", f"{name} is {show(value)}"
    else:
        setting = (
            kind not in ("dict_type", "model_type")
            and len(place) > 1
            and (place[0] == "generation" or "settings" in place[1:3])
        )
        expected = "text, a number, true, false or null" if setting else _KINDS.get(kind, detail["msg"])
        code, what = "WRONG_TYPE", f"{name} is {show(value)}"
    return code, where, what, expected


def _of_manifest(detail: ErrorDetails) -> tuple[str, str, str, str]:
    """Code, place, finding and requirement of a wrong field of `manifest.json`."""
    loc, kind = detail["loc"], detail["type"]
    where = ".".join(map(str, loc[:4]))
    expected = _IN_MANIFEST.get(kind, detail["msg"].removeprefix("Input should be "))
    if len(loc) > 3 and loc[2] in _SCALARS and kind.endswith("_type"):
        expected = "text, a number, true, false or null"
    what = f"no {show(where)}" if kind == "missing" else f"{show(where)} is {show(detail['input'])}"
    return "MANIFEST_INVALID", where, what, expected


_NAMED = 5
"""Files that were passed over, named in notes; the others are counted."""


@dataclass(frozen=True)
class TaskCoverage:
    """The samples of one task in a submission.

    `needed` is enough for a rank under the default standard, if gaps spread evenly; 0 for a task without a score.
    """

    task: str
    handed_in: int
    expected: int
    needed: int
    scores: tuple[str, ...]

    @property
    def share(self) -> str:
        """The share of samples as text; 100.0 % only if nothing is missing."""
        percent = 100 * self.handed_in / self.expected if self.expected else 100.0
        return f"{percent if self.handed_in == self.expected else min(percent, 99.9):.1f} %"

    @property
    def enough_for(self) -> str:
        """The use of the samples, in words."""
        if not self.handed_in:
            return "nothing: not run"
        if not self.needed:
            return "its values" if self.handed_in == self.expected else "worst-case limits"
        if self.handed_in == self.expected:
            return "its values, a rank"
        return "worst-case limits, a rank" if self.handed_in >= self.needed else "worst-case limits, no rank"

    def to_json(self) -> dict[str, Any]:
        """The fields as JSON data."""
        return vars(self) | {"scores": list(self.scores), "enough_for": self.enough_for}


def coverage(submission: Submission, bench: Benchmark) -> list[TaskCoverage]:
    """The coverage of every task, in the benchmark's order; optional ones only if run."""
    standard = _default(bench)
    minimum = 0.0 if standard is None else standard.minimum_coverage
    table = ScoringTable({}) if standard is None else bench.scoring.table(standard, AS_RELEASED)
    revision = submission.meta.dataset_revision
    covered = []
    for task in bench.tasks:
        expected = task.samples_asked(revision)
        if not expected:
            continue
        handed_in = min(expected, _handed_in(submission, task))
        if task.optional and not handed_in:
            continue
        needed = 0 if task.optional else min(expected, -int(-minimum * expected // 1))
        covered.append(TaskCoverage(task.name, handed_in, expected, needed, _resting(task, table)))
    return covered


def coverage_notes(tasks: Sequence[TaskCoverage], bench: Benchmark) -> Iterator[str]:
    """The samples still missing for a rank by each score of which a task was run."""
    standard = _default(bench)
    scores = dict.fromkeys(score for covered in tasks for score in covered.scores)
    for score in scores if standard is not None else ():
        parts = [covered for covered in tasks if score in covered.scores]
        lacking = [part for part in parts if part.handed_in < part.needed]
        if lacking and any(part.handed_in for part in parts):
            more = ", ".join(f"{part.needed - part.handed_in:,} more of {part.task}" for part in lacking)
            share = f"{standard.minimum_coverage:.0%} of the samples of every value that counts"
            yield f"too few samples for a rank by {score}: {standard.name} needs {share}, at least {more}"


def _default(bench: Benchmark) -> Any:
    return bench.standards.get(bench.default)


def _handed_in(submission: Submission, task: Task) -> int:
    if task.table == "annotations" and submission.images is not None:
        there = pc.equal(submission.images["task"], task.name)
    else:
        there = answered(submission.scored_rows(task.table, task.name), task.table)
    return int(pc.sum(there).as_py() or 0)


def _resting(task: Task, table: ScoringTable) -> tuple[str, ...]:
    return tuple(score for score in table.ranking if _parts(score, table.rules) & set(task.values))


def _parts(score: str, rules: Mapping[str, Any]) -> set[str]:
    """The name of a score and of all its parts, recursively."""
    parts, further = {score}, [score]
    while further:
        weights = rules[name].weights if (name := further.pop()) in rules else ()
        further += [part for part in weights if part not in parts]
        parts |= set(weights)
    return parts


@dataclass(frozen=True)
class CheckReport:
    """The result of a check: the submission with rows sorted by key, None with a fault, and all faults by kind.

    `notes` tell of tasks without rows, samples missing for a rank, and faults left out.
    """

    submission: Submission | None
    faults: tuple[Fault, ...] = ()
    notes: tuple[str, ...] = ()
    coverage: tuple[TaskCoverage, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the submission can be scored."""
        return self.submission is not None

    @property
    def passed_over(self) -> list[str]:
        """The notes of files and columns that were not read."""
        return [note for note in self.notes if note.startswith("passed over")]


def check_submission(
    path: Path,
    *,
    limits: Limits = LIMITS,
    progress: Progress | None = None,
    allow_baseline: bool = True,
    allow_images: bool = False,
) -> CheckReport:
    """Read and check the submission at `path`: a folder, a zip, or a dataset's snapshot folder in the Hub's cache.

    `progress` is called with step, amount done and total. `allow_baseline` takes `baseline` in submission.json, and
    `allow_images` images in place of annotations, until they are labelled; neither on a public board.

    Errors: UsageError if there is nothing at `path`; everything wrong with the submission is a fault.
    """
    faults = Collector(limits.faults)
    limits = limits.of_zip(Path(path).stat().st_size) if Path(path).is_file() else limits
    with open_container(Path(path), limits, faults) as members:
        files = sort_files(members, faults)
        meta = _read_meta(files.meta, bool(members), limits, faults)
        manifest = None
        if files.manifest:
            no_format = "MANIFEST_INVALID", "'format' is"
            _, manifest = _read_record(Manifest, files.manifest, limits, faults, _of_manifest, no_format)
        budget = Budget(limits, sum(m.size for table in files.tables.values() for m in table), progress)
        images = files.tables.pop("images", [])
        bench = _benchmark(meta, files, allow_baseline, faults)
        images = _images(images, meta, bench, files, allow_images, faults)
        read = {
            name: read_table(name, files.tables[name], limits, faults, budget)
            for name in SCHEMAS
            if name in files.tables and (bench is None or name in _taken(bench))
        }
        keys = read_image_keys(images, limits, faults, budget) if images else None
    other = None if bench is None else _other_benchmark([rows.table for rows in read.values()], bench)
    if bench is not None and other is not None:
        what = f"benchmark is {bench.name}, the answers are of {other.name}"
        faults.add("WRONG_BENCHMARK", META, what, expected=f"benchmark {other.name}")
    tables: dict[str, pa.Table] = {}
    for done, (name, rows) in enumerate(read.items()):
        if progress is not None:
            progress(f"check {name}", done, len(read))
        tables[name] = check_table(name, rows, meta, bench if other is None else None, limits, faults)
    _check_labels(read, keys, meta, limits, faults)
    tables = {name: table for name, table in tables.items() if table.num_rows}
    if keys is not None:
        _check_images(keys, meta, bench, limits, faults)
    if not set(tables) - {"human_labels"} and not (keys and keys.table.num_rows) and not faults.all():
        faults.add("EMPTY_SUBMISSION", "the submission", "no row in any table", expected="rows of at least one task")
    return report_on(meta, bench, tables, faults, keys.table if keys is not None else None, manifest)


def report_on(
    meta: SubmissionMeta | None,
    bench: Benchmark | None,
    tables: dict[str, pa.Table],
    faults: Collector,
    images: pa.Table | None = None,
    manifest: Manifest | None = None,
) -> CheckReport:
    """The report of checked tables: a submission, or all faults."""
    notes = [f"{faults.left_out} more faults are not shown"] if faults.left_out else []
    notes += [f"passed over {what}" for what in faults.passed_over[:_NAMED]]
    notes += [f"passed over {more:,} more"] if (more := len(faults.passed_over) - _NAMED) > 0 else []
    if faults.all() or meta is None or bench is None:
        return CheckReport(None, faults.all(), tuple(notes))
    checked = Submission(meta, tables, digest(meta, tables), images, manifest)
    covered = coverage(checked, bench)
    return CheckReport(checked, (), (*notes, *_notes(checked, bench, covered)), tuple(covered))


def read_submission(path: Path, *, limits: Limits = LIMITS, progress: Progress | None = None) -> Submission:
    """The checked submission at `path`. SubmissionError holds every fault; UsageError: there is nothing at `path`."""
    report = check_submission(path, limits=limits, progress=progress)
    if report.submission is None:
        raise SubmissionError(list(report.faults))
    return report.submission


def _benchmark(
    meta: SubmissionMeta | None, files: SubmissionFiles, allow_baseline: bool, faults: Collector
) -> Benchmark | None:
    if meta is None:
        return None
    bench = benchmark(meta.benchmark)
    if not bench.has_revision(meta.dataset_revision):
        hint = did_you_mean(meta.dataset_revision, bench.revisions)
        what = f"dataset_revision {show(meta.dataset_revision)}{hint}"
        faults.add("UNKNOWN_REVISION", META, what, expected=", ".join(bench.revisions))
    check_names(meta, faults)
    if meta.baseline is not None and not allow_baseline:
        faults.add("BASELINE_NOT_ALLOWED", META, f"baseline {show(meta.baseline)}", expected="no field 'baseline'")
    if "annotations" in files.tables and meta.labels is None:
        faults.add("MISSING_LABELS", META, "annotations, but no 'labels'", expected="labels: name and version")
    if "judgements" in files.tables and meta.judge is None:
        faults.add("MISSING_JUDGE", META, "judgements, but no 'judge'", expected="judge: name and version")
    judges = [tool.name for tool in (*([meta.judge] if meta.judge else []), *(meta.other_judges or ()))]
    for name in dict.fromkeys(name for name in judges if judges.count(name) > 1):
        what = f"{judges.count(name)} judges named {show(name)}"
        faults.add("DUPLICATE_JUDGE", META, what, expected="judges of different names")
    taken = _taken(bench)
    for name in files.tables:
        if name not in taken:
            file = files.tables[name][0].name
            faults.add("UNEXPECTED_TABLE", file, f"{name} for {bench.name}", expected=", ".join(taken))
    return bench


def _taken(bench: Benchmark) -> list[str]:
    tables = {task.table for task in bench.tasks}
    return [name for name in SCHEMAS if TASKS_OF.get(name, name) in tables]


def _images(
    images: list[Member],
    meta: SubmissionMeta | None,
    bench: Benchmark | None,
    files: SubmissionFiles,
    allowed: bool,
    faults: Collector,
) -> list[Member]:
    if not images:
        return []
    file = images[0].name
    if not allowed:
        faults.add("IMAGES_NOT_ALLOWED", file, "images", expected="annotations alone")
        return []
    if "annotations" in files.tables:
        what = f"{file} and {files.tables['annotations'][0].name}"
        faults.add("IMAGES_AND_ANNOTATIONS", file, what, expected="images, or what was found in them")
    if meta is not None and meta.labels is not None and "annotations" not in files.tables:
        faults.add("LABELS_NOT_ALLOWED", META, f"labels by {show(meta.labels.name)}", expected="no field 'labels'")
    if meta is not None and meta.label_error is not None and "annotations" not in files.tables:
        what = f"label_error of {show(meta.label_error.source)}"
        faults.add("LABELS_NOT_ALLOWED", META, what, expected="no field 'label_error'", kind="label_error")
    if bench is not None and not any(task.table == "annotations" for task in bench.tasks):
        faults.add("UNEXPECTED_TABLE", file, f"images for {bench.name}", expected="a benchmark with images")
        return []
    return images


def _check_labels(
    read: Mapping[str, Rows], keys: Rows | None, meta: SubmissionMeta | None, limits: Limits, faults: Collector
) -> None:
    """Note people's labels of missing rows, and a measured error of labels without labels."""
    annotations = read["annotations"].table if "annotations" in read else SCHEMAS["annotations"].empty_table()
    if "human_labels" in read:
        people = RowCheck("human_labels", read["human_labels"], limits, faults)
        if keys is not None and not annotations.num_rows:
            people.annotated(keys.table, "an image of images")
        else:
            people.annotated(annotations, "a face of annotations")
    if meta is not None and meta.label_error is not None and keys is None and not annotations.num_rows:
        what = f"label_error of {show(meta.label_error.source)}, and no annotations for {meta.benchmark}"
        faults.add("LABEL_ERROR", META, what, expected="no field 'label_error'", kind="label_error")


def _check_images(
    rows: Rows, meta: SubmissionMeta | None, bench: Benchmark | None, limits: Limits, faults: Collector
) -> None:
    """Note every image that fits no item or comes twice, by the rules for its one annotation."""
    if meta is None or bench is None or not bench.has_revision(meta.dataset_revision):
        return
    n = rows.table.num_rows
    columns = {name: rows.table[name] for name in ("task", "id", "sample")}
    columns |= {"face": pa.array([0] * n, pa.int32()), "status": pa.array(["refused"] * n, pa.string())}
    whole = [columns.get(field.name, pa.nulls(n, field.type)) for field in ANNOTATIONS]
    one_each = Rows(pa.table(whole, schema=ANNOTATIONS), rows.places, rows.files)
    RowCheck("annotations", one_each, limits, faults).keys(bench, meta.dataset_revision)


def check_table(
    name: str, rows: Rows, meta: SubmissionMeta | None, bench: Benchmark | None, limits: Limits, faults: Collector
) -> pa.Table:
    """The table sorted by its key; notes every row that does not fit."""
    check = RowCheck(name, rows, limits, faults)
    check.values()
    if meta is None or bench is None or not bench.has_revision(meta.dataset_revision):
        return rows.table
    if name == "responses":
        check.names(any(meta.dataset_revision in task.named_in for task in bench.tasks))
    if name == "judgements":
        check.judges([tool.name for tool in meta.other_judges or ()])
    return rows.table.combine_chunks().take(pa.array(check.keys(bench, meta.dataset_revision)))


def _other_benchmark(tables: list[pa.Table], bench: Benchmark) -> Benchmark | None:
    """The benchmark that the rows have tasks of, while they have none of `bench`."""
    tasks = {task for table in tables for task in table["task"].unique().to_pylist()}
    others = map(benchmark, NAMES if tasks.isdisjoint(bench.task_names()) else ())
    return next((other for other in others if not tasks.isdisjoint(other.task_names())), None)


def _notes(submission: Submission, bench: Benchmark, covered: list[TaskCoverage]) -> list[str]:
    meta = submission.meta
    tables = [*submission.tables.values(), *([] if submission.images is None else [submission.images])]
    present = {task for table in tables for task in table["task"].unique().to_pylist()}
    absent = [task.name for task in bench.tasks if task.name not in present and not task.optional]
    notes = [f"without rows, so not run: {', '.join(absent)}"] if absent else []
    notes += coverage_notes(covered, bench)
    if meta.baseline is not None:
        notes.append(f"a trivial model ({meta.baseline}), made by `fairspace baseline`; the public board refuses it")
    notes += [f"the public board refuses it from others: {f.what}. {f.mend}" for f in names_taken(meta)]
    if submission.images is not None:
        notes.append(
            f"{submission.images.num_rows:,} images, not labelled yet: fairspace score --ares MODEL labels them"
        )
    return notes
