import socket
from pathlib import Path

import pytest
from tenacity import Future, RetryCallState, Retrying

from fairspace.submissions.running.asking.models import ModelSettings, open_model
from fairspace.submissions.running.errors import RunError


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
    state.outcome = Future.construct(1, ConnectionRefusedError("refused"), has_exception=True)
    waits = [wait(state), wait(state)]
    assert all(0 < seconds < 20 for seconds in waits)
    said = capsys.readouterr().err
    assert said.count("Note: no answer from openai-api/away/model") == 1
    assert address in said
    assert "refused" in said
    assert f"log: {tmp_path}" in said
