"""Upstream checkpoints that ARES opens beside its own weights: a commit of a Hub repository, or a folder."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

_COMMIT = re.compile(r"[0-9a-f]{40}")


def pinned(source: str, revision: str) -> dict[str, Any]:
    """Arguments of `from_pretrained` beside the source. ValueError for a repository without a commit."""
    if Path(source).is_dir():
        return {}
    if not _COMMIT.fullmatch(revision):
        raise ValueError(f"revision {revision!r} of {source} is no commit. Name one: 40 hexadecimal digits")
    return {"revision": revision}


def checkpoint_name(source: str, revision: str) -> str:
    """Repository@commit; for a folder its name and a hash of its files, because a path identifies nothing."""
    folder = Path(source)
    if not folder.is_dir():
        return f"{source}@{revision}"
    total = hashlib.sha256()
    for file in sorted(file for file in folder.iterdir() if file.is_file() and not file.name.startswith(".")):
        with file.open("rb") as stream:
            total.update(f"{file.name}\0{hashlib.file_digest(stream, 'sha256').hexdigest()}\n".encode())
    return f"{folder.resolve().name} (sha256 {total.hexdigest()[:16]})"
