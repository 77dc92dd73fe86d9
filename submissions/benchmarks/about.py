"""What pages say of a benchmark in words: each benchmark's `about.py` fills one `About`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Listing:
    """A table in words.

    Args:
        heading: what stands above it.
        headers: of its columns.
        rows: cells as plain text.
    """

    heading: str
    headers: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Described:
    """A raw value in words.

    Args:
        name: in results.
        title: what it is.
        printed: names that the paper's tables have for it.
    """

    name: str
    title: str
    printed: tuple[str, ...] = ()


@dataclass(frozen=True)
class About:
    """A benchmark in words.

    Args:
        scored: a standard -> what it scores.
        cohort: a standard whose numbers other models set -> their figures; None where there are none to list.
        references: the outside figures that values are compared with, as Markdown of ours.
        values: heading -> raw values, in the order of a comparison; those that stand under no heading follow.
        further: heading of those; '' puts each below the first part of its name.
        archetypes: profile code -> its name.
        describe: a score or a raw value -> what it is, in a few words; '' for one that has none.
        metric: a score or a raw value -> the folder of `metrics/` that computes it; '' for one that has none.
    """

    scored: Callable[[Any], Listing]
    cohort: Callable[[Any], Listing | None] = lambda standard: None
    references: Sequence[str] = ()
    values: Mapping[str, Sequence[Described]] = field(default_factory=dict)
    further: str = ""
    archetypes: Mapping[str, str] = field(default_factory=dict)
    describe: Callable[[str], str] = lambda name: ""
    metric: Callable[[str], str] = lambda name: ""
