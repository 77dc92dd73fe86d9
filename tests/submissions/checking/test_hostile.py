import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.submissions.checking.hostile import CASES

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[3]
TEXTS: dict[str, str] = json.loads(Path(__file__).with_name("hostile_texts.json").read_text(encoding="utf-8"))
"""Texts of all faults by case, but for those with a library's own message."""


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    command = [
        sys.executable,
        "-W",
        "error",
        "-m",
        "tests.submissions.checking.hostile",
        str(tmp_path_factory.mktemp("cases")),
    ]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_there_are_sixty_cases_and_more() -> None:
    assert len(CASES) >= 60
    assert len(set().union(*(case.codes for case in CASES.values()))) >= 50


@pytest.mark.parametrize("name", CASES)
def test_hostile_submission(name: str, outcomes: dict[str, Any]) -> None:
    outcome, case = outcomes[name], CASES[name]
    assert "error" not in outcome
    assert set(outcome["codes"]) == case.codes
    assert outcome["ok"] == (not case.codes)
    assert case.says in outcome["text"]
    assert outcome["unchanged"]
    assert outcome["count"] <= case.limits.faults
    assert outcome["text"].replace("\n", "").isprintable()


@pytest.mark.parametrize("name", TEXTS)
def test_the_texts_of_faults_stay(name: str, outcomes: dict[str, Any]) -> None:
    assert outcomes[name]["text"] == TEXTS[name]


@pytest.mark.parametrize("name", ["model_is_a_formula", "model_is_html"])
def test_a_model_name_survives_as_text(name: str, outcomes: dict[str, Any]) -> None:
    assert outcomes[name]["model"] in ("=cmd()|' /C calc'!A0", "<img src=x onerror=alert(1)>")
