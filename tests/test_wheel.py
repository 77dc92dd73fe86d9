"""The wheel: one name in site-packages, every data file, and no clash with a user's own `metrics.py`."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from fairspace.builders.publishing.artifacts import PACKAGES, choose
from tests.built_wheel import installed_wheel
from tests.store import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SCRIPT = """
import cards, metrics
import fairspace, fairspace.metrics, fairspace.cards
from fairspace.builders.registry import NAMES
assert (metrics.OF_THE_USER, cards.OF_THE_USER) == (1, 2)
print(fairspace.__file__)
print(fairspace.__version__, len(NAMES), fairspace.benchmark("iris").name)
"""
BARE = """
import sys, fairspace as fs, fairspace.submissions.verifying
items = fs.items("fact_or_fair", "llm_objective")
items["response"] = "A"
print(fs.score(items, "fact_or_fair", resamples=0).scores["llm_factuality"].state)
print({"torch", "transformers", "inspect_ai", "gradio", "fastapi", "spacy", "diffusers"} & set(sys.modules))
"""

ON_WINDOWS = """
import sys, psutil
sys.modules |= dict.fromkeys(("fcntl", "resource", "pwd", "grp", "pty", "uvloop"))
import fairspace as fs
from fairspace.submissions.commands.main import main
print(len([getattr(fs, name) for name in fs.__all__]))
sys.argv = ["fairspace", "eval", "--model", "own.py:answer", "--benchmark", "fact_or_fair", "--limit", "1"]
main()
"""
"""The library and `eval` without the modules that Windows lacks; psutil takes them on Linux alone."""


@pytest.fixture(scope="module")
def installed() -> Path:
    return installed_wheel()


def run(installed: Path, where: Path, *words: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    done = subprocess.run([sys.executable, *words], cwd=where, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_one_name_is_installed(installed: Path) -> None:
    assert sorted(path.name for path in installed.iterdir()) == [
        "fairspace",
        f"fairspace-{PROJECT['version']}.dist-info",
    ]


@pytest.mark.slow
def test_every_data_file_is_installed(installed: Path) -> None:
    left_out = {"__pycache__", ".DS_Store"}
    for name in PACKAGES:
        files = (path for path in (ROOT / name).rglob("*") if path.is_file() and not left_out & {*path.parts})
        expected = {path.relative_to(ROOT) for path in files}
        assert expected
        assert not [str(path) for path in sorted(expected) if not (installed / "fairspace" / path).is_file()]


@pytest.mark.slow
def test_a_script_beside_modules_of_the_users_own_works(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "metrics.py").write_text("OF_THE_USER = 1\n")
    (tmp_path / "cards.py").write_text("OF_THE_USER = 2\n")
    (tmp_path / "script.py").write_text(SCRIPT)
    place, facts = run(installed, tmp_path, "script.py").splitlines()
    assert Path(place).parent == installed / "fairspace"
    assert facts == f"{PROJECT['version']} 7 iris"


@pytest.mark.slow
def test_the_installed_command_says_its_version_and_works(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "metrics.py").write_text("raise SystemExit('the wrong metrics')\n")
    command = ("-c", "from fairspace.submissions.commands.main import main; main()")
    assert run(installed, tmp_path, *command, "--version") == f"fairspace {PROJECT['version']}\n"
    run(installed, tmp_path, *command, "baseline", "constant", "--benchmark", "genres", "--out", "demo")
    assert "no faults" in run(installed, tmp_path, *command, "check", "demo")


@pytest.mark.slow
def test_scoring_a_frame_and_verifying_load_nothing_of_the_extras(installed: Path, tmp_path: Path) -> None:
    assert run(installed, tmp_path, "-c", BARE) == "value\nset()\n"


@pytest.mark.slow
def test_the_library_and_eval_work_without_what_windows_lacks(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("def answer(prompt): return 'A'")
    printed = run(ROOT, tmp_path, "-c", ON_WINDOWS)
    assert "Report: own.py-answer-eval" in printed


def test_a_script_beside_the_clone_finds_the_package() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert makefile.count("$(EDITABLE)") == 3
    assert "EDITABLE = --config-settings editable_mode=compat -e" in makefile


def test_the_copy_that_a_space_runs_knows_its_version(tmp_path: Path) -> None:
    (space,) = choose(["space"], tmp_path / "built", tmp_path / "ares", "fairspace", False)
    for path, found in space.files(tmp_path).items():
        if path in ("fairspace/__init__.py", "fairspace/VERSION") or path.startswith("fairspace/submissions/version"):
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_bytes(found if isinstance(found, bytes) else found.read_bytes())
    code = "import sys; sys.path.insert(0, '.'); import fairspace; print(fairspace.__version__)"
    printed = run(tmp_path, tmp_path, "-I", "-S", "-c", code)  # without anything that is installed
    assert printed == f"{PROJECT['version']}\n"


def test_importing_the_library_loads_nothing_of_it() -> None:
    code = "import sys, fairspace; print([name for name in sys.modules if name.startswith('fairspace.')])"
    assert run(ROOT, ROOT, "-c", code) == "[]\n"


def test_names_of_the_library_are_those_that_are_listed() -> None:
    import fairspace

    places = {*fairspace._RENAMED, *(name for names in fairspace._HOMES.values() for name in names)}
    assert set(fairspace.__all__) == places == set(dir(fairspace))
    for name in fairspace.__all__:
        assert getattr(fairspace, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'scroe'"):
        _ = fairspace.scroe
