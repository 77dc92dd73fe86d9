"""What two reviewers said of a build's images, taken up by the next build.

A label that neither names is no truth: the image is made again with its next seed. The others keep what was said of
them in three columns. What they said is an option of the build, so the manifest holds it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from fairspace.builders.errors import BuildError

OPTION = "reviewed"
"""The name among a build's options."""
VERDICTS = ("confirmed", "disputed", "failed")
COLUMNS: Mapping[str, tuple[str, str]] = {
    "review_confirmed": (
        "string",
        "columns whose label two reviewers named, each alone; null if nobody reviewed this image",
    ),
    "review_disputed": ("string", "columns whose label one of them named"),
    "review_failed": (
        "string",
        "columns whose label neither named, of an image of a source: a made one is made again",
    ),
}
"""Column -> its type and one sentence for the card."""


def read_reviews(file: Path) -> str:
    """A file of JSON lines as the value of `OPTION`: a JSON list, sorted by id.

    BuildError SOURCE_MISSING without the file, REVIEW_INVALID with file and line for a line of another form.
    """
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        mend = "name another file with --reviewed"
        raise BuildError("SOURCE_MISSING", str(file), str(error), "a file of JSON lines", mend) from error
    rows = {}
    for number, line in enumerate(lines, 1):
        try:
            row = json.loads(line)
            name, seed, lists = row["id"], row["seed"], [row[verdict] for verdict in VERDICTS]
            good = isinstance(name, str) and (seed is None or type(seed) is int) and name not in rows
            good = good and all(isinstance(column, str) for columns in lists for column in columns)
        except (ValueError, KeyError, TypeError):
            good = False
        if not good:
            expected = f"id, seed, {', '.join(VERDICTS)}, every id once"
            mend = "write one object per image; the seed is that of its row, null for an image of a source"
            raise BuildError("REVIEW_INVALID", f"{file}:{number}", line[:200], expected, mend)
        rows[name] = [name, seed, *lists]
    return json.dumps([rows[name] for name in sorted(rows)], ensure_ascii=False, separators=(",", ":"))


class Reviews:
    """What was said of the images of a build, by its options."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._said = {row[0]: row[1:] for row in json.loads(options.get(OPTION, "[]"))}

    def failed(self) -> list[tuple[str, int]]:
        """Id and seed of the made images with a label that neither reviewer named."""
        return [(name, said[0]) for name, said in self._said.items() if said[0] is not None and said[3]]

    def columns(self, name: str, seed: int | None) -> dict[str, str | None]:
        """The three columns of a row; null if nobody reviewed the image with this seed."""
        said = self._said.get(name)
        if said is None or said[0] != seed:
            return dict.fromkeys(COLUMNS)
        return {column: ", ".join(columns) for column, columns in zip(COLUMNS, said[1:], strict=True)}
