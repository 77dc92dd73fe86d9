"""Small stores with real results of trivial models, events about them, and submissions to upload."""

import hashlib
import json
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from fairspace.leaderboard_space.events import Draft, Kind, submission_path
from fairspace.leaderboard_space.intake import result_draft, submission_id
from fairspace.leaderboard_space.logged import board_values, unpacked
from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.storage.local import LocalStorage
from fairspace.submissions.benchmarks.baselines import baseline_meta
from fairspace.submissions.checking.submission import check_submission
from fairspace.submissions.format.writing import write_submission
from fairspace.submissions.results.result import Result
from tests.scored_baselines import scored_baseline

HOSTILE = "=cmd() <script>alert(1)</script> [x](https://evil.example) **b** <img src=https://evil.example/a.png>"


def result(benchmark: str, answers: str, model: str | None = None) -> Result:
    """A trivial model's result: a baseline's, or a named model's without a digest of its answers."""
    scored = scored_baseline(answers, benchmark)
    if model is None:
        return scored
    signature = {name: text for name, text in scored.signature.items() if name != "answers"}
    signature["submission"] = hashlib.sha256(f"{signature['submission']} {model}".encode()).hexdigest()
    meta = {**scored.meta, "baseline": None, "model": model, "organisation": model}
    return replace(scored, meta=meta, signature=signature)


def mark(kind: Kind, entry: str, reason: str = "a reason") -> Draft:
    """A maintainer's event about a row."""
    return Draft(kind, f"{kind}:{entry}:{reason}", {"entry": entry, "by": "m", "reason": reason})


def add(
    state: State,
    scored: Result,
    user: str = "",
    organisation: str = "",
    identity: Mapping[str, Any] | None = None,
    *,
    is_released: bool = False,
) -> str:
    """Append a result, without a user the maintainers' own; the entry of its row."""
    draft, files = result_draft(scored, user, organisation, identity, own=not user)
    entry = str(draft.body["entry"])
    state.storage.append([draft, mark("released", entry)] if is_released else [draft], files)
    state.refresh()
    return entry


def full_of(state: State, entry: str) -> Result:
    """The stored result of a row."""
    full = state.full(entry)
    assert full is not None
    return full


def state_of(root: Path, *results: Result, user: str = "") -> State:
    """The state of a new store with these results."""
    state = State(LocalStorage(root))
    drafts = [result_draft(scored, user, own=not user) for scored in results]
    files = {path: content for _, held in drafts for path, content in held.items()}
    if drafts:
        state.storage.append([draft for draft, _ in drafts], files)
    state.refresh()
    return state


def accepted(user: str, content: bytes) -> tuple[Draft, dict[str, bytes]]:
    """The event of a submission's first attempt, and its file."""
    sha256 = hashlib.sha256(content).hexdigest()
    name = submission_id(user, sha256)
    body = {"id": name, "attempt": 1, "user": user, "organisation": "", "sha256": sha256, "size": len(content)}
    return Draft("accepted", f"accepted:{name}:1", body), {submission_path(sha256): content}


def ended(kind: Kind, submission: str, attempt: int = 1, **about: Any) -> Draft:
    """The end of an attempt at a submission."""
    return Draft(kind, f"ended:{submission}:{attempt}", {"id": submission, "attempt": attempt, "tries": 1, **about})


def earlier_draft(scored: Result) -> tuple[Draft, dict[str, bytes]]:
    """The event of a result as earlier versions wrote it: with every value and the draws."""
    draft, files = result_draft(scored, own=True)
    parts = json.loads(zlib.decompress(unpacked(draft.body)))
    values = {name: value.to_json() for name, value in board_values(scored).items()}
    about = draft.body["result"] | {"values": json.dumps(values)}
    about |= {} if scored.draws is None else {"draws": scored.draws.to_json()}
    body = {name: part for name, part in draft.body.items() if name not in ("packed", "tasks")}
    body |= {"result": about, "errors": parts["errors"], "scored": parts["scored"]}
    return replace(draft, body=body), files


def good_zip(path: Path, model: str) -> Path:
    tables = import_module("fairspace.submissions.benchmarks.fact_or_fair.baselines").tables("stereotyped", 1)
    meta = baseline_meta("stereotyped", "fact_or_fair", 1, tables)
    meta = meta.model_copy(update={"baseline": None, "model": model, "organisation": "A lab"})
    return write_submission(path, meta, tables)


def bad_zip(path: Path) -> tuple[Path, set[str]]:
    tables = import_module("fairspace.submissions.benchmarks.fact_or_fair.baselines").tables("stereotyped", 1)
    meta = baseline_meta("stereotyped", "fact_or_fair", 1, tables).model_dump(exclude_none=True)
    item = tables["responses"]["id"][0].as_py()
    rows = [
        {"task": "llm_objective", "id": item, "sample": 0, "response": "women"},
        {"task": "llm_objective", "id": item, "sample": 0, "response": "men"},
        {"task": "llm_objective", "id": "llm_objective/<b>nothing</b>", "sample": 0, "response": "men"},
        {"task": "no_such_task", "id": item, "sample": 0, "response": "men"},
    ]
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("submission.json", json.dumps({**meta, "licence": 7}))
        archive.writestr("responses.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    return path, {fault.code for fault in check_submission(path, allow_baseline=False).faults}


def renamed(found: Result, model: str) -> Result:
    return replace(found, meta={**found.meta, "model": model})
