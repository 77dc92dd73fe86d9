"""Events that add results to the board, and the ids of submissions and results in the log."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from fairspace.leaderboard_space.events import Draft, Event
from fairspace.leaderboard_space.storage import Storage, result_path
from fairspace.submissions.results.board import entry
from fairspace.submissions.results.result import Result


def submission_id(user: str, sha256: str) -> str:
    """Id of a submission: the same for the same file of the same user."""
    return hashlib.sha256(f"{user}\0{sha256}".encode()).hexdigest()[:20]


def result_key(result: Result) -> str:
    """Key of a result: sha256 of the submission's digest, the standard, model and model revision."""
    parts = (result.signature.get("submission", ""), result.standard)
    meta = (str(result.meta.get("model", "")), str(result.meta.get("revision", "")))
    return hashlib.sha256("\0".join((*parts, *meta)).encode()).hexdigest()


def result_draft(result: Result, user: str = "", organisation: str = "") -> tuple[Draft, dict[str, bytes]]:
    """The event that adds a result to the board, and its file. UsageError: unknown benchmark."""
    key = result_key(result)
    content = result.dumps().encode()
    data = {name: part for name, part in result.to_json().items() if name in _KEPT}
    data["values"] = [_logged(value) for value in data["values"]]
    body = {
        "key": key,
        "entry": entry(result),
        "user": user,
        "organisation": organisation,
        "sha256": hashlib.sha256(content).hexdigest(),
        "result": data,
    }
    return Draft("result", f"result:{key}", body), {result_path(result.benchmark, key): content}


def add_result(storage: Storage, result: Result) -> Event:
    """Add a result that was not submitted; a second time changes nothing. Errors: as `Storage.append`."""
    draft, files = result_draft(result)
    return storage.append([draft], files)[0]


_KEPT = ("benchmark", "standard", "meta", "signature", "run", "values", "draws", "variants", "counts")
_IN_FILES = ("evidence", "uncertainty")
"""Of a value: what the file of its result holds, and the log does not, but for `_DECIDING` of its evidence."""
_DECIDING = ("cohort",)
"""Evidence that a score is made from: GENRES' total is a distance from the cohort of the judge's family."""


def _logged(value: Mapping[str, Any]) -> dict[str, Any]:
    deciding = {name: part for name, part in value.get("evidence", {}).items() if name in _DECIDING}
    kept = {name: part for name, part in value.items() if name not in _IN_FILES}
    return {**kept, "evidence": deciding} if deciding else kept
