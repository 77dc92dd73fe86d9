"""Images by an endpoint that speaks OpenAI's images protocol, through OpenAI's own client.

The client sends again what met a 429, a 5xx or no connection, and waits as Retry-After says; what comes back without a
usable image is asked again here, within the same number of attempts. What the provider's filter withholds is refused.
"""

from __future__ import annotations

import base64
import os
import time
from collections.abc import Sequence
from functools import cached_property
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.parse import SplitResult, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from fairspace.builders.engine.tools import Prompt
from fairspace.submissions.errors import need_packages
from fairspace.submissions.format.manifest import version
from fairspace.submissions.running.errors import RunError
from fairspace.submissions.running.images.made import LIMITS, Made, Setting, checked, failed, refused

KEY = "OPENAI_API_KEY"
_FORM = "endpoint:URL#MODEL, such as endpoint:https://api.openai.com/v1#gpt-image-1"
_FILTERED = ("content_filter", "contentfilter", "content_policy", "moderation_blocked", "responsibleaipolicyviolation")
"""Parts of error codes by which endpoints say that they make no such image."""
_HERE = ("localhost", "127.0.0.1", "::1")
_WAIT = 0.5
"""Seconds before the second attempt after an answer without an image; they double, up to eight."""


class EndpointImages:
    """A model behind an endpoint.

    Args:
        url: of the endpoint, such as `https://api.openai.com/v1`.
        model: as the endpoint calls it.
        named: what it is opened by.
        size: pixels of a side, or what the endpoint takes, such as `1024x1536`.
        quality: as the endpoint calls it; '' leaves it out.
        seed: whether the seed is sent, as a field that not every endpoint knows.
        concurrency: requests at the same time.
        attempts: how often an image is asked for at most.
        timeout: seconds for one attempt.
        key: environment variable that holds the key. It is sent over https, or to this machine, alone.
        revision: version or date of the model, where it is known.

    Errors: RunError MODEL_UNKNOWN if the address is none, or the named variable is not set; UsageError without the
        package openai.
    """

    engine = "openai"
    batch = 1

    def __init__(
        self,
        url: str,
        model: str,
        *,
        named: str = "",
        size: str = "1024",
        quality: str = "",
        seed: bool = False,
        concurrency: int = 8,
        attempts: int = 6,
        timeout: float = 180,
        key: str = "",
        revision: str = "",
    ) -> None:
        need_packages("run", "openai")
        self._origin = urlsplit(url)
        wrong = self._origin.scheme not in ("http", "https") or not self._origin.hostname or not model
        if wrong or self._origin.username is not None:
            raise _unknown(named or url, "no address, no model, or a password in the address", _FORM)
        if concurrency < 1 or attempts < 1 or timeout <= 0:
            problem = f"concurrency={concurrency}, attempts={attempts}, timeout={timeout:g}"
            raise _unknown(named or url, problem, "numbers above 0")
        self._key = os.environ.get(key or KEY, "")
        if key and not self._key:
            raise _unknown(named or url, f"key={key}, which is not set", "an environment variable that holds the key")
        self.url, self.name, self.revision = url, model, revision or "not stated"
        self.concurrency, self._attempts, self._timeout = concurrency, attempts, timeout
        self._asked: dict[str, str] = {"size": f"{size}x{size}" if size.isdecimal() else size}
        if quality:
            self._asked["quality"] = quality
        self._seed = seed
        self._format: dict[str, str] = {"response_format": "b64_json"}

    @property
    def engine_version(self) -> str:
        """Of OpenAI's client."""
        return version("openai")

    def settings(self) -> dict[str, Setting]:
        """Host, and what is asked for; no key."""
        return {"host": self._origin.hostname, **self._asked, "seeded": self._seed}

    def make(self, prompts: Sequence[Prompt]) -> list[Made]:
        """An image for each prompt, one request after another. RunError MODEL_UNKNOWN if key or model are not known."""
        return [self._made(prompt) for prompt in prompts]

    def _made(self, prompt: Prompt) -> Made:
        import openai

        left, wrong, pause = self._attempts, "", _WAIT
        while left > 0:
            try:
                answer = self._request(prompt, left - 1)
            except openai.APIStatusError as error:
                return self._status(error)
            except openai.APIConnectionError as error:
                return failed(f"{type(error).__name__}: {error}")
            left -= answer.retries_taken + 1
            try:
                results = self._read(answer.parse())
            except (openai.APIError, ValueError) as error:
                results = failed(f"{type(error).__name__}: {error}")
            if results.fate == "answered":
                return results
            wrong = results.reason
            if left > 0:
                time.sleep(pause)
                pause = min(2 * pause, 8)
        return failed(wrong)

    def _request(self, prompt: Prompt, retries: int) -> Any:
        """An answer that is not read yet."""
        import openai

        client = self._client if retries == self._attempts - 1 else self._client.with_options(max_retries=retries)
        images = client.images.with_raw_response
        more = {"extra_body": {"seed": prompt.seed}} if self._seed else {}
        form = self._format
        try:
            return images.generate(model=self.name, prompt=prompt.text, n=1, **self._asked, **form, **more)
        except openai.BadRequestError as error:
            # Some models always send base64, and refuse to be told so.
            if not form or "response_format" not in f"{error.param} {error}":
                raise
            self._format = {}
            return images.generate(model=self.name, prompt=prompt.text, n=1, **self._asked, **more)

    def _read(self, answer: Any) -> Made:
        data = getattr(answer, "data", None)
        if not isinstance(data, list) or not data:
            return failed("an answer that holds no image")
        text, url = getattr(data[0], "b64_json", None), getattr(data[0], "url", None)
        if not isinstance(text, str) and isinstance(url, str) and url.startswith("data:"):
            text = url.partition(",")[2]
        if isinstance(text, str):
            if len(text) > LIMITS.bytes * 4 // 3 + 4:
                return failed(f"more than {LIMITS.bytes} bytes")
            return checked(base64.b64decode(text, validate=True))
        return self._fetch(url) if isinstance(url, str) else failed("an answer with neither base64 nor an address")

    def _fetch(self, url: str) -> Made:
        """An image at an address of the endpoint's own origin, and of no other."""
        address = urlsplit(url)
        if _place(address) != _place(self._origin):
            return failed(f"an image at {address.hostname}, which is not the endpoint's own host")
        key = {"Authorization": f"Bearer {self._key}"} if self._key and self._may_know_key else {}
        ends = time.monotonic() + self._timeout
        data = b""
        try:
            with build_opener(_NoRedirect).open(Request(url, headers=key), timeout=self._timeout) as stream:  # noqa: S310 - the origin is http or https
                while piece := stream.read1(1 << 20):
                    data += piece
                    if len(data) > LIMITS.bytes:
                        return failed(f"more than {LIMITS.bytes} bytes")
                    if time.monotonic() > ends:
                        return failed(f"no whole image after {self._timeout:g} s")
        except HTTPError as error:
            error.close()  # it holds the answer's socket
            return failed(f"{url}: status {error.code}")
        except (OSError, HTTPException) as error:
            return failed(f"{url}: {type(error).__name__}: {error}")
        return checked(data)

    def _status(self, error: Any) -> Made:
        status = int(error.status_code)
        said = f"status {status}: {error}"
        if status in (400, 403, 422) and any(word in code for code in _codes(error) for word in _FILTERED):
            return refused(said)
        if status in (401, 403):
            mend = f"set {KEY}, or the variable that `key=` names, to a key that may use this model"
            if not self._may_know_key:
                mend = "name the endpoint's https address: keys are not sent over http"
            raise RunError("MODEL_UNKNOWN", self.url, f"status {status}", "a key that the endpoint takes", mend)
        if status == 404:
            mend = "check the address (it often ends with /v1) and the model's name"
            raise RunError("MODEL_UNKNOWN", self.url, said[:300], f"a model {self.name!r} that makes images", mend)
        return failed(said)

    @property
    def _may_know_key(self) -> bool:
        return self._origin.scheme == "https" or self._origin.hostname in _HERE

    @cached_property
    def _client(self) -> Any:
        import openai

        # Servers of one's own want no key, but the client wants one.
        key = (self._key if self._may_know_key else "") or "none"
        return openai.OpenAI(base_url=self.url, api_key=key, timeout=self._timeout, max_retries=self._attempts - 1)


class _NoRedirect(HTTPRedirectHandler):
    """Leads nowhere else: what redirects is an error."""

    def redirect_request(self, *_: Any) -> None:
        """No request follows."""


def _place(address: SplitResult) -> tuple[str, str | None, int | None]:
    """Scheme, host and port."""
    return address.scheme, address.hostname, address.port or {"http": 80, "https": 443}.get(address.scheme)


def _codes(error: Any) -> list[str]:
    """Every code that an error holds, also those of inner errors."""
    codes, body = [error.code, error.type], error.body
    while isinstance(body, dict):
        codes += [body.get("code"), body.get("type")]
        body = body.get("innererror") or body.get("inner_error") or body.get("error")
    return [code.lower().replace(" ", "_") for code in codes if isinstance(code, str)]


def _unknown(where: str, what: str, expected: str) -> RunError:
    return RunError("MODEL_UNKNOWN", where, what, expected, "name the model in this form")
