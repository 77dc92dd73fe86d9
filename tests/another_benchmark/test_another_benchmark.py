"""A further benchmark is one folder of at most nine files and 220 lines: asked, scored, reported and shown."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
NAME = "she_or_he"
MOST_FILES, MOST_LINES = 9, 220


def files() -> list[Path]:
    return [path for path in sorted((HERE / NAME).iterdir()) if path.is_file()]


def link(folder: Path, place: Path, opened: Path) -> None:
    """Links to everything in a folder but the one on the way to `opened`, which is made of links."""
    place.mkdir(parents=True)
    for path in folder.iterdir():
        if opened == path or path in opened.parents:
            link(path, place / path.name, opened)
        elif path.name != "__pycache__":
            (place / path.name).symlink_to(path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package of links, and the example's folder among its benchmarks."""
    folder = tmp_path_factory.mktemp("repository")
    package = folder / "fairspace"
    package.mkdir()
    for path in (ROOT / "fairspace").iterdir():
        if path.is_file():
            (package / path.name).symlink_to(path)
    benchmarks = ROOT / "submissions" / "benchmarks"
    for name in ("ares", "builders", "cards", "leaderboard_space", "metrics", "submissions"):
        link(ROOT / name, package / name, benchmarks)
    shutil.copytree(HERE / NAME, package / "submissions" / "benchmarks" / NAME)
    return folder


@pytest.fixture(scope="module")
def made(folder: Path) -> Any:
    variables = {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1", "FAIRSPACE_RESAMPLES": "200"}
    command = [sys.executable, str(HERE / "using.py"), "made.json"]
    done = subprocess.run(
        command, cwd=folder, env=os.environ | variables, capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return json.loads((folder / "made.json").read_text(encoding="utf-8"))


def test_it_is_small_and_contributing_shows_each_file() -> None:
    assert len(files()) <= MOST_FILES
    assert sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files()) <= MOST_LINES
    tutorial = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## Add a benchmark")[2]
    assert not [path.name for path in files() if f"`{path.name}`" not in tutorial.partition("\n## ")[0]]


@pytest.mark.slow
@pytest.mark.process
def test_a_function_is_asked_and_scored_with_an_interval_and_a_rank(made: Any) -> None:
    value, interval, ranked = made["scores"]["mine"]
    assert value == pytest.approx(5 / 20)
    assert 0 < interval[0] < value < interval[1] < 1
    assert 0 < interval[2] < 0.5
    assert ranked == value
    assert "She or he" in made["printed"]


@pytest.mark.slow
@pytest.mark.process
def test_refusals_are_answers_of_their_own_and_never_help(made: Any) -> None:
    value, interval, ranked = made["scores"]["shy"]
    assert value == pytest.approx(8 / 20)  # "He." to 12 of the women's 20 occupations, and to all others
    assert interval[0] < value < interval[1]
    assert ranked == value
    assert made["scores"]["silent"][0] is made["scores"]["silent"][2] is None


@pytest.mark.slow
@pytest.mark.process
def test_its_trivial_models_get_no_good_rank(made: Any) -> None:
    scores = made["scores"]
    assert scores["stereotyped"][0] == scores["stereotyped"][2] == 1
    assert scores["constant"][2] is None
    assert scores["constant"][3] == "same_word: 1 in the worst case, more than 0.9"
    assert scores["refusing"][0] is scores["refusing"][2] is None


@pytest.mark.slow
@pytest.mark.process
def test_the_front_page_its_board_a_row_and_the_api_show_it(made: Any) -> None:
    of_test = ("/about", "/how-to-submit", "/standard", "/compare")
    named = {address: ("She or he" if address.startswith(of_test) else "clichéd") for address in made["pages"]}
    assert not {address: text for address, text in made["pages"].items() if named[address] not in text}


@pytest.mark.slow
@pytest.mark.process
def test_the_commands_report_and_compare_it(made: Any, folder: Path) -> None:
    assert "She or he" in (folder / "mine.html").read_text(encoding="utf-8")
    assert "stereotype" in made["commands"]["compare"]
    assert (folder / "items").is_dir()
