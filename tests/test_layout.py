"""Rules for the places of code and its imports, checked on the code itself."""

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from fairspace.builders.registry import NAMES as DATASETS
from fairspace.submissions.benchmarks.registry import NAMES, benchmark
from fairspace.submissions.benchmarks.task import Lazy

ROOT = Path(__file__).parent.parent
TOPS = ("ares", "builders", "cards", "leaderboard_space", "metrics", "submissions")
BENCHMARKS = "fairspace.submissions.benchmarks."
REGISTRIES = {
    "fairspace.builders.registry",
    "fairspace.submissions.benchmarks.registry",
    "fairspace.leaderboard_space.boards.views",
}
"""Modules that find others by the name of a benchmark or dataset."""
OTHER_FINDERS = {"fairspace", "fairspace.measuring", "fairspace.submissions.commands.main"}
"""Modules that find others by the name of a function, metric or command group."""
READ = (ast.Call, ast.Compare, ast.Dict, ast.Import, ast.ImportFrom, ast.List, ast.MatchValue, ast.Set, ast.Tuple)
IMPORT = re.compile(r"^\s*(?:from ([\w.]+) import |import ([\w.]+))", re.MULTILINE)
OF_BENCHMARKS = re.compile(
    r"fairspace\.(builders|metrics)\.|fairspace\.submissions\.(names$|benchmarks\.NAMED\.)"
    r"|fairspace\.leaderboard_space\.boards\.NAMED$".replace("NAMED", f"({'|'.join(NAMES)})")
)
"""Modules that may decide by a benchmark's name: its own, and those below all of them."""


@cache
def modules() -> Mapping[str, Path]:
    face = sorted((ROOT / "fairspace").glob("*.py"))
    found = {"fairspace" if file.stem == "__init__" else f"fairspace.{file.stem}": file for file in face}
    for top in TOPS:
        for file in sorted((ROOT / top).rglob("*.py")):
            if not file.is_symlink():
                parts = file.relative_to(ROOT).with_suffix("").parts
                found[".".join(("fairspace", *(parts[:-1] if parts[-1] == "__init__" else parts)))] = file
    return found


@cache
def nodes(file: Path) -> tuple[ast.AST, ...]:
    return tuple(node for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if isinstance(node, READ))


def imports(module: str, file: Path) -> Iterator[tuple[str, str]]:
    """Every import of a file: the module, and the imported name or ''."""
    package = module if file.name == "__init__.py" else module.rpartition(".")[0]
    for node in nodes(file):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            source = ".".join([*base, *([node.module] if node.module else [])])
            yield from ((source, alias.name) for alias in node.names)


@cache
def imported(module: str) -> frozenset[str]:
    known = modules()
    named = ((f"{source}.{name}", source) for source, name in imports(module, known[module]))
    return frozenset(next((one for one in pair if one in known), module) for pair in named) - {module}


def forbidden(module: str, *prefixes: str) -> list[str]:
    return [f"{module} imports {other}" for other in sorted(imported(module)) if other.startswith(prefixes)]


def test_a_plan_imports_no_dataset_and_no_engine() -> None:
    datasets = tuple(f"fairspace.builders.{name}.dataset" for name in DATASETS)
    plans = [f"fairspace.builders.{name}.plan" for name in DATASETS]
    outside = ("fairspace.builders.engine", "fairspace.submissions")
    assert not [line for plan in plans for line in forbidden(plan, *datasets, *outside)]


def test_values_format_and_reading_import_no_benchmark() -> None:
    below = re.compile(r"fairspace\.submissions\.(values$|format(\.|$)|reading(\.|$))")
    benchmarks = tuple(f"{BENCHMARKS}{name}" for name in NAMES)
    assert not [line for module in modules() if below.match(module) for line in forbidden(module, *benchmarks)]


@pytest.mark.parametrize("name", NAMES)
def test_a_benchmark_imports_no_other_and_nothing_that_uses_it(name: str) -> None:
    above = [f"fairspace.submissions.{part}" for part in ("checking", "commands", "results", "running", "standards")]
    others = [f"{BENCHMARKS}{other}" for other in NAMES if other != name]
    mine = [module for module in modules() if module.startswith(f"{BENCHMARKS}{name}.")]
    assert not [line for module in mine for line in forbidden(module, *above, *others, "fairspace.leaderboard_space")]


def test_only_the_command_imports_the_space() -> None:
    inside = ("fairspace.leaderboard_space", "fairspace.submissions.commands")
    outside = [module for module in modules() if not module.startswith(inside)]
    assert not [line for module in outside for line in forbidden(module, "fairspace.leaderboard_space")]


def constants(node: ast.AST) -> set[str]:
    return {part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str)}


def named(node: ast.AST) -> set[str]:
    """Benchmarks that a node decides by: in a comparison, a case, a table's keys or a list of several."""
    if isinstance(node, ast.Compare):
        return constants(node) & set(NAMES)
    if isinstance(node, ast.MatchValue):
        return constants(node.value) & set(NAMES)
    if isinstance(node, ast.Dict):
        keys = {key.value for key in node.keys if isinstance(key, ast.Constant)}
        return {name for name in NAMES if name in keys}
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        parts = {part.value for part in node.elts if isinstance(part, ast.Constant)}
        several = {name for name in NAMES if name in parts}
        return several if len(several) > 1 else set()
    return set()


def test_the_declaration_is_asked_and_never_the_name() -> None:
    assert not [
        f"{module}, line {getattr(node, 'lineno', '?')}: {', '.join(sorted(named(node)))}"
        for module, file in modules().items()
        if not OF_BENCHMARKS.match(module)
        for node in nodes(file)
        if named(node)
    ]


def test_modules_are_found_by_name_in_registries_alone() -> None:
    found = [
        module
        for module, file in modules().items()
        for node in nodes(file)
        if isinstance(node, ast.Call)
        and "import_module" in (getattr(node.func, "id", ""), getattr(node.func, "attr", ""))
        and any(isinstance(part, ast.JoinedStr) for part in node.args)
    ]
    assert set(found) == REGISTRIES | OTHER_FINDERS


@pytest.mark.parametrize("name", NAMES)
def test_what_a_declaration_names_is_there(name: str) -> None:
    bench = benchmark(name)
    parts = (bench, bench.answers, bench.reporting, bench.asking, *bench.tasks)
    lazy = [value for part in parts for value in vars(part).values() if isinstance(value, Lazy)]
    assert all(callable(one.load()) for one in lazy)


def test_no_files_import_each_other() -> None:
    together = dict.fromkeys(("fairspace.ares.classifying_ares", "fairspace.ares.modeling_ares"), "published together")
    importing: dict[str, set[str]] = {}
    for module in modules():
        name = together.get(module, module)
        importing.setdefault(name, set()).update({together.get(other, other) for other in imported(module)} - {name})
    TopologicalSorter(importing).prepare()  # CycleError names the circle


def test_every_import_names_the_installed_package() -> None:
    with_foreign_modules = ROOT / "tests" / "test_wheel.py"
    files = {*modules().values(), *(ROOT / "tests").rglob("*.py")} - {with_foreign_modules}
    assert not [
        f"{file.relative_to(ROOT)}: {found.group().strip()}"
        for file in sorted(files)
        for found in IMPORT.finditer(file.read_text(encoding="utf-8"))
        if (found[1] or found[2]).split(".")[0] in TOPS
    ]
