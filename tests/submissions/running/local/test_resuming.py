"""A run of a local model, stopped at five points and resumed, gives the unbroken run's bytes.

The requests that share a batch differ then. `test_runs_killed.py` kills whole processes.
"""

from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("inspect_ai")

from fairspace.submissions.errors import RunError
from fairspace.submissions.format.manifest import read_manifest
from fairspace.submissions.running.asking.inspect_task import ChosenPart
from fairspace.submissions.running.asking.models import ModelSettings
from fairspace.submissions.running.asking.prices import Bounds
from fairspace.submissions.running.run import run
from fairspace.submissions.running.settings import RunSettings
from tests.submissions.running.local import tiny_models
from tests.submissions.running.run_factory import assert_same, journaled

pytestmark = pytest.mark.filterwarnings("ignore:Unclosed:ResourceWarning", "ignore:unclosed:ResourceWarning")
ASKED = ChosenPart("fact_or_fair", limit=2, stratified=True, dataset_revision="v2-core")
REQUESTS = 16


@pytest.mark.slow
def test_a_run_that_was_broken_off_five_times_ends_with_the_bytes_of_the_unbroken_one(tmp_path: Path) -> None:
    folder = tiny_models.chat(tmp_path / "chat")
    arguments = {"device": "cpu", "batch": 4}
    model = ModelSettings(f"local/{folder}", temperature=0, max_tokens=4, arguments=arguments)
    whole = RunSettings(ASKED, tmp_path / "whole", model)
    outcome = run(whole)
    (stage,) = outcome.stages
    spent = stage.input_tokens + stage.output_tokens
    broken = replace(whole, out=tmp_path / "broken")
    answered = []
    for share in (0.05, 0.2, 0.4, 0.4, 0.6, 0.9):
        bound = replace(model, bounds=Bounds(tokens=int(spent * share)))
        with pytest.raises(RunError, match="RUN_SPENT"):
            run(replace(broken, model=bound))
        answered.append(len(journaled(tmp_path / "broken.run" / "journal.sqlite")))
    assert answered[2] == answered[3] > answered[0] > 0, "what is spent counts over all starts"
    run(broken)
    assert_same(whole.out, broken.out)

    (stage,) = read_manifest(broken.out).stages
    assert (stage.requests, stage.settings["local.batch"], stage.settings["local.dtype"]) == (REQUESTS, 4, "float32")
    assert stage.course["output_tokens"] == stage.output_tokens
    assert 0 <= float(stage.course["readable_llm_objective"] or 0) <= 1
    assert stage.course["cut_off"] == pytest.approx(1, abs=0.5)

    other = replace(model, arguments={**arguments, "batch": 2})
    with pytest.raises(RunError, match=r"RUN_OTHER.*-M batch"):
        run(replace(broken, model=other))
