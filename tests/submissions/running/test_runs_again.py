import errno
import json
from pathlib import Path
from typing import Any

import pytest

from fairspace.submissions.benchmarks.task import Ask
from fairspace.submissions.checking.submission import check_submission
from fairspace.submissions.errors import RunError, UsageError
from fairspace.submissions.format.manifest import Scalar, Stage, now
from fairspace.submissions.running.asking import answering
from fairspace.submissions.running.asking.answering import AnsweredRun
from fairspace.submissions.running.asking.asking import Request, answer_of, reason_of
from fairspace.submissions.running.asking.inspect_task import ChosenPart
from fairspace.submissions.running.asking.journal import Journal, JournalEntry
from fairspace.submissions.running.asking.models import ModelSettings
from fairspace.submissions.running.run import run
from fairspace.submissions.running.settings import ModelFacts, RunOutcome, RunSettings
from tests.submissions.running.run_factory import journaled

pytestmark = pytest.mark.usefixtures("collected")
OWN = """
from pathlib import Path
def answer(prompt, images):
    with Path(__file__).with_suffix(".log").open("a") as log:
        log.write("1")
    return "%s"
"""


class Mine:
    def __init__(self, folder: Path) -> None:
        self.file, self.out = folder / "mine.py", folder / "out"
        self.says()

    def says(self, what: str = "A") -> None:
        self.file.write_text(OWN % what)

    @property
    def calls(self) -> int:
        log = self.file.with_suffix(".log")
        return len(log.read_text()) if log.exists() else 0

    def run(self, benchmark: str = "fact_or_fair", limit: int | None = 1, **given: Any) -> RunOutcome:
        stratified = given.pop("stratified", False)
        model = ModelSettings(f"python/{self.file}:answer", connections=given.pop("connections", 4))
        tasks = ("llm_subjective",) if benchmark == "fact_or_fair" else ()
        chosen = ChosenPart(benchmark, "", tasks, limit, stratified, text_only=benchmark == "genres")
        return run(RunSettings(chosen, self.out, **{"model": model, **given}))


@pytest.fixture
def mine(tmp_path: Path) -> Mine:
    return Mine(tmp_path)


def test_what_is_no_run_of_this_folder_is_left_alone(mine: Mine) -> None:
    mine.out.mkdir()
    (mine.out / "manifest.json").write_text("{}")
    (mine.out / "data.parquet").write_text("precious")
    with pytest.raises(UsageError, match="is there already, and was not made by a run"):
        mine.run()
    (mine.out / "submission.json").write_text("{}")
    with pytest.raises(UsageError, match="is there already"):
        mine.run()
    assert (mine.out / "data.parquet").read_text() == "precious"
    assert mine.calls == 0


def test_a_run_that_was_killed_while_it_replaced_its_submission_goes_on(mine: Mine) -> None:
    mine.run()
    mine.out.rename(mine.out.with_name("out.run") / "submission.former")
    mine.run()
    assert check_submission(mine.out).ok


def test_a_run_that_writes_again_puts_judgements_aside(mine: Mine) -> None:
    mine.run("genres", 2)
    file, judge = mine.out / "submission.json", {"name": "j", "version": "1", "settings": {}}
    file.write_text(json.dumps({**json.loads(file.read_text()), "judge": judge}))
    (mine.out / "judgements.jsonl").write_text("{}")
    outcome = mine.run("genres", 3)
    assert [note for note in outcome.notes if note.startswith("judgements.jsonl went to")]
    assert not (mine.out / "judgements.jsonl").exists()
    assert (mine.out.with_name("out.run") / "judgements.jsonl").read_text() == "{}"
    assert "judge" not in json.loads(file.read_text())


def test_answers_and_images_that_are_there_are_not_left_out(mine: Mine) -> None:
    mine.run()
    work = mine.out.with_name("out.run")
    with pytest.raises(UsageError, match="holds a model's answers: name --model too"):
        run(RunSettings(ChosenPart("iris"), mine.out, images="python:x:y"))
    (work / "images").mkdir()
    with pytest.raises(UsageError, match="holds a model's images: name --images too"):
        mine.run()


def test_other_weights_do_not_go_on(mine: Mine) -> None:
    mine.run()
    mine.says("B")
    with pytest.raises(RunError, match=r"RUN_OTHER.*revision"):
        mine.run(limit=2)


def test_a_shorter_run_and_other_settings_are_refused_before_the_model_is_opened(
    mine: Mine, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine.run(limit=2)
    monkeypatch.setattr(answering, "open_model", lambda *_: pytest.fail("weights were loaded"))
    with pytest.raises(RunError, match=r"RUN_OTHER.*a run of 2 stimuli a task, and now 1"):
        mine.run(limit=1)
    for told, other in (
        (r"another -M on_error\. Expected", {"arguments": {"on_error": "raise"}}),
        ("temperature", {"temperature": 0.5}),
    ):
        with pytest.raises(RunError, match=f"RUN_OTHER.*{told}"):
            mine.run(limit=2, model=ModelSettings(f"python/{mine.file}:answer", **other))
    assert ModelSettings("local/x", arguments={"threads": 1}).compared_arguments() == {}


def test_a_model_that_thinks_has_room_unless_the_user_bounds_it(mine: Mine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answering, "local_facts", lambda model: {"local.thinks": True})
    assert mine.run().stages[0].settings["max_tokens"] == 8192
    mine.out = mine.out.with_name("bounded")
    bounded = ModelSettings(f"python/{mine.file}:answer", max_tokens=300)
    assert mine.run(model=bounded).stages[0].settings["max_tokens"] == 300


def test_stories_are_asked_with_the_files_own_sampling(mine: Mine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answering, "story_sampling", lambda model: {"temperature": 0.8})
    assert mine.run("genres").stages[0].settings["temperature"] == 0.8
    mine.out = mine.out.with_name("facts")
    assert mine.run().stages[0].settings["temperature"] == 0


def test_an_answer_to_another_prompt_is_not_taken(mine: Mine) -> None:
    mine.run()
    file = mine.out.with_name("out.run") / "journal.sqlite"
    first = journaled(file)[0]
    assert len(first.prompt_hash) == 16
    with Journal(file) as journal:
        journal.put(JournalEntry(**{**vars(first), "prompt_hash": "0" * 16}))
    with pytest.raises(RunError, match=r"RUN_OTHER.*the prompt of .* has changed"):
        mine.run()


def test_a_stratified_rungrows_to_the_whole_but_not_to_a_plain_choice(tmp_path: Path) -> None:
    from fairspace.submissions.running.asking.answering import grow

    with Journal(tmp_path / "journal.sqlite") as journal:
        grow(journal, 2, stratified=True)
        with pytest.raises(RunError, match="stratified, and now one that is not"):
            grow(journal, 3, stratified=False)
        grow(journal, None, stratified=False)
        with pytest.raises(RunError, match="a run of all stimuli"):
            grow(journal, 3, stratified=True)
    with Journal(tmp_path / "earlier.sqlite") as journal:  # which drew single stimuli
        journal.renote("limit", "2")
        journal.renote("stratified", "true")
        with pytest.raises(RunError, match="drawn by an earlier version, and now one that is stratified"):
            grow(journal, 3, stratified=True)
        grow(journal, None, stratified=True)


@pytest.mark.parametrize("text", ["half a pair: \ud800", "nothing: \0"])
def test_a_reason_that_no_file_can_hold_is_kept_as_far_as_it_can_be(text: str, tmp_path: Path) -> None:
    from inspect_ai.model import ModelOutput, ModelUsage

    nothing: Any = None
    ask = Ask("t", "i", 0, "?")
    spent = Request(nothing, ask, (), nothing, attempts=1)
    output = ModelOutput.from_content("m", text, stop_reason="content_filter")
    output.usage = ModelUsage(input_tokens=3, output_tokens=2, input_tokens_cache_read=50, input_tokens_cache_write=7)
    spent.add(output)
    refused = answer_of(ask, output)
    assert (spent.input, spent.output) == (60, 2)
    with Journal(tmp_path / "journal.sqlite") as journal:
        journal.put(refused)
        assert journal.get(ask.key) == refused
        assert refused.reason.startswith(text[:5])
        journal.put(JournalEntry(*ask.key, "failed", None, reason_of(ValueError(text))))


def test_only_what_a_manifest_may_show_is_shown() -> None:
    given = {"device": "cpu", "dtype": "two\nlines", "batch": 8, "x": 0.5, "api_key": 12345, "model_path": "/home/me"}
    settings = ModelSettings("local/x", arguments={**given, "device_map": {"": 0}, "nan": float("nan"), "y\n": None})
    shown: dict[str, Scalar] = dict(settings.shown_arguments())
    assert shown.pop("M.dtype") == ModelSettings("m", arguments={"dtype": "two\nlines"}).shown_arguments()["M.dtype"]
    assert [name for name in shown if name.startswith("sha256:")]
    plain = {name: value for name, value in shown.items() if not name.startswith("sha256:")}
    hidden = dict.fromkeys(("M.api_key", "M.model_path", "M.device_map", "M.nan"), "not shown")
    assert plain == {"M.device": "cpu", "M.batch": 8, "M.x": 0.5, **hidden}
    at = now()
    Stage(
        what="responses", model="m", revision="r", engine="e", engine_version="1", settings=shown, started=at, ended=at
    )
    assert "/home/me" not in json.dumps(settings.compared_arguments())
    other = ModelSettings("local/x", arguments={**settings.arguments, "model_path": "/home/you", "api_key": 5})
    ours, theirs = settings.compared_arguments(), other.compared_arguments()
    assert {name for name in ours if ours[name] != theirs[name]} == {"model_path"}


def test_what_cannot_stand_in_a_submission_is_refused_before_anything_is_asked(mine: Mine) -> None:
    with pytest.raises(UsageError, match=r"licence is 'two\\nlines'\. Expected: one line"):
        mine.run(about=ModelFacts(licence="two\nlines"))
    with pytest.raises(UsageError, match=r"parameters is -1\. Expected: greater than"):
        mine.run(about=ModelFacts(parameters=-1))
    with pytest.raises(UsageError, match=r"architecture is 'difusion'\. Expected: 'autoregressive', 'diffusion'"):
        mine.run(about=ModelFacts(architecture="difusion"))
    assert mine.calls == 0


@pytest.mark.parametrize("file", [None, "made/13.json"])
@pytest.mark.parametrize(("number", "kind"), [(errno.ENOSPC, RunError), (errno.ECONNREFUSED, OSError)])
def test_only_a_disk_is_told_as_a_disk(
    number: int, kind: type[Exception], file: str | None, mine: Mine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> AnsweredRun:
        raise OSError(number, "so it is", file)

    monkeypatch.setattr("fairspace.submissions.running.asking.answering.answer", broken)
    with pytest.raises(kind, match="so it is"):
        mine.run()
