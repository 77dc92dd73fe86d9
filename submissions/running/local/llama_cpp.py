"""A GGUF file run by llama.cpp, where its package is installed: one prompt at a time, with its own fast kernels.

Nothing is left in memory between two prompts, so an answer depends on its own request alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairspace.submissions.format.manifest import version
from fairspace.submissions.running.errors import RunError
from fairspace.submissions.running.local import templates
from fairspace.submissions.running.local.ending import Choice, Ending, Marks, Said
from fairspace.submissions.running.local.found import CONVERT, Found

PACKAGE = "llama_cpp"
_LONGEST = 8192
"""Tokens of context at most, unless the user asks for more: memory for all of them is taken at once."""


@dataclass(frozen=True)
class Prompt:
    """A prompt as tokens."""

    ids: tuple[int, ...]

    @property
    def tokens(self) -> int:
        """Of the prompt."""
        return len(self.ids)


class LlamaCpp:
    """A language model in a GGUF file.

    Args:
        source: the file.
        named: as the user named it.
        threads: of the processor; 0 leaves it to llama.cpp.
        context: tokens of prompt and answer together; 0 is what the model was made for, at most 8 192.

    Errors: RunError MODEL_UNKNOWN if llama.cpp cannot open it.
    """

    batch = 1
    sees = False

    def __init__(self, source: Found, named: str, *, threads: int = 0, context: int = 0) -> None:
        import llama_cpp

        self.named, self.source = named, source
        path = str(Path(source.where) / source.file)
        try:
            both = threads or None  # for prompts, too, which take the most time where answers are short
            self._model: Any = llama_cpp.Llama(
                path, n_ctx=context or _LONGEST, n_threads=both, n_threads_batch=both, verbose=False
            )
        except (ValueError, OSError, RuntimeError) as error:
            what = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
            raise RunError("MODEL_UNKNOWN", named, what, "a file that llama.cpp can open", CONVERT) from error
        lengths = (int(value) for name, value in self._model.metadata.items() if name.endswith(".context_length"))
        self.context = context or min(next(lengths, _LONGEST), _LONGEST)
        self.said: Callable[[int], None] = lambda tokens: None
        """Called with how many tokens came out, as they come."""
        self._template = self._model.metadata.get("tokenizer.chat_template", "")
        self.template = bool(self._template)
        """Whether prompts go through a chat template; else they are texts to be completed."""

    @property
    def stops(self) -> tuple[str, ...]:
        """Texts at which every answer ends."""
        return () if self.template else templates.STOPS

    def facts(self) -> dict[str, str | int]:
        """What computes the answers, for a manifest."""
        return {
            "engine": f"llama.cpp (llama-cpp-python {version('llama_cpp_python')})",
            "batch": self.batch,
            "dtype": "of the file",
            "context": self.context,
            "prompt": "chat template" if self.template else "completion",
        }

    def prepare(self, turns: Sequence[Any]) -> Prompt:
        """The prompt of a chat. ValueError if it has images."""
        if any(part["type"] != "text" for turn in turns for part in turn["content"]):
            raise ValueError(f"{self.named} sees no images: a GGUF file of a language model")
        texts = templates.texts_of(turns)
        text, begin = (self._rendered(texts), False) if self.template else (templates.completion(texts), True)
        return Prompt(tuple(self._model.tokenize(text.encode(), add_bos=begin, special=self.template)))

    def is_greedy(self, choice: Choice) -> bool:
        """Whether the likeliest token is always chosen."""
        return not choice.temperature

    def alike(self, prepared: Prompt) -> tuple[Any, ...]:
        """Prompts of the same key can share a batch; none is shared."""
        return ()

    def answer(self, prompts: Sequence[Prompt], seeds: Sequence[int], choice: Choice) -> list[Said]:
        """An answer to each prompt.

        Args:
            prompts: what is asked.
            seeds: of each; not used where the likeliest token is chosen.
            choice: how tokens are chosen, and where answers end. A temperature that nobody set is 0: the file states
                none.
        """
        return [self._answer(prompt, seed, choice) for prompt, seed in zip(prompts, seeds, strict=True)]

    def _answer(self, prompt: Prompt, seed: int, choice: Choice) -> Said:
        model, marks = self._model, self._marks
        begun = templates.begins_thinking(prompt.ids, marks)
        ending = Ending(choice, marks, self._decode, self.context - prompt.tokens, begun)
        chosen = {"temp": choice.temperature or 0.0, "top_p": 1.0 if choice.top_p is None else choice.top_p}
        model.reset()
        model.set_seed(seed % 2**32)
        model.eval(prompt.ids)
        while ending.reason is None:
            token = ending.forced
            if token is None:
                token = model.sample(**chosen, top_k=choice.top_k or 0, min_p=0.0, repeat_penalty=1.0)
            ending.add(token)
            self.said(1)
            if ending.reason is None:
                model.eval([token])
        return ending.said()

    def _rendered(self, turns: Sequence[dict[str, str]]) -> str:
        from llama_cpp.llama_chat_format import Jinja2ChatFormatter

        begin, end = (self._piece(token) for token in (self._model.token_bos(), self._model.token_eos()))
        formatter = Jinja2ChatFormatter(self._template, eos_token=end, bos_token=begin)
        text: str = formatter(messages=[*turns]).prompt
        return text

    def _decode(self, tokens: Sequence[int]) -> str:
        text: bytes = self._model.detokenize([*tokens])
        return text.decode("utf-8", "replace")

    def _piece(self, token: int) -> str:
        text: bytes = self._model.detokenize([token], special=True) if token >= 0 else b""
        return text.decode("utf-8", "replace")

    @property
    def _marks(self) -> Marks:
        def token_of(text: str) -> int | None:
            ids = self._model.tokenize(text.encode(), add_bos=False, special=True)
            return ids[0] if len(ids) == 1 else None

        return templates.marks_of(token_of, self._template, {self._model.token_eos()})
