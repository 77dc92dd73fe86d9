"""The parts that the standards of all benchmarks have in common, whatever their formulas.

Each benchmark's standard is a frozen dataclass of its own with its parameters, `name`, `draft` (why it is not released,
or '') and `minimum_coverage` (the share of valid samples below which a ranked value is undefined).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Documented:
    """Documentation of a standard, beside its parameters; IRIS' standards, which `metrics` declares, have the same.

    Args:
        date: when it was released, or proposed.
        why: why it stands beside those before it.
        cohort: the models that its numbers were set by; empty where scores need no other models.
        cohort_source: where their figures are.
        references: file in `builders/reference/` that measuring reads -> its sha256.
        dataset_revisions: dataset -> the revisions that it was released for. It ranks answers to these alone.
        together: title of a group of rows -> the protocols that it ranks together.
    """

    date: str = ""
    why: str = ""
    cohort: tuple[str, ...] = ()
    cohort_source: str = ""
    references: Mapping[str, str] = field(default_factory=dict)
    dataset_revisions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    together: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def protocol_group(standard: Any, protocol: str) -> str:
    """The rows that a protocol's rows are ranked with: the title of their group, else those of the same protocol."""
    return next((title for title, names in standard.together.items() if protocol in names), protocol)


def scores_revision(standard: Any, revision: str) -> bool:
    """Whether a standard was released for a dataset revision."""
    return all(revision in revisions for revisions in standard.dataset_revisions.values())
