"""The baselines and what they score, made once for all the tests and workers that read them."""

from functools import lru_cache
from pathlib import Path

from filelock import FileLock

from fairspace.submissions.benchmarks.baselines import write_baseline
from fairspace.submissions.checking.submission import check_submission
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import load_result, score_submission


@lru_cache
def baseline(name: str, benchmark: str, folder: Path) -> Submission:
    """A baseline, read from where it was written in the folder that the workers share; it has no fault."""
    written = folder / f"{benchmark}-{name}"
    with FileLock(folder / f"{benchmark}-{name}.lock"):
        if not (folder / f"{benchmark}-{name}.whole").exists():
            write_baseline(name, benchmark, written)
            (folder / f"{benchmark}-{name}.whole").touch()
    report = check_submission(written)
    assert report.faults == ()
    assert report.submission is not None
    return report.submission


@lru_cache
def scored_baseline(name: str, benchmark: str, folder: Path) -> Result:
    """What a baseline scores. The first that asks scores it; the others read its result file, which holds no draws."""
    file = folder / f"{benchmark}-{name}.json"
    with FileLock(folder / f"{benchmark}-{name}.json.lock"):
        if file.exists():
            return load_result(file)
        result = score_submission(baseline(name, benchmark, folder))
        file.write_text(result.dumps(), encoding="utf-8")
        return result
