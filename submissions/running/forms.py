"""`fairspace run --forms`: the questions in further forms, asked after the run and kept apart from its submission.

OUT/               the submission, in the paper's form
OUT.forms/FORM/    the answers to the same choice of stimuli in another form: a submission of its own, never ranked
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.errors import UsageError
from fairspace.submissions.results.forms import forms_folder
from fairspace.submissions.running.run import Outcome, run, text_tasks
from fairspace.submissions.running.settings import RunSettings, Tell


def check_forms(settings: RunSettings) -> None:
    """UsageError if there is nothing that further forms could be asked of."""
    if settings.model is None or not text_tasks(settings.chosen):
        raise UsageError("--forms asks questions in other words: name --model, and a task that is answered with text.")


def run_forms(settings: RunSettings, tell: Tell = lambda what, done, total: None) -> Iterator[Outcome]:
    """Ask every further form of the benchmark's questions, or go on where an earlier call stopped.

    Args:
        settings: of the run in the paper's form, which is done; its images are no part of this.
        tell: as `run`.

    Errors: as `run`; UsageError as `check_forms`.
    """
    check_forms(settings)
    folder = forms_folder(settings.out)
    folder.mkdir(exist_ok=True)
    tasks = text_tasks(settings.chosen)
    for form in benchmark(settings.chosen.benchmark).forms:
        chosen = replace(settings.chosen, tasks=tasks, form=form)
        texts = replace(settings, images="", ares="", faces=None, quality={}, score=False)
        yield run(replace(texts, chosen=chosen, out=folder / form), _naming(tell, form))


def _naming(tell: Tell, form: str) -> Tell:
    return lambda what, done, total: tell(f"{what}, {form}", done, total)
