from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fairspace.builders.engine.dataset import BuildManifest, Dataset


class Killed(BaseException):
    """A kill that nothing catches."""


def no_card(folder: Path, dataset: Dataset, manifest: BuildManifest) -> None:
    """The card has tests of its own."""


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def assert_goes_on(build: Callable[..., Any], out: Path, dying: Any, living: Any, whole: Path) -> None:
    """Kill a build into `out` with `dying` tools; with `living` ones it resumes to the bytes of `whole`."""
    with pytest.raises(Killed):
        build(out, tools=dying)
    build(out, tools=living)
    assert files(out) == files(whole)
