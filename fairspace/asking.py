"""`fairspace.run`: ask a model all questions of a benchmark, and keep its answers; `fairspace.join`: parts as one."""

import asyncio
import inspect
import re
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import fields
from pathlib import Path
from typing import Any, Literal

from fairspace.answers import Answers, renamed
from fairspace.builders.errors import CodedError
from fairspace.builders.part import part_folder, read_part
from fairspace.submissions.benchmarks.benchmark import PAPER
from fairspace.submissions.checking.submission import read_submission
from fairspace.submissions.errors import UsageError, did_you_mean, of_system
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.progress import watched
from fairspace.submissions.running.asking.answering import stopped
from fairspace.submissions.running.asking.inspect_task import ChosenPart
from fairspace.submissions.running.asking.models import ModelSettings, need_models
from fairspace.submissions.running.joining import join as join_parts
from fairspace.submissions.running.run import RunOutcome
from fairspace.submissions.running.run import run as run_benchmark
from fairspace.submissions.running.settings import ModelFacts, RunSettings, RunSteps, Tell, submission_meta

Function = Callable[..., Any]
_ARGUMENTS = {"out": "folder=", "dataset-revision": "dataset_revision=", "text-only": "text_only=True"}
"""Option of the command -> argument of `run`, where it is not the option's name."""
_STOP: ContextVar[threading.Event] = ContextVar("stop")
"""Set by the caller of a run in another thread, to stop it at its next answer."""
_TURN = threading.Lock()
"""Inspect runs one evaluation at a time in a process."""


@renamed(revision="dataset_revision")
def run(
    model: Function | str,
    benchmark: str,
    *,
    folder: str | Path | None = None,
    tasks: Sequence[str] = (),
    limit: int | None = None,
    stratified: bool = True,
    dataset_revision: str = "",
    data: str = "",
    text_only: bool = False,
    prefix: str = "plain",
    form: str = PAPER,
    as_authors: bool = False,
    part: str = "",
    seed: int | None = None,
    name: str = "",
    workers: int = 1,
    batch: int = 0,
    on_error: Literal["raise", "keep"] = "raise",
    **settings: Any,
) -> Answers:
    """Ask a model all questions of a benchmark; progress goes to standard error.

    In a notebook or another running event loop the run has a thread of its own, and the loop waits for it.

    Args:
        model: a function of a prompt, or of a prompt and a list of PIL images, that returns a text, or None for a
            refusal (extra `ask`); an async one is awaited in the run's own event loop. It may have parameters `seed`,
            `temperature` or `max_tokens`. Or a name as `fairspace eval --model` takes it: "openai/gpt-4o", "./FOLDER",
            "http://HOST/v1#MODEL" (extra `run`).
        benchmark: one of `fs.BENCHMARKS`.
        folder: submission folder. Every answer is kept at once in FOLDER.run, and the same call continues an
            interrupted run without asking twice. None keeps all in memory.
        tasks: tasks of the benchmark; all tasks with text answers if empty.
        limit: maximum stimuli per task, for a first look; results say so and are not ranked.
        stratified: whether a limited choice is spread evenly over the benchmark's strata.
        dataset_revision: the default for ''. "v2-core" of fact_or_fair is a part with a known error. Once called
            `revision`, which still works.
        data: source of pictures, a folder of builds or NAMESPACE[@TAG] on the Hub; '' for benchmarks without.
        text_only: whether pictures are left out, for benchmarks with that option (genres, stereotypical_bias).
        prefix: prompt prefix, for benchmarks with that option (stereotypical_bias).
        form: "json" asks the free questions alone, with their choices named and the answer as JSON, held by a schema
            where the server keeps to one; never ranked (iris, stereotypical_bias).
        as_authors: whether it is asked with the authors' settings and prompts, a protocol of its own.
        part: "I/N", part I (from 0) of N that `fs.join` joins; `folder` is then FOLDER.part-0000I-of-0000N, as by
            `fairspace run --part`. '' is the whole, in a launcher's rank, too.
        seed: seed of the run, from which each request derives its own.
        name: model name; that of the function or the last part of the model's name for ''.
        workers: threads that call the function at the same time, for one that waits for a server.
        batch: prompts per call, which then takes and returns lists; 0 calls with one prompt at a time.
        on_error: reaction after the function has raised three times for one item: "raise" stops with an error that
            names it, "keep" continues, and the item counts as not handed in.
        settings: options of a named model: temperature, top_p, max_tokens, base_url, connections, retries, timeout,
            arguments.

    Returns:
        The answers. GENRES' stories have judges: `fs.items("genres", after=answers)` gives their prompts.

    Errors: UsageError; RunError MODEL_OUTPUT (names the item), MODEL_UNKNOWN, MODEL_SILENT, DATA_MISSING, TASK_UNKNOWN,
    RUN_OTHER (the folder is another run's), RUN_STOPPED (Ctrl-C); BuildError REVISION_UNKNOWN, PART_INVALID.
    """
    if (limit is not None and limit < 1) or workers < 1 or batch < 0:
        raise UsageError("limit and workers are at least 1, batch at least 0.")
    if on_error not in ("raise", "keep"):
        raise UsageError(f"on_error is {on_error!r}. Expected: 'raise' or 'keep'.")
    with _in_arguments(run):
        part_to_ask = ChosenPart(
            *(benchmark, data, tuple(tasks), limit, stratified, seed, prefix, text_only, dataset_revision, form),
            as_authors=as_authors,
            part=read_part(part, {}),
        )
        answering = _model(model, name, workers, batch, on_error, settings)
        with tempfile.TemporaryDirectory(prefix="fairspace-") as scratch, watched() as tell:
            out = Path(scratch) / "answers" if folder is None else Path(folder).expanduser().absolute()
            asked = RunSettings(part_to_ask, part_folder(out, part_to_ask.part), answering, about=ModelFacts(name))
            outcome = _apart(asked, tell)
            if any(stage.requests for stage in outcome.stages):
                answers = read_submission(outcome.out)
            else:  # a part of fewer stimuli than parts
                answers = Submission(submission_meta(asked, RunSteps()))
            return Answers(answers, tuple(note for note in outcome.notes if scratch not in note))


def join(parts: Sequence[str | Path], folder: str | Path) -> Answers:
    """Write one submission of all parts of a run to `folder`, equal to that of one process, and return its answers.

    Args:
        parts: their folders, in any order.
        folder: a new folder.

    Errors: BuildError PARTS_UNJOINABLE (names the folder that overlaps, differs or lacks); SubmissionError; UsageError.
    """
    whole = Path(folder).expanduser()
    with _in_arguments(run):  # whose argument `part` made the parts
        join_parts([Path(part).expanduser() for part in parts], whole)
        return Answers(read_submission(whole))


@contextmanager
def _in_arguments(function: Callable[..., Any]) -> Iterator[None]:
    """Errors that name options of the command, outside of whole command lines, name the function's arguments instead.

    UsageError for an OSError.
    """
    try:
        yield
    except (CodedError, UsageError) as error:
        arguments = {name: f"{name}=" for name in inspect.signature(function).parameters} | _ARGUMENTS
        error.args = (re.sub(r"`[^`]*`|--([a-z-]+)", lambda match: arguments.get(match[1], match[0]), str(error)),)
        raise
    except OSError as error:
        raise UsageError(of_system(error)) from error


async def run_async(model: Function | str, benchmark: str, **options: Any) -> Answers:
    """`run` to be awaited: other tasks go on meanwhile. Cancelled, it stops as by Ctrl-C."""
    stop = threading.Event()
    _STOP.set(stop)
    try:
        return await asyncio.to_thread(run, model, benchmark, **options)
    finally:
        stop.set()


def _apart(settings: RunSettings, tell: Tell) -> RunOutcome:
    """The run's outcome; from a thread of its own where this one has a running event loop."""
    stop = _STOP.get(threading.Event())

    def told(what: str, done: int, total: int) -> None:
        if stop.is_set():
            raise stopped(settings.out.name, f"{done:,} of {total:,} requests have their fate")
        tell(what, done, total)

    def turn() -> RunOutcome:
        with _TURN:
            return run_benchmark(settings, told)

    loop = None
    with suppress(RuntimeError):
        loop = asyncio.get_running_loop()
    if loop is None:
        return turn()
    with ThreadPoolExecutor(1) as thread:
        ending = thread.submit(turn)
        with suppress(KeyboardInterrupt):  # the run says itself that it was stopped
            return ending.result()
        stop.set()
        return ending.result()


def _model(
    model: Function | str,
    name: str,
    workers: int,
    batch: int,
    on_error: Literal["raise", "keep"],
    settings: dict[str, Any],
) -> ModelSettings:
    names = [field.name for field in fields(ModelSettings)]
    for unknown in (name for name in settings if name not in names):
        close = did_you_mean(unknown, [*inspect.signature(run).parameters, *names])
        raise UsageError(f"unknown argument {unknown!r}{close}. See fs.run's arguments and settings.")
    need_models(model if isinstance(model, str) else "")
    if isinstance(model, str):
        if batch or on_error != "raise" or workers != 1:
            raise UsageError("workers, batch and on_error are for functions; a named model has connections=.")
        return ModelSettings(model, **settings)
    if not callable(model):
        raise UsageError(f"The model is {type(model).__name__}. Expected: a function of a prompt, or a name.")
    if settings:
        raise UsageError(f"{', '.join(settings)}: these settings are for a named model; write them into your function.")
    address = f"python/{name or getattr(model, '__name__', type(model).__name__)}"
    about_function = {"function": model, "workers": workers, "batch": batch, "on_error": on_error}
    return ModelSettings(address, connections=max(16, 2 * workers * max(1, batch)), arguments=about_function)
