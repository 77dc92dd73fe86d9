"""`fairspace.items`, `fairspace.score`, and its input as a checked submission: a frame, rows, a file or a folder."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import ValidationError

from fairspace.submissions.benchmarks.benchmark import Benchmark
from fairspace.submissions.benchmarks.registry import NAMES
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.checking.submission import CheckReport, check_submission, check_table, report_on
from fairspace.submissions.errors import UsageError, address, did_you_mean, need_labeller, need_packages
from fairspace.submissions.format.faults import Collector, SubmissionError, show
from fairspace.submissions.format.schema import SCHEMAS, Submission, SubmissionMeta
from fairspace.submissions.format.writing import write_submission
from fairspace.submissions.progress import reported
from fairspace.submissions.reading import front
from fairspace.submissions.reading.containers import LIMITS
from fairspace.submissions.reading.tables import FILE_BITS, Rows

if TYPE_CHECKING:
    import pandas as pd

    from fairspace.outcome import Result


NOT_STATED = "not stated"
P = ParamSpec("P")
R = TypeVar("R")
_LIKELY = ("answer", "answers", "output", "completion", "prediction", "generation", "text")
"""Other common names of a response column."""
_CONTENT = {"responses": "response", "judgements": "judgement", "annotations": "status"}
"""Table -> the column that identifies it; of several the first whose items are the benchmark's."""
_FIRST = {"sample": 0, "face": 0}
"""Defaults of left-out columns."""


def renamed(**former: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A decorator: the function also takes arguments by names that they once had, `former` name -> name."""

    def decorated(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def called(*values: P.args, **options: P.kwargs) -> R:
            for old in former.keys() & options.keys():
                options.setdefault(former[old], options.pop(old))
            return function(*values, **options)

        return called

    return decorated


class Answers:
    """A model's checked answers: `fs.score` takes them, `to_frame` shows them, `save` writes a submission."""

    def __init__(self, submission: Submission, notes: tuple[str, ...] = ()):
        self.submission, self.notes = submission, notes

    def to_frame(self) -> pd.DataFrame:
        """`task`, `id`, `sample`, `response` of every request; None where the model refused or failed."""
        import pandas as pd

        tables = self.submission.tables
        frames = [tables[name].to_pandas() for name in ("responses", "judgements") if name in tables]
        if not frames:  # a part without a stimulus
            return SCHEMAS["responses"].empty_table().select(["task", "id", "sample", "response"]).to_pandas()
        return pd.concat(frames, ignore_index=True).dropna(axis="columns", how="all")

    def save(self, path: str | Path) -> Path:
        """Write a submission's folder or .zip and return its path. UsageError if the path exists."""
        held = self.submission
        return write_submission(Path(path), held.meta, held.tables, manifest=held.manifest)

    def __repr__(self) -> str:
        meta = self.submission.meta
        counts = [f"{table.num_rows:,} {name}" for name, table in self.submission.tables.items()]
        return "\n".join(
            [f"{meta.model} on {meta.benchmark} {meta.dataset_revision}: {', '.join(counts)}", *self.notes]
        )


@renamed(revision="dataset_revision")
def score(
    answers: Any,
    benchmark: str = "",
    *,
    standard: str = "",
    dataset_revision: str = "",
    model: str = "",
    judge: str = "",
    labels: str = "",
    split: str = "",
    ares: str = "",
    resamples: int | None = None,
    reading: str = "",
    region: str | Path = "",
    measurement: Path | None = None,
    faces: str = "",
    second: Path | None = None,
    limit: int | None = None,
    text_only: bool = False,
) -> Result:
    """Check answers and score them, here and in private: nothing is sent, and the model may stay unnamed.

    Args:
        answers: one of
            - a data frame of pandas or polars, a set or stream of `datasets`, an Arrow table or a list of dicts with
              `id` and `response`, and with `task` if ids are ambiguous; further columns are ignored. None, NaN or
              pd.NA: the model gave no answer.
              Annotated images have `status` and labels instead, judges' answers `judgement`;
            - a dict of table -> the same, such as {"responses": frame, "judgements": frame};
            - a .csv, .tsv, .json, .jsonl, .ndjson or .parquet file of these columns, its .gz, or a folder of parts;
            - a submission's folder or zip, the result of `fs.run`, or an Inspect log of one of our tasks (.eval).
        benchmark: one of `fs.BENCHMARKS`; a submission names it itself.
        standard: rules that turn values into scores; the benchmark's default for ''.
        dataset_revision: revision of the answered items; the default for ''. Once called `revision`, which still works.
        model: a name for tables and figures; nothing is looked up.
        judge: name of the judge of judgements; some standards of GENRES depend on it.
        labels: labeller of the images, for annotations.
        split: the split of a `DatasetDict` with several.
        ares: labels the images of a submission's folder: ARES, or another labeller, as `fairspace score --labeller`.
        resamples: bootstrap replicates for the intervals, 0 for none; FAIRSPACE_RESAMPLES or 1 000 for None.
        reading: `authors` reads the answers as the paper does, not by our rules; such a result has no rank.
        measurement: errors of another labeller than ARES, `measurement.json` of `fairspace ares evaluate`.
        faces: finder of the faces that ARES labels, as `fairspace score --faces`; the whole image is one face for ''.
        second: readings that `fairspace judge` wrote, shown as a variant.
        limit: greatest number of stimuli of a task that was asked, for rows; the result is marked as of a part of the
            benchmark, without a rank.
        text_only: whether pictures were left out (genres, stereotypical_bias), for rows; a protocol of its own.
        region: IRIS: a CSV file of your region's labour figures, in place of those of the US and the EU (FORMAT.md).

    Returns:
        The result. Its scores and values are numbers in the units that GLOSSARY.md states, *undefined* (the definition
        gives no number for these answers) or *not run*; nothing that is missing counts as 0.

    Errors: SubmissionError with every fault, its place (rows from 0, as `answers.iloc` counts) and its remedy;
    UsageError for an unknown benchmark or standard, or missing columns; BuildError REVISION_UNKNOWN, REGION_INVALID.
    """
    if resamples is not None:
        from fairspace.submissions.uncertainty.uncertainty import check_resamples

        check_resamples(resamples, "resamples")
    about: dict[str, Any] = {"dataset_revision": dataset_revision, "model": model, "judge": judge, "labels": labels}
    about |= {"split": split, "limit": limit, "text_only": text_only}
    submission = _labelled(answers, submission_of(answers, benchmark, **about), ares, measurement, faces)
    from fairspace.outcome import Result
    from fairspace.submissions.answers.second import load_second
    from fairspace.submissions.results.scoring import score_submission

    more = None if second is None else load_second(second, submission)
    file = Path(region) if region else None
    return Result.of(score_submission(submission, standard, resamples, reading, more, region=file))


def _labelled(answers: Any, submission: Submission, ares: str, measurement: Path | None, faces: str) -> Submission:
    """The submission with its images labelled, if it has any. UsageError where images and labeller do not fit."""
    if submission.images is None:
        if ares:
            raise UsageError("There are no images to label; leave out ares (--labeller).")
        return submission
    if not ares:
        raise UsageError(
            f"{answers} holds images; name what labels them: --ares MODEL (ares= in Python) or --labeller MODEL."
        )
    need_labeller(ares)
    from fairspace.submissions.running.labelling import label_images
    from fairspace.submissions.running.zero_shot import face_detector, open_labeller

    labeller, model = open_labeller(ares)
    path, of = Path(answers), (labeller, measurement, face_detector(faces))
    with reported(f"Labelling {path.name}") as progress:
        labelled = label_images(path, submission, model, *of, progress=progress)
    if use := labelled.dump_meta()["labels"]["settings"].get("use"):
        sys.stderr.write(f"{use}\n")
    return labelled


def submission_of(
    answers: Any, benchmark: str = "", *, allow_images: bool = True, allow_baseline: bool = True, **about: Any
) -> Submission:
    """The answers as a checked submission; arguments and errors are those of `fairspace.score` and `check_answers`."""
    if isinstance(answers, Submission | Answers):
        submission = answers.submission if isinstance(answers, Answers) else answers
    else:
        report = check_answers(answers, benchmark, allow_images=allow_images, allow_baseline=allow_baseline, **about)
        if report.submission is None:
            raise SubmissionError(list(report.faults))
        submission = report.submission
        for note in report.passed_over:
            sys.stderr.write(f"Note: {note}\n")
    if benchmark not in ("", submission.meta.benchmark):
        raise UsageError(f"The answers are to {submission.meta.benchmark}, not to {benchmark}.")
    for name in ("limit", "text_only"):
        if about.get(name) and about[name] != (setting := submission.meta.generation.get(name)):
            raise UsageError(f"{name} is {about[name]}, and the submission says {setting}; leave it out.")
    return submission


def check_answers(
    answers: Any,
    benchmark: str = "",
    *,
    dataset_revision: str = "",
    model: str = "",
    judge: str = "",
    labels: str = "",
    split: str = "",
    limit: int | None = None,
    text_only: bool = False,
    allow_images: bool = True,
    allow_baseline: bool = True,
) -> CheckReport:
    """The check of answers, or of a submission's folder or zip. UsageError, as `fairspace.score`.

    `allow_images`, `allow_baseline`: whether images that nobody labelled, and answers of a baseline, are no fault.
    """
    place = "answers"
    if isinstance(answers, str | Path):
        if url := address(answers):
            raise UsageError(f"{url} is an address. Expected: a file or folder; download it and name that.")
        answers = Path(answers).expanduser()
        if answers.suffix == ".eval" and answers.is_file():
            need_packages("run", "inspect_ai")
            from fairspace.submissions.running.logs.importing import check_log

            return check_log(answers)
        if not front.is_table(answers):
            with reported(f"Checking {answers.name}") as progress:
                return check_submission(
                    answers, progress=progress, allow_images=allow_images, allow_baseline=allow_baseline
                )
        place = answers.name
        if not (answers.is_dir() or front.suffix_of(place)):
            kinds = f"a folder, a .zip, or a table ({', '.join(front.SUFFIXES)}, each also as .gz)"
            raise UsageError(f"{place} is no file of answers. Expected: {kinds}.")
    if not benchmark:
        raise UsageError('Name the benchmark of these answers: fs.score(answers, "genres"), or --benchmark genres.')
    bench = find_benchmark(benchmark)
    revision = bench.revision(dataset_revision)
    if limit is not None and limit < 1:
        raise UsageError(f"limit is {limit}. Expected: at least 1, the stimuli of a task.")
    if text_only and "text_only" not in bench.asking.options:
        raise UsageError(f"{benchmark} shows no pictures that could be left out; leave out text_only.")
    faults = Collector(LIMITS.faults)
    try:
        tables = _tables(answers, place, split, bench, revision, faults)
    except SubmissionError as error:
        return CheckReport(None, tuple(error.faults))
    rows = {name: _joined([front.typed(name, part, faults) for part in parts]) for name, parts in tables.items()}
    if faults.all():
        return CheckReport(None, faults.all())
    if not dataset_revision and (core := _core_of(rows, bench, revision)):
        mend = f"Name what was answered: dataset_revision={core!r} (--dataset-revision {core})"
        raise UsageError(f"These are the ids of {core}, a part of {revision}. {mend}, or {revision} for the whole.")
    tools = {"judgements": ("judge", judge), "annotations": ("labels", labels)}
    part = {} if limit is None else {"limit": limit, "stratified": False}
    generation = part | ({"text_only": True} if text_only else {})
    meta = _meta(bench, revision, model, dict(tool for table, tool in tools.items() if table in rows), generation)
    checked = {name: check_table(name, read, meta, bench, LIMITS, faults) for name, read in rows.items()}
    checked = {name: table for name, table in checked.items() if table.num_rows}
    if not checked and not faults.all():
        faults.add("EMPTY_SUBMISSION", place, "no row", expected="rows of at least one task")
    return report_on(meta, bench, checked, faults)


def _tables(
    answers: Any, place: str, split: str, bench: Benchmark, revision: str, faults: Collector
) -> dict[str, list[front.TableFile]]:
    """Table of the format -> its parts, with all columns of its key; a single table is recognised by its columns."""
    if isinstance(answers, Mapping) and answers and set(answers) <= set(SCHEMAS):
        places = {name: place if len(answers) == 1 else f"{place}[{name!r}]" for name in answers}
        tables = {name: front.parts_of(part, places[name], split) for name, part in answers.items()}
    else:
        parts = front.parts_of(answers, place, split)
        table, others = _recognised(parts[0].columns, bench, revision)
        if others:
            faults.passed_over.append(f"column {', '.join(others)}: these rows are read as {table}")
        tables = {table: parts}
    return {
        name: [part._replace(columns=_with_keys(name, part.columns, bench, revision)) for part in parts]
        for name, parts in tables.items()
    }


def _core_of(rows: Mapping[str, Rows], bench: Benchmark, revision: str) -> str:
    """The core of a revision whose ids are exactly those of the answers, which are not all of it; '' for none."""
    ids: dict[str, set[str]] = {}
    for each in rows.values():
        for task, item in zip(each.table["task"].to_pylist(), each.table["id"].to_pylist(), strict=True):
            ids.setdefault(task, set()).add(item)
    tasks = [task for task in bench.tasks if task.name in ids]
    whole = all(len(task.ids(revision)) == len(ids[task.name]) for task in tasks)
    cores = [other for other in bench.revisions if other.startswith(f"{revision}-core") and not whole]
    exact = (core for core in cores if all({*task.ids(core).to_pylist()} == ids[task.name] for task in tasks))
    return next(exact, "")


def _joined(files: list[Rows]) -> Rows:
    places = [rows.places + (number << FILE_BITS) for number, rows in enumerate(files)]
    names = tuple(rows.files[0] for rows in files)
    return Rows(pa.concat_tables([rows.table for rows in files]), np.concatenate(places), names)


def _recognised(columns: front.Columns, bench: Benchmark, revision: str) -> tuple[str, list[str]]:
    """The table that these columns are, and columns of other tables."""
    likely = [table for table, column in _CONTENT.items() if column in columns]
    if likely:
        fitting = likely[1:] and [table for table in likely if _fits(table, columns, bench, revision)]
        table = (fitting or likely)[0]
        return table, [_CONTENT[other] for other in likely if other != table]
    near = next((repr(column) for column in columns if column in _LIKELY), "")
    hint = f" (did you mean {near}? Rename it)" if near else did_you_mean("response", columns)
    raise UsageError(f"The answers have no column 'response'{hint}. Columns: {', '.join(map(str, columns)) or 'none'}.")


def _fits(table: str, columns: front.Columns, bench: Benchmark, revision: str) -> bool:
    tasks = [task for task in bench.tasks if task.table == table]
    if "task" in columns:
        return bool({task.name for task in tasks} & {*map(str, front.listed(columns["task"]))})
    ids = _texts(columns.get("id", []))
    return any(pc.any(pc.is_in(ids, value_set=task.ids(revision))).as_py() for task in tasks)


def _with_keys(name: str, columns: front.Columns, bench: Benchmark, revision: str) -> front.Columns:
    if "id" not in columns:
        raise UsageError(f"The answers have no column 'id'{did_you_mean('id', columns)}; `fs.items` gives the ids.")
    rows = len(columns["id"])
    if uneven := [column for column, values in columns.items() if len(values) != rows]:
        raise UsageError(f"The column {uneven[0]!r} has {len(columns[uneven[0]])} values, and 'id' has {rows}.")
    further: dict[str, Any] = {
        key: [first] * rows for key, first in _FIRST.items() if key in SCHEMAS[name].names and key not in columns
    }
    if "task" not in columns:
        further["task"] = _tasks(name, columns["id"], bench, revision)
    return {**columns, **further}


def _tasks(name: str, ids: Any, bench: Benchmark, revision: str) -> Any:
    of = [task for task in bench.tasks if task.table == ("annotations" if name == "human_labels" else name)]
    if not of:
        raise UsageError(f"{bench.name} has no table {name}.")
    texts = _texts(ids)
    tasks = np.full(len(ids), of[0].name, dtype=object)  # where no task has the id, the check says so
    taken = np.zeros(len(ids), bool)
    for task in of:
        mine = np.asarray(pc.is_in(texts, value_set=task.ids(revision), skip_nulls=True))
        if (mine & taken).any():
            both = f"{tasks[int(np.flatnonzero(mine & taken)[0])]} and {task.name}"
            raise UsageError(f"Add a column 'task': {both} have the same ids.")
        tasks[mine], taken = task.name, taken | mine
    return tasks


def _texts(ids: Any) -> Any:
    texts = front.cast(ids, pa.string())
    return pa.array([each if isinstance(each, str) else None for each in front.listed(ids)]) if texts is None else texts


def _meta(
    bench: Benchmark, revision: str, model: str, tools: Mapping[str, str], generation: Mapping[str, Any]
) -> SubmissionMeta:
    about: dict[str, Any] = dict.fromkeys(("revision", "organisation", "licence", "contact"), NOT_STATED)
    about |= {role: {"name": name or NOT_STATED, "version": NOT_STATED} for role, name in tools.items()}
    about |= {"format": 1, "benchmark": bench.name, "dataset_revision": revision, "generation": generation}
    try:
        return SubmissionMeta.model_validate({**about, "model": model or NOT_STATED})
    except ValidationError as error:
        (first, *_) = error.errors()
        field, what = ".".join(map(str, first["loc"])), show(first["input"])
        raise UsageError(f"{field} is {what}. Expected: one line of 1 to 200 printable characters.") from error


@renamed(revision="dataset_revision")
def items(
    benchmark: str, task: str = "", *, dataset_revision: str = "", after: Any = None, data: str = ""
) -> pd.DataFrame:
    """Questions for a model: one row for each answer that the benchmark expects.

    Add a column `response` to the rows of tasks in text, and hand them to `fs.score`. Rows left out are not handed in.

    Args:
        benchmark: one of `fs.BENCHMARKS`.
        task: one task; all that are not optional for ''.
        dataset_revision: the default for ''. Once called `revision`, which still works.
        after: answers, as `fs.score` takes them, that lead to further prompts: stories of GENRES give the prompts
            of its judge, annotated neutral images of IRIS its steer prompts. Only these prompts are returned.
        data: source of pictures, a folder of builds or NAMESPACE[@TAG] on the Hub; `image` then has the bytes of
            each file, and items whose picture is missing are left out. For the dataset revision `upstream`, the
            reader's copy of the authors' files.

    Returns:
        `task`, `id`, `sample` (from 0), `prompt`, and the plan's facts of the item, such as `occupation`. Tasks of
        making images have a prompt as well: their answers are annotated images (submissions/FORMAT.md).

    Errors: UsageError for an unknown benchmark or task, or one whose prompts follow from answers; BuildError
    REVISION_UNKNOWN; RunError DATA_MISSING, DATA_INVALID.
    """
    bench = find_benchmark(benchmark)
    if task and task not in bench.task_names():
        names = ", ".join(bench.task_names())
        raise UsageError(f"{benchmark} has no task {task!r}{did_you_mean(task, bench.task_names())}. Known: {names}.")
    if after is not None:
        tables, revision = following(bench, after, dataset_revision)
    else:
        revision = bench.revision(dataset_revision)
        tables = bench.items(revision, [task] if task else (), data)

    def is_asked(name: str) -> bool:
        return name == task or (not task and (after is not None or not bench.task(name).optional))

    wanted = {name: table for name, table in tables.items() if is_asked(name)}
    if not wanted:
        raise UsageError(f"The prompts of {task or benchmark} follow from answers: name them with after=.")
    whole = pa.concat_tables(
        [_rows(bench, name, table, revision) for name, table in wanted.items()], promote_options="permissive"
    )
    if not data:
        return whole.to_pandas()
    whole, pictures = _with_pictures(whole, bench, list(wanted), data, revision)
    return whole.to_pandas().assign(image=pictures)


def following(bench: Benchmark, after: Any, revision: str) -> tuple[dict[str, pa.Table], str]:
    """Task -> its prompts that follow from answers, as `items` says, and their revision. UsageError without any."""
    follow = bench.asking.judge or bench.asking.steer
    if follow is None:
        having = [name for name in NAMES if find_benchmark(name).asking.judge or find_benchmark(name).asking.steer]
        raise UsageError(
            f"No prompts of {bench.name} follow from answers; leave out after. {', '.join(having)} have them."
        )
    submission = submission_of(after, bench.name, dataset_revision=revision, allow_images=False)
    answered = submission.meta.dataset_revision
    if revision not in ("", answered):
        what = f"The answers are to revision {answered}, not {revision}"
        raise UsageError(f"{what}; after (--after) takes a submission to the items that are written.")
    tables = follow(submission)
    if not tables:
        raise UsageError("No prompts follow from these answers: no narrative can be read, and no image has labels.")
    return dict(tables), answered


def _rows(bench: Benchmark, name: str, table: pa.Table, revision: str) -> pa.Table:
    samples = bench.task(name).samples_of(revision)
    whole = table.take(pa.array(np.repeat(np.arange(table.num_rows), samples)))
    first = {"task": pa.array([name] * whole.num_rows), "id": whole["id"]}
    first |= {
        "sample": pa.array(np.tile(np.arange(samples, dtype=np.int32), table.num_rows)),
        "prompt": whole["prompt"],
    }
    return pa.table({**first, **{column: whole[column] for column in whole.column_names if column not in first}})


def _with_pictures(
    whole: pa.Table, bench: Benchmark, tasks: list[str], data: str, revision: str
) -> tuple[pa.Table, list[bytes | None]]:
    """The rows with a picture in the data, and the bytes of each row's picture; questions on one picture share them."""
    from fairspace.submissions.benchmarks.pictures import open_data
    from fairspace.submissions.running.asking.parts import parts

    answered = [name for name in tasks if bench.task(name).ask is not None]
    of_item: dict[tuple[str, str], bytes | None] = {}
    for part in parts(bench.name, open_data(data, revision), tasks=answered, revision=revision):
        for place in range(len(part.stimuli)):
            shown = part.read(place)
            for ask in shown.asks:
                of_item[ask.task, ask.id] = None if ask.image is None else shown.images[ask.image]
    keys = list(zip(whole["task"].to_pylist(), whole["id"].to_pylist(), strict=True))
    pictured = any(of_item.values())
    kept = [row for row, key in enumerate(keys) if key in of_item or not pictured]
    return whole.take(pa.array(kept, pa.int64())), [of_item.get(keys[row]) for row in kept]
