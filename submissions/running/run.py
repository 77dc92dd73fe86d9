"""`fairspace run`: one command from a benchmark to a submission, each step of it going on where it stopped.

    OUT/        the submission; written when every item has its fate
    OUT.run/    the workings: journal of answers, Inspect's logs, images and their annotations

IRIS' steer prompts follow from the annotations of the model's own neutral images: its ten strongest occupations and
groups (C.2).
"""

import shutil
import sys
from dataclasses import replace
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from fairspace.submissions.answers.rows import readable_shares
from fairspace.submissions.benchmarks.benchmark import PAPER, SCHEMA
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.errors import RunError, UsageError, did_you_mean
from fairspace.submissions.format.faults import show
from fairspace.submissions.format.manifest import FILE, PART, Line, Manifest, limit_mark, write_manifest
from fairspace.submissions.format.writing import write_submission
from fairspace.submissions.reading.tables import META
from fairspace.submissions.running.asking import inspect_task
from fairspace.submissions.running.asking.asking import writing
from fairspace.submissions.running.asking.inspect_task import NOT_STATED, ChosenPart, OpenedBenchmark
from fairspace.submissions.running.asking.journal import JOURNAL
from fairspace.submissions.running.asking.models import ModelSettings, found_revision, sees
from fairspace.submissions.running.folders import held, link, public_name, work_folder
from fairspace.submissions.running.planning import JUDGED, image_tasks
from fairspace.submissions.running.settings import RunOutcome, RunSettings, RunSteps, Tell, submission_meta

_NEW, _FORMER = "submission.new", "submission.former"
"""Names in the workings: the submission while it is written, and the one that it replaces."""


def run(settings: RunSettings, tell: Tell = lambda what, done, total: None) -> RunOutcome:
    """Run a benchmark, or go on where an earlier call with the same settings stopped, and write the submission.

    Errors: UsageError, RunError, BuildError; answers and images are kept.
    """
    _check(settings)
    work = work_folder(settings.out)
    state = RunSteps()
    try:
        with writing(work), held(work):
            if settings.images:
                from fairspace.submissions.running.images.generating import generate

                generate(settings, work, state, tell)
            if settings.model is not None and text_tasks(settings.chosen):
                _answer(settings, work, state, tell)
            _write(settings, work, state)
    except KeyboardInterrupt as error:
        from fairspace.submissions.running.asking.answering import stopped

        raise stopped(str(work), "what was made is kept") from error
    return RunOutcome(settings.out, tuple(state.stages), tuple(state.notes))


def text_tasks(part: ChosenPart) -> tuple[str, ...]:
    """The requested tasks with text answers, in the benchmark's order. RunError TASK_UNKNOWN."""
    asked = inspect_task.text_tasks(part.benchmark, part.tasks, form=part.form, text_only=part.text_only)
    return tuple(task.name for task in asked)


def no_pictures(model: ModelSettings) -> str:
    """The line on a model that takes no pictures; '' for one that does. RunError MODEL_UNKNOWN."""
    return (
        "" if sees(model) else f"{public_name(model.name)} takes no pictures: what is asked with a picture is left out."
    )


def can_be_asked(part: ChosenPart, model: ModelSettings | None, images: str) -> tuple[ChosenPart, list[str]]:
    """The part that the models of a run can be asked, and a line on each kind of task that is left out.

    Errors: RunError TASK_UNKNOWN if nothing is left, MODEL_UNKNOWN.
    """
    bench, lines = benchmark(part.benchmark), []
    made = image_tasks(part)
    if made and not images and not part.tasks:
        lines.append(f"Not asked, as no --images is named: {', '.join(made)}.")
    if model is None or part.text_only or part.as_authors or not (line := no_pictures(model)):
        return part, lines
    if "text_only" in bench.asking.options:
        return replace(part, data="", text_only=True), [*lines, line]
    asked = text_tasks(part)
    kept = [task for task in asked if inspect_task.asks_without_pictures(part.benchmark, task, part.revision)]
    if len(kept) == len(asked):
        return part, lines
    if not (kept or (images and made)):
        what, mend = line.rpartition(":")[0], "name a model that does, or another task"
        raise RunError("TASK_UNKNOWN", f"{bench.name}, task {', '.join(asked)}", what, "one that sees pictures", mend)
    return replace(part, tasks=(*kept, *(made if images else ()))), [*lines, line]


def check_tasks(part: ChosenPart) -> None:
    """RunError TASK_UNKNOWN if a model cannot run a requested task."""
    tasks = [task.name for task in benchmark(part.benchmark).tasks if task.table != "judgements"]
    for task in part.tasks:
        if task not in tasks:
            mend = f"choose from {', '.join(tasks)}"
            what = f"no task of {part.benchmark}{did_you_mean(task, tasks)}"
            raise RunError("TASK_UNKNOWN", f"task {task}", what, "a task that a model can run", mend)


def _answer(settings: RunSettings, work: Path, state: RunSteps, tell: Tell) -> None:
    from fairspace.submissions.running.asking.answering import answer
    from fairspace.submissions.running.asking.inspect_task import open_benchmark

    assert settings.model is not None
    opened = open_benchmark(replace(settings.chosen, tasks=text_tasks(settings.chosen)))
    state.stated = {**opened.settings, **opened.marks}
    for sentence in filter(None, (too_few(opened), without_seed(opened))):
        if not settings.again:  # `fairspace eval` says it in its plan
            sys.stderr.write(f"{sentence}\n")
    if note := limit_note(opened):
        state.notes.append(note)
    if settings.about.thresholds:
        kept = work / "thresholds.sha256"
        if not kept.is_file():
            if (work / JOURNAL).is_file():
                raise UsageError("--about thresholds: they are kept before the first question, and this run has asked.")
            kept.write_text(settings.about.thresholds, encoding="utf-8")
        state.stated["thresholds_sha256"] = kept.read_text(encoding="utf-8")
    answered = answer(opened, settings.model, work, revision=settings.about.revision, again=settings.again, tell=tell)
    state.notes.append(f"Inspect's log: {answered.log}")
    state.tables["responses"] = answered.table
    if not (answered.table.num_rows or settings.images or (settings.chosen.part and not opened.asks)):
        raise answered.error(str(settings.out))
    if SCHEMA in answered.stage.settings:
        state.stated[SCHEMA] = answered.stage.settings[SCHEMA]
    shares = readable_shares(submission_meta(settings, state), answered.table)
    state.stages.append(answered.stage.model_copy(update={"course": {**answered.stage.course, **shares}}))
    if answered.stage.revision != NOT_STATED:
        state.revision = answered.stage.revision


def too_few(opened: OpenedBenchmark) -> str:
    """The sentence on a limit that is too small for a fairness number; '' for another one."""
    limit, stratified = opened.chosen.limit, opened.chosen.stratified
    least = limit and max((part.smallest_limit(stratified=stratified) for part in opened.parts.values()), default=0)
    if not limit or not least or limit >= least:
        return ""
    of = f"a limit of {limit:,} is too few for a fairness number with an interval"
    return f"{benchmark(opened.chosen.benchmark).title}: {of}; the smallest that has one is {least:,}."


def without_seed(opened: OpenedBenchmark) -> str:
    """The sentence on a run whose stories nobody could draw again; '' for another one."""
    if opened.chosen.seed is not None or not opened.parts.keys() & JUDGED.keys():
        return ""
    return "Stories are drawn: without --seed none can be asked again, and `fairspace verify-submission` tells little."


def limit_note(opened: OpenedBenchmark) -> str:
    """The sentences on a run of less than the benchmark; '' for a whole run."""
    bench, limit = benchmark(opened.chosen.benchmark), opened.chosen.limit
    standard = bench.standards[bench.default]
    notes = ["The data are a small sample: the run is shown, not ranked."] if opened.sample else []
    if opened.chosen.part:
        notes.append(f"Part {opened.chosen.part} of a run; `fairspace join` makes one of all.")
    lacking, cut, least = [], False, 1.0
    for task, part in opened.parts.items():
        places = opened.positions[task]
        requests = sum(part.stimuli[place].asks for place in places)
        share = requests / part.expected
        cut, least = cut or len(places) < len(part.stimuli), min(least, share)
        if share < 1:
            stimuli = f"{len(places):,} of {len(part.stimuli):,} stimuli"
            lacking.append(
                f"{task}: {stimuli}, {requests:,} of {part.expected:,} requests of the benchmark ({share:.1%})."
            )
    if not lacking:
        return " ".join(notes)
    if cut:
        mark = f": {limit_mark(limit, opened.chosen.stratified)}" if limit is not None else ""
        return " ".join([*notes, f"{PART}{mark}.", *filter(None, [too_few(opened)]), *lacking])
    notes += ["The data lack a part of the benchmark.", *lacking]
    ranks = f"The standard {standard.name} ranks from {standard.minimum_coverage:.0%}"
    if least < standard.minimum_coverage:
        notes.append(f"{ranks} of the samples of every value.")
    else:
        missing = "but all that is missing counts at its worst, so that a rank would be one of what was left out."
        notes.append(f"{ranks}, which this reaches; {missing}")
    return " ".join(notes)


def _write(settings: RunSettings, work: Path, state: RunSteps) -> None:
    """Write the submission among the workings, then move it to its place."""
    nothing = not any(stage.requests for stage in state.stages)
    empty = settings.chosen.part and state.stages and nothing  # a part may have nothing to do
    if not (empty or state.images or any(table.num_rows for table in state.tables.values())):
        what, mend = "no image was made, no request answered", "run the same command again with --again"
        raise RunError("RUN_INCOMPLETE", str(settings.out), what, "one at least", mend)
    new, former = work / _NEW, work / _FORMER
    if former.exists():  # an earlier start was killed here
        if settings.out.exists():
            shutil.rmtree(former)
        else:
            former.rename(settings.out)
    if new.exists():
        shutil.rmtree(new)
    for file in settings.out.glob("judgements*"):
        shutil.copy2(file, work / file.name)
        note = "judge again; a narrative that did not change is not asked again"
        state.notes.append(f"{file.name} went to {work}: {note}")
    write_submission(new, submission_meta(settings, state), state.tables)
    write_manifest(new, Manifest(stages=state.stages))
    for number, shard in enumerate(state.images):
        link(shard, new / f"images-{number:05}-of-{len(state.images):05}.parquet")
    if settings.out.exists():
        settings.out.rename(former)
    new.rename(settings.out)
    if former.exists():
        shutil.rmtree(former)


def _check(settings: RunSettings) -> None:
    if settings.model is None and not settings.images:
        raise UsageError("Name a model that answers (--model), one that makes images (--images), or both.")
    settings_now = settings.model.generation() if settings.model is not None else {}
    if settings.chosen.as_authors and (settings_now or settings.chosen.form != PAPER):
        raise UsageError("--as-authors sets temperature, top_p and max_tokens, in the paper's form; leave these out.")
    image_tasks = [task for task in benchmark(settings.chosen.benchmark).tasks if task.table == "annotations"]
    if settings.images and not image_tasks:
        raise UsageError(f"{settings.chosen.benchmark} has no task of making images; leave out --images.")
    if settings.images and settings.chosen.form != PAPER:
        raise UsageError("--form asks a model that answers; leave out --images.")
    if settings.model is not None and settings.images:
        found_revision(settings.model)  # a model that cannot answer is said before hours of images
    if settings.ares and not settings.images:
        raise UsageError("--labeller labels what --images makes; name both, or leave it out.")
    check_tasks(settings.chosen)
    inspect_task.check_options(settings.chosen.benchmark, **settings.chosen.options)
    _check_meta(settings)
    out, work = settings.out, work_folder(settings.out)
    if out.exists() and not (out.is_dir() and (not any(out.iterdir()) or _ours(out, work))):
        raise UsageError(
            f"{out} is there already, and was not made by a run whose workings are in {work.name}. Name another --out."
        )
    if settings.model is None and (work / JOURNAL).exists():
        raise UsageError(f"{work} holds a model's answers: name --model too, or another --out.")
    if not settings.images and (work / "images").exists():
        raise UsageError(f"{work} holds a model's images: name --images too, or another --out.")
    if not out.parent.is_dir():
        raise UsageError(f"There is no folder {out.parent} to write {out.name} to; make it first.")


def _check_meta(settings: RunSettings) -> None:
    """UsageError for invalid facts on the model for `submission.json` and the manifest."""
    line = "one line of 1 to 200 printable characters"
    try:
        submission_meta(settings, RunSteps())
    except ValidationError as error:
        (first, *_) = error.errors()
        field = ".".join(map(str, first["loc"]))
        expected = line if first["type"].startswith("string") else first["msg"].removeprefix("Input should be ")
        raise UsageError(f"{field} is {show(first['input'])}. Expected: {expected}.") from error
    if settings.model is not None:
        try:
            TypeAdapter(Line).validate_python(public_name(settings.model.name))
        except ValidationError as error:
            raise UsageError(f"--model is {show(settings.model.name)}. Expected: {line}.") from error


def _ours(out: Path, work: Path) -> bool:
    return (out / META).is_file() and (out / FILE).is_file() and work.is_dir()
