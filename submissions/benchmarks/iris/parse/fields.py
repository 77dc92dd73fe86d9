"""Fields of a JSON object that name an occupation."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fairspace.submissions.answers.loose_json import values

_KEY = re.compile(r"occupation|profession|\bjob|answer|role|career|label|prediction|result")
_OTHER_KEY = re.compile(r"alternativ|other|second|confidence|reason|explanation|category|industry|field")


def stated_fields(text: str) -> Iterator[tuple[str | None, tuple[int, int]]]:
    """The text of each such field, several joined by "or", None of null, with the place of its object."""
    if "{" not in text:
        return
    for found in values(text):
        entry = found.value[0] if isinstance(found.value, list) and found.value else found.value
        if not isinstance(entry, dict):
            continue
        for key, value in entry.items():
            if not _KEY.search(str(key).lower()) or _OTHER_KEY.search(str(key).lower()):
                continue
            if value is None:
                yield None, found.span
            parts = value if isinstance(value, list) else [value]
            stated = " or ".join(part for part in parts if isinstance(part, str))
            if stated.strip():
                yield stated, found.span
