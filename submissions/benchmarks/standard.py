"""What the standards of all benchmarks have in common, whatever their formulas."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol


class Standard(Protocol):
    """What every benchmark's standard has; each benchmark's own dataclass adds its parameters."""

    @property
    def name(self) -> str:
        """For example `inaugural`."""

    @property
    def draft(self) -> str:
        """Why this standard is not released, or ''."""

    @property
    def minimum_coverage(self) -> float:
        """Below this share of valid samples a ranked value is undefined."""

    @property
    def date(self) -> str:
        """When it was released, or proposed."""

    @property
    def why(self) -> str:
        """Why it stands beside those before it."""

    @property
    def cohort(self) -> tuple[str, ...]:
        """The models that its numbers were set by; empty where scores need no other models."""

    @property
    def cohort_source(self) -> str:
        """Where their figures are."""

    @property
    def references(self) -> Mapping[str, str]:
        """File in `builders/reference/` that measuring reads -> its sha256."""

    @property
    def dataset_revisions(self) -> Mapping[str, tuple[str, ...]]:
        """Dataset -> the revisions that it was released for. It ranks answers to the items of these alone."""

    @property
    def together(self) -> Mapping[str, tuple[str, ...]]:
        """Title of a group of rows -> the protocols that it ranks together."""


@dataclass(frozen=True, kw_only=True)
class Documented:
    """What every standard says of itself beside its parameters; the fields are those of `Standard`."""

    date: str = ""
    why: str = ""
    cohort: tuple[str, ...] = ()
    cohort_source: str = ""
    references: Mapping[str, str] = field(default_factory=dict)
    dataset_revisions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    together: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def protocol_group(standard: Standard, protocol: str) -> str:
    """The rows that a protocol's rows are ranked with: the title of their group, else those of the same protocol."""
    return next((title for title, names in standard.together.items() if protocol in names), protocol)


def scores_revision(standard: Standard, revision: str) -> bool:
    """Whether a standard was released for a dataset revision."""
    return all(revision in revisions for revisions in standard.dataset_revisions.values())
