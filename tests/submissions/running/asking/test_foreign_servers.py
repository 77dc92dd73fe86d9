"""Real servers' answers and errors, through the real client: run here, or written by them (`tests/foreign/`)."""

from pathlib import Path
from typing import Any

import pytest

from fairspace.submissions.running.asking.accepting import completion_of
from fairspace.submissions.running.asking.journal import JournalEntry
from fairspace.submissions.running.asking.models import ModelSettings, open_model
from tests.foreign import HERE
from tests.served.running import Served
from tests.submissions.running.asking.test_accepting import asked, fate_of
from tests.submissions.running.local.tiny_gguf import write_gguf
from tests.submissions.running.local.tiny_models import chat


@pytest.mark.parametrize(
    ("file", "status", "words"),
    [
        ("litellm/200.json", 200, ""),
        ("litellm/429.json", 429, "this is a mock rate limit error"),
        ("litellm/400_temperature.json", 400, "Mend: give -M temperature=1"),
        ("litellm/400_context.json", 400, "this is a mock context window exceeded error"),
        ("transformers_serve/200.json", 200, ""),
        ("transformers_serve/422.json", 422, "Unexpected fields in the request: {'frobnicate'}"),
    ],
)
def test_bodies_that_servers_wrote(served: Served, file: str, status: int, words: str) -> None:
    answer = asked(served, (HERE / file).read_text(encoding="utf-8"), status)
    assert answer.fate == ("failed" if words else "answered")
    assert words in answer.reason


@pytest.mark.parametrize(
    ("message", "param", "mend"),
    [
        ("temperature must be in [0, 2], got 3.0.", "temperature", "temperature=1"),
        ("top_p must be in (0, 1], got 0.0.", "top_p", "top_p=1"),
        ("max_tokens must be at least 1, got 0.", "max_tokens", "another -M max_tokens=N"),
        ("This model's maximum context length is 64 tokens.", "input_tokens", "a model with a longer context"),
    ],
)
def test_errors_of_vllm_name_what_mends_them(served: Served, message: str, param: str, mend: str) -> None:
    """Its `ErrorInfo` has message, type, param and the status as `code`."""
    error = {"message": message, "type": "BadRequestError", "param": param, "code": 400}
    assert mend in asked(served, {"error": error}, 400).reason


@pytest.mark.parametrize(("finish", "fate"), [("repetition", "answered"), ("abort", "failed"), ("error", "failed")])
def test_ends_of_vllm_are_known(served: Served, finish: str, fate: str) -> None:
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": "A"}}
    assert asked(served, {"choices": [choice]}).fate == fate


@pytest.mark.slow
def test_a_server_of_llama_cpp_answers_and_says_what_it_refuses(tmp_path: Path) -> None:
    xllamacpp = pytest.importorskip("xllamacpp")
    about = xllamacpp.CommonParams()
    about.model.path = str(write_gguf(chat(tmp_path), tmp_path / "tiny.gguf"))
    about.n_ctx, about.n_parallel, about.cache_ram_mib, about.verbosity = 512, 1, 0, -1
    about.cpuparams.n_threads = about.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(about)

    def ask(**sent: Any) -> JournalEntry:
        model = open_model(ModelSettings(f"{server.listening_address}/v1#tiny", retries=0))
        model.config.max_tokens = 4
        model.config.extra_body = sent
        return fate_of(model)

    answer = ask(temperature=0)
    assert (answer.fate, answer.stop, answer.output_tokens >= 4) == ("answered", "max_tokens", True)
    assert ask(temperature="hot").reason.endswith("Mend: give -M temperature=1, or temperature=default to send none")
    long = ask(messages=[{"role": "user", "content": "hi " * 3000}])
    assert long.fate == "failed"
    assert "exceeds the available context size (512 tokens)" in long.reason
    assert ask(stream=True).reason.startswith("an event stream, which nobody asked for: 'data: ")


def test_the_client_packages_own_forms_are_read() -> None:
    from openai.types.chat import ChatCompletion

    def form(finish: str, **message: Any) -> Any:
        choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", **message}, "logprobs": None}
        about = {"id": "x", "object": "chat.completion", "created": 1, "model": "m"}
        return ChatCompletion.model_validate({**about, "choices": [choice]}).model_dump(mode="json")

    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    assert completion_of(form("stop", content="A"))[0] == 200
    assert completion_of(form("stop", content=None, refusal="No."))[0] == 200
    assert completion_of(form("content_filter", content=None))[0] == 200
    assert completion_of(form("tool_calls", content=None, tool_calls=[call]))[0] == 422
    assert completion_of(form("stop", content=None))[0] == 422
