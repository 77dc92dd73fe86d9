"""Events that add results to the board, and the ids of submissions and results in the log."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from fairspace.leaderboard_space.events import Draft, Event
from fairspace.leaderboard_space.storage import Storage, result_path
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.results.board import entry, logged_row
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.row_errors import errors_of, with_errors


def submission_id(user: str, sha256: str) -> str:
    """Id of a submission: the same for the same file of the same user."""
    return hashlib.sha256(f"{user}\0{sha256}".encode()).hexdigest()[:20]


def result_key(result: Result) -> str:
    """Key of a result: sha256 of the submission's digest, the standard, model and model revision."""
    parts = (result.signature.get("submission", ""), result.standard)
    meta = (str(result.meta.get("model", "")), str(result.meta.get("revision", "")))
    return hashlib.sha256("\0".join((*parts, *meta)).encode()).hexdigest()


def result_draft(
    result: Result,
    user: str = "",
    organisation: str = "",
    identity: Mapping[str, Any] | None = None,
    *,
    own: bool = False,
) -> tuple[Draft, dict[str, bytes]]:
    """The event that adds a result to the board, and its file. UsageError: unknown benchmark.

    Args:
        result: the result.
        user: submitter; '' for none.
        organisation: organisation of the submission.
        identity: identity of the answers, as `read_identity` gives it; without it only equal answers are found.
        own: whether the maintainers scored it themselves.
    """
    key = result_key(result)
    content = result.dumps().encode()
    data = {name: part for name, part in result.to_json().items() if name in _KEPT}
    scored_of = set() if result.draws is None else set(result.draws.names)
    data["values"] = [_logged(value, value["name"] in scored_of) for value in data["values"]]
    body = {
        "key": key,
        "entry": entry(result),
        "user": user,
        "organisation": organisation,
        "sha256": hashlib.sha256(content).hexdigest(),
        "result": data,
        **_errors(result),
        **({"identity": identity} if identity else {}),
        **({"own": True} if own else {}),
    }
    return Draft("result", f"result:{key}", body), {result_path(result.benchmark, key): content}


def add_result(storage: Storage, result: Result) -> Event:
    """Add a result that was not submitted; a second time changes nothing. Errors: as `Storage.append`."""
    draft, files = result_draft(result, own=True)
    return storage.append([draft], files)[0]


def _errors(result: Result) -> dict[str, Any]:
    """Errors and chances of the scores under every released standard; drafts may change and are left out."""
    if not errors_of(result.scored.scores, result.scored.chances).scores:
        return {}
    errors = {}
    for name, standard in find_benchmark(result.benchmark).standards.items():
        if not standard.draft:
            [row] = with_errors([logged_row(result, name)], name)
            errors[name] = errors_of(row.scores, row.chances).to_json()
    return {"errors": errors}


_KEPT = ("benchmark", "standard", "meta", "signature", "run", "values", "draws", "variants")
_IN_FILES = ("evidence", "uncertainty")
"""Parts of a value in the file of its result and not in the log, except `_DECIDING` evidence and the uncertainty of
values behind scores, which the board needs for equal intervals."""
_DECIDING = ("cohort",)
"""Evidence behind a score: GENRES' total is a distance from the cohort of the judge's family."""


def _logged(value: Mapping[str, Any], is_scored: bool) -> dict[str, Any]:
    deciding = {name: part for name, part in value.get("evidence", {}).items() if name in _DECIDING}
    kept = {name: part for name, part in value.items() if name not in _IN_FILES}
    kept |= {"evidence": deciding} if deciding else {}
    return kept | ({"uncertainty": value["uncertainty"]} if is_scored and "uncertainty" in value else {})
