"""One model's full IRIS submission from Parquet to result (aim: 3 s and 1 GiB on 2 cores), beside reading it alone."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pyarrow.parquet as pq

from submissions.check import check_submission
from submissions.result import score_submission
from submissions.writing import write_submission
from tests.benchmarks.timing import fastest, line, peak_gib
from tests.submissions import iris_factory

COHORT = 10


def to_result(path: Path) -> str:
    """Check and score a submission."""
    report = check_submission(path)
    if report.submission is None:
        raise SystemExit(str(report.faults))
    return score_submission(report.submission).dumps()


def main() -> None:
    """Print the figures."""
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
        cohort = fastest(lambda: [to_result(path) for path in paths], repeats=1)
        beside = f"{cohort / one:.1f} x one model, peak {peak_gib():.2f} GiB with the drawing of the data"
        line(f"IRIS, {COHORT} models, {COHORT * rows} rows", cohort, beside)


if __name__ == "__main__":
    main()
