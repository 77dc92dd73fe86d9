"""Through the real client, against a server that sends these bodies; answers that are no choice are asked anew."""

import json
import re
import socket
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from inspect_ai.model import ChatCompletionChoice, ChatMessageAssistant, GenerateConfig, Model, ModelOutput
from tenacity import Future, RetryCallState, Retrying

import fairspace as fs
from fairspace.submissions.benchmarks.fact_or_fair.ask import UNREADABLE_AGAIN
from fairspace.submissions.benchmarks.task import Ask, TaskStimuli, ask_seed
from fairspace.submissions.commands.run_options import model_settings
from fairspace.submissions.errors import RunError
from fairspace.submissions.running.asking.accepting import fault_of
from fairspace.submissions.running.asking.asking import Request, RunAsking
from fairspace.submissions.running.asking.inspect_task import ChosenPart, build_task, open_benchmark, parts
from fairspace.submissions.running.asking.journal import JOURNAL, TOO_LONG, Journal, JournalEntry
from fairspace.submissions.running.asking.models import ModelSettings, open_model
from fairspace.submissions.running.run import run
from fairspace.submissions.running.settings import RunSettings
from tests.served.faults import Fault
from tests.served.running import Served

(PART,) = parts("fact_or_fair", None, tasks=["llm_objective"])
ASK = PART.read(0).asks[0]


def asked(served: Served, body: Any, status: int = 200, form: str = "application/json") -> JournalEntry:
    """The fate of a request to which this body is the answer, whatever is tried."""
    text = body if isinstance(body, str) else json.dumps(body)
    served.inject(Fault("verbatim", status=status, body=text, form=form, times=None))
    settings = ModelSettings(f"{served.url}#served-text", retries=0, arguments={"api_key": served.key})
    return fate_of(open_model(settings), replace(PART, readable=lambda ask, text: True))


def fate_of(model: Model, part: TaskStimuli = PART) -> JournalEntry:
    async def ask() -> JournalEntry:
        try:
            return await RunAsking({}, patience=None).ask(Request(model, ASK, (), part))
        finally:
            await model.api.aclose()

    return anyio.run(ask)


def said(content: Any, finish: Any = "stop", **message: Any) -> dict[str, Any]:
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content, **message}}
    usage = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}
    return {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}


TEXT = [{"type": "text", "text": "The answer "}, {"type": "text", "text": "is A"}]
THOUGHT = [{"type": "thinking", "thinking": [{"type": "text", "text": "Or B"}]}]
CALL = [{"id": "1", "type": "function", "function": {"name": "vote", "arguments": "{}"}}]
BARE = {"choices": [{"message": {"content": "The answer is A"}, "finish_reason": "eos_token"}]}


@pytest.mark.parametrize(
    ("body", "stop"),
    [
        (said("The answer is A"), "stop"),
        (said("The answer is A", "length"), "max_tokens"),
        (said(TEXT), "stop"),
        (said([*THOUGHT, *TEXT]), "stop"),
        (said("The answer is A", "STOP", reasoning_content="Or B"), "stop"),
        (said("The answer is A") | {"usage": {"prompt_tokens": 3}}, "stop"),
        (BARE, "stop"),
    ],
)
def test_a_text_whose_end_is_known_is_an_answer(served: Served, body: Any, stop: str) -> None:
    answer = asked(served, body)
    assert (answer.fate, answer.response, answer.stop) == ("answered", "The answer is A", stop)


UPSTREAM = {"error": {"message": "Provider returned error", "code": 429, "metadata": {"raw": "limited upstream"}}}
BROKEN = said("The answer is A", "error")
BROKEN["choices"][0]["error"] = {"code": 502, "message": "Upstream error"}


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (UPSTREAM, "Provider returned error .*limited upstream"),
        (UPSTREAM | {"choices": None}, "Provider returned error"),
        ({"error": "CUDA out of memory"}, "CUDA out of memory"),
        ({"object": "error", "message": "The model is asleep", "code": 503}, "The model is asleep"),
        ({"detail": "no worker"}, "no worker"),
        ("[1]", r"no chat completion: \[1\]"),
        (BROKEN, "Upstream error"),
        (said("", "error"), "finish_reason 'error'"),
        (said("The answer is A", "abort"), "finish_reason 'abort', after 'The answer is A'"),
        (said("The answer is A", None), "finish_reason 'none'"),
        (said(None), "content None, not a text"),
        (said(1), "content 1, not a text"),
        (said({"type": "text", "text": "A"}), "content .*not a text"),
        (said([*TEXT, {"type": "image_url", "image_url": {"url": "x"}}]), "a part of type 'image_url'"),
        (said(None, reasoning_content="It is A"), "no text but reasoning, in `reasoning_content`: 'It is A'$"),
        (said("", "length", reasoning="Is it A"), "in `reasoning`: .* -M max_tokens=N"),
        (said(THOUGHT), "no text but reasoning, in `content`"),
        (said(None, "tool_calls", tool_calls=CALL), "a tool call in place of a text: .*vote"),
        (said("The answer is A", tool_calls=CALL), "a tool call"),
        (said("The temperature is A", "abort"), "after 'The temperature is A'. Expected: stop or length$"),
    ],
)
def test_all_else_has_failed_in_the_providers_words(served: Served, body: Any, words: str) -> None:
    answer = asked(served, body)
    assert (answer.fate, answer.response) == ("failed", None)
    assert re.search(words, answer.reason), answer.reason
    if isinstance(body, dict) and body.get("usage"):
        assert answer.output_tokens == 2 * answer.attempts, "paid for too"


def test_an_event_stream_that_nobody_asked_for_is_named(served: Served) -> None:
    stream = 'data: {"choices": [{"delta": {"content": "A"}}]}\n\ndata: [DONE]\n\n'
    for form in ("text/event-stream", "text/plain"):
        reason = asked(served, stream, form=form).reason
        assert reason.startswith("an event stream, which nobody asked for: 'data: ")


def test_a_text_withheld_is_refused(served: Served) -> None:
    assert asked(served, said(None, "content_filter")).fate == "refused"
    assert asked(served, said(None, refusal="No.")).reason == "No."


def rejected(words: str, param: str | None = None, **more: Any) -> dict[str, Any]:
    return {"error": {"message": words, "type": "invalid_request_error", "param": param, **more}}


TEMPERATURE = "give -M temperature=1, or temperature=default to send none"
SEED = {"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]}


@pytest.mark.parametrize(
    ("status", "body", "mend"),
    [
        (400, rejected("Only the default (1) value is supported.", "temperature"), TEMPERATURE),
        (400, rejected("O-series models don't support temperature=0."), TEMPERATURE),
        (400, rejected("'max_tokens' is unsupported. Use 'max_completion_tokens' instead."), "max_completion_tokens=N"),
        (400, {"object": "error", "message": "top_p must be in (0, 1], got 0.0."}, "top_p=default"),
        (422, SEED, "leave out --seed"),
        (
            400,
            rejected("The maximum context length is 512 tokens.", code="context_length_exceeded"),
            "a smaller -M max",
        ),
    ],
)
def test_a_rejected_parameter_names_what_mends_it(served: Served, status: int, body: Any, mend: str) -> None:
    answer = asked(served, body, status)
    assert answer.fate == "failed", "also where the package makes an answer of an error's text"
    assert mend in answer.reason.partition(". Mend: ")[2]


def test_an_error_that_is_about_no_parameter_names_none(served: Served) -> None:
    assert "Mend" not in asked(served, rejected("The temperature of the room is too high."), 500).reason
    assert "Mend" not in asked(served, rejected("bad request"), 400).reason


def test_outputs_of_all_providers_pass_the_same_list() -> None:
    def output(**choice: Any) -> ModelOutput:
        message = ChatMessageAssistant(content="The answer is A")
        return ModelOutput(model="m", choices=[ChatCompletionChoice(message=message, **choice)])

    assert fault_of(output(stop_reason="stop")) == fault_of(output(stop_reason="max_tokens")) == ""
    assert fault_of(output(stop_reason="content_filter")) == ""
    assert "after 'The answer is A'" in fault_of(output())


def test_a_setting_is_sent_by_the_name_that_the_server_wants_or_not_at_all() -> None:
    given = ["temperature=default", "max_completion_tokens=64"]
    settings = model_settings("openai/any", given)
    opened = open_benchmark(ChosenPart("fact_or_fair", tasks=("llm_objective",)))
    effective = settings.effective(opened.settings)
    assert effective == {"temperature": "default", "max_tokens": "default", "max_completion_tokens": 64}
    config = build_task(opened, RunAsking(opened.parts), effective).config
    assert (config.temperature, config.max_tokens, config.extra_body) == (None, None, {"max_completion_tokens": 64})


@pytest.mark.slow
def test_an_answer_longer_than_a_submission_holds_is_unusable_and_ends_no_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    core: dict[str, Any] = {"dataset_revision": "v2-core", "limit": 1, "tasks": ["llm_objective"]}
    for _ in range(2):
        answers = fs.run(lambda prompt: "A " * 600_000, "fact_or_fair", folder=tmp_path / "mine", name="long", **core)
        assert answers.to_frame()["response"].tolist() == ["", "", ""]
    assert "an answer of 1,200,000 bytes; a submission holds 1,048,576. It is unusable" in capsys.readouterr().err
    manifest = json.loads((tmp_path / "mine" / "manifest.json").read_text())
    assert manifest["stages"][0]["course"][TOO_LONG] == 3


def test_a_journal_of_before_gives_a_long_answer_as_unusable(tmp_path: Path) -> None:
    with Journal(tmp_path / JOURNAL) as journal:
        journal.put(JournalEntry("t", "i", 0, "answered", "A"))
        journal._db.execute("UPDATE answer SET response = ?", ("é" * 600_000,))
        (kept,) = journal.answers()
    assert (kept.response, kept.stop) == ("", TOO_LONG)


@pytest.fixture
def address() -> str:
    """A port where nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as closed:
        return f"http://127.0.0.1:{closed.getsockname()[1]}/v1"


def test_the_first_failure_names_server_and_log(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
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
    form: str, address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen = ChosenPart("stereotypical_bias", limit=2, text_only=True, form=form)
    with pytest.raises(RunError, match=rf"MODEL_SILENT at .*{address}, task .*Connect.*a server that listens there"):
        run(RunSettings(chosen, tmp_path / "mine", model=ModelSettings(f"{address}#m")))
    assert "asking again" not in capsys.readouterr().err


class Scripted:
    """A model with these answers in turn; None: the provider fails."""

    def __init__(self, answers: Sequence[str | None]) -> None:
        self.answers, self.seeds = list(answers), list[int | None]()

    async def generate(self, messages: Any, config: GenerateConfig) -> ModelOutput:
        self.seeds.append(config.seed)
        assert [message.text for message in messages] == [ASK.prompt]
        text = self.answers.pop(0)
        if text is None:
            raise RuntimeError("no answer")
        return ModelOutput.from_content("scripted", text)


def scripted(answers: Sequence[str | None], **settings: Any) -> tuple[JournalEntry, Scripted]:
    model: Any = Scripted(answers)
    asking = RunAsking({"llm_objective": PART}, attempts=1, **settings)
    return anyio.run(asking.ask, Request(model, ASK, (), PART)), model


@pytest.mark.parametrize("readable", ['{"answer": "B"}', "A", "Male", "Sorry, but I cannot answer that."])
def test_what_can_be_read_is_asked_once(readable: str) -> None:
    answer, model = scripted([readable])
    assert (answer.response, answer.attempts, model.answers) == (readable, 1, [])


def test_an_unreadable_answer_is_asked_anew_until_one_can_be_read() -> None:
    answer, model = scripted(["Well.", "Hm.", '{"answer": "A"}'], seed=3)
    assert (answer.response, answer.attempts) == ('{"answer": "A"}', 3)
    seed = ask_seed(3, *ASK.key)
    assert model.seeds == [seed, seed ^ 1, seed ^ 2]


def test_it_is_asked_anew_five_times_at_most() -> None:
    answer, model = scripted([f"Well, {number}." for number in range(9)])
    assert (answer.fate, answer.response, answer.attempts) == ("answered", "Well, 5.", 1 + UNREADABLE_AGAIN)
    assert len(model.answers) == 3


def test_a_model_that_repeats_itself_is_not_asked_further() -> None:
    answer, _ = scripted(["Well.", "Well.", "never asked"])
    assert (answer.response, answer.attempts) == ("Well.", 2)


def test_a_provider_that_fails_leaves_the_answer_before() -> None:
    answer, _ = scripted(["Well.", None])
    assert (answer.fate, answer.response, answer.attempts) == ("answered", "Well.", 2)


def test_the_run_says_how_often_and_v1_is_asked_once() -> None:
    opened = open_benchmark(ChosenPart("fact_or_fair", tasks=("llm_objective",)))
    assert opened.marks["unreadable_again"] == opened.describe()["unreadable_again"] == UNREADABLE_AGAIN
    (old,) = parts("fact_or_fair", None, tasks=["llm_objective"], revision="v1")
    assert old.unreadable_again == 0
    assert old.readable(Ask("llm_objective", "any", 0, "?"), "Well.")
    only = open_benchmark(ChosenPart("fact_or_fair", tasks=("llm_subjective",)))
    assert "unreadable_again" not in only.marks | only.describe()


def test_the_first_answer_that_is_cut_says_what_gives_room(capsys: pytest.CaptureFixture[str]) -> None:
    class Cut(Scripted):
        async def generate(self, messages: Any, config: GenerateConfig) -> ModelOutput:
            return ModelOutput.from_content("scripted", self.answers.pop(0) or "", stop_reason="max_tokens")

    model: Any = Cut(["A"] * 2)
    asking = RunAsking({"llm_objective": PART}, attempts=1)
    for _ in range(2):
        anyio.run(asking.ask, Request(model, ASK, (), PART))
    said = capsys.readouterr().err
    assert said.count("was cut off at its greatest length") == said.count("-M max_tokens=8192") == 1
