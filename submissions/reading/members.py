"""One file of a submission, and the names that a file may have."""

from __future__ import annotations

import re
import struct
import unicodedata
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO

from fairspace.submissions.format.collector import Collector, show
from fairspace.submissions.reading.limits import Limits

IGNORED = ("README.md", "LICENSE", "LICENSE.txt", ".gitattributes", ".gitignore")
"""Unopened companions of a submission in a dataset repo on the Hub."""
IMAGE_FILE = re.compile(r"images(-\d{5}-of-\d{5})?\.parquet")
"""A file of images; in a folder it may be larger than others."""
ARCHIVES = (".zip", ".tar", ".tgz", ".gz", ".bz2", ".xz", ".zst", ".7z", ".rar", ".whl", ".jar")
READ_ERRORS = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    RuntimeError,
    ValueError,
    IndexError,
)
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)


@dataclass(frozen=True)
class Member:
    """One file of a submission: its name, size after decompression and opener."""

    name: str
    size: int
    open: Callable[[], IO[bytes]]


def name_is_safe(name: str, seen: dict[str, str], limits: Limits, faults: Collector) -> bool:
    """Whether a name is a plain and unique file name; notes a fault if not."""
    parts = name.removesuffix("/").split("/")
    marks = any(unicodedata.category(character)[0] == "C" for character in name)
    if marks or len(name) > limits.name_length:
        problem = show(name) if marks else f"{show(name, 40)}, {len(name)} characters"
        faults.add(
            "UNSAFE_NAME", show(name, 40), problem, expected=f"at most {limits.name_length} printable characters"
        )
    elif name.startswith("/") or "\\" in name or re.match("[A-Za-z]:", name) or {"", ".", ".."} & set(parts):
        faults.add("UNSAFE_PATH", show(name), "a path that leaves the submission", expected="a plain file name")
    elif any(_RESERVED.fullmatch(part) or part[-1] in ". " for part in parts):
        faults.add("UNSAFE_NAME", show(name), "a name that some systems reserve", expected="a name of the format")
    elif len(parts) > 1:
        problem = "a file in a folder"
        faults.add("NESTED_FOLDER", show(parts[0]), problem, expected="files alone, at the top level")
    elif seen.get(name.casefold()) == name:
        faults.add("DUPLICATE_FILE", name, "two members of this name", expected="every name once")
    elif name.casefold() in seen:
        problem = f"{show(name)} beside {show(seen[name.casefold()])}"
        faults.add("CASE_COLLISION", show(name), problem, expected="names that differ in more than capitals")
    else:
        seen[name.casefold()] = name
        return True
    return False
