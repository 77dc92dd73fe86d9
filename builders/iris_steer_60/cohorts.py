"""The file of a cohort: the combinations that a plan of pairs follows (C.2)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from fairspace.builders.errors import BuildError
from fairspace.builders.iris.groups import GROUPS, OCCUPATIONS
from fairspace.builders.iris.revisions import MOST, Combination

FORMAT = 1
_LARGEST = 1 << 20
"""Bytes of a cohort file; a hundred models take about a hundred thousand."""
_MEND = "name the submissions of the cohort instead: --cohort SUBMISSION"


def read_cohort(file: Path) -> list[Combination]:
    """The combinations that a cohort file names, those of the whole cohort.

    Errors: BuildError SOURCE_MISSING, SOURCE_LAYOUT, SOURCE_VALUE.
    """
    if not file.is_file():
        raise BuildError("SOURCE_MISSING", str(file), "no such file", "a submission or a file of combinations", _MEND)
    try:
        if file.stat().st_size > _LARGEST:
            raise ValueError(f"{file.stat().st_size:,} bytes")
        data = json.loads(file.read_text(encoding="utf-8"))
        layout, rows = data["format"], [(row["occupation"], row["group"]) for row in data["combinations"]]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        what = f"{type(error).__name__}: {error}"
        expected = "JSON with format and combinations, each with occupation and group"
        raise BuildError("SOURCE_LAYOUT", str(file), what, expected, _MEND) from error
    if layout != FORMAT:
        raise BuildError("SOURCE_LAYOUT", str(file), f"format {layout!r}", f"format {FORMAT}", _MEND)
    combinations = [
        (_index(file, "occupation", occupation, OCCUPATIONS), _index(file, "group", group, GROUPS))
        for occupation, group in rows
    ]
    if not 1 <= len(combinations) <= MOST or len(set(combinations)) < len(combinations):
        what = f"{len(combinations)} combinations, {len(set(combinations))} of them different"
        raise BuildError("SOURCE_VALUE", str(file), what, f"1 to {MOST} different ones", _MEND)
    return combinations


def _index(file: Path, what: str, name: Any, known: Sequence[str]) -> int:
    """The place of a name that a cohort file has. BuildError SOURCE_VALUE names the near one."""
    if name in known:
        return known.index(name)
    close = get_close_matches(str(name), known, n=1)
    hint = f" (did you mean {close[0]!r}?)" if close else ""
    expected = f"an {what} of IRIS" if what == "occupation" else f"a {what} of IRIS, such as {known[0]}"
    raise BuildError("SOURCE_VALUE", str(file), f"{what} {str(name)[:80]!r}{hint}", expected, _MEND)
