"""Run a benchmark's text tasks against a model, from where an earlier start stopped, to a table and its stage."""

from __future__ import annotations

import gc
import json
import logging
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from fairspace.submissions.benchmarks.benchmark import SCHEMA
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.errors import RunError
from fairspace.submissions.format.manifest import Scalar, Stage, circumstances, now, version
from fairspace.submissions.running.asking.asking import (
    ATTEMPTS,
    PATIENCE,
    SCHEMAS,
    THINKS,
    Repair,
    RunAsking,
    prompt_hash,
    writing,
)
from fairspace.submissions.running.asking.inspect_task import NOT_STATED, OpenedBenchmark, build_task
from fairspace.submissions.running.asking.journal import JOURNAL, TOO_LONG, Journal, JournalEntry, Key, table_of, totals
from fairspace.submissions.running.asking.models import (
    SHARED_PROTOCOL,
    ModelSettings,
    found_revision,
    local_facts,
    local_shape,
    open_model,
    story_sampling,
)
from fairspace.submissions.running.asking.prices import Spending
from fairspace.submissions.running.folders import public_name
from fairspace.submissions.running.settings import Tell

if TYPE_CHECKING:
    from inspect_ai import Task
    from inspect_ai.log import EvalLog
    from inspect_ai.model import Model

LOGS = "logs"
_PACKAGES = ("inspect_ai", "openai", "transformers", "torch", "gguf", "xllamacpp")
_SECONDS, _ENDED = "seconds", "ended"
"""Note of a journal: seconds of asking in all starts."""
THINKING_TOKENS = 8192
"""Default greatest length of an answer by a local model that thinks, thinking included."""


@dataclass(frozen=True)
class AnsweredRun:
    """The rows for the submission, the stage for its manifest, Inspect's log of the last start, and every fate."""

    table: pa.Table
    stage: Stage
    log: str
    answers: Sequence[JournalEntry]

    def error(self, where: str) -> RunError:
        """The error of a run without any answer."""
        failure = next((journaled.reason for journaled in self.answers if journaled.fate == "failed"), "")
        what = f"no request was answered: {failure}" if failure else "no request was answered"
        mend = f"mend the reason, and run the same command again with --again. Inspect's log: {self.log}"
        return RunError("RUN_INCOMPLETE", where, what, "one answer at least", mend)


def answer(
    opened: OpenedBenchmark,
    model: ModelSettings,
    work: Path,
    *,
    revision: str = "not stated",
    again: bool = False,
    tell: Tell = lambda what, done, total: None,
    repair: Repair | None = None,
) -> AnsweredRun:
    """Ask everything that has no fate yet, and return the answers to everything.

    `work` is the folder of the run's journal and logs. `again`: earlier failures are asked again. `tell` is called with
    activity, requests with a fate, and their total. `repair`: as of `RunAsking`.

    Errors: RunError RUN_OTHER, MODEL_SILENT, RUN_INCOMPLETE; answers are kept, and the same call goes on.
    """
    generation = model.effective(opened.settings)
    about = opened.describe()
    limit, stratified = about.pop("limit"), about.pop("stratified")
    about.pop("prompts", None)  # of a judge: more narratives are more prompts; each request is compared by itself
    weights = found_revision(model) if revision == NOT_STATED else revision
    about |= {"model": model.name, "revision": weights, "generation": generation}
    about["arguments"] = model.compared_arguments()
    if (work / JOURNAL).is_file():  # another run is told before weights are loaded
        with writing(work / JOURNAL), Journal(work / JOURNAL, about) as journal:
            check_growth(journal, limit, stratified)
    who = open_model(model, work / LOGS)
    facts = local_facts(who)
    connections = who.config.max_connections or model.connections
    about["shape"] = local_shape(facts)
    if facts.get(THINKS) and "max_tokens" not in generation:
        generation = {**generation, "max_tokens": THINKING_TOKENS}
    stories = opened.table == "responses" and benchmark(opened.chosen.benchmark).asking.judge is not None
    if stories and "temperature" not in generation:
        generation = {**generation, **story_sampling(who)}
    with writing(work / JOURNAL), Journal(work / JOURNAL, about) as journal:
        grow(journal, limit, stratified)
        if opened.table == "judgements":
            journal.keep_only(_asked(opened))
        started = journal.note("started", now())
        if again:
            journal.forget("failed")
        done = sum(journal.count().values())
        before, total = done, opened.asks
        began = time.monotonic()
        tell("Asking", done, total)
        spending = Spending(model.bounds)
        spending.add(journal.answers())
        if done < total:
            spending.check(str(work))

        def step(answer: JournalEntry) -> None:
            nonlocal done
            done += 1
            spending.add((answer,))
            try:
                tell("Asking", done, total)
                if done < total:
                    spending.check(str(work))
            except RunError as error:
                asking.stopped = error
                raise

        asking = RunAsking(
            opened.parts,
            journal,
            opened.chosen.seed,
            attempts=1 if model.name.startswith(("python/", "torchumm/")) else ATTEMPTS,
            patience=None if model.arguments.get("on_error") == "keep" else PATIENCE,
            repair=repair,
            done=step,
            closes=True,
            left=total - done,
            schemas=json.loads(journal.note(SCHEMAS, "null")),
        )
        try:
            log = "none, as there is no request"
            if total:  # Inspect knows no task without samples
                task = build_task(opened, asking, generation)
                log = evaluate(task, asking, who, connections, work / LOGS).location
        except KeyboardInterrupt as error:
            done = sum(journal.count().values())
            raise stopped(str(work), f"{done:,} of {total:,} requests have their fate") from error
        finally:
            seconds = float(journal.note(_SECONDS, "0.0")) + time.monotonic() - began
            journal.renote(_SECONDS, repr(seconds))
        if before < total:
            journal.renote(_ENDED, now())
        ended = journal.note(_ENDED, now())
        answers = list(journal.answers())
    stage = Stage(
        what=opened.table,
        model=public_name(model.name),
        revision=weights,
        engine="inspect_ai",
        engine_version=version("inspect_ai"),
        settings={
            **generation,
            **opened.marks,
            **({} if asking.schemas is None else {SCHEMA: asking.schemas}),
            **model.shown_arguments(),
            **({"base_url": "not shown"} if model.base_url and not model.name.startswith(SHARED_PROTOCOL) else {}),
            **facts,
        },
        prompts=asking.prompts,
        datasets=dict(opened.datasets),
        tasks=about["tasks"],
        course=course_of(answers, seconds),
        limit=opened.chosen.limit,
        stratified=opened.chosen.stratified,
        **totals(answers),
        **circumstances(started, *_PACKAGES, ended=ended, connections=connections),
    )
    return AnsweredRun(table_of(answers, opened.table, opened.names), stage, log, answers)


def evaluate(task: Task, asking: RunAsking, model: Model, connections: int, logs: Path) -> EvalLog:
    """Run a task in Inspect to its end. RunError MODEL_SILENT or RUN_INCOMPLETE if it does not get there.

    Ctrl-C raises KeyboardInterrupt, though Inspect turns it into a cancelled log, or into none.
    """
    from inspect_ai import eval as run_task

    with _undistracted():
        written = run_task(
            task,
            model=model,
            display="none",
            log_dir=str(logs),
            log_format="eval",
            log_realtime=False,
            log_model_api=False,
            log_images=False,
            log_header_only=True,
            score_display=False,
            max_samples=connections,
            fail_on_error=True,
            ctl_server=False,  # its web server takes Ctrl-C for itself, and puts asyncio's handler back over ours
        )
    if asking.stopped is not None:
        raise asking.stopped
    if not written or written[0].status == "cancelled":
        raise KeyboardInterrupt
    (log,) = written
    if log.status != "success":
        what = log.error.message if log.error else f"the run was {log.status}"
        mend = f"see {log.location}, then run the same command again; what was answered is kept"
        raise RunError("RUN_INCOMPLETE", task.name, what, "a run to its end", mend)
    asking.finish()
    return log


@contextmanager
def _undistracted() -> Iterator[None]:
    """Spare frequent garbage collection and trace lines, which take a sixth of a long run's time.

    Unfreezing is for all objects: a process that froze its own is left as it is.
    """
    freeze = not gc.get_freeze_count()
    logger = logging.getLogger("inspect_ai.model._model")
    level, thresholds = logger.level, gc.get_threshold()
    logger.setLevel(logging.INFO)
    if freeze:
        gc.freeze()
    gc.set_threshold(5_000, 5, 5)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        if freeze:
            gc.unfreeze()
        logger.setLevel(level)


def _asked(opened: OpenedBenchmark) -> set[tuple[Key, str]]:
    """All requests with the hashes of their prompts; a judge's prompts change with the narratives."""
    return {
        (ask.key, prompt_hash(ask))
        for task, places in opened.positions.items()
        for place in places
        for ask in opened.parts[task].read(place).asks
    }


def stopped(where: str, what: str) -> RunError:
    """The error of a run stopped by Ctrl-C."""
    mend = "run the same command again: it goes on from here"
    return RunError("RUN_STOPPED", where, f"stopped; {what}", "a run to its end", mend)


_DRAWS = {True: "stratified", False: "not stratified"}
"""Words for a draw of whole units; earlier versions drew single stimuli, and noted a truth value."""


def grow(journal: Journal, limit: int | None, stratified: bool) -> None:
    """Make a run longer, never shorter. RunError RUN_OTHER."""
    check_growth(journal, limit, stratified)
    journal.renote("limit", json.dumps(limit))
    journal.renote("stratified", json.dumps(_DRAWS[stratified]))


def check_growth(journal: Journal, limit: int | None, stratified: bool) -> None:
    """RunError RUN_OTHER for a shorter run, or of another draw: a stratified one does not contain a plain one."""
    before = json.loads(journal.note("limit", json.dumps(limit)))
    drawn = json.loads(journal.note("stratified", json.dumps(_DRAWS[stratified])))
    if limit is not None and before is not None and drawn != _DRAWS[stratified]:
        kept = "drawn by an earlier version" if isinstance(drawn, bool) else drawn
        raise RunError(
            "RUN_OTHER",
            str(journal.file),
            f"a limited run that is {kept}, and now one that is {_DRAWS[stratified]}",
            "the same kind of choice, or the whole benchmark",
            "go on as it began, leave out --limit, or name another --out",
        )
    if limit is not None and (before is None or limit < before):
        raise RunError(
            "RUN_OTHER",
            str(journal.file),
            f"a run of {before or 'all'} stimuli a task, and now {limit}",
            "the same limit or a larger one",
            "name another --out for the shorter run",
        )


def course_of(answers: Iterable[JournalEntry], seconds: float) -> dict[str, Scalar]:
    """Tokens and seconds of all starts, and the shares of answers that were empty, looped or cut off."""
    answered = [answer for answer in answers if answer.fate == "answered"]
    course: dict[str, Scalar] = {
        "input_tokens": sum(answer.input_tokens for answer in answered),
        "output_tokens": sum(answer.output_tokens for answer in answered),
        "seconds": round(seconds),
    }
    for name, count in (
        ("empty", sum(not (answer.response or "").strip() for answer in answered)),
        ("looping", sum(answer.stop == "loop" for answer in answered)),
        ("cut_off", sum(answer.stop in ("max_tokens", "model_length") for answer in answered)),
    ):
        course[name] = round(count / len(answered), 4) if answered else None
    if long := sum(answer.stop == TOO_LONG for answer in answered):
        course[TOO_LONG] = long
    return course
