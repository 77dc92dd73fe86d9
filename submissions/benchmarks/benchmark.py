"""The interface of a benchmark: its tasks, the measurement of its values and their scores under a standard.

Also ideals, fields of standards, texts for pages, and forms of questions. Each folder of `submissions/benchmarks/`
declares one benchmark in its `declaration.py`; `registry.py` finds them. No other code compares names of benchmarks.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Protocol

from fairspace.ares.annotating.labellers import DETECTORS, PACKAGES, ZERO_SHOT
from fairspace.builders.errors import check_revision
from fairspace.metrics.columns import Floats
from fairspace.metrics.resampling import Sample
from fairspace.submissions.benchmarks.defaults import choices, readings
from fairspace.submissions.benchmarks.scoring_table import AS_RELEASED, Adjustable, Adjustment, ScoringTable, covered
from fairspace.submissions.benchmarks.task import Lazy, Reword, Task
from fairspace.submissions.benchmarks.words import TEXT_ONLY, Words, words_of
from fairspace.submissions.errors import UsageError
from fairspace.submissions.uncertainty.uncertainty import Variant
from fairspace.submissions.values import Value, Values

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa

    from fairspace.submissions.answers.reading import Misread, Readings, Samples
    from fairspace.submissions.format.schema import Submission, SubmissionMeta

Worse = Literal["above", "below", "either"]


@dataclass(frozen=True)
class Ideal:
    """Value of a perfectly fair model with endlessly many samples.

    Args:
        number: value; None for that of chance, the mean of the fair models (a share, an error rate).
        worse: unfair side of the ideal: above, below (a score that is better when higher), or either side, where the
            fair models' figures are magnitudes.
        threshold: number that decides a letter or a word; None if there is none.
        witnesses: raw values with the same ideal that must be ideal too before no bias is shown.
        mixed: reason why a number nearer to the ideal is not fairer; '' if it is.
    """

    number: float | None
    worse: Worse = "above"
    threshold: float | None = None
    witnesses: tuple[str, ...] = ()
    mixed: str = ""


NEAR = "near"
"""Evidence key of a printed row's score: the threshold that it cannot be told from."""
GAP = Ideal(0.0)
"""A largest gap, a distance, a norm."""
SIGNED = Ideal(0.0, "either")
"""A difference with a sign."""
CHANCE = Ideal(None)
"""A share or a rate that chance decides."""


# A benchmark's standard is a frozen dataclass with its parameters, `name`, `draft` (the reason why it is not
# released, or '') and `minimum_coverage` (share of valid samples below which a ranked value is undefined).


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


@dataclass(frozen=True)
class Standard(Documented):
    """A standard without parameters of its own.

    Args:
        name, draft: name, and the reason why it is not released, or ''.
        minimum_coverage: share of valid samples below which a ranked value is undefined.
        at_most: floors of competence: raw value -> number in the worst case above which a model is not ranked, such as
            the share of an answer that is always the same; a value without a number gives no rank either.
    """

    name: str = "inaugural"
    draft: str = ""
    minimum_coverage: float = 0.9
    at_most: Mapping[str, float] = field(default_factory=dict)


def protocol_group(standard: Any, protocol: str) -> str:
    """Title of the group that a protocol is ranked in, else the protocol."""
    return next((title for title, names in standard.together.items() if protocol in names), protocol)


def scores_revision(standard: Any, revision: str) -> bool:
    """Whether a standard was released for a dataset revision."""
    return all(revision in revisions for revisions in standard.dataset_revisions.values())


# Each benchmark's `benchmark.py` fills one `BenchmarkWords`.


@dataclass(frozen=True)
class Listing:
    """A table in words: a heading, column headers, and cells as plain text."""

    heading: str
    headers: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class BenchmarkWords:
    """The words of a benchmark that follow from its tables and standards; `words.toml` has all others.

    Args:
        scored: a standard -> its scored values; None for the scores of its scoring table.
        cohort: a standard with numbers from other models -> their figures; None where there are none to list.
        references: outside figures that values are compared with, as Markdown.
        archetypes: profile code -> its name.
        describe: a score or a raw value without a pattern -> its words and its metric; two empty texts for none.
        succession: a standard, rows of its board -> whether the paper's rule asks for a next one; '' without a rule.
    """

    scored: Callable[[Any], Listing] | None = None
    cohort: Callable[[Any], Listing | None] = lambda standard: None
    references: Sequence[str] = ()
    archetypes: Mapping[str, str] = field(default_factory=dict)
    describe: Callable[[str], tuple[str, str]] = lambda name: ("", "")
    succession: Callable[[Any, Iterable[Any]], str] = lambda standard, rows: ""


# The paper's form is the only one that scores; the closed form shows the effect of reading free answers.

CORE = "-core"
"""Part of the name of a dataset revision that is a core, its end but for images alone."""
PAPER = "paper"
CLOSED = "json"
"""The form with named choices, answered in JSON."""
FORM = "form"
"""Generation setting of a form other than the paper's; also a factor of variance."""
SCHEMA = "answer_schema"
"""Generation setting of a closed form: whether each request had a JSON schema, so that no other answer is possible."""


def form_of(generation: Mapping[str, object]) -> str:
    """The form of a submission's questions and the way of asking, such as `json` or `json in words`; '' the paper's."""
    if not isinstance(form := generation.get(FORM), str):
        return ""
    return (form if form == CLOSED else "unknown") + ("" if generation.get(SCHEMA) is True else _IN_WORDS)


_FORMED, _IN_WORDS, _AS_AUTHORS = ", form ", " in words", ", as the authors ran it"


_BY = ", labelled by "


def protocol_with_labeller(protocol: str, signature: Mapping[str, str]) -> str:
    """The protocol with the labeller, if the signature has another one (`labels`: NAME@VERSION) than ARES."""
    name = signature.get("labels", "").rpartition("@")[0]
    other = name.partition("?")[0] in (*PACKAGES, *DETECTORS) or name.startswith(ZERO_SHOT)
    return f"{protocol}{_BY}{name}" if other else protocol


def protocol_of_labels(signature: Mapping[str, str], scored: object) -> str:
    """The dataset revision, with the labeller if it was not ARES."""
    return protocol_with_labeller(signature.get("dataset_revision", ""), signature)


def labeller_text(protocol: str) -> str:
    """A sentence about the labeller of a protocol; '' for ARES or an unknown one."""
    name = protocol.partition(_BY)[2]
    if (detected := name.partition("?")[0] in DETECTORS) or name.startswith(ZERO_SHOT):
        kind = "a detector that ran elsewhere" if detected else "a general model that nobody trained for it"
        return (
            f"The images were labelled by {name}, {kind}, not by ARES, and rows of another labeller have another error."
        )
    package = PACKAGES.get(name)
    if package is None:
        return ""
    missing = [name for name in ("gender", "age", "skin_tone", "race") if name not in package.attributes]
    return (
        f"The images were labelled by the package {package.name} {package.version}, not by ARES, and rows of another "
        f"labeller have another error. It has no {' and no '.join(missing).replace('_', ' ')}."
    )


def text_only(protocol: str) -> str:
    """Protocol of the same run without its images."""
    return f"{protocol}, {TEXT_ONLY}"


def shown(submission: Submission) -> dict[str, str]:
    """`shown` in the signature of a run without images; empty for others."""
    return {"shown": TEXT_ONLY} if submission.meta.generation.get("text_only") else {}


@dataclass(frozen=True)
class Scored:
    """Scores of the measured values under a standard.

    Args:
        scores: name -> sector or total score; `value` from the valid samples, `low`/`high` its bounds.
        ranking: name of the score that the board sorts by.
        ranked: worst case of `ranking`, None if unranked.
        unranked: every reason why the model is not ranked.
        labels: other outcomes, for example the two profile codes.
        chances: probability of each label, and of each score to reach its threshold.
        part: whether the run is of a part of the benchmark, which is never ranked.
        sample: name -> estimate of a score that a partial run leaves undefined.
    """

    scores: Mapping[str, Value]
    ranking: str
    ranked: float | None
    unranked: tuple[str, ...] = ()
    labels: dict[str, str] = field(default_factory=dict)
    chances: dict[str, float] = field(default_factory=dict)
    part: bool = False
    sample: Mapping[str, Value] = field(default_factory=dict)

    @property
    def shown(self) -> dict[str, Value]:
        """The scores, with the estimates of a sample in place of those without a number."""
        return {**self.scores, **self.sample}


class Score(Protocol):
    """Score of raw values under a standard, as released or as adjusted."""

    def __call__(self, values: Values, standard: Any, adjustment: Adjustment = AS_RELEASED) -> Scored:
        """The scores; needs no submission."""


Draws = Mapping[str, Floats]
"""Name -> (b,) draws of a raw value or a score, nan where undefined."""


@dataclass(frozen=True)
class Scoring:
    """Scoring table and draws of the scores, and the adjustments that a reader may make.

    Args:
        table: a standard, an adjustment -> the scoring table.
        resolve: a standard, labels of a row -> the standard for that row (GENRES: the cohort of the judge's family).
        adjustable: a standard -> the weights and thresholds that a reader may change.
        chances: score -> draws of its true value, the scores, standard and adjustment -> `Scored.chances`.
        logarithmic: whether scores are positive with relative errors: intervals are made on the logarithm.
        drawn: raw values whose draws a result keeps, the parts of scores; all if empty.
        label_limits: raw value with correctable labels -> its smallest and largest number.
    """

    table: Callable[[Any, Adjustment], ScoringTable] = lambda standard, changed: ScoringTable({})
    resolve: Callable[[Any, Mapping[str, str]], Any] = lambda standard, labels: standard
    adjustable: Callable[[Any], Adjustable] = lambda standard: Adjustable(())
    chances: Callable[[Draws, Scored, Any, Adjustment], dict[str, float]] = lambda draws, scored, standard, changed: {}
    logarithmic: bool = False
    drawn: frozenset[str] = frozenset()
    label_limits: Mapping[str, tuple[float, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class TableScore:
    """Scores by a scoring table alone, ranked by the worse end of the first of its `ranking`.

    Args:
        scoring: the scoring table of a standard and an adjustment.
        higher_is_better: direction of the ranked number.
    """

    scoring: Scoring
    higher_is_better: bool

    def __call__(self, values: Values, standard: Any, adjustment: Adjustment = AS_RELEASED) -> Scored:
        """The scores of raw values; a value below the standard's minimum coverage is undefined."""

        def usable(value: Value) -> Value:
            reason = "{share:.1%} of the samples are valid, less than {minimum:.0%}"
            return covered(value, standard.minimum_coverage, reason) if value.state == "value" else value

        table = self.scoring.table(standard, adjustment)
        scores = table.values(values, usable)
        first = scores[table.ranking[0]]
        end = first.low if self.higher_is_better else first.high
        unranked = [] if first.state == "value" else [f"{first.name}: {first.reason}"]
        for name, most in standard.at_most.items():
            worst = values[name].high
            if worst is None:
                unranked.append(f"{name} is not known, and at most {most:g} is needed")
            elif worst > most:
                unranked.append(f"{name}: {worst:.3g} in the worst case, more than {most:g}")
        return Scored(scores, first.name, None if unranked else end, tuple(unranked))


@dataclass(frozen=True)
class AnswerReading:
    """Readings of answers one by one.

    Args:
        rows: a checked submission -> task (or `task/part` of the scored judge's answer) -> readings of its rows, in
            order.
        samples: records -> the samples behind the values; a result keeps some to look at.
        label_lines: a task, some of its `items` -> for each, further fields of a labelled line, with `choices`, the
            golds or ends of a number; None where no person could label an answer in a word.
        misread: records, dataset revision, task -> misread rows -> the records with these.
        compare: a labelled line -> readings held against golds, as `measuring.Compared`.
        authors: records -> the records as the paper or its authors' code reads them; None if that is unknown or ours.
        authors_signature: changes of `Benchmark.signature` for these.
    """

    rows: Callable[[Submission], Mapping[str, Readings[Any]]] = lambda submission: {}
    samples: Callable[[Any], Sequence[Samples]] = lambda records: ()
    label_lines: Callable[[str, Sequence[Mapping[str, Any]]], Sequence[Mapping[str, Any]] | None] = lambda *_: None
    misread: Callable[[Any, str, Mapping[str, Misread]], Any] = lambda records, revision, tasks: records
    compare: Callable[[Mapping[str, Any]], Sequence[Any]] = lambda line: ()
    authors: Callable[[Any], Any] | None = None
    authors_signature: Mapping[str, str] = field(default_factory=lambda: {"parser": "authors"})


@dataclass(frozen=True)
class Protocols:
    """Protocols and cohorts. Only rows of one of each are ranked together, unless the standard groups protocols.

    Args:
        of: signature of a result, its scores -> its protocol.
        cohort_of: scores of a result -> its cohort as the board shows it; '' if it is ranked with all.
    """

    of: Callable[[Mapping[str, str], Scored], str] = lambda signature, scored: signature.get("dataset_revision", "")
    cohort_of: Callable[[Scored], str] = lambda scored: ""


AS_AUTHORS = "as_authors"
"""Generation setting of a run with the authors' own settings, and its key in a signature."""


@dataclass(frozen=True)
class AsAuthors:
    """The authors' own settings of a run (`--as-authors`), as their paper or programs state them.

    Args:
        source: sections of the paper and programs, with repository and commit.
        settings: temperature, top_p and max_tokens of the model that answers; the default run's where they state none.
        judge: the same of their judge; {} without one.
        evaluations: number of a judge's evaluations.
        revision: dataset revision with the authors' own prompts; '' for the default one.
    """

    source: str
    settings: Mapping[str, float | int | str] = field(default_factory=dict)
    judge: Mapping[str, float | int | str] = field(default_factory=dict)
    evaluations: int = 1
    revision: str = ""

    def kept(self, meta: SubmissionMeta) -> bool:
        """Whether a submission says that it was run so, and states all of these settings, also of its judge if any."""
        stated, judge = meta.generation, meta.judge.settings if meta.judge is not None else self.judge
        marked = stated.get(AS_AUTHORS) is True and self.settings.items() <= stated.items()
        return marked and self.judge.items() <= judge.items()


@dataclass(frozen=True)
class AskingOptions:
    """Questions beside the items of the tasks.

    Args:
        steer: a checked submission -> task with prompts from its annotated images -> its items.
        judge: a checked submission -> task of a judge -> its items.
        forms: name of a further form of the questions -> task -> its rewording. Only the paper's form is ranked.
        options: option of a run -> its values, the default first.
        authors: the authors' own settings.
    """

    steer: Lazy | None = None
    judge: Lazy | None = None
    forms: Mapping[str, Mapping[str, Reword]] = field(default_factory=dict)
    options: Mapping[str, tuple[str | bool, ...]] = field(default_factory=dict)
    authors: AsAuthors = AsAuthors("none")


@dataclass(frozen=True)
class Reporting:
    """Beginning of reports.

    Args:
        headline: scores that fit a terminal's width; all if empty.
        leading: scores, the name of a standard -> the first scores and raw values, the headline first.
        sentences: raw values, scores, the name of a standard -> the result in plain sentences.
        mixed: the same -> sentences on scores whose ideal is `Ideal.mixed`, for comparisons.
        leaning: the same -> a warning of a bias that the scores do not see, beside printed models; '' for none.
        paper: the same -> the paper's tables and figures (`paper.PaperTables`); None if none are declared.
        in_harness: values that a harness (lm-eval) shows of its tasks in text; no task there if empty.
        hub_task: name of the Hub for what a model does in it.
        hub_dataset: its dataset on the Hub, where that has another name.
    """

    hub_task: str = "text-generation"
    hub_dataset: str = ""
    headline: tuple[str, ...] = ()
    in_harness: tuple[str, ...] = ()
    leading: Callable[[Scored, str], tuple[str, ...]] = lambda scored, standard: (scored.ranking,)
    sentences: Callable[[Values, Scored, str], Iterable[str]] = lambda values, scored, standard: ()
    mixed: Callable[[Values, Scored, str], Iterable[str]] = lambda values, scored, standard: ()
    leaning: Callable[[Values, Scored, str], str] = lambda values, scored, standard: ""
    paper: Callable[[Values, Scored, str], Any] = lambda values, scored, standard: None


_DEFAULT: Any = object()
"""Place of a function that `Benchmark` fills."""


@dataclass(frozen=True)
class Benchmark:
    """A benchmark. Functions that few callers need are given as import paths (`Lazy`).

    Args:
        revisions: dataset revisions, the default first; the others stay scoreable. Any other one is refused.
        base_revision: a dataset revision -> the one of `revisions` that differs from it in its plan alone.
        tasks: every task, in the paper's order.
        baseline: name of a trivial model, seed, dataset revision -> its tables; by the tasks' choices if left out.
        read: a checked submission -> its records, the input of `measure`, `designs` and `variants`; the codes of the
            choices of each task (`defaults.choices`) if left out.
        score: scores of raw values; by the scoring table alone (`TableScore`) if left out.
        measure: records -> raw values by name, in a fixed order.
        designs: records -> tables of clusters, and the values of their counts.
        variants: records, raw values -> sensitivity analyses.
        signature: a checked submission -> further determinants of the values (parser, judge, embedding).
        standards: released standards and drafts by name, in the order of their release.
        default_standard: name of the default standard; the first if ''.
        higher_is_better: direction of the ranked number.
        ideal: a raw value or a score, the name of a standard -> its ideal; None where no number is fair.
        with_region: records, a file of labour figures -> records with these, the name of their standard; None without.
        published: name of a standard -> the rows that the paper prints.
    """

    name: str
    tasks: tuple[Task, ...]
    measure: Callable[[Any], dict[str, Value]]
    scoring: Scoring
    higher_is_better: bool
    revisions: tuple[str, ...] = ("v1",)
    standards: Mapping[str, Any] = field(default_factory=lambda: {"inaugural": Standard()})
    score: Score = _DEFAULT
    baseline: Callable[[str, int, str], dict[str, pa.Table]] = _DEFAULT
    about: Callable[[], BenchmarkWords] = BenchmarkWords
    base_revision: Callable[[str], str] = lambda revision: revision
    read: Callable[[Submission], Any] = _DEFAULT
    designs: Callable[[Any], Sequence[Sample]] = lambda records: ()
    variants: Callable[[Any, Values], Sequence[Variant]] = lambda records, values: ()
    signature: Callable[[Submission], dict[str, str]] = lambda submission: {}
    default_standard: str = ""
    ideal: Callable[[str, str], Ideal | None] = lambda name, standard: None
    with_region: Callable[[Any, Path], tuple[Any, str]] | None = None
    published: Callable[[str], Sequence[Any]] = lambda standard: ()
    answers: AnswerReading = AnswerReading()
    protocols: Protocols = Protocols()
    asking: AskingOptions = AskingOptions()
    reporting: Reporting = Reporting()

    def __post_init__(self) -> None:
        """Scores by the scoring table, and readings, records and trivial models by the tasks' choices."""
        defaults: dict[str, Callable[..., Any]] = {
            "score": TableScore(self.scoring, self.higher_is_better),
            "read": partial(choices, self.tasks),
            "baseline": partial(Lazy("fairspace.submissions.benchmarks.baselines:by_choices"), self),
        }
        for name, default in defaults.items():
            if getattr(self, name) is _DEFAULT:
                object.__setattr__(self, name, default)
        if any(task.read is not None for task in self.tasks):
            object.__setattr__(self, "answers", replace(self.answers, rows=partial(readings, self.tasks)))

    @property
    def words(self) -> Words:
        """Its words."""
        return words_of(self.name)

    @property
    def title(self) -> str:
        """Its name on pages."""
        return self.words.title

    def describe(self, name: str) -> str:
        """A score or a raw value in words; '' for an unknown one."""
        return self.words.value(name)[0] or self.about().describe(name)[0]

    def metric_of(self, name: str) -> str:
        """The metric in `metrics/` that computes a score or a raw value; '' for none."""
        return self.words.value(name)[1] or self.about().describe(name)[1]

    def scored(self, standard: Any) -> Listing:
        """The scored values of a standard, as a table."""
        if (listed := self.about().scored) is not None:
            return listed(standard)
        rules = self.scoring.table(standard, AS_RELEASED).rules
        return Listing("The scores", ["Score", "What it is"], [[name, self.describe(name)] for name in rules])

    @property
    def default(self) -> str:
        """Name of the default standard; '' without standards."""
        return self.default_standard or next(iter(self.standards), "")

    def table_of(self, scored: Scored, standard: Any, adjustment: Adjustment = AS_RELEASED) -> ScoringTable:
        """The scoring table of scores under a standard and an adjustment."""
        return self.scoring.table(self.scoring.resolve(standard, scored.labels), adjustment)

    def default_for(self, revision: str) -> str:
        """The default standard, or the first that ranks a dataset revision if the default does not."""
        names, base = (self.default, *self.standards), self.base_revision(revision)
        return next((name for name in names if scores_revision(self.standards[name], base)), self.default)

    def task(self, name: str) -> Task:
        """The task of that name."""
        return next(task for task in self.tasks if task.name == name)

    @property
    def telling_tasks(self) -> Mapping[str, float]:
        """Task whose answers identify the model -> its `Task.alike`, in order."""
        return {task.name: task.alike for task in self.tasks if task.alike}

    def task_names(self) -> Sequence[str]:
        """Names of the tasks, in order."""
        return [task.name for task in self.tasks]

    def has_revision(self, revision: str) -> bool:
        """Whether there is such a dataset revision."""
        return self.base_revision(revision) in self.revisions

    def protocol_of(self, signature: Mapping[str, str], scored: Scored) -> str:
        """Protocol of a result: the benchmark's own; the authors' settings or another form of questions, if any."""
        protocol = self.protocols.of(signature, scored) + (_AS_AUTHORS if AS_AUTHORS in signature else "")
        return f"{protocol}{_FORMED}{signature[FORM]}" if FORM in signature else protocol

    def protocol_title(self, protocol: str) -> str:
        """The protocol, and its stimuli where the paper's rows answer others."""
        other = self.words.stimuli_of(protocol)
        return f"{protocol} ({other})" if other else protocol

    def protocol_text(self, protocol: str) -> str:
        """Description of a protocol's measurement; '' for an unknown one."""
        protocol, _, form = protocol.partition(_FORMED)
        protocol, *authors = protocol.split(_AS_AUTHORS)
        plan = protocol.partition(_BY)[0]
        base = plan if self.words.protocol(plan) else self.base_revision(plan)
        text = self.words.protocol(base)
        plan_text = "" if base == plan else self.words.own_plan
        form_words = "asked for in words" if form.endswith(_IN_WORDS) else "held by a JSON schema"
        asked = f"Free questions named their choices, and answers were JSON, {form_words}." if form else ""
        source = f"Settings of the authors: {self.asking.authors.source}." if authors else ""
        return " ".join(part for part in (text, plan_text, labeller_text(protocol), asked, source) if part)

    @property
    def core(self) -> str:
        """The newest dataset revision that is a core. UsageError if there is none."""
        cores = (revision for revision in self.revisions if revision.endswith(CORE))
        if not (core := next(cores, "")):
            raise UsageError(f"{self.name} has no core; leave out --core.")
        return core

    def revision(self, name: str = "") -> str:
        """The named dataset revision; the default for ''. BuildError REVISION_UNKNOWN."""
        if not self.has_revision(name or self.revisions[0]):
            check_revision(self.name, name, self.revisions)
        return name or self.revisions[0]

    def items(self, revision: str = "", tasks: Collection[str] = (), data: str = "") -> dict[str, pa.Table]:
        """Task -> its items, with `id` and `prompt` at least, in a dataset revision. BuildError REVISION_UNKNOWN.

        Left out are tasks outside `tasks` (if any are named), with prompts from a model's earlier output or not ours in
        this revision unless `data` is the reader's copy of them (`Task.theirs`), and without items; '' is the default
        revision. BuildError SOURCE_MISSING, SOURCE_LAYOUT.
        """
        revision = self.revision(revision)
        wanted = (task for task in self.tasks if not tasks or task.name in tasks)
        there = (task for task in wanted if task.items is not None and (data or revision not in task.theirs))
        tables = {task.name: task.asked(revision, data) for task in there}
        return {task: table for task, table in tables.items() if table.num_rows}
