"""Ask a function of the user's everything that a benchmark asks a model; needs no engine, and goes on where it stopped.

What a function is given and may return says `functions.py`. Every answer is in the journal at once.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from itertools import islice
from pathlib import Path

from fairspace.submissions.benchmarks.asks import Shown, add_hashes, prompts_hash
from fairspace.submissions.errors import UsageError
from fairspace.submissions.format.manifest import Stage, git, hardware, now, software
from fairspace.submissions.running.asking.asking import prompt_hash
from fairspace.submissions.running.asking.functions import Caller, Request, shows_images
from fairspace.submissions.running.asking.inspect_task import Opened
from fairspace.submissions.running.asking.journal import JOURNAL, Answer, Journal
from fairspace.submissions.running.asking.keeping import Answered, grow, stopped, table_of, writing
from fairspace.submissions.running.errors import RunError
from fairspace.submissions.running.local.own_code import OwnModel

_AHEAD = 2
"""Batches that wait for each worker."""
Tell = Callable[[str, int, int], None]


def call(
    opened: Opened,
    model: OwnModel,
    work: Path,
    *,
    revision: str,
    again: bool = False,
    tell: Tell = lambda what, done, total: None,
) -> Answered:
    """Ask a function everything that has no fate yet, and give the answers to everything.

    Args:
        opened: what is asked.
        model: the function.
        work: folder of the run's workings.
        revision: of the model, for the manifest.
        again: whether what failed in an earlier start is asked again.
        tell: called with what is being done, requests that have a fate, and of how many.

    Errors: UsageError if pictures are shown to a function of prompts alone; RunError RUN_OTHER, MODEL_OUTPUT,
    RUN_STOPPED; what was answered is kept in `work`.
    """
    _check_pictures(opened, model)
    about = opened.describe()
    limit, stratified = about.pop("limit"), about.pop("stratified")
    about |= {"model": model.name, "revision": revision, "generation": dict(opened.settings), "arguments": {}}
    caller = Caller(model, {**opened.settings, "max_tokens": _longest(opened)}, opened.chosen.seed)
    prompts: list[str] = []
    with writing(work / JOURNAL), Journal(work / JOURNAL, about) as journal:
        grow(journal, limit, stratified)
        started = journal.note("started", now())
        if again:
            journal.forget("failed")
        done = sum(journal.count().values())
        try:
            for answer in _ask_all(caller, _waiting(opened, journal, prompts)):
                journal.put(answer)
                done += 1
                tell("Asking", done, opened.asks)
        except KeyboardInterrupt as error:
            raise stopped(str(work), f"{done:,} of {opened.asks:,} requests have their fate") from error
        answers = list(journal.answers())
    fates = ("answered", "refused", "failed")
    stage = Stage(
        what=opened.table,
        model=model.name,
        revision=revision,
        engine="callable",
        engine_version=f"python {platform.python_version()}",
        settings={**opened.settings, **opened.marks},
        prompts=add_hashes(prompts),
        datasets=dict(opened.datasets),
        tasks=about["tasks"],
        requests=len(answers),
        fates={fate: sum(answer.fate == fate for answer in answers) for fate in fates},
        limit=opened.chosen.limit,
        stratified=opened.chosen.stratified,
        hardware={**hardware(), "connections": model.workers},
        software=software("transformers", "torch"),
        git=git(),
        started=started,
        ended=now(),
    )
    return Answered(table_of(answers, opened.table), stage, "")


def _longest(opened: Opened) -> int | None:
    return max((part.max_tokens for part in opened.parts.values()), default=None)


def _check_pictures(opened: Opened, model: OwnModel) -> None:
    """UsageError if a task shows pictures and the function takes none."""
    if shows_images(model.function):
        return
    for task, places in opened.positions.items():
        if places and any(ask.image is not None for ask in opened.parts[task].read(places[0]).asks):
            expected = "Give it a second parameter, `images`, or leave the task out with tasks=[...]"
            raise UsageError(f"The task {task} shows pictures, and {model.name} takes a prompt alone. {expected}.")


def _waiting(opened: Opened, journal: Journal, prompts: list[str]) -> Iterator[Request]:
    """The requests that have no fate yet, in order; the hash of every stimulus' prompts goes into `prompts`."""
    for task, places in opened.positions.items():
        part = opened.parts[task]
        for place in places:
            shown: Shown = part.read(place)
            prompts.append(prompts_hash(shown.asks))
            for ask in shown.asks:
                known = journal.get(ask.key)
                if known is None:
                    yield Request(ask, shown.images, part)
                elif known.prompt_hash != prompt_hash(ask):
                    what, expected = (
                        f"the prompt of {ask.task} {ask.id} has changed",
                        "the prompts that the run began with",
                    )
                    raise RunError("RUN_OTHER", str(journal.file), what, expected, "name another folder")


def _ask_all(caller: Caller, requests: Iterable[Request]) -> Iterator[Answer]:
    """The fates of all requests as they become known, by as many workers as the model allows.

    An error ends it once the fates of the requests that were asked at the same time are known.
    """
    waiting, size = iter(requests), max(1, caller.model.batch)
    started: dict[Future[list[Answer]], tuple[list[Request], float]] = {}
    failures: list[BaseException] = []

    def ask(batch: list[Request]) -> list[Answer]:
        if failures:  # its turn came before it could be cancelled
            return []
        try:
            return caller.answers(batch)
        except BaseException as error:
            failures.append(error)
            raise

    with ThreadPoolExecutor(caller.model.workers) as pool:
        try:
            while started or not failures:
                while not failures and len(started) < _AHEAD * caller.model.workers:
                    if not (batch := list(islice(waiting, size))):
                        break
                    started[pool.submit(ask, batch)] = batch, time.monotonic()
                if not started:
                    break
                for future in wait(started, return_when=FIRST_COMPLETED).done:
                    batch, began = started.pop(future)
                    if future.exception() is None:
                        seconds = round((time.monotonic() - began) / len(batch), 3)
                        for request, answer in zip(batch, future.result(), strict=not failures):
                            yield replace(answer, seconds=seconds, prompt_hash=prompt_hash(request.ask))
        finally:
            for future in started:
                future.cancel()
    if failures:
        raise failures[0]
