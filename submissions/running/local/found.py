"""Find the weights of `local/NAME` before anything is loaded; find and run a function of the user's own code.

    local/FOLDER                   a folder by `save_pretrained`
    local/FILE.gguf                a GGUF file of llama.cpp
    local/NAME                     weights of the registry's packages (`packaged.WEIGHTS`)
    local/ID[@REVISION]            a repository of the Hub

A package is never imported: its file is taken if it has the known hash.
"""

import hashlib
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module, util
from pathlib import Path
from types import ModuleType
from typing import Any

from fairspace.builders.errors import BuildError
from fairspace.builders.models import weights
from fairspace.submissions.errors import RunError, did_you_mean
from fairspace.submissions.running.local.packaged import WEIGHTS, file_hash, weights_of

GGUF = ".gguf"
CONVERT = (
    "save it with `model.save_pretrained(FOLDER)` and `tokenizer.save_pretrained(FOLDER)` (safetensors), or as one "
    ".gguf file with llama.cpp's convert_hf_to_gguf.py, or serve it (vLLM, llama-server, Ollama) and name "
    "http://HOST/v1#MODEL"
)


def find(name: str) -> weights.Weights:
    """The weights called `name`, whose `marker` is the GGUF file or the folder's `config.json`.

    RunError MODEL_UNKNOWN says how to convert or serve others.
    """
    path = Path(name).expanduser()
    if name in WEIGHTS and not path.exists():
        path = weights_of(name)
    if path.is_file():
        if path.suffix.lower() != GGUF:
            raise RunError(
                "MODEL_UNKNOWN", name, f"a {path.suffix or 'plain'} file", "a folder or a .gguf file", CONVERT
            )
        with path.open("rb") as stream:
            if stream.read(4) != b"GGUF":
                raise RunError("MODEL_UNKNOWN", name, "a file that does not begin with GGUF", "a GGUF file", CONVERT)
        return weights.Weights(str(path.parent), None, f"{path.name} (sha256 {file_hash(path)[:16]})", path)
    if path.is_dir() and not (path / "config.json").is_file():
        raise RunError("MODEL_UNKNOWN", name, _lacking(path), "a folder with config.json, or a .gguf file", CONVERT)
    try:
        return weights.find(name, "config.json")
    except BuildError as error:
        mend = error.mend if "no such" in error.what else f"{error.mend}; a model in another format: {CONVERT}"
        raise RunError("MODEL_UNKNOWN", error.where, error.what, error.expected, mend) from error


def is_gguf(name: str) -> bool:
    """Whether the weights called `name` are a GGUF file, without a look at others."""
    path = Path(name).expanduser()
    return path.is_file() or (name in WEIGHTS and not path.exists())


def _lacking(folder: Path) -> str:
    """Description of a folder that holds no model that can be opened."""
    ggufs = sorted(file.name for file in folder.glob(f"*{GGUF}"))
    if ggufs:
        return f"a folder without config.json; it has {', '.join(ggufs[:3])}: name that file"
    if any(folder.glob("*.bin")) or any(folder.glob("*.pt*")):
        return "a folder without config.json, with weights in a format that can run code"
    return "a folder without config.json"


# Names of functions come from the person at the command line alone, never from a submission or a dataset.


@dataclass(frozen=True)
class OwnCode:
    """A function of the user's; `revision` is the hash of the file, or 'not stated' for a module."""

    name: str
    revision: str
    function: Callable[..., Any]


FORM = "FILE.py:FUNCTION, or python/MODULE:FUNCTION"
"""Forms of a function's name."""
OWN = ("temperature", "top_p", "max_tokens", "seed")
"""Settings that a function gets if it has parameters of these names."""


def takes(function: Callable[..., Any]) -> tuple[str, ...]:
    """Settings among a function's parameters."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):  # of code that is not Python's
        return ()
    return tuple(name for name in OWN if name in parameters)


def shows_images(function: Callable[..., Any]) -> bool:
    """Whether a function takes images: it has a second positional parameter, or any number of them."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # of code that is not Python's
        return True
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return len([p for p in positional if p.name not in OWN]) > 1 or any(p.kind is p.VAR_POSITIONAL for p in parameters)


def find_function(what: str, *, where: str, form: str) -> OwnCode:
    """The function MODULE:FUNCTION or FILE.py:FUNCTION; `where` (the user's name for it) and `form` are for errors.

    Errors: RunError MODEL_UNKNOWN if there is no such module or function, or the code cannot be imported.
    """
    module, _, function = what.rpartition(":")
    if not module or not function:
        raise unknown(where, "no function is named", form)
    revision, content = "not stated", b""
    file = Path(module).expanduser() if module.endswith(".py") else None
    if file is not None:
        try:
            content = file.read_bytes()
        except OSError as error:
            raise unknown(where, f"{module}: {error.strerror}", form) from error
        revision = f"sha256 {hashlib.sha256(content).hexdigest()[:16]}"
    try:
        loaded = import_module(module) if file is None else _load(file, content)
    except Exception as error:
        mend = "name a module that is installed, or its file as ./FILE.py:FUNCTION"
        raise unknown(where, f"{type(error).__name__}: {error}", "code that can be imported", mend) from error
    attribute = getattr(loaded, function, None)
    if not callable(attribute):
        raise unknown(where, f"no function {function!r} in {module}{did_you_mean(function, dir(loaded))}", form)
    return OwnCode(f"{module if file is None else file.stem}:{function}", revision, attribute)


def unknown(where: str, what: str, expected: str, mend: str = "name the model in this form") -> RunError:
    """The error for a model that cannot be found."""
    return RunError("MODEL_UNKNOWN", where, what, expected, mend)


def _load(file: Path, content: bytes) -> ModuleType:
    """The file as a module, loaded once: a unified model's two functions share its state."""
    # A name that no other module has, so that a file may be called as it likes.
    name = f"{file.stem} {hashlib.sha256(str(file.resolve()).encode() + content).hexdigest()[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = util.spec_from_file_location(name, file.resolve())
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is no Python file")
    loaded = util.module_from_spec(spec)
    # Dataclasses and pickling look a class's module up by name.
    sys.modules[name] = loaded
    try:
        spec.loader.exec_module(loaded)
    except BaseException:
        del sys.modules[name]
        raise
    return loaded
