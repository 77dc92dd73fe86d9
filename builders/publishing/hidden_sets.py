"""What a release says of its hidden item sets: the register's lines, as a file and on the card."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from fairspace.builders.hidden import COLUMNS, read_register

FILE = "hidden.csv"


def with_hidden_sets(files: Mapping[str, Path | bytes], benchmark: str) -> dict[str, Path | bytes]:
    """The files of a release with the commitments to its hidden sets; as they are where it has none."""
    entries = [entry for entry in read_register() if entry.benchmark == benchmark]
    if not entries:
        return dict(files)
    listed = io.StringIO()
    writer = csv.DictWriter(listed, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(map(asdict, entries))
    card = files["README.md"]
    text = card.decode() if isinstance(card, bytes) else card.read_text(encoding="utf-8")
    lines = [f"| `{e.revision}` | {e.begun} | {e.published or 'held back'} | `{e.commitment}` |" for e in entries]
    section = (
        "\n## Hidden sets\n\nDraws of the same grammar that are held back for a time. The sha256 of benchmark, "
        f"revision and seed, with a NUL between them, stands here from the first day; `{FILE}` has published seeds.\n\n"
        "| revision | begun | published | commitment |\n|---|---|---|---|\n" + "\n".join(lines) + "\n"
    )
    return {**files, "README.md": (text.rstrip() + "\n" + section).encode(), FILE: listed.getvalue().encode()}
