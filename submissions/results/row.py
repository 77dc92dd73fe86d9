"""`Row`: one line of a board."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from fairspace.submissions.benchmarks.published import Footnote
from fairspace.submissions.results.facts import Facts
from fairspace.submissions.results.result import Result
from fairspace.submissions.values import Value

Provenance = Literal["published", "scored here", "baseline"]
Visibility = Literal["published", "self-reported labels or judge", "recomputed here", "rerun by maintainers"]
"""Evidence for a row's figures: a printed table; answers with labels or judgements by the submitter; answers that were
parsed and scored here; a run that the maintainers repeated."""


@dataclass(frozen=True)
class Row:
    """One line of a board.

    Args:
        entry: unique on the board, made by us: `p-` and a number, or 16 hex digits.
        model: its name, untrusted text.
        organisation: who made it, untrusted text.
        provenance: `published`, `scored here` or `baseline`.
        source: paper and table, or what produced the result.
        scores: name -> value with state, bounds and coverage.
        labels: other outcomes (profile codes).
        cohort: rows are ranked among rows of the same cohort (GENRES: the evaluator; FACT-OR-FAIR: the kind of model).
        protocol: how its values were measured, one of `Benchmark.protocols`; '' where the benchmark has none.
        group: title of a group of protocols; rows are ranked among rows of the same cohort and group.
        ranked: the number that ranks go by, None if unranked.
        rank: 1 is best; equal numbers share a rank; None if unranked or a baseline.
        unranked: every reason why there is no rank.
        remarks: what marks a run of a part of the benchmark.
        footnotes: remarks on contradicting printed numbers.
        values: raw or further printed values by name.
        result: the result behind the row, None for published rows.
        visibility: what stands behind the figures.
        facts: what the model is.
        tier: 1 holds the best row and what cannot be told apart from it; None for a row without draws or rank.
        rank_range: the best and the worst rank that the row's error allows, None without a tier or on a large board.
        chances: as in `Scored`; made with the errors of the scores, by
        `fairspace.submissions.results.row_errors.with_errors`.
    """

    entry: str
    model: str
    organisation: str
    provenance: Provenance
    source: str
    scores: Mapping[str, Value]
    labels: Mapping[str, str] = field(default_factory=dict)
    cohort: str = ""
    protocol: str = ""
    group: str = ""
    ranked: float | None = None
    rank: int | None = None
    unranked: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    footnotes: tuple[Footnote, ...] = ()
    values: Mapping[str, Value] = field(default_factory=dict)
    result: Result | None = None
    visibility: Visibility = "published"
    facts: Facts = field(default_factory=Facts)
    tier: int | None = None
    rank_range: tuple[int, int] | None = None
    chances: Mapping[str, float] = field(default_factory=dict)

    @property
    def ranked_with(self) -> tuple[str, str]:
        """Cohort and group: rows of which both are equal have ranks and tiers in common."""
        return self.cohort, self.group
