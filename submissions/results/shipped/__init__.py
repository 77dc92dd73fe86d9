"""Results of real models that come with the software, each made by the command in README.md, and reruns of them."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from fairspace.submissions.results.result import Result

_RERUNS = Path(__file__).with_name("reruns.json")


@cache
def shipped_results() -> tuple[Result, ...]:
    """The results, by the names of their files."""
    files = sorted(set(_RERUNS.parent.glob("*.json")) - {_RERUNS})
    return tuple(Result.from_json(json.loads(file.read_text(encoding="utf-8"))) for file in files)


@cache
def shipped_reruns() -> dict[str, dict[str, Any]]:
    """Digest of a submission -> `reason` and `evidence` of a rerun that agreed, for `maintaining.verify`."""
    return {rerun["evidence"]["submission"]: rerun for rerun in json.loads(_RERUNS.read_text(encoding="utf-8"))}
