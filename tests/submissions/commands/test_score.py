import json
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from fairspace.submissions.benchmarks.registry import NAMES, benchmark
from fairspace.submissions.format.writing import write_submission
from fairspace.submissions.progress import reported
from tests.submissions.benchmarks.iris import factory as iris_factory
from tests.submissions.conftest import Run


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from fairspace.submissions.benchmarks.baselines import write_baseline

    return write_baseline("stereotyped", "stereotypical_bias", tmp_path_factory.mktemp("demo") / "demo")


def test_check_of_a_faultless_submission(run: Run, demo: Path) -> None:
    assert "no faults" in run.fine("check", demo)
    report = json.loads(run.fine("check", demo, "--json"))
    assert (report["ok"], report["faults"]) == (True, [])
    assert "the public board refuses it" in report["notes"][0]


def test_check_shows_every_fault_with_code_place_and_remedy(run: Run, demo: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad"
    bad.mkdir()
    meta = json.loads((demo / "submission.json").read_text())
    (bad / "submission.json").write_text(json.dumps(meta | {"modle": "x"}))
    (bad / "responses.jsonl").write_text(
        '{"task": "vision_gender", "id": "no/such", "sample": 0, "response": "left"}\n'
    )
    code, out, _ = run("check", bad, "--json")
    faults = json.loads(out)["faults"]
    assert code == 1
    assert {"UNKNOWN_FIELD", "UNKNOWN_ID"} <= {fault["code"] for fault in faults}
    assert any("did you mean 'model'" in fault["what"] + fault["mend"] for fault in faults)
    code, out, _ = run("check", bad)
    assert code == 1
    for fault in faults:
        assert fault["code"] in out
    assert run("score", bad)[0] == 1


@pytest.mark.slow
def test_score_rescore_and_board(run: Run, demo: Path, tmp_path: Path) -> None:
    result, store = tmp_path / "result.json", tmp_path / "store"
    out = run.fine("score", demo, "--out", result, "--store", store)
    assert "\ntotal  " in out
    assert "by chance" in out
    assert "a baseline is no model" in run("score", result, "--details")[1]
    assert "Component metrics" not in out
    assert "sketch=" not in out
    assert "(100.0 %)" not in out
    assert "(100.0 %)" in run("score", result, "--all")[1]
    written = json.loads(result.read_text())
    assert json.loads(run.fine("score", demo, "--json")) == written
    assert json.loads(run.fine("score", result, "--standard", "up_to_twenty", "--json")) == written
    show = ("leaderboard", "show", "--benchmark", "stereotypical_bias", "--store", store)
    out = run.fine(*show)
    assert "baseline: stereotyped" in out
    assert "LLaVA" in out
    rows = json.loads(run.fine(*show, "--json"))["stereotypical_bias"]
    assert {row["provenance"] for row in rows} == {"published", "baseline"}
    assert sorted(r["rank"] for r in rows if r["rank"]) == [r["rank"] for r in rows if r["rank"]]


def test_compare_reports_similarity_of_two_runs(run: Run, demo: Path) -> None:
    out = run.fine("compare", demo, demo, "--json")
    similar = [v["value"] for name, v in json.loads(out).items() if name.startswith("similarity")]
    assert similar
    assert set(similar) == {1.0}
    assert run("compare", demo)[0] == 2


def test_an_unknown_standard_and_a_place_that_cannot_be_written_are_named_before_the_work(
    run: Run, demo: Path, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    file.write_text("")
    for arguments, message in (
        (("score", demo, "--out", tmp_path / "nowhere" / "result.json"), "There is no folder"),
        (("score", demo, "--out", tmp_path), "name a file for --out"),
        (("score", demo, "--store", file), "name a folder for --store"),
        (("score", file, "--standard", "inaugural", "--out", tmp_path / "nowhere" / "x.json"), "There is no folder"),
        (("items", "genres", "--out", file), "File exists"),
        (("score", demo, "--standard", "inaugral"), "did you mean 'inaugural'"),
    ):
        assert message in run.refused(2, *arguments)


@pytest.mark.parametrize("bench", NAMES)
def test_items_say_what_to_show_a_model(run: Run, tmp_path: Path, bench: str) -> None:
    run.fine("items", bench, "--out", tmp_path)
    written = {file.stem: pq.read_table(file) for file in tmp_path.glob("*.parquet")}
    assert set(written) == set(benchmark(bench).items())
    for name, table in written.items():
        task = benchmark(bench).task(name)
        assert table["id"].combine_chunks().equals(task.ids(benchmark(bench).revisions[0]))
        assert all(table["prompt"].to_pylist())
        assert table["task"].unique().to_pylist() == [task.name]
        assert table["samples"].unique().to_pylist() == [task.samples]


def test_items_of_an_older_revision_are_written(run: Run, tmp_path: Path) -> None:
    run.fine("items", "fact_or_fair", "--out", tmp_path, "--revision", "v1")
    assert pq.read_table(tmp_path / "llm_objective.parquet")["prompt"][0].as_py().endswith("Male, Female.")


def test_steer_items_follow_the_neutral_images_of_a_submission(run: Run, tmp_path: Path) -> None:
    drawn = iris_factory.submission()
    write_submission(tmp_path / "drawn", drawn.meta, drawn.tables)
    run.fine("items", "iris", "--out", tmp_path / "items", "--after", tmp_path / "drawn")
    steer = pq.read_table(tmp_path / "items" / "generation_steer.parquet")["id"].to_pylist()
    assert set(steer) == set(drawn.rows("annotations", "generation_steer")["id"].to_pylist())
    other = ("--after", tmp_path / "drawn", "--revision", "v1" if drawn.meta.dataset_revision == "v2" else "v2")
    assert "takes a submission to the items" in run("items", "iris", "--out", tmp_path / "items", *other)[2]


def test_untrusted_text_neither_steers_the_terminal_nor_breaks_it(run: Run, demo: Path, tmp_path: Path) -> None:
    from fairspace.leaderboard_space.intake import add_result
    from fairspace.leaderboard_space.storage.local import LocalStorage
    from fairspace.submissions.checking.submission import read_submission
    from fairspace.submissions.results.scoring import score_submission

    steering = "\x1b]0;owned\x07\x1b[2J\u009b31m[/red][bold]\u202egnp\r"
    file = tmp_path / f"{steering.replace('/', '')}.json"
    file.write_text("{}")
    found = score_submission(read_submission(demo))
    add_result(LocalStorage(tmp_path), replace(found, meta={**found.meta, "model": steering, "organisation": steering}))
    outputs = [run("leaderboard", "show", "--benchmark", "stereotypical_bias", "--store", tmp_path)]
    assert "owned" in outputs[0][1]
    outputs.append(run("score", file, "--standard", "up_to_twenty"))
    outputs.append(run("check", f"{file}\udcff"))
    for _, out, err in outputs:
        assert not {"\x1b", "\u009b", "\x07", "\r", "\u202e"} & set(out + err)
        assert "Traceback" not in err


def test_a_damaged_store_is_told_with_a_remedy(run: Run, tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_text("{}\n")
    error = run.refused(1, "leaderboard", "show", "--store", tmp_path)
    assert "STORE_CORRUPT" in error
    assert f"fairspace store {tmp_path} --mend" in error
    code, out, err = run("store", tmp_path, "--mend")
    assert (code, "events      2" in out) == (0, True)
    assert "lost: event 1" in err
    assert "what was altered lies in" in err


def test_a_store_is_checked_with_its_files(run: Run, demo: Path, tmp_path: Path) -> None:
    run("score", demo, "--store", tmp_path)
    found = json.loads(run.fine("store", tmp_path, "--json"))
    assert (found["events"], found["rows"], found["faults"]) == (1, 1, [])
    (file,) = (tmp_path / "results").rglob("*.json")
    file.write_text("{}")
    code, out, err = run("store", tmp_path)
    assert code == 1
    assert found["snapshot"] in out
    assert "STORE_CORRUPT" in err


def test_a_path_with_brackets_is_no_markup_in_a_progress_bar(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("rich.console.Console.is_terminal", True)
    monkeypatch.setenv("COLUMNS", "120")
    with reported("Checking [/red].zip") as report:
        report("read [/bold].jsonl", 1, 2)
    assert "read [/bold].jsonl" in capsys.readouterr().err


def test_a_standard_of_one_benchmark_shows_its_board_alone(run: Run, tmp_path: Path) -> None:
    out = run.fine("leaderboard", "show", "--standard", "revised_truth", "--store", tmp_path, "--json")
    assert list(json.loads(out)) == ["fact_or_fair"]
