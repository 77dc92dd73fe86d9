"""ARES' L2 arbiter behind an OpenAI-compatible endpoint; images are sent to it.

A temporary failure (429, 5xx, a time-out, no connection, a body that is no chat completion) is retried a few times,
after growing pauses or those that the endpoint asks for. Then the run stops, because abstaining from all that is
escalated would change the measurement; a resumable run resumes there.
"""

from __future__ import annotations

import base64
import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from io import BytesIO
from typing import Any
from urllib.parse import urlsplit

from .asking_ares import ArbiterAsking, ArbiterError, Reply

KEY = "OPENAI_API_KEY"
"""Environment variable of the endpoint's key, sent over https, or to this machine, only."""
_FILTERED = ("content_filter", "content_policy_violation", "responsibleaipolicyviolation", "moderation_blocked")
"""Error codes for images blocked by an endpoint's filter."""
_HERE = ("localhost", "127.0.0.1", "::1")
_PAUSE = 0.5
"""Seconds before the second attempt after a body that is no chat completion; they double."""


class EndpointVlm(ArbiterAsking):
    """A vision-language model asked by chat completions, with the image as a data URL.

    Args:
        tokens: Tokens of the longest answer.
        temperature: Sampling temperature; None leaves it to the endpoint. Even at 0, most endpoints do not promise the
            same answer twice.
        side: Pixels; a larger image is reduced before it is sent, as a JPEG of quality 95.
        abstain_on_failure: Whether an image that the endpoint keeps failing on is abstained from and counted as
            `failed`, instead of stopping the run.
    Errors: ArbiterError without the package `openai`, if the endpoint refuses the key, the model or the request, and if
    it keeps failing.
    """

    def __init__(
        self,
        endpoint: str,
        model: str,
        *,
        concurrency: int = 4,
        retries: int = 5,
        timeout: float = 60,
        tokens: int = 64,
        temperature: float | None = 0.0,
        side: int = 768,
        abstain_on_failure: bool = False,
    ) -> None:
        super().__init__()
        address = urlsplit(endpoint)
        if address.scheme not in ("http", "https") or not address.hostname:
            raise ArbiterError(f"vlm: {endpoint!r} is no address. Name one like https://api.openai.com/v1")
        self.endpoint, self.model, self.concurrency, self.retries = endpoint, model, concurrency, retries
        self.timeout, self.tokens, self.temperature, self.side = timeout, tokens, temperature, side
        self.abstain_on_failure = abstain_on_failure
        self.host = address.hostname
        self._may_know_key = address.scheme == "https" or address.hostname in _HERE

    @property
    def name(self) -> str:
        """Model, host and temperature; no key."""
        heat = "" if self.temperature is None else f" temperature {self.temperature:g}"
        return f"{self.model} at {self.host}{heat}"

    def _replies(self, images: Sequence[Any], question: str) -> list[Reply]:
        client = self._client  # opened before there are threads
        with ThreadPoolExecutor(self.concurrency) as pool:
            return list(pool.map(lambda image: self._reply(client, image, question), images))

    @cached_property
    def _openai(self) -> Any:
        try:
            import openai
        except ImportError as error:
            raise ArbiterError("vlm: an endpoint needs the package openai: pip install openai") from error
        return openai

    @cached_property
    def _client(self) -> Any:
        # Servers of one's own want no key, but the client wants one.
        key = (os.environ.get(KEY) if self._may_know_key else None) or "none"
        return self._openai.OpenAI(base_url=self.endpoint, api_key=key, timeout=self.timeout, max_retries=self.retries)

    def _reply(self, client: Any, image: Any, question: str) -> Reply:
        openai = self._openai
        url = f"data:image/jpeg;base64,{base64.b64encode(jpeg(image, self.side)).decode()}"
        content = [{"type": "image_url", "image_url": {"url": url}}, {"type": "text", "text": question}]
        more: dict[str, Any] = {} if self.temperature is None else {"temperature": self.temperature}
        wrong = ""
        for attempt in range(self.retries + 1):
            if attempt:
                time.sleep(min(_PAUSE * 2 ** (attempt - 1), 8))
            try:
                answer = client.chat.completions.create(
                    model=self.model,
                    messages=[{"role": "user", "content": content}],
                    max_tokens=self.tokens,
                    **more,
                )
            except openai.APIStatusError as error:
                return self._status(error, str(getattr(error, "code", None) or ""))
            except openai.APIConnectionError as error:
                return self._failed(f"{type(error).__name__}: {error}", error)
            except (openai.APIError, ValueError) as error:
                wrong = f"{type(error).__name__}: {error}"
                continue
            choices = getattr(answer, "choices", None)
            if isinstance(choices, list) and choices and choices[0].message is not None:
                first = choices[0]
                filtered = first.finish_reason == "content_filter"
                return Reply(missing="refused") if filtered else Reply(first.message.content or "")
            wrong = "a body that is no chat completion"
        return self._failed(wrong, None)

    def _status(self, error: Any, code: str) -> Reply:
        status = int(error.status_code)
        if status in (400, 403) and code.lower() in _FILTERED:
            return Reply(missing="refused")
        if status in (408, 409, 429) or status >= 500:
            return self._failed(f"status {status}", error)
        mends = {
            401: f"set {KEY} to a key of this endpoint",
            403: f"set {KEY} to a key that may use this model",
            404: "check the address (it often ends with /v1) and the model's name",
        }
        mend = mends.get(status, "see what the endpoint says of the request")
        if status in (401, 403) and not self._may_know_key:
            mend = "name the endpoint's https address: keys are not sent over http"
        raise ArbiterError(f"vlm: {self.name} refused the request, status {status}: {error}"[:400] + f". Mend: {mend}")

    def _failed(self, what: str, error: Exception | None) -> Reply:
        if self.abstain_on_failure:
            return Reply(missing="failed")
        raise ArbiterError(
            f"vlm: {self.name} kept failing after {self.retries + 1} attempts: {what[:300]}. Mend: run again later, "
            "or set `abstain_on_failure`"
        ) from error


def jpeg(image: Any, side: int) -> bytes:
    """An image as JPEG of quality 95, reduced to `side` pixels at most."""
    from PIL.Image import Resampling

    shown = image.convert("RGB")
    if max(shown.size) > side:
        scale = side / max(shown.size)
        shown = shown.resize(tuple(max(1, round(each * scale)) for each in shown.size), Resampling.LANCZOS)
    stream = BytesIO()
    shown.save(stream, "JPEG", quality=95)
    return stream.getvalue()
