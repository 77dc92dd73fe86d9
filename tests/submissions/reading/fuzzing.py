"""Search for files whose check is costly for their size.

`python -m tests.submissions.reading.fuzzing --seconds 600 --seed 0` makes zips by recipes of numbers, mutates the
costliest of each family, and prints the worst of each. It ends with 1 if a check took more than 2 CPU seconds per
megabyte of the zip (at least one megabyte).
"""

import argparse
import io
import json
import random
import signal
import struct
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from fairspace.submissions.benchmarks.baselines import baseline_meta
from fairspace.submissions.checking.submission import check_submission

SECONDS_A_MEGABYTE = 2.0
_GIVE_UP_SECONDS = 60.0
_GENES = 8
Recipe = tuple[int, ...]
Files = dict[str, bytes]


@dataclass(frozen=True)
class Cost:
    """Cost of checking a zip: CPU `seconds`, `size` in bytes, and the codes of its faults."""

    family: str
    recipe: Recipe
    size: int
    seconds: float
    codes: tuple[str, ...]

    @property
    def rate(self) -> float:
        return self.seconds / max(1.0, self.size / 1e6)

    def __str__(self) -> str:
        codes = ", ".join(self.codes)
        return (
            f"{self.rate:7.3f} s/MB  {self.seconds:7.3f} s  {self.size:>9,} bytes  {self.family} {self.recipe}: {codes}"
        )


LINES: tuple[Callable[[random.Random, int], str], ...] = (
    lambda draw, n: json.dumps({"task": "llm_objective", "id": f"x/{n}", "sample": n % 7, "response": "women"}),
    lambda draw, n: '{"task":"llm_objective","id":"a","sample":0,"response":"b"}',
    lambda draw, n: "{}",
    lambda draw, n: "",
    lambda draw, n: "[" * 16 + "]" * 16,
    lambda draw, n: "[[]" * 200,
    lambda draw, n: '{"task":"\\u0041\\u0042\\ud800","id":"' + "\\n" * 40 + '","sample":0,"response":"\\u0000"}',
    lambda draw, n: '{"task":1e400,"id":-1e-400,"sample":' + "9" * 300 + ',"response":NaN}',
    lambda draw, n: "{" + ",".join(f'"k{n}_{k}":{k}' for k in range(100)) + "}",
    lambda draw, n: '{"task":"t","task":"t","id":"i","sample":0,"response":"r"}',
    lambda draw, n: f'{{"task":"{draw.random()}","id":"{draw.random()}","sample":{n},"response":"{draw.random()}"}}',
    lambda draw, n: '{"task":"t","id":"i","sample":0,"response":"' + "a" * 5_000 + '"}',
    lambda draw, n: '{"task":"t","id":"i","sample":0,"respond":"r"}',
    lambda draw, n: '{"task":"llm_objective","id":"a","sample":0.0,"response":null}',
    lambda draw, n: '"' + "\\\\" * 300 + '"',
    lambda draw, n: " " * 300 + "1",
)


def jsonl(recipe: Recipe) -> Files:
    draw, shards = random.Random(recipe[0]), 1 + recipe[1] % 40
    lines = 10 ** (recipe[2] % 6)
    lines *= 1 + recipe[3] % 9
    kinds = LINES[recipe[4] % len(LINES)], LINES[recipe[5] % len(LINES)]
    every = 1 + recipe[6] % 50
    text = "\n".join(kinds[n % every == 0](draw, n) for n in range(min(lines, 200_000)))[: 12 << 20].encode()
    return {f"responses-{n:05}-of-{shards:05}.jsonl": text for n in range(shards)}


def parquet(recipe: Recipe) -> Files:
    """Shards as pyarrow writes them, with every option that makes them odd."""
    shards, rows = 1 + recipe[1] % 60, 10 ** (recipe[2] % 6) * (1 + recipe[3] % 9)
    text = ["x", "é" * 50, "a" * 3_000, ""][recipe[4] % 4]
    ids = [f"x/{n}" for n in range(rows)] if recipe[5] % 2 else ["x"] * rows
    columns = {"task": ["llm_objective"] * rows, "id": ids, "sample": pa.array([0] * rows, pa.int32())}
    table = pa.table(columns | {"response": pa.array([text] * rows, pa.string())})
    groups = [1, 7, 100, 10_000, 1 << 20][recipe[6] % 5]
    held = io.BytesIO()
    pq.write_table(
        table,
        held,
        row_group_size=max(groups, rows // 4_000),
        compression=["none", "snappy", "gzip", "zstd", "brotli", "lz4"][recipe[7] % 6],
        use_dictionary=recipe[0] % 3 != 0,
        data_page_version=["1.0", "2.0"][recipe[0] % 2],
        data_page_size=[1, 1 << 10, 1 << 20][recipe[4] % 3],
        write_batch_size=[1, 1 << 10][recipe[3] % 2],
        write_page_index=recipe[5] % 3 == 0,
    )
    return {f"responses-{n:05}-of-{shards:05}.parquet": held.getvalue() for n in range(shards)}


def footers(recipe: Recipe) -> Files:
    kind = (1, 3, 5, 8, 9, 11, 12)[recipe[1] % 7]
    size, shards = 1 + 4_000_000 * (1 + recipe[2] % 10) // 10, 1 + recipe[3] % 100
    body = bytes([recipe[4] % 3]) * size
    length = bytes([size & 127 | 128, size >> 7 & 127 | 128, size >> 14 & 127 | 128, size >> 21])
    footer = bytes([0x19 + 0x10 * (recipe[5] % 4), 0xF0 | kind]) + length + body
    data = b"PAR1" + footer + struct.pack("<I", len(footer)) + b"PAR1"
    return {f"responses-{n:05}-of-{shards:05}.parquet": data for n in range(shards)}


def outside(recipe: Recipe) -> Files:
    count = 10 ** (recipe[1] % 4) * 2
    name = ["a", "é" * 60, "responses-", "Con.", "x/"][recipe[2] % 5]
    files = {f"{name}{n}" + [".jsonl", ".parquet", ".zip", ""][recipe[3] % 4]: b"" for n in range(count)}
    size = 10 ** (recipe[4] % 6)
    inner: object = [{str(n): n for n in range(size)}, "\\" * size, [[]] * size, [0.1] * size][recipe[5] % 4]
    text = json.dumps({"stages": [inner] * (1 + recipe[6] % 3)})
    files["manifest.json"] = text.encode()
    if recipe[7] % 2:
        files["submission.json"] = text.encode()
    return files


FAMILIES: dict[str, Callable[[Recipe], Files]] = {
    "jsonl": jsonl,
    "parquet": parquet,
    "footers": footers,
    "outside": outside,
}


def packed(files: Files, damage: int) -> bytes:
    """The files as a zip, with one byte changed if `damage` is odd."""
    held = io.BytesIO()
    meta = baseline_meta("stereotyped", "fact_or_fair", 1, {}).model_copy(update={"baseline": None})
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in ({"submission.json": meta.model_dump_json(exclude_none=True).encode()} | files).items():
            archive.writestr(name, content)
    data = bytearray(held.getvalue())
    if damage % 5 == 1:
        data[damage * 7919 % len(data)] ^= 1 << damage % 8
    return bytes(data)


def measure(family: str, recipe: Recipe, folder: Path) -> Cost:
    """Check the zip of a recipe. TimeoutError after a CPU minute."""
    file = folder / "fuzzed.zip"
    file.write_bytes(packed(FAMILIES[family](recipe), recipe[0]))
    signal.signal(signal.SIGPROF, _give_up)
    signal.setitimer(signal.ITIMER_PROF, _GIVE_UP_SECONDS)
    begun = time.process_time()
    codes: tuple[str, ...]
    try:
        report = check_submission(file, allow_baseline=False)
        codes = tuple(sorted({fault.code for fault in report.faults})) or ("none",)
    except TimeoutError:
        codes = ("GIVEN UP",)
    seconds = time.process_time() - begun
    signal.setitimer(signal.ITIMER_PROF, 0)
    return Cost(family, recipe, file.stat().st_size, seconds, codes)


def search(seed: int, more: Callable[[int], bool], note: Callable[[Cost], None] = lambda cost: None) -> dict[str, Cost]:
    """The costliest recipe of each family, found while `more(number of zips)` holds."""
    draw, worst, count = random.Random(seed), dict[str, Cost](), 0
    with tempfile.TemporaryDirectory() as folder:
        while more(count):
            family = draw.choice(list(FAMILIES))
            recipe = [draw.randrange(1 << 16) for _ in range(_GENES)]
            if family in worst and draw.random() < 0.7:
                keep = set(range(_GENES)) - {draw.randrange(_GENES) for _ in range(2)}
                recipe = [worst[family].recipe[place] if place in keep else recipe[place] for place in range(_GENES)]
            cost = measure(family, tuple(recipe), Path(folder))
            count += 1
            if family not in worst or cost.rate > worst[family].rate:
                worst[family] = cost
                note(cost)
    return worst


def _give_up(*_: object) -> None:
    raise TimeoutError


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=0)
    told = parser.parse_args()
    end = time.monotonic() + told.seconds
    worst = search(told.seed, lambda count: time.monotonic() < end, lambda cost: print(cost, flush=True))
    print("\nThe worst of each family:", *sorted(map(str, worst.values()), reverse=True), sep="\n")
    sys.exit(max(cost.rate for cost in worst.values()) > SECONDS_A_MEGABYTE)


if __name__ == "__main__":
    main()
