"""A benchmark in words, for pages: each benchmark's `about.py` fills one `About`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Listing:
    """A table in words: a heading, column headers, and cells as plain text."""

    heading: str
    headers: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Described:
    """A raw value in words: its name in results, its title, and its names in the paper's tables."""

    name: str
    title: str
    printed: tuple[str, ...] = ()


@dataclass(frozen=True)
class About:
    """A benchmark in words.

    Args:
        scored: a standard -> its scored values.
        cohort: a standard with numbers from other models -> their figures; None where there are none to list.
        references: outside figures that values are compared with, as Markdown.
        values: heading -> raw values, in the order of a comparison, those without a heading last.
        further: heading of the last ones; '' puts each below the first part of its name.
        archetypes: profile code -> its name.
        describe: a score or a raw value -> its meaning in a few words; '' for none.
        metric: a score or a raw value -> its folder of `metrics/`; '' for none.
    """

    scored: Callable[[Any], Listing]
    cohort: Callable[[Any], Listing | None] = lambda standard: None
    references: Sequence[str] = ()
    values: Mapping[str, Sequence[Described]] = field(default_factory=dict)
    further: str = ""
    archetypes: Mapping[str, str] = field(default_factory=dict)
    describe: Callable[[str], str] = lambda name: ""
    metric: Callable[[str], str] = lambda name: ""
