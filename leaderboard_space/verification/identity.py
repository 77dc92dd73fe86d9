"""Whose answers a submission's are: what a job's child leaves for its worker, and what the log keeps of it.

The child holds no secret, so it leaves the codes of all answers, and the worker draws the sketch with the Space's key.
The worker compares them with the bundled baselines, too: it makes their answers once, and each child would anew.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from fairspace.submissions.answers.codes import CODES, answer_codes
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.results.answer_sketch import SketchKey, draw_sketch
from fairspace.submissions.results.known_answers import like_baseline

ANSWERS = "answers.bin"
_MOST_BYTES = 64 << 20


def write_identity(submission: Submission, folder: Path) -> None:
    """Leave the codes of a submission's answers in a folder."""
    (folder / ANSWERS).write_bytes(answer_codes(submission).tobytes())


def read_identity(folder: Path, name: str, revision: str, secret: str) -> dict[str, Any]:
    """The identity of answers as the log keeps it; {} where the child left none.

    Args:
        folder: of the child.
        name: of the benchmark.
        revision: of the dataset that was answered.
        secret: of the Space, from which the key follows.

    ValueError for a file that no `write_identity` wrote.
    """
    file = folder / ANSWERS
    if not file.is_file() or file.stat().st_size > _MOST_BYTES:
        return {}
    codes, key = np.frombuffer(file.read_bytes(), CODES), SketchKey.of(secret)
    identity = {"key": key.name, "sketch": draw_sketch(codes, list(benchmark(name).telling_tasks), key)}
    like = like_baseline(codes, name, revision)
    return identity if like is None else identity | {"baseline": asdict(like)}
