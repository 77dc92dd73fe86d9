import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pandas as pd
import pytest
from PIL import Image, ImageChops, ImageStat

import fairspace as fs
from fairspace.answers import submission_of
from fairspace.submissions.results import shipped
from fairspace.submissions.show.result import result_text
from tests import picture as picturing

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "notebooks"
MOST_LINES = 15


def blocks(page: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", (ROOT / page).read_text(encoding="utf-8"), re.M | re.S)


@pytest.fixture(autouse=True)
def where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FAIRSPACE_RESAMPLES", "100")
    return tmp_path


@pytest.fixture
def asked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """`fs.run` calls the model in a plain loop; `test_asking.py` asks through Inspect."""

    def run(
        model: Callable[..., str], benchmark: str, *, dataset_revision: str = "", name: str = "", **more: Any
    ) -> fs.Answers:
        items: Any = fs.items(benchmark, dataset_revision=dataset_revision)
        tables = {task.name: task.table for task in fs.benchmark(benchmark).tasks}
        items = items[items["task"].map(tables) == "responses"][["task", "id", "sample", "prompt"]]
        of = {"seed": more["seed"]} if "seed" in more else {}
        items["response"] = [model(prompt, **of) for prompt in items.pop("prompt")]
        name = name or model.__name__
        return fs.Answers(submission_of(items, benchmark, dataset_revision=dataset_revision, model=name))

    monkeypatch.setattr(fs, "run", run, raising=False)


@pytest.mark.slow
@pytest.mark.usefixtures("asked_at_once")
def test_the_examples_of_the_library_run_one_after_the_other(where: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {"pandas": pd, "Path": Path}
    (where / "labelled").mkdir()
    seen = [
        {"id": f"{job}/{n}.png", "gender": gender}
        for job in ("doctor", "nurse")
        for n, gender in enumerate(("female", "male"))
    ]
    pd.DataFrame(seen).to_parquet(where / "labelled" / "annotations-00000-of-00001.parquet")
    for block in blocks("LIBRARY.md"):
        exec(compile(block, "LIBRARY.md", "exec"), names)
    assert "UNKNOWN_ID at answers row 0: 'llm_objective/" in capsys.readouterr().out
    assert names["same"].values == names["result"].values
    assert set(names["comparison"].to_frame()["model"]) == {"always B"}
    assert names["worse"]
    assert names["stable"].tasks["agreement"].between(0.4, 0.8).all()


@pytest.mark.usefixtures("asked_at_once")
def test_the_first_example_scores_plots_and_exports_within_fifteen_lines(where: Path) -> None:
    (code,) = (block for block in blocks("README.md") if "fs.run" in block)
    assert len([line for line in code.splitlines() if line.strip()]) <= 15
    exec(compile(code, "README.md", "exec"), {})
    assert (where / "figure.svg").read_text(encoding="utf-8").startswith("<svg")
    assert r"\toprule" in (where / "table.tex").read_text(encoding="utf-8")


@pytest.mark.usefixtures("asked_at_once")
def test_the_example_of_a_function_prints_what_the_page_shows() -> None:
    page = (ROOT / "cards" / "start" / "model.md").read_text(encoding="utf-8")
    (code,) = (block for block in blocks("cards/start/model.md") if "def answer" in block)
    names: dict[str, Any] = {}
    exec(compile(code, "model.md", "exec"), names)
    run: Any = fs.run
    said = str(fs.score(run(names["answer"], "fact_or_fair", dataset_revision="v2-core")))
    shown = " ".join(page.partition("$ fairspace eval")[2].partition("…")[0].split()[7:])
    without = [re.sub(r"95 %: [\d.]+ to [\d.]+", "", text) for text in (shown, " ".join(said.split()))]
    assert without[0] in without[1]


def test_the_example_of_a_metric_loads_it_by_its_path_in_a_clone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    *setup, call = next(code for code in blocks("cards/start/research.md") if "evaluate" in code).strip().splitlines()
    names: dict[str, Any] = {}
    exec("\n".join(setup), names)
    assert eval(call, names)["representation_disparity"] == pytest.approx(2 / 3 - 1 / 3)


def test_the_first_page_begins_with_a_picture_a_sentence_and_what_a_real_model_got() -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(page.splitlines()) <= 180
    assert "`make leaderboard`" in page
    assert "`make test`" in page
    assert not re.search(r"pip install (?:-U )?[\"']?fairspace(?:\[[^]]*\])?[\"']?$", page, re.MULTILINE)
    picture, sentence, output = page.split("\n\n")[1:4]
    for file in re.findall(r'(?:srcset|src)="([^"]+)"', picture):
        with Image.open(ROOT / file) as shown:
            assert shown.size == (picturing.WIDTH, picturing.HEIGHT)
        assert (ROOT / file).stat().st_size < 200_000
    assert len(re.findall(r"[.!?](?:\s|$)", sentence)) == 1
    result = fs.load_result(Path(shipped.__file__).with_name("stereotypical_bias_core_qwen25_coder_05b.json"))
    lines = output.splitlines()
    assert lines[1].startswith("$ fairspace eval --model local/" + result.meta["model"].lower())
    assert "\n".join(page.partition(lines[1])[2].partition("…")[0].strip().splitlines()) in result_text(result)


def test_the_figures_of_the_pictures_sentence_stand_on_the_boards_first_page() -> None:
    (sentence,) = re.findall(r"such as '([^']+)'", (ROOT / "README.md").read_text(encoding="utf-8"))
    with picturing.board() as client:
        shown = " ".join(re.sub(r"<[^>]+>", " ", client.get("/").text).split())
    figures = re.findall(r"\d+\.\d+|Qwen-3B", sentence)
    assert len(figures) == 3
    assert all(figure in shown for figure in figures), figures
    assert sentence in shown


@pytest.mark.slow
@pytest.mark.browser
def test_the_picture_is_what_a_board_shows_now(tmp_path: Path) -> None:
    for file in picturing.draw(tmp_path):
        with Image.open(file) as now, Image.open(picturing.FOLDER / file.name) as kept:
            apart = ImageStat.Stat(ImageChops.difference(now.convert("RGB"), kept.convert("RGB"))).mean
        assert max(apart) < 4, f"{file.name} differs by {apart} of 255: make picture"


def test_every_function_is_on_the_page_and_says_what_it_takes() -> None:
    page = (ROOT / "LIBRARY.md").read_text(encoding="utf-8")
    for name in set(fs.__all__) - {"__version__", "Answers", "Comparison", "Result", "RunError", "UsageError"}:
        assert f"fs.{name}" in page, name
        assert getattr(fs, name).__doc__


def test_every_benchmark_has_a_notebook() -> None:
    assert {path.stem for path in FOLDER.glob("*.ipynb")} == set(fs.BENCHMARKS)


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.usefixtures("asked_at_once")
@pytest.mark.parametrize("name", fs.BENCHMARKS)
def test_a_notebook_goes_from_items_to_a_figure(name: str) -> None:
    """One in a fresh kernel, as FACT-OR-FAIR's is in part (`test_event_loops.py`), the others as programs."""
    from nbclient import NotebookClient

    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)  # type: ignore[no-untyped-call]
    nbformat.validate(notebook)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert len([line for cell in cells for line in cell.source.splitlines() if line.strip()]) <= MOST_LINES
    if name == "stereotypical_bias":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of Jupyter's own
            NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
        figure = cells[-1].outputs[-1]["data"]["image/svg+xml"]
        streams = [output for cell in cells for output in cell.outputs if output.get("name") == "stderr"]
        assert not streams, "no warning stands in a user's notebook"
    else:
        names: dict[str, Any] = {}
        for number, cell in enumerate(cells):
            exec(compile(cell.source, f"{name}.ipynb, cell {number}", "exec"), names)
        figure = names["figure"].document()
    assert "95 % interval" in figure
    assert "undefined" not in figure
