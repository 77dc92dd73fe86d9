"""Ask a model everything about a stimulus: an Inspect solver, in which every request ends with exactly one fate.

The engine is Inspect: its providers, retries, rate limits and logs. What is added here is what a benchmark of many
short questions needs: several requests for one sample of the log, a journal that outlives the process, bounded
attempts where the engine does not retry by itself, a bounded repair of answers that a program must read, and an end
when the model has fallen silent.
"""

from __future__ import annotations

import errno
import hashlib
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairspace.submissions.benchmarks.asks import Ask, Part, Shown, add_hashes, ask_seed, prompts_hash
from fairspace.submissions.running.asking.exchange import (
    FailedError,
    Spent,
    answer_of,
    compact,
    content_of,
    reason_of,
    storable,
    summary,
)
from fairspace.submissions.running.asking.journal import Answer, Journal
from fairspace.submissions.running.errors import RunError

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, Model, ModelOutput, ResponseSchema
    from inspect_ai.solver import Solver

ANSWERS = "answers"
"""Key of a log sample's metadata: its answers, as `Answer` writes them."""
STIMULUS = "stimulus"
"""Key of a log sample's metadata: the task and the position of the stimulus among its part's."""
PROMPTS = "prompts"
"""Key of a log sample's metadata: the hash of its prompts."""
Repair = Callable[[Ask, str], str]
_FEW = 3
"""Failures in a row, with no other request under way, after which a model that has answered must show that it still
does."""
_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EFBIG)
_JOURNAL = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)


@dataclass
class Asking:
    """How a run asks; one object for all its stimuli.

    Args:
        parts: task -> its stimuli.
        journal: keeps every fate, and knows those of an earlier start; None: Inspect's log alone.
        seed: of the run; None leaves the provider's own.
        attempts: how often a request is sent that fails in a way which the engine does not retry.
        patience: failures in a row after which the model must show that it still answers, or counts as silent; None: a
            failure says nothing of the next request.
        repair: (request, answer) -> what to tell a model whose answer cannot be read, '' if it can.
        repairs: how often an answer is asked for again.
        shape: request -> the schema that its answer must have, which goes with it.
        done: called with each fate as it becomes known.
        closes: whether the model is of this run alone, so that its connections are closed at the end.
        left: requests of the run that have no fate yet; None where it is not known.
    """

    parts: Mapping[str, Part]
    journal: Journal | None = None
    seed: int | None = None
    attempts: int = 3
    patience: int | None = 25
    repair: Repair | None = None
    repairs: int = 2
    shape: Callable[[Ask], ResponseSchema] | None = None
    done: Callable[[Answer], None] = lambda answer: None
    closes: bool = False
    left: int | None = None
    stopped: RunError | None = field(default=None, init=False)
    """Why the run ended before its time."""
    prompts: str = field(default="0" * 64, init=False)
    """Hash of all prompts so far, as `asks.prompts_hash` makes it."""
    _silent: list[Answer] = field(default_factory=list, init=False)
    """Failures since the last answer."""
    _known: tuple[Ask, Sequence[bytes], Part] | None = field(default=None, init=False)
    """A request that the model has answered."""
    _open: int = field(default=0, init=False)
    """Requests that are being asked."""
    _closing: Any = field(default=None, init=False)
    """The task that closes the model's connections."""
    _probing: bool = field(default=False, init=False)

    def solver(self) -> Solver:
        """The solver that asks all about a sample's stimulus, and leaves the answers in the sample's metadata."""
        from inspect_ai.model import ModelOutput, get_model
        from inspect_ai.solver import Generate, TaskState, solver

        @solver(name="ask_each")
        def ask_each() -> Solver:
            async def solve(state: TaskState, generate: Generate) -> TaskState:
                place = state.metadata[STIMULUS]
                part = self.parts[place["task"]]
                shown = part.read(place["position"])
                if self.closes:
                    self._close_with_loop(get_model())
                answers = await self.ask_all(get_model(), shown, part)
                state.metadata[ANSWERS] = [compact(answer) for answer in answers]
                state.metadata[PROMPTS] = prompts_hash(shown.asks)
                self.prompts = add_hashes((self.prompts, state.metadata[PROMPTS]))
                only = answers[0] if len(answers) == 1 else None
                text = summary(answers) if only is None else only.response or f"{only.fate}: {only.reason}"
                state.output = ModelOutput.from_content(str(state.model), text)
                state.messages.append(state.output.message)
                return state

            return solve

        return ask_each()

    def _close_with_loop(self, model: Model) -> None:
        """Leave a task that closes the model's connections when the event loop ends: Inspect closes none.

        On a loop that is not asyncio's they last until the process ends.
        """
        import asyncio

        if self._closing is None:
            with suppress(RuntimeError):
                self._closing = asyncio.get_running_loop().create_task(_close_at_end(model))

    async def ask_all(self, model: Model, shown: Shown, part: Part) -> list[Answer]:
        """The answers to all requests of a stimulus, in their order; those of an earlier start are the journal's."""
        import anyio

        known = [self.journal.get(ask.key) if self.journal else None for ask in shown.asks]
        for ask, answer in zip(shown.asks, known, strict=True):
            if answer is not None and answer.prompt_hash != prompt_hash(ask):
                self.stopped = self._changed(ask)
                raise self.stopped
        results: list[Answer | None] = list(known)

        async def one(position: int, ask: Ask) -> None:
            results[position] = await self.ask(model, ask, shown.images, part)

        for ask, answer in zip(shown.asks, known, strict=True):
            if self._known is None and answer is not None and answer.fate == "answered":
                self._known = ask, shown.images, part
        async with anyio.create_task_group() as group:
            for position, ask in enumerate(shown.asks):
                if results[position] is None:
                    group.start_soon(one, position, ask)
        return [answer for answer in results if answer is not None]

    async def ask(self, model: Model, ask: Ask, images: Sequence[bytes], part: Part) -> Answer:
        """One request to its fate, which the journal holds when this returns. RunError MODEL_SILENT ends the run."""
        started = time.monotonic()
        spent = Spent()
        self._open += 1
        try:
            answer = await self._readable(model, ask, images, part, spent)
        except RunError as error:
            self.stopped = self.stopped or _at_item(error, ask)
            raise self.stopped from error
        except FailedError as failed:
            answer = Answer(*ask.key, "failed", None, failed.reason, "", spent.attempts, spent.input, spent.output)
        finally:
            self._open -= 1
        seconds = round(time.monotonic() - started, 3)
        answer = replace(answer, seconds=seconds, prompt_hash=prompt_hash(ask))
        if answer.fate == "answered":
            self._known = ask, images, part
        await self._keep(model, answer)
        return answer

    def _changed(self, ask: Ask) -> RunError:
        assert self.journal is not None
        what = f"the prompt of {ask.task} {ask.id} has changed"
        mend = "name another --out: what was answered is the answer to another prompt"
        return RunError("RUN_OTHER", str(self.journal.file), what, "the prompts that the run began with", mend)

    def finish(self) -> None:
        """Put the failures since the last answer into the journal too: the model was not silent."""
        if self.stopped is None and self.journal is not None:
            try:
                for answer in self._silent:
                    self.journal.put(answer)
            except sqlite3.OperationalError as error:
                if not of_disk(error):
                    raise
                self.stopped = unwritten(self.journal.file, error)
                raise self.stopped from error
        self._silent.clear()

    async def _keep(self, model: Model, answer: Answer) -> None:
        """Put a fate into the journal. A failure waits until the model is known to answer.

        So a model that has fallen silent ends the run, and what failed meanwhile is asked again in the next start.
        Requests that fail for ever gather at the end of a run, where no others are answered between them; so the model
        is asked again what it has answered before: after a few failures, or after the very last request. One that has
        never answered has only its patience.
        """
        if self.left is not None:
            self.left -= 1
        self._silent.append(answer)
        if answer.fate != "failed" or self.patience is None:
            self.finish()
        elif not self._probing and self._doubtful():
            self._probing = True
            answers = await self._answers(model)
            self._probing = False
            if answers:
                self.finish()
            elif self._silent:
                what = f"{len(self._silent)} requests in a row failed, the last with {answer.reason}"
                mend = "see that the model can be reached, then run the same command again; what was answered is kept"
                self.stopped = RunError("MODEL_SILENT", f"{answer.task} {answer.id}", what, "answers", mend)
                self._silent.clear()
                raise self.stopped
        self.done(answer)

    def _doubtful(self) -> bool:
        """Whether the model must show now that it still answers."""
        assert self.patience is not None
        if self._known is None or self._open:
            return len(self._silent) >= self.patience
        return len(self._silent) >= min(self.patience, _FEW) or (self.left is not None and self.left <= 0)

    async def _answers(self, model: Model) -> bool:
        """Whether the model still answers a request that it has answered before."""
        from inspect_ai.model import ChatMessageUser

        if self._known is None:
            return False
        ask, images, part = self._known
        try:
            await self._send(model, ask, [ChatMessageUser(content=content_of(ask, images))], part, Spent())
        except FailedError:
            return False
        return True

    async def _readable(self, model: Model, ask: Ask, images: Sequence[bytes], part: Part, spent: Spent) -> Answer:
        """The answer, or the last one where the request is sent anew until an answer can be read.

        A model that repeats an answer to the letter is not asked further.
        """
        answer = await self._read(model, ask, images, part, spent)
        unread: list[str] = []
        while answer.response is not None and not part.readable(ask, answer.response):
            if answer.response in unread or len(unread) >= part.unreadable_again:
                break
            unread.append(answer.response)
            try:
                answer = await self._read(model, ask, images, part, spent, len(unread))
            except FailedError:
                break
        return replace(answer, attempts=spent.attempts, input_tokens=spent.input, output_tokens=spent.output)

    async def _read(
        self, model: Model, ask: Ask, images: Sequence[bytes], part: Part, spent: Spent, anew: int = 0
    ) -> Answer:
        """The answer, asked for again within bounds where a program cannot read it."""
        from inspect_ai.model import ChatMessageAssistant, ChatMessageUser

        messages: list[ChatMessage] = [ChatMessageUser(content=content_of(ask, images))]
        for again in range(self.repairs + 1):
            output = await self._send(model, ask, messages, part, spent, anew)
            answer = answer_of(ask, output, spent)
            if self.repair is None or answer.response is None or again == self.repairs:
                break
            repeated = self.repair(ask, answer.response)
            if not repeated:
                break
            messages = [
                messages[0],
                ChatMessageAssistant(content=answer.response),
                ChatMessageUser(content=repeated),
            ]
        return answer

    async def _send(
        self, model: Model, ask: Ask, messages: list[ChatMessage], part: Part, spent: Spent, anew: int = 0
    ) -> ModelOutput:
        """What the model gave, after the engine's own retries and ours. FailedError says what the last attempt met.

        A request that is sent anew has a seed of its own.
        """
        from inspect_ai.model import GenerateConfig
        from inspect_ai.util import LimitExceededError
        from tenacity import RetryError

        config = GenerateConfig()
        if self.seed is not None:
            config.seed = ask_seed(self.seed, *ask.key) ^ anew
        if self.shape is not None:
            config.response_schema = self.shape(ask)
        last = ""
        for _ in range(self.attempts):
            spent.attempts += 1
            try:
                output = await model.generate(messages, config=config)
            except (LimitExceededError, RunError):
                raise
            except Exception as error:  # noqa: BLE001 - any failure of a provider is a fate of the request
                last = reason_of(error)
                if isinstance(error, RetryError):
                    break
                continue
            spent.add(output)
            if output.error or not output.choices:
                last = storable(" ".join((output.error or "an answer without content").split())[:300])
                continue
            return output
        raise FailedError(last)


async def _close_at_end(model: Model) -> None:
    import anyio

    try:
        await anyio.sleep_forever()
    finally:
        with anyio.CancelScope(shield=True):
            await model.api.aclose()


def _at_item(error: RunError, ask: Ask) -> RunError:
    """The error with the item that it ended the run at."""
    where = f"{error.where}, task {ask.task}, item {ask.id}, sample {ask.sample}"
    return RunError(error.code, where, error.what, error.expected, error.mend)


def prompt_hash(ask: Ask) -> str:
    """Of a request's prompt: 16 hexadecimal digits."""
    return hashlib.sha256(ask.prompt.encode()).hexdigest()[:16]


def of_disk(error: OSError | sqlite3.OperationalError) -> bool:
    """Whether the disk is to blame: it is full, broken or not to be written to."""
    if isinstance(error, OSError):
        return error.errno in _DISK
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _JOURNAL


def unwritten(file: Path, error: Exception) -> RunError:
    """The error of a run whose workings cannot be written, such as on a full disk."""
    mend = "make room there, then run the same command again; what was answered is kept"
    return RunError("RUN_INCOMPLETE", str(file), f"{error}", "a disk that can be written to", mend)
