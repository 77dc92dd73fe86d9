"""Trivial models: what random, constant, stereotyped, balanced and refusing answers score, to read a board by.

Each writes a full-size submission of a benchmark, marked as a baseline. What a benchmark's trivial models answer is in
`submissions/baseline_<benchmark>.py`.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pyarrow as pa

from submissions.baseline_rows import NAMES, Baseline
from submissions.faults import UsageError, did_you_mean
from submissions.format import SubmissionMeta, Tool
from submissions.reading import Progress
from submissions.registry import benchmark as find_benchmark
from submissions.version import VERSION
from submissions.writing import write_submission

__all__ = ["NAMES", "Baseline", "baseline_meta", "write_baseline"]


def baseline_meta(name: Baseline, benchmark: str, seed: int, tables: dict[str, pa.Table]) -> SubmissionMeta:
    """The `submission.json` of a trivial model."""
    template = Tool(name="template", version="1")
    bench = find_benchmark(benchmark)
    return SubmissionMeta.model_validate(
        {
            "format": 1,
            "benchmark": benchmark,
            "dataset_revision": bench.dataset_revisions[0],
            "model": f"baseline: {name}",
            "revision": VERSION,
            "organisation": "fairspace",
            "licence": "Apache-2.0",
            "contact": "see the project's page",
            "generation": {"seed": seed},
            "labels": template if "annotations" in tables else None,
            "judge": template if "judgements" in tables else None,
            "baseline": name,
        }
    )


def write_baseline(name: str, benchmark: str, out: Path, *, seed: int = 0, progress: Progress | None = None) -> Path:
    """Write the submission of a trivial model and return its path; the same seed gives the same bytes.

    Args:
        name: one of `NAMES`.
        benchmark: name of the benchmark.
        out: a new or empty folder, or a new zip.
        seed: of the random answers.
        progress: called with what is being done, how much is done, and of how much.

    Errors: UsageError for an unknown name or benchmark, or if there is something at `out`.
    """
    if name not in NAMES:
        raise UsageError(f"There is no baseline {name!r}{did_you_mean(name, NAMES)}. Known: {', '.join(NAMES)}.")
    find_benchmark(benchmark)
    if progress is not None:
        progress(f"answer {benchmark}", 0, 2)
    tables: dict[str, pa.Table] = import_module(f"submissions.baseline_{benchmark}").tables(name, seed)
    if progress is not None:
        progress(f"write {benchmark}", 1, 2)
    path = write_submission(out, baseline_meta(name, benchmark, seed, tables), tables)
    if progress is not None:
        progress(f"write {benchmark}", 2, 2)
    return path
