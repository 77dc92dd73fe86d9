"""Images by one of Hugging Face's Inference Providers, through `InferenceClient.text_to_image`, with one token.

The provider is named, for another may serve the same model with other weights and settings. Fields that a provider does
not know are its own to refuse or ignore; `submission.json` says what was asked.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Sequence
from typing import Any

from huggingface_hub import InferenceClient

from fairspace.builders.engine.tools import Prompt
from fairspace.builders.models.opening import Fields
from fairspace.submissions.format.manifest import version
from fairspace.submissions.running.errors import RunError
from fairspace.submissions.running.images.made import Made, Setting, failed, refused, served

TOKEN = "HF_TOKEN"  # noqa: S105 - a variable's name
FILTERED = ("content_filter", "contentfilter", "content_policy", "moderation_blocked", "responsibleaipolicyviolation")
"""Parts of endpoints' error codes for a filtered image."""
_WAIT = 1.0
"""Seconds before the second attempt; they double, up to sixty."""
_UNSERVED = re.compile("not supported|No provider mapping|offline mode is enabled")
"""Words of the client where a provider does not serve the model or makes no images, or requests are forbidden."""


class ProviderImages:
    """A model behind a provider, named as by the client: `fal-ai`, `together`, `replicate`, `nscale`, `hf-inference`.

    `size` is the side of the square image in pixels; 0, like other settings that are not named, leaves it to the
    provider. `seed`, `extra` and `timeout` are those of `EndpointImages`; the environment variable `key` holds Hugging
    Face's token (`hf_...`), or one of the provider itself.

    Errors: RunError MODEL_UNKNOWN without provider or token, or for numbers below 1.
    """

    engine, engine_version, batch = "huggingface_hub", version("huggingface_hub"), 1

    def __init__(
        self,
        model: str,
        *,
        named: str = "",
        provider: str = "",
        size: int = 0,
        steps: int | None = None,
        guidance: float | None = None,
        negative: str | None = None,
        seed: bool = True,
        extra: Fields = Fields(),  # noqa: B008 - never changed
        concurrency: int = 8,
        attempts: int = 6,
        timeout: float = 180,
        key: str = TOKEN,
        revision: str = "",
    ) -> None:
        self.name, self._named, self.revision = model, named or model, revision or "not stated"
        if provider in ("", "auto"):
            raise self._unknown("no provider", "hf:MODEL?provider=NAME, such as fal-ai, together or replicate")
        if min(concurrency, attempts, 1 if steps is None else steps) < 1 or timeout <= 0 or size < 0:
            raise self._unknown(f"{concurrency=}, {attempts=}, {steps=}, {size=}, {timeout=}", "numbers above 0")
        if provider == "nscale" and steps is not None:
            raise self._unknown("steps, which the client does not pass to nscale", "other settings")
        if not (token := os.environ.get(key, "")):
            raise self._unknown(f"{key}, which is not set", "an environment variable that holds the token")
        by_user: Any = {"provider": provider, "api_key": token, "timeout": timeout}
        self._client: Any = InferenceClient(**by_user)
        self._provider, self._attempts = provider, attempts
        self.concurrency, self._seed, self._extra, self.refused = concurrency, seed, extra, set[str]()
        asked: dict[str, Any] = {"num_inference_steps": steps, "guidance_scale": guidance, "negative_prompt": negative}
        asked |= {"width": size or None, "height": size or None}
        self._asked = {name: value for name, value in asked.items() if value is not None}

    def settings(self) -> dict[str, Setting]:
        """The provider and the requested settings; no token."""
        seeded = "asked" if self._seed else "no"
        return {"provider": self._provider, **self._asked, "seeded": seeded, **self._extra.flat("extra")}

    def make(self, prompts: Sequence[Prompt]) -> list[Made]:
        """An image for each prompt, one request after another. RunError MODEL_UNKNOWN if token or model is refused."""
        return [self._made(prompt) for prompt in prompts]

    def _made(self, prompt: Prompt) -> Made:
        made, pause = failed("not asked"), _WAIT
        for attempt in range(self._attempts):
            if attempt:
                time.sleep(pause)
                pause = min(2 * pause, 60)
            try:
                made = self._image(prompt)
            except Exception as error:  # of httpx, httpx2, huggingface_hub or Pillow, by their versions
                answer = getattr(error, "response", None)
                status = 0 if answer is None else int(answer.status_code)
                body = "" if answer is None else answer.text[:1000]
                made = failed(f"{type(error).__name__}: {error} {body}")
                if status in (401, 403, 404) or (not status and _UNSERVED.search(str(error))):
                    expected = f"a token ({TOKEN}, or `key=`) and a model that {self._provider} takes"
                    raise self._unknown(made.reason, expected) from error
                if status in (400, 422) and any(word in body.lower().replace(" ", "_") for word in (*FILTERED, "nsfw")):
                    return refused(made.reason)
                if status in (400, 422) and re.search(r"\bseed\b", body) and not self.refused:
                    self.refused.add("seed")
                    return self._made(prompt)
                if 400 <= status < 500 and status not in (408, 425, 429):
                    return made
                after = "" if answer is None else answer.headers.get("retry-after", "")
                pause = min(float(after), 60) if after.isdecimal() else pause
            if made.fate != "failed":
                return made
        return made

    def _image(self, prompt: Prompt) -> Made:
        seed = prompt.seed if self._seed and not self.refused else None
        more = {"seed": seed, "extra_body": dict(self._extra)}
        return served(self._client.text_to_image(prompt.text, model=self.name, **self._asked, **more))

    def _unknown(self, what: str, expected: str) -> RunError:
        return RunError("MODEL_UNKNOWN", self._named, what, expected, "name the model, its provider and token anew")
