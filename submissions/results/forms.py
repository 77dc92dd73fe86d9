"""What a submission's values are when the same questions are asked in other forms (`fairspace run --forms`)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fairspace.submissions.benchmarks.forms import FORM, PAPER
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.checking.submission import read_submission
from fairspace.submissions.errors import UsageError
from fairspace.submissions.format.schema import Submission


def forms_folder(submission: Path) -> Path:
    """Where the answers in further forms lie, beside a submission's folder or its zip."""
    return submission.with_name(f"{submission.name.removesuffix('.zip')}.forms")


def answers_beside(submission: Path, scored: Submission) -> dict[str, Submission]:
    """Further form -> the checked answers in it, of the forms that lie beside a submission's folder.

    Errors: as `values_by_form`, but for a submission without further forms, which has none.
    """
    folders = {form: forms_folder(submission.absolute()) / form for form in benchmark(scored.meta.benchmark).forms}
    given = {form: read_submission(folder) for form, folder in folders.items() if folder.is_dir()}
    for form, answers in given.items():
        check_form(scored, answers, form)
    return given


def with_forms(given: Sequence[tuple[Path, Submission]]) -> list[tuple[Submission, dict[str, Submission]]]:
    """The submissions in the paper's form, each with its answers in further forms: those beside it, and those given.

    Errors: as `answers_beside`; UsageError for answers in a further form that not one given submission goes with.
    """
    papers = [(path, scored) for path, scored in given if form_of(scored) == PAPER]
    sets = [(scored, answers_beside(path, scored)) for path, scored in papers]
    beside = {forms_folder(path.absolute()).resolve() for path, _ in papers}
    for path, answers in given:
        form = form_of(answers)
        if form == PAPER or path.resolve().parent in beside:
            continue
        of_model = [each for each in sets if each[0].meta.model == answers.meta.model]
        if len(of_model) != 1:
            model = answers.meta.model
            raise UsageError(
                f"{path} answers in the form {form}: name one submission of {model} in the paper's form too."
            )
        [(scored, forms)] = of_model
        check_form(scored, answers, form)
        forms[form] = answers
    return sets


def form_of(submission: Submission) -> str:
    """The form of the questions that a submission answers."""
    return str(submission.meta.generation.get(FORM, PAPER))


def values_by_form(submission: Path) -> dict[str, dict[str, float]]:
    """Value -> form -> its number, the paper's form first; of values that are measured in several forms.

    Args:
        submission: folder of a run with `--forms`.

    Errors: SubmissionError for a submission with faults; UsageError if there are no further forms, or a folder holds
    answers of another model, dataset revision, choice of stimuli or form than it should.
    """
    scored = read_submission(submission)
    given = answers_beside(submission, scored)
    if not given:
        raise UsageError(f"{submission} has no answers in further forms; run it again with --forms.")
    by_value: dict[str, dict[str, float]] = {}
    for form, answers in {PAPER: scored, **given}.items():
        for name, number in _numbers(answers).items():
            by_value.setdefault(name, {})[form] = number
    return {name: numbers for name, numbers in by_value.items() if PAPER in numbers and len(numbers) > 1}


def _numbers(submission: Submission) -> dict[str, float]:
    """The values of a submission that have a number."""
    bench = benchmark(submission.meta.benchmark)
    values = bench.measure(bench.read(submission))
    return {name: value.value for name, value in values.items() if value.value is not None}


def check_form(scored: Submission, answers: Submission, form: str) -> None:
    """UsageError if two submissions differ in more than the form."""
    named = form_of(answers)
    if named != form:
        raise UsageError(f"The answers in the form {form} say that they are in the form {named}.")
    for what in ("benchmark", "dataset_revision", "model", "revision"):
        here, there = getattr(scored.meta, what), getattr(answers.meta, what)
        if here != there:
            raise UsageError(f"The answers in the form {form} are of {what} {there}, the others of {here}.")
    for what in ("limit", "stratified"):
        if scored.meta.generation.get(what) != answers.meta.generation.get(what):
            raise UsageError(f"The answers in the form {form} are to another choice of stimuli ({what}).")
    metas = (scored.meta, answers.meta)
    judges = [[tool.name for tool in (meta.judge, *(meta.other_judges or ())) if tool] for meta in metas]
    for here, there in zip(*judges, strict=False):
        if here != there:
            raise UsageError(f"The answers in the form {form} are judged by {there}, the others by {here}.")
