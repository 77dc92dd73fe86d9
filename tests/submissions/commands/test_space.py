import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from fairspace.leaderboard_space.errors import SpaceError
from fairspace.submissions.commands.space_client import TRIES, SpaceClient, SpaceClientError, space_address
from fairspace.submissions.errors import UsageError
from tests.submissions.conftest import Run

WAITING = {
    "id": "0f1e",
    "outcome": "waiting",
    "stage": "queued",
    "position": 3,
    "tries": 0,
    "address": "/submission/0f1e",
}
FAILED = {
    **WAITING,
    "outcome": "failed",
    "stage": "ended",
    "position": 0,
    "reason": "it took more than 8 MiB of memory",
}
Answer = httpx.Response | Exception
CLIENT = httpx.Client
SUBMIT = ("submit", __file__, "--no-check", "--space", "https://space.example")


def refusal(code: str, status: int, **headers: str) -> httpx.Response:
    told = {"code": code, "where": "here", "what": "that", "expected": "this", "mend": "so"}
    return httpx.Response(status, json=told, headers=headers)


class Space:
    def __init__(self, monkeypatch: pytest.MonkeyPatch, *answers: Answer) -> None:
        self.answers, self.asked, self.bodies = list(answers), list[httpx.Request](), list[bytes]()
        self.waits: list[float] = []

        def client(**about: Any) -> httpx.Client:
            return CLIENT(transport=httpx.MockTransport(self.answer), **about)

        monkeypatch.setattr("fairspace.submissions.commands.space_client.httpx.Client", client)
        monkeypatch.setattr("fairspace.submissions.commands.space_client.time.sleep", self.waits.append)

    def answer(self, request: httpx.Request) -> httpx.Response:
        self.bodies.append(request.read())
        self.asked.append(request)
        found = self.answers.pop(0)
        if isinstance(found, Exception):
            raise found
        return found

    def client(self, token: str = "") -> SpaceClient:
        return SpaceClient("https://space.example", token, self.waits.append)


@pytest.mark.parametrize(
    ("space", "address"),
    [
        ("fairspace/leaderboard", "https://fairspace-leaderboard.hf.space"),
        ("Some_Lab/My.Board", "https://some-lab-my-board.hf.space"),
        ("https://board.example/fair/", "https://board.example/fair"),
        ("http://127.0.0.1:7860", "http://127.0.0.1:7860"),
        ("http://localhost:7860/", "http://localhost:7860"),
        ("http://[::1]:7860", "http://[::1]:7860"),
    ],
)
def test_a_space_is_named_by_address_or_by_its_name_on_the_hub(space: str, address: str) -> None:
    assert space_address(space) == address


@pytest.mark.parametrize(
    "space", ["leaderboard", "ftp://x.example", "https://user:word@x.example", "https://", "//x", ""]
)
def test_what_names_no_space_is_refused(space: str) -> None:
    with pytest.raises(UsageError, match="is no Space"):
        space_address(space)


@pytest.mark.parametrize("space", ["http://board.example", "http://10.0.0.1", "http://127.0.0.1.evil.example"])
def test_a_token_goes_unencrypted_to_no_other_machine(space: str) -> None:
    with pytest.raises(UsageError, match="unencrypted"):
        space_address(space)


TROUBLES: list[Answer] = [
    httpx.ConnectError("refused"),
    httpx.ReadTimeout("late"),
    httpx.Response(502, text="<html>"),
    refusal("STORE_FAILED", 503),
    refusal("TOO_MANY_REQUESTS", 429),
]


@pytest.mark.parametrize("trouble", TROUBLES, ids=str)
def test_trouble_is_asked_again_with_the_whole_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, trouble: Answer
) -> None:
    space = Space(monkeypatch, trouble, trouble, httpx.Response(202, json=WAITING))
    file = tmp_path / "a.zip"
    file.write_bytes(b"x" * 600_000)
    assert space.client("secret").submit(file, "lab") == WAITING
    assert space.bodies == [file.read_bytes()] * 3
    assert space.waits == [0.5, 1.0]
    assert {str(asked.url) for asked in space.asked} == {"https://space.example/api/v1/submissions?organisation=lab"}
    assert {asked.headers["X-Fairspace-Token"] for asked in space.asked} == {"secret"}
    assert {asked.headers["Content-Type"] for asked in space.asked} == {"application/zip"}


def test_retry_after_is_obeyed_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = refusal("STORE_FAILED", 503, **{"Retry-After": "17"})
    space = Space(monkeypatch, asked, httpx.Response(200, json=WAITING))
    space.client().status("0f1e")
    assert space.waits == [17.0]
    space = Space(monkeypatch, refusal("STORE_FAILED", 503, **{"Retry-After": "9999"}))
    with pytest.raises(SpaceError, match="STORE_FAILED"):
        space.client().status("0f1e")


def test_the_number_of_tries_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    space = Space(monkeypatch, *[httpx.ConnectError("refused")] * TRIES)
    with pytest.raises(SpaceClientError, match="SPACE_UNREACHABLE"):
        space.client().status("0f1e")
    assert len(space.asked) == TRIES
    assert space.waits == [0.5, 1.0, 2.0, 4.0, 8.0]


REFUSED = [
    ("SIGN_IN_REQUIRED", 401),
    ("TOKEN_INVALID", 401),
    ("UPLOAD_TOO_LARGE", 413),
    ("QUOTA_VALID", 429),
    ("QUEUE_FULL", 503),
    ("UNKNOWN_SUBMISSION", 404),
]


@pytest.mark.parametrize(("code", "status"), REFUSED)
def test_a_refusal_is_told_with_its_code_and_not_asked_again(
    run: Run, monkeypatch: pytest.MonkeyPatch, code: str, status: int
) -> None:
    space = Space(monkeypatch, refusal(code, status))
    err = run.refused(1, *SUBMIT)
    assert f"{code} at here: that. Expected: this. Mend: so" in err
    assert len(space.asked) == 1


def test_what_is_no_space_is_told_so(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for answer in (httpx.Response(200, text="<html>"), httpx.Response(200, json=[]), httpx.Response(404, json={})):
        Space(monkeypatch, answer)
        assert "NOT_A_SPACE" in run.refused(1, *SUBMIT)
    Space(monkeypatch, refusal("NEWER_CODE", 400))
    assert "SPACE_REFUSED at here: NEWER_CODE: that" in run.refused(1, *SUBMIT)


def test_the_token_comes_from_the_environment_and_is_shown_nowhere(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAIRSPACE_TOKEN", " fairspace_secret ")
    space = Space(monkeypatch, httpx.Response(200, json=WAITING), refusal("TOKEN_INVALID", 401))
    _, out, err = run(*SUBMIT)
    assert space.asked[0].headers["X-Fairspace-Token"] == "fairspace_secret"
    assert "waits at position 3" in out
    _, out_refused, err_refused = run(*SUBMIT)
    assert "fairspace_secret" not in out + err + out_refused + err_refused + repr(space.client("fairspace_secret"))


def test_waiting_ends_with_the_outcome(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    running = {**WAITING, "stage": "running", "position": 0}
    answers = [httpx.Response(200, json=told) for told in (WAITING, WAITING, running, FAILED)]
    Space(monkeypatch, *answers)
    code, out, err = run(*SUBMIT, "--wait")
    assert code == 1
    assert err.splitlines() == ["waits at position 3", "is being scored"]
    assert "failed through a fault of the Space and costs no quota: it took more than 8 MiB of memory" in out
    Space(monkeypatch, httpx.Response(200, json=FAILED))
    code, out, err = run(*SUBMIT, "--wait", "--json")
    assert (code, json.loads(out), err) == (1, FAILED, "")


def test_wrong_use_is_told_before_anything_is_sent(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    space = Space(monkeypatch)
    assert run("submit", tmp_path / "none", "--space", "a/b")[0] == 2
    assert run("submit", tmp_path / "none", "--space", "a/b", "--no-check")[0] == 2
    assert run("submit", tmp_path, "--space", "nothing")[0] == 2
    assert run("submit", tmp_path)[0] == 2
    assert space.asked == []


def test_a_row_is_released_with_a_reason(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAIRSPACE_TOKEN", "of a maintainer")
    space = Space(monkeypatch, httpx.Response(200, json={"kind": "released", "number": 7}))
    named = ("--space", "https://space.example")
    code, out, err = run("moderate", "0f1e", "release", "--reason", "looked at", *named)
    assert (code, out.strip()) == (0, "0f1e: released, event 7 of the log."), err
    (asked,) = space.asked
    assert (asked.method, asked.url.path) == ("POST", "/api/v1/rows/0f1e/release")
    assert json.loads(space.bodies[0]) == {"reason": "looked at"}
    assert run("moderate", "0f1e", "verify", "--reason", "x", *named)[0] == 2
    assert run("moderate", "0f1e", "release", *named)[0] == 2
