"""Tasks of lm-evaluation-harness whose items and values are fairspace's own: `fairspace items BENCHMARK --lm-eval DIR`.

The written YAML names functions of this module, which are made when they are asked for: TASK__items, TASK__keep, and
TASK__VALUE and TASK__VALUE_stderr for each of `Reporting.in_harness`. lm-eval knows no error of another program's
value, but prints a value X_stderr as the error of X.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

from jinja2 import Template

from fairspace.answers import score
from fairspace.builders.writing import write_text
from fairspace.submissions.benchmarks.benchmark import Benchmark
from fairspace.submissions.benchmarks.registry import NAMES
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.benchmarks.task import TaskStimuli, in_turns, whole_units
from fairspace.submissions.errors import UsageError
from fairspace.submissions.running.asking.inspect_task import parts


def tasks_of(bench: Benchmark) -> dict[str, str]:
    """Name of a task of a benchmark -> dataset revision: the default one and the core; {} without values in text."""
    if not bench.reporting.in_harness:
        return {}
    name = bench.name + "_text" * bool(_text_only(bench))
    cores = [revision for revision in bench.revisions if revision.endswith("-core")]
    return {name: bench.revisions[0], **{f"{name}_core": core for core in cores[:1]}}


def _text_only(bench: Benchmark) -> dict[str, Any]:
    return {"text_only": True} if "text_only" in bench.asking.options else {}


def _parts(bench: Benchmark, revision: str) -> list[TaskStimuli]:
    return parts(bench.name, None, revision=revision, **_text_only(bench))


def documents(asked: Sequence[TaskStimuli]) -> list[dict[str, Any]]:
    """A row for each request: `task`, `id`, `sample`, `prompt`, `stimulus`, `unit`, and `unit_rows`, those of its unit.

    The first rows are an even part: tasks take turns, stimulus by stimulus, each in the order in which `fs.run(limit=)`
    chooses them over the strata.
    """
    by_task = []
    for part in asked:
        stimuli: list[list[dict[str, Any]]] = []
        for places in in_turns(part.stimuli, stratified=True):
            unit = {"unit": f"{part.task}, {len(stimuli)}", "unit_rows": sum(part.stimuli[p].asks for p in places)}
            for place in places:
                about = {"stimulus": part.stimuli[place].id, **unit}
                asks = (vars(ask) | about for ask in part.read(place).asks)
                stimuli.append([{name: row[name] for name in row if name not in ("image", "choices")} for row in asks])
        by_task.append(stimuli)
    return list(chain.from_iterable(filter(None, chain.from_iterable(zip_longest(*by_task)))))


@cache
def make(name: str) -> Mapping[str, Callable[..., Any]]:
    """Function -> itself, of a task; {} for an unknown one.

    `keep` gives an answer to the first value alone; the others' functions follow the first one's and read its result.
    """
    tasks = ((bench, tasks_of(bench).get(name, "")) for bench in map(find_benchmark, NAMES))
    bench, revision = next((each for each in tasks if each[1]), (None, ""))
    if bench is None:
        return {}
    names, last = bench.reporting.in_harness, dict[str, Any]()

    def items(**_: Any) -> dict[str, Any]:
        from datasets import Dataset

        last["rows"] = documents(_parts(bench, revision))
        return {"test": Dataset.from_list(last["rows"])}

    def keep(document: Mapping[str, Any], answers: Sequence[str]) -> dict[str, Any]:
        row = {column: document[column] for column in document if column != "prompt"} | {"response": answers[0]}
        return {value: row if value == names[0] else 0 for value in values}

    def aggregate(rows: Sequence[Mapping[str, Any]]) -> float:
        kept, limit = whole_units(rows) if len(rows) < len(last.get("rows", ())) else (list(rows), None)
        last["result"] = score(kept, bench.name, dataset_revision=revision, limit=limit, **_text_only(bench))
        return number(names[0])

    def number(name: str, *, error: bool = False) -> float:
        value = {**last["result"].values, **last["result"].scored.shown}[name]
        read = value.uncertainty and value.uncertainty.error if error else value.value
        return math.nan if read is None else float(read)

    values: dict[str, Callable[..., Any]] = {}
    for each in names:
        values[each] = lambda rows, name=each: number(name)
        values[f"{each}_stderr"] = lambda rows, name=each: number(name, error=True)
    values[names[0]] = aggregate
    return {**values, "items": items, "keep": keep}


def __getattr__(name: str) -> Callable[..., Any]:
    task, _, function = name.partition("__")
    if function not in make(task):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return make(task)[function]


def write_tasks(benchmark: str, folder: Path) -> list[str]:
    """Write YAML for `lm_eval --include_path FOLDER`; the names of its tasks. UsageError without any."""
    bench = find_benchmark(benchmark)
    if not (tasks := tasks_of(bench)):
        having = ", ".join(name for name in NAMES if tasks_of(find_benchmark(name)))
        raise UsageError(f"{benchmark} has no task for lm-eval, which shows no pictures. Those of {having} have one.")
    folder.mkdir(parents=True, exist_ok=True)
    file = Path(__file__).with_suffix(".yaml.jinja")
    template = Template(file.read_text(encoding="utf-8"), keep_trailing_newline=True)
    for name, revision in tasks.items():
        ideals = {value: bench.ideal(value, bench.default_for(revision)) for value in bench.reporting.in_harness}
        about: dict[str, Any] = {"benchmark": benchmark, "revision": revision, "text_only": bool(_text_only(bench))}
        about["values"] = {value: getattr(ideal, "worse", "") for value, ideal in ideals.items()}
        about["tokens"] = max(part.max_tokens for part in _parts(bench, revision))
        write_text(folder / f"fairspace_{name}.yaml", template.render(name=name, **about))
    return [f"fairspace_{name}" for name in tasks]
