"""Descriptions of images for GENRES, written by a language model or read from a file of its answers.

GENRES asks GPT-4o with the template of Figure 9 for five descriptions per element, in the form
`[start]prompt1[end][start]prompt2[end]...` (appendix B.2, step 1). Any OpenAI-compatible endpoint will do.
"""

from __future__ import annotations

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

DESCRIPTIONS = 5
"""GENRES, figure 9: "Please generate 5 different prompts"."""
_ONE = re.compile(r"\[start\](.*?)\[end\]", re.DOTALL)


def parse(answer: str, count: int = DESCRIPTIONS) -> list[str]:
    """The descriptions of an answer in the form of Figure 9. ValueError for a wrong number, other text, or repeats."""
    texts = [" ".join(text.split()) for text in _ONE.findall(answer)]
    if around := _ONE.sub("", answer).strip():
        raise ValueError(f"text outside of [start]...[end]: {around[:80]!r}")
    if any("[start]" in text or "[end]" in text for text in texts):
        raise ValueError("a [start] inside of a description")
    return _checked(texts, count)


class EndpointDescriber:
    """Asks a model behind an OpenAI-compatible endpoint. The key is read from OPENAI_API_KEY.

    Args:
        url: address, such as `https://api.openai.com/v1`.
        count: descriptions per element.
        temperature: sampling temperature; None leaves it to the endpoint. The paper states none.
        timeout: seconds for one answer.
        retries: repeats of a failed request (429, 5xx, no connection), after growing pauses or the endpoint's.
        asks: tries in all while answers do not have the form; BuildError TOOL_OUTPUT after them.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        count: int = DESCRIPTIONS,
        temperature: float | None = None,
        timeout: float = 120,
        retries: int = 5,
        asks: int = 3,
    ) -> None:
        weights.need("openai", "build", model)
        self.url, self.model, self.count = url, model, count
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
                return parse(answer, self.count)
            except ValueError as error:
                wrong = f"{error}"
        raise BuildError(
            "TOOL_OUTPUT",
            element,
            f"{self.asks} answers of {self.model} without the form; the last has {wrong}",
            f"{self.count} times [start]description[end] and nothing else",
            "run again, name another model, or write the descriptions into a file and name it as file:PATH",
        )

    @cached_property
    def _client(self) -> Any:
        import openai

        # Servers of one's own want no key, but the client wants one.
        key = os.environ.get("OPENAI_API_KEY") or "none"
        return openai.OpenAI(base_url=self.url, api_key=key, timeout=self.timeout, max_retries=self.retries)

    def _ask(self, element: str, prompt: str) -> str:
        import openai

        more: dict[str, Any] = {} if self.temperature is None else {"temperature": self.temperature}
        try:
            answer = self._client.chat.completions.create(
                model=self.model, messages=[{"role": "user", "content": prompt}], **more
            )
        except openai.APIError as error:
            raise self._failed(element, error) from error
        choices = answer.choices or []
        return (choices[0].message.content or "") if choices else ""

    def _failed(self, element: str, error: Exception) -> BuildError:
        status = getattr(error, "status_code", None)
        if status in (401, 403):
            mend = "set OPENAI_API_KEY to a key of this endpoint"
        elif status == 404:
            mend = "check the address (it often ends with /v1) and the model's name"
        else:
            mend = "run again later: it goes on where it stopped"
        fault = f"{type(error).__name__}: {error}"[:300]
        return BuildError("TOOL_OUTPUT", f"{element}, asked of {self.name}", fault, "an answer", mend)


class FileDescriber:
    """Descriptions from a JSONL file: a line `{"element": id, "descriptions": [...]}` per element.

    Errors: BuildError TOOL_MISSING without the file; TOOL_OUTPUT, with file and line, for a wrong line or an absent
    element.
    """

    def __init__(self, file: Path | str, *, count: int = DESCRIPTIONS) -> None:
        self.file, self.count = Path(file).expanduser(), count
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
        with self.file.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                try:
                    element, descriptions = _line(line, self.count)
                    if element in by_element:
                        raise ValueError(f"{element} for the second time")
                except ValueError as error:
                    expected = f'{{"element": id, "descriptions": [{self.count} different texts]}}, once per element'
                    mend = "correct the line"
                    raise BuildError("TOOL_OUTPUT", f"{self.file}:{number}", f"{error}", expected, mend) from error
                by_element[element] = descriptions
        return by_element


def _line(text: str, count: int) -> tuple[str, list[str]]:
    data = json.loads(text)
    if not isinstance(data, dict) or not isinstance(data.get("element"), str):
        raise ValueError("no element")
    texts = data.get("descriptions")
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ValueError("no list of descriptions")
    return data["element"], _checked([" ".join(text.split()) for text in texts], count)


def _checked(texts: Sequence[str], count: int) -> list[str]:
    if len(texts) != count:
        raise ValueError(f"{len(texts)} descriptions")
    if not all(texts):
        raise ValueError("an empty description")
    if len(set(texts)) != count:
        raise ValueError("a description for the second time")
    return list(texts)
