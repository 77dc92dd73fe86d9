"""`Row`: one line of a board; the classes of rows, each with ranks and tiers of its own; and what rank a row has."""

import math
from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from fairspace.submissions.benchmarks.benchmark import Benchmark
from fairspace.submissions.benchmarks.published import Footnote
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.benchmarks.scoring_table import AS_RELEASED
from fairspace.submissions.results.known_answers import COPY
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import find_standard
from fairspace.submissions.values import Value, number_of

RowClass = Literal["verified", "own", "printed", "submitted", "baseline"]


@dataclass(frozen=True)
class ClassAbout:
    """Texts about a class: title, provenance in a sentence, and rows ranked together, as in "rank 2 of 7 printed"."""

    title: str
    means: str
    among: str


CLASSES: Mapping[RowClass, ClassAbout] = {
    "verified": ClassAbout(
        "Verified", "The maintainers ran the model themselves, or ran it again and got the same result.", "verified"
    ),
    "own": ClassAbout(
        "Run by us",
        "Run by us once, or scored by us from answers that a paper's authors published.",
        "run by us",
    ),
    "printed": ClassAbout(
        "From the papers",
        "Printed in a paper, or computed here from its tables (marked so); there are no answers to score again.",
        "from the paper",
    ),
    "submitted": ClassAbout(
        "Submitted",
        "Scored here from answers that somebody submitted. No rank until a rerun agrees or a maintainer releases it.",
        "released",
    ),
    "baseline": ClassAbout("Baselines", "Trivial models, and copies of them; they take no rank.", "baselines"),
}
"""Class -> meaning, in display order: no ranked row stands above one of an earlier class."""
UNRANKED = "submitted, unranked until rerun or released"
"""Reason of a submitted row without a rank."""
TO_CHECK = "A real model can look so: ask for a rerun"
"""End of the reason of a row whose answers look like those of baselines."""
_AGAIN = "run again by us: the answers agree"
NONE_VERIFIED = "No row of this board is verified yet. Ranks compare rows of one kind only."
ORDER: Mapping[RowClass, int] = {name: place for place, name in enumerate(CLASSES)}


def none_verified(classes: Collection[RowClass]) -> str:
    """The first sentence of a board without a verified row; '' for a board that has one."""
    return "" if "verified" in classes else NONE_VERIFIED


Provenance = Literal["published", "scored here", "baseline"]
Visibility = Literal["from a paper", "self-reported labels or judge", "scored here", "rerun by maintainers"]
"""Evidence for figures: a printed table; the submitter's labels or judgements; our scoring of answers; our own run."""


@dataclass(frozen=True)
class Facts:
    """Facts of a model from its submitter or the paper; '' or None if unknown.

    `licence`: SPDX identifier where there is one, untrusted text; `architecture`: one of
    `fairspace.submissions.format.manifest.ARCHITECTURES`; `parameters`: billions; `tasks`: tasks with a value, in the
    benchmark's order.
    """

    licence: str = ""
    architecture: str = ""
    parameters: float | None = None
    open_weights: bool | None = None
    tasks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Row:
    """One line of a board.

    Args:
        entry: Our identifier on the board: `p-` and a number, or 16 hex digits.
        source: Paper and table, or producer of the result.
        scores: Name -> value with state, bounds and coverage.
        labels: Other outcomes (profile codes).
        cohort: Rows ranked together (GENRES: the evaluator; FACT-OR-FAIR: the kind of model).
        protocol: Measurement protocol, one of `Protocols.texts`; '' where the benchmark has none.
        group: Title of a group of protocols; ranks are within cohort, group and class.
        ranked: Number that ranks go by, None if unranked.
        rank: 1 is best; equal numbers share a rank; None if unranked or a baseline.
        unranked: Every reason why there is no rank.
        remarks: Marks of a partial run.
        footnotes: Remarks on contradicting printed numbers.
        result: Result behind the row, None for published rows.
        verified: Whether the maintainers ran the model of a row that was scored here.
        own: Runner of the model, where the board's owner scored the answers; '' for a submitted row.
        released: Whether a maintainer gave a submitted row a rank.
        copy_of: Baselines that its answers are (`COPY`) or look like, in words; '' for a model's own.
        submitter: Account of the submission; '' for printed rows, baselines, and without sign-in.
        owner: Account or organisation that owns the model on the Hub, if the submitter belongs to it.
        kept_out: Reasons for no rank apart from its scores, such as equal answers; also in `unranked`.
        tier: 1 holds the best row and those not significantly worse; None without draws or rank.
        rank_range: Best and worst rank within the errors, None without a tier or beyond 1 000 rows.
        chances: Probabilities as in `Scored`, from `fairspace.submissions.results.row_errors.with_errors`.
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
    verified: bool = False
    own: str = ""
    released: bool = False
    copy_of: str = ""
    submitter: str = ""
    owner: str = ""
    facts: Facts = field(default_factory=Facts)
    attempt: int = 0
    account_attempt: int = 0
    kept_out: tuple[str, ...] = ()
    tier: int | None = None
    rank_range: tuple[int, int] | None = None
    chances: Mapping[str, float] = field(default_factory=dict)

    @property
    def row_class(self) -> RowClass:
        """Class by the evidence for its numbers."""
        if self.provenance == "published":
            return "printed"
        if self.provenance == "baseline" or self.copy_of.startswith(COPY):
            return "baseline"
        return "verified" if self.verified else "own" if self.own else "submitted"

    @property
    def part(self) -> float:
        """Place of its part of a board: that of its class; verified and own rows without a rank stand below printed."""
        below = self.row_class in ("verified", "own") and self.ranked is None
        return ORDER["printed"] + 0.5 + ORDER[self.row_class] / 10 if below else ORDER[self.row_class]

    @property
    def takes_rank(self) -> bool:
        """Whether the row may have a rank: submitted rows only once they are verified or released."""
        return self.row_class in ("verified", "own", "printed") or (self.row_class == "submitted" and self.released)

    @property
    def visibility(self) -> Visibility:
        """The evidence for the row's figures; a baseline's answers were scored here."""
        if self.provenance == "published":
            return "from a paper"
        if self.verified:
            return "rerun by maintainers"
        signature = {} if self.result is None else self.result.signature
        own_labels = signature.get("judge") or signature.get("labels")
        return "self-reported labels or judge" if own_labels else "scored here"

    @property
    def claim(self) -> str:
        """The runner of the model or submitter of its answers, and whether we ran it again; '' if nothing is known."""
        who, account = self.own if self.own != self.provenance else "", self.submitter or "an unknown account"
        if self.owner:
            who = f"submitted for {self.owner}, its owner"
        elif not self.own and self.provenance == "scored here":
            released = ", released by a maintainer" * (self.released and not self.verified)
            who = f"submitted by {account}{released}" if self.verified or released else f"claimed by {account}"
        return f"{who.removesuffix(' once')}, {_AGAIN}".removeprefix(", ") if self.verified else who

    @property
    def ranked_with(self) -> tuple[RowClass, str, str]:
        """Class, cohort and group: rows of equal ones share ranks and tiers."""
        return self.row_class, self.cohort, self.group


def row_with(row: Row, **fields: Any) -> Row:
    """A copy with other fields: a faster `dataclasses.replace`, since boards change thousands of rows."""
    copy, about = object.__new__(Row), vars(row).copy()
    about.update(fields)
    object.__setattr__(copy, "__dict__", about)
    return copy


_MARKS = (
    *("model", "organisation", "provenance", "cohort", "protocol", "group", "ranked", "rank", "unranked", "remarks"),
    *("verified", "own", "released", "copy_of", "submitter", "owner", "attempt", "account_attempt", "kept_out"),
    *("tier", "rank_range"),
)


def marks_of(row: Row) -> tuple[Any, ...]:
    """Everything of a row but its scores and what its result states, which never change."""
    about = vars(row)
    return tuple([about[name] for name in _MARKS])


def keep_out(row: Row, *reasons: str) -> Row:
    """The row without a rank, for reasons independent of its scores; unchanged without reasons."""
    if not reasons:
        return row
    unranked = tuple(dict.fromkeys((*reasons, *row.unranked)))
    return row_with(row, ranked=None, rank=None, unranked=unranked, kept_out=(*row.kept_out, *reasons))


def ranking_of(row: Row, bench: Benchmark, standard: str) -> str:
    """The score that ranks a row; '' for a printed row without one."""
    if row.result is not None and row.result.scored.ranking:
        return row.result.scored.ranking
    names = bench.scoring.table(bench.scoring.resolve(find_standard(bench, standard), row.labels), AS_RELEASED).ranking
    return next((name for name in names if name in row.scores), names[0] if names else "")


def ranked(rows: Iterable[Row], benchmark: str, standard: str = "") -> list[Row]:
    """Rows by class with their ranks, best first within each cohort and group, then the unranked ones by value.

    Equal numbers share a rank. Baselines take none, nor do submitted rows before they are verified or released.
    """
    bench = find_benchmark(benchmark)
    sign, standard = -1.0 if bench.higher_is_better else 1.0, standard or bench.default

    def value_of(row: Row) -> float | None:
        if row.ranked is not None:
            return row.ranked
        return number_of(row.scores, ranking_of(row, bench, standard))

    rows = list(rows)
    groups = sorted({row.group for row in rows}, reverse=True)  # the newest revision first, printed rows last

    def order(row: Row) -> tuple[float, bool, bool, str, int, float, str, str]:
        value = value_of(row)
        number = math.inf if value is None else sign * value
        name, place = row.model.casefold(), groups.index(row.group)
        return row.part, bool(row.copy_of), row.ranked is None, row.cohort, place, number, name, row.entry

    rows = sorted(rows, key=order)
    signed: dict[tuple[RowClass, str, str], list[float]] = {}
    for row in rows:
        if row.ranked is not None and row.takes_rank:
            signed.setdefault(row.ranked_with, []).append(sign * row.ranked)
    return [
        row_with(row, rank=bisect_left(signed[row.ranked_with], sign * row.ranked) + 1)
        if row.ranked is not None and row.takes_rank
        else row
        for row in rows
    ]
