"""IRIS-Ideal-52 from a FACET-like source with stored boxes, beside a bare Parquet writer; memory at ten times the rows.

The source has 30 000 JPEG files of 384 x 384 pixels: eight drawings, made distinct by a comment. The builder's time and
memory are taken after its last shard and after the whole build. The bare loop reads the same files and writes the same
bytes. Each run is a process; the two take turns, and the fastest counts.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from io import BytesIO
from pathlib import Path

from tests.benchmarks.timing import line, peak_gib

IMAGES = 30_000
TIMES = 10
LEAST = 0.5
MOST = 1.1
"""Promised peak memory at ten times the rows, as a multiple."""
_REPEATS = 3
_PER_FILE, _PER_GROUP = 1000, 100


def write_source(folder: Path, images: int, quality: int, links: int = 1) -> None:
    """Write images, annotations and boxes; `links` is the number of further names per file."""
    from fairspace.builders.drawn.drawing import draw_face
    from fairspace.builders.engine.tools import Box
    from fairspace.builders.iris.groups import GROUPS
    from fairspace.builders.iris_ideal_52.dataset import CELLS
    from tests.builders.facet_folder import Annotated, write_annotations, write_boxes

    (folder / "facet/images").mkdir(parents=True)
    drawings = []
    for seed in range(8):
        gender, age, skin_tone = GROUPS[seed * 2].split("_")
        stream = BytesIO()
        draw_face(gender, age, skin_tone, seed).save(stream, "JPEG", quality=quality)
        drawings.append(stream.getvalue())
    for number in range(images):
        file = folder / f"facet/images/{number:07}.jpg"
        base, comment = drawings[number % len(drawings)], f"image {number:07}".encode()
        file.write_bytes(base[:2] + b"\xff\xfe" + (len(comment) + 2).to_bytes(2, "big") + comment + base[2:])
        for link in range(1, links):
            file.with_name(f"{number + link * images:07}.jpg").hardlink_to(file)

    def persons() -> Iterator[Annotated]:
        for number in range(images * links):
            occupation, group = CELLS[number % len(CELLS)].split("/")
            yield Annotated(f"{number:07}.jpg", Box(60, 20, 260, 350), occupation, *group.split("_"))

    write_annotations(folder / "facet", persons())
    names = (f"images/{number:07}.jpg" for number in range(images * links))
    write_boxes(folder / "boxes.parquet", [(name, Box(62, 22, 256, 351, 0.98)) for name in names])


@dataclass(frozen=True)
class Spent:
    seconds: float
    processor: float
    peak: float


def now() -> Spent:
    return Spent(time.perf_counter(), time.process_time(), peak_gib())


def bare(source: Path, out: Path) -> tuple[int, Spent]:
    """Read and write every image; return their number and the cost."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    image = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    schema = pa.schema([("id", pa.string()), ("image", image)])
    files = sorted((source / "facet/images").iterdir())
    out.mkdir()
    for start in range(0, len(files), _PER_FILE):
        with pq.ParquetWriter(out / f"{start:07}.parquet", schema, compression="snappy") as writer:
            for first in range(start, min(start + _PER_FILE, len(files)), _PER_GROUP):
                part = files[first : first + _PER_GROUP]
                images = [{"bytes": file.read_bytes(), "path": file.name} for file in part]
                columns = [pa.array([file.stem for file in part]), pa.array(images, image)]
                writer.write_table(pa.table(columns, schema=schema))
    return len(files), now()


def built(source: Path, out: Path) -> tuple[int, Spent]:
    """Build the dataset; return its images and the cost of their shards."""
    from fairspace.builders.engine.build import build
    from fairspace.builders.engine.tools import Tools
    from fairspace.builders.iris_ideal_52.dataset import DATASET
    from fairspace.builders.models.detection import StoredBoxes

    next_split: list[Spent] = []

    def progress(what: str, done: int, total: int) -> None:
        if what == "Building gap/test":
            next_split.append(now())

    tools = Tools(detector=StoredBoxes(source / "boxes.parquet"))
    options = {"per_cell": str(IMAGES * TIMES)}
    manifest = build(DATASET, out, source=source, tools=tools, options=options, progress=progress)
    split = manifest.find("occupation", "test")
    return split.rows if split else 0, next_split[0]


_RUNS: dict[str, Callable[[Path, Path], tuple[int, Spent]]] = {"bare": bare, "built": built}


@dataclass(frozen=True)
class Measured:
    """Cost up to the shards, cost up to the end, and rows."""

    shards: Spent
    whole: Spent
    rows: int


def measured(run: str, source: Path, out: Path) -> Measured:
    """A run in this process, without the import time."""
    import datasets  # noqa: F401
    import pyarrow.parquet  # noqa: F401

    start = now()
    rows, shards = _RUNS[run](source, out)
    ends = shards, now()
    until = [replace(e, seconds=e.seconds - start.seconds, processor=e.processor - start.processor) for e in ends]
    return Measured(until[0], until[1], rows)


def in_process(run: str, source: Path, rows: int) -> Measured:
    """A run in a new process; its output is removed. Error if its rows differ."""
    with tempfile.TemporaryDirectory(dir=source) as scratch:
        command = [sys.executable, "-m", "tests.benchmarks.bench_build", run, str(source), str(Path(scratch) / "out")]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    told = json.loads(done.stdout.splitlines()[-1])
    found = Measured(Spent(**told["shards"]), Spent(**told["whole"]), told["rows"])
    if found.rows != rows:
        sys.exit(f"{run} wrote {found.rows} rows, not {rows}")
    return found


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch) / "large"
        write_source(source, IMAGES, quality=95)
        runs = [{run: in_process(run, source, IMAGES) for run in _RUNS} for _ in range(_REPEATS)]
    plain, full = (min((each[run] for each in runs), key=lambda m: m.shards.seconds) for run in _RUNS)
    share = plain.shards.seconds / full.shards.seconds
    _say(f"{IMAGES} images: bare Parquet writer", plain.shards)
    _say(f"{IMAGES} images: annotations to shards", full.shards, f"; {share:.2f} of the bare speed (>= {LEAST})")
    _say(f"{IMAGES} images: the whole build", full.whole)
    peaks = []
    for times in (1, TIMES):
        with tempfile.TemporaryDirectory() as scratch:
            small = Path(scratch) / "small"
            write_source(small, IMAGES, quality=50, links=times)
            found = in_process("built", small, IMAGES * times)
        peaks.append((found.shards.peak, found.whole.peak))
        _say(f"{found.rows} smaller images: annotations to shards", found.shards)
        _say(f"{found.rows} smaller images: the whole build", found.whole)
    growth = [more / less for less, more in zip(*peaks, strict=True)]
    print(f"peak memory at {TIMES} times the rows: {growth[0]:.2f} and {growth[1]:.2f} times (<= {MOST})")
    if share < LEAST:
        sys.exit(f"{share:.2f} of the bare speed is less than {LEAST}")
    if max(growth) > MOST:
        sys.exit(f"{max(growth):.2f} times the memory is more than {MOST}")


def _say(what: str, spent: Spent, beside: str = "") -> None:
    line(what, spent.seconds, f"{spent.processor:.1f} s of processors, peak {spent.peak:.3f} GiB{beside}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(asdict(measured(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])))))
    else:
        main()
