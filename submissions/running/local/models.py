"""Models on this machine that Inspect cannot run by itself: those that see, and the user's own code.

    local/ID_OR_FOLDER[@REVISION]    a chat model of transformers, with or without eyes
                                     -M device=cuda:1  -M dtype=float16  -M batch=16
    python/MODULE:FUNCTION           the user's own code, a function of a module or of a file: python/./mine.py:answer

        def answer(prompt, images):  # a text, and a list of PIL images
            return "nurse"           # None if the model refused

A function that has parameters `temperature`, `top_p`, `max_tokens` or `seed` gets these too; None is what nobody set.
It is called once at a time.

Importing this module makes both known to Inspect. Inspect's own `hf/` runs language models alone, pads a prompt as its
neighbours need it, and draws with no regard to a request's seed; with `local/`, an answer depends on its request.
"""

from __future__ import annotations

import base64
import inspect
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING, Any

import anyio
from anyio.to_thread import run_sync
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

from fairspace.submissions.running.errors import RunError
from fairspace.submissions.running.local.own_code import find_function

if TYPE_CHECKING:
    from PIL.Image import Image

    from fairspace.submissions.running.local.chat import Choice, LocalChat, Prepared, Said

MAX_TOKENS = 2048
"""Of an answer, where nobody says otherwise."""
_FORM = "python/MODULE:FUNCTION, or python/./FILE.py:FUNCTION"
_UNHEEDED = ("stop_seqs", "frequency_penalty", "presence_penalty", "logit_bias", "num_choices", "response_schema")
_OWN = ("temperature", "top_p", "max_tokens", "seed")


@dataclass(eq=False)
class _Waiting:
    """A request that waits for its batch."""

    prompt: Prepared
    seed: int
    choice: Choice
    said: Said | None = None


class LocalAPI(ModelAPI):
    """Inspect's way to `LocalChat`: requests that wait at the same time share batches.

    Args:
        model_name: folder or ID[@REVISION].
        base_url: none; Inspect gives it.
        api_key: none; Inspect gives it.
        config: of the run.
        arguments: of `LocalChat`.
    """

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008 - as Inspect calls it
        **arguments: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        # Inspect opens a model that it knows nothing of a second time, to see what it is, weights and all.
        set_model_info(f"local/{model_name}", ModelInfo(model=model_name))
        from fairspace.submissions.running.local.chat import LocalChat

        self.chat: LocalChat = LocalChat(model_name, **arguments)
        self._waiting: list[_Waiting] = []
        self._turn = anyio.Lock()

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        """The answer to a chat."""
        from fairspace.submissions.running.local.chat import Choice

        _check(tools, config)
        choice = Choice(config.max_tokens or MAX_TOKENS, config.temperature, config.top_p, config.top_k)
        turns = [{"role": message.role, "content": _parts(message)} for message in input]
        prompt = await run_sync(self.chat.prepare, turns)
        seed = secrets.randbits(63) if config.seed is None else config.seed
        mine = _Waiting(prompt, seed, choice)
        self._waiting.append(mine)
        try:
            async with self._turn:
                if mine.said is None:
                    await self._answer(mine)
        finally:
            self._waiting.remove(mine)
        assert mine.said is not None
        stop: StopReason = "stop" if mine.said.ended else "max_tokens"
        usage = ModelUsage(
            input_tokens=prompt.tokens,
            output_tokens=mine.said.tokens,
            total_tokens=prompt.tokens + mine.said.tokens,
        )
        return _output(self.model_name, mine.said.text, stop, usage)

    async def _answer(self, mine: _Waiting) -> None:
        """Answer this request, and those that wait and can share its batch."""
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
        for each, said in zip(batch, answers, strict=True):
            each.said = said

    def max_tokens(self) -> int | None:
        """Of an answer, where nobody says otherwise."""
        return MAX_TOKENS


class PythonAPI(ModelAPI):
    """Inspect's way to a function of the user's.

    Args:
        model_name: MODULE:FUNCTION, or FILE.py:FUNCTION.
        base_url: none; Inspect gives it.
        api_key: none; Inspect gives it.
        config: of the run.

    Errors: RunError MODEL_UNKNOWN if there is no such function.
    """

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008 - as Inspect calls it
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        set_model_info(f"python/{model_name}", ModelInfo(model=model_name))
        self._function = find_function(model_name, where=f"python/{model_name}", form=_FORM).function
        self._takes = _takes(self._function)
        self._turn = anyio.Lock()

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        """What the function returns. RunError MODEL_OUTPUT if that is neither text nor None."""
        _check(tools, config)
        turns = [(message.role, _parts(message)) for message in input]
        texts = [(role, "\n".join(part["text"] for part in parts if "text" in part)) for role, parts in turns]
        prompt = texts[0][1] if len(texts) == 1 else "\n\n".join(f"{role}: {text}" for role, text in texts)
        images = [part["image"] for _, parts in turns for part in parts if "image" in part]
        given = {name: getattr(config, name) for name in self._takes}
        async with self._turn:
            said = await run_sync(partial(self._function, prompt, images, **given))
        if said is not None and not isinstance(said, str):
            problem, mend = f"a {type(said).__name__}", "correct the function, then run again with --again"
            raise RunError("MODEL_OUTPUT", self.model_name, problem, "a text, or None for a refusal", mend)
        stop: StopReason = "content_filter" if said is None else "stop"
        return _output(self.model_name, said or "", stop, None)


def _takes(function: Callable[..., Any]) -> tuple[str, ...]:
    """Which settings a function asks for."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):  # of code that is not Python's
        return ()
    return tuple(name for name in _OWN if name in parameters)


def _check(tools: list[ToolInfo], config: GenerateConfig) -> None:
    """ValueError if something is asked for that would be left out without a word."""
    unheeded = [name for name in _UNHEEDED if getattr(config, name, None) is not None]
    if tools or unheeded:
        raise ValueError(f"a local model does not heed {', '.join(unheeded) or 'tools'}; leave it out")


def _parts(message: ChatMessage) -> list[dict[str, Any]]:
    """A message's content as chat templates take it."""
    content = message.content
    return [{"type": "text", "text": content}] if isinstance(content, str) else [_part(piece) for piece in content]


def _part(piece: Any) -> dict[str, Any]:
    if isinstance(piece, ContentText):
        return {"type": "text", "text": piece.text}
    if isinstance(piece, ContentImage):
        return {"type": "image", "image": _image(piece.image)}
    raise ValueError(f"a local model takes texts and images, no {type(piece).__name__}")


def _image(uri: str) -> Image:
    """The image of a data URI."""
    from PIL import Image

    head, _, data = uri.partition(",")
    if not (head.startswith("data:image/") and head.endswith(";base64")):
        raise ValueError(f"an image as {uri[:40]!r}, not as a data URI")
    return Image.open(BytesIO(base64.b64decode(data))).convert("RGB")


def _output(model: str, text: str, stop: StopReason, usage: ModelUsage | None) -> ModelOutput:
    message = ChatMessageAssistant(content=text, model=model, source="generate")
    return ModelOutput(model=model, choices=[ChatCompletionChoice(message=message, stop_reason=stop)], usage=usage)


@modelapi(name="local")
def _local() -> type[ModelAPI]:
    return LocalAPI


@modelapi(name="python")
def _python() -> type[ModelAPI]:
    return PythonAPI
