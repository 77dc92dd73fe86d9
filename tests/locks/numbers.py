"""Numbers that a change of structure must keep, as name -> text or digest.

Words of reasons and notes are not locked; values, scores, draws, readings, ids, shards and printed rows are.
"""

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from fairspace.builders.errors import BuildError
from fairspace.builders.registry import NAMES as DATASETS
from fairspace.submissions.benchmarks.baselines import NAMES as BASELINES
from fairspace.submissions.benchmarks.registry import NAMES, benchmark
from fairspace.submissions.results.board import published_rows
from fairspace.submissions.results.row import ranked
from fairspace.submissions.results.scoring import rescore, score_submission
from fairspace.submissions.values import Value
from tests.locks.pages import texts
from tests.readings import read_lines
from tests.sample_builds import sample_builds
from tests.scored_baselines import baseline, scored_baseline
from tests.tiny_ares import random_ares

ROOT = Path(__file__).parents[2]
KEPT = Path(__file__).with_name("numbers.json")
RESAMPLES = 200
Numbers = Iterator[tuple[str, str]]


def digest(*parts: object) -> str:
    return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()[:16]


def rounded(value: object) -> object:
    """Floats to seven digits: processors add in other orders, and the last bits differ."""
    if isinstance(value, float):
        return "0" if abs(value) <= 1e-12 else f"{value:.7g}"
    if isinstance(value, dict):
        return {str(name): rounded(item) for name, item in value.items()}
    return [rounded(item) for item in value] if isinstance(value, list | tuple) else value


def of_value(value: Value, errors: bool = True) -> str:
    """A value without its words: the number to the last bit, the rest as a digest; errors on request."""
    about = (value.state, value.value, value.low, value.high, value.expected, value.valid, value.smallest)
    sure = value.uncertainty if errors else None
    told = None if sure is None else [item for name, item in sorted(vars(sure).items()) if name != "note"]
    evidence = json.dumps(rounded(value.evidence), sort_keys=True, default=str)
    return f"{value.value!r} {digest(rounded(about), rounded(told), evidence)}"


def in_short(value: Value) -> str:
    """A value with its errors, to seven digits, for a digest of many."""
    return f"{rounded(value.value)} {of_value(value).split()[1]}"


def scores() -> Numbers:
    for name in NAMES:
        bench = benchmark(name)
        for model in BASELINES:
            result = scored_baseline(model, name)
            for key, value in result.values.items():
                yield f"{name}/{model}/{key}", of_value(value, errors=False)
            for standard in bench.standards:
                scored = rescore(result, standard).scored
                for key, value in scored.scores.items():
                    yield f"{name}/{model}/{standard}/{key}", of_value(value, errors=False)
                yield f"{name}/{model}/{standard}", f"{rounded(scored.ranked)} {scored.labels} {len(scored.unranked)}"


def errors(names: Iterable[str] = NAMES, models: Iterable[str] = BASELINES) -> Numbers:
    for name in names:
        bench = benchmark(name)
        for model in models:
            result = score_submission(baseline(model, name), resamples=RESAMPLES)
            yield f"{name}/{model} values", digest(*map(in_short, result.values.values()))
            drawn = {key: column.tolist() for key, column in result.draws.columns().items()} if result.draws else None
            yield f"{name}/{model} draws", digest(rounded(drawn))
            for kind in dict.fromkeys(variant.kind for variant in result.variants):
                of_kind = [(each.name, rounded(dict(each.values))) for each in result.variants if each.kind == kind]
                yield f"{name}/{model} {kind}", digest(of_kind)
            for standard in bench.standards:
                scored = rescore(result, standard).scored
                numbers = [in_short(value) for value in scored.scores.values()]
                chances = rounded(sorted(scored.chances.items()))
                yield f"{name}/{model} {standard}", digest(*numbers, chances, scored.labels)


@cache
def compared() -> dict[str, list[tuple[object, ...]]]:
    """File and task -> id, gold, reading and rule of each labelled answer."""
    folder, by_task = ROOT / "tests" / "data" / "readings", dict[str, list[tuple[object, ...]]]()
    for file in sorted(folder.rglob("*.jsonl")):
        for line in read_lines([file]):
            if line.get("benchmark") in NAMES:
                for each in benchmark(line["benchmark"]).answers.compare(line):
                    name = f"{file.relative_to(folder)} {line['benchmark']}/{each.entry}"
                    by_task.setdefault(name, []).append((line.get("id"), each.gold, each.read, each.rule))
    return by_task


def readings() -> Numbers:
    """Accuracy of each task on the labelled answers that no reader was tuned on, and on all others; each reading."""
    for name, answers in compared().items():
        right = sum(gold == read for _, gold, read, _ in answers)
        yield name, f"{right} of {len(answers)} {digest(*answers)}"


def items() -> Numbers:
    for name in NAMES:
        bench = benchmark(name)
        for revision in bench.revisions:
            try:
                tables = bench.baseline("constant", 0, revision)
            except BuildError as refused:  # the authors' own items can be scored, not built here
                yield f"{name}/{revision}", refused.code
                continue
            for key, table in tables.items():
                ids = table.select([column for column in ("task", "id", "sample") if column in table.column_names])
                yield f"{name}/{revision}/{key}", f"{table.num_rows} {digest(ids.to_pylist())}"


def shards() -> Numbers:
    for name in DATASETS:
        folder = sample_builds() / name
        for file in sorted(folder.rglob("*.parquet")):
            yield f"{name}/{file.relative_to(folder)}", hashlib.sha256(file.read_bytes()).hexdigest()[:16]


def contents() -> Numbers:
    """Ids and cells of the sample builds by column, whatever the bytes of files and of pictures are."""
    for name in DATASETS:
        folder = sample_builds() / name
        for file in sorted(folder.rglob("*.parquet")):
            table = pq.read_table(file)
            for column in table.column_names:
                cells = [without_bytes(cell) for cell in table[column].to_pylist()]
                yield f"{name}/{file.relative_to(folder)}/{column}", f"{len(cells)} {digest(*cells)}"


def without_bytes(cell: Any) -> Any:
    """A cell whose bytes are said to be there, and no more; the names of a picture's file stay."""
    if isinstance(cell, dict):
        return {key: without_bytes(part) for key, part in cell.items()}
    return "bytes" if isinstance(cell, bytes) else cell


def pages() -> Numbers:
    """Words of public pages."""
    for address, text in texts():
        yield address, f"{len(text.splitlines())} {digest(text)}"


def ares() -> Numbers:
    import torch

    from fairspace.ares.modeling_ares import AresModel
    from fairspace.ares.training.data import drawn_face

    torch.set_num_threads(1)
    model = AresModel.from_pretrained(random_ares())
    for place, answer in enumerate(model.classify([drawn_face("lock", number, size=64).image for number in range(4)])):
        yield f"face {place}", str(answer)


def boards() -> Numbers:
    for name in NAMES:
        for standard in benchmark(name).standards:
            for row in ranked(published_rows(name, standard), name, standard):
                numbers = [(key, value.value, value.low, value.high) for key, value in row.scores.items()]
                yield f"{name}/{standard}/{row.model}", f"{row.rank} {rounded(row.ranked)} {digest(rounded(numbers))}"


PARTS: dict[str, Callable[[], Numbers]] = {
    part.__name__: part for part in (scores, errors, readings, items, contents, shards, ares, boards, pages)
}


def moved(kept: dict[str, str], now: dict[str, str]) -> list[str]:
    """A line for each number that changed, is gone, or is new."""
    names = [*kept, *(name for name in now if name not in kept)]
    return [
        f"{name}: {kept.get(name)} -> {now.get(name)}" for name in names if not alike(kept.get(name), now.get(name))
    ]


def alike(kept: str | None, now: str | None) -> bool:
    """Whether two texts are equal, but for the last bits of the number that they begin with: 1e-12 of it."""
    if kept is None or now is None or kept == now:
        return kept == now
    (before, *rest), (after, *others) = kept.split(), now.split()
    try:
        return rest == others and math.isclose(float(before), float(after), rel_tol=1e-12, abs_tol=1e-12)
    except ValueError:
        return False
