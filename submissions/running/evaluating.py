"""`fairspace eval`: benchmarks planned, asked, judged, checked, scored and reported, a folder for each.

OUT/BENCHMARK/submission/    answers and judgements; the workings beside it, in submission.run
OUT/BENCHMARK/result.json    for `fairspace compare` and `report`
OUT/BENCHMARK/report.html
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fairspace.builders.part import part_folder
from fairspace.builders.writing import write_text
from fairspace.submissions.benchmarks.benchmark import CORE
from fairspace.submissions.benchmarks.registry import NAMES, benchmark
from fairspace.submissions.checking.submission import read_submission
from fairspace.submissions.errors import RunError, UsageError
from fairspace.submissions.format.manifest import PART, Stage, limit_mark
from fairspace.submissions.report.contents import make_report, to_html
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import score_submission
from fairspace.submissions.running.asking.inspect_task import ChosenPart, OpenedBenchmark, open_benchmark
from fairspace.submissions.running.asking.models import ModelSettings
from fairspace.submissions.running.judging import as_the_authors
from fairspace.submissions.running.judging import judge as judged
from fairspace.submissions.running.local.ending import usable_cores
from fairspace.submissions.running.planning import PlanLine, estimate, plan
from fairspace.submissions.running.run import run, text_tasks, too_few, without_seed
from fairspace.submissions.running.settings import RunOutcome, RunSettings, Tell


@dataclass(frozen=True)
class Evaluated:
    """A benchmark's result, its report, the stages of asking and judging, and sentences on what was not done."""

    result: Result
    report: Path
    stages: tuple[Stage, ...]
    notes: tuple[str, ...]


def open_all(
    names: Sequence[str] = (),
    *,
    core: bool = False,
    dataset_revision: str = "",
    limit: int | None = None,
    data: str = "",
    **more: Any,
) -> list[OpenedBenchmark]:
    """The benchmarks that a model is asked, with their questions.

    Args:
        names: benchmarks; all whose questions can all be asked with `data` if empty.
        core: whether each one's core is asked, a fixed part with a known error.
        dataset_revision: revision of the items of the one named benchmark, if that is not its core.
        limit: greatest number of stimuli of a task, spread evenly over the strata; None for all.
        data: source of pictures; '' leaves them out: of stereotypical bias the language tasks are left, of GENRES the
            stories without a picture, of IRIS nothing.
        more: further fields of `ChosenPart`, such as the seed.

    Errors: UsageError for an unknown benchmark; RunError DATA_MISSING, DATA_INVALID.
    """
    if dataset_revision and (core or len(names) != 1):
        raise UsageError("--dataset-revision is of one benchmark: name one --benchmark, and no --core.")
    opened = []
    for name in dict.fromkeys(names or NAMES):
        bench = benchmark(name)
        revision = bench.core if core else dataset_revision
        alone = not data and "text_only" in bench.asking.options
        part = ChosenPart(name, data, (), limit, True, text_only=alone, dataset_revision=revision, **more)
        try:
            opened.append(open_benchmark(replace(part, tasks=text_tasks(part))))
        except RunError as error:
            if names or error.code != "DATA_MISSING":
                raise
    return opened


def told_plan(opened: Sequence[OpenedBenchmark], model: ModelSettings, judge: ModelSettings | None = None) -> str:
    """The number of requests, their time and memory on this machine, and the kind of the results, in sentences."""
    asked, lines = [], []
    for each in opened:
        of = sum(part.expected for part in each.parts.values())
        share = f"{each.asks:,} of {of:,}" if each.asks < of else f"{of:,}"
        asked.append(f"{each.chosen.benchmark} {each.chosen.revision}: {share} requests")
        lines += plan(each, model.name, max_tokens=model.max_tokens or model.max_completion_tokens)

    def takes(by: ModelSettings, lines: Sequence[PlanLine]) -> str:
        return estimate(by.name, lines, by.connections, usable_cores(), by.arguments.get("threads") or 0)

    sentences = [f"{'; '.join(asked)}.", takes(model, [line for line in lines if line.model])]
    if judge is not None and (judging := [line for line in lines if not line.model]):
        sentences.append(f"Judge {takes(judge, judging)}")
    if any(CORE in each.chosen.revision for each in opened):
        sentences.append("A core is a fixed part of a benchmark; its results are ranked in a group of their own.")
    limited = [each for each in opened if each.chosen.limit is not None]
    sentences += dict.fromkeys(f"{PART}: {limit_mark(each.chosen.limit or 0, stratified=True)}." for each in limited)
    sentences += filter(None, (*map(too_few, limited), *map(without_seed, opened)))
    return " ".join(sentences)


def folder_of(part: ChosenPart, out: Path) -> Path:
    """The folder of a benchmark in `out`, named by its revision too if that is a core."""
    return out / (f"{part.benchmark}-{part.revision}" if CORE in part.revision else part.benchmark)


def ask(part: ChosenPart, model: ModelSettings | None, out: Path, *, tell: Tell, **more: Any) -> RunOutcome:
    """The first step of `evaluate`, with its arguments and errors: the submission, or the part of one that is asked."""
    submission = part_folder(folder_of(part, out) / "submission", part.part)
    submission.parent.mkdir(parents=True, exist_ok=True)
    return run(RunSettings(part, submission, model, again=True, **more), tell)


def evaluate(
    part: ChosenPart,
    model: ModelSettings | None,
    out: Path,
    *,
    judge: ModelSettings | None = None,
    tell: Tell = lambda what, done, total: None,
    **more: Any,
) -> Evaluated:
    """Evaluate a model on one benchmark, or go on where an earlier call stopped; nothing answered is asked again.

    Args:
        part: benchmark and its part, as in `open_all`.
        model: model that answers; None for one that only makes images.
        out: folder with a folder for each benchmark; made if absent.
        judge: model that reads the stories of a benchmark with a judge; None leaves the judge's metrics out.
        tell: progress.
        more: further fields of `RunSettings`, such as the model that makes images.

    Errors: UsageError; SubmissionError; RunError, of which JUDGE_NOTHING is a note.
    """
    folder = folder_of(part, out)
    outcome = ask(part, model, out, tell=tell, **more)
    submission, stages, notes = outcome.out, outcome.stages, []
    if benchmark(part.benchmark).asking.judge is not None:
        unjudged = f"{benchmark(part.benchmark).title}: the metrics that need a judge are not run"
        if judge is None:
            notes.append(f"{unjudged}; name one with --judge MODEL.")
        else:
            try:
                judges = as_the_authors(benchmark(part.benchmark), judge) if part.as_authors else [judge]
                stages += judged(submission, judges, again=True, tell=tell).stages
            except RunError as error:
                if error.code != "JUDGE_NOTHING":
                    raise
                notes.append(f"{unjudged}, as there are {error.what}.")
    tell("Scoring", 0, 0)
    result = score_submission(read_submission(submission))
    write_text(folder / "result.json", result.dumps())
    report = folder / "report.html"
    write_text(report, to_html(make_report([result])))
    return Evaluated(result, report, stages, tuple(notes))
