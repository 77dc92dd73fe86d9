"""Ask a model everything about a stimulus: an Inspect solver in which every request ends with exactly one fate.

Inspect has providers, retries, rate limits and logs. Added are several requests for one sample of the log, a journal
that outlives the process, bounded attempts, a bounded repair of unreadable answers, and an end if the model is silent.
"""

from __future__ import annotations

import base64
import errno
import hashlib
import json
import sqlite3
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from fairspace.submissions.benchmarks.task import Ask, ReadStimulus, TaskStimuli, add_hashes, ask_seed, prompts_hash
from fairspace.submissions.errors import RunError, plain
from fairspace.submissions.running.asking.accepting import NONE, fault_of, remedy
from fairspace.submissions.running.asking.journal import TOO_LONG, Journal, JournalEntry

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, ChatMessageUser, Model, ModelOutput, ResponseSchema
    from inspect_ai.solver import TaskState

ENDED = "ended"
"""Key of an output's metadata: why the answer ended, in our words, which include loops."""
THINKS = "local.thinks"
"""Key of a local model's facts: whether it is a chat model with tokens around thinking."""
_SIGNATURES = {b"\x89PNG": "image/png", b"\xff\xd8\xff": "image/jpeg", b"RIFF": "image/webp"}


@dataclass
class Request:
    """A request to a model, about images of its stimulus, and what it took so far: attempts, tokens."""

    model: Model
    ask: Ask
    images: Sequence[bytes]
    part: TaskStimuli
    attempts: int = 0
    input: int = 0
    output: int = 0

    def message(self) -> ChatMessageUser:
        """The message: the prompt to the letter, after its image if it has one."""
        from inspect_ai.model import ChatMessageUser, ContentImage, ContentText

        if self.ask.image is None:
            return ChatMessageUser(content=self.ask.prompt)
        shown = ContentImage(image=_data_uri(self.images[self.ask.image]))
        return ChatMessageUser(content=[shown, ContentText(text=self.ask.prompt)])

    def add(self, output: ModelOutput) -> None:
        """Count an output's tokens, cached ones included: they are paid for too."""
        if usage := output.usage:
            self.input += usage.input_tokens
            self.input += (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
            self.output += usage.output_tokens

    def add_failed(self, error: BaseException) -> None:
        """Count the tokens of what was sent and is no answer (`accepting.completion_of`)."""
        body = getattr(cause_of(error), "body", None)
        if isinstance(body, dict) and isinstance(usage := body.get("usage"), dict):
            self.input += usage.get("prompt_tokens") or 0
            self.output += usage.get("completion_tokens") or 0


class FailedError(Exception):
    """No attempt of a request gave an answer."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def compact(answer: JournalEntry) -> dict[str, Any]:
    """An answer in a log's form, without empty fields and the hash of its prompt."""
    kept = ("task", "id", "sample", "fate", "response", "attempts")
    fields = {name: value for name, value in asdict(answer).items() if name in kept or value}
    fields.pop("prompt_hash", None)
    return fields


def summary(answers: Sequence[JournalEntry]) -> str:
    """Numbers of requests by fate, for a reader of the log."""
    counts = Counter(answer.fate for answer in answers)
    return ", ".join(f"{number} {fate}" for fate, number in sorted(counts.items()))


def answer_of(ask: Ask, output: ModelOutput) -> JournalEntry:
    """The fate of a request, before what it took; refused if the provider or the model withheld the text."""
    content = output.message.content
    withheld = isinstance(content, list) and any(getattr(piece, "refusal", None) for piece in content)
    refused = withheld or output.stop_reason == "content_filter"
    return JournalEntry(
        *ask.key,
        fate="refused" if refused else "answered",
        response=None if refused else storable(output.completion),
        reason=(storable(output.completion)[:200] or "content filter") if refused else "",
        stop=str((output.metadata or {}).get(ENDED, output.stop_reason)),
    )


def is_answered(answer: JournalEntry | None) -> bool:
    """Whether a request has an answer."""
    return answer is not None and answer.fate == "answered"


def storable(text: str) -> str:
    """A text that UTF-8 can hold: without NUL, and with marks for halves of surrogate pairs."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()


@lru_cache(maxsize=64)
def _data_uri(image: bytes) -> str:
    kind = next((kind for mark, kind in _SIGNATURES.items() if image.startswith(mark)), None)
    if kind is None:
        raise RunError(
            "DATA_INVALID",
            "an image",
            f"bytes that begin with {image[:4]!r}",
            "PNG, JPEG or WebP",
            "build the dataset again",
        )
    return f"data:{kind};base64,{base64.b64encode(image).decode()}"


def cause_of(error: BaseException) -> BaseException:
    """The innermost cause of a failure that says something; of the last attempt, if there were several."""
    last = getattr(error, "last_attempt", None)
    inner = error if last is None else last.exception() or error
    while inner.__cause__ is not None and str(inner.__cause__):
        inner = inner.__cause__
    return inner


def reason_of(error: BaseException) -> str:
    """The innermost cause of a failure, in one line, and its remedy if a parameter was rejected."""
    inner = cause_of(error)
    body = getattr(inner, "body", None)  # of a client that shows one form of errors alone
    lost = "" if not isinstance(body, dict) or "message" in body else json.dumps(body, ensure_ascii=False)
    what = body["message"] if body and getattr(inner, "type", "") == NONE else f"{type(inner).__name__}: {inner} {lost}"
    text = " ".join(what.split())[:300].rstrip(".")
    return storable(text + remedy(text, inner))


class Harvest:
    """Answers of a killed evaluation that Inspect recovered, so that `inspect eval-retry` asks none of them again.

    Inspect takes whole samples over by itself. A sample under way has no answers yet, but each call of the model that
    ended stands in the recovered log as an event; equal messages with an equal seed are one request. `read` a sample's
    before it is asked, `take` each once.
    """

    def __init__(self) -> None:
        self._outputs: defaultdict[tuple[str, int | None], list[ModelOutput]] = defaultdict(list)
        self._logs: dict[str, list[str]] | None = None
        """Sample -> recovered logs in which it is under way."""
        self._looking: Any = None

    async def read(self, sample: str) -> None:
        """Take in the answers to a sample's requests; those of samples that were not under way are Inspect's."""
        import anyio
        from inspect_ai.event import ModelEvent
        from inspect_ai.log import read_eval_log_sample_async

        self._looking = self._looking or anyio.Lock()
        async with self._looking:  # samples begin together
            self._logs = await _under_way() if self._logs is None else self._logs
        for log in self._logs.pop(sample, ()):
            recovered = await read_eval_log_sample_async(log, sample, resolve_attachments=True)
            for event in recovered.events:
                if isinstance(event, ModelEvent) and event.output.choices and not (event.pending or event.error):
                    self._outputs[request_of(event.input, event.config.seed)].append(event.output)

    def take(self, messages: Sequence[ChatMessage], seed: int | None) -> ModelOutput | None:
        """An answer to this request that nobody took yet; None if there is none."""
        outputs = self._outputs and self._outputs.get(request_of(messages, seed))
        return outputs.pop(0) if outputs else None


def request_of(messages: Sequence[ChatMessage], seed: int | None) -> tuple[str, int | None]:
    """The key of a request: hash of its messages, and seed."""
    texts = hashlib.sha256()
    for message in messages:
        content = message.content
        pieces = [content] if isinstance(content, str) else [piece.model_dump_json() for piece in content]
        texts.update("\0".join([message.role, *pieces, ""]).encode("utf-8", "surrogatepass"))
    return texts.hexdigest(), seed


async def _under_way() -> dict[str, list[str]]:
    """The samples under way in recovered logs of this task, beside its log."""
    from inspect_ai.log import read_eval_log_async, read_eval_log_sample_summaries_async
    from inspect_ai.log._samples import sample_active

    active = sample_active()
    here = Path(active.log_location.removeprefix("file://")) if active else Path()
    logs: dict[str, list[str]] = {}
    recovered = sorted(here.parent.glob("*-recovered.eval")) if here.is_file() else []
    task = (await read_eval_log_async(str(here), header_only=True)).eval.task_id if recovered else ""
    for file in recovered:
        if (await read_eval_log_async(str(file), header_only=True)).eval.task_id == task:
            for summary in await read_eval_log_sample_summaries_async(str(file)):
                if summary.error:
                    logs.setdefault(str(summary.id), []).append(str(file))
    return logs


ANSWERS = "answers"
"""Key of a log sample's metadata: its answers, in `JournalEntry`'s form."""
STIMULUS = "stimulus"
"""Key of a log sample's metadata: the task and the position of the stimulus in its part."""
PROMPTS = "prompts"
"""Key of a log sample's metadata: the hash of its prompts."""
SCHEMAS = "schemas"
"""Note of a journal, and key of a log sample's metadata: `RunAsking.schemas`."""
_GREETING, _WORD = "Say hello.", "marigold"
Repair = Callable[[Ask, str], str]
REPAIRS = 2
"""Greatest number of repairs of an answer."""
_NOTES = {
    TOO_LONG: "of {}. It is unusable; others like it too.",
    "max_tokens": "was cut off at its greatest length. Where many are, as of a model that thinks, a run needs "
    "-M max_tokens=8192 from its first answer on: another --out.",
}
"""End of an answer -> the words on the first one."""
ATTEMPTS, PATIENCE = 3, 25
"""Defaults of `RunAsking`."""
_FEW = 3
"""Failures in a row, with no other request under way, after which a model must show that it still answers."""
_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EFBIG)
_JOURNAL = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)


@dataclass
class RunAsking:
    """The asking of a run; one object for all its stimuli.

    Args:
        journal: store of fates; None: Inspect's log alone.
        seed: seed of the run; None leaves the provider's own.
        attempts: attempts at a request whose failure the engine does not retry.
        patience: failures in a row after which the model must show that it still answers, or counts as silent; None: a
            failure says nothing of the next request.
        repair: (request, answer) -> message to the model if its answer cannot be read, else ''.
        closes: whether to close the model's connections at the end.
        left: requests of the run without a fate; None if unknown.
        schemas: whether the server keeps to a JSON schema in a request with choices; None: to be found.
    """

    parts: Mapping[str, TaskStimuli]
    journal: Journal | None = None
    seed: int | None = None
    attempts: int = ATTEMPTS
    patience: int | None = PATIENCE
    repair: Repair | None = None
    done: Callable[[JournalEntry], None] = lambda answer: None
    closes: bool = False
    left: int | None = None
    schemas: bool | None = None
    stopped: RunError | None = field(default=None, init=False)
    """Reason for the early end of the run."""
    prompts: str = field(default="0" * 64, init=False)
    """Hash of all prompts so far (`asks.prompts_hash`)."""
    harvest: Harvest = field(default_factory=Harvest, init=False)
    """Answers of an earlier start that was killed, where Inspect goes on without a journal."""
    _silent: list[JournalEntry] = field(default_factory=list, init=False)
    """Failures since the last answer."""
    _known: Request | None = field(default=None, init=False)
    """A request that the model has answered."""
    _open: int = field(default=0, init=False)
    """Requests under way."""
    _closing: Any = field(default=None, init=False)
    """Task that closes the model's connections."""
    _probing: bool = field(default=False, init=False)
    _told: set[str] = field(default_factory=set, init=False)
    """Ends of answers that the user knows of (`_NOTES`)."""
    _finding: Any = field(default=None, init=False)
    """Lock of the one that finds `schemas`."""

    async def solve(self, state: TaskState) -> TaskState:
        """Ask all about a sample's stimulus, and leave the answers in the sample's metadata."""
        from inspect_ai.model import ModelOutput, get_model

        place = state.metadata[STIMULUS]
        part = self.parts[place["task"]]
        shown = part.read(place["position"])
        if self.closes:
            self._close_with_loop(get_model())
        if self.journal is None:
            await self.harvest.read(str(state.sample_id))
        answers = await self.ask_all(get_model(), shown, part)
        state.metadata[ANSWERS] = [compact(answer) for answer in answers]
        state.metadata[PROMPTS] = prompts_hash(shown.asks)
        if self.schemas is not None:
            state.metadata[SCHEMAS] = self.schemas
        self.prompts = add_hashes((self.prompts, state.metadata[PROMPTS]))
        only = answers[0] if len(answers) == 1 else None
        text = summary(answers) if only is None else only.response or f"{only.fate}: {only.reason}"
        state.output = ModelOutput.from_content(str(state.model), text)
        state.messages.append(state.output.message)
        return state

    def _close_with_loop(self, model: Model) -> None:
        """Leave a task that closes the model's connections when asyncio's event loop ends: Inspect closes none."""
        import asyncio

        if self._closing is None:
            with suppress(RuntimeError):
                self._closing = asyncio.get_running_loop().create_task(_close_at_end(model))

    async def ask_all(self, model: Model, shown: ReadStimulus, part: TaskStimuli) -> list[JournalEntry]:
        """The answers to all requests of a stimulus, in order; those of an earlier start are the journal's."""
        import anyio

        answers = [self.journal.get(ask.key) if self.journal else None for ask in shown.asks]
        for ask, answer in zip(shown.asks, answers, strict=True):
            if answer is not None and answer.prompt_hash != prompt_hash(ask):
                self.stopped = self._changed(ask)
                raise self.stopped
        requests = [Request(model, ask, shown.images, part) for ask in shown.asks]
        answered = (request for request, answer in zip(requests, answers, strict=True) if is_answered(answer))
        self._known = self._known or next(answered, None)

        async def one(place: int) -> None:
            answers[place] = await self.ask(requests[place])

        async with anyio.create_task_group() as group:
            for place, answer in enumerate(answers):
                if answer is None:
                    group.start_soon(one, place)
        return [answer for answer in answers if answer is not None]

    async def ask(self, request: Request) -> JournalEntry:
        """One request to its fate, which is in the journal on return. RunError MODEL_SILENT ends the run."""
        started = time.monotonic()
        self._open += 1
        try:
            answer = await self._readable(request)
        except RunError as error:
            self.stopped = self.stopped or _at_item(error, request.ask)
            raise self.stopped from error
        except FailedError as failed:
            answer = JournalEntry(*request.ask.key, "failed", None, failed.reason)
        finally:
            self._open -= 1
        answer = replace(
            answer,
            attempts=request.attempts,
            input_tokens=request.input,
            output_tokens=request.output,
            seconds=round(time.monotonic() - started, 3),
            prompt_hash=prompt_hash(request.ask),
        )
        if is_answered(answer):
            self._known = request
        await self._keep(answer)
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
                with writing(self.journal.file):
                    for answer in self._silent:
                        self.journal.put(answer)
            except RunError as error:
                self.stopped = error
                raise
        self._silent.clear()

    async def _keep(self, answer: JournalEntry) -> None:
        """Put a fate into the journal. A failure waits until the model answers again; else the next start repeats it.

        Lasting failures gather at the end of a run, so the model is then asked for something that it has answered.
        A model that has never answered has only its patience.
        """
        if self.left is not None:
            self.left -= 1
        self._silent.append(answer)
        if answer.fate != "failed" or self.patience is None:
            self.finish()
        elif not self._probing and self._doubtful():
            self._probing = True
            answers = await self._answers()
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

    async def _answers(self) -> bool:
        """Whether the model still answers a request that it has answered before."""
        if self._known is None:
            return False
        try:
            await self._send(self._known, [self._known.message()])
        except FailedError:
            return False
        return True

    async def _readable(self, request: Request) -> JournalEntry:
        """The first readable answer, or the last one; a model that repeats itself is not asked further."""
        answer, part = await self._read(request), request.part
        unread: list[str] = []
        while answer.response is not None and not part.readable(request.ask, answer.response):
            if answer.response in unread or len(unread) >= part.unreadable_again:
                break
            unread.append(answer.response)
            try:
                answer = await self._read(request, len(unread))
            except FailedError:
                break
        return answer

    async def _read(self, request: Request, anew: int = 0) -> JournalEntry:
        """The answer after a bounded number of repairs."""
        from inspect_ai.model import ChatMessageAssistant, ChatMessageUser

        ask = request.ask
        messages: list[ChatMessage] = [request.message()]
        for again in range(REPAIRS + 1):
            answer = answer_of(ask, await self._send(request, messages, anew))
            if answer.stop in _NOTES and answer.stop not in self._told:
                self._told.add(answer.stop)
                note = _NOTES[answer.stop].format(answer.reason)
                typer.echo(plain(f"Note: {ask.task}, {ask.id}: an answer {note}"), err=True)
            if self.repair is None or answer.response is None or again == REPAIRS:
                break
            repeated = self.repair(ask, answer.response)
            if not repeated:
                break
            messages = [messages[0], ChatMessageAssistant(content=answer.response), ChatMessageUser(content=repeated)]
        return answer

    async def _send(self, request: Request, messages: list[ChatMessage], anew: int = 0) -> ModelOutput:
        """The model's output after the engine's retries and ours; a request sent anew has its own seed. FailedError."""
        from inspect_ai.model import GenerateConfig
        from inspect_ai.util import LimitExceededError
        from tenacity import RetryError

        config, model, ask = GenerateConfig(), request.model, request.ask
        if self.seed is not None:
            config.seed = ask_seed(self.seed, *ask.key) ^ anew
        if ask.choices and await self._schemas(model):
            config.response_schema = schema_of(ask.choices)
        last = ""
        for _ in range(self.attempts):
            request.attempts += 1
            try:
                output = self.harvest.take(messages, config.seed) or await model.generate(messages, config=config)
            except (LimitExceededError, RunError):
                raise
            except Exception as error:  # noqa: BLE001 - any failure of a provider is a fate of the request
                last = reason_of(error)
                request.add_failed(error)
                if isinstance(error, RetryError):
                    break
                continue
            request.add(output)
            if not (fault := fault_of(output)):
                return output
            last = storable(" ".join(fault.split())[:400])
        raise FailedError(last)

    async def _schemas(self, model: Model) -> bool:
        """`schemas`, found by the first request that needs it. RunError MODEL_SILENT ends the run."""
        import anyio

        self._finding = self._finding or anyio.Lock()
        async with self._finding:
            if self.schemas is None:
                self.schemas = await keeps_schemas(model)
                if self.journal is not None:
                    self.journal.renote(SCHEMAS, json.dumps(self.schemas))
        return self.schemas


def schema_of(choices: Sequence[str]) -> ResponseSchema:
    """The schema of a JSON object whose field `answer` is one of the choices."""
    from inspect_ai.model import ResponseSchema
    from inspect_ai.util import JSONSchema

    answer = {"answer": JSONSchema(type="string", enum=[*choices])}
    shape = JSONSchema(type="object", properties=answer, required=["answer"], additionalProperties=False)
    return ResponseSchema(name="answer", json_schema=shape, description="The answer", strict=True)


async def keeps_schemas(model: Model) -> bool:
    """Whether a server keeps to a schema: greeted, the model then gives the word that the schema alone names.

    A server that fails with a schema twice, and not without one, keeps to none. RunError MODEL_SILENT if it fails then.
    """
    from inspect_ai.model import GenerateConfig

    for shape in (schema_of([_WORD]), None, schema_of([_WORD])):
        try:
            output = await model.generate(_GREETING, config=GenerateConfig(response_schema=shape))
            if shape is not None:
                return bool(json.loads(output.completion) == {"answer": _WORD})
        except RunError:
            raise
        except ValueError:  # no JSON, or a model on this machine that heeds no schema
            return False
        except Exception as error:
            if shape is None:
                mend = "see that the model can be reached, then run the same command again"
                raise RunError("MODEL_SILENT", str(model), reason_of(error), "an answer to a greeting", mend) from error
    return False


async def _close_at_end(model: Model) -> None:
    import anyio

    try:
        await anyio.sleep_forever()
    finally:
        with anyio.CancelScope(shield=True):
            await model.api.aclose()


def _at_item(error: RunError, ask: Ask) -> RunError:
    where = f"{error.where}, task {ask.task}, item {ask.id}, sample {ask.sample}"
    return RunError(error.code, where, error.what, error.expected, error.mend)


def prompt_hash(ask: Ask) -> str:
    """Hash of a request's prompt: 16 hexadecimal digits."""
    return hashlib.sha256(ask.prompt.encode()).hexdigest()[:16]


@contextmanager
def writing(place: Path) -> Iterator[None]:
    """RunError RUN_INCOMPLETE if workings cannot be written at `place`: a disk that is full, broken or read-only."""
    try:
        yield
    except (OSError, sqlite3.OperationalError) as error:
        is_full = getattr(error, "errno", None) in _DISK
        if not is_full and getattr(error, "sqlite_errorcode", 0) & 0xFF not in _JOURNAL:
            raise
        mend = "make room there, then run the same command again; what was answered is kept"
        raise RunError("RUN_INCOMPLETE", str(place), f"{error}", "a disk that can be written to", mend) from error
