"""Judgements of people on a build's images, used by the next build; the manifest holds them as options.

IRIS checks its generated images by "manual spot-checks" (appendix C.1), GENRES reviews every image that CLIP let pass
(appendix B.2, step 3). A line names a row's `id` and `seed`. Alone, or with a label that neither of two reviewers
named, it refuses the image: the next build rejects that candidate and tries the image's next seed. Other reviewed
images keep the judgements in three columns.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from fairspace.builders.errors import BuildError

REVIEWED = "reviewed"
"""Name among a build's options."""
REASON = "refused by a person"
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
    """A file of JSON lines as the value of `REVIEWED`, sorted. BuildError SOURCE_MISSING, REVIEW_INVALID."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        mend = "name another file with --reviewed"
        raise BuildError("SOURCE_MISSING", str(file), str(error), "a file of JSON lines", mend) from error
    rows: dict[tuple[str, int | None], list[object]] = {}
    for number, line in enumerate(lines, 1):
        try:
            row = json.loads(line)
            name, seed = row["id"], row["seed"]
            lists = [row[verdict] for verdict in VERDICTS] if set(VERDICTS) & set(row) else [[], [], [REASON]]
            good = isinstance(name, str) and "/" in name and (name, seed) not in rows
            good = good and (type(seed) is int or (seed is None and len(row) > 2))
            good = good and all(isinstance(column, str) for columns in lists for column in columns)
        except (ValueError, KeyError, TypeError):
            good = False
        if not good:
            expected = f"id and seed, or also {', '.join(VERDICTS)}; every image once"
            mend = "write one object per image; the seed is that of its row, null for a reviewed image of a source"
            raise BuildError("REVIEW_INVALID", f"{file}:{number}", line[:200], expected, mend)
        rows[name, seed] = [name, seed, *lists]
    ordered = [rows[key] for key in sorted(rows, key=lambda key: (key[0], key[1] or 0))]
    return json.dumps(ordered, ensure_ascii=False, separators=(",", ":"))


class Reviews:
    """The reviews of a build's images, from its options."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._lists = {(row[0], row[1]): row[2:] for row in json.loads(options.get(REVIEWED, "[]"))}
        self._refused: dict[int, set[str]] = {}
        for name, seed in self.refused():
            self._refused.setdefault(seed, set()).add(name.rpartition("/")[0])

    def refused(self) -> list[tuple[str, int]]:
        """Id and seed of the made images that are to be made again."""
        return [(name, seed) for (name, seed), lists in self._lists.items() if seed is not None and lists[2]]

    def refuses(self, key: str, seed: int) -> bool:
        """Whether the candidate of that key and seed is refused.

        A row may be a candidate of another key (numbered candidates of a trait, another try of a pair), so the seed and
        the part of the id before its last `/` decide.
        """
        return any(key.startswith(f"{folder}/") for folder in self._refused.get(seed, ()))

    def columns(self, name: str, seed: int | None) -> dict[str, str | None]:
        """The three columns of a row; null if nobody reviewed the image with this seed."""
        lists = self._lists.get((name, seed))
        if lists is None:
            return dict.fromkeys(COLUMNS)
        return {column: ", ".join(columns) for column, columns in zip(COLUMNS, lists, strict=True)}
