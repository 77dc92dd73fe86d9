"""A Space as it is served: handing in by command, its log, its end."""

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from fairspace.submissions.commands.space_client import pack
from tests.leaderboard_space.attacks.running import Served, serving
from tests.leaderboard_space.factory import bad_zip, good_zip
from tests.leaderboard_space.waiting import free_port

pytestmark = pytest.mark.process

STOP_SECONDS = 50
"""More than a job takes on a busy machine."""

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    root, port = tmp_path_factory.mktemp("served"), free_port()
    command = ["-c", "from fairspace.submissions.commands.main import main; main()", "leaderboard", "serve"]
    options = ["--port", str(port), "--store", str(root / "store"), "--insecure-local"]
    environment = {"FAIRSPACE_STOP_SECONDS": str(STOP_SECONDS), "FAIRSPACE_BASELINES": "0", "FAIRSPACE_ADMINS": "ada"}
    with serving(root, port, [*command, *options], environment) as board:
        yield board


def test_a_submission_is_handed_in_scored_and_shown(run: Run, served: Served, tmp_path: Path) -> None:
    file = good_zip(tmp_path / "mine.zip", "mine")
    code, out, err = run("submit", file, "--space", served.address, "--wait")
    assert code == 0, err
    _, _, rest = out.partition(" is scored.\n")
    printed, unranked, _ = rest.partition("No rank on the board: copy of stereotyped.")
    assert unranked
    scored = run("score", file)[1]
    assert scored.startswith(printed)
    assert scored.removeprefix(printed).startswith("--details")  # which are options of `score` alone
    assert "average_llm" in printed
    row = next(line for line in out.splitlines() if line.startswith("Its row: ")).removeprefix("Its row: ")
    assert f"For a model card: [fact_or_fair on fairspace]({row})" in out
    for address in (row, row.replace("/model/fact_or_fair/", "/api/v1/boards/fact_or_fair/rows/")):
        assert httpx.get(address).is_success
    code, out, _ = run("submit", file, "--space", served.address, "--json")
    told = json.loads(out)
    assert (code, told["outcome"], told["benchmark"]) == (0, "scored", "fact_or_fair")
    assert told["unranked"] == ["copy of stereotyped"]
    shown = [" ".join(line.split()) for line in told["sentences"]]
    assert shown
    assert all(line in " ".join(printed.split()) for line in shown)
    (job,) = served.await_lines(logger="fairspace.jobs", message="a job ended", id=told["id"])
    assert job["outcome"] == "scored"


def test_a_faulty_submission_is_refused_here_and_there(run: Run, served: Served, tmp_path: Path) -> None:
    file, codes = bad_zip(tmp_path / "bad.zip")
    code, out, _ = run("submit", file, "--space", served.address)
    assert code == 1
    assert all(fault in out for fault in codes)
    code, out, _ = run("submit", file, "--space", served.address, "--no-check", "--wait")
    assert code == 1
    assert "was refused" in out
    assert all(fault in out for fault in codes)


def test_a_folder_is_the_same_submission_whenever_it_is_packed(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    for name, content in (("submission.json", b"{}"), ("responses.jsonl", b"{}\n" * 9), ("README.md", b"unread")):
        (folder / name).write_bytes(content)
    first = pack(folder, tmp_path / "1.zip").read_bytes()
    os.utime(folder / "submission.json", (1, 1))
    assert pack(folder, tmp_path / "2.zip").read_bytes() == first
    assert b"unread" not in first


def test_every_request_leaves_one_line_without_its_query(served: Served) -> None:
    answer = httpx.get(f"{served.address}/api/v1/boards/iris?q=secretword", headers={"X-Fairspace-Token": ""})
    (line,) = served.await_lines(logger="fairspace.request", request=answer.headers["X-Request-Id"])
    told = {"method": "GET", "path": "/api/v1/boards/iris", "route": "/api/…", "status": 200}
    assert told.items() <= line.items()
    assert 0 <= line["seconds"] < 60
    assert set(line) == {"time", "level", "logger", "message", "request", "seconds", *told}
    assert "secretword" not in str(served.lines())


def test_sigterm_lets_the_running_job_finish_whatever_pages_are_open(run: Run, served: Served, tmp_path: Path) -> None:
    """The last test here: it ends the server."""
    code, out, _ = run("submit", good_zip(tmp_path / "last.zip", "last"), "--space", served.address, "--json")
    assert code == 0
    name = json.loads(out)["id"]
    with httpx.stream("GET", f"{served.address}/gradio_api/heartbeat/an_open_page", timeout=60) as stream:
        parts = stream.iter_raw()
        assert b"ALIVE" in next(parts)
        served.await_lines(message="a job was begun", id=name)
        began = time.monotonic()
        served.process.send_signal(signal.SIGTERM)
        assert b"".join(parts) == b""  # it ends, rather than being cut off
        assert served.process.wait(STOP_SECONDS) in (0, -signal.SIGTERM)
    assert time.monotonic() - began < STOP_SECONDS
    assert served.await_lines(message="a job ended", id=name)[0]["outcome"] == "scored"
    assert not [line for line in served.lines() if "timeout graceful shutdown" in line["message"]]
