"""The four registered tasks by Inspect's own commands: the answers of `fairspace run`, and what a kill broke off."""

import re
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import pytest

from fairspace.submissions import tasks
from fairspace.submissions.benchmarks.registry import NAMES
from fairspace.submissions.running.asking.inspect_task import RUN
from fairspace.submissions.running.planning import IMAGE_TOKENS
from tests.submissions.running.run_factory import Commands, run_inspect, start_inspect

pytest.importorskip("inspect_ai")
pytestmark = [pytest.mark.process, pytest.mark.slow]

CONNECTIONS = 4
FUNCTION = """
import hashlib, io, os, time

def answer(prompt, images, seed):
    pixels = b"".join(image.tobytes() for image in images)
    key = hashlib.sha256(f"{seed} {prompt}".encode() + pixels).hexdigest()
    time.sleep(float(os.environ.get("SECONDS_OF_AN_ANSWER", "0")))
    with open(__file__[:-3] + ".txt", "a") as notes:
        print(key, file=notes)
    return f"{int(key[:4], 16) % 100}% male, " + "ABCD"[int(key[4], 16) % 4]
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("model") / "mine.py"
    file.write_text(FUNCTION)
    return file


@pytest.fixture(scope="module")
def ran(data: Path, commands: Commands, model: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The answers of `fairspace run` to two stimuli of each task."""
    root, tables = tmp_path_factory.mktemp("ran"), {}
    for name in NAMES:
        having = () if name == "fact_or_fair" else ("--data", data)
        words = ("--model", f"python/{model}:answer", "--limit", 2, "--stratified", "--seed", 3, "--out", root / name)
        commands.run("run", "--benchmark", name, *having, *words)
        tables[name] = (root / name / "responses.parquet").read_bytes()
    return tables


def words_of(command: str, model: Path, data: Path, logs: Path, names: Iterable[str] = NAMES) -> list[str]:
    words = [command, *(f"fairspace/{name}" for name in names)]
    for setting in (f"data={data}", "limit=2", "seed=3"):
        words += ["-T", setting]
    words += ["--model", f"python/{model}:answer", "--display", "none", "--log-dir", str(logs)]
    return [*words, "--max-connections", str(CONNECTIONS), "--max-samples", str(CONNECTIONS)]


def assert_answers(logs: Path, ran: Mapping[str, bytes], commands: Commands, tmp_path: Path) -> None:
    for name, answers in ran.items():
        log = max(logs.glob(f"*_{name.replace('_', '-')}_*.eval"))
        commands.run("import", "inspect", log, "--out", tmp_path / name)
        assert (tmp_path / name / "responses.parquet").read_bytes() == answers, name


def test_inspect_eval_gives_the_answers_of_a_run(
    ran: dict[str, bytes], data: Path, commands: Commands, model: Path, tmp_path: Path
) -> None:
    run_inspect(words_of("eval", model, data, tmp_path / "logs"), tmp_path, XDG_DATA_HOME=str(tmp_path / "home"))
    assert_answers(tmp_path / "logs", ran, commands, tmp_path)


def test_a_plan_of_genres_counts_its_pictures(run: Callable[..., tuple[int, str, str]], data: Path) -> None:
    plan = ("--dry-run", "--benchmark", "genres", "--data", data, "--model", "openai/gpt-4o", "--limit", 200)
    code, out, err = run("run", *plan)
    assert code == 0, err
    ((stories, tokens),) = re.findall(r"narrative by openai/gpt-4o: (\d+) of .*; ([\d,]+) tokens in", out)
    assert int(tokens.replace(",", "")) > int(stories) * IMAGE_TOKENS


@pytest.mark.parametrize(("command", "names", "least"), [("eval-set", NAMES, 40), ("eval", ("fact_or_fair",), 5)])
def test_a_killed_evaluation_goes_on_with_what_was_answered(
    command: str,
    names: tuple[str, ...],
    least: int,
    ran: dict[str, bytes],
    data: Path,
    commands: Commands,
    model: Path,
    tmp_path: Path,
) -> None:
    logs, notes = tmp_path / "logs", model.with_suffix(".txt")
    words = words_of(command, model, data, logs, names)
    environment = {"SECONDS_OF_AN_ANSWER": "0.05", "XDG_DATA_HOME": str(tmp_path / "home")}
    notes.write_text("")
    begun = start_inspect(words, tmp_path, **environment)
    while begun.poll() is None and len(notes.read_text().splitlines()) < least:
        time.sleep(0.02)
    begun.kill()
    assert begun.wait() == -signal.SIGKILL, (tmp_path / "inspect.txt").read_text()
    answered = Counter(notes.read_text().splitlines())
    assert answered.total() >= least
    if command == "eval":
        words = ["eval-retry", *map(str, logs.glob("*.eval")), "--display", "none", "--log-dir", str(logs)]
    run_inspect(words, tmp_path, **environment)
    asked = Counter(notes.read_text().splitlines())
    assert asked.total() > answered.total()
    assert sum((asked - answered)[key] for key in answered) <= CONNECTIONS
    assert_answers(logs, {name: ran[name] for name in names}, commands, tmp_path)


@pytest.mark.parametrize(("name", "revision"), [("stereotypical_bias", "v2-core"), ("genres", "v1-core")])
def test_a_task_takes_a_core(name: str, revision: str) -> None:
    """As `fact_or_fair` does; with `limit` and the other options of a run."""
    core, whole = (getattr(tasks, name)(dataset_revision=of, limit=3, text_only=True) for of in (revision, ""))
    assert (core.metadata[RUN]["dataset_revision"], core.metadata[RUN]["limit"]) == (revision, 3)
    assert {sample.id for sample in core.dataset} != {sample.id for sample in whole.dataset}
