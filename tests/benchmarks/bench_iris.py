"""One model's full IRIS submission on 2 cores: from Parquet to result, and the intervals of its 60 values.

Aims: 3 s and 1 GiB to a result without intervals; 5 s more for 1 000 resamples, BCa's jackknife and the fair models.
"""

import tempfile
from pathlib import Path

import pyarrow.parquet as pq

from fairspace.submissions.benchmarks.iris import declaration as iris
from fairspace.submissions.benchmarks.iris.quantities import designs, measure
from fairspace.submissions.benchmarks.iris.records import read
from fairspace.submissions.checking.submission import check_submission
from fairspace.submissions.format.writing import write_submission
from fairspace.submissions.results.scoring import resample, score_submission
from tests.benchmarks.record import keep
from tests.benchmarks.timing import fastest, line, peak_gib
from tests.submissions.benchmarks.iris import factory as iris_factory

COHORT = 10
RESAMPLES = 1_000
AIM = 5.0


def to_result(path: Path) -> str:
    report = check_submission(path)
    if report.submission is None:
        raise SystemExit(str(report.faults))
    return score_submission(report.submission, resamples=0).dumps()


def intervals() -> None:
    """Print the time of 1 000 resamples, beside measuring as many drawn tables one by one."""
    drawn = iris_factory.submission()
    reading = fastest(lambda: read(drawn))
    records = read(drawn)
    values = measure(records)
    line("IRIS, records of one submission", reading, "read once for values, designs, counts and variants")
    parts = designs(records)
    seconds = fastest(lambda: resample(parts, values, RESAMPLES, iris.BENCHMARK.scoring.drawn))
    one = fastest(lambda: measure(records))
    keep(f"{RESAMPLES} resamples of all values", f"{one * RESAMPLES / seconds:.0f} times as fast as measuring as often")
    beside = f"aim {AIM:.0f} s; {one * RESAMPLES / seconds:.0f} x faster than {RESAMPLES} x measuring, {one:.2f} s each"
    line(f"IRIS, {RESAMPLES} resamples of all values, jackknife, fair models", seconds, beside)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for seed in range(COHORT):
            drawn = iris_factory.submission(seed)
            paths.append(write_submission(Path(folder) / str(seed), drawn.meta, drawn.tables))
            rows = sum(table.num_rows for table in drawn.tables.values())
            del drawn
        read = fastest(lambda: [pq.read_table(file) for file in sorted(paths[0].glob("*.parquet"))])
        to_result(paths[0])
        one = fastest(lambda: to_result(paths[0]))
        line(f"IRIS, one model, {rows} rows, Parquet to result", one, f"{one / read:.1f} x reading the Parquet files")
        keep(f"{rows} rows, Parquet to result", f"{one / read:.1f} times reading the Parquet files")
        cohort = fastest(lambda: [to_result(path) for path in paths], repeats=1)
        beside = f"{cohort / one:.1f} x one model, peak {peak_gib():.2f} GiB with the drawing of the data"
        line(f"IRIS, {COHORT} models, {COHORT * rows} rows", cohort, beside)
    intervals()


if __name__ == "__main__":
    main()
