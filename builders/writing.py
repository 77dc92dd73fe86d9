"""Files that are there whole or not at all, whatever ends a command: a full disk, a fault, a kill."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def beside(path: Path) -> Iterator[Path]:
    """A place beside `path` to write to, which takes its place at the end, or goes if the block fails.

    A folder or device that is there already is written to itself. OSError names `path`.
    """
    path = path.resolve()
    place = path if path.exists() and not path.is_file() else path.with_name(f".{path.name}.part")
    try:
        if place != path:
            _remove(place)  # of a command that was killed
        yield place
        if place != path:
            place.replace(path)
    except OSError as error:
        if error.errno is None:  # not of this disk
            raise
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error
    finally:
        if place != path:
            _remove(place)


def _remove(place: Path) -> None:
    if place.is_dir():
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text in UTF-8: whole or not at all."""
    with beside(path) as place:
        place.write_text(text, encoding="utf-8")
