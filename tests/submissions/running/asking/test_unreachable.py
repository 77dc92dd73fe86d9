import socket
from pathlib import Path

import pytest
from tenacity import Future, RetryCallState, Retrying

from fairspace.submissions.errors import RunError
from fairspace.submissions.running.asking.inspect_task import ChosenPart
from fairspace.submissions.running.asking.models import ModelSettings, open_model
from fairspace.submissions.running.run import run
from fairspace.submissions.running.settings import RunSettings


def test_the_first_failure_names_server_and_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        address = f"http://127.0.0.1:{closed.getsockname()[1]}/v1"
    monkeypatch.delenv("AWAY_API_KEY", raising=False)
    with pytest.raises(RunError, match="Mend: set AWAY_API_KEY in the environment"):
        open_model(ModelSettings("openai-api/away/model"))
    monkeypatch.setenv("AWAY_API_KEY", "key")
    monkeypatch.setenv("AWAY_BASE_URL", address)
    model = open_model(ModelSettings("openai-api/away/model"), logs=tmp_path)
    wait = model.api.retry_wait()
    assert wait is not None
    state = RetryCallState(Retrying(), None, (), {})
    state.outcome = Future.construct(1, ConnectionResetError("reset by peer"), has_exception=True)
    waits = [wait(state), wait(state)]
    assert all(0 < seconds < 20 for seconds in waits)
    said = capsys.readouterr().err
    assert said.count("Note: no answer from openai-api/away/model") == 1
    assert address in said
    assert "reset by peer" in said
    assert f"log: {tmp_path}" in said


@pytest.mark.slow  # runs through Inspect, which takes seconds to import
@pytest.mark.parametrize("form", ["paper", "json"])
def test_a_port_where_nothing_listens_ends_the_run_at_once_in_every_form(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        address = f"http://127.0.0.1:{closed.getsockname()[1]}/v1"
    chosen = ChosenPart("stereotypical_bias", limit=2, text_only=True, form=form)
    with pytest.raises(RunError, match=rf"MODEL_SILENT at .*{address}, task .*Connect.*a server that listens there"):
        run(RunSettings(chosen, tmp_path / "mine", model=ModelSettings(f"{address}#m")))
    assert "asking again" not in capsys.readouterr().err
