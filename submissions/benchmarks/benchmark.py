"""What a benchmark is to the rest of the code: its tasks, how its values are measured and how a standard scores them.

Each folder of `submissions/benchmarks/` declares one in its `declaration.py`; `registry.py` finds them. All other code
asks the declaration and never compares names, so that a further benchmark changes no module.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from fairspace.ares.annotating.labellers import PACKAGES
from fairspace.builders.errors import check_revision
from fairspace.submissions.benchmarks.adjustment import AS_RELEASED, Adjustable, Adjustment
from fairspace.submissions.benchmarks.forms import Reword
from fairspace.submissions.benchmarks.ideal import Ideal
from fairspace.submissions.benchmarks.scoring_table import ScoringTable
from fairspace.submissions.benchmarks.standard import scores_revision
from fairspace.submissions.benchmarks.task import Lazy, Task
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.uncertainty.design import Design, Floats
from fairspace.submissions.uncertainty.variant import Variant
from fairspace.submissions.values import Value

if TYPE_CHECKING:
    import pyarrow as pa

    from fairspace.submissions.answers.reading import Misread, Readings
    from fairspace.submissions.answers.samples import Samples
    from fairspace.submissions.benchmarks.about import About
    from fairspace.submissions.format.schema import Submission


_BY = ", labelled by "


def protocol_with_labeller(protocol: str, signature: Mapping[str, str]) -> str:
    """The protocol, and which package labelled the images, if one did.

    Args:
        protocol: of the same answers as ARES labels them.
        signature: of a result; its `labels` is NAME@VERSION.
    """
    name = signature.get("labels", "").rpartition("@")[0]
    return f"{protocol}{_BY}{name}" if name in PACKAGES else protocol


def protocol_of_labels(signature: Mapping[str, str], scored: object) -> str:
    """The dataset revision, and the package that labelled the images, if one did."""
    return protocol_with_labeller(signature.get("dataset_revision", ""), signature)


def without_labeller(protocol: str) -> str:
    """The protocol of the same answers as ARES labels them."""
    return protocol.partition(_BY)[0]


def labeller_text(protocol: str) -> str:
    """What a protocol's name says of the labeller, in a sentence; '' where it is ARES or no package that is known."""
    package = PACKAGES.get(protocol.partition(_BY)[2])
    if package is None:
        return ""
    missing = [name for name in ("gender", "age", "skin_tone", "race") if name not in package.attributes]
    return (
        f"The images were labelled by the package {package.name} {package.version}, not by ARES, and rows of another "
        f"labeller have another error. It has no {' and no '.join(missing).replace('_', ' ')}."
    )


TEXT_ONLY = "text only"
"""What a run showed that left the images out."""
NO_IMAGE = "The model was shown no image."


def text_only(protocol: str) -> str:
    """The protocol of the same run without its images."""
    return f"{protocol}, {TEXT_ONLY}"


def shown(submission: Submission) -> dict[str, str]:
    """Part of a signature: `shown` of a run that left the images out; empty for others."""
    return {"shown": TEXT_ONLY} if submission.meta.generation.get("text_only") else {}


Values = Mapping[str, Value]


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
        sample: name -> estimate of a score that the standard leaves undefined in a run of a part of the benchmark, from
            the answers that are there. `reason` says that it is a sample; it ranks nobody and stands on no board.
    """

    scores: Mapping[str, Value]
    ranking: str
    ranked: float | None
    unranked: tuple[str, ...] = ()
    labels: dict[str, str] = field(default_factory=dict)
    chances: dict[str, float] = field(default_factory=dict)
    sample: Mapping[str, Value] = field(default_factory=dict)

    @property
    def shown(self) -> dict[str, Value]:
        """The scores, and the estimates of a sample in place of those without a number."""
        return {**self.scores, **self.sample}


class Score(Protocol):
    """Raw values under a standard, as it was released or as a reader adjusts it."""

    def __call__(self, values: Values, standard: Any, adjustment: Adjustment = AS_RELEASED) -> Scored:
        """The scores; needs no submission."""


Draws = Mapping[str, Floats]
"""Name -> (b,) draws of a raw value or a score, nan where undefined."""


@dataclass(frozen=True)
class Scoring:
    """Scores beyond their numbers: the table that they are made by, their draws, and what a reader may change.

    Args:
        table: a standard, an adjustment -> the table that scores are made by.
        resolve: a standard, labels of a row -> the standard with what the row's values decide of it (GENRES: the cohort
            of the judge's family).
        adjustable: a standard -> the weights and thresholds that a reader may change.
        chances: score -> draws of its true value, the scores, standard and adjustment -> `Scored.chances`.
        logarithmic: whether scores are positive and their errors are relative: intervals are made on the logarithm.
        drawn: the raw values whose draws a result keeps, those that scores are made of; all if empty.
        label_limits: raw value whose labels can be corrected -> the smallest and the largest number that it can be.
    """

    table: Callable[[Any, Adjustment], ScoringTable] = lambda standard, changed: ScoringTable({})
    resolve: Callable[[Any, Mapping[str, str]], Any] = lambda standard, labels: standard
    adjustable: Callable[[Any], Adjustable] = lambda standard: Adjustable(())
    chances: Callable[[Draws, Scored, Any, Adjustment], dict[str, float]] = lambda draws, scored, standard, changed: {}
    logarithmic: bool = False
    drawn: frozenset[str] = frozenset()
    label_limits: Mapping[str, tuple[float, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Answers:
    """Readings of answers one by one.

    Args:
        rows: a checked submission -> task, or `task/part` for a part of a judge's answer, -> the readings of the task's
            rows in `responses`, or of those in `judgements` by the judge that is scored, in their order.
        samples: records -> the samples that values are made of, of which a result keeps some to look at.
        label_line: a task, one of its `items` -> what a line of labelled answers to it has beside `benchmark`, `ask`,
            `answer` and `gold`, and `choices`: the possible golds, or the ends of a number; None where no person could
            label an answer in a word.
        misread: records, dataset revision, task -> rows that are taken for something else -> the records with these.
        compare: a line of labelled answers -> readings held against golds, as `measuring.Compared`.
        authors: records -> the records with the answers read as the paper or its authors' code reads them; None where
            no other reading than ours is known.
        authors_signature: of such records, what of `Benchmark.signature` is another.
    """

    rows: Callable[[Submission], Mapping[str, Readings[Any]]] = lambda submission: {}
    samples: Callable[[Any], Sequence[Samples]] = lambda records: ()
    label_line: Callable[[str, Mapping[str, Any]], Mapping[str, Any] | None] = lambda task, item: None
    misread: Callable[[Any, str, Mapping[str, Misread]], Any] = lambda records, revision, tasks: records
    compare: Callable[[Mapping[str, Any]], Sequence[Any]] = lambda line: ()
    authors: Callable[[Any], Any] | None = None
    authors_signature: Mapping[str, str] = field(default_factory=lambda: {"parser": "authors"})


@dataclass(frozen=True)
class Protocols:
    """Which rows are ranked together: those of one protocol and cohort, of several only where the standard says so.

    Args:
        texts: name of a protocol, of a printed or a scored row -> how its values were measured, in a sentence.
        of: signature of a result, its scores -> its protocol; the dataset revision unless there is more to it.
        cohort_of: scores of a result -> whom the result is ranked with, as the board shows it; '' if with all.
        own_plan: what the protocol of a revision says that has a plan of its own (`Benchmark.base_revision`).
    """

    texts: Mapping[str, str] = field(default_factory=dict)
    of: Callable[[Mapping[str, str], Scored], str] = lambda signature, scored: signature.get("dataset_revision", "")
    cohort_of: Callable[[Scored], str] = lambda scored: ""
    own_plan: str = ""


@dataclass(frozen=True)
class Asking:
    """What is asked beside the items of the tasks.

    Args:
        steer: a checked submission -> task whose prompts follow from its annotated images -> its items; None where no
            task is like that.
        judge: a checked submission -> task of a judge -> its items; None where no judge reads answers.
        forms: name of a further form of the questions -> task -> what rewords its prompt. Only the paper's form scores.
        options: option of a run that not every benchmark has -> its values, the default first.
    """

    steer: Lazy | None = None
    judge: Lazy | None = None
    forms: Mapping[str, Mapping[str, Reword]] = field(default_factory=dict)
    options: Mapping[str, tuple[str | bool, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Reporting:
    """How reports begin.

    Args:
        headline: the scores that fit a terminal's width; all if empty.
        leading: scores, the name of a standard -> the scores and raw values that reports begin with, the headline
            first; the score that ranks go by if left out.
        sentences: raw values, scores, the name of a standard -> the result in plain sentences, for the top of a report.
        leaning: the same -> why a place beside printed models would mislead, for a bias that the scores do not see; ''
            where there is none.
    """

    headline: tuple[str, ...] = ()
    leading: Callable[[Scored, str], tuple[str, ...]] = lambda scored, standard: (scored.ranking,)
    sentences: Callable[[Values, Scored, str], tuple[str, ...]] = lambda values, scored, standard: ()
    leaning: Callable[[Values, Scored, str], str] = lambda values, scored, standard: ""


@dataclass(frozen=True)
class Benchmark:
    """A benchmark.

    Functions that few callers need are given as import paths (`Lazy`).

    Args:
        name: the same in every folder.
        title: for people.
        revisions: of its datasets, the default first: its items are asked, and the others stay scoreable. Items and ids
            of any other revision are refused.
        base_revision: a dataset revision -> the one of `revisions` that it differs from in its plan alone (IRIS' pairs
            of a cohort), which standards score it as; itself where there is none.
        tasks: every task, in the paper's order.
        baseline: name of a trivial model, seed, dataset revision -> the tables that it hands in.
        read: a checked submission -> its records: what measuring needs of its tables, read once. `measure`, `designs`
            and `variants` take the records.
        measure: records -> raw values by name, in a fixed order.
        designs: records -> how the samples behind its values were drawn.
        variants: records, raw values -> what other instruments would have measured.
        signature: a checked submission -> what else decided the values (parser, judge, embedding).
        standards: released standards and drafts by name, in the order of their release.
        default_standard: the standard that is meant where none is named; the first if ''.
        score: raw values, standard -> scores; needs no submission.
        higher_is_better: direction of the ranked number.
        ideal: a raw value or a score, the name of a standard -> its ideal; None of what describes a model, and of which
            no number is fair.
        about: what pages say of it in words.
        published: name of a standard -> the rows that the paper prints.
        scoring, answers, protocols, asking, reporting: further functions and settings, by what they are about.
    """

    name: str
    title: str
    revisions: tuple[str, ...]
    tasks: tuple[Task, ...]
    measure: Callable[[Any], dict[str, Value]]
    standards: Mapping[str, Any]
    score: Score
    higher_is_better: bool
    baseline: Callable[[str, int, str], dict[str, pa.Table]]
    about: Callable[[], About]
    base_revision: Callable[[str], str] = lambda revision: revision
    read: Callable[[Submission], Any] = lambda submission: submission
    designs: Callable[[Any], Sequence[Design]] = lambda records: ()
    variants: Callable[[Any, Values], Sequence[Variant]] = lambda records, values: ()
    signature: Callable[[Submission], dict[str, str]] = lambda submission: {}
    default_standard: str = ""
    ideal: Callable[[str, str], Ideal | None] = lambda name, standard: None
    published: Callable[[str], Sequence[Any]] = lambda standard: ()
    scoring: Scoring = Scoring()
    answers: Answers = Answers()
    protocols: Protocols = Protocols()
    asking: Asking = Asking()
    reporting: Reporting = Reporting()

    @property
    def default(self) -> str:
        """The name of the standard that is meant where none is named; '' without standards."""
        return self.default_standard or next(iter(self.standards), "")

    def table_of(self, scored: Scored, standard: Any, adjustment: Adjustment = AS_RELEASED) -> ScoringTable:
        """The table that scores under a standard and an adjustment were made by."""
        return self.scoring.table(self.scoring.resolve(standard, scored.labels), adjustment)

    def default_for(self, revision: str) -> str:
        """The default standard, or for answers to a dataset revision that it does not rank the first that does."""
        names, base = (self.default, *self.standards), self.base_revision(revision)
        return next((name for name in names if scores_revision(self.standards[name], base)), self.default)

    def task(self, name: str) -> Task:
        """The task of that name."""
        return next(task for task in self.tasks if task.name == name)

    @property
    def telling_tasks(self) -> Mapping[str, float]:
        """Task whose answers say who answered -> its `Task.alike`, in order."""
        return {task.name: task.alike for task in self.tasks if task.alike}

    def task_names(self) -> Sequence[str]:
        """The names of the tasks, in order."""
        return [task.name for task in self.tasks]

    def has_revision(self, revision: str) -> bool:
        """Whether there is such a dataset revision."""
        return self.base_revision(revision) in self.revisions

    def protocol_text(self, protocol: str) -> str:
        """How the values of a protocol's rows were measured; '' for one that nobody knows."""
        plan = without_labeller(protocol)
        base = self.base_revision(plan)
        text = self.protocols.texts.get(base, "")
        own = "" if base == plan else self.protocols.own_plan
        return " ".join(part for part in (text, own, labeller_text(protocol)) if part)

    def revision(self, named: str = "") -> str:
        """The dataset revision that is named; the default for ''. BuildError REVISION_UNKNOWN."""
        if not self.has_revision(named or self.revisions[0]):
            check_revision(self.name, named, self.revisions)
        return named or self.revisions[0]

    def items(self, revision: str = "", tasks: Collection[str] = ()) -> dict[str, pa.Table]:
        """Task -> its items, with `id` and `prompt` at least, in a dataset revision; in the default for ''.

        Tasks whose prompts follow from what a model made or answered before are left out, and so are those of a
        revision whose prompts somebody else has (`Task.named_in`), or that has no such task; so are those that are not
        among `tasks`, if any are named. BuildError REVISION_UNKNOWN.
        """
        revision = self.revision(revision)
        wanted = (task for task in self.tasks if not tasks or task.name in tasks)
        with_prompts = (task for task in wanted if revision not in task.named_in)
        tables = {task.name: task.items(revision) for task in with_prompts if task.items is not None}
        return {task: table for task, table in tables.items() if table.num_rows}
