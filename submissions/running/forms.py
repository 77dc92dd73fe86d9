"""`fairspace run --forms`: free questions in their closed form, asked after the run and kept apart from its submission.

OUT/               the submission, in the paper's form
OUT.forms/FORM/    the answers to the same choice of stimuli in another form: a submission of its own, never ranked
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from fairspace.submissions.benchmarks.forms import Reword
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.errors import UsageError
from fairspace.submissions.running.run import Outcome, run, text_tasks
from fairspace.submissions.running.settings import RunSettings, Tell


def check_forms(settings: RunSettings) -> None:
    """UsageError if there is nothing that further forms could be asked of."""
    forms = benchmark(settings.chosen.benchmark).asking.forms.values()
    if settings.model is None or not any(_tasks(settings, form) for form in forms):
        raise UsageError("--forms asks free questions in a closed form: name --model, and a task with a free question.")


def run_forms(settings: RunSettings, tell: Tell = lambda what, done, total: None) -> Iterator[Outcome]:
    """Ask every further form of the benchmark's questions, or go on where an earlier call stopped.

    Args:
        settings: of the run in the paper's form, which is done; its images are no part of this.
        tell: as `run`.

    Errors: as `run`; UsageError as `check_forms`.
    """
    check_forms(settings)
    folder = settings.out.with_name(f"{settings.out.name}.forms")
    folder.mkdir(exist_ok=True)
    for form, rewords in benchmark(settings.chosen.benchmark).asking.forms.items():
        chosen = replace(settings.chosen, tasks=_tasks(settings, rewords), form=form)
        texts = replace(settings, images="", ares="", faces=None, quality={}, score=False)
        yield run(replace(texts, chosen=chosen, out=folder / form), _naming(tell, form))


def _tasks(settings: RunSettings, rewords: Mapping[str, Reword]) -> tuple[str, ...]:
    return tuple(task for task in text_tasks(settings.chosen) if task in rewords)


def _naming(tell: Tell, form: str) -> Tell:
    return lambda what, done, total: tell(f"{what}, {form}", done, total)
