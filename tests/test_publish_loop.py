"""The whole loop with the real clients: build, publish to a Hub on loopback, load in fresh processes."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import HfApi

from fairspace.builders.engine.build import read_manifest
from fairspace.builders.publishing.artifacts import metric_names
from fairspace.builders.registry import NAMES
from tests.hub.card_rules import check_card
from tests.hub.running import OWNER, STRANGER, Hub, online
from tests.metric_values import EXPECTED
from tests.sample_builds import COMMAND, sample_builds

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class World:
    hub: Hub
    built: Path
    homes: Path

    def publish(self, *words: str, expect: int = 0) -> str:
        """Run `fairspace publish` in a fresh process; return its output."""
        done = subprocess.run(
            [*COMMAND, "publish", *words, "--built", str(self.built), "--allow-sample"],
            env=self.hub.environment(self.homes / "owner", OWNER),
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == expect, f"{done.stdout}\n{done.stderr}"
        return done.stdout + done.stderr

    def commits(self) -> dict[str, int]:
        with online():
            api = HfApi(endpoint=self.hub.address, token=OWNER)
            found = [("dataset", repo.id) for repo in api.list_datasets(author="fairspace")]
            found += [("space", repo.id) for repo in api.list_spaces(author="fairspace")]
            return {f"{kind}s/{repo}": len(api.list_repo_commits(repo, repo_type=kind)) for kind, repo in found}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A private copy of the sample builds: some tests change a manifest."""
    out: Path = tmp_path_factory.mktemp("loop") / "built"
    return shutil.copytree(sample_builds(), out)


@pytest.fixture(scope="module")
def world(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    root = tmp_path_factory.mktemp("hub")
    with Hub.start(root / "hub") as hub:
        world = World(hub, built, root / "homes")
        world.publish("all", "--tag", "sample-inaugural")
        yield world


@pytest.mark.parametrize("name", NAMES)
def test_cards_of_the_builds_pass_the_rules(built: Path, name: str) -> None:
    card = (built / name / "README.md").read_text(encoding="utf-8")
    assert check_card(card, "dataset")[0] == []
    for heading in ("Perceived, not true", "Intended use", "Forbidden use", "Limits", "Changes per standard"):
        assert f"\n## {heading}\n" in card
    manifest = read_manifest(built / name)
    assert all(f"- {note}" in card for note in manifest.notes)


LOAD = """
import json, sys
from collections import Counter
from datasets import Image, get_dataset_config_names, load_dataset

rows, pictures = {}, Counter()
for name in sys.argv[1:]:
    repo = f"fairspace/{name}"
    for config in get_dataset_config_names(repo):
        for split, table in load_dataset(repo, config, revision="sample-inaugural").items():
            rows.setdefault(name, {}).setdefault(config, {})[split] = table.num_rows
            if {"origin", "image"} <= {*table.features}:
                origins = [*table.features["origin"].names, "none"]
                for row in table.select_columns(["origin", "image"]).cast_column("image", Image(decode=False)):
                    shown = row["image"] is not None and row["image"]["bytes"] is not None
                    origin = origins[-1 if row["origin"] is None else row["origin"]]
                    pictures[origin + (" shown" if shown else " hidden")] += 1
print(json.dumps([rows, pictures]))
"""


@pytest.fixture(scope="module")
def loaded(world: World) -> tuple[dict[str, Any], dict[str, int]]:
    """Rows of all configs as a person with access loads them; pictures by origin, shown or hidden."""
    code = f"import sys; sys.argv[1:] = {[*NAMES]!r}\n{LOAD}"
    rows, pictures = json.loads(world.hub.run(code, world.homes / "reader", OWNER).splitlines()[-1])
    return rows, pictures


def test_every_config_loads_for_a_person_with_access(
    world: World, loaded: tuple[dict[str, Any], dict[str, int]]
) -> None:
    expected: dict[str, dict[str, dict[str, int]]] = {}
    for name in NAMES:
        for split in json.loads((world.built / name / "manifest.json").read_text(encoding="utf-8"))["splits"]:
            expected.setdefault(name, {}).setdefault(split["config"], {})[split["split"]] = split["rows"]
    assert loaded[0] == expected


def test_images_that_may_not_be_passed_on_never_reach_the_hub(
    loaded: tuple[dict[str, Any], dict[str, int]],
) -> None:
    assert not {"facet shown", "utkface shown", "mst_e shown"} & loaded[1].keys()
    assert {"facet hidden", "utkface hidden", "fairface shown", "synthetic shown"} <= loaded[1].keys()


def test_open_datasets_load_without_a_token_and_gated_ones_do_not(world: World) -> None:
    code = (
        "from datasets import load_dataset\n"
        "print(load_dataset('fairspace/fact_or_fair', 'llm_objective', split='test').num_rows)\n"
        "try: load_dataset('fairspace/iris_ideal_52', 'occupation')\n"
        "except Exception as error: print(type(error).__name__, 'gated' in str(error).lower())"
    )
    for role, token in (("anyone", ""), ("stranger", STRANGER)):
        lines = world.hub.run(code, world.homes / role, token).splitlines()
        assert lines[0] == "198"
        assert lines[1].endswith("True"), lines


def test_every_metric_loads_from_the_hub_with_the_right_value(world: World) -> None:
    assert sorted(EXPECTED) == metric_names()
    code = (
        "import json, evaluate\n"
        "from tests.metric_values import EXPECTED, measured\n"
        "print(json.dumps({name: measured(evaluate.load(f'fairspace/{name}'), name) for name in EXPECTED}))"
    )
    found = json.loads(world.hub.run(code, world.homes / "metrics").splitlines()[-1])
    assert found == {name: pytest.approx(case.value, abs=case.tolerance) for name, case in EXPECTED.items()}


def test_a_second_publish_changes_nothing_a_changed_card_makes_one_commit_and_a_released_tag_stays(
    world: World,
) -> None:
    code = (
        "from huggingface_hub import HfApi\n"
        "refs = HfApi().list_repo_refs('fairspace/genres', repo_type='dataset')\n"
        "print([tag.target_commit for tag in refs.tags if tag.name == 'sample-inaugural'])"
    )
    before, tagged = world.commits(), world.hub.run(code, world.homes / "owner", OWNER)
    assert len(before) == len(NAMES) + len(metric_names()) + 1
    world.publish("all", "--tag", "sample-inaugural")
    assert world.commits() == before
    manifest = world.built / "genres" / "manifest.json"
    text = manifest.read_text(encoding="utf-8")
    try:
        data = json.loads(text)
        data["notes"].append("a note that a maintainer added")
        manifest.write_text(json.dumps(data), encoding="utf-8")
        assert "README.md" in world.publish("genres", "--dry-run")
        assert world.commits() == before
        world.publish("all")
        assert world.commits() == before | {"datasets/fairspace/genres": before["datasets/fairspace/genres"] + 1}
        assert "TAG_RELEASED" in world.publish("genres", "--tag", "sample-inaugural", expect=1)
    finally:
        manifest.write_text(text, encoding="utf-8")
    world.publish("genres", "--tag", "sample-inaugural")
    assert world.hub.run(code, world.homes / "owner", OWNER) == tagged


def test_the_published_space_starts_and_shows_the_board(world: World, tmp_path: Path) -> None:
    code = (
        "from huggingface_hub import snapshot_download as get; print(get('fairspace/leaderboard', repo_type='space'))"
    )
    folder = world.hub.run(code, world.homes / "space").strip().splitlines()[-1]
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {
        **{name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        "FAIRSPACE_STORE": str(tmp_path / "store"),
        "FAIRSPACE_WORK": str(tmp_path / "work"),
        "FAIRSPACE_BASELINES": "0",
        "GRADIO_SERVER_PORT": str(port),
    }
    start = "import sys; sys.path.insert(0, '.'); import fairspace.leaderboard_space as space; print(space.__file__)"
    where = subprocess.run(
        [sys.executable, "-c", start], cwd=folder, env=environment, capture_output=True, text=True, timeout=600
    )
    assert where.stdout.startswith(folder), where.stderr
    process = subprocess.Popen([sys.executable, "app.py"], cwd=folder, env=environment, stderr=subprocess.PIPE)
    try:
        deadline = time.monotonic() + 240
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        while True:
            try:
                health = json.load(opener.open(f"http://127.0.0.1:{port}/health", timeout=5))
                break
            except OSError:
                assert process.poll() is None, process.stderr.read() if process.stderr else ""
                assert time.monotonic() < deadline
                time.sleep(0.3)
        assert (health["ready"], health["last_event"]) == (True, 0)
        assert "fairspace" in opener.open(f"http://127.0.0.1:{port}/", timeout=240).read().decode()
    finally:
        process.kill()
        process.communicate()
