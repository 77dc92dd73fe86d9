"""Judgements of people on a build's images, used by the next build; the manifest holds them as options.

IRIS checks its generated images by "manual spot-checks" (appendix C.1), GENRES reviews every image that CLIP let pass
(appendix B.2, step 3). A refusal names a row's `id` and `seed`: the next build rejects that candidate and tries the
image's next seed. The same happens to an image with a label that neither of two reviewers named; other reviewed images
keep the judgements in three columns.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from fairspace.builders.errors import BuildError

REVIEWED = "reviewed"
"""Name among a build's options."""
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
    """A file of JSON lines as the value of `REVIEWED`, sorted by id. BuildError SOURCE_MISSING, REVIEW_INVALID."""
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
    """The reviews of a build's images, from its options."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._said = {row[0]: row[1:] for row in json.loads(options.get(REVIEWED, "[]"))}

    def failed(self) -> list[tuple[str, int]]:
        """Id and seed of the made images with a label that neither reviewer named."""
        return [(name, said[0]) for name, said in self._said.items() if said[0] is not None and said[3]]

    def columns(self, name: str, seed: int | None) -> dict[str, str | None]:
        """The three columns of a row; null if nobody reviewed the image with this seed."""
        said = self._said.get(name)
        if said is None or said[0] != seed:
            return dict.fromkeys(COLUMNS)
        return {column: ", ".join(columns) for column, columns in zip(COLUMNS, said[1:], strict=True)}


REFUSED = "refused"
"""Name among a build's options."""
REASON = "refused by a person"
_FORM = '{"id": "ideal/nurse/female_young_dark/03", "seed": 123}'


def read_refusals(file: Path) -> str:
    """A file of JSON lines as the value of `REFUSED`: sorted [id, seed]. BuildError SOURCE_MISSING, SOURCE_LAYOUT."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        mend = "name another file with --refused"
        raise BuildError("SOURCE_MISSING", str(file), str(error), "a file of JSON lines", mend) from error
    return json.dumps(sorted(set(_lines(file, text))), ensure_ascii=False, separators=(",", ":"))


def _lines(file: Path, text: str) -> Iterator[tuple[str, int]]:
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError:
            row = None
        name, seed = (row.get("id"), row.get("seed")) if isinstance(row, dict) else (None, None)
        if not isinstance(name, str) or "/" not in name or type(seed) is not int:
            mend = "take both from the row; a row without a seed shows an image of a source, which is left out there"
            raise BuildError("SOURCE_LAYOUT", f"{file}:{number}", line[:200], _FORM, mend)
        yield name, seed


class Refusals:
    """Candidates that a person refused, or with a label that two reviewers failed to see, from a build's options.

    A row may be a candidate of another key (numbered candidates of a trait, another try of a pair), so the seed and the
    part of the id before its last `/` decide.
    """

    def __init__(self, options: Mapping[str, str]) -> None:
        self._seeds: dict[int, set[str]] = {}
        for name, seed in [*json.loads(options.get(REFUSED, "[]")), *Reviews(options).failed()]:
            self._seeds.setdefault(seed, set()).add(name.rpartition("/")[0])

    def name(self, key: str, seed: int) -> bool:
        """Whether they include the candidate of that key and seed."""
        return any(key.startswith(f"{folder}/") for folder in self._seeds.get(seed, ()))
