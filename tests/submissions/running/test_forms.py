import json
from collections.abc import Callable
from pathlib import Path

import pytest

import fairspace as fs
from fairspace.submissions.benchmarks.benchmark import CLOSED, FORM, SCHEMA
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.benchmarks.task import DECLINE
from fairspace.submissions.checking.submission import read_submission
from fairspace.submissions.errors import RunError
from fairspace.submissions.results.board import scored_row
from fairspace.submissions.results.scoring import score_submission
from fairspace.submissions.running.asking.inspect_task import ChosenPart
from fairspace.submissions.running.asking.models import ModelSettings
from fairspace.submissions.running.logs.importing import import_inspect
from fairspace.submissions.running.run import run as run_benchmark
from fairspace.submissions.running.settings import RunSettings
from tests.served.faults import Fault
from tests.served.running import Served

BENCH, TASK = "stereotypical_bias", "language_gender"
CHOSEN = ChosenPart(BENCH, tasks=(TASK,), limit=3, seed=1, text_only=True, form=CLOSED)


@pytest.mark.slow  # runs through Inspect, which takes seconds to import
@pytest.mark.parametrize("way", ["held", "held after a fault", "ignored", "refused"])
def test_a_server_is_asked_by_schema_where_it_keeps_to_it_else_in_words(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`refused`: a server that knows no `response_format`."""
    held = way.startswith("held")
    faults = (Fault("status", status=404, about="other"),) * way.endswith("fault")
    with Served.start(schemas=held, unknown=("response_format",) * (way == "refused"), faults=faults) as served:
        for name, value in served.environment().items():
            monkeypatch.setenv(name, value)
        settings = RunSettings(CHOSEN, tmp_path / "mine", model=ModelSettings("openai-api/served/served-text"))
        done = run_benchmark(settings)
        run_benchmark(settings)  # all is there: not even the greeting is sent again
        assert served.requests().kinds["other"] == (3 if faults else 1)
    read = read_submission(tmp_path / "mine")
    answers = read.tables["responses"]["response"].to_pylist()
    assert all(text.startswith('{"answer": ') for text in answers) is held
    assert read.meta.generation[FORM] == CLOSED
    assert read.meta.generation[SCHEMA] is held
    assert done.stages[0].settings[SCHEMA] is held
    result = score_submission(read, resamples=0)
    form = CLOSED if held else f"{CLOSED} in words"
    row = scored_row(result, result.standard)
    assert row.ranked is None
    assert f"asked in another form than the paper's ({form})" in row.unranked
    assert row.protocol == row.group == f"v2, text only, form {form}"
    assert ("held by a JSON schema" if held else "asked for in words") in benchmark(BENCH).protocol_text(row.protocol)
    log, *_ = (tmp_path / "mine.run" / "logs").glob("*.eval")
    import_inspect([log], tmp_path / "again")
    assert read_submission(tmp_path / "again").meta.generation[SCHEMA] is held


@pytest.mark.slow
def test_a_function_is_asked_in_words_and_never_greeted() -> None:
    asked: list[str] = []

    def model(prompt: str) -> str:
        asked.append(prompt)
        return json.dumps({"answer": DECLINE})

    answers = fs.run(model, BENCH, tasks=(TASK,), limit=2, text_only=True, form="json", name="mine")
    assert len(asked) == answers.to_frame().shape[0] == 2
    assert all(DECLINE in prompt for prompt in asked)
    assert answers.submission.meta.generation[SCHEMA] is False
    assert fs.score(answers).readings[TASK].outcomes["refused"] == 2


@pytest.mark.slow
def test_a_server_that_answers_no_greeting_stops_the_run(served: Served, tmp_path: Path) -> None:
    served.inject(Fault("status", status=404, times=None))
    with pytest.raises(RunError, match=r"MODEL_SILENT.*an answer to a greeting"):
        run_benchmark(RunSettings(CHOSEN, tmp_path / "mine", model=ModelSettings("openai-api/served/served-text")))


def test_a_form_needs_a_free_question(run: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    asked = ("run", "--form", "json", "--model", "mockllm/model", "--out", tmp_path / "mine", "--benchmark")
    for more, wrong in (
        (("genres",), "have no form 'json'. Known: paper."),
        (("iris", "--tasks", "tournament"), "its question has no such form"),
        (("iris", "--images", "endpoint:http://127.0.0.1:1#x"), "leave out --images"),
    ):
        code, _, err = run(*asked, *more)
        assert code in (1, 2)
        assert wrong in " ".join(err.split())
    code, out, _ = run("run", "--dry-run", "--form", "json", "--benchmark", BENCH, "--text-only")
    assert code == 0
    assert [line.partition(" ")[0] for line in out.splitlines()[:2]] == ["language_gender", "language_race"]
