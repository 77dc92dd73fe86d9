"""The bundled submissions: every baseline of every benchmark, made and scored once, then kept in the store."""

from __future__ import annotations

import json
import tempfile
from itertools import product
from pathlib import Path

from submissions.baselines import NAMES as BASELINES
from submissions.baselines import write_baseline
from submissions.check import check_submission
from submissions.faults import SubmissionError
from submissions.progress import progress
from submissions.registry import NAMES as BENCHMARKS
from submissions.result import score_submission
from submissions.store import Store
from submissions.version import VERSION


def score_bundled(root: Path) -> int:
    """Score the baselines that the store does not hold yet; return how many were scored.

    `bundled.json` in the store lists what was scored, under the software version that scored it, so that a second start
    has nothing to do and a new version starts afresh. It is written after each result, so an interrupted start goes on
    where it stopped.
    """
    ledger = root / "bundled.json"
    done: dict[str, str] = json.loads(ledger.read_text(encoding="utf-8")) if ledger.is_file() else {}
    store = Store(root)
    pending = [
        (benchmark, name)
        for benchmark, name in product(BENCHMARKS, BASELINES)
        if done.get(f"{benchmark}/{name}") != VERSION
    ]
    if not pending:
        return 0
    with progress("Scoring the bundled baselines", len(pending)) as advance:
        for benchmark, name in pending:
            with tempfile.TemporaryDirectory() as scratch:
                report = check_submission(write_baseline(name, benchmark, Path(scratch) / "baseline"))
                if report.submission is None:
                    raise SubmissionError(list(report.faults))
                store.add(score_submission(report.submission))
            done[f"{benchmark}/{name}"] = VERSION
            ledger.write_text(json.dumps(done, indent=1, sort_keys=True) + "\n", encoding="utf-8")
            advance(1)
    return len(pending)
