"""A further benchmark is a few folders: no module changes for it to be built, answered, checked, scored, shown and run.

The folders are renamed copies of stereotypical bias, in a temporary folder beside links to the rest of the repository.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.served.running import Served

ROOT = Path(__file__).parents[3]
OLD, NEW = "stereotypical_bias", "toy_bias"
RENAMED = {
    "stereotypical_association": "toy_association",
    "stereobias_table2": "toybias_table2",
    OLD: NEW,
    "Stereotypical bias": "Toy bias",
}
FOLDERS = (
    "submissions/benchmarks/stereotypical_bias",
    "builders/stereotypical_bias",
    "metrics/stereotypical_association",
)
FILES = (
    "leaderboard_space/boards/stereotypical_bias.py",
    "cards/datasets/stereotypical_bias.md.jinja",
    "builders/reference/labour_us_stereotypical_bias.csv",
    "builders/reference/published/stereobias_table2_scores.csv",
)
TABLES = ("models", "model_facts", "footnotes")
"""Printed tables of all papers in `builders/reference/published/`, with a column `benchmark`."""
MODULES = (".py", ".jinja", ".toml")

Run = Callable[..., str]


def renamed(text: str) -> str:
    for old, new in RENAMED.items():
        text = text.replace(old, new)
    return text


def link(folder: Path, place: Path, opened: set[Path]) -> None:
    """Links to everything in a folder; folders with new content are made, and their entries linked."""
    place.mkdir(parents=True)
    for path in folder.iterdir():
        if path in opened:
            link(path, place / path.name, opened)
        elif path.name != "__pycache__":
            (place / path.name).symlink_to(path)


def copied(source: Path, place: Path) -> None:
    if source.is_dir():
        place.mkdir()
        for path in source.iterdir():
            if path.name != "__pycache__":
                copied(path, place / renamed(path.name))
    else:
        place.write_text(renamed(source.read_text(encoding="utf-8")), encoding="utf-8")


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("repository")
    parents = {parent for name in (*FOLDERS, *FILES) for parent in (ROOT / name).parents if parent != ROOT}
    (root / "fairspace").mkdir()
    (root / "fairspace" / "__init__.py").symlink_to(ROOT / "fairspace" / "__init__.py")
    for name in ("ares", "builders", "cards", "leaderboard_space", "metrics", "submissions"):
        link(ROOT / name, root / "fairspace" / name, parents)
    for name in (*FOLDERS, *FILES):
        copied(ROOT / name, root / "fairspace" / renamed(name))
    for name in TABLES:
        table = root / "fairspace" / "builders" / "reference" / "published" / f"{name}.csv"
        lines = table.read_text(encoding="utf-8").splitlines(keepends=True)
        table.unlink()
        table.write_text("".join([*lines, *(renamed(line) for line in lines if OLD in line)]), encoding="utf-8")
    return root


@pytest.fixture(scope="module")
def run(repository: Path) -> Run:
    def python(*arguments: str, **variables: str) -> str:
        environment = os.environ | {"PYTHONPATH": str(repository), "PYTHONDONTWRITEBYTECODE": "1"} | variables
        command = [sys.executable, *arguments]
        done = subprocess.run(command, cwd=repository, env=environment, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, f"{arguments}: {done.stdout}\n{done.stderr}"
        return done.stdout

    return python


COMMANDS = """
import json, sys
from fairspace.submissions.commands.main import main

for words in json.loads(sys.argv[1]):
    sys.argv[1:] = words
    try:
        main()
    except SystemExit as ended:
        assert not ended.code, (words, ended.code)
"""
"""Runs each command of a list in one process."""


def fairspace(run: Run, *commands: str, **variables: str) -> str:
    return run("-c", COMMANDS, json.dumps([command.split() for command in commands]), **variables)


@pytest.fixture(scope="module")
def built(run: Run, repository: Path) -> Path:
    fairspace(run, f"build {NEW} --sample --out built/{NEW}")
    return repository / "built"


def test_no_module_of_the_repository_is_changed(repository: Path) -> None:
    inside = repository / "fairspace"
    real = [path for path in inside.rglob("*") if path.suffix in MODULES and not path.is_symlink()]
    assert real
    assert all("toy_" in str(path.relative_to(inside)) for path in real)
    texts = [path.read_text(encoding="utf-8") for path in real]
    assert not [old for old in RENAMED for text in texts if old in text]


@pytest.mark.slow
@pytest.mark.process
def test_it_is_built_and_its_baseline_is_checked_scored_and_shown(run: Run, built: Path, repository: Path) -> None:
    out = fairspace(
        run,
        f"baseline constant --benchmark {NEW} --out constant",
        "check constant",
        "score constant --out result.json --store store --resamples 0",
        f"leaderboard show --benchmark {NEW} --store store --json",
    )
    assert json.loads((repository / "result.json").read_text(encoding="utf-8"))["benchmark"] == NEW
    assert '"model": "baseline: constant"' in out
    assert '"model": "LLaVA-v1.5"' in out
    manifest = json.loads((built / NEW / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["dataset"] == NEW
    assert "published" in {split["config"] for split in manifest["splits"]}
    assert "task_categories" in (built / NEW / "README.md").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.process
def test_a_model_runs_it_and_its_answers_fit(run: Run, built: Path, repository: Path) -> None:
    asked = f"run --benchmark {NEW} --model openai-api/served/m --data {built} --limit 2 --prefix debiasing"
    with Served.start() as served:
        fairspace(run, f"{asked} --out answers", "check answers", **served.environment())
    meta = json.loads((repository / "answers" / "submission.json").read_text(encoding="utf-8"))
    assert (meta["benchmark"], meta["dataset_revision"], meta["generation"]["prefix"]) == (NEW, "v2", "debiasing")


PAGES = """
import sys
from pathlib import Path
from starlette.testclient import TestClient
from fairspace.leaderboard_space.app import create_app
from fairspace.leaderboard_space.settings import Settings
from fairspace.leaderboard_space.space import Space

space = Space.open(Settings(store="space/store", work=Path("space/work"), resamples=0))
client = TestClient(create_app(space), base_url="http://127.0.0.1")
for address in sys.argv[1:]:
    answer = client.get(address)
    assert answer.status_code == 200, (address, answer.status_code, answer.text[:2000])
    assert "Toy bias" in answer.text, address
"""
"""Opens a Space over a new store and asks for each named page."""


@pytest.mark.slow
@pytest.mark.process
def test_the_space_shows_its_pages(run: Run) -> None:
    run("-c", PAGES, f"/board/{NEW}", f"/standard/{NEW}/inaugural", f"/model/{NEW}/p-01")
