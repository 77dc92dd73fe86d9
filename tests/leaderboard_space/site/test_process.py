"""The builder as a process: kills, a log that others write, and its end with the web process."""

import asyncio
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from fairspace.leaderboard_space.intake import add_result
from fairspace.leaderboard_space.settings import Settings
from fairspace.leaderboard_space.site.process import BuilderProcess
from fairspace.leaderboard_space.storage.hub import HubStorage
from fairspace.leaderboard_space.storage.local import LocalStorage
from tests.hub.running import OWNER, Hub, online
from tests.leaderboard_space.attacks.running import Running, running
from tests.leaderboard_space.factory import renamed, result
from tests.leaderboard_space.waiting import until

pytestmark = pytest.mark.process

BOARD = "/board/fact_or_fair"
KILLS, PATIENCE = int(os.environ.get("FAIRSPACE_KILLS", "8")), 120.0
"""Kills, of which each costs a start of the builder; 50 before a release."""
ENDS = {"/": "</html>", BOARD: "</html>", "/api/v1/boards/fact_or_fair": "}", "/errata": "</html>"}


def builder_of(space: Running) -> psutil.Process | None:
    """The builder of a running Space."""
    for process in psutil.Process().children(recursive=True):
        try:
            if str(space.root / "work" / "site") in process.cmdline():
                return process
        except psutil.NoSuchProcess:
            continue
    return None


def add(root: Path, model: str) -> None:
    """Append a row as another process does."""
    add_result(LocalStorage(root / "store"), renamed(result("fact_or_fair", "stereotyped", "any"), model))


@pytest.mark.slow
def test_a_builder_that_is_killed_breaks_no_page_and_goes_on(tmp_path: Path) -> None:
    draw = random.Random(1)
    add(tmp_path, "First")
    with running(tmp_path, workers="0", requests_a_minute="0", board_seconds="1") as space:
        client = space.client()
        killed, last_moment = 0, time.monotonic() + PATIENCE
        while killed < KILLS:
            assert time.monotonic() < last_moment, f"no builder after {killed} kills"
            if killed % 4 == 0:
                add(tmp_path, f"Row {killed}")
            if (builder := builder_of(space)) is not None:
                builder.kill()
                killed += 1
            for address, end in ENDS.items():
                answer = client.get(address)
                assert answer.status_code == 200, (address, answer.text[:300])
                assert answer.text.endswith(end), address
            time.sleep(draw.uniform(0, 0.3))
        last = f"Row {4 * ((KILLS - 1) // 4)}"
        until(lambda: last in client.get(BOARD).text, "no page was made again")
        assert "Row 0" in client.get("/api/v1/boards/fact_or_fair").text
        assert not list((tmp_path / "work" / "site").rglob("*.html"))
        builder = builder_of(space)
    assert builder is not None
    psutil.wait_procs([builder], timeout=20)
    assert not builder.is_running(), "it ends with the web process"


def test_a_builder_that_does_not_start_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    starts: list[subprocess.Popen[bytes]] = []

    def popen(command: list[str], **options: Any) -> subprocess.Popen[bytes]:
        starts.append(real([sys.executable, "-c", "input()"], **options))
        if len(starts) == 2:
            raise BrokenPipeError("killed before it read its settings")
        return starts[-1]

    real = subprocess.Popen
    of = "fairspace.leaderboard_space.site.process"
    monkeypatch.setattr(f"{of}.AGAIN", 0.01)
    monkeypatch.setattr(f"{of}.subprocess.Popen", popen)

    async def three_starts() -> None:
        builder = BuilderProcess(Settings(store=str(tmp_path), work=tmp_path), tmp_path, "")
        await builder.start()
        async with asyncio.timeout(20):
            while len(starts) < 3:
                await asyncio.sleep(0.01)
        await builder.stop()

    asyncio.run(three_starts())
    for start in starts:
        start.kill()
        start.communicate()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Use 'content=<...>' to upload:DeprecationWarning")  # by the Hub's client
def test_a_store_on_the_hub_is_shown_from_an_empty_disk_and_a_withdrawn_row_is_gone_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Hub.start(tmp_path / "hub") as hub:
        with online():
            storage = HubStorage("fairspace/shown", tmp_path / "mine", 100_000, endpoint=hub.address, token=OWNER)
            event = add_result(storage, renamed(result("fact_or_fair", "stereotyped", "any"), "From the Hub"))
            storage.close()
        for name in [name for name in os.environ if name.startswith("HF_")]:
            monkeypatch.delenv(name)
        for name, value in hub.environment(tmp_path / "home", OWNER).items():
            monkeypatch.setenv(name, value)
        row = f"/api/v1/boards/fact_or_fair/rows/{event.body['entry']}"
        for turn in range(2):
            settings = {"store": "hf://datasets/fairspace/shown", "workers": "0", "board_seconds": "1"}
            with running(tmp_path / f"disk{turn}", **settings) as space:
                client, maintainer = space.client(), space.program("the-maintainer")
                assert client.get(row).json()["model"] == "From the Hub"
                assert "From the Hub" in client.get(BOARD).text
                asked = {"reason": "asked"}
                maintainer.post(f"/api/v1/rows/{event.body['entry']}/withdraw", json=asked).raise_for_status()
                assert client.get(row).status_code == 404
                data = client.get("/board/fact_or_fair/shuffled/language-models/board.json").json()
                assert "From the Hub" not in [each["model"] for each in data["rows"]]
                maintainer.post(f"/api/v1/rows/{event.body['entry']}/restore", json=asked).raise_for_status()
                assert "From the Hub" in client.get(BOARD).text
