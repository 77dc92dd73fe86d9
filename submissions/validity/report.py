"""What `fairspace standard validate` says of the submissions to one benchmark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from fairspace.submissions.benchmarks.forms import PAPER
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.validity.forms import Answers, FormReport, form_report
from fairspace.submissions.validity.halves import Halves, on_halves
from fairspace.submissions.validity.retest import Retest, retests
from fairspace.submissions.validity.study import Study
from fairspace.submissions.validity.study_report import StudyReport, joined, study_report
from fairspace.submissions.values import Value

if TYPE_CHECKING:
    from fairspace.submissions.benchmarks.benchmark import Benchmark
    from fairspace.submissions.format.schema import Submission


@dataclass(frozen=True)
class Report:
    """What is said of one or several models' submissions to a benchmark.

    Args:
        benchmark: its name.
        revision: of its dataset.
        models: whose submissions.
        studies: of their samples.
        halves: the values that scores are made of, on halves of the samples of each model's first submission.
        retests: the same in repeated runs; empty where no model has two submissions.
        forms: of the questions, as a factor and value by value; None where only the paper's was asked.
    """

    benchmark: str
    revision: str
    models: tuple[str, ...]
    studies: tuple[StudyReport, ...]
    halves: tuple[Halves, ...] = ()
    retests: tuple[Retest, ...] = ()
    forms: FormReport | None = None

    def to_json(self) -> dict[str, Any]:
        """As JSON data."""
        return asdict(self)


def report(
    submissions: Sequence[Submission],
    wanted: float | None = None,
    in_forms: Sequence[Mapping[str, Submission]] = (),
) -> Report:
    """The studies of checked submissions to one benchmark; of several, the model or the run is a further factor.

    Args:
        submissions: to one dataset revision of one benchmark.
        wanted: half-width of the interval that the decision study is for; each study's own if left out.
        in_forms: of each submission, further form of the questions -> the answers in it.

    ValueError for submissions to several benchmarks or revisions.
    """
    keys = {(submission.meta.benchmark, submission.meta.dataset_revision) for submission in submissions}
    if len(keys) != 1:
        raise ValueError("the submissions are to several benchmarks or dataset revisions")
    ((name, revision),) = keys
    bench = find_benchmark(name)
    models = [submission.meta.model for submission in submissions]
    firsts = [models.index(model) for model in dict.fromkeys(models)]
    records = [bench.read(submission) for submission in submissions]
    studies = [list(bench.studies(read)) for read in records]
    measured = [bench.measure(read) for read in records] if len(firsts) < len(models) or any(in_forms) else []
    return Report(
        name,
        revision,
        tuple(models),
        tuple(study_report(study, wanted) for study in joined(models, studies)),
        tuple(on_halves([list(bench.designs(records[place])) for place in firsts], bench.drawn)),
        tuple(retests(models, measured, bench.drawn)),
        form_report(models, _by_form(bench, studies, measured, in_forms), bench.drawn) if any(in_forms) else None,
    )


def _by_form(
    bench: Benchmark,
    studies: Sequence[Sequence[Study]],
    measured: Sequence[Mapping[str, Value]],
    in_forms: Sequence[Mapping[str, Submission]],
) -> list[dict[str, Answers]]:
    """Form -> its answers, of each submission; the paper's form first."""
    by_form = [{PAPER: Answers(*paper)} for paper in zip(studies, measured, strict=True)]
    for answers, further in zip(by_form, in_forms, strict=True):
        for form, submission in further.items():
            records = bench.read(submission)
            answers[form] = Answers(list(bench.studies(records)), bench.measure(records))
    return by_form
