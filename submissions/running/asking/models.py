"""Models that answer texts, opened by Inspect: any of its providers and ours (`local.models`), set for a long run.

- Retries wait for the server's `Retry-After`, else exponentially with jitter.
- Servers of the OpenAI protocol are asked through aiohttp: at a concurrency of 64, httpx' search through its
  connections takes longer than all else.
- Models on this machine have no bound on time: a request waits for those before it.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from pydantic import TypeAdapter, ValidationError

from fairspace.submissions.errors import MODEL_NAMES, RunError, need_packages, plain
from fairspace.submissions.format.manifest import Line
from fairspace.submissions.running.asking.accepting import read_strictly
from fairspace.submissions.running.asking.asking import reason_of
from fairspace.submissions.running.asking.prices import Bounds

if TYPE_CHECKING:
    from inspect_ai.model import Model

SHARED_PROTOCOL = "openai-api/"
"""Prefix of Inspect's names for models behind a server of the OpenAI protocol."""
_SERVER = f"{SHARED_PROTOCOL}server/"
"""Prefix of our name for a model that a user names by its server's address; its key, if any, is SERVER_API_KEY."""
_TRANSFORMERS = "hf/"
"""Prefix of Inspect's own transformers, which pads a prompt by its neighbours and ignores a request's seed."""
OURS = ("local/", "python/", "torchumm/")
"""Prefixes of our own names for models on this machine (`local.models`)."""
_SHAPE = ("local.engine", "local.batch", "local.dtype", "local.context", "local.prompt")
_SECRET = re.compile(r"key|secret|password|auth|header|token$", re.IGNORECASE)
"""Names of secret arguments: they may change between two starts, and are written nowhere."""
_SHOWN = ("device", "dtype", "batch", "engine")
"""Arguments whose texts a manifest shows; others may be private paths or addresses."""
_MARKUP = re.compile(r"\[/?[a-z]+\]")
"""Terminal markup in Inspect's messages."""
_WEIGHTS = ("vllm/", "sglang/")
"""Inspect's providers that load weights when they are opened."""
_LONGEST_WAIT = 300.0


SENT, COMPLETION = ("temperature", "top_p", "max_tokens"), "max_completion_tokens"
"""Settings of generation that a user may name."""
DEFAULT = "default"
"""Value of such a setting that is not sent: the provider's own holds."""


@dataclass(frozen=True)
class ModelSettings:
    """A model and its settings.

    Args:
        name: name in any form of `read_name`; kept as Inspect's, such as `openai/gpt-4o`, `local/./FOLDER`.
        base_url: address of the server; '' for the provider's own.
        temperature: None for the paper's, else the provider's default; `top_p` alike. "default" sends none, also of
            `max_tokens`.
        max_completion_tokens: `max_tokens` by the name that some servers want.
        arguments: the provider's, such as `{"device": "cpu"}` for `local`; `function` is a function itself.
    """

    name: str
    base_url: str = ""
    connections: int = 16
    retries: int = 6
    timeout: int = 300
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    arguments: dict[str, Any] = field(default_factory=dict)
    bounds: Bounds = field(default_factory=Bounds)
    unsent: frozenset[str] = frozenset()
    """Settings that are not sent, whatever the paper says."""

    def __post_init__(self) -> None:
        for setting in (name for name in SENT if getattr(self, name) == DEFAULT):
            object.__setattr__(self, setting, None)
            object.__setattr__(self, "unsent", self.unsent | {setting})
        name, address = read_name(self.name)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "base_url", address or self.base_url)

    def effective(self, stated: Mapping[str, float | int | str]) -> dict[str, float | int | str]:
        """The given settings, over the paper's."""
        return {**stated, **self.generation()}

    def shown_arguments(self) -> dict[str, str | int | float | bool | None]:
        """The provider's arguments for a manifest: numbers and plain settings; the name alone of all others."""
        return {_line(f"M.{name}"): _shown(name, value) for name, value in self._of_provider()}

    def compared_arguments(self) -> dict[str, str]:
        """Hashes of the provider's arguments, without secrets, by which a run finds a changed one."""
        return {
            name: _hash(json.dumps(value, sort_keys=True, default=lambda other: type(other).__qualname__))
            for name, value in self._of_provider()
            if not _SECRET.search(name) and name != "threads"  # which change no answer
        }

    def _of_provider(self) -> list[tuple[str, Any]]:
        """The arguments in order; none for a function, whose workers and batch change no answer."""
        return [] if "function" in self.arguments else sorted(self.arguments.items())

    def generation(self) -> dict[str, float | int | str]:
        """The given settings that change answers; `DEFAULT` for those that are not sent."""
        unsent = self.unsent | ({"max_tokens"} if self.max_completion_tokens else set())
        settings = {name: DEFAULT if name in unsent else getattr(self, name) for name in (*SENT, COMPLETION)}
        return {name: value for name, value in settings.items() if value is not None}


def read_name(name: str) -> tuple[str, str]:
    """Inspect's name of a model as a user names it, and the address of its server, '' for the provider's own.

    http://HOST/v1#MODEL is a server of the OpenAI protocol, FILE.py:FUNCTION a function, a path a folder of
    transformers or a .gguf file; all else is Inspect's PROVIDER/MODEL. RunError MODEL_UNKNOWN for a bare address.
    """
    if name.startswith(("http://", "https://")):
        address, _, model = name.partition("#")
        if not model:
            mend = f"add # and the model's name, as {address.rstrip('/')}/models lists it"
            raise RunError("MODEL_UNKNOWN", name, "an address without a model", "http://HOST/v1#MODEL", mend)
        return f"{_SERVER}{model}", address
    if not name or name.startswith(OURS):
        return name, ""
    if name.endswith(".py") or name.rpartition(":")[0].endswith(".py"):
        return f"python/{name}", ""
    path = Path(name).expanduser()
    starts = name.startswith((".", "/", "~")) or path.is_absolute()
    ours = len(name) < 256 and path.is_dir() and ("/" not in name or (path / "config.json").is_file())
    if not (starts or ours or name.lower().endswith(".gguf")):
        return name, ""
    return f"local/{'' if starts else './'}{name.replace(os.sep, '/')}", ""


def need_models(*names: str) -> None:
    """UsageError if what asks these models is not installed: a function needs Inspect alone, a server its clients too.

    What a model on this machine runs on is checked when it is opened.
    """
    kinds = [read_name(name)[0].partition("/")[0] + "/" for name in names if name]
    here, beyond = ("local/" in kinds or "torchumm/" in kinds), any(kind not in OURS for kind in kinds)
    need_packages("run" if here else "ask", "inspect_ai", *(("openai", "aiohttp") if beyond else ()))


def open_model(settings: ModelSettings, logs: Path | None = None) -> Model:
    """The model, ready to be asked; its generation settings go with the task.

    RunError MODEL_UNKNOWN if there is none of that name, or a key or package lacks.
    """
    from inspect_ai.model import GenerateConfig, ModelInfo, get_model, set_model_info

    here = settings.name.startswith(OURS)
    if settings.name.startswith(_TRANSFORMERS):
        what, mend = "answers that depend on other requests", f"name local/{settings.name.removeprefix(_TRANSFORMERS)}"
        raise RunError("MODEL_UNKNOWN", settings.name, what, "a model that heeds the seed of a request", mend)
    if here:
        _wait_without_spinning()
    import fairspace.submissions.running.local.models  # noqa: F401 - makes ours known to Inspect, and kernels work

    arguments = dict(settings.arguments)
    if settings.name.startswith(SHARED_PROTOCOL):
        from openai import DefaultAioHttpClient

        arguments.setdefault("http_client", DefaultAioHttpClient())
    if settings.name.startswith(_SERVER) and settings.base_url:
        arguments.setdefault("api_key", os.environ.get("SERVER_API_KEY", "none"))
    if settings.name.startswith(_WEIGHTS):
        # Inspect opens a model that it knows nothing of a second time, to see what it is, weights and all.
        set_model_info(settings.name, ModelInfo(model=settings.name.partition("/")[2]))
    config = GenerateConfig(
        max_connections=settings.connections,
        max_retries=settings.retries,
        attempt_timeout=None if here else settings.timeout,
    )
    try:
        model = get_model(settings.name, base_url=settings.base_url or None, config=config, memoize=False, **arguments)
    except RunError:
        raise
    except Exception as error:
        what = " ".join(_MARKUP.sub("", str(error)).removeprefix("ERROR: ").split())[:300].rstrip(". ")
        expected = f"{MODEL_NAMES}, with its package and its key in the environment"
        mend = "see https://inspect.aisi.org.uk/providers.html, or serve the model and name http://HOST/v1#MODEL"
        if key := re.search(r"\b[A-Z][A-Z0-9_]*_(?:KEY|TOKEN)\b", what):
            mend = f"set {key[0]} in the environment; for a server that asks for none, to any text"
        raise RunError("MODEL_UNKNOWN", settings.name, what, expected, mend) from error
    read_strictly(model.api)
    _heed_retry_after(model, logs)
    if settings.name.startswith("local/"):
        model.config.max_connections = max(settings.connections, model.api.max_connections())
    return model


def found_revision(settings: ModelSettings) -> str:
    """Commit of the Hub, or hash of the folder or file, of a model on this machine; 'not stated' for all others.

    RunError MODEL_UNKNOWN without such a folder, file or function, or for a name without a provider.
    """
    from fairspace.submissions.running.local.found import FORM, find_function
    from fairspace.submissions.running.local.found import find as find_weights

    provider, _, what = settings.name.partition("/")
    if "function" in settings.arguments:
        return "not stated"
    if not what:
        lacking, mend = "no such folder, and no provider", "write ./ before a folder, or PROVIDER/ before a model"
        raise RunError("MODEL_UNKNOWN", settings.name, lacking, MODEL_NAMES, mend)
    if provider == "python":
        return find_function(what, where=settings.name, form=FORM).revision
    if provider == "torchumm":
        from fairspace.submissions.running.local.torchumm import TorchUmm

        return TorchUmm(what, **settings.arguments).answering().revision
    return find_weights(what).identity if provider == "local" else "not stated"


def sees(settings: ModelSettings) -> bool:
    """Whether a model can be shown pictures: no GGUF file, no function of a prompt alone. RunError MODEL_UNKNOWN."""
    from fairspace.submissions.running.local.found import FORM, find_function, is_gguf, shows_images

    provider, _, what = settings.name.partition("/")
    if provider == "python":
        return shows_images(find_function(what, where=settings.name, form=FORM).function)
    return provider != "local" or not is_gguf(what)


def local_facts(model: Model) -> dict[str, str | int | bool]:
    """Settings that decide the answers of a model on this machine, for a manifest; {} for all others."""
    facts = getattr(model.api, "facts", None)
    return {} if facts is None else facts()


def story_sampling(model: Model) -> dict[str, float]:
    """Sampling of a GGUF file's stories, for which no paper states one: drawn greedily they loop; {} for all others."""
    return {**getattr(getattr(model.api, "chat", None), "sampling", {})}


def local_shape(facts: Mapping[str, str | int | bool]) -> dict[str, str]:
    """Those facts that change rounding, and so an answer now and then: a run goes on with the same."""
    return {name: str(facts[name]) for name in _SHAPE if name in facts}


def _shown(name: str, value: object) -> str | int | float | bool | None:
    if _SECRET.search(name):
        return "not shown"
    if value is None or isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return _line(value) if isinstance(value, str) and name in _SHOWN else "not shown"


def _line(text: str) -> str:
    """The text if it is one plain line of at most 200 characters, else its hash."""
    try:
        return TypeAdapter(Line).validate_python(text)
    except ValidationError:
        return f"sha256:{_hash(text)}"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _wait_without_spinning() -> None:
    """Have torch's threads sleep while they wait, unless the user's environment says otherwise.

    Spinning threads take the processor from the one that they wait for (measured on two busy cores: 2 instead of 13
    tokens a second). It must be set before torch is loaded.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def _heed_retry_after(model: Model, logs: Path | None) -> None:
    """Wait as long as the server says before a retry; the engine reads `Retry-After` but does not wait for it.

    An address at which nothing has answered yet, and nothing listens, is not asked again: RunError MODEL_SILENT.
    """
    from tenacity import RetryCallState, wait_exponential_jitter
    from tenacity.wait import wait_base

    usual = wait_exponential_jitter(initial=1, max=_LONGEST_WAIT, jitter=1)
    api, reasons, answered = model.api, set[str](), set[bool]()
    generate = api.generate

    async def noting(*asked: Any, **more: Any) -> Any:
        output = await generate(*asked, **more)
        answered.add(True)
        return output

    class Heeding(wait_base):
        def __call__(self, retry_state: RetryCallState) -> float:
            error = retry_state.outcome.exception() if retry_state.outcome else None
            reason = reason_of(error) if isinstance(error, Exception) else ""
            where = f"{model} at {api.base_url}" if api.base_url else str(model)
            if not answered and re.search("Connection ?[Rr]efused", reason):
                mend = "see that the model can be reached, then run the same command again"
                raise RunError("MODEL_SILENT", where, reason, "a server that listens there", mend)
            if reason and not reasons:  # a server that is not there would be silence for minutes
                reasons.add(reason)
                log = f"; log: {logs}" if logs else ""
                typer.echo(plain(f"Note: no answer from {where}: {reason}; asking again{log}"), err=True)
            decision = api.should_retry(error) if isinstance(error, Exception) else None
            wait = getattr(decision, "retry_after", None)
            return usual(retry_state) if wait is None else min(float(wait), _LONGEST_WAIT)

    api.retry_wait = lambda: Heeding()  # type: ignore[method-assign]
    api.generate = noting  # type: ignore[method-assign]
