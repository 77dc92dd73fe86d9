"""A benchmark as an Inspect task: stimuli are its samples; its scorer reports fates and the benchmark's scores.

Its parts, one per task, have the prompts and ids of the item plans in `builders/`.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, metric, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver

from fairspace.builders.part import in_part
from fairspace.submissions.benchmarks.benchmark import AS_AUTHORS, FORM, PAPER
from fairspace.submissions.benchmarks.pictures import Data, open_data, own_plan
from fairspace.submissions.benchmarks.registry import NAMES, benchmark
from fairspace.submissions.benchmarks.task import ReadStimulus, Stimulus, Task, TaskStimuli, choose, in_form
from fairspace.submissions.errors import RunError, UsageError, did_you_mean
from fairspace.submissions.format.manifest import PART_MARK
from fairspace.submissions.format.schema import Submission, SubmissionMeta
from fairspace.submissions.reading.canonical import digest
from fairspace.submissions.running.asking.asking import ANSWERS, STIMULUS, RunAsking
from fairspace.submissions.running.asking.journal import FATES, JournalEntry, table_of
from fairspace.submissions.running.asking.models import COMPLETION, DEFAULT

if TYPE_CHECKING:
    from inspect_ai import Task as InspectTask
    from inspect_ai.dataset import Dataset

    from fairspace.submissions.results.result import Result


@solver(name="ask_each")
def ask_each(asking: RunAsking) -> Solver:
    """The solver that asks all about a sample's stimulus."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        return await asking.solve(state)

    return solve


@metric(name="fairspace_score")
def fairspace_score() -> Metric:
    """Requests by fate and, where the first sample of the task says of what (`SCORED`), every score.

    The scores are those of the default standard by name, with `.low` and `.high` (bounds over missing samples) and
    `.coverage`, as in `fairspace score`; NaN where undefined or not run.
    """

    def compute(scores: list[SampleScore]) -> dict[str, float]:
        carried = [score.score.metadata or {} for score in scores]
        answers = [answer for about in carried for answer in read_answers(about)]
        scored = next((about[SCORED] for score in scores if SCORED in (about := score.sample_metadata or {})), None)
        if scored is None:
            counts = fates(answers)
            return {name: count + sum(about.get(name, 0.0) for about in carried) for name, count in counts.items()}
        meta = SubmissionMeta.model_validate(scored["meta"])
        tables = {"responses": table_of(answers, "responses", scored["names"])}
        return {**fates(answers), **reported(result_of(meta, tables))}

    return compute


@scorer(metrics=[fairspace_score()], name="fairspace")
def benchmark_scorer(carries: bool = True) -> Scorer:
    """A scorer for a benchmark's task: a sample's score is the share of its requests that were answered.

    `carries`: whether a score holds the answers, which the log's scores are made from, or their fates alone.
    """

    async def score(state: TaskState, target: Target) -> Score:
        answers = read_answers(state.metadata)
        answered = sum(answer.fate == "answered" for answer in answers)
        value = answered / len(answers) if answers else 0.0
        carried = {ANSWERS: state.metadata.get(ANSWERS, [])} if carries else fates(answers)
        return Score(value=value, answer=state.output.completion, metadata=carried)

    return score


def read_answers(metadata: Mapping[str, Any]) -> list[JournalEntry]:
    """The answers in a log sample's metadata; none before its end."""
    return [JournalEntry(**row) for row in metadata.get(ANSWERS, ())]


def fates(answers: Iterable[JournalEntry]) -> dict[str, float]:
    """Fate -> requests."""
    counts = Counter(answer.fate for answer in answers)
    return {f"requests_{fate}": float(counts[fate]) for fate in FATES}


def result_of(meta: SubmissionMeta, tables: Mapping[str, pa.Table]) -> Result:
    """The result of these tables, equal to that of `fairspace score`."""
    from fairspace.submissions.results.scoring import score_submission

    return score_submission(Submission(meta, tables, digest(meta, tables)))


def reported(result: Result) -> dict[str, float]:
    """The scores of a result by name, flat; NaN where there is no number."""
    numbers: dict[str, float] = {}
    for name, value in result.scored.scores.items():
        parts = {"": value.value, ".low": value.low, ".high": value.high, ".coverage": value.coverage}
        numbers |= {f"{name}{part}": float("nan") if number is None else number for part, number in parts.items()}
    return numbers


RUN = "fairspace"
"""Key of a log's metadata: the run, in `ChosenPart`'s form."""
SCORED = "scored"
"""Key of the first sample's metadata: `submission.json` of the answers, and the names in their prompts."""
NOT_STATED = "not stated"
SAMPLE_DATA = "sample_data"
"""Setting of generation that marks answers to the small sample of a dataset."""
UNREADABLE_AGAIN = "unreadable_again"
"""Setting of generation: greatest number of times that a request with an unreadable answer is sent anew."""


@dataclass(frozen=True)
class ChosenPart:
    """The chosen part of a benchmark, and its options.

    Args:
        data: folder of builds, or NAMESPACE[@TAG] on the Hub; '' for none.
        tasks: tasks of the submission; all that have text answers if empty.
        stratified: whether a limited choice is spread evenly over the strata.
        form: form of the questions; answers in another form than the paper's are not ranked.
        only: task -> id and sample of a request -> its stimulus, whatever `limit` says; None for no such choice.
        as_authors: whether the authors' settings and revision of the items are used (`RunAsking.authors`).
        part: `I/N` for one of N parts that `fairspace join` joins, '' for all (`builders.part`).
    """

    benchmark: str
    data: str = ""
    tasks: tuple[str, ...] = ()
    limit: int | None = None
    stratified: bool = False
    seed: int | None = None
    prefix: str = "plain"
    text_only: bool = False
    dataset_revision: str = ""
    form: str = PAPER
    only: Mapping[str, Mapping[tuple[str, int], str]] | None = None
    as_authors: bool = False
    part: str = ""

    def __post_init__(self) -> None:
        """Take the revision of the data, where these follow a cohort of models and none is named; all is no choice."""
        object.__setattr__(self, "stratified", self.stratified and self.limit is not None)
        object.__setattr__(self, "dataset_revision", self.dataset_revision or own_plan(self.benchmark, self.data))

    def choose(self, task: str, stimuli: Sequence[Stimulus]) -> list[int]:
        """Positions of a task's chosen stimuli."""
        if self.only is None:
            return in_part(choose(stimuli, self.limit, stratified=self.stratified), self.part)
        wanted = {*self.only.get(task, {}).values()}
        return [place for place, stimulus in enumerate(stimuli) if stimulus.id in wanted]

    @property
    def revision(self) -> str:
        """Dataset revision of the items."""
        bench = benchmark(self.benchmark)
        authors = bench.asking.authors.revision if self.as_authors else ""
        return self.dataset_revision or authors or bench.revisions[0]

    @property
    def options(self) -> dict[str, str | bool]:
        """Options of a benchmark that are not at their defaults."""
        prefix: dict[str, str | bool] = {} if self.prefix == "plain" else {"prefix": self.prefix}
        return prefix | ({"text_only": True} if self.text_only else {})

    def generation(self) -> dict[str, str | int | float | bool | None]:
        """Marks of the answers in `submission.json`: differences from the whole plain benchmark."""
        settings: dict[str, str | int | float | bool | None] = {}
        if self.limit is not None:
            settings |= {"limit": self.limit, "stratified": self.stratified}
        if self.seed is not None:
            settings["seed"] = self.seed
        settings |= ({AS_AUTHORS: True} if self.as_authors else {}) | ({PART_MARK: self.part} if self.part else {})
        return settings | self.options | ({} if self.form == PAPER else {FORM: self.form})


@dataclass(frozen=True)
class OpenedBenchmark:
    """A benchmark with its data, ready to be asked.

    Args:
        positions: task -> positions of the chosen stimuli in its part.
        table: table of the submission that the answers fill.
        about: further settings that decide the answers; they stand in the log and must be equal for a run to go on.
        sample: whether a dataset is the small sample of one.
    """

    chosen: ChosenPart
    parts: Mapping[str, TaskStimuli]
    positions: Mapping[str, Sequence[int]]
    datasets: Mapping[str, str] = field(default_factory=dict)
    table: Literal["responses", "judgements"] = "responses"
    about: Mapping[str, Any] = field(default_factory=dict)
    sample: bool = False

    @property
    def marks(self) -> dict[str, str | int | float | bool | None]:
        """Marks of the answers in `submission.json`: `ChosenPart.generation`, and whether data are a sample."""
        again = {UNREADABLE_AGAIN: self.unreadable_again} if self.unreadable_again else {}
        return self.chosen.generation() | ({SAMPLE_DATA: True} if self.sample else {}) | again

    @property
    def names(self) -> dict[str, str]:
        """`TaskStimuli.names` of all parts."""
        return {item: both for part in self.parts.values() for item, both in part.names.items()}

    @property
    def unreadable_again(self) -> int:
        """Greatest number of times that any part sends a request with an unreadable answer anew."""
        return max((part.unreadable_again for part in self.parts.values()), default=0)

    @property
    def settings(self) -> dict[str, float | int | str]:
        """The paper's settings of generation that all parts share."""
        stated = [set(part.settings.items()) for part in self.parts.values()]
        return dict(sorted(set.intersection(*stated))) if stated else {}

    @property
    def asks(self) -> int:
        """Number of requests."""
        return sum(self.parts[task].stimuli[place].asks for task, places in self.positions.items() for place in places)

    def describe(self) -> dict[str, Any]:
        """Its description for a log or a journal, as JSON data."""
        described = {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in asdict(replace(self.chosen, only=None)).items()
        }
        del described["only"]
        if self.chosen.only is not None:
            keys = sorted((task, *key) for task, requests in self.chosen.only.items() for key in requests)
            described["only"] = hashlib.sha256(json.dumps(keys).encode()).hexdigest()
        if self.chosen.form == PAPER:
            del described["form"]
        if not self.chosen.as_authors:
            del described[AS_AUTHORS]
        if not self.chosen.part:
            del described[PART_MARK]
        described |= {
            "tasks": list(self.parts),
            "datasets": dict(self.datasets),
            "dataset_revision": self.chosen.revision,
        }
        described |= {SAMPLE_DATA: True} if self.sample else {}
        described |= {UNREADABLE_AGAIN: self.unreadable_again} if self.unreadable_again else {}
        described |= {"names": self.names} if self.names else {}
        return described | {"table": self.table, **self.about}


def open_benchmark(asked: ChosenPart) -> OpenedBenchmark:
    """The benchmark's parts and the chosen stimuli. RunError TASK_UNKNOWN, DATA_MISSING, DATA_INVALID."""
    revision = asked.revision if asked.as_authors else asked.dataset_revision
    opened = open_data(asked.data, revision) if asked.data else None
    parts_of = parts(
        asked.benchmark, opened, tasks=asked.tasks, revision=asked.revision, form=asked.form, **asked.options
    )
    if asked.as_authors:
        authors = benchmark(asked.benchmark).asking.authors.settings
        parts_of = [replace(part, settings={**part.settings, **authors}) for part in parts_of]
    by_task = {part.task: _narrowed(part, (asked.only or {}).get(part.task)) for part in parts_of}
    positions = {part.task: asked.choose(part.task, part.stimuli) for part in parts_of}
    if opened is None:
        return OpenedBenchmark(asked, by_task, positions)
    return OpenedBenchmark(asked, by_task, positions, dict(opened.used), sample=opened.sample)


def _narrowed(part: TaskStimuli, wanted: Mapping[tuple[str, int], str] | None) -> TaskStimuli:
    """A part reduced to some requests; None for all of them."""
    if wanted is None:
        return part
    asks = Counter(wanted.values())
    stimuli = [replace(stimulus, asks=asks[stimulus.id]) for stimulus in part.stimuli]

    def read(place: int) -> ReadStimulus:
        shown = part.read(place)
        return replace(shown, asks=tuple(ask for ask in shown.asks if (ask.id, ask.sample) in wanted))

    return replace(part, stimuli=stimuli, read=read)


def build_task(
    opened: OpenedBenchmark,
    asking: RunAsking,
    settings: Mapping[str, float | int | str] | None = None,
    meta: SubmissionMeta | None = None,
) -> InspectTask:
    """The Inspect task. With `meta` its log has the scores; `settings` of generation are the paper's for None."""
    from inspect_ai import Task as InspectTask
    from inspect_ai.model import GenerateConfig

    longest = max((part.max_tokens for part in opened.parts.values()), default=None)
    stated = {"max_tokens": longest, **(opened.settings if settings is None else settings)}
    sent = {name: value for name, value in stated.items() if value != DEFAULT}
    renamed = {name: sent.pop(name) for name in [COMPLETION] if name in sent}
    return InspectTask(
        name=opened.chosen.benchmark if opened.table == "responses" else f"{opened.chosen.benchmark}_judge",
        dataset=_dataset(opened, meta),
        solver=ask_each(asking),
        scorer=benchmark_scorer(asking.journal is None),
        config=GenerateConfig(**sent, extra_body=renamed or None),
        metadata={RUN: opened.describe()},
        fail_on_error=True,
    )


def _dataset(opened: OpenedBenchmark, meta: SubmissionMeta | None) -> Dataset:
    from inspect_ai.dataset import MemoryDataset, Sample

    samples: list[Sample] = []
    for task, places in opened.positions.items():
        for place in places:
            stimulus = opened.parts[task].stimuli[place]
            number_of_requests = "1 request" if stimulus.asks == 1 else f"{stimulus.asks} requests"
            about: dict[str, Any] = {STIMULUS: {"task": task, "position": place, "stratum": stimulus.stratum}}
            if meta is not None and not samples:
                about[SCORED] = {"meta": meta.model_dump(mode="json", exclude_none=True), "names": opened.names}
            samples.append(Sample(id=stimulus.id, input=f"{task}, {stimulus.id}: {number_of_requests}", metadata=about))
    return MemoryDataset(samples, name=opened.chosen.benchmark)


def parts(
    name: str,
    data: Data | None,
    *,
    tasks: Sequence[str] = (),
    revision: str = "",
    form: str = PAPER,
    **options: str | bool,
) -> list[TaskStimuli]:
    """The parts of a benchmark's tasks that a model answers with text, in the benchmark's order.

    Stimuli whose images the dataset lacks are left out, and `expected` counts them. `data` is None if not needed
    (fact_or_fair; genres without images; tournament). Without `tasks` all that are not optional are meant; a `form`
    other than the paper's covers some tasks only.

    Errors: UsageError for an unknown benchmark, form, option or value of an option; RunError TASK_UNKNOWN,
    DATA_MISSING, DATA_INVALID; BuildError REVISION_UNKNOWN.
    """
    bench = benchmark(name)
    check_options(name, **options)
    answered = {task.name: task for task in bench.tasks if task.ask is not None}
    for task_name in tasks:
        if task_name not in answered:
            where, mend = f"{name}, task {task_name}", f"choose from {', '.join(answered)}"
            what = "no task of the benchmark" + did_you_mean(task_name, answered)
            if task_name in bench.task_names():
                what = "a task for models that make images"
            raise RunError("TASK_UNKNOWN", where, what, "a task that is answered with text", mend)
    tasks_asked = text_tasks(name, tasks, form=form, text_only=bool(options.get("text_only")))
    shared = "; or leave out all pictures with --text-only" if "text_only" in bench.asking.options else ""
    asked: list[TaskStimuli] = []
    for task in tasks_asked:
        assert task.ask is not None
        try:
            asked.append(task.ask(task, data, revision or bench.revisions[0], **options))
        except RunError as error:
            if error.code != "DATA_MISSING":
                raise
            ways = shared + (f"; or leave out the task {task.name}" if len(tasks_asked) > 1 else "")
            raise RunError(error.code, error.where, error.what, error.expected, error.mend + ways) from error
    return asked if form == PAPER else [in_form(part, bench.asking.forms[form]) for part in asked]


def text_tasks(name: str, names: Sequence[str], *, form: str = PAPER, text_only: bool = False) -> list[Task]:
    """The named tasks that are answered with text, in the benchmark's order; all that are not optional if none is.

    Those about an image are left out if `text_only`, and those without a question in the `form`.
    Errors: UsageError for an unknown form; RunError TASK_UNKNOWN if a named task would be left out.
    """
    bench = benchmark(name)
    tasks = [task for task in bench.tasks if task.ask is not None and task.chosen(names)]
    if text_only:
        for task in tasks:
            if task.about_image and task.name in names:
                what, mend = "its question is about what the image shows", "leave out the task, or --text-only"
                raise RunError("TASK_UNKNOWN", f"{name}, task {task.name}", what, "a task that needs no image", mend)
        tasks = [task for task in tasks if not task.about_image]
    if form == PAPER:
        return tasks
    if form not in bench.asking.forms:
        forms = (PAPER, *bench.asking.forms)
        hint = did_you_mean(form, forms)
        raise UsageError(f"The questions of {bench.name} have no form {form!r}{hint}. Known: {', '.join(forms)}.")
    rewords = bench.asking.forms[form]
    for task in tasks:
        if task.name in names and task.name not in rewords:
            what, mend = "its question has no such form", f"choose from {', '.join(rewords)}, or leave out --form"
            raise RunError("TASK_UNKNOWN", f"{name}, task {task.name}", what, "a task with a free question", mend)
    return [task for task in tasks if task.name in rewords]


def asks_without_pictures(name: str, task: str, revision: str) -> bool:
    """Whether the questions of a task show no picture."""
    try:
        (part,) = parts(name, None, tasks=(task,), revision=revision)
    except RunError as error:
        if error.code != "DATA_MISSING":
            raise
        return False
    return all(ask.image is None for ask in part.read(0).asks)


def check_options(named: str, **options: str | bool) -> None:
    """UsageError if the benchmark has no such option, or the option no such value."""
    for name, value in options.items():
        values = benchmark(named).asking.options.get(name)
        if values is None:
            having = [other for other in NAMES if name in benchmark(other).asking.options]
            option = f"--{name.replace('_', '-')}"
            takes = "takes" if len(having) == 1 else "take"
            raise UsageError(f"Only {' and '.join(having)} {takes} {option}; leave it out for {named}.")
        if value not in values:
            texts = [str(text) for text in values]
            hint = did_you_mean(str(value), texts)
            raise UsageError(f"There is no {name} {value!r}{hint}. Known: {', '.join(texts)}.")
