"""Descriptions of images for GENRES, written by a language model or read from a file of its answers.

GENRES asks GPT-4o with the template of Figure 9 for five descriptions per element, in the form
`[start]prompt1[end][start]prompt2[end]...` (appendix B.2, step 1). Any OpenAI-compatible endpoint will do.
"""

import json
import os
import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from fairspace.builders.engine.build import file_hash
from fairspace.builders.errors import BuildError
from fairspace.builders.models import weights

KEY = "OPENAI_API_KEY"
"""Environment variable of an endpoint's key."""
_HERE = ("localhost", "127.0.0.1", "::1")


def may_know_key(url: str) -> bool:
    """Whether a key is sent to an address: over https, or to this machine, alone."""
    address = urlsplit(url)
    return address.scheme == "https" or address.hostname in _HERE


def open_endpoint(url: str, key: str, timeout: float, retries: int) -> Any:
    """OpenAI's client for an endpoint; the key goes only where it may. It needs the package openai."""
    import openai

    # Servers of one's own want no key, but the client wants one.
    key = (key if may_know_key(url) else "") or "none"
    return openai.OpenAI(base_url=url, api_key=key, timeout=timeout, max_retries=retries)


DESCRIPTIONS = 5
"""GENRES, figure 9: "Please generate 5 different prompts"."""
_ONE = re.compile(r"\[start\](.*?)\[end\]", re.DOTALL)


def parse(answer: str) -> list[str]:
    """The descriptions of an answer in the form of Figure 9. ValueError for a wrong number, other text, or repeats."""
    texts = _ONE.findall(answer)
    if around := _ONE.sub("", answer).strip():
        raise ValueError(f"text outside of [start]...[end]: {around[:80]!r}")
    if any("[start]" in text or "[end]" in text for text in texts):
        raise ValueError("a [start] inside of a description")
    return _checked(texts)


class EndpointDescriber:
    """Asks a model behind an OpenAI-compatible endpoint. The key is read from OPENAI_API_KEY.

    Args:
        temperature: sampling temperature; None leaves it to the endpoint. The paper states none.
        retries: repeats of a failed request (429, 5xx, no connection), after growing pauses or the endpoint's.
        asks: tries in all while answers do not have the form; BuildError TOOL_OUTPUT after them.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        temperature: float | None = None,
        timeout: float = 120,
        retries: int = 5,
        asks: int = 3,
    ) -> None:
        weights.need("openai", "build", model)
        self.url, self.model = url, model
        self.temperature, self.timeout, self.retries, self.asks = temperature, timeout, retries, asks

    @property
    def name(self) -> str:
        """Model, host and settings; no key."""
        heat = "" if self.temperature is None else f" temperature {self.temperature:g}"
        return f"{self.model} at {urlsplit(self.url).hostname}{heat}"

    def describe(self, element: str, prompt: str) -> list[str]:
        """The descriptions for an element's images; `prompt` asks for them."""
        wrong = ""
        for _ in range(self.asks):
            answer = self._ask(element, prompt)
            try:
                return parse(answer)
            except ValueError as error:
                wrong = f"{error}"
        what = f"{self.asks} answers of {self.model} without the form; the last has {wrong}"
        expected = f"{DESCRIPTIONS} times [start]description[end] and nothing else"
        mend = "run again, name another model, or write the descriptions into a file and name it as file:PATH"
        raise BuildError("TOOL_OUTPUT", element, what, expected, mend)

    @cached_property
    def _client(self) -> Any:
        return open_endpoint(self.url, os.environ.get(KEY, ""), self.timeout, self.retries)

    def _ask(self, element: str, prompt: str) -> str:
        import openai

        more: dict[str, Any] = {} if self.temperature is None else {"temperature": self.temperature}
        messages = [{"role": "user", "content": prompt}]
        try:
            answer = self._client.chat.completions.create(model=self.model, messages=messages, **more)
        except openai.APIError as error:
            mend = {
                401: "set OPENAI_API_KEY to a key of this endpoint",
                403: "set OPENAI_API_KEY to a key of this endpoint",
                404: "check the address (it often ends with /v1) and the model's name",
            }.get(getattr(error, "status_code", 0), "run again later: it goes on where it stopped")
            fault = f"{type(error).__name__}: {error}"[:300]
            raise BuildError("TOOL_OUTPUT", f"{element}, asked of {self.name}", fault, "an answer", mend) from error
        return (answer.choices[0].message.content or "") if answer.choices else ""


class FileDescriber:
    """Descriptions from a JSONL file: a line `{"element": id, "descriptions": [...]}` per element.

    Errors: BuildError TOOL_MISSING without the file; TOOL_OUTPUT, with file and line, for a wrong line or an absent
    element.
    """

    def __init__(self, file: Path | str) -> None:
        self.file = Path(file).expanduser()
        if not self.file.is_file():
            mend = "name a file of descriptions, or an endpoint as endpoint:URL#MODEL"
            raise BuildError("TOOL_MISSING", str(file), "no such file", "descriptions as JSON lines", mend)

    @cached_property
    def name(self) -> str:
        """The file's hash."""
        return f"file {self.file.name} (sha256 {file_hash(self.file)[:16]})"

    def describe(self, element: str, prompt: str) -> list[str]:
        """The descriptions for an element's images; `prompt` is ignored."""
        texts = self._descriptions.get(element)
        if texts is None:
            expected, mend = f'a line {{"element": "{element}", ...}}', "add it"
            raise BuildError("TOOL_OUTPUT", str(self.file), f"no descriptions of {element}", expected, mend)
        return list(texts)

    @cached_property
    def _descriptions(self) -> dict[str, list[str]]:
        by_element: dict[str, list[str]] = {}
        for number, line in enumerate(self.file.read_text(encoding="utf-8").splitlines(), 1):
            if not line.strip():
                continue
            try:
                data = json.loads(line)
                if not isinstance(data, dict) or not isinstance(data.get("element"), str):
                    raise ValueError("no element")
                element, texts = data["element"], data.get("descriptions")
                if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
                    raise ValueError("no list of descriptions")
                if element in by_element:
                    raise ValueError(f"{element} for the second time")
                by_element[element] = _checked(texts)
            except ValueError as error:
                expected = f'{{"element": id, "descriptions": [{DESCRIPTIONS} different texts]}}, once per element'
                where, mend = f"{self.file}:{number}", "correct the line"
                raise BuildError("TOOL_OUTPUT", where, f"{error}", expected, mend) from error
        return by_element


def _checked(texts: Sequence[str]) -> list[str]:
    texts = [" ".join(text.split()) for text in texts]
    if len(texts) != DESCRIPTIONS:
        raise ValueError(f"{len(texts)} descriptions")
    if not all(texts):
        raise ValueError("an empty description")
    if len(set(texts)) != DESCRIPTIONS:
        raise ValueError("a description for the second time")
    return texts
