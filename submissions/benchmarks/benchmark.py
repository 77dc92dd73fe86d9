"""What a benchmark is to the rest of the code: its tasks, how its values are measured and how a standard scores them.

Each folder of `submissions/benchmarks/` declares one in its `declaration.py`; `registry.py` finds them. All other code
asks the declaration and never compares names, so that a further benchmark changes no module.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from fairspace.submissions.benchmarks.adjustment import AS_RELEASED, Adjustable, Adjustment
from fairspace.submissions.benchmarks.lazy import Lazy
from fairspace.submissions.benchmarks.scoring_table import ScoringTable
from fairspace.submissions.benchmarks.task import Task
from fairspace.submissions.uncertainty.design import Design, Floats
from fairspace.submissions.uncertainty.variant import Variant
from fairspace.submissions.values import Value

if TYPE_CHECKING:
    import pyarrow as pa

    from fairspace.submissions.answers.reading import Readings
    from fairspace.submissions.benchmarks.about import About
    from fairspace.submissions.format.schema import Submission

Values = Mapping[str, Value]
Counts = Mapping[str, Sequence[Sequence[int]]]
"""`Result.counts`."""


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


@dataclass(frozen=True)
class Scored:
    """What a standard makes of the measured values.

    Args:
        scores: name -> sector or total score; `value` from the valid samples, `low`/`high` its bounds.
        ranking: the name of the score that the board sorts by.
        ranked: the number that the board sorts by (the worst case of `ranking`), None if unranked.
        unranked: every reason why the model is not ranked; empty if it is.
        labels: other outcomes, for example the two profile codes.
        chances: probability of what a threshold decides: of each label, and of each score to reach its threshold.
    """

    scores: dict[str, Value]
    ranking: str
    ranked: float | None
    unranked: tuple[str, ...] = ()
    labels: dict[str, str] = field(default_factory=dict)
    chances: dict[str, float] = field(default_factory=dict)


class Score(Protocol):
    """Raw values under a standard, as it was released or as a reader adjusts it."""

    def __call__(self, values: Values, standard: Any, adjustment: Adjustment = AS_RELEASED) -> Scored:
        """The scores; needs no submission."""


Numbers = Mapping[str, float]
Draws = Mapping[str, Floats]
"""Name -> (b,) draws of a raw value or a score, nan where undefined."""


@dataclass(frozen=True)
class Benchmark:
    """A benchmark.

    Functions that few callers need are given as import paths (`Lazy`).

    Args:
        name: the same in every folder.
        title: for people.
        revisions: of its datasets, the newest first: its items are asked, and older ones stay scoreable. Items and ids
            of any other revision are refused.
        tasks: every task, in the paper's order.
        read: a checked submission -> its records: what measuring needs of its tables, read once. `measure`, `designs`,
            `variants` and `counts` take the records.
        measure: records -> raw values by name, in a fixed order.
        standards: released standards and drafts by name, in the order of their release.
        default_standard: the standard that is meant where none is named; the first if ''.
        score: raw values, standard -> scores; needs no submission.
        higher_is_better: direction of the ranked number.
        signature: a checked submission -> what else decided the values (parser, judge, embedding).
        headline: the scores that fit a terminal's width; all if empty.
        designs: records -> how the samples behind its values were drawn.
        variants: records, raw values -> what other instruments would have measured.
        scoring: a standard, an adjustment -> the table that its scores are made by.
        logarithmic: whether scores are positive and their errors are relative: intervals are made on the logarithm.
        counts: records -> `Result.counts`.
        drawn: the raw values whose draws a result keeps, those that scores are made of; all if empty.
        chances: score -> draws of its true value, the scores, standard and adjustment -> `Scored.chances`.
        resolve_standard: a standard, labels of a row -> the standard with what the row's values decide of it (GENRES:
            the cohort of the judge's family).
        label_limits: raw value whose labels can be corrected -> the smallest and the largest number that it can be.
        with_own_reference: raw values, `Result.counts`, an adjustment with the reader's own shares -> the raw values as
            they are measured against these.
        printed_values: numbers that a row of the paper prints, a table -> the raw values that they stand for.
        cohort_of: scores of a result -> whom the result is ranked with, as the board shows it; '' if with all.
        protocols: name of a protocol, of a printed or a scored row -> how its values were measured, in a sentence. Rows
            of one protocol are ranked together, those of several only where the standard says so (`together`).
        protocol_of: signature of a result, its scores -> its protocol; the dataset revision unless there is more to it.
        baseline: name of a trivial model, seed -> the tables that it hands in.
        power: what a run asks (`detectable.Chosen`) -> the smallest differences that it can show.
        about: what pages say of it in words.
        published: name of a standard -> the rows that the paper prints.
        steer: a checked submission -> task whose prompts follow from its annotated images -> its items; None where no
            task is like that.
        judge: a checked submission -> task of a judge -> its items; None where no judge reads answers.
        compare_reading: a line of labelled answers -> readings held against golds, as `measuring.Compared`.
        row_readings: a checked submission -> task, or `task/part` for a part of a judge's answer, -> the readings of
            the task's rows in `responses`, or of those in `judgements` by the judge that is scored, in their order.
        label_line: a task, one of its `items` -> what a line of labelled answers to it has beside `benchmark`, `ask`,
            `answer` and `gold`, and `choices`: the possible golds, or the ends of a number; None where no person could
            label an answer in a word.
        options: option of a run that not every benchmark has -> its values, the default first.
    """

    name: str
    title: str
    revisions: tuple[str, ...]
    tasks: tuple[Task, ...]
    measure: Callable[[Any], dict[str, Value]]
    standards: Mapping[str, Any]
    score: Score
    higher_is_better: bool
    baseline: Callable[[str, int], dict[str, pa.Table]]
    power: Callable[[Any], list[Any]]
    about: Callable[[], About]
    default_standard: str = ""
    published: Callable[[str], Sequence[Any]] = lambda standard: ()
    steer: Lazy | None = None
    judge: Lazy | None = None
    options: Mapping[str, tuple[str | bool, ...]] = field(default_factory=dict)
    compare_reading: Callable[[Mapping[str, Any]], Sequence[Any]] = lambda line: ()
    row_readings: Callable[[Submission], Mapping[str, Readings[Any]]] = lambda submission: {}
    label_line: Callable[[str, Mapping[str, Any]], Mapping[str, Any] | None] = lambda task, item: None
    cohort_of: Callable[[Scored], str] = lambda scored: ""
    protocols: Mapping[str, str] = field(default_factory=dict)
    protocol_of: Callable[[Mapping[str, str], Scored], str] = lambda signature, scored: signature.get(
        "dataset_revision", ""
    )
    signature: Callable[[Submission], dict[str, str]] = lambda submission: {}
    headline: tuple[str, ...] = ()
    read: Callable[[Submission], Any] = lambda submission: submission
    designs: Callable[[Any], Sequence[Design]] = lambda records: ()
    variants: Callable[[Any, Values], Sequence[Variant]] = lambda records, values: ()
    scoring: Callable[[Any, Adjustment], ScoringTable] = lambda standard, changed: ScoringTable({})
    logarithmic: bool = False
    drawn: frozenset[str] = frozenset()
    counts: Callable[[Any], Counts] = lambda records: {}
    chances: Callable[[Draws, Scored, Any, Adjustment], dict[str, float]] = lambda draws, scored, standard, changed: {}
    adjustable: Callable[[Any], Adjustable] = lambda standard: Adjustable({}, {})
    with_own_reference: Callable[[Values, Counts, Adjustment], Values] = lambda values, counts, changed: values
    resolve_standard: Callable[[Any, Mapping[str, str]], Any] = lambda standard, labels: standard
    label_limits: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    printed_values: Callable[[Numbers, ScoringTable], Numbers] = lambda figures, table: figures

    @property
    def default(self) -> str:
        """The name of the standard that is meant where none is named; '' without standards."""
        return self.default_standard or next(iter(self.standards), "")

    def table_of(self, scored: Scored, standard: Any, adjustment: Adjustment = AS_RELEASED) -> ScoringTable:
        """The table that scores under a standard and an adjustment were made by."""
        return self.scoring(self.resolve_standard(standard, scored.labels), adjustment)

    def default_for(self, revision: str) -> str:
        """The default standard, or for answers to a dataset revision that it does not rank the first that does."""
        names = (self.default, *self.standards)
        return next((name for name in names if scores_revision(self.standards[name], revision)), self.default)

    def task(self, name: str) -> Task:
        """The task of that name."""
        return next(task for task in self.tasks if task.name == name)

    def task_names(self) -> Sequence[str]:
        """The names of the tasks, in order."""
        return [task.name for task in self.tasks]

    def items(self, revision: str = "") -> dict[str, pa.Table]:
        """Task -> its items, with `id` and `prompt` at least, in a dataset revision; in the newest for ''.

        Tasks whose prompts follow from what a model made or answered before are left out, and so are those of a
        revision whose prompts somebody else has (`Task.named_in`), or that has no such task. BuildError
        REVISION_UNKNOWN.
        """
        revision = revision or self.revisions[0]
        with_prompts = (task for task in self.tasks if revision not in task.named_in)
        tables = {task.name: task.items(revision) for task in with_prompts if task.items is not None}
        return {task: table for task, table in tables.items() if table.num_rows}
