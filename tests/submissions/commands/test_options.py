"""One word for one thing: an option means the same in every command, and the library's argument has its name."""

import inspect
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import typer
from typer.core import TyperGroup, TyperOption

import fairspace as fs
import fairspace.submissions.commands.main
from fairspace.submissions.benchmarks.registry import NAMES, benchmark
from fairspace.submissions.commands.app import FORMER, SHARED, app, command
from fairspace.submissions.errors import UsageError
from tests.submissions.conftest import Run


def commands(command: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    if not isinstance(command, TyperGroup):
        yield name.strip(), command
        return
    for word, each in command.commands.items():
        yield from commands(each, f"{name} {word}")


ALL = dict(commands(typer.main.get_command(app)))
TWO_KINDS = {"--benchmark", "--images", "--model", "--out"}
"""eval takes several benchmarks, judge several models; images of a folder or of a model; a file or a folder."""


def options() -> dict[str, list[tuple[str, TyperOption]]]:
    having: dict[str, list[tuple[str, TyperOption]]] = defaultdict(list)
    for name, taking in ALL.items():
        for each in taking.params:
            if isinstance(each, TyperOption):
                having[each.opts[0]].append((name, each))
    return having


def test_every_option_and_argument_is_explained_by_its_command_or_by_the_shared_words() -> None:
    having = [(name, each) for name, taking in ALL.items() for each in taking.params if each.name != "help"]
    assert not [(name, each.name) for name, each in having if not each.help]
    assert not [(name, each.name) for name, each in having if "{" in each.help.replace('{"id", "seed"}', "")]
    shared = {line.partition(":")[0].partition(" (")[0] for line in SHARED.splitlines() if line[:1].strip()}
    assert {name for name in shared if name not in {each.name for _, each in having}} == set()


@pytest.mark.parametrize("name", ALL)
def test_every_help_tells_its_options_and_has_an_example(name: str, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    out = run.fine(*name.split(), "--help")
    assert f"Example: fairspace {name} " in out
    assert [line for line in out.splitlines() if " --" in line[:12]]
    assert "[/" not in out
    assert name != "run" or "NAMESPACE@TAG" in out


def test_a_docstring_explains_the_parameters_of_its_command_and_no_others() -> None:
    def explained(text: str) -> None: ...

    for words, reason in {
        "Options:\n    other: X.": "explained has no parameter other",
        "": "explained has no words for text",
        "Options:\n    text The colon lacks.": "explained has options that cannot be read: text The colon lacks",
        "Options:\n    text: X.\n  of Y.": "explained has options that cannot be read",
        "Options:\n    text: X.\n      of Y.": "explained has options that cannot be read: of Y",
    }.items():
        explained.__doc__ = f"Do.\n\n{words}"
        with pytest.raises(TypeError, match=reason):
            command(typer.Typer(), "fairspace explained")(explained)


def test_the_datasets_revision_has_one_name_and_the_models_another() -> None:
    having = options()
    assert "--revision" not in having
    taking = {name for name, _ in having["--dataset-revision"]}
    assert taking >= {"run", "eval", "items", "baseline", "score", "check"}
    assert {name for name, _ in having["--core"]} >= {"run", "eval", "items", "baseline"}
    for function in (fs.run, fs.score, fs.items):
        assert "dataset_revision" in inspect.signature(function).parameters
        assert "revision" not in inspect.signature(function).parameters


def test_an_option_has_one_type_in_every_command() -> None:
    kinds = {
        (name, str(each.type_descriptor.annotation), each.multiple)
        for name, having in options().items()
        for _, each in having
    }
    counts = Counter(name for name, *_ in kinds)
    assert {name for name, count in counts.items() if count > 1} == TWO_KINDS


@pytest.mark.parametrize("former", FORMER)
def test_former_spellings_work_and_no_help_shows_them(former: tuple[str, str], run: Run) -> None:
    name, spelling = former
    shown = [name for each in ALL[name].params for name in each.opts]
    assert FORMER[former] in shown
    assert spelling not in shown
    code, _, err = run(name, f"{spelling}=none", "x")
    assert "No such option" not in err
    assert code


def test_items_takes_the_core_by_both_spellings(tmp_path: Path, run: Run) -> None:
    core = benchmark("fact_or_fair").core
    rows = []
    for place, words in enumerate((["--core"], ["--dataset-revision", core], ["--revision", core])):
        run.fine("items", "fact_or_fair", *words, "--out", tmp_path / str(place))
        rows.append([pq.read_table(file) for file in sorted((tmp_path / str(place)).glob("*.parquet"))])
    assert rows[0] == rows[1] == rows[2]


def test_the_librarys_former_argument_still_works() -> None:
    former: dict[str, Any] = {"revision": benchmark("fact_or_fair").core}
    assert fs.items("fact_or_fair", **former).equals(fs.items("fact_or_fair", dataset_revision=former["revision"]))


@pytest.mark.parametrize("name", NAMES)
def test_each_benchmark_has_a_core_that_it_knows(name: str) -> None:
    assert benchmark(name).has_revision(benchmark(name).core)


def test_eval_takes_a_dataset_revision_of_one_benchmark_alone(run: Run) -> None:
    plan = ("eval", "--model", "python/json:dumps", "--dry-run", "--dataset-revision", "v2-core")
    run.fine(*plan, "--benchmark", "fact_or_fair")
    with pytest.raises(UsageError, match="no core"):
        _ = type("Bare", (), {"revisions": ("v1",), "name": "bare", "core": type(benchmark("iris")).core})().core
