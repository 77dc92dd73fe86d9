from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from fairspace.builders.errors import BuildError


class Refusal(NamedTuple):
    """A change of a good file, and the error: code, end of `where`, part of `found`."""

    name: str
    change: Callable[[bytes], bytes]
    code: str
    where: str
    what: str


def replaced(old: str, new: str | bytes) -> Callable[[bytes], bytes]:
    def change(good: bytes) -> bytes:
        assert old.encode() in good
        return good.replace(old.encode(), new if isinstance(new, bytes) else new.encode(), 1)

    return change


def refuses(read: Callable[[], Any], refusal: Refusal, file: Path) -> None:
    file.write_bytes(refusal.change(file.read_bytes()))
    with pytest.raises(BuildError) as caught:
        read()
    error = caught.value
    assert error.code == refusal.code
    assert error.where.startswith(str(file))
    assert error.where.endswith(refusal.where)
    assert refusal.what in error.what
    assert error.expected
    assert error.mend


TEXT_FILES = (
    Refusal("empty file", lambda good: b"", "SOURCE_LAYOUT", ":1", "an empty file"),
    Refusal("only a header", lambda good: good.split(b"\n")[0] + b"\n", "SOURCE_LAYOUT", ":2", "no rows"),
    Refusal("another separator", lambda good: good.replace(b",", b";"), "SOURCE_LAYOUT", ":1", "no column"),
    Refusal("short row", lambda good: good.rstrip(b"\n").rpartition(b",")[0], "SOURCE_LAYOUT", ":4", "cells"),
    Refusal("long row", lambda good: good.rstrip(b"\n") + b",1\n", "SOURCE_LAYOUT", ":4", "cells"),
    Refusal("not UTF-8", lambda good: good + b"\xe9\n", "SOURCE_LAYOUT", ":5", "the byte 0xe9 at column 1"),
    Refusal("UTF-16", lambda good: good.decode().encode("utf-16"), "SOURCE_LAYOUT", ":1", "the byte 0xff"),
    Refusal("NUL", lambda good: good + b"\0\n", "SOURCE_LAYOUT", ":5", "a NUL character"),
    Refusal("old line ends", lambda good: good.replace(b"\n", b"\r"), "SOURCE_LAYOUT", ":1", "new-line character"),
    Refusal("open quote", lambda good: good + b'"\n', "SOURCE_LAYOUT", ":5", "unexpected end of data"),
)
