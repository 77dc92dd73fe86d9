"""Answers with what a careful person reads in them, and frames of answers: lines of `tests/data/phrases`."""

import json
from functools import lru_cache
from typing import Any

from tests.metrics.tables import ROOT

FOLDER = ROOT / "tests" / "data" / "phrases"


@lru_cache
def phrases(file: str, *readers: str) -> list[dict[str, Any]]:
    """Lines of a file for one of the readers; all lines where none is named."""
    lines = (FOLDER / f"{file}.jsonl").read_text(encoding="utf-8").splitlines()
    return [line for line in map(json.loads, lines) if not readers or line["reader"] in readers]


def answers(file: str, reader: str) -> list[str]:
    return [line["answer"] for line in phrases(file, reader)]
