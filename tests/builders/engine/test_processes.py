"""Tools in processes of their own: the same bytes for any number, errors that arrive, and no process that stays."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fairspace.builders.engine.build import build
from fairspace.builders.engine.processes import devices, in_processes
from fairspace.builders.engine.tools import Prompt, Tools
from fairspace.builders.errors import BuildError
from tests.builders.engine.painted import Painter, no_card, opened, paintings
from tests.builders.rebuilding import files


def test_ranks_take_the_devices_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert devices("", 3) == devices("cuda", 3) == ["cuda:0", "cuda:1", "cuda:0"]
    assert devices("cuda:1,cuda:3", 3) == ["cuda:1", "cuda:3", "cuda:1"]
    assert devices("cpu", 2) == ["cpu", "cpu"]
    assert devices("", 1) == [""]
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    assert devices("", 2) == ["", ""]


@pytest.mark.process
def test_calls_are_shared_out_and_come_back_in_order() -> None:
    with in_processes(opened, ["a", "bb", "ccc"], opened("here")) as tools:
        assert tools.names() == {"generator": "painter", "matcher": "painter"}
        assert tools.at_once == 24
        assert tools.generator is not None
        assert tools.matcher is not None
        images = tools.generator.generate([Prompt("x", seed) for seed in range(7)])
        assert [image.tobytes()[:2] for image in images] == [bytes([n, 1 + n // 3]) for n in range(7)]
        assert tools.matcher.text_similarity(images, ["ab"] * 7) == [n + 0.2 for n in range(7)]
        again = tools.matcher.text_similarity(images, ["abc"] * 7)  # the images are not sent a second time
        assert again == pytest.approx([n + 0.31 for n in range(7)])
        assert tools.matcher.image_similarity(images, images[::-1]) == [2 * n - 6 for n in range(7)]
        assert tools.generator.generate([]) == []
        assert len(tools.generator.generate([Prompt("x", 1)])) == 1
        with pytest.raises(BuildError, match=r"TOOL_MISSING at weights: none\. Expected: some\. Mend: fetch them"):
            tools.generator.generate([Prompt("x", 1), Prompt("refused", 1)])
        with pytest.raises(BuildError, match=r"TOOL_OUTPUT at painter: 2 answers\. Expected: one for each of 3"):
            tools.generator.generate([*[Prompt("x", n) for n in range(6)], Prompt("lazy", 1), *[Prompt("x", 1)] * 2])
        assert [image.tobytes()[0] for image in tools.generator.generate([Prompt("x", n) for n in (9, 8)])] == [9, 8]
        with pytest.raises(BuildError, match=r"process 1 of 3 ended with -9.*goes on where it was"):
            tools.generator.generate([Prompt("x", 1), Prompt("killed", 1)])


@pytest.mark.process
def test_a_build_over_processes_that_was_killed_goes_on_with_another_number_and_the_same_bytes(tmp_path: Path) -> None:
    build(paintings(), tmp_path / "one", tools=Tools(generator=Painter()), describe=no_card)
    out = tmp_path / "killed"
    command = [sys.executable, "-m", "tests.builders.engine.painted", str(out)]
    process = subprocess.Popen([*command, "2"])
    while len(list((out / ".build" / "made").rglob("*.png"))) < 20 and process.poll() is None:
        time.sleep(0.01)
    children = [int(pid) for pid in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]
    process.kill()
    process.wait()
    assert len(children) >= 2
    assert not (out / "manifest.json").exists()
    subprocess.run([*command, "3"], check=True)
    assert files(out) == files(tmp_path / "one")
    assert json.loads((out / "manifest.json").read_text())["rejected"]["too red"] > 20
    deadline = time.monotonic() + 60
    while any(map(runs, children)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(runs, children))


def runs(pid: int) -> bool:
    """Whether a process runs; one that ended and that nobody waited for does not."""
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False
