import shutil
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from fairspace.leaderboard_space.events import SIGNATURE, is_forged, signing_key
from fairspace.leaderboard_space.intake import User
from fairspace.leaderboard_space.web.identity import Tokens
from fairspace.submissions.checking.submission import read_submission
from fairspace.submissions.commands.space_client import TOKEN
from fairspace.submissions.running.asking.inspect_task import ChosenPart
from fairspace.submissions.running.asking.models import ModelSettings
from fairspace.submissions.running.rerunning.rerun import Means, rerun
from fairspace.submissions.running.run import run as run_benchmark
from fairspace.submissions.running.settings import RunSettings
from tests.leaderboard_space.attacks.running import SIGNING, Running, running
from tests.submissions.running.images.painter import FILE
from tests.tiny_ares import random_ares

pytestmark = [pytest.mark.process, pytest.mark.slow]
MODEL = "openai-api/served/served-text"
BOARD = "/api/v1/boards/fact_or_fair"


def handed_in(space: Running, file: Path) -> str:
    client = space.program("ada")
    answer = client.post("/api/v1/submissions", files={"file": ("mine.zip", file.read_bytes())})
    assert answer.status_code == 202, answer.text
    deadline = time.monotonic() + 300
    while not (now := client.get(f"/api/v1/submissions/{answer.json()['id']}").json()).get("entry"):
        assert now["outcome"] == "waiting", now
        assert time.monotonic() < deadline
        time.sleep(0.3)
    return str(now["entry"])


@pytest.mark.usefixtures("served")
def test_a_row_is_verified_on_a_space_by_its_model_and_signed_there(
    run: Callable[..., tuple[int, str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = ChosenPart("fact_or_fair", tasks=("llm_subjective",), limit=40, seed=3)
    run_benchmark(RunSettings(chosen, tmp_path / "mine", model=ModelSettings(MODEL, connections=8)))
    mine = Path(shutil.make_archive(str(tmp_path / "mine"), "zip", tmp_path / "mine"))
    with running(tmp_path / "space", resamples="100") as space:
        entry = handed_in(space, mine)
        for name, value in {TOKEN: Tokens(SIGNING).make(User("the-maintainer")), "FAIRSPACE_SECRET": ""}.items():
            monkeypatch.setenv(name, value)
        work, signed = ("--out", tmp_path / "work", "--items", 40), ("--sign", space.address, "--entry", entry)
        code, _, err = run("verify-submission", mine, "--model", MODEL, *work, *signed)
        assert code == 0, err
        row = httpx.get(f"{space.address}{BOARD}/rows/{entry}").json()
        assert (row["row_class"], row["submitter"]) == ("verified", "ada")
        event = space.events()[-1]
        assert (event["kind"], event["body"]["by"], event["body"]["entry"]) == ("verified", "the-maintainer", entry)
        assert event["body"]["evidence"]["verdict"] == "agrees"
        assert event["body"]["evidence"]["agreement"]["agreement"] == 1
        assert SIGNATURE in event["body"]
        assert not is_forged(event["body"], signing_key(SIGNING)), "the Space signs with its own secret"


def test_images_are_made_and_labelled_again_by_the_models_that_are_named(tmp_path: Path) -> None:
    chosen = ChosenPart("fact_or_fair", tasks=("t2i_objective",), limit=40, seed=3)
    paint, ares = f"python:{FILE}:paint", str(random_ares())
    run_benchmark(RunSettings(chosen, tmp_path / "mine", images=paint, ares=ares))
    submission = read_submission(tmp_path / "mine")
    outcome = rerun(submission, Means(images=paint, ares=ares), tmp_path / "work", items=40)
    assert outcome.comparison is not None
    assert outcome.comparison.whole.agreement == 1.0
    assert outcome.verdict in ("agrees", "undecided"), "labels of a tiny classifier hardly vary, and 40 are few"
    assert outcome.to_json()["part"] == {"t2i_objective": 40}
    assert outcome.model == "python:painter.py:paint", "no path of this machine is published"
