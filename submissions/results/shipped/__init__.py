"""Results of real models that come with the software, each made by the command in README.md."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from fairspace.submissions.results.result import Result


@cache
def shipped_results() -> tuple[Result, ...]:
    """The results, by the names of their files."""
    files = sorted(Path(__file__).parent.glob("*.json"))
    return tuple(Result.from_json(json.loads(file.read_text(encoding="utf-8"))) for file in files)
