"""Answers with what a careful person reads in them, one a line, in `tests/data/phrases/`."""

from __future__ import annotations

import json
from typing import Any

from tests.metrics.tables import ROOT

FOLDER = ROOT / "tests" / "data" / "phrases"


def phrases(benchmark: str, *readers: str) -> list[dict[str, Any]]:
    """The lines of a benchmark that one of the readers reads; all lines where none is named."""
    lines = (FOLDER / f"{benchmark}.jsonl").read_text(encoding="utf-8").splitlines()
    return [line for line in map(json.loads, lines) if not readers or line["reader"] in readers]


def answers(benchmark: str, reader: str) -> list[str]:
    """The answers alone."""
    return [line["answer"] for line in phrases(benchmark, reader)]
