"""`fairspace judge`: models read the narratives of a GENRES submission, and their judgements go into it.

    SUBMISSION/                      gets judgements.jsonl, `judge` and `other_judges`, and a stage per judge
    SUBMISSION.run/judge-<model>/    a judge's workings: journal of answers, Inspect's logs

The first model is scored. The paper shows Mistral-Small-24B's results as means over four evaluations (section 4,
appendix C): a judge that is named again evaluates again, as `NAME#2` and so on.

A kill at any moment leaves a submission that still checks: the former judgements are removed, then `manifest.json` and
`submission.json` replaced, then the new judgements written, each file by a rename.
"""

import hashlib
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
from pydantic import ValidationError

from fairspace.submissions.benchmarks.benchmark import Benchmark
from fairspace.submissions.benchmarks.genres.parse.judge import MAX_CHARACTERS, evaluation_name, judge_of
from fairspace.submissions.checking.submission import read_submission
from fairspace.submissions.errors import UsageError
from fairspace.submissions.format.faults import show
from fairspace.submissions.format.manifest import FILE, Manifest, Stage, read_manifest, write_manifest
from fairspace.submissions.format.schema import JUDGEMENTS, OTHER_JUDGES, SubmissionMeta, Tool
from fairspace.submissions.format.writing import write_submission
from fairspace.submissions.reading.tables import META
from fairspace.submissions.running.asking.answering import answer
from fairspace.submissions.running.asking.inspect_task import NOT_STATED, ChosenPart
from fairspace.submissions.running.asking.journal import JournalEntry
from fairspace.submissions.running.asking.models import ModelSettings
from fairspace.submissions.running.folders import held, public_name, work_folder
from fairspace.submissions.running.judging.asks import READINGS, REPAIRS, Judging, open_judging

Tell = Callable[[str, int, int], None]
MOST = OTHER_JUDGES + 1
"""Greatest number of evaluations of a submission."""


@dataclass(frozen=True)
class Judged:
    """The judged submission, its judges (the first is scored), and stage and last log of each."""

    submission: Path
    judges: tuple[Tool, ...]
    stages: tuple[Stage, ...]
    logs: tuple[str, ...]


def judge(
    submission: Path,
    models: Sequence[ModelSettings],
    *,
    revisions: Sequence[str] = (),
    limit: int | None = None,
    seed: int | None = None,
    again: bool = False,
    tell: Tell = lambda what, done, total: None,
) -> Judged:
    """Judge a submission's folder, or go on after a stop; write the judgements when all judges are done.

    The first model is scored. A repeated one evaluates again with a seed one higher, which needs a temperature above
    the default of 0. `again`: earlier failures are asked again.

    Errors: UsageError; SubmissionError if it has faults; RunError JUDGE_NOTHING, RUN_OTHER, RUN_IN_USE, MODEL_UNKNOWN,
    MODEL_SILENT, RUN_INCOMPLETE; answers are kept.
    """
    folder = _folder(submission)
    tools = _tools(models, [*revisions, *[NOT_STATED] * (len(models) - len(revisions))])
    work = work_folder(folder)
    tables, done, stages, logs = [], [], [], []
    with held(work):
        read = read_submission(folder)
        part = ChosenPart(read.meta.benchmark, limit=limit, seed=seed)
        for number, (model, tool) in enumerate(zip(models, tools, strict=True)):
            again_by = [earlier.name for earlier in models[:number]].count(model.name)
            seeded = part if seed is None else replace(part, seed=seed + again_by)
            judging = open_judging(read, seeded, evaluation=again_by + 1)
            judge_folder = work / f"judge-{slug(evaluation_name(model.name, again_by + 1))}"
            outcome = answer(
                judging.opened,
                model,
                judge_folder,
                revision=tool.version,
                again=again,
                tell=_telling(tell, tool.name),
                ask=judging.asking,
            )
            if not outcome.table.num_rows:
                raise outcome.error(show(model.name))
            settings = judge_settings(outcome.stage)
            fates = count(judging, outcome.answers)
            done.append(tool.model_copy(update={"settings": settings}))
            stages.append(
                outcome.stage.model_copy(update={"settings": outcome.stage.settings | settings, "fates": fates})
            )
            tables.append(by_judge(outcome.table, tool.name if number else None))
            logs.append(outcome.log)
        meta = read.meta.model_copy(update={"judge": done[0], "other_judges": done[1:] or None})
        write_judgements(folder, work, meta, pa.concat_tables(tables), stages)
    return Judged(folder, tuple(done), tuple(stages), tuple(logs))


def as_the_authors(bench: Benchmark, model: ModelSettings) -> list[ModelSettings]:
    """A judge with the authors' settings, as often as theirs evaluates. UsageError without one, or with other ones."""
    authors = bench.asking.authors
    if not authors.judge:
        raise UsageError(f"--as-authors is for a benchmark with a judge; leave it out for {bench.name}.")
    if model.generation():
        raise UsageError("--as-authors sets temperature, top_p and max_tokens of the judge; leave these out.")
    return [replace(model, **authors.judge)] * authors.evaluations  # type: ignore[arg-type]


def by_judge(table: pa.Table, name: str | None) -> pa.Table:
    """Judgements under a judge's name (None: the scored one); unreadably long answers are cut but stay too long."""
    cut = [text if text is None else text[: MAX_CHARACTERS + 1] for text in table["judgement"].to_pylist()]
    table = table.set_column(JUDGEMENTS.get_field_index("judgement"), "judgement", pa.array(cut, pa.string()))
    whose = pa.array([name] * table.num_rows, pa.string())
    return table.set_column(JUDGEMENTS.get_field_index("judge"), "judge", whose).cast(JUDGEMENTS)


def count(judging: Judging, answers: Sequence[JournalEntry]) -> dict[str, int]:
    """Numbers of a judge's requests by reading, zeros included."""
    counts = dict.fromkeys(map(str, READINGS), 0)
    for reading in answers:
        counts[judging.reading(reading)] += 1
    return counts


def slug(model: str) -> str:
    """A readable and unique folder name for a model."""
    plain = re.sub(r"[^a-z0-9]+", "-", model.lower()).strip("-")[:60]
    return f"{plain}-{hashlib.sha256(model.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def _folder(submission: Path) -> Path:
    if submission.is_file():
        mend = "Unpack it into a folder, judge that, and zip it again"
        raise UsageError(f"{submission} is a file; judgements are written into a folder. {mend}.")
    if not submission.is_dir():
        raise UsageError(f"There is no submission at {submission}.")
    return submission.resolve()


def _tools(models: Sequence[ModelSettings], revisions: Sequence[str]) -> list[Tool]:
    """The judges in `submission.json`'s form. UsageError for bad names, before anything is asked."""
    if not 1 <= len(models) <= MOST:
        raise UsageError(f"There are {len(models)} evaluations; name 1 to {MOST} judges, the one that is scored first.")
    if len(revisions) != len(models):
        raise UsageError(f"There are {len(revisions)} revisions of {len(models)} judges; give them in the same order.")
    names = [public_name(model.name) for model in models]
    first_of: dict[str, tuple[str, str]] = {}
    tools = []
    for number, (name, revision) in enumerate(zip(names, revisions, strict=True)):
        if judge_of(name) != name:
            mend = f"name {show(judge_of(name))} as often as it evaluates"
            raise UsageError(f"The judge {show(name)} is called like a repeated evaluation; {mend}.")
        first, revision_of_first = first_of.setdefault(name, (models[number].name, revision))
        if first != models[number].name or revision not in (revision_of_first, NOT_STATED):
            raise UsageError(f"Two judges are called {show(name)}; one model of one revision repeats an evaluation.")
        name, revision = evaluation_name(name, names[: number + 1].count(name)), revision_of_first
        try:
            tools.append(Tool(name=name, version=revision))
        except ValidationError as error:
            what = f"A judge named {show(name)} of revision {show(revision)}"
            raise UsageError(f"{what}: each is one line of 1 to 200 printable characters.") from error
    return tools


def judge_settings(stage: Stage) -> dict[str, Any]:
    """Settings that decide a judge's answers, beside its name and version."""
    engine = {"repairs": REPAIRS, "prompts": stage.prompts, "engine": f"{stage.engine} {stage.engine_version}"}
    return dict(stage.settings) | engine


def _telling(tell: Tell, name: str) -> Tell:
    return lambda what, done, total: tell(f"Judge {show(name)}{what.removeprefix('Asking')}", done, total)


TABLE = "judgements.jsonl"
_ASIDE = "judged.new"


def write_judgements(folder: Path, work: Path, meta: SubmissionMeta, table: pa.Table, stages: Sequence[Stage]) -> None:
    """Replace a checked submission's judgements, and the stages of former judges.

    `work` is a folder on the same file system, for incomplete files; `meta` names the new judges.
    Errors: UsageError if former judgements are in several files, which cannot be removed at once.
    """
    former = sorted(file for file in folder.iterdir() if file.name.startswith("judgements"))
    if len(former) > 1:
        raise UsageError(f"{folder} has judgements in {len(former)} files; remove them, then judge again.")
    aside = work / _ASIDE
    if aside.exists():
        for file in aside.iterdir():
            file.unlink()
    write_submission(aside, meta, {"judgements": table}, table_format="jsonl")
    kept = [stage for stage in read_manifest(folder).stages if stage.what != "judgements"]
    write_manifest(aside, Manifest(stages=[*kept, *stages]))
    for file in aside.iterdir():
        with file.open("rb") as stream:
            os.fsync(stream.fileno())
    for file in former:
        file.unlink()
    for name in (FILE, META, TABLE):
        (aside / name).replace(folder / name)
    aside.rmdir()
