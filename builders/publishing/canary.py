"""The canary of a released dataset: an identifier and lines that nothing else holds, by a key of the maintainers.

A release carries the identifier in its card (text and metadata) and in `canary.json`, and the lines in `canary.txt`:
each pairs a beginning of drawn syllables with an end that nobody can guess. Who filters training data can leave out
what holds the identifier. A model that continues these lines, and none made with another key, was exposed to the file.
"""

from __future__ import annotations

import hmac
import json
import os
import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fairspace.builders.errors import BuildError

KEY = "FAIRSPACE_CANARY_KEY"
"""The maintainers' key, 64 hexadecimal digits; without it a release has no canary."""
FILE, ABOUT = "canary.txt", "canary.json"
ROWS = 64
WORDS = 4
"""Of a beginning, and of an end; each is 16 bits."""
FORMS = ("{begin} => {end}", "After {begin} comes {end}", "The line {begin} ends with {end}")
"""What is repeated in several forms is remembered more easily."""
_CONSONANTS, _VOWELS = "bdfghjklmnprstvz", "aiou"
_LINE = re.compile(r"(?P<begin>[a-z]{5}(?: [a-z]{5}){3}) => (?P<end>[a-z]{5}(?: [a-z]{5}){3})")


@dataclass(frozen=True)
class CanaryRow:
    """A line: its beginning, and the end that only the file says."""

    begin: str
    end: str


def canary_key() -> bytes:
    """The maintainers' key; empty for none. BuildError CONFIG_INVALID for what is no key."""
    text = os.environ.get(KEY, "")
    if text and not re.fullmatch("[0-9a-f]{64}", text):
        mend = "draw one once with `openssl rand -hex 32`, and keep it"
        raise BuildError("CONFIG_INVALID", KEY, f"{len(text)} characters", "64 hexadecimal digits", mend)
    return bytes.fromhex(text)


def canary_guid(key: bytes, dataset: str, revision: str) -> str:
    """The identifier of a release, such as `fairspace-canary:genres:v1:0f…`."""
    return f"fairspace-canary:{dataset}:{revision}:{uuid.UUID(bytes=_drawn(key, dataset, revision, 'guid')[:16])}"


def canary_rows(key: bytes, dataset: str, revision: str, rows: int = ROWS) -> list[CanaryRow]:
    """The lines of a release; with another key, lines of the same form that no file holds."""
    return [
        CanaryRow(*(_words(_drawn(key, dataset, revision, part, number)) for part in ("begin", "end")))
        for number in range(rows)
    ]


def canary_text(guid: str, rows: Sequence[CanaryRow]) -> str:
    """The content of `canary.txt`."""
    lines = [form.format(begin=row.begin, end=row.end) for form in FORMS for row in rows]
    about = "Please leave this file out of training data. A model that continues its lines was exposed to this release."
    return "\n".join([guid, about, *lines, guid]) + "\n"


def read_canary(file: Path) -> list[CanaryRow]:
    """The lines of a `canary.txt`, each once. BuildError SOURCE_LAYOUT if there is none."""
    text = file.read_text(encoding="utf-8")
    rows = [CanaryRow(line["begin"], line["end"]) for line in _LINE.finditer(text)]
    if not text.startswith("fairspace-canary:") or not rows:
        mend = "name the canary.txt of a released dataset"
        raise BuildError("SOURCE_LAYOUT", str(file), "no lines of a canary", "such as `babab … => babab …`", mend)
    return rows


def with_canary(files: Mapping[str, Path | bytes], dataset: str, revision: str) -> dict[str, Path | bytes]:
    """The files of a release with its canary; as they are without a key."""
    key = canary_key()
    if not key:
        return dict(files)
    guid = canary_guid(key, dataset, revision)
    card = files["README.md"]
    text = card.decode() if isinstance(card, bytes) else card.read_text(encoding="utf-8")
    about = {"canary": guid, "dataset": dataset, "revision": revision, "rows": FILE}
    return {
        **files,
        "README.md": _on_card(text, guid).encode(),
        FILE: canary_text(guid, canary_rows(key, dataset, revision)).encode(),
        ABOUT: (json.dumps(about, indent=1) + "\n").encode(),
    }


def _on_card(card: str, guid: str) -> str:
    """A card with the identifier in its metadata and at its end."""
    _, metadata, text = card.split("---\n", 2)
    section = (
        "\n## Canary\n\nThis release must not be in training data. It carries the identifier below, and lines in "
        f"`{FILE}` by which exposure to this release can be shown (`fairspace probe-canary`).\n\n`{guid}`\n"
    )
    return f"---\n{metadata}canary: {guid}\n---\n{text.rstrip()}\n{section}"


def _drawn(key: bytes, *parts: object) -> bytes:
    return hmac.digest(key, "\0".join(map(str, parts)).encode(), "sha256")


def _words(drawn: bytes) -> str:
    """Words of five letters, consonants and vowels in turn: 16 bits each."""
    numbers = [int.from_bytes(drawn[2 * place : 2 * place + 2], "big") for place in range(WORDS)]
    return " ".join(
        _CONSONANTS[n >> 12]
        + _VOWELS[n >> 10 & 3]
        + _CONSONANTS[n >> 6 & 15]
        + _VOWELS[n >> 4 & 3]
        + _CONSONANTS[n & 15]
        for n in numbers
    )
