"""IRIS-Ideal-52 from a FACET-like source with stored boxes, beside a bare Parquet writer; memory at ten times the rows.

The source has 30 000 JPEG files of 384 x 384 pixels: eight drawings, made distinct by a comment in each file. The real
builder reads the annotations, matches the boxes, plans the cells, checks, hashes and crops, and writes all of them. The
bare loop reads the same files and writes the same bytes, and nothing else. Every figure is from a process of its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path

from tests.benchmarks.timing import line, peak_gib

IMAGES = 30_000
TIMES = 10
LEAST = 0.5
"""The builder's share of the bare writer's speed that we promise."""
_REPEATS = 2
_PER_FILE, _PER_GROUP = 1000, 100


def write_source(folder: Path, images: int, quality: int, links: int = 1) -> None:
    """Images, annotations and boxes. With `links`, every file stands there so many times under another name."""
    from builders.drawing import draw_face
    from builders.iris_groups import GROUPS
    from builders.iris_ideal_52_images import CELLS
    from builders.tools import Box
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


def bare(source: Path, out: Path) -> int:
    """Read every image and write it; how many."""
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
    return len(files)


def built(source: Path, out: Path) -> int:
    """Build the dataset; how many images it has."""
    from builders.build import build
    from builders.iris_ideal_52 import DATASET
    from builders.models.stored_boxes import StoredBoxes
    from builders.tools import Tools

    tools = Tools(detector=StoredBoxes(source / "boxes.parquet"))
    manifest = build(DATASET, out, source=source, tools=tools, options={"per_cell": str(IMAGES * TIMES)})
    split = manifest.find("occupation", "test")
    return split.rows if split else 0


_RUNS: dict[str, Callable[[Path, Path], int]] = {"bare": bare, "built": built}


def in_process(run: str, source: Path) -> tuple[float, float, int]:
    """Seconds, peak GiB and rows of a run in a new process; what it wrote is removed."""
    with tempfile.TemporaryDirectory(dir=source) as scratch:
        command = [sys.executable, "-m", "tests.benchmarks.bench_build", run, str(source), str(Path(scratch) / "out")]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    seconds, peak, rows = json.loads(done.stdout.splitlines()[-1])
    return seconds, peak, rows


def main() -> None:
    """Print the figures; exit with an error if the promised speed is not reached."""
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch) / "large"
        write_source(source, IMAGES, quality=95)
        seconds = dict.fromkeys(_RUNS, float("inf"))
        for _ in range(_REPEATS):
            for run in _RUNS:
                taken, _, rows = in_process(run, source)
                if rows != IMAGES:
                    sys.exit(f"{run} wrote {rows} rows, not {IMAGES}")
                seconds[run] = min(seconds[run], taken)
    share = seconds["bare"] / seconds["built"]
    line(f"{IMAGES} images: bare Parquet writer", seconds["bare"])
    line(f"{IMAGES} images: annotations to shards", seconds["built"], f"{share:.2f} of the bare speed (>= {LEAST})")
    peaks = []
    for times in (1, TIMES):
        with tempfile.TemporaryDirectory() as scratch:
            write_source(Path(scratch) / "small", IMAGES, quality=50, links=times)
            taken, peak, rows = in_process("built", Path(scratch) / "small")
        if rows != IMAGES * times:
            sys.exit(f"{rows} rows, not {IMAGES * times}")
        peaks.append(peak)
        line(f"{rows} smaller images: annotations to shards", taken, f"peak {peak:.3f} GiB")
    line("peak memory at ten times the rows, as a ratio", peaks[1] / peaks[0])
    if share < LEAST:
        sys.exit(f"{share:.2f} of the bare speed is less than {LEAST}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        import datasets  # noqa: F401 -- a second of importing, which is not the builder's
        import pyarrow.parquet  # noqa: F401

        start = time.perf_counter()
        count = _RUNS[sys.argv[1]](Path(sys.argv[2]), Path(sys.argv[3]))
        print(json.dumps([time.perf_counter() - start, peak_gib(), count]))
    else:
        main()
