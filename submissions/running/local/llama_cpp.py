"""A GGUF file run by llama.cpp (package xllamacpp): a server on a loopback port for each core, with one thread.

Threads that share a prompt wait for each other without sleeping, and stand still if others use the same cores.
Nothing is kept between prompts, so an answer depends on its own request alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import httpx
import orjson
import psutil

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
from fairspace.submissions.running.local.found import CONVERT, FoundWeights

PACKAGE = "xllamacpp"
_LONGEST = 8192
"""Default bound on tokens of context: memory for all of them is taken at once."""
_SAMPLERS = {"top_k": ("top_k", 40), "top_p": ("top_p", 0.95), "temperature": ("temp", 0.8)}
"""Setting -> its name in a file, and llama.cpp's default where the file states none; in the order of use."""
_PATIENCE = 3600.0
"""Seconds for a block, and for the prompt before it."""
_BLOCK = 16
"""Tokens requested at a time; between two blocks an answer can be ended and its progress be told."""


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
        sampling: `_SAMPLERS` -> the model's default.
    """

    context: int
    template: str
    row: int
    size: int
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
        threads: threads, each with a prompt and a copy of the model; 0 is `FileFacts.threads`.
        context: tokens of prompt and answer together; 0 is the model's own, at most 8 192.

    Errors: RunError MODEL_UNKNOWN if llama.cpp cannot open it.
    """

    engine = f"llama.cpp ({PACKAGE} {version(PACKAGE)})"
    dtype = "of the file"
    batch = 1
    schemas = ends_loops = True

    def __init__(self, source: FoundWeights, named: str, *, threads: int = 0, context: int = 0) -> None:
        self.named, self.source = named, source
        path = Path(source.where) / source.file
        try:
            about = about_file(path)
            self.context = context or min(about.context, _LONGEST)
            self.turns = threads or about.threads(self.context)
            """Prompts at a time."""
            self._servers = [_start(path, self.context) for _ in range(self.turns)]
        except (ValueError, KeyError, OSError, RuntimeError) as error:
            what = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
            raise RunError("MODEL_UNKNOWN", named, what, "a file that llama.cpp can open", CONVERT) from error
        # A server closes a connection after a few requests: each has its own.
        alone = httpx.Limits(max_keepalive_connections=0)
        self._clients = [
            httpx.Client(base_url=server.listening_address, timeout=_PATIENCE, limits=alone, trust_env=False)
            for server in self._servers
        ]
        self._free = SimpleQueue[httpx.Client]()
        for client in self._clients:
            self._free.put(client)
        self.template = bool(about.template)
        """Whether prompts go through a chat template; else they are texts to be completed."""
        self.sampling = about.sampling
        ends = self._tokens(self._clients[0].get("/props").raise_for_status().json()["eos_token"])
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
        return PromptTokens(
            tuple(self._tokens(_post(self._clients[0], "/apply-template", {"messages": texts})["prompt"]))
        )

    def is_greedy(self, choice: Choice) -> bool:
        """Whether the likeliest token is always chosen."""
        return not choice.temperature

    def alike(self, prepared: PromptTokens) -> tuple[Any, ...]:
        """A key that prompts of one batch share; always ()."""
        return ()

    def answer(self, prompts: Sequence[PromptTokens], seeds: Sequence[int], choice: Choice) -> list[Said]:
        """An answer to each prompt; at most `turns` threads may call it at the same time.

        Seeds are not used in greedy decoding. A temperature of None is 0; stories are asked with `sampling`.
        """
        client = self._free.get()
        try:
            return [self._answer(client, prompt, seed, choice) for prompt, seed in zip(prompts, seeds, strict=True)]
        finally:
            self._free.put(client)

    def _answer(self, client: httpx.Client, prompt: PromptTokens, seed: int, choice: Choice) -> Said:
        begun = begins_thinking(prompt.ids, self._marks)
        ending = Ending(choice, self._marks, self._decode, self.context - prompt.tokens, begun)
        while ending.reason is None:
            ending.take(self._block(client, prompt, ending.tokens, seed, choice))
        return ending.said()

    def _block(
        self, client: httpx.Client, prompt: PromptTokens, said: Sequence[int], seed: int, choice: Choice
    ) -> list[int]:
        """The next tokens of an answer, `_BLOCK` at most; a stream would omit tokens within a character."""
        most = choice.max_tokens - len(said)
        most = most if choice.schema else min(_BLOCK, most)  # each block begins the grammar anew
        asked = {
            "prompt": [*prompt.ids, *said],
            "n_predict": min(most, self.context - prompt.tokens - len(said)),
            "cache_prompt": bool(said),
            "return_tokens": True,
            "samplers": [*_SAMPLERS],
            "temperature": choice.temperature or 0.0,
            "top_p": 1.0 if choice.top_p is None else choice.top_p,
            "top_k": choice.top_k or 0,
            "seed": (seed + len(said)) % 2**32,
        }
        if choice.schema:
            asked["json_schema"] = orjson.loads(choice.schema)
        answer = _post(client, "/completion", asked)
        if answer["stop_type"] != "eos":
            return [*answer["tokens"]]
        said = answer["tokens"][: -1 if choice.schema else None]  # a grammar may end with any token that ends texts
        return [*said, self._end]

    def _tokens(self, text: str, *, begin: bool = False) -> list[int]:
        asked = {"content": text, "add_special": begin, "parse_special": not begin}
        tokens: list[int] = _post(self._clients[0], "/tokenize", asked)["tokens"]
        return tokens

    def _token_of(self, text: str) -> int | None:
        ids = self._tokens(text)
        return ids[0] if len(ids) == 1 else None

    def _decode(self, tokens: Sequence[int]) -> str:
        text: str = _post(self._clients[0], "/detokenize", {"tokens": [*tokens]})["content"]
        return text


def about_file(path: Path) -> FileFacts:
    """The statements of a file; ValueError or KeyError if it says too little."""
    from gguf import GGUFReader

    fields = GGUFReader(path).fields

    def stated(name: str, default: Any = None) -> Any:
        field = fields.get(name)
        return default if field is None else field.contents()

    kind = stated("general.architecture")
    heads = stated(f"{kind}.attention.head_count", 1)
    kept = stated(f"{kind}.attention.head_count_kv", heads)
    most = max(kept) if isinstance(kept, list) else kept
    width = stated(f"{kind}.attention.key_length") or stated(f"{kind}.embedding_length") // heads
    halves = 2 * stated(f"{kind}.block_count") * most * width
    template = stated("tokenizer.chat_template", "")
    sampling = {name: stated(f"general.sampling.{theirs}", value) for name, (theirs, value) in _SAMPLERS.items()}
    context = stated(f"{kind}.context_length", _LONGEST)
    return FileFacts(context, template, 2 * halves, path.stat().st_size, sampling)


def _start(path: Path, context: int) -> Any:
    """A server with the model. RuntimeError if it cannot be opened."""
    import xllamacpp

    about = xllamacpp.CommonParams()
    about.model.path = str(path)
    about.n_ctx, about.n_parallel, about.cache_ram_mib = context, 1, 0
    about.verbosity, about.warmup, about.endpoint_props = -1, False, True
    about.cpuparams.n_threads = about.cpuparams_batch.n_threads = 1
    return xllamacpp.Server(about)


def _post(client: httpx.Client, path: str, content: Mapping[str, Any]) -> Any:
    return client.post(path, content=orjson.dumps(content)).raise_for_status().json()
