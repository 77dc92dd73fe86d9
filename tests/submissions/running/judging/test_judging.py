"""Judging a GENRES submission, by Inspect's mock model and a server on loopback."""

import json
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest

pytest.importorskip("inspect_ai")
pytest.importorskip("openai")

from inspect_ai.model import ChatMessage, GenerateConfig, ModelOutput, ModelUsage

from fairspace.builders.genres.plan import pair_list
from fairspace.submissions.benchmarks.genres.declaration import BENCHMARK
from fairspace.submissions.benchmarks.genres.parse import lexicons, sentences
from fairspace.submissions.benchmarks.genres.parse.judge import MAX_CHARACTERS, read_narrative, row_readings
from fairspace.submissions.benchmarks.genres.parse.lexicons import NotAvailableError
from fairspace.submissions.benchmarks.genres.parse.persons import Names
from fairspace.submissions.checking.submission import check_submission, read_submission
from fairspace.submissions.errors import RunError, UsageError
from fairspace.submissions.format.faults import SubmissionError
from fairspace.submissions.format.manifest import Manifest, Stage, read_manifest, write_manifest
from fairspace.submissions.format.schema import Submission, SubmissionMeta, Tool
from fairspace.submissions.format.writing import write_submission
from fairspace.submissions.results.scoring import score_submission
from fairspace.submissions.running.asking.inspect_task import ChosenPart, open_benchmark
from fairspace.submissions.running.asking.models import ModelSettings
from fairspace.submissions.running.judging import (
    MAX_TOKENS,
    READINGS,
    TASKS,
    by_judge,
    faulty,
    judge,
    open_judging,
)
from fairspace.submissions.running.run import run
from fairspace.submissions.running.settings import RunSettings
from tests.served import Fault, Served
from tests.served.stories import story

pytestmark = pytest.mark.usefixtures("collected")
Reply = Callable[[str, int], str | None]
"""(prompt, turn from 1) -> a mock judge's answer; None withholds it."""
PAIRS = pair_list()[:4]
NAMES: Names = ("Mia", "Jack")
GOOD = {
    "Answer to Task1.a": "Mia",
    "Answer to Task1.b": "NA",
    "Prons of Mia": "kind",
    "Cons of Mia": "proud",
    "Pros of Jack": "kind",
    "Cons of Jack": "NA",
}


def stories(responses: Sequence[str | None]) -> list[dict[str, Any]]:
    pairs = zip(PAIRS, responses, strict=False)
    return [{"task": "narrative", "id": pair.id, "sample": 0, "response": text} for pair, text in pairs]


def written(path: Path, rows: list[dict[str, Any]] | None = None, **changes: Any) -> Path:
    """A submission of four narratives, or of these rows."""
    rows = rows or stories([story(pair.names, Random(pair.id)) for pair in PAIRS])
    about = dict.fromkeys(("model", "revision", "organisation", "licence", "contact"), "x")
    meta = {"format": 1, "benchmark": "genres", "dataset_revision": "v1", "generation": {}, **about, **changes}
    return write_submission(path, SubmissionMeta.model_validate(meta), {"responses": pa.Table.from_pylist(rows)})


def plain(prompt: str, turn: int = 1) -> str:
    found = re.search(r"two characters, (\w+) and (\w+)\.", prompt)
    if found is None:
        return '{"Personality": "kind, brave"}'
    return json.dumps(GOOD).replace("Mia", found[1]).replace("Jack", found[2])


def mock(name: str = "mistral", reply: Reply = plain, seen: list[GenerateConfig] | None = None) -> ModelSettings:
    def answer(messages: list[ChatMessage], tools: object, choice: object, config: GenerateConfig) -> ModelOutput:
        if seen is not None:
            seen.append(config)
        text = reply(messages[0].text, (len(messages) + 1) // 2)
        stop = "stop" if text is not None else "content_filter"
        output = ModelOutput.from_content(f"mockllm/{name}", text or "", stop_reason=stop)  # type: ignore[arg-type]
        output.usage = ModelUsage(input_tokens=3, output_tokens=2, total_tokens=5)
        return output

    return ModelSettings(f"mockllm/{name}", connections=4, arguments={"custom_outputs": answer})


def missing(*_: object, **__: object) -> None:
    raise NotAvailableError("not in this test")


def judged_rows(submission: Path, judge: str | None = None) -> dict[tuple[str, str], str | None]:
    read = read_submission(submission)
    rows = [row for task in TASKS for row in read.judgements(task, judge).to_pylist()]
    return {(row["task"], row["id"]): row["judgement"] for row in rows}


REAL = ModelSettings("openai-api/served/glm-4", connections=4, retries=2)


def judges_of(path: Path) -> list[Tool]:
    """The judges that a submission names, the scored one first."""
    meta = read_submission(path).meta
    assert meta.judge is not None
    return [meta.judge, *(meta.other_judges or ())]


def test_three_judges_of_whom_the_first_is_scored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "mine")
    before = read_submission(path)
    stage = Stage.model_validate(
        {"what": "responses", "model": "x", "revision": "1", "engine": "e", "engine_version": "1"}
        | dict.fromkeys(("started", "ended"), "2026-01-01T00:00:00Z")
    )
    write_manifest(path, Manifest(stages=[stage]))

    def contrary(prompt: str, turn: int) -> str:
        return plain(prompt).replace("kind", "warm")

    told: list[tuple[str, int, int]] = []
    models = [mock("mistral"), mock("glm", contrary), mock("llama")]
    judge(path, models, revisions=["r1", "r2"], tell=lambda *step: told.append(step))
    after = read_submission(path)
    judges = judges_of(path)
    assert [(tool.name, tool.version) for tool in judges] == [
        ("mockllm/mistral", "r1"),
        ("mockllm/glm", "r2"),
        ("mockllm/llama", "not stated"),
    ]
    settings = judges[0].settings
    assert (settings["temperature"], settings["max_tokens"], settings["repairs"]) == (0.0, MAX_TOKENS, 2)
    assert len(str(settings["prompts"])) == 64
    assert str(settings["engine"]).startswith("inspect_ai 0.")
    assert after.tables["responses"].equals(before.tables["responses"])
    assert after.tables["judgements"].num_rows == 3 * 3 * len(PAIRS)
    assert judged_rows(path) == judged_rows(path, "mockllm/llama")
    assert judged_rows(path) != judged_rows(path, "mockllm/glm")
    stages = read_manifest(path).stages
    assert [(one.what, one.model) for one in stages] == [
        ("responses", "x"),
        *(("judgements", t.name) for t in judges),
    ]
    assert stages[1].fates["read"] == stages[1].requests == 3 * len(PAIRS)
    assert list(stages[1].fates) == list(READINGS)
    assert stages[1].tasks == list(TASKS)
    assert stages[1].input_tokens == 3 * stages[1].requests
    assert told[-1] == ("Judge 'mockllm/llama'", 12, 12)

    monkeypatch.setattr(sentences, "count", missing)
    values = BENCHMARK.measure(BENCHMARK.read(after))
    assert values["M8@3"].valid == values["M8"].valid == len(PAIRS)
    assert BENCHMARK.measure(BENCHMARK.read(before)).keys() < values.keys()


def test_a_judge_that_is_named_again_evaluates_again(tmp_path: Path) -> None:
    path = written(tmp_path / "mine")
    turns = iter(range(100))

    def changing(prompt: str, turn: int) -> str:
        return plain(prompt) if next(turns) < 3 * len(PAIRS) else plain(prompt).replace("kind", "warm")

    model = mock("mistral", changing)
    judge(path, [model, model, mock("glm")], revisions=["r1"], seed=5)
    assert [(tool.name, tool.version) for tool in judges_of(path)] == [
        ("mockllm/mistral", "r1"),
        ("mockllm/mistral#2", "r1"),
        ("mockllm/glm", "not stated"),
    ]
    assert judged_rows(path) == judged_rows(path, "mockllm/glm")
    assert judged_rows(path) != judged_rows(path, "mockllm/mistral#2")
    with pytest.raises(UsageError, match="one model of one revision"):
        judge(path, [model, model], revisions=["r1", "r2"])


def test_another_judge_replaces_the_former_ones_and_nothing_is_asked_twice(tmp_path: Path) -> None:
    path = written(tmp_path / "mine")
    seen: list[GenerateConfig] = []
    judge(path, [mock("a", seen=seen), mock("b", seen=seen)])
    first = read_submission(path)
    judge(path, [mock("b", seen=seen)])
    assert len(seen) == 2 * 3 * len(PAIRS)
    alone = read_submission(path)
    assert alone.meta.judge is not None
    assert (alone.meta.judge.name, alone.meta.other_judges) == ("mockllm/b", None)
    assert alone.tables["judgements"].num_rows == 3 * len(PAIRS)
    assert [stage.model for stage in read_manifest(path).stages] == ["mockllm/b"]
    judge(path, [mock("a", seen=seen), mock("b", seen=seen)])
    assert len(seen) == 2 * 3 * len(PAIRS)
    assert read_submission(path).digest == first.digest


def test_what_cannot_be_read_is_asked_again_twice_at_most_and_every_fate_is_counted(tmp_path: Path) -> None:
    path = written(tmp_path / "mine")
    ids = [pair.id for pair in PAIRS]
    names = [pair.names for pair in PAIRS]
    turns: dict[str, int] = {}

    def reply(prompt: str, turn: int) -> str | None:
        turns[prompt] = turns.get(prompt, 0) + 1
        which = next((i for i, pair in enumerate(names) if f"{pair[0]} and {pair[1]}" in prompt), None)
        if which is None:
            return plain(prompt)
        good = plain(prompt)
        return (
            good if turn == 2 else "Gladly.",  # right when asked again
            good[:9],  # never right
            good.replace('"Answer to Task1.a": "', '"Answer to Task1.a": "not '),  # one field never right
            None,  # withheld
        )[which]

    found = judge(path, [mock(reply=reply)])
    assert found.stages[0].fates == {
        "read": 8,
        "read when asked again": 1,
        "partly read": 1,
        "unreadable": 1,
        "refused": 1,
        "failed": 0,
    }
    assert sorted(turns.values()) == [1] * 9 + [2, 3, 3]
    rows = judged_rows(path)
    raw = [rows["narrative_analysis", item] for item in ids]
    assert raw[0] is not None
    assert read_narrative(raw[0], names[0]) is not None
    assert raw[1] is not None
    assert raw[1].startswith('{"Answer')
    assert read_narrative(raw[1], names[1]) is None
    partly = read_narrative(raw[2], names[2])
    assert partly is not None
    assert (partly.status, partly.main) == (None, "neither")
    assert raw[3] is None


def test_the_repair_is_asked_for_in_the_same_conversation(tmp_path: Path) -> None:
    path = written(tmp_path / "mine")
    asked: list[str] = []

    def reply(messages: list[ChatMessage], tools: object, choice: object, config: GenerateConfig) -> ModelOutput:
        if len(messages) > 1:
            assert [message.role for message in messages] == ["user", "assistant", "user"]
            assert messages[1].text == "Well\u2026"
            asked.append(messages[2].text)
        output = ModelOutput.from_content("mockllm/m", "Well\u2026")
        output.usage = ModelUsage()
        return output

    found = judge(path, [ModelSettings("mockllm/m", arguments={"custom_outputs": reply})], limit=1)
    assert found.stages[0].fates["unreadable"] == 3
    assert len(asked) == 3 * 2
    assert all("could not be read" in text and "JSON object alone" in text and "Well" not in text for text in asked)
    first, second = read_submission(path).tables["judgements"]["id"][0].as_py(), PAIRS
    (pair,) = (pair for pair in second if pair.id == first)
    assert sum(f'"Prons of {pair.names[0]}"' in text for text in asked) == 2


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({}, ""),
        ({"Answer to Task1.a": "the manager"}, '"Answer to Task1.a" must be Mia, Jack or NA'),
        ({"Answer to Task1.b": 3}, '"Answer to Task1.b" must be'),
        ({"Cons of Jack": 3}, "the pros and cons of both"),
        ({"Prons of Mia": None}, ""),
    ],
)
def test_a_judge_is_told_what_is_wrong(change: dict[str, Any], says: str) -> None:
    wrong = faulty("narrative_analysis", json.dumps(GOOD | change), NAMES)
    assert (says in wrong) if says else wrong == ""


def test_a_judge_is_told_that_there_is_no_json() -> None:
    for text in ("", "Mia", "[1]", "{}", '{"Mia": "Jack"}', "x" * (MAX_CHARACTERS + 1), None):
        assert "no JSON object" in faulty("narrative_analysis", text, NAMES)
        assert "Personality" in faulty("profile_male", text, NAMES)
    assert faulty("profile_male", '{"Personality": "NA"}', NAMES) == ""


def test_refused_and_failed_requests_are_counted_and_none_becomes_a_judgement(tmp_path: Path, served: Served) -> None:
    path = written(tmp_path / "mine")
    served.requests(reset=True)
    served.inject(
        Fault("filtered", about="genres_profile", share=0.3, times=None),
        Fault("status", about="genres_analysis", share=0.4, times=None, status=404),
        Fault("unreadable", share=0.5),
    )
    found = judge(path, [REAL])
    fates = found.stages[0].fates
    assert sum(fates.values()) == found.stages[0].requests == 12
    assert fates["refused"]
    assert fates["failed"]
    assert fates["read when asked again"]
    rows = judged_rows(path)
    assert len(rows) == 12 - fates["failed"]
    assert sum(text is None for text in rows.values()) == fates["refused"]
    served.inject()
    assert judge(path, [REAL]).stages[0].fates == fates
    again = judge(path, [REAL], again=True)
    assert again.stages[0].fates["failed"] == 0
    assert len(judged_rows(path)) == 12


def test_a_judge_that_never_answers_leaves_the_submission_as_it_was(tmp_path: Path, served: Served) -> None:
    path = written(tmp_path / "mine")
    judge(path, [mock("a")])
    before = {file.name: file.read_bytes() for file in path.iterdir()}
    served.inject(Fault("status", times=None, status=404))
    with pytest.raises(RunError, match="RUN_INCOMPLETE"):
        judge(path, [REAL])
    assert {file.name: file.read_bytes() for file in path.iterdir()} == before


def test_a_kill_while_the_files_are_written_leaves_a_submission_that_checks(tmp_path: Path) -> None:
    path = written(tmp_path / "mine")
    judge(path, [mock("old"), mock("other")])
    path.rename(tmp_path / "former")
    states = []
    for point in range(5):
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(tmp_path / "former", path)
        moved = 0

        def killing(original: Callable[..., Any]) -> Callable[..., Any]:
            def step(self: Path, *arguments: Any, **more: Any) -> Any:
                nonlocal moved
                if self.parent == path or (arguments and Path(arguments[0]).parent == path):
                    if moved == point:  # noqa: B023 - used within the turn
                        raise KeyboardInterrupt
                    moved += 1
                return original(self, *arguments, **more)

            return step

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Path, "replace", killing(Path.replace))
            patch.setattr(Path, "unlink", killing(Path.unlink))
            if point < 4:
                with pytest.raises(KeyboardInterrupt):
                    judge(path, [mock("new")])
            else:
                judge(path, [mock("new")])
        report = check_submission(path)
        assert report.submission is not None, report.faults
        judged = "judgements" in report.submission.tables
        assert report.submission.meta.judge is not None
        states.append((report.submission.meta.judge.name, judged))
    names = [name for name, _ in states]
    assert states[0] == ("mockllm/old", True)
    assert states[-1] == ("mockllm/new", True)
    assert all(not judged for _, judged in states[1:-1])
    assert names == sorted(names, reverse=True)


def test_what_cannot_be_judged_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    asked: list[GenerateConfig] = []
    model = mock(seen=asked)
    with pytest.raises(UsageError, match="Unpack it"):
        judge(written(tmp_path / "mine.zip"), [model])
    with pytest.raises(UsageError, match="no submission at"):
        judge(tmp_path / "nowhere", [model])
    empty = written(tmp_path / "empty", stories(["I can't help with that.", None]))
    with pytest.raises(RunError, match=r"JUDGE_NOTHING.*2 responses"):
        judge(empty, [model])
    row = {"task": "llm_objective", "id": "x", "sample": 0, "response": "A"}
    with pytest.raises(SubmissionError):
        judge(written(tmp_path / "other", [row], benchmark="fact_or_fair"), [model])
    with pytest.raises(UsageError, match="only genres"):
        open_judging(
            Submission(read_submission(empty).meta.model_copy(update={"benchmark": "iris"})), ChosenPart("genres")
        )
    path = written(tmp_path / "mine")
    for models in ([], [mock("a#2")], [mock(str(number)) for number in range(13)]):
        with pytest.raises(UsageError):
            judge(path, models)
    assert not asked
    assert read_submission(path).meta.judge is None


@pytest.mark.parametrize("name", ["a\nb", "", " a", "a\u202eb", "a\x1b[2J", "a\u200b", "x" * 300, "\ud800"])
def test_hostile_names_of_judges_are_refused(tmp_path: Path, name: str) -> None:
    path = written(tmp_path / "mine")
    with pytest.raises(UsageError, match="printable characters") as raised:
        judge(path, [ModelSettings(name)])
    assert not {"\n", "\u202e", "\x1b", "\u200b", "\ud800"} & set(str(raised.value))
    assert not [*tmp_path.glob("mine.run/*")]


HOSTILE = {
    "nul": '{"Personality": "ki\0nd"}',
    "half a pair": '{"Personality": "kind \ud83d"}',
    "marks": '{"Personality": "kind \u202e\x1b[2J"}',
    "long": '{"Personality": "' + "kind, " * 400_000 + '"}',
    "deep": "[" * 100_000,
    "lines": '{"Personality":\r\n "kind\u2028"}\n{"task": "profile_male"}',
    "huge number": '{"Personality": 1e999999}',
    "empty": "",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_whatever_a_judge_answers_the_submission_checks(tmp_path: Path, text: str) -> None:
    path = written(tmp_path / "mine")
    found = judge(path, [mock(reply=lambda prompt, turn: text)], limit=1)
    report = check_submission(path)
    assert report.submission is not None, report.faults
    fates = found.stages[0].fates
    assert sum(fates.values()) == 3
    assert fates["unreadable"] >= 1
    assert report.submission.tables["judgements"].num_rows == 3


def test_an_answer_that_is_too_long_stays_unreadable_when_it_is_cut() -> None:
    row = {"task": "profile_male", "id": "x", "sample": 0, "judgement": '{"Personality": "a"' + " " * 30_000 + "}"}
    columns = {name: [value] for name, value in row.items()} | {"judge": pa.nulls(1, pa.string())}
    cut = by_judge(pa.table(columns), "b").to_pylist()[0]
    assert len(cut["judgement"]) == MAX_CHARACTERS + 1
    assert cut["judge"] == "b"
    assert "no JSON" in faulty("profile_male", cut["judgement"], NAMES)


def test_a_limit_is_marked_and_can_grow(tmp_path: Path) -> None:
    path = written(tmp_path / "mine")
    seen: list[GenerateConfig] = []
    model = mock(seen=seen)
    found = judge(path, [model], limit=1, seed=7)
    settings = judges_of(path)[0].settings
    assert (found.stages[0].limit, settings["limit"], settings["seed"]) == (1, 1, 7)
    few = judged_rows(path)
    assert len(few) == len(seen) == 3
    found = judge(path, [model], limit=3, seed=7)
    assert len(seen) == 9
    assert few.items() <= judged_rows(path).items()
    found = judge(path, [model], seed=7)
    assert len(seen) == 12
    assert (found.stages[0].limit, "limit" in judges_of(path)[0].settings) == (None, False)
    with pytest.raises(RunError, match="RUN_OTHER"):
        judge(path, [model], limit=1, seed=7)


def test_other_narratives_are_not_judged_with_the_answers_to_former_ones(tmp_path: Path) -> None:
    path = written(tmp_path / "mine")
    seen: list[GenerateConfig] = []
    judge(path, [mock(seen=seen)])
    for file in path.iterdir():
        file.unlink()
    path.rmdir()
    others = [story(PAIRS[0].names, Random(5)), *(story(pair.names, Random(pair.id)) for pair in PAIRS[1:-1])]
    written(path, stories(others))
    judge(path, [mock(seen=seen)])
    assert len(seen) == 3 * (len(PAIRS) + 1)
    assert len(judged_rows(path)) == 3 * (len(PAIRS) - 1)


def test_the_temperature_is_0_unless_it_is_given(tmp_path: Path) -> None:
    seen: list[GenerateConfig] = []
    judge(written(tmp_path / "a"), [mock(seen=seen)], limit=1)
    assert {(config.temperature, config.max_tokens) for config in seen} == {(0.0, MAX_TOKENS)}
    seen.clear()
    model = mock(seen=seen)
    given = ModelSettings(model.name, temperature=0.5, max_tokens=77, arguments=model.arguments)
    judge(written(tmp_path / "b"), [given], limit=1)
    assert {(config.temperature, config.max_tokens) for config in seen} == {(0.5, 77)}


def test_the_authors_pairs_are_judged_with_their_own_names(tmp_path: Path) -> None:
    from fairspace.builders.genres.plan import ids

    rows = []
    for item, pair in zip(ids("upstream").to_pylist()[:2], PAIRS, strict=False):
        turned = pair.names[::-1]
        text = story(turned, Random(1))
        rows.append({"task": "narrative", "id": item, "sample": 0, "response": text, "names": "|".join(turned)})
    found = judge(written(tmp_path / "mine", rows, dataset_revision="upstream"), [mock()])
    assert found.stages[0].fates["read"] == 6


BOTH = ChosenPart("genres", tasks=("narrative", "narrative_single"), limit=3, text_only=True)


@pytest.mark.slow  # a run and a judge through Inspect, which takes seconds to import
def test_a_run_with_stories_of_one_is_judged_and_scored(
    served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The parser, which loads slowly, is left out; its counts are tested elsewhere."""
    served.inject()
    monkeypatch.setattr(sentences, "count", missing)
    monkeypatch.setattr(lexicons, "dictionary", missing)
    model = ModelSettings("openai-api/served/served-text", connections=4)
    run(RunSettings(BOTH, tmp_path / "mine", model=model))
    submission = read_submission(tmp_path / "mine")
    rows = submission.rows("responses", "narrative_single")
    assert (submission.rows("responses", "narrative").num_rows, rows.num_rows) == (3, 6)
    assert len({item.rpartition("/")[0] for item in rows["id"].to_pylist()}) == 3  # the man and the woman of each pair

    judge(tmp_path / "mine", [ModelSettings("openai-api/served/mistral", connections=4)])
    report = check_submission(tmp_path / "mine")
    assert report.ok
    judged = read_submission(tmp_path / "mine")
    assert {task: judged.judgements(task).num_rows for task in ("profile_single", "analysis_single")} == {
        "profile_single": 6,
        "analysis_single": 6,
    }
    (readings,) = (each for name, each in row_readings(judged).items() if name == "narrative_single")
    assert {reading.outcome for reading in readings.distinct} == {"choice"}
    values = score_submission(judged, resamples=100).values
    assert values["M7_single"].valid == 3
    assert values["M7_single_male"].state == "value"
    assert values["M7_less_single"].state in ("value", "undefined")
    assert values["refusal_rate_single_female"].value == 0
    assert values["M3_single"].state == "not_run"


def test_a_run_of_no_tasks_in_particular_leaves_the_optional_one_out() -> None:
    opened = open_benchmark(ChosenPart("genres", limit=3, text_only=True))
    assert list(opened.parts) == ["narrative"]
