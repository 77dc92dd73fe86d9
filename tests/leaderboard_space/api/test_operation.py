import errno
import json
import logging
import os
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from unittest import mock

import anyio
import anyio.to_thread
import httpx
import pytest

from fairspace.leaderboard_space.app import create_app
from fairspace.leaderboard_space.errors import StorageError
from fairspace.leaderboard_space.settings import Settings
from fairspace.leaderboard_space.space import Space
from fairspace.leaderboard_space.web.identity import with_store
from fairspace.submissions.errors import UsageError
from tests.leaderboard_space.api.spaces import Opened, opened, process_log

HANDBOOK = Path(__file__).parents[3] / "leaderboard_space" / "OPERATION.md"


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    with opened(tmp_path_factory.mktemp("space")) as found:
        yield found


def test_the_handbook_tells_every_setting_with_its_default() -> None:
    rows = re.findall(r"^\| `FAIRSPACE_(\w+)` \| (?:`(.*?)`)? ?\|", HANDBOOK.read_text(encoding="utf-8"), re.MULTILINE)
    told = {name.lower(): default for name, default in rows}
    known = {about.name for about in fields(Settings)} - {"insecure_local"}
    assert told.keys() == known
    environment = {f"FAIRSPACE_{name.upper()}": default for name, default in told.items() if default}
    assert Settings.from_environment(environment) == Settings()


def test_it_says_when_it_is_not_well(space: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    assert space.client.get("/health").json()["ready"] is True
    monkeypatch.setattr(space.jobs, "well", False)
    monkeypatch.setenv("SPACE_ID", "fairspace/leaderboard")
    monkeypatch.setattr(Path, "is_mount", lambda self: self == Path("/"))
    monkeypatch.setattr("fairspace.leaderboard_space.app.ROOM", 1 << 60)

    def unreadable() -> int:
        raise StorageError("STORE_UNAVAILABLE", "the Hub", "silence", "an answer", "wait")

    monkeypatch.setattr(space.space.state, "refresh", unreadable)
    answer = space.client.get("/health")
    assert answer.status_code == 503
    assert answer.json()["wrong"] == ["STORE_UNAVAILABLE", "STORE_NOT_KEPT", "WORKERS_GONE", "DISK_NEARLY_FULL"]


def test_it_is_alive_and_takes_submissions_while_every_shared_thread_waits(space: Opened) -> None:
    async def ask() -> tuple[int, str]:
        shared = anyio.to_thread.current_default_thread_limiter()
        for _ in range(int(shared.total_tokens)):
            await shared.acquire_on_behalf_of(object())
        transport = httpx.ASGITransport(space.client.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            with anyio.fail_after(30):
                return (await client.get("/health/live")).status_code, await with_store(lambda: "stored")

    assert anyio.run(ask) == (200, "stored")


def test_a_failing_store_is_told_without_its_place(space: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing() -> int:
        raise StorageError("STORE_CORRUPT", "/secret/place", "line 3", "another", "restore")

    monkeypatch.setattr(space.space.state, "refresh", failing)
    answer = space.client.get("/api/v1/submissions/0f1e")
    assert (answer.status_code, answer.json()["code"]) == (503, "STORE_FAILED")
    assert "secret" not in answer.text
    assert int(answer.headers["Retry-After"]) > 0


def test_a_line_of_the_log_is_one_object_whatever_it_says() -> None:
    with process_log() as stream:
        logging.getLogger("fairspace.test").warning("two\nlines \u202e", extra={"path": '"}\n{'})
        try:
            raise ValueError("why")
        except ValueError:
            logging.getLogger("fairspace.test").exception("unexpected")
    first, second = (json.loads(line) for line in stream.getvalue().splitlines())
    assert list(first)[:4] == ["time", "level", "logger", "message"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", first["time"])
    assert (first["level"], first["message"], first["path"]) == ("WARNING", "two\nlines \u202e", '"}\n{')
    assert "ValueError: why" in second["exc_info"]


def test_nobody_but_this_machine_reaches_a_space_without_sign_in(monkeypatch: pytest.MonkeyPatch) -> None:
    from fairspace.leaderboard_space.serving import serve

    with pytest.raises(UsageError, match=r"use it only with 127\.0\.0\.1"):
        serve(Settings(insecure_local=True), host="0.0.0.0")


def test_the_documentation_shows_every_call(space: Opened) -> None:
    page = space.client.get("/api", headers={"Accept": "text/html"}).text
    document = space.client.get("/api/v1/openapi.json").json()
    for path, operations in document["paths"].items():
        for method in operations:
            assert f"<code>{method.upper()} {path}</code>" in page
    assert "curl" in page
    assert "<script>" not in page


@pytest.mark.parametrize(("number", "code"), [(errno.ENOSPC, "STORE_FULL"), (errno.EROFS, "STORE_READ_ONLY")])
def test_it_is_not_ready_while_its_store_takes_nothing(
    space: Opened, monkeypatch: pytest.MonkeyPatch, number: int, code: str
) -> None:
    def refuse(handle: int, begin: int, size: int) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as full:
        full.setattr(os, "posix_fallocate", refuse)
        answer = space.client.get("/health")
        assert (answer.status_code, answer.json()["wrong"]) == (503, [code])
    assert space.client.get("/health").json()["ready"] is True


def test_an_upload_that_finds_no_room_is_refused_with_a_remedy(space: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    async def full(request: object, path: Path) -> str:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("fairspace.leaderboard_space.api.routes._receive", full)
    answer = space.client.post("/api/v1/submissions", headers=space.headers("bob"), content=b"PK")
    assert (answer.status_code, answer.json()["code"]) == (503, "WORK_FULL")
    assert "send it again later" in answer.json()["mend"]
    assert int(answer.headers["Retry-After"]) > 0


def test_jobs_and_the_store_end_whatever_else_fails_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    space = Space.open(Settings(store=str(tmp_path / "store"), work=tmp_path / "work", workers=0, baselines=False))
    calls = mock.Mock()
    for owner, name in ((space.jobs, "stop"), (space.storage, "close")):
        end = mock.Mock(side_effect=getattr(owner, name))
        calls.attach_mock(end, name)
        monkeypatch.setattr(owner, name, end)
    app = create_app(space)

    async def fail() -> None:
        async with app.router.lifespan_context(app):
            raise IsADirectoryError

    with pytest.raises(IsADirectoryError):
        anyio.run(fail)
    assert [call[0] for call in calls.mock_calls] == ["stop", "close"]
