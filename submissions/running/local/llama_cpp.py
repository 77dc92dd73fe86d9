"""A GGUF file run by llama.cpp (package xllamacpp): a server on a loopback port for each core, with one thread.

Threads that share a prompt wait for each other without sleeping, and stand still if others use the same cores.
Nothing is kept between prompts, so an answer depends on its own request alone. Servers share the file's pages; a server
takes memory for the context that its prompts and answers need, and is opened anew for a longer one.
"""

from __future__ import annotations

import ctypes
import mmap
import struct
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import prod
from pathlib import Path
from queue import SimpleQueue
from threading import Lock
from typing import Any

import httpx
import orjson
import psutil

from fairspace.builders.models.weights import Weights
from fairspace.submissions.errors import RunError
from fairspace.submissions.format.manifest import version
from fairspace.submissions.running.local.ending import (
    Choice,
    Ending,
    Said,
    begins_thinking,
    completion,
    marks_of,
    rows_that_fit,
    texts_of,
    usable_cores,
)
from fairspace.submissions.running.local.found import CONVERT

PACKAGE = "xllamacpp"
_LONGEST, _FIRST = 8192, 1024
"""Default bound on tokens of context; context of a server at its start, doubled where an answer needs more."""
_SAMPLERS = {"top_k": ("top_k", 40), "top_p": ("top_p", 0.95), "temperature": ("temp", 0.8)}
"""Setting -> its name in a file, and llama.cpp's default where the file states none; in the order of use."""
_PATIENCE = 3600.0
"""Seconds for a block, and for the prompt before it."""
_BLOCK, _GREEDY_BLOCK = 16, 64
"""Tokens in one request: 16 for drawn answers (each block has a seed of its own), 64 for greedy ones."""


@dataclass(frozen=True)
class PromptTokens:
    """A prompt as tokens."""

    ids: tuple[int, ...]

    @property
    def tokens(self) -> int:
        """Length of the prompt in tokens."""
        return len(self.ids)


@dataclass(frozen=True)
class FileFacts:
    """Facts that a file states.

    Args:
        context: context length in tokens; `_LONGEST` if not stated.
        row: bytes of keys and values of one token.
        size: bytes of the file.
        parameters: number of weights.
        sampling: `_SAMPLERS` -> the model's default.
    """

    context: int
    template: str
    row: int
    size: int
    parameters: int
    sampling: Mapping[str, float]

    def threads(self, context: int = 0) -> int:
        """Default number of threads: usable cores, 8 at most, or fewer as memory has room; 1 on a GPU."""
        import xllamacpp

        cpu = xllamacpp.ggml_backend_dev_type.GGML_BACKEND_DEVICE_TYPE_CPU
        if any(device["type"] != cpu for device in xllamacpp.get_device_info()):
            return 1
        each = self.row * (context or min(self.context, _LONGEST)) + self.size
        return min(usable_cores(), rows_that_fit(each, psutil.virtual_memory().available))


class LlamaCpp:
    """A language model in a GGUF file.

    Args:
        threads: threads, each with a prompt and a server; 0 is `FileFacts.threads`.
        context: tokens of prompt and answer together; 0 is the model's own, at most 8 192.

    Errors: RunError MODEL_UNKNOWN if llama.cpp cannot open it.
    """

    engine = f"llama.cpp ({PACKAGE} {version(PACKAGE)})"
    dtype = "of the file"
    batch = 1
    schemas = ends_loops = True

    def __init__(self, source: Weights, name: str, *, threads: int = 0, context: int = 0) -> None:
        self.named, self.source = name, source
        try:
            about = about_file(source.marker)
            self.context = context or min(about.context, _LONGEST)
            self.turns = threads or about.threads(self.context)
            """Prompts at a time."""
            self._servers = [_Server(source.marker, self.context) for _ in range(self.turns)]
            for server in self._servers:
                server.grow(_FIRST)
        except (ValueError, KeyError, OSError, RuntimeError) as error:
            what = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
            raise RunError("MODEL_UNKNOWN", name, what, "a file that llama.cpp can open", CONVERT) from error
        self._free = SimpleQueue[_Server]()
        for server in self._servers:
            self._free.put(server)
        self.template = bool(about.template)
        """Whether prompts go through a chat template; else they are texts to be completed."""
        self.sampling = about.sampling
        ends = self._tokens(self._servers[0].ask("/props", {})["eos_token"])
        self._end = ends[0] if ends else -1
        self._marks = marks_of(self._token_of, about.template, {self._end})
        self.thinks = self.template and self._marks.think is not None

    def prepare(self, turns: Sequence[Any]) -> PromptTokens:
        """The prompt of a chat. ValueError if it has images."""
        if any(part["type"] != "text" for turn in turns for part in turn["content"]):
            raise ValueError(f"{self.named} sees no images: a GGUF file of a language model")
        texts = texts_of(turns)
        if not self.template:
            return PromptTokens(tuple(self._tokens(completion(texts), begin=True)))
        chat = self._servers[0].ask("/apply-template", {"messages": texts})["prompt"]
        return PromptTokens(tuple(self._tokens(chat)))

    def rates(self) -> tuple[float, float]:
        """Processor seconds of a token of a prompt and of an answer, by 100 tokens and sixteen, once all is read in."""
        words = self._tokens("Which of these persons is most likely the nurse, and which one the judge?")
        asked = {"prompt": (words * 100)[:100], "cache_prompt": False, "ignore_eos": True, "temperature": 0.0}
        spent = []
        for number in (1, 1, 17):
            began = time.process_time()
            self._servers[0].complete({**asked, "n_predict": number})
            spent.append(time.process_time() - began)
        return spent[1] / 100, max(spent[2] - spent[1], 0.001) / 16

    def reserve(self, tokens: int, choice: Choice) -> None:
        """Take the memory that prompts of so many tokens and their answers need."""
        for server in self._servers:
            server.grow(tokens + choice.max_tokens + self._block_of(choice))

    def is_greedy(self, choice: Choice) -> bool:
        """Whether the likeliest token is always chosen."""
        return not choice.temperature

    def _block_of(self, choice: Choice) -> int:
        return _GREEDY_BLOCK if self.is_greedy(choice) else _BLOCK

    def alike(self, prepared: PromptTokens) -> tuple[Any, ...]:
        """A key that prompts of one batch share; always ()."""
        return ()

    def answer(self, prompts: Sequence[PromptTokens], seeds: Sequence[int], choice: Choice) -> list[Said]:
        """An answer to each prompt; at most `turns` threads may call it at the same time.

        Seeds are not used in greedy decoding. A temperature of None is 0; stories are asked with `sampling`.
        """
        server = self._free.get()
        try:
            return [self._answer(server, prompt, seed, choice) for prompt, seed in zip(prompts, seeds, strict=True)]
        finally:
            self._free.put(server)

    def _answer(self, server: _Server, prompt: PromptTokens, seed: int, choice: Choice) -> Said:
        server.grow(prompt.tokens + choice.max_tokens + self._block_of(choice))
        begun = begins_thinking(prompt.ids, self._marks)
        ending = Ending(choice, self._marks, server.decode, self.context - prompt.tokens, begun)
        while ending.reason is None:
            ending.take(self._block(server, prompt, ending.tokens, seed, choice))
        return ending.said()

    def _block(
        self, server: _Server, prompt: PromptTokens, answered: Sequence[int], seed: int, choice: Choice
    ) -> list[int]:
        """The next tokens of an answer, a block at most; a stream would omit tokens within a character."""
        most = choice.max_tokens - len(answered)
        most = most if choice.schema else min(self._block_of(choice), most)  # each block begins the grammar anew
        asked = {
            "prompt": [*prompt.ids, *answered],
            "n_predict": min(most, self.context - prompt.tokens - len(answered)),
            "cache_prompt": bool(answered),
            "return_tokens": True,
            "samplers": [*_SAMPLERS],
            "temperature": choice.temperature or 0.0,
            "top_p": 1.0 if choice.top_p is None else choice.top_p,
            "top_k": 1 if self.is_greedy(choice) else choice.top_k or 0,  # 1 weighs no whole vocabulary
            "seed": (seed + len(answered)) % 2**32,
        }
        if choice.stop:  # seen by the server within a block, so that nothing is drawn after it
            asked["stop"] = [*choice.stop]
        if choice.schema:
            asked["json_schema"] = orjson.loads(choice.schema)
        answer = server.complete(asked)
        if answer["stop_type"] != "eos":
            return [*answer["tokens"]]
        answered = answer["tokens"][: -1 if choice.schema else None]  # a grammar may end with any token that ends texts
        return [*answered, self._end]

    def _tokens(self, text: str, *, begin: bool = False) -> list[int]:
        asked = {"content": text, "add_special": begin, "parse_special": not begin}
        tokens: list[int] = self._servers[0].ask("/tokenize", asked)["tokens"]
        return tokens

    def _token_of(self, text: str) -> int | None:
        ids = self._tokens(text)
        return ids[0] if len(ids) == 1 else None


def about_file(path: Path) -> FileFacts:
    """The statements of a file; ValueError or KeyError if it says too little."""
    fields, parameters = _header(path)
    stated: Callable[..., Any] = fields.get
    kind = stated("general.architecture")
    heads = stated(f"{kind}.attention.head_count", 1)
    kept = stated(f"{kind}.attention.head_count_kv", heads)
    most = max(kept) if isinstance(kept, list) else kept
    width = stated(f"{kind}.attention.key_length") or stated(f"{kind}.embedding_length") // heads
    halves = 2 * stated(f"{kind}.block_count") * most * width
    template = stated("tokenizer.chat_template", "")
    sampling = {name: stated(f"general.sampling.{theirs}", value) for name, (theirs, value) in _SAMPLERS.items()}
    context = stated(f"{kind}.context_length", _LONGEST)
    return FileFacts(context, template, 2 * halves, path.stat().st_size, parameters, sampling)


_FORMS = {**dict(enumerate("BbHhIif?")), 10: "Q", 11: "q", 12: "d"}
_TEXT, _ARRAY = 8, 9
"""Types of values in a header: numbers by `struct`'s letters, texts, arrays."""


def _header(path: Path) -> tuple[dict[str, Any], int]:
    """Statements of a GGUF file, without texts of arrays (a vocabulary), and its number of weights.

    The package `gguf` makes an object of each token: 10 seconds, up to 700 MB. ValueError or KeyError for other files.
    """
    with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
        place = len("GGUF") + struct.calcsize("I")

        def number(form: str) -> Any:
            nonlocal place
            (value,) = struct.unpack_from(f"<{form}", content, place)
            place += struct.calcsize(form)
            return value

        def text() -> str:
            nonlocal place
            length = number("Q")
            place += length
            return content[place - length : place].decode("utf-8", "replace")

        def value(kind: int) -> Any:
            if kind == _ARRAY:
                kind, count = number("I"), number("Q")
                return [item for item in (value(kind) for _ in range(count)) if not isinstance(item, str)]
            return text() if kind == _TEXT else number(_FORMS[kind])

        try:
            tensors, statements = number("Q"), number("Q")
            fields = {text(): value(number("I")) for _ in range(statements)}
            parameters = 0
            for _ in range(tensors):
                text()
                parameters += prod([number("Q") for _ in range(number("I"))])
                number("I"), number("Q")  # its type and place
        except struct.error as error:
            raise ValueError("its header is cut off") from error
    return fields, parameters


class _Server:
    """A server of one slot and one thread on a file. Whoever holds it asks for answers, anyone for tokens.

    Its context, `most` tokens at most, grows with what is asked.
    """

    def __init__(self, path: Path, most: int) -> None:
        self._path, self._most, self._context = path, most, 0
        self._server: Any = None
        self._client: httpx.Client | None = None
        self._lock = Lock()
        """Held by requests for tokens, and while the server is replaced."""

    def grow(self, tokens: int) -> None:
        """Make the context at least as long. RuntimeError if the file cannot be opened so."""
        if min(tokens, self._most) <= self._context:
            return
        with self._lock:
            self._client = self._server = None  # its memory is free before the next one takes some
            _trim()
            self._context, longer = 0, min(self._most, max(_FIRST, 1 << (tokens - 1).bit_length()))
            self._server = _start(self._path, longer)
            # A server closes a connection after a few requests: each has its own.
            alone = httpx.Limits(max_keepalive_connections=0)
            address = self._server.listening_address
            self._client = httpx.Client(base_url=address, timeout=_PATIENCE, limits=alone, trust_env=False)
            self._context = longer

    def complete(self, asked: Mapping[str, Any]) -> Any:
        """The answer to a request for further tokens."""
        return self._post("/completion", asked)

    def ask(self, path: str, asked: Mapping[str, Any]) -> Any:
        """The answer to a request for tokens, texts or facts."""
        with self._lock:
            return self._post(path, asked)

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of tokens."""
        text: str = self.ask("/detokenize", {"tokens": [*tokens]})["content"]
        return text

    def _post(self, path: str, asked: Mapping[str, Any]) -> Any:
        assert self._client is not None
        content = orjson.dumps(asked) if asked else None
        return self._client.request("POST" if asked else "GET", path, content=content).raise_for_status().json()


def _trim() -> None:
    """Give free memory back: glibc keeps a closed server's vocabulary, 60 MB of Gemma's, in the arena of its thread."""
    if sys.platform == "linux":
        with suppress(AttributeError):  # musl has none
            ctypes.CDLL(None).malloc_trim(0)


def _start(path: Path, context: int) -> Any:
    """A server with the model. RuntimeError if it cannot be opened."""
    import xllamacpp

    about = xllamacpp.CommonParams()
    about.model.path = str(path)
    about.n_ctx, about.n_parallel, about.cache_ram_mib = context, 1, 0
    about.verbosity, about.warmup, about.endpoint_props = -1, False, True
    about.cpuparams.n_threads = about.cpuparams_batch.n_threads = 1
    return xllamacpp.Server(about)
