"""Standards as documents frozen by their hash; differences of two standards, and their effect on ranks."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from fairspace.builders import REFERENCE
from fairspace.submissions.benchmarks.benchmark import Benchmark
from fairspace.submissions.benchmarks.registry import NAMES, benchmark
from fairspace.submissions.errors import UsageError, plain
from fairspace.submissions.results.row import Row
from fairspace.submissions.results.scoring import find_standard

ABSENT = "\N{EN DASH}"
"""Sign for a field that a standard lacks."""
_KEYS = {"metrics": "name", "calibration": "entry"}
"""Tables of a standard, and the column that names their rows."""


def named(text: str) -> tuple[Benchmark, Any]:
    """The standard named `BENCHMARK/NAME`. UsageError: no such benchmark or standard."""
    name, _, standard = text.partition("/")
    if not standard:
        names = [f"{bench}/{text}" for bench in NAMES if text in benchmark(bench).standards]
        raise UsageError(f"Name a standard as BENCHMARK/NAME, for example {(names or ['iris/inaugural'])[0]}.")
    bench = benchmark(name)
    return bench, find_standard(bench, standard)


def document(name: str, standard: Any) -> dict[str, Any]:
    """All that a standard of a benchmark fixes, as JSON data; tables are keyed by their rows' names."""
    data = {key: _plain(value) for key, value in asdict(standard).items()}
    for table, key in _KEYS.items():
        if table in data:
            data[table] = {row[key]: {part: cell for part, cell in row.items() if part != key} for row in data[table]}
    return {"benchmark": name, "name": data.pop("name"), "draft": data.pop("draft"), **data}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(part) for key, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, list | tuple) else value


def digest(document: Mapping[str, Any]) -> str:
    """The sha256 of a document without its empty fields, so that a later field changes no earlier hash."""
    filled = {name: value for name, value in document.items() if value not in ("", [], {})}
    text = json.dumps(filled, sort_keys=True, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def changed_references(standard: Any) -> list[str]:
    """Reference files that are gone, or differ from those of the standard's release."""
    return [name for name, sha256 in standard.references.items() if reference_sha256(name) != sha256]


def reference_sha256(name: str) -> str:
    """The sha256 of a file in `builders/reference/`; '' if there is none."""
    path = REFERENCE / name
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def listed() -> list[dict[str, Any]]:
    """All standards of all benchmarks, each benchmark's in the order of their release.

    `draft`: why it is not released, or ''; `date` of its release or proposal; `cohort`: number of models behind its
    numbers; `tau` of its profile code, None without one; `sha256` of its document.
    """
    return [
        {
            "benchmark": name,
            "name": standard.name,
            "draft": standard.draft,
            "date": standard.date,
            "cohort": len(standard.cohort),
            "tau": getattr(standard, "tau", None),
            "sha256": digest(document(name, standard)),
        }
        for name in NAMES
        for standard in benchmark(name).standards.values()
    ]


def fields(document: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The fields of a document, such as `scale.IFS_Gen`; a list is one field, and so is a row of a table."""
    for name, value in document.items():
        if isinstance(value, Mapping) and prefix.rstrip(".") not in _KEYS:
            yield from fields(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def differences(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    """Every field in which two documents differ, with its value in each or `ABSENT`, in the order of the first."""
    before, other = dict(fields(first)), dict(fields(second))
    both = [(name, before.get(name, ABSENT), other.get(name, ABSENT)) for name in dict.fromkeys([*before, *other])]
    return [difference for difference in both if difference[1] != difference[2]]


@dataclass(frozen=True)
class Move:
    """A model's rank under two standards, None for no rank, and the reason for none, or ''."""

    row: Row
    rank: int | None
    before: int | None
    why: str = ""

    @property
    def change(self) -> str:
        """Places won or lost, in words."""
        if self.rank is None or self.before is None:
            lacking = "no rank here" if self.before is not None else "a rank here alone"
            return f"{lacking}: {self.why}" if self.why else lacking
        places = self.before - self.rank
        if not places:
            return "same"
        return f"{'up' if places > 0 else 'down'} {abs(places)}"


def moves(rows: Sequence[Row], before: Sequence[Row]) -> list[Move]:
    """Every model with a rank under one of two standards, in the order of the first."""
    old = {row.entry: row for row in before}
    moves = []
    for row in rows:
        other = old.get(row.entry)
        rank = None if other is None else other.rank
        without = row if row.rank is None else other if rank is None else None
        if row.rank is not None or rank is not None:
            moves.append(Move(row, row.rank, rank, "" if without is None else "; ".join(without.unranked)))
    return moves


def field_text(value: Any) -> str:
    """A value of a standard in words, for terminals and pages."""
    if isinstance(value, dict):
        return plain(", ".join(f"{key} {_part(key, part)}" for key, part in value.items() if part != ""))
    if isinstance(value, list):
        return plain(", ".join(map(field_text, value))) or "none"
    if isinstance(value, float):
        return f"{value:.10g}".replace("-", "\N{MINUS SIGN}")
    return "yes" if value is True else "no" if value is False else plain(str(value)) or "–"


def _part(key: str, value: Any) -> str:
    """A part of a row; a metric without a bound is scaled by its logarithm."""
    return "none: log(1 + value) is taken" if (key, value) == ("bound", None) else field_text(value)
