"""`Row`: one line of a board; and the classes of rows, each with ranks and tiers of its own."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from fairspace.submissions.benchmarks.published import Footnote
from fairspace.submissions.results.result import Result
from fairspace.submissions.values import Value

RowClass = Literal["verified", "own", "printed", "handed in", "baseline"]


@dataclass(frozen=True)
class ClassAbout:
    """What pages and the command say of a class.

    Args:
        title: of its part of a board.
        means: one sentence: who made the numbers, and who checked them.
        among: the rows that a rank is counted among, as in "rank 2 of 7 printed".
    """

    title: str
    means: str
    among: str


CLASSES: Mapping[RowClass, ClassAbout] = {
    "verified": ClassAbout(
        "Verified", "The maintainers ran the model themselves, or ran it again and got the same result.", "verified"
    ),
    "own": ClassAbout(
        "Run by us",
        "Scored by whoever shows this board, from their own runs or published answers; not run again.",
        "run by us",
    ),
    "printed": ClassAbout(
        "From the papers",
        "Printed in a paper, or computed here from its tables (marked so); there are no answers to score again.",
        "from the paper",
    ),
    "handed in": ClassAbout(
        "Submitted",
        "Scored here from answers that somebody handed in. No rank until a rerun agrees or a maintainer releases it.",
        "released",
    ),
    "baseline": ClassAbout(
        "Baselines", "Trivial models, and copies and mixtures of them; they take no rank.", "baselines"
    ),
}
"""Class -> what it means, in the order in which a board shows them: no row stands above one of an earlier class."""
LEADING: Collection[RowClass] = ("verified", "printed")
"""Classes that the first screen shows."""
UNRANKED = "submitted, unranked until rerun or released"
"""Why a row that was handed in has no rank before somebody answers for it."""
NONE_VERIFIED = "No row of this board is verified yet. Ranks compare rows of one kind only."
ORDER: Mapping[RowClass, int] = {name: place for place, name in enumerate(CLASSES)}


def none_verified(classes: Collection[RowClass]) -> str:
    """The sentence that a board without a verified row begins with; '' for a board that has one."""
    return "" if "verified" in classes else NONE_VERIFIED


Provenance = Literal["published", "scored here", "baseline"]
Visibility = Literal["published", "self-reported labels or judge", "recomputed here", "rerun by maintainers"]
"""Evidence for a row's figures: a printed table; answers with labels or judgements by the submitter; answers that were
parsed and scored here; a run that the maintainers repeated."""


@dataclass(frozen=True)
class Facts:
    """What a model is, as its submitter or the paper says.

    Args:
        licence: SPDX identifier where there is one, '' if not told. Untrusted text.
        architecture: one of `fairspace.submissions.format.text.ARCHITECTURES`; '' if not told.
        parameters: in billions; None if not told.
        open_weights: None if not told.
        tasks: the tasks that have a value, in the benchmark's order.
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
        entry: unique on the board, made by us: `p-` and a number, or 16 hex digits.
        model: its name, untrusted text.
        organisation: who made it, untrusted text.
        provenance: `published`, `scored here` or `baseline`.
        source: paper and table, or what produced the result.
        scores: name -> value with state, bounds and coverage.
        labels: other outcomes (profile codes).
        cohort: rows are ranked among rows of the same cohort (GENRES: the evaluator; FACT-OR-FAIR: the kind of model).
        protocol: how its values were measured, one of `Protocols.texts`; '' where the benchmark has none.
        group: title of a group of protocols; rows are ranked among rows of the same cohort, group and class.
        ranked: the number that ranks go by, None if unranked.
        rank: 1 is best; equal numbers share a rank; None if unranked or a baseline.
        unranked: every reason why there is no rank.
        remarks: what marks a run of a part of the benchmark.
        footnotes: remarks on contradicting printed numbers.
        values: raw or further printed values by name.
        result: the result behind the row, None for published rows.
        verified: whether the maintainers ran the model of a row that was scored here.
        own: who ran the model, where whoever shows the board scored the answers; '' for a row that was handed in.
        released: whether a maintainer let a row that was handed in have a rank.
        copy_of: the bundled baselines that its answers are of, as in "copy of random"; '' for a model's own.
        facts: what the model is.
        submitter: the account that handed it in; '' for printed rows, baselines, and where nobody signs in.
        owner: the account or organisation that owns the model as a Hub repository, if the submitter belongs to it.
        attempt: its number among the attempts at its model, from 1; 0 for a row that nobody handed in.
        account_attempt: its number among the attempts of its account on this benchmark.
        kept_out: reasons for no rank that do not come from its scores, such as that another row has the same answers;
            `unranked` has them too.
        tier: 1 holds the best row and what cannot be told apart from it; None for a row without draws or rank.
        rank_range: the best and the worst rank that the rows' errors allow, None without a tier or beyond 1 000 rows.
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
        """The class of the row by what stands behind its numbers."""
        if self.provenance == "published":
            return "printed"
        if self.provenance == "baseline" or self.copy_of:
            return "baseline"
        return "verified" if self.verified else "own" if self.own else "handed in"

    @property
    def part(self) -> float:
        """Place of its part of a board: that of its class, but own rows without a rank stand below printed ones."""
        below = self.row_class == "own" and self.ranked is None
        return ORDER["printed"] + 0.5 if below else ORDER[self.row_class]

    @property
    def takes_rank(self) -> bool:
        """Whether somebody answers for the row: what is handed in ranks only once it is verified or released."""
        return self.row_class in ("verified", "own", "printed") or (self.row_class == "handed in" and self.released)

    @property
    def visibility(self) -> Visibility:
        """The evidence for the row's figures; a baseline's answers were scored here."""
        if self.provenance == "published":
            return "published"
        if self.verified:
            return "rerun by maintainers"
        signature = {} if self.result is None else self.result.signature
        own_labels = signature.get("judge") or signature.get("labels")
        return "self-reported labels or judge" if own_labels else "recomputed here"

    @property
    def claim(self) -> str:
        """Whose model it is: its proved owner, or who claims it; '' where nobody need claim it."""
        if self.owner:
            return f"handed in for {self.owner}, its owner"
        if self.own or self.verified or self.provenance != "scored here":
            return "" if self.own == self.provenance else self.own  # of one's own file nothing needs to be said
        account = self.submitter or "an unknown account"
        return f"handed in by {account}, released by a maintainer" if self.released else f"claimed by {account}"

    @property
    def ranked_with(self) -> tuple[RowClass, str, str]:
        """Class, cohort and group: rows of which all three are equal have ranks and tiers in common."""
        return self.row_class, self.cohort, self.group


def row_with(row: Row, **fields: Any) -> Row:
    """As `dataclasses.replace`, in a twentieth of its time: boards change thousands of rows.

    Args:
        row: to be copied.
        fields: of the copy that are others.
    """
    copy, about = object.__new__(Row), vars(row).copy()
    about.update(fields)
    object.__setattr__(copy, "__dict__", about)
    return copy
