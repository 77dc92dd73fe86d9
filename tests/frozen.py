"""What must not change while the house is rebuilt: hashes of results, boards and sample builds.

`python -m tests.frozen FILE` writes them as JSON. Results hold 100 resamples.
"""

import hashlib
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fairspace.submissions.benchmarks.adjustment import Adjustment
from fairspace.submissions.benchmarks.baselines import NAMES as BASELINES
from fairspace.submissions.benchmarks.baselines import write_baseline
from fairspace.submissions.benchmarks.registry import NAMES
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.checking.submission import read_submission
from fairspace.submissions.commands.show.board import row_json
from fairspace.submissions.results.board import board
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.row_errors import with_errors
from fairspace.submissions.results.scoring import rescore, score_submission

HASHES = Path(__file__).with_name("frozen.json")
RESAMPLES = 100
ADJUSTED: dict[str, list[Adjustment]] = {
    "iris": [
        Adjustment(weights={"IFS_Gen": 2.0, "RFS_Und": 0.5}),
        Adjustment(weights={"RD_age": 4.0}, dropped=frozenset({"AD_single_gender"})),
        Adjustment(reference="EU", tau=55.0),
        Adjustment(reference="own", own={"female": 0.5, "male": 0.5}),
        Adjustment(smallest_group=30),
    ],
    "fact_or_fair": [Adjustment(weights={"factuality": 2.0, "gender": 0.5})],
    "stereotypical_bias": [],
    "genres": [Adjustment(dropped=frozenset({"M3"})), Adjustment(weights={"M1": 3.0})],
}
"""Adjustments whose boards are frozen too."""


def digest(data: Any) -> str:
    """sha256 of a text, or of an object as JSON with sorted keys."""
    text = data if isinstance(data, str) else json.dumps(data, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def result(benchmark: str, baseline: str) -> Result:
    """A baseline scored with 100 resamples."""
    with tempfile.TemporaryDirectory() as folder:
        written = write_baseline(baseline, benchmark, Path(folder) / "submission")
        return score_submission(read_submission(written), resamples=RESAMPLES)


def hashes(benchmark: str) -> Iterator[tuple[str, str]]:
    """Name -> hash: results of the five baselines under every standard, and the boards that they stand on."""
    results = [result(benchmark, name) for name in BASELINES]
    for name, scored in zip(BASELINES, results, strict=True):
        yield f"result {benchmark} {name}", digest(scored.dumps())
    for standard in find_benchmark(benchmark).standards:
        for name, scored in zip(BASELINES, results, strict=True):
            yield f"rescored {benchmark} {standard} {name}", digest(rescore(scored, standard).dumps())
        rows = with_errors(board(benchmark, standard, results), standard)
        yield f"board {benchmark} {standard}", digest([row_json(row) for row in rows])
        for number, adjustment in enumerate(ADJUSTED[benchmark]):
            changed = board(benchmark, standard, results, adjustment)
            yield f"board {benchmark} {standard} adjusted {number}", digest([row_json(row) for row in changed])


def build_hashes(built: Path) -> Iterator[tuple[str, str]]:
    """Dataset -> hash of the manifest of its sample build, which holds the hashes of its files."""
    for manifest in sorted(built.glob("*/manifest.json")):
        yield f"build {manifest.parent.name}", digest(manifest.read_text(encoding="utf-8"))


def main() -> None:
    """Write all hashes: FILE, and the folder of `fairspace build all --sample`."""
    found = dict(pair for name in NAMES for pair in hashes(name)) | dict(build_hashes(Path(sys.argv[2])))
    Path(sys.argv[1]).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
