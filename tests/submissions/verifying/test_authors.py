import os
import shutil
from pathlib import Path

import pytest

from tests.oracles import __main__ as running
from tests.oracles import authors
from tests.oracles.authors import clones
from tests.oracles.authors.clones import REPOSITORIES, CloneError, Repository
from tests.oracles.comparison import Verification


@pytest.mark.slow
@pytest.mark.parametrize("name", authors.RUNS)
def test_the_authors_code_agrees_but_for_listed_departures(name: str) -> None:
    setting = f"FAIRSPACE_{name.upper()}_CLONE"
    if setting not in os.environ:
        pytest.skip(f"{setting} names no clone of {REPOSITORIES[name].address}")
    outcome = authors.RUNS[name](Path(os.environ[setting]))
    whole = Verification(tuple(outcome.comparisons))
    assert not whole.unlisted
    named = {row.departure for row in outcome.comparisons if row.departure}
    assert {name for name in named if not name.startswith("E-")} <= set(outcome.departures)
    assert {row.verdict for row in outcome.comparisons if row.data == "drawn"} >= {"ok"}
    assert outcome.patches


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "metric.py").write_text("raise SystemExit(3)", encoding="utf-8")
    digest = "42c1a9d5b2b4a4f0b7f1c8d1f5c0f7b3d1c9a0e4f6b8a2c4e6d8f0a1b3c5d7e9"
    monkeypatch.setitem(clones.REPOSITORIES, "iris", Repository("iris", "a/b", "1234567", {"metric.py": digest}))
    return tmp_path


def test_a_clone_of_another_commit_is_refused_before_anything_runs(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "printed_tables", pytest.fail)
    with pytest.raises(CloneError, match=r"CLONE_DIFFERS at .*metric\.py.*git checkout 1234567"):
        running.verify({"iris": repository})
    shutil.rmtree(repository)
    with pytest.raises(CloneError, match=r"CLONE_MISSING at .*metric"):
        running.verify({"iris": repository})


def test_a_program_that_fails_is_named_with_its_last_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "child.py"
    script.write_text("raise ValueError('no such column')", encoding="utf-8")
    monkeypatch.setattr(clones, "__file__", str(tmp_path / "clones.py"))
    with pytest.raises(CloneError, match=r"CLONE_FAILED at a/b: ValueError: no such column"):
        clones.run("child.py", tmp_path, Repository("iris", "a/b", "1234567", {}))
