"""A function by its import path, so that a declaration does not load what it names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, cast


@dataclass(frozen=True)
class Lazy:
    """A function that is imported when it is called for the first time.

    Args:
        path: `module:function`.
    """

    path: str

    def load(self) -> Callable[..., Any]:
        """The function itself."""
        module, name = self.path.split(":")
        return cast(Callable[..., Any], getattr(import_module(module), name))

    def __call__(self, *args: Any, **options: Any) -> Any:
        """What the function returns."""
        return self.load()(*args, **options)
