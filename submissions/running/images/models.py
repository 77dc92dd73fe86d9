"""Open the image-generating model that a user names: `SCHEME:NAME[?SETTING=VALUE&...]`.

`SCHEMES` has the settings of each, RUNNING.md explains them.

Behind `python:` can stand a unified model, or anything else:

    def make(prompts):                       # a list of fairspace.builders.engine.tools.ImagePrompt: text, seed
        return [paint(prompt.text, prompt.seed) for prompt in prompts]

It returns for each prompt a PIL image, the bytes of an encoded image, or None for a refusal. Its attribute `settings`
(optional; a dict of texts and numbers) must be the same when a run goes on.

A provider is one of Hugging Face's Inference Providers, asked through `InferenceClient.text_to_image` with one token;
it is named, for another may serve the same model with other weights and settings. Fields that it does not know are its
own to refuse or ignore; `submission.json` says what was asked.

An endpoint is asked through OpenAI's client. A 429, a 5xx, a lost connection and an answer without a usable image are
asked again, by all in the same way; an image withheld by the server's filter is refused.
"""

import base64
import os
import platform
import re
import time
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx
from huggingface_hub import InferenceClient

from fairspace.builders.engine.tools import ImagePrompt
from fairspace.builders.errors import BuildError
from fairspace.builders.models import weights
from fairspace.builders.models.describing import KEY, may_know_key, open_endpoint
from fairspace.builders.models.diffusion import DiffusersGenerator, PipelineSettings
from fairspace.builders.models.opening import Fields, Scheme, Types, read, settings_of
from fairspace.submissions.benchmarks.task import Lazy
from fairspace.submissions.errors import RunError, need_packages, unopened
from fairspace.submissions.format.manifest import version
from fairspace.submissions.running.images.made import (
    LIMITS,
    GeneratedImage,
    ImageModel,
    Setting,
    failed,
    refused,
    served,
)
from fairspace.submissions.running.local.found import find_function, unknown

TOKEN = "HF_TOKEN"  # noqa: S105 - a variable's name
_FILTERED = re.compile("content_?filter|content_policy|moderation_blocked|responsibleaipolicyviolation|nsfw")
"""Words of servers for a filtered image, without spaces."""
_WAIT, _LONGEST_WAIT = 0.5, 60.0
"""Seconds before the second attempt, which double; longest wait, also of those that a server asks for."""
_AGAIN = (408, 409, 425, 429)
"""Status below 500 of a request that is asked again."""
_UNSERVED = re.compile("not supported|No provider mapping|offline mode is enabled")
"""Words of the client where a provider does not serve the model or makes no images, or requests are forbidden."""
_FORMS = {
    "endpoint": "endpoint:URL#MODEL, such as endpoint:https://api.openai.com/v1#gpt-image-1",
    "hf": "hf:MODEL?provider=NAME, such as fal-ai, together or replicate",
}
_MEND = "name the model, its server and key anew"
_OURS = {"model", "prompt", "n", "size", "quality", "seed", "stream"}
"""Fields of a body that `extra` cannot replace."""


class _RemoteImages(ImageModel):
    """A model behind a server, which is asked for one image at a time.

    Args:
        named: the user's name for the model.
        seed: whether the seed is sent. A server that refuses one of `optional` is asked without it (`refused`).
        extra: further fields of the body.
        attempts: requests for one image, of which the last failure counts.
        key: environment variable that holds the key or token.

    Errors: RunError MODEL_UNKNOWN for numbers below 1.
    """

    optional: tuple[str, ...] = ("seed",)
    """Fields that not every server knows."""
    ends: dict[int, tuple[str, str]]
    """Status at which all requests are of no use, 0 for none -> what was expected, and the remedy."""

    def __init__(
        self,
        model: str,
        named: str,
        *,
        seed: bool = True,
        extra: Fields = Fields(),  # noqa: B008 - never changed
        concurrency: int = 8,
        attempts: int = 6,
        timeout: float = 180,
        key: str = "",
        revision: str = "",
        device: str = "",
    ) -> None:
        self.name, self._named, self.revision = model, named, revision or "not stated"
        self.concurrency, self._attempts, self._timeout, self._extra = concurrency, attempts, timeout, extra
        if min(concurrency, attempts) < 1 or timeout <= 0:
            raise self._unknown(f"{concurrency=}, {attempts=}, {timeout=:g}", "numbers above 0")
        self._seed, self._key, self.refused = seed, os.environ.get(key, ""), set[str]()
        if key and not self._key:
            raise self._unknown(f"key={key}, which is not set", "an environment variable that holds the key or token")

    def images(self, prompts: Sequence[ImagePrompt]) -> Sequence[GeneratedImage]:
        """An image for each prompt, one request after another. RunError MODEL_UNKNOWN if key or model are not known."""
        return [self._made(prompt) for prompt in prompts]

    def _made(self, prompt: ImagePrompt) -> GeneratedImage:
        made, pause = failed("not asked"), _WAIT
        for attempt in range(self._attempts):
            if attempt:
                time.sleep(pause)
                pause = min(2 * pause, _LONGEST_WAIT)
            before = frozenset(self.refused)
            try:
                made = self._image(prompt)
            except Exception as error:  # of httpx, httpx2, openai, huggingface_hub or Pillow, by their versions
                answer = getattr(error, "response", None)
                status, body = (0, "") if answer is None else (int(answer.status_code), answer.text[:1000])
                made = failed(f"status {status}: {body}" if status else f"{type(error).__name__}: {error}")
                if status in (400, 403, 422) and _FILTERED.search(body.lower().replace(" ", "_")):
                    return refused(made.reason)
                new = {name for name in self.optional if re.search(rf"\b{name}\b", body)} - before
                if status in (400, 422) and new:
                    self.refused |= new
                    return self._made(prompt)
                if status in self.ends and (status or _UNSERVED.search(made.reason)):
                    what = f"status {status}" if status in (401, 403) else made.reason
                    raise self._unknown(what, *self.ends[status]) from error
                if 400 <= status < 500 and status not in _AGAIN:
                    return made
                after = "" if answer is None else answer.headers.get("retry-after", "")
                pause = min(float(after), _LONGEST_WAIT) if after.isdecimal() else pause
            if made.fate != "failed":
                return made
        return made

    def _sent(self, prompt: ImagePrompt, **fields: Any) -> dict[str, Any]:
        """Those of `fields` and the seed that the server does not refuse."""
        wanted = {**fields, **({"seed": prompt.seed} if self._seed else {})}
        return {name: value for name, value in wanted.items() if name not in self.refused}

    @abstractmethod
    def _image(self, prompt: ImagePrompt) -> GeneratedImage:
        """The server's answer to one request; any Exception if it has none."""

    def _unknown(self, what: str, expected: str, mend: str = _MEND) -> RunError:
        return unknown(self._named, what, expected, mend)


class ProviderImages(_RemoteImages):
    """A model behind a provider, named as by the client: `fal-ai`, `together`, `replicate`, `nscale`, `hf-inference`.

    `size` is the side of the square image in pixels; 0, like other settings that are not named, leaves it to the
    provider. The environment variable `key` holds Hugging Face's token (`hf_...`), or one of the provider itself.

    Errors: RunError MODEL_UNKNOWN without provider or token, or for numbers below 1.
    """

    engine, engine_version = "huggingface_hub", version("huggingface_hub")

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
        key: str = TOKEN,
        **settings: Any,
    ) -> None:
        super().__init__(model, named or model, key=key, **settings)
        if provider in ("", "auto"):
            raise self._unknown("no provider", _FORMS["hf"])
        if (1 if steps is None else steps) < 1 or size < 0:
            raise self._unknown(f"{steps=}, {size=}", "numbers above 0")
        if provider == "nscale" and steps is not None:
            raise self._unknown("steps, which the client does not pass to nscale", "other settings")
        by_user: Any = {"provider": provider, "api_key": self._key, "timeout": self._timeout}
        self._client: Any = InferenceClient(**by_user)
        self._provider = provider
        token = f"a token ({TOKEN}, or `key=`) and a model that {provider} takes", _MEND
        self.ends = dict.fromkeys((0, 401, 403, 404), token)
        asked: dict[str, Any] = {"num_inference_steps": steps, "guidance_scale": guidance, "negative_prompt": negative}
        asked |= {"width": size or None, "height": size or None}
        self._asked = {name: value for name, value in asked.items() if value is not None}

    def settings(self) -> dict[str, Setting]:
        """The provider and the requested settings; no token."""
        seeded = "asked" if self._seed else "no"
        return {"provider": self._provider, **self._asked, "seeded": seeded, **self._extra.flat("extra")}

    def _image(self, prompt: ImagePrompt) -> GeneratedImage:
        asked = {**self._asked, **self._sent(prompt), "extra_body": dict(self._extra)}
        return served(self._client.text_to_image(prompt.text, model=self.name, **asked))


class EndpointImages(_RemoteImages):
    """A model behind an endpoint.

    Args:
        size: pixels of a side, or the endpoint's own form, such as `1024x1536`; `default` sends none.
        host: another host that images may be fetched from, by https and without the key, if answers are addresses.
        settings: those of `_RemoteImages`. `extra`: fields such as those of vLLM-Omni and SGLang Diffusion, which
            ignore unknown ones. The key is sent over https, or to this machine, alone.

    Errors: RunError MODEL_UNKNOWN for a bad address, or if the variable is not set.
    """

    engine, engine_version = "openai", version("openai")
    optional = ("response_format", "seed")

    def __init__(
        self,
        address: str,
        *,
        named: str = "",
        size: str = "1024",
        quality: str = "",
        host: str = "",
        **settings: Any,
    ) -> None:
        self.url, _, model = address.rpartition("#")
        super().__init__(model, named or address, **settings)
        self._origin = urlsplit(self.url)
        wrong = self._origin.scheme not in ("http", "https") or not self._origin.hostname or not model
        if wrong or self._origin.username is not None:
            raise self._unknown("no address, no model, or a password in the address", _FORMS["endpoint"])
        if ours := sorted(self._extra.keys() & _OURS):
            raise self._unknown(f"extra={','.join(ours)}", "other fields; size, quality, seed have a setting")
        asked = {"size": f"{size}x{size}" if size.isdecimal() else size.replace("default", ""), "quality": quality}
        self._asked = {name: value for name, value in asked.items() if value}
        self._host = host
        mend = f"set {KEY}, or the variable that `key=` names, to a key that may use this model"
        if not may_know_key(self.url):
            mend = "name the endpoint's https address: keys are not sent over http"
        self.ends = dict.fromkeys((401, 403), ("a key that the endpoint takes", mend))
        mend = "check the address (it often ends with /v1) and the model's name"
        self.ends[404] = f"a model {self.name!r} that makes images", mend

    def settings(self) -> dict[str, Setting]:
        """Host and requested settings, which an endpoint may ignore; no key."""
        asked: dict[str, Setting] = {"host": self._origin.hostname, "size": "default", **self._asked}
        return asked | {"seeded": "asked" if self._seed else "no", **self._extra.flat("extra")}

    def _image(self, prompt: ImagePrompt) -> GeneratedImage:
        # Not every endpoint knows the format; some always send base64, and refuse to be told so.
        body = {**self._extra, **self._sent(prompt, response_format="b64_json")}
        asked = {"model": self.name, "prompt": prompt.text, "n": 1, **self._asked}
        data = getattr(self._client.images.generate(**asked, extra_body=body), "data", None)
        if not isinstance(data, list) or not data:
            return failed("an answer that holds no image")
        text, url = getattr(data[0], "b64_json", None), getattr(data[0], "url", None)
        if isinstance(url, str) and url and not text:
            if not url.startswith("data:image/"):
                return self._fetched(urljoin(self.url, url))
            text = url.partition(";base64,")[2]
        if not isinstance(text, str):
            return failed("an answer without an image in base64 or its address")
        if len(text) > LIMITS.bytes * 4 // 3 + 4:
            return failed(f"more than {LIMITS.bytes} bytes")
        return served(base64.b64decode(text, validate=True))

    def _fetched(self, url: str) -> GeneratedImage:
        """The image at an address of the endpoint itself, or of the host that the user names; no redirect is followed.

        An endpoint must not choose which machines are asked: others may be private ones beside this.
        """
        at = urlsplit(url)
        is_same = (at.scheme, at.netloc) == (self._origin.scheme, self._origin.netloc)
        if not is_same and (at.scheme != "https" or at.netloc != self._host):
            return failed(f"an image at {at.netloc}: name host={at.netloc} if you trust it")
        headers = {"Authorization": f"Bearer {self._client.api_key}"} if is_same else {}
        content = b""
        with httpx.stream("GET", url, headers=headers, timeout=self._timeout, follow_redirects=False) as answer:
            if not answer.is_success:
                return failed(f"status {answer.status_code} at the image's address")
            for part in answer.iter_bytes():
                content += part
                if len(content) > LIMITS.bytes:
                    return failed(f"more than {LIMITS.bytes} bytes")
        return served(content)

    @cached_property
    def _client(self) -> Any:
        return open_endpoint(self.url, self._key or os.environ.get(KEY, ""), self._timeout, 0)


class DiffusersImages(ImageModel):
    """A pipeline; each seed alone decides its noise. `arguments`: fields of `PipelineSettings` of the builders.

    What is not named is the pipeline's own (IRIS, A.1.1). Images that its own safety checker blackens are refused.
    Errors: BuildError TOOL_MISSING without the weights, or for settings that the pipeline does not have.
    """

    engine, engine_version = "diffusers", version("diffusers")

    def __init__(self, model: str, *, named: str = "", device: str = "", **arguments: Any) -> None:
        settings = PipelineSettings(**arguments)
        for setting in ("steps", "size", "batch"):
            if (value := getattr(settings, setting)) is not None and value < 1:
                raise unknown(named or model, f"{setting}={value}", "1 or more", "name another")
        self.batch = settings.batch
        self.device = weights.best_device(device)
        source = weights.find(model, "model_index.json")
        self.name, self.revision = source.title, source.identity
        self._generator = DiffusersGenerator(model, settings=settings, device=self.device)
        self._in_force = self._generator.in_force()
        self._withheld: list[bool] = []

    def settings(self) -> dict[str, Setting]:
        """All that decides pixels as it acts, the device's precision included."""
        settings: dict[str, Setting] = {**self._in_force}
        del settings["handover"]  # there is no refiner
        precision = weights.precision(self._in_force["dtype"], self.device)
        return settings | {"dtype": precision, "device": self.device.partition(":")[0]}

    def images(self, prompts: Sequence[ImagePrompt]) -> Sequence[Any]:
        """The pipeline's images."""
        generator = self._loaded
        self._withheld.clear()
        images = generator.generate(prompts)
        blackened = refused("the pipeline's safety checker withheld it")
        withheld = self._withheld or [False] * len(images)
        return [blackened if held else image for image, held in zip(images, withheld, strict=True)]

    @cached_property
    def _loaded(self) -> DiffusersGenerator:
        """The generator with a hook on its safety checker: black images would look like answers."""
        checker = getattr(self._generator._pipeline, "safety_checker", None)
        if checker is not None:
            checker.register_forward_hook(lambda module, inputs, output: self._withheld.extend(map(bool, output[1])))
        return self._generator


_FORM = "python:MODULE:FUNCTION, or python:FILE.py:FUNCTION"


class CallableImages(ImageModel):
    """A function of the user's; default `name` and `revision` follow from it. RunError MODEL_UNKNOWN if absent."""

    engine, engine_version = "callable", f"python {platform.python_version()}"

    def __init__(
        self, what: str, *, named: str = "", device: str = "", batch: int = 1, name: str = "", revision: str = ""
    ) -> None:
        if batch < 1:
            raise unknown(named or what, "a batch below 1", "batch=1 or more", "name another")
        loaded = find_function(what, where=named or what, form=_FORM)
        self.batch = batch
        self.name, self.revision = name or loaded.name, revision or loaded.revision
        self._function = loaded.function

    def settings(self) -> dict[str, Setting]:
        """The function's `settings`, and the size of a batch."""
        stated = getattr(self._function, "settings", {})
        scalars = (str, int, float, bool, type(None))
        if not isinstance(stated, Mapping) or not all(
            isinstance(key, str) and isinstance(value, scalars) for key, value in stated.items()
        ):
            problem = f"the attribute `settings` {stated!r}"[:200]
            raise unknown(self.name, problem, "a dict of texts, numbers, true, false or None")
        return {**stated, "batch": self.batch}

    def images(self, prompts: Sequence[ImagePrompt]) -> Sequence[Any]:
        """The function's images. RunError MODEL_OUTPUT unless it returns one image, bytes or None for each prompt."""
        from PIL.Image import Image

        try:
            given = self._function(list(prompts))
        except (BuildError, RunError) as error:  # raised in the user's own code: no reason to end the run
            return [failed(f"{type(error).__name__}: {error}") for _ in prompts]
        if not isinstance(given, list | tuple) or len(given) != len(prompts):
            length = f" of {len(given)}" if isinstance(given, list | tuple) else ""
            raise self._wrong(f"{type(given).__name__}{length} for {len(prompts)} prompts")
        for image in given:
            if not isinstance(image, Image | bytes | None):
                raise self._wrong(f"an element of type {type(image).__name__}")
        return [refused("the function returned None") if image is None else image for image in given]

    def _wrong(self, problem: str) -> RunError:
        expected = "a list with a PIL image, bytes of an encoded image, or None for each prompt"
        return RunError("MODEL_OUTPUT", self.name, problem, expected, "correct the function, then run again")


def open_image_model(name: str, *, device: str = "") -> ImageModel:
    """The model of a name (see the module), on a torch `device` ('': a GPU if there is one), loaded when used.

    Errors: RunError MODEL_UNKNOWN if the scheme, a setting or the model is not known; UsageError without a package.
    """
    try:
        scheme, what, settings = read("images", name, SCHEMES)
        return scheme.open(what, settings, {"named": name, "device": device})
    except BuildError as error:
        raise unopened(error) from error


def _scheme(form: str, maker: Callable[..., ImageModel], settings: Types, *packages: str) -> Scheme:
    """A scheme whose models `maker` makes of a name, `settings`, `named` and `device`, with `packages` of `run`."""

    def opened(what: str, chosen: Mapping[str, Any], request: Mapping[str, str]) -> ImageModel:
        need_packages("run", *packages)
        return maker(what, **request, **chosen)

    return Scheme(form, "", settings, opened)


_REMOTE: Types = {
    **{"seed": bool, "extra": Fields, "concurrency": int, "attempts": int, "timeout": float},
    **{"key": str, "revision": str},
}
"""Settings of models that are asked over the wire."""
_PIPELINE = {name: kind for name, kind in settings_of(PipelineSettings).items() if name != "handover"}
"""Settings of a pipeline; there is no refiner to hand over to."""
_UNIFIED: Types = {
    **{"guidance": float, "temperature": float, "top_k": int, "top_p": float},
    **{"size": int, "negative": str, "dtype": str, "batch": int},
}
_PROVIDED: Types = {"provider": str, "size": int, "steps": int, "guidance": float, "negative": str, **_REMOTE}
_BACKBONE: Types = {"cfg": Fields, "params": Fields, "seed": str, "revision": str}
_WEIGHTS = "ID_OR_FOLDER[@REVISION]"
_ROOM = "fairspace.submissions.running"
SCHEMES: Mapping[str, Scheme] = {
    "diffusers": _scheme(f"diffusers:{_WEIGHTS}", DiffusersImages, _PIPELINE, "torch", "diffusers", "transformers"),
    "transformers": _scheme(
        f"transformers:{_WEIGHTS}",
        Lazy(f"{_ROOM}.images.unified:UnifiedImages"),
        _UNIFIED,
        *("torch", "transformers", "accelerate"),
    ),
    "endpoint": _scheme(
        "endpoint:URL#MODEL", EndpointImages, {"size": str, "quality": str, "host": str, **_REMOTE}, "openai"
    ),
    "hf": _scheme("hf:MODEL?provider=NAME", ProviderImages, _PROVIDED),
    "torchumm": _scheme(
        "torchumm:BACKBONE",
        lambda what, named, device, **settings: Lazy(f"{_ROOM}.local.torchumm:TorchUmm")(what, **settings),
        _BACKBONE,
        "torch",
    ),
    "python": _scheme("python:MODULE:FUNCTION", CallableImages, {"batch": int, "name": str, "revision": str}),
}
