from functools import lru_cache
from pathlib import Path

from fairspace.submissions.benchmarks.baselines import write_baseline
from fairspace.submissions.checking.submission import check_submission
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import load_result, score_submission
from tests import stored_parses
from tests.store import stored

stored_parses.share()
CODE = ("builders", "metrics", "submissions")


@lru_cache
def baseline(name: str, benchmark: str) -> Submission:
    def make(folder: Path) -> None:
        write_baseline(name, benchmark, folder / "submission")

    report = check_submission(stored(f"{benchmark}-{name}", make, CODE) / "submission")
    assert report.faults == ()
    assert report.submission is not None
    return report.submission


@lru_cache
def scored_baseline(name: str, benchmark: str) -> Result:
    def make(folder: Path) -> None:
        result = score_submission(baseline(name, benchmark), resamples=0)
        (folder / "result.json").write_text(result.dumps(), encoding="utf-8")

    return load_result(stored(f"{benchmark}-{name}-scored", make, CODE) / "result.json")
