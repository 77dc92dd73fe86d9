"""Images by the user's own code: a function that unified models, or anything else, can stand behind.

    def make(prompts):                       # a list of fairspace.builders.engine.tools.Prompt: text, seed
        return [paint(prompt.text, prompt.seed) for prompt in prompts]

It returns one thing per prompt: a PIL image, the bytes of an encoded image, or None if the model refused. It may have
an attribute `settings`, a dict of texts and numbers that decide the images; a run that goes on wants them unchanged.
What a file imports must be installed, or on PYTHONPATH.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from typing import Any

from fairspace.builders.engine.tools import Prompt
from fairspace.submissions.running.errors import RunError
from fairspace.submissions.running.images.made import Made, Setting, checked, failed, refused
from fairspace.submissions.running.local.own_code import find_function, unknown

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
        if batch < 1:
            raise unknown(named or what, "a batch below 1", "batch=1 or more", "name another")
        loaded = find_function(what, where=named or what, form=_FORM)
        self.batch = batch
        self.name, self.revision = name or loaded.name, revision or loaded.revision
        self._function = loaded.function

    @property
    def engine_version(self) -> str:
        """Of Python, for the code has none."""
        return f"python {platform.python_version()}"

    def settings(self) -> dict[str, Setting]:
        """What the function says that decides its images, and the size of a batch."""
        stated = getattr(self._function, "settings", {})
        scalars = (str, int, float, bool, type(None))
        if not isinstance(stated, Mapping) or not all(
            isinstance(key, str) and isinstance(value, scalars) for key, value in stated.items()
        ):
            problem = f"the attribute `settings` {stated!r}"[:200]
            raise unknown(self.name, problem, "a dict of texts, numbers, true, false or None")
        return {**stated, "batch": self.batch}

    def make(self, prompts: Sequence[Prompt]) -> list[Made]:
        """What the function returns. RunError MODEL_OUTPUT if that is not one image, bytes or None per prompt."""
        try:
            given = self._function(list(prompts))
        except Exception as error:  # noqa: BLE001 - whatever breaks in foreign code is the fate of these prompts
            return [failed(f"{type(error).__name__}: {error}") for _ in prompts]
        if not isinstance(given, list | tuple) or len(given) != len(prompts):
            length = f" of {len(given)}" if isinstance(given, list | tuple) else ""
            raise self._wrong(f"{type(given).__name__}{length} for {len(prompts)} prompts")
        return [self._made(image) for image in given]

    def _made(self, given: Any) -> Made:
        from PIL.Image import Image

        if given is None:
            return refused("the function returned None")
        if not isinstance(given, Image | bytes):
            raise self._wrong(f"an element of type {type(given).__name__}")
        return checked(given)

    def _wrong(self, problem: str) -> RunError:
        expected = "a list with a PIL image, bytes of an encoded image, or None for each prompt"
        return RunError("MODEL_OUTPUT", self.name, problem, expected, "correct the function, then run again")
