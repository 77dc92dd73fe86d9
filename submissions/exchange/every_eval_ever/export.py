"""Write a result, and its answers, into a folder that is laid out as the datastore of Every Eval Ever is."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fairspace.submissions.exchange.errors import ExchangeError
from fairspace.submissions.exchange.every_eval_ever.aggregate import (
    Relationship,
    aggregate,
    model_id,
)
from fairspace.submissions.exchange.every_eval_ever.instances import MEANING, instances
from fairspace.submissions.exchange.every_eval_ever.schema import check_record
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.results.board import entry
from fairspace.submissions.results.result import Result

COLLECTION = "fairspace"


def export(
    result: Result,
    folder: Path,
    *,
    answers: Submission | None = None,
    relationship: Relationship = "other",
    retrieved: int,
    namespace: str = "fairspace",
) -> list[Path]:
    """Write `data/fairspace/<developer>/<model>/<uuid>.json`, and `<uuid>_samples.jsonl` with answers; the files.

    A second export of the same result replaces the first.

    Args:
        result: what is exported.
        folder: to write into.
        answers: the checked submission that it was scored from.
        relationship: of whoever ran the model to whoever made it.
        retrieved: the time of the export, in seconds since 1970.
        namespace: of the datasets on the Hub.

    Errors: ExchangeError EEE_OTHER_ANSWERS, EEE_INVALID.
    """
    if answers is not None and answers.digest != result.signature.get("submission"):
        expected, mend = "the submission that the result was scored from", "name that one, or score this one again"
        raise ExchangeError("EEE_OTHER_ANSWERS", "--answers", "another submission", expected, mend)
    record, model = aggregate(result, relationship, retrieved, namespace), model_id(result)
    check_record(record, "aggregate", f"the record of {model}")
    name = uuid.UUID(bytes=hashlib.sha256(f"{entry(result)}\0{result.standard}".encode()).digest()[:16], version=4)
    place = Path("data", COLLECTION, *model.split("/"))
    (folder / place).mkdir(parents=True, exist_ok=True)
    written = [folder / place / f"{name}.json"]
    if answers is not None:
        samples = place / f"{name}_samples.jsonl"
        written.append(folder / samples)
        sha256, count = _write_answers(written[-1], instances(answers, record["evaluation_id"], model))
        record["detailed_evaluation_results"] = {
            "format": "jsonl",
            "file_path": samples.as_posix(),
            "hash_algorithm": "sha256",
            "checksum": sha256,
            "total_rows": count,
            "additional_details": {"evaluation": MEANING},
        }
    text = json.dumps(record, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    written[0].write_text(text, encoding="utf-8")
    return written


def _write_answers(file: Path, records: Iterator[dict[str, Any]]) -> tuple[str, int]:
    """Write a line for each answer; the file's sha256 and how many there are. ExchangeError EEE_INVALID."""
    digest, count = hashlib.sha256(), 0
    with file.open("wb") as stream:
        for record in records:
            if not count:
                check_record(record, "instance", "the first answer")
            line = f"{json.dumps(record, ensure_ascii=False, allow_nan=False)}\n".encode()
            digest.update(line)
            stream.write(line)
            count += 1
    return digest.hexdigest(), count
