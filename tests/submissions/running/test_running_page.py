import json
import re
import shlex
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer.main

from fairspace.submissions.benchmarks.iris.records import QUALITY
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.commands import app as cli_app
from fairspace.submissions.commands import main as cli
from fairspace.submissions.running import judging as judging_asks
from fairspace.submissions.running.asking.journal import FATES
from fairspace.submissions.running.images.models import SCHEMES as IMAGE_SCHEMES
from fairspace.submissions.running.quality.models import SCHEMES as QUALITY_SCHEMES
from tests.papers import NAMES

PAGE = (Path(cli.__file__).parents[1] / "RUNNING.md").read_text(encoding="utf-8")
ROOT = Path(__file__).parents[3]
PAGES: tuple[str, ...] = (
    "README.md",
    "CONTRIBUTING.md",
    "submissions/FORMAT.md",
    "submissions/RUNNING.md",
    "submissions/CLUSTER.md",
    "submissions/EXAMPLES.md",
    "builders/README.md",
)
PAGES += ("ares/TRAINING.md", "leaderboard_space/README.md", "leaderboard_space/OPERATION.md")
PAGES += ("submissions/results/shipped/README.md",)
Run = Callable[..., tuple[int, str, str]]


def table(head: str) -> list[list[str]]:
    lines = PAGE[PAGE.index(f"\n| {head} |") + 1 :].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def names(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def commands(page: str = PAGE) -> list[list[str]]:
    blocks = re.findall(r"```bash\n(.*?)```", page, re.DOTALL)
    blocks += [
        "\n".join(re.findall(r"^\$ (.*)", block, re.M)) for block in re.findall(r"```console\n(.*?)```", page, re.S)
    ]
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    words = [shlex.split(line.replace('"$(which fairspace)"', "fairspace"), comments=True) for line in lines]
    return [line[line.index("fairspace") + 1 :] for line in words if "fairspace" in line]


@cache
def all_commands() -> Any:
    return typer.main.get_command(cli_app.app)


def command(words: list[str]) -> Any:
    found = all_commands()
    for word in words:
        if not hasattr(found, "commands"):
            break
        found = found.commands[word]
    return found


def options(found: Any) -> set[str]:
    return {option for parameter in found.params for option in [*parameter.opts, *parameter.secondary_opts]}


RUNNING = [["eval"], ["run"], ["judge"], ["probe"], ["import"], ["ares", "quality"]]


def test_every_option_that_the_text_names_exists() -> None:
    text = re.sub(r"```.*?```|<!-- doors -->.*?<!-- end of doors -->", "", PAGE, flags=re.DOTALL)
    further = [["score"], ["build"], ["verify-submission"], ["compare"]]
    existing = set().union(*(options(command(words)) for words in [*RUNNING, *further]))
    existing |= {"--epochs", "--model-cost-config", "--sample-id", "--no-deps"}  # of Inspect, and of pip
    existing |= {"--save-details"}  # of lighteval
    used = {found for code in re.findall(r"`([^`]*)`", text) for found in re.findall(r"(?<![\w-])--[a-z-]+", code)}
    assert used
    assert used <= existing


def test_every_command_that_runs_models_is_shown_with_its_own_options() -> None:
    shown = {" ".join(words[: len(each)]) for words in commands() for each in RUNNING}
    assert {" ".join(each) for each in RUNNING} <= shown
    for words in (["run"], ["judge"]):
        own = options(command(words)) - {"--help", "--score"}
        missing = sorted(option for option in own if option not in PAGE)
        assert not missing


@pytest.mark.parametrize("page", PAGES)
def test_every_command_of_a_page_exists_with_the_options_that_it_is_shown_with(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    inline = [shlex.split(code) for code in re.findall(r"`fairspace ([^`]*)`", text)]
    for words in [*commands(text), *inline]:
        if words[:1] not in ([], ["&&"], ["--help"], ["..."]):
            used = {word for word in words if re.match(r"--[a-z]|-M", word)}
            assert used <= options(command(words)) | {"--help"}, words


@pytest.mark.parametrize("name", NAMES)
def test_every_task_stands_where_a_model_of_its_kind_is_named(name: str) -> None:
    row = next(row for row in table("benchmark") if names(row[0]) == [name])
    tasks = benchmark(name).tasks
    assert names(row[1]) == [task.name for task in tasks if task.table == "responses"]
    assert names(row[2]) == [task.name for task in tasks if task.table == "annotations"]


def test_settings_that_the_papers_state_are_those_that_are_asked() -> None:
    asked = {
        task.name: (task.settings.get("temperature", "the model's default"), task.max_tokens)
        for name in NAMES
        for task in benchmark(name).tasks
        if task.ask is not None
    }
    assert {asked[task][0] for task in ("occupation", "tournament", "pair", "llm_objective", "llm_subjective")} == {0}
    rows = [(task, row[1], row[2]) for row in table("task | temperature") for task in names(row[0])]
    assert {task: (temperature, most) for task, temperature, most in rows} == {
        task: (f"{temperature:g}" if isinstance(temperature, float) else temperature, str(most))
        for task, (temperature, most) in asked.items()
    }
    judge = next(row for row in table("task | temperature") if "judge" in row[0])
    assert [float(cell) for cell in judge[1:3]] == [judging_asks.SETTINGS[one] for one in ("temperature", "max_tokens")]


def test_every_task_has_its_stimulus() -> None:
    asked = {task.name for name in NAMES for task in benchmark(name).tasks if task.table == "responses"}
    assert {task for row in table("task | stimulus") for task in names(row[0])} == asked


def test_every_fate_has_its_row() -> None:
    assert [row[0] for row in table("fate")] == [*FATES, "not asked"]


def test_every_way_to_name_what_makes_images_has_its_settings() -> None:
    rows = table("name | settings")
    assert [names(row[0])[0].partition(":")[0] for row in rows] == list(IMAGE_SCHEMES)
    for row, scheme in zip(rows, IMAGE_SCHEMES.values(), strict=True):
        assert names(row[1]) == list(scheme.settings)


def test_the_matrix_names_known_ways() -> None:
    rows = table("family")
    answers = {name for row in rows for name in names(row[1])}
    listed = {names(row[0])[0].partition("/")[0] + "/" for row in table("name | what")}
    assert answers <= listed
    assert {name for row in rows for name in names(row[2])} == {f"{scheme}:" for scheme in IMAGE_SCHEMES}
    assert all(row[3] for row in rows)


def test_every_role_of_quality_has_its_forms_and_column() -> None:
    rows = table("role")
    assert [names(row[0])[0] for row in rows] == list(QUALITY_SCHEMES)
    for row, schemes in zip(rows, QUALITY_SCHEMES.values(), strict=True):
        forms = names(row[1].partition(";")[0])
        assert [form.partition("[")[0] for form in forms] == list(schemes)
        default = names(row[1].partition(";")[2])
        assert not default or default[0] == next(iter(schemes.values())).default
    assert len(rows) == len(QUALITY)


def test_the_example_of_prices_works(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (example,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    assert set(json.loads(example)["openai/gpt-4o"]) == {"input", "output", "input_cache_write", "input_cache_read"}
    (tmp_path / "prices.json").write_text(example)
    monkeypatch.chdir(tmp_path)
    (words,) = [words for words in commands() if "--provider-prices" in words]
    code, out, err = run(*words)
    assert code == 0, err
    assert all(" USD" in line for line in out.splitlines() if " by " in line and "tokens in" in line)


def test_the_command_stays_small() -> None:
    def leaves(found: Any) -> list[Any]:
        return (
            [leaf for each in found.commands.values() for leaf in leaves(each)]
            if hasattr(found, "commands")
            else [found]
        )

    counted = [len([each for each in leaf.params if each.name != "help"]) for leaf in leaves(all_commands())]
    # 25, `ares import`, `eval`, which is all that most people need, `corpus` (RQ2), and `join`, of parts
    assert len(counted) <= 29
    # 11 of `eval`, 3 `--as-authors`, 5 of a table, `items --data`, `--evidence-template`, 3 of `corpus`, 2 of `verify`,
    # `score --region`, 4 `--part`, `--after`, 2 of `join`, 2 `--junit` and 2 `--summary` of gates, `report --card`,
    # 3 of a harness' task that is not ours, `items --lm-eval`, `--shard`, `--on`, `--distributed`,
    # `--dataset-revision` and `--core`, `compare --stability`
    assert sum(counted) <= 221
