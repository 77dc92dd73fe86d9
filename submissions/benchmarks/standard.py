"""Fields and rules that the standards of all benchmarks share.

Each benchmark's standard is a frozen dataclass with its parameters, `name`, `draft` (the reason why it is not released,
or '') and `minimum_coverage` (share of valid samples below which a ranked value is undefined).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Documented:
    """Documentation of a standard; IRIS' standards, which `metrics` declares, have the same fields.

    Args:
        date: release or proposal.
        why: difference from earlier standards.
        cohort: models that set its numbers; empty where scores need no other models.
        cohort_source: source of their figures.
        references: file in `builders/reference/` that measuring reads -> its sha256.
        dataset_revisions: dataset -> the revisions that it ranks.
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
    """Title of the group that a protocol is ranked in, else the protocol."""
    return next((title for title, names in standard.together.items() if protocol in names), protocol)


def scores_revision(standard: Any, revision: str) -> bool:
    """Whether a standard was released for a dataset revision."""
    return all(revision in revisions for revisions in standard.dataset_revisions.values())
