"""Which engine runs the weights that `local/NAME` names: transformers, or llama.cpp for a GGUF file."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from fairspace.submissions.errors import did_you_mean, need_packages
from fairspace.submissions.running.errors import RunError
from fairspace.submissions.running.local import found

if TYPE_CHECKING:
    from fairspace.submissions.running.local.chat import LocalChat
    from fairspace.submissions.running.local.llama_cpp import LlamaCpp

ENGINES = ("transformers", "llama.cpp")
_OF_TRANSFORMERS = ("device", "dtype")


def open_chat(name: str, engine: str = "", **arguments: Any) -> LocalChat | LlamaCpp:
    """The model that `local/NAME` names.

    Args:
        name: folder, GGUF file, package or ID[@REVISION].
        engine: one of `ENGINES`; '' runs a GGUF file by llama.cpp where its package is installed and no argument of
            transformers is given, all else by transformers.
        arguments: of `LocalChat` or `LlamaCpp`.

    Errors: RunError MODEL_UNKNOWN; UsageError if a package lacks.
    """
    if engine not in ("", *ENGINES):
        what = f"no engine {engine!r}{did_you_mean(engine, ENGINES)}"
        raise RunError("MODEL_UNKNOWN", f"local/{name}", what, " or ".join(ENGINES), "correct -M engine=...")
    source = found.find(name)
    if runs_by_llama_cpp(bool(source.file), {"engine": engine, **arguments}):
        if not source.file:
            raise RunError("MODEL_UNKNOWN", f"local/{name}", "no GGUF file", "a GGUF file for llama.cpp", found.CONVERT)
        need_packages("run", "xllamacpp", "gguf")
        from fairspace.submissions.running.local.llama_cpp import LlamaCpp

        return LlamaCpp(source, name, **arguments)
    need_packages("run", "torch", "transformers", "accelerate")
    from fairspace.submissions.running.local.chat import LocalChat

    return LocalChat(source, name, **arguments)


def runs_by_llama_cpp(is_file: bool, arguments: Mapping[str, Any]) -> bool:
    """Whether llama.cpp runs the weights, with these arguments of the user's; `is_file`: they are a GGUF file."""
    engine = arguments.get("engine", "")
    if engine:
        return bool(engine == "llama.cpp")
    plain = not any(setting in arguments for setting in _OF_TRANSFORMERS)
    return is_file and plain and find_spec("xllamacpp") is not None
