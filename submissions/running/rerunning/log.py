"""The second way to verify: Inspect's log of the run is replayed, answer by answer, down to the provider's ids.

The provider keeps what it answered under the id of each answer, so that whoever paid for a run can have any line of it
confirmed. A log proves nothing by itself; it holds what a maintainer can ask the provider about.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fairspace.submissions.format.schema import Submission
from fairspace.submissions.running.asking.asking import ANSWERS
from fairspace.submissions.running.asking.exchange import storable
from fairspace.submissions.running.logs.files import open_log
from fairspace.submissions.running.logs.importing import merged, read_logs
from fairspace.submissions.running.rerunning.agreement import Verdict
from fairspace.submissions.running.rerunning.outcome import Outcome, proof_of
from fairspace.submissions.running.settings import Tell

_ATTACHMENT = "attachment://"
_Key = tuple[str, str, int]


def replay(
    submission: Submission,
    files: Sequence[Path],
    *,
    without: Sequence[str] = (),
    tell: Tell = lambda what, done, total: None,
) -> Outcome:
    """Hold every answer of a submission against the logs of its run, and each against an answer of the provider.

    Args:
        submission: checked.
        files: the logs, `.eval` or `.json`.
        without: tasks that need not be in them.
        tell: called with what is being done, samples that were read, and 0.

    Errors: RunError LOG_INVALID, LOG_CONFLICT.
    """
    logs = read_logs(files, tell)
    answers = merged(logs)
    vouched, ids = _vouched(files)
    reasons: list[str] = []
    part: Counter[str] = Counter()
    other, unknown, unvouched = 0, 0, 0
    table = submission.tables.get("responses")
    names = ("task", "id", "sample", "response")
    rows = zip(*(table[name].to_pylist() for name in names), strict=True) if table is not None else ()
    for task, item, sample, response in rows:
        if task in without:
            continue
        logged = answers.get((task, item, sample))
        part[task] += 1
        unknown += logged is None
        other += logged is not None and logged.response != response
        unvouched += logged is not None and response is not None and (task, item, sample) not in vouched
    others = (table for name, table in submission.tables.items() if name != "judgements")
    handed_in = {task for each in others for task in each["task"].unique().to_pylist()}
    uncovered = tuple(sorted(handed_in - set(part) - set(without)))
    proof = proof_of(submission)
    if other or unknown:
        reasons.append(f"{other:,} answers are others than in the log, and {unknown:,} are not in it")
    if again := sum(count - 1 for count in ids.values()):
        reasons.append(f"{again:,} ids of the provider stand more than once in the log")
    if unvouched:
        reasons.append(f"{unvouched:,} answers have no answer of the provider with an id behind them")
    if uncovered:
        reasons.append(f"not in the log: {', '.join(uncovered)}; leave them out by name")
    if failed := [task for task, held in proof.items() if not held.holds]:
        reasons.append(f"the consistency proof does not hold for {', '.join(failed)}")
    verdict: Verdict = "differs" if other or unknown or again else "undecided" if reasons else "agrees"
    total = hashlib.sha256(b"".join(sorted(hashlib.sha256(file.read_bytes()).digest() for file in files)))
    return Outcome(
        "log",
        verdict,
        tuple(reasons),
        submission.digest,
        None,
        dict(part),
        "",
        logs[0].stage.model,
        dict(submission.meta.generation),
        total.hexdigest(),
        (*uncovered, *without),
        proof,
    )


def _vouched(files: Sequence[Path]) -> tuple[set[_Key], Counter[str]]:
    """The answers that are what the provider gave under an id, and how often each id stands in the logs."""
    vouched: set[_Key] = set()
    ids: Counter[str] = Counter()
    for file in files:
        with open_log(file) as log:
            for sample in log.samples:
                given = Counter(_given(sample, ids))
                metadata = sample.get("metadata")
                rows = metadata.get(ANSWERS) if isinstance(metadata, Mapping) else None
                for row in rows if isinstance(rows, list) else ():
                    text = row.get("response") if isinstance(row, Mapping) else None
                    if isinstance(text, str) and given[text]:
                        given[text] -= 1
                        vouched.add((row.get("task"), row.get("id"), row.get("sample")))
    return vouched, ids


def _given(sample: Mapping[str, Any], ids: Counter[str]) -> Iterator[str]:
    """The texts that the provider gave under an id, for one sample; the ids are counted."""
    attachments = sample.get("attachments")
    kept = attachments if isinstance(attachments, Mapping) else {}
    events = sample.get("events")
    for event in events if isinstance(events, list) else ():
        output = event.get("output") if isinstance(event, Mapping) and event.get("event") == "model" else None
        if not isinstance(output, Mapping) or not isinstance(output.get("response_id"), str):
            continue
        ids[output["response_id"]] += 1
        text = output.get("completion")
        if isinstance(text, str):
            yield storable(str(kept.get(text.removeprefix(_ATTACHMENT), text)))
