"""What a person refused on the contact sheets, handed back to the next build.

IRIS checks its generated images by "manual spot-checks" (appendix C.1), GENRES reviews every image that CLIP let pass
(appendix B.2, step 3). A refusal names the row's `id` and `seed`; in the next build the candidate of that seed counts
as rejected, so the image's next seed is tried. All other images come out as before. The manifest holds the refusals.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from fairspace.builders.engine.reviews import Reviews
from fairspace.builders.errors import BuildError

OPTION = "refused"
"""The name among a build's options."""
REASON = "refused by a person"
"""The reason of the rejected candidates."""
_FORM = '{"id": "ideal/nurse/female_young_dark/03", "seed": 123}'


def read_refusals(file: Path) -> str:
    """A file of JSON lines as the value of `OPTION`: a JSON list of [id, seed], sorted, each once.

    BuildError SOURCE_MISSING without the file, SOURCE_LAYOUT with file and line for a line of another form.
    """
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
    """The candidates that a person refused, or whose label two reviewers failed to see.

    Args:
        options: of the build.

    A row may be a candidate of another key (the images of a trait are drawn from numbered candidates, a pair may be
    tried again), so the part of the id before its last `/` and the seed decide.
    """

    def __init__(self, options: Mapping[str, str]) -> None:
        self._seeds: dict[int, set[str]] = {}
        for name, seed in [*json.loads(options.get(OPTION, "[]")), *Reviews(options).failed()]:
            self._seeds.setdefault(seed, set()).add(name.rpartition("/")[0])

    def name(self, key: str, seed: int) -> bool:
        """Whether they name the candidate of that key and seed."""
        return any(key.startswith(f"{folder}/") for folder in self._seeds.get(seed, ()))
