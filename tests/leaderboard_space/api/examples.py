"""Examples of the OpenAPI document: answers of a Space with the shipped results to one request for each call.

python -m tests.leaderboard_space.api.examples     writes leaderboard_space/api/examples.json
"""

import json
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fairspace.leaderboard_space.api.routes import EXAMPLES
from fairspace.leaderboard_space.jobs.jobs import add_shipped
from fairspace.submissions.results import shipped
from tests.leaderboard_space.api.spaces import Opened, opened

API = "/api/v1"
ROW = "stereotypical_bias_core_qwen25_coder_05b"
MOST = 3
"""Entries of a map of records that an example shows."""
_CHANGING = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z|\b(?=[0-9a-f]*\d)[0-9a-f]{20,40}\b")


def short(answer: Any) -> Any:
    """The first entry of each list of records, and the first of each map of records."""
    if isinstance(answer, list):
        return [
            short(each) for each in (answer[:1] if answer and isinstance(answer[0], dict | list) else answer[:MOST])
        ]
    if isinstance(answer, dict):
        records = len(answer) > MOST and all(isinstance(each, dict | list) for each in answer.values())
        return {name: short(each) for name, each in [*answer.items()][: MOST if records else None]}
    return answer


def fixed(text: str) -> str:
    """An answer whose times and ids, which are new in every Space, are those of an example."""
    ids: dict[str, str] = {}

    def replaced(match: re.Match[str]) -> str:
        return "2026-11-30T12:00:00.000Z" if "T" in match[0] else ids.setdefault(match[0], f"{len(ids) + 1:020x}")

    return _CHANGING.sub(replaced, text)


def answers(space: Opened) -> dict[str, Any]:
    """Call -> its whole answer."""
    add_shipped(space.space.state)
    space.space.state.refresh()
    model = json.loads((Path(shipped.__file__).parent / f"{ROW}.json").read_text(encoding="utf-8"))["meta"]["model"]
    board = "stereotypical_bias"
    entry = next(row.entry for row in space.space.state.board(board) if row.model == model)
    row, calls = f"boards/{board}/rows/{entry}", {}
    get = {name: name for name in ("/events", "/wanted", "/boards", "/standards")}
    get |= {"/boards/{benchmark}": f"/boards/{board}"}
    get |= {"/boards/{benchmark}/rows/{entry}": f"/{row}", "/boards/{benchmark}/rows/{entry}/result": f"/{row}/result"}
    user = space.headers("ada")
    zipped = (Path(shipped.__file__).parent / f"{ROW}.zip").read_bytes()
    sent = space.client.post(f"{API}/submissions", content=zipped, headers=user).raise_for_status()
    calls[f"POST {API}/submissions"] = sent.json()
    get |= {"/submissions/{name}": sent.headers["Location"].removeprefix(API), "/queue": "/queue"}
    for name, address in get.items():
        calls[f"GET {API}{name}"] = space.client.get(f"{API}{address}", headers=user).raise_for_status().json()
    about = {"reason": "its licence forbids it"}
    withdrawn = space.client.post(f"{API}/rows/{entry}/withdraw", json=about, headers=user).raise_for_status()
    return calls | {f"POST {API}/rows/{{entry}}/{{action}}": withdrawn.json()}


def examples() -> dict[str, Any]:
    """Call -> its answer, shortened, without what is new in every Space."""
    with TemporaryDirectory() as folder, opened(Path(folder), secret="s" * 40, admins=("ada",)) as space:
        return {name: json.loads(fixed(json.dumps(short(answer)))) for name, answer in answers(space).items()}


if __name__ == "__main__":
    EXAMPLES.write_text(json.dumps(examples(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{EXAMPLES}: {EXAMPLES.stat().st_size:,} bytes")
