"""A result that another version of fairspace wrote: its row stays, its page says so, and nothing fails."""

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from fairspace.leaderboard_space.errors import StorageError
from fairspace.leaderboard_space.events import Draft, submission_path
from fairspace.leaderboard_space.intake import result_draft, submission_id
from fairspace.leaderboard_space.state import UNSHOWN
from fairspace.leaderboard_space.storage.checking import check
from tests.leaderboard_space.api.spaces import opened
from tests.leaderboard_space.factory import result

BENCHMARK = "fact_or_fair"


def test_a_row_whose_result_cannot_be_read_says_so_and_stays(tmp_path: Path) -> None:
    scored = result(BENCHMARK, "stereotyped", "Newer")
    newer = replace(scored, meta={**scored.meta, "architecture": "of a kind that nobody knows yet"})
    with opened(tmp_path) as site:
        state, content = site.space.state, b"a file"
        sha256 = hashlib.sha256(content).hexdigest()
        name = submission_id("ada", sha256)
        about = {"id": name, "attempt": 1, "user": "ada", "organisation": "", "sha256": sha256, "size": len(content)}
        state.storage.append([Draft("accepted", f"accepted:{name}:1", about)], {submission_path(sha256): content})
        draft, files = result_draft(newer, "ada")
        row = {"key": draft.body["key"], "entry": draft.body["entry"], "same": False}
        ended = Draft("scored", f"ended:{name}:1", {"id": name, "attempt": 1, "tries": 1} | row)
        state.storage.append([draft, ended], files)
        state.refresh()
        entry = row["entry"]
        with pytest.raises(StorageError, match="STORE_UNREADABLE"):
            state.full(entry)
        (fault,) = check(state.storage).faults
        assert fault.code == "STORE_UNREADABLE"
        (shown,) = [row for row in state.board(BENCHMARK) if row.result is not None]
        assert next(iter(shown.scores.values())).value is not None

        value = next(iter(shown.values))
        for path in (f"/model/{BENCHMARK}/{entry}", f"/submission/{name}", f"/api/v1/submissions/{name}"):
            answer = site.client.get(path)
            assert answer.status_code == 200, (path, answer.text)
            assert (UNSHOWN in answer.text) == path.startswith("/model")
        for path in (
            f"/api/v1/boards/{BENCHMARK}/rows/{entry}/result",
            f"/model/{BENCHMARK}/{entry}/evidence/{value}",
        ):
            answer = site.client.get(path, headers={"accept": "application/json"})
            assert answer.status_code == 404, (path, answer.text)
            assert "EVIDENCE_UNREADABLE" in answer.text
            assert UNSHOWN in answer.text
