"""Expensive fixtures, made once for all workers and later runs, in `.pytest_cache/store`.

A folder's name is the hash of the code that makes it and of its libraries' versions.
"""

import hashlib
import shutil
from collections.abc import Callable, Iterable
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path

from filelock import FileLock

from tests.cpu_seconds import CLOCK

ROOT = Path(__file__).parents[1]
STORE = ROOT / ".pytest_cache" / "store"
LIBRARIES = ("numpy", "pyarrow", "datasets", "pillow", "torch", "transformers")
_CODE = ("ares", "builders", "cards", "metrics", "submissions")


def stored(name: str, make: Callable[[Path], object], sources: Iterable[str] = _CODE) -> Path:
    """The fixture's folder, read-only for tests.

    Args:
        make: Function that fills a new folder, kept only if it returns.
        sources: Patterns of the files and folders of the repository that decide the content.
    """
    key = _hash(tuple(sources))
    folder = STORE / f"{name}-{key}"
    STORE.mkdir(parents=True, exist_ok=True)
    with FileLock(STORE / f"{name}.lock"):
        if not folder.exists():
            for older in STORE.glob(f"{name}-{'[0-9a-f]' * len(key)}"):
                shutil.rmtree(older)
            part = STORE / f"{name}.part"
            shutil.rmtree(part, ignore_errors=True)
            part.mkdir()
            with CLOCK.sharing():
                make(part)
            part.rename(folder)
    return folder


@lru_cache
def _hash(sources: tuple[str, ...]) -> str:
    """Hash of names and contents of all files below the sources, and of the libraries' versions."""
    digest = hashlib.sha256(" ".join(f"{name} {version(name)}" for name in LIBRARIES).encode())
    for source in sources:
        places = sorted(ROOT.glob(source))
        assert places, f"{source} is not in the repository"
        for file in (file for place in places for file in (sorted(place.rglob("*")) if place.is_dir() else [place])):
            if file.is_file() and "__pycache__" not in file.parts:
                digest.update(f"{file.relative_to(ROOT)}\0".encode() + file.read_bytes())
    return digest.hexdigest()[:16]
