"""The files beside the code: workflows that call what there is, one version, and a checkout without links."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from fairspace.submissions.version import VERSION

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def test_workflows_run_what_a_developer_runs() -> None:
    targets = {*re.findall(r"^([a-z0-9-]+):.*##", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)}
    commands = [
        step["run"]
        for file in WORKFLOWS
        for job in yaml.safe_load(file.read_text(encoding="utf-8"))["jobs"].values()
        for step in job["steps"]
        if "run" in step
    ]
    assert any(".ci/run" in command for command in commands)
    made = {target for command in commands for target in re.findall(r"^make ([a-z0-9-]+)", command, re.MULTILINE)}
    assert made
    assert made <= targets
    assert all(re.search(r"^make |\.ci/run|^\.venv/bin/python -m tests|^gh release", command) for command in commands)


def test_templates_of_issues_can_be_read() -> None:
    for file in sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")):
        template = yaml.safe_load(file.read_text(encoding="utf-8"))
        if file.stem != "config":
            assert {"name", "description", "body"} <= {*template}, file.name
            labels = [field["attributes"]["label"] for field in template["body"]]
            assert len({*labels}) == len(labels), file.name


def test_there_is_one_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {project["version"], citation["version"]} == {VERSION}
    assert f"version = {{{VERSION}}}" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.search(rf"^## {re.escape(VERSION)} \({citation['date-released']}\)$", _changes(), re.MULTILINE)


def _changes() -> str:
    return (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


USED = """
import evaluate, sys
import fairspace as fs
from fairspace.builders.registry import NAMES
from fairspace.submissions.commands.main import main

table = {"predictions": ["nurse", "pilot"], "references": ["nurse", "nurse"], "groups": ["female", "male"]}
assert fs.measure(table, "accuracy_disparity", confidence=None, minimum=1).overall["value"].item() == 1
assert evaluate.load(sys.argv[1]).compute(**table, minimum=1)["accuracy_disparity"] == 1
sys.argv[1:] = ["items", "fact_or_fair", "--revision", "v2-core", "--out", "items"]
main()
"""


@pytest.mark.slow
@pytest.mark.process
def test_a_checkout_without_links_works(tmp_path: Path) -> None:
    """As git makes it on Windows: a link is a text file with its target."""
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    for name in filter(None, names):
        if name.split("/")[0] not in ("tests", "notebooks") and (ROOT / name).exists():
            place = tmp_path / name
            place.parent.mkdir(parents=True, exist_ok=True)
            link = (ROOT / name).is_symlink()
            place.write_bytes(os.fsencode((ROOT / name).readlink()) if link else (ROOT / name).read_bytes())
    assert (tmp_path / "fairspace" / "metrics").is_file()
    environment = os.environ | {"PYTHONPATH": str(tmp_path), "HF_MODULES_CACHE": str(tmp_path / "cache")}
    command = [sys.executable, "-c", USED, str(tmp_path / "metrics" / "accuracy_disparity")]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert any((tmp_path / "items").iterdir())
