"""Images by the user's own code: a function that unified models, or anything else, can stand behind.

    def make(prompts):                       # a list of builders.tools.Prompt: text, seed
        return [paint(prompt.text, prompt.seed) for prompt in prompts]

It returns one thing per prompt: a PIL image, the bytes of an encoded image, or None if the model refused. It may have
an attribute `settings`, a dict of texts and numbers that decide the images; a run that goes on wants them unchanged.
What a file imports must be installed, or on PYTHONPATH.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module, util
from pathlib import Path
from typing import Any

from builders.tools import Prompt
from submissions.running.errors import RunError
from submissions.running.image_made import Made, Setting, checked, failed, refused, sha256

_FORM = "python:MODULE:FUNCTION, or python:FILE.py:FUNCTION"


class CallableImages:
    """A function of the user's.

    Args:
        what: MODULE:FUNCTION, or FILE.py:FUNCTION.
        named: what it is opened by.
        batch: prompts of one call.
        name: of the model; '' takes MODULE:FUNCTION.
        revision: of the model; '' takes the hash of a file.

    Errors: RunError MODEL_UNKNOWN if there is no such function.
    """

    engine = "callable"
    concurrency = 1

    def __init__(self, what: str, *, named: str = "", batch: int = 1, name: str = "", revision: str = "") -> None:
        module, _, function = what.rpartition(":")
        if not module or not function or batch < 1:
            raise _unknown(named or what, "no module, no function, or a batch below 1", _FORM)
        self.named, self.batch = named, batch
        self.name = name or f"{Path(module).stem if _is_file(module) else module}:{function}"
        self.revision = revision or (f"sha256 {_hash(module, what)}" if _is_file(module) else "not stated")
        self._function = _find(module, function, named or what)

    @property
    def engine_version(self) -> str:
        """Of Python, for the code has none."""
        return f"python {platform.python_version()}"

    def settings(self) -> dict[str, Setting]:
        """What the function says that decides its images, and the size of a batch."""
        own = getattr(self._function, "settings", {})
        scalars = (str, int, float, bool, type(None))
        if not isinstance(own, Mapping) or not all(
            isinstance(key, str) and isinstance(value, scalars) for key, value in own.items()
        ):
            found = f"the attribute `settings` {own!r}"[:200]
            raise _unknown(self.name, found, "a dict of texts, numbers, true, false or None")
        return {**own, "batch": self.batch}

    def make(self, prompts: Sequence[Prompt]) -> list[Made]:
        """What the function returns. RunError MODEL_OUTPUT if that is not one image, bytes or None per prompt."""
        try:
            given = self._function(list(prompts))
        except Exception as error:  # noqa: BLE001 - whatever breaks in foreign code is the fate of these prompts
            return [failed(f"{type(error).__name__}: {error}") for _ in prompts]
        if not isinstance(given, list | tuple) or len(given) != len(prompts):
            length = f" of {len(given)}" if isinstance(given, list | tuple) else ""
            raise self._wrong(f"{type(given).__name__}{length} for {len(prompts)} prompts")
        return [self._made(one) for one in given]

    def _made(self, given: Any) -> Made:
        from PIL.Image import Image

        if given is None:
            return refused("the function returned None")
        if not isinstance(given, Image | bytes):
            raise self._wrong(f"an element of type {type(given).__name__}")
        return checked(given)

    def _wrong(self, found: str) -> RunError:
        expected = "a list with a PIL image, bytes of an encoded image, or None for each prompt"
        return RunError("MODEL_OUTPUT", self.name, found, expected, "correct the function, then run again")


def _is_file(module: str) -> bool:
    return module.endswith(".py")


def _hash(module: str, what: str) -> str:
    try:
        return sha256(Path(module).expanduser().read_bytes())[:16]
    except OSError as error:
        raise _unknown(what, f"{module}: {error.strerror}", _FORM) from error


def _find(module: str, function: str, where: str) -> Callable[[list[Prompt]], Any]:
    try:
        loaded = _load(Path(module).expanduser()) if _is_file(module) else import_module(module)
    except Exception as error:
        mend = "name a module that is installed, or its file as python:./FILE.py:FUNCTION"
        raise _unknown(where, f"{type(error).__name__}: {error}", "code that can be imported", mend) from error
    found = getattr(loaded, function, None)
    if not callable(found):
        raise _unknown(where, f"no function {function!r} in {module}", _FORM)
    return found


def _load(file: Path) -> Any:
    # A name that no other module has, so that a file may be called as it likes.
    name = f"{file.stem} {sha256(str(file.resolve()).encode())[:16]}"
    spec = util.spec_from_file_location(name, file.resolve())
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is no Python file")
    loaded = util.module_from_spec(spec)
    # Dataclasses and pickling look a class's module up by name.
    sys.modules[name] = loaded
    spec.loader.exec_module(loaded)
    return loaded


def _unknown(where: str, what: str, expected: str, mend: str = "name the model in this form") -> RunError:
    return RunError("MODEL_UNKNOWN", where, what, expected, mend)
