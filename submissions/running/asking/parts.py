"""A benchmark's text requests: its parts, one per task, with the prompts and ids of the item plans in `builders/`."""

from collections.abc import Sequence

from fairspace.submissions.benchmarks.benchmark import PAPER
from fairspace.submissions.benchmarks.pictures import Data
from fairspace.submissions.benchmarks.registry import NAMES
from fairspace.submissions.benchmarks.registry import benchmark as registered
from fairspace.submissions.benchmarks.task import Task, TaskStimuli, in_form
from fairspace.submissions.errors import RunError, UsageError, did_you_mean


def parts(
    benchmark: str,
    data: Data | None,
    *,
    tasks: Sequence[str] = (),
    revision: str = "",
    form: str = PAPER,
    **options: str | bool,
) -> list[TaskStimuli]:
    """The parts of a benchmark's tasks that a model answers with text, in the benchmark's order.

    Stimuli whose images the dataset lacks are left out, and `expected` counts them. `data` is None if not needed
    (fact_or_fair; genres without images; tournament). Without `tasks` all that are not optional are meant; a `form`
    other than the paper's covers some tasks only.

    Errors: UsageError for an unknown benchmark, form, option or value of an option; RunError TASK_UNKNOWN,
    DATA_MISSING, DATA_INVALID; BuildError REVISION_UNKNOWN.
    """
    bench = registered(benchmark)
    check_options(benchmark, **options)
    answered = {task.name: task for task in bench.tasks if task.ask is not None}
    for name in tasks:
        if name not in answered:
            mend = f"choose from {', '.join(answered)}"
            what = "no task of the benchmark" + did_you_mean(name, answered)
            if name in bench.task_names():
                what = "a task for models that make images"
            raise RunError("TASK_UNKNOWN", f"{benchmark}, task {name}", what, "a task that is answered with text", mend)
    tasks_asked = text_tasks(benchmark, tasks, form=form, text_only=bool(options.get("text_only")))
    shared = "; or leave out all pictures with --text-only" if "text_only" in bench.asking.options else ""
    asked: list[TaskStimuli] = []
    for task in tasks_asked:
        assert task.ask is not None
        try:
            asked.append(task.ask(task, data, revision or bench.revisions[0], **options))
        except RunError as error:
            if error.code != "DATA_MISSING":
                raise
            ways = shared + (f"; or leave out the task {task.name}" if len(tasks_asked) > 1 else "")
            raise RunError(error.code, error.where, error.what, error.expected, error.mend + ways) from error
    return asked if form == PAPER else [in_form(part, bench.asking.forms[form]) for part in asked]


def text_tasks(benchmark: str, names: Sequence[str], *, form: str = PAPER, text_only: bool = False) -> list[Task]:
    """The named tasks that are answered with text, in the benchmark's order; all that are not optional if none is.

    Those about an image are left out if `text_only`, and those without a question in the `form`.
    Errors: UsageError for an unknown form; RunError TASK_UNKNOWN if a named task would be left out.
    """
    bench = registered(benchmark)
    tasks = [task for task in bench.tasks if task.ask is not None and task.chosen(names)]
    if text_only:
        for task in tasks:
            if task.about_image and task.name in names:
                what, mend = "its question is about what the image shows", "leave out the task, or --text-only"
                raise RunError(
                    "TASK_UNKNOWN", f"{benchmark}, task {task.name}", what, "a task that needs no image", mend
                )
        tasks = [task for task in tasks if not task.about_image]
    if form == PAPER:
        return tasks
    if form not in bench.asking.forms:
        forms = (PAPER, *bench.asking.forms)
        hint = did_you_mean(form, forms)
        raise UsageError(f"The questions of {bench.name} have no form {form!r}{hint}. Known: {', '.join(forms)}.")
    rewords = bench.asking.forms[form]
    for task in tasks:
        if task.name in names and task.name not in rewords:
            what, mend = "its question has no such form", f"choose from {', '.join(rewords)}, or leave out --form"
            raise RunError("TASK_UNKNOWN", f"{benchmark}, task {task.name}", what, "a task with a free question", mend)
    return [task for task in tasks if task.name in rewords]


def asks_without_pictures(benchmark: str, task: str, revision: str) -> bool:
    """Whether the questions of a task show no picture."""
    try:
        (part,) = parts(benchmark, None, tasks=(task,), revision=revision)
    except RunError as error:
        if error.code != "DATA_MISSING":
            raise
        return False
    return all(ask.image is None for ask in part.read(0).asks)


def check_options(benchmark: str, **options: str | bool) -> None:
    """UsageError if the benchmark has no such option, or the option no such value."""
    for name, value in options.items():
        values = registered(benchmark).asking.options.get(name)
        if values is None:
            having = [other for other in NAMES if name in registered(other).asking.options]
            option = f"--{name.replace('_', '-')}"
            takes = "takes" if len(having) == 1 else "take"
            raise UsageError(f"Only {' and '.join(having)} {takes} {option}; leave it out for {benchmark}.")
        if value not in values:
            texts = [str(text) for text in values]
            hint = did_you_mean(str(value), texts)
            raise UsageError(f"There is no {name} {value!r}{hint}. Known: {', '.join(texts)}.")
