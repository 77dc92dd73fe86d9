"""What each benchmark asks a model that answers with text: its parts, one per task.

The prompts and ids are those of the item plans in `builders/`; images come from built datasets.
"""

from __future__ import annotations

from collections.abc import Sequence

from fairspace.builders.stereotypical_bias.plan import PREFIXES
from fairspace.submissions.benchmarks.asks import Part
from fairspace.submissions.benchmarks.registry import benchmark as registered
from fairspace.submissions.errors import UsageError, did_you_mean
from fairspace.submissions.running.data.data import Data
from fairspace.submissions.running.errors import RunError


def parts(
    benchmark: str,
    data: Data | None,
    *,
    tasks: Sequence[str] = (),
    prefix: str = "plain",
    text_only: bool = False,
) -> list[Part]:
    """The parts of a benchmark's tasks that a model answers with text, in the benchmark's order.

    Args:
        benchmark: its name.
        data: where images come from; None where none are needed (fact_or_fair; genres without images; the tournament).
        tasks: only these; empty for all.
        prefix: of the prompts of stereotypical_bias, a key of `fairspace.builders.stereotypical_bias.plan.PREFIXES`.
        text_only: whether genres is asked without its images.

    Returns:
        One part per task. Stimuli whose images the dataset lacks are left out, and `expected` counts them.

    Errors: UsageError for an unknown benchmark or prefix, or an option of another benchmark; RunError TASK_UNKNOWN,
    DATA_MISSING (says how to come by it), DATA_INVALID.
    """
    known = registered(benchmark)
    check_options(benchmark, prefix, text_only)
    answered = [task.name for task in known.tasks if task.table == "responses"]
    for task in tasks:
        if task not in answered:
            mend = f"choose from {', '.join(answered)}"
            what = "no task of the benchmark" + did_you_mean(task, answered)
            if task in known.task_names():
                what = "a task for models that make images"
            raise RunError("TASK_UNKNOWN", f"{benchmark}, task {task}", what, "a task that is answered with text", mend)
    chosen = [task for task in answered if task in tasks or not tasks]
    made = []
    for task in chosen:
        try:
            made.append(_part(benchmark, task, data, prefix, text_only))
        except RunError as error:
            if error.code != "DATA_MISSING" or len(chosen) == 1:
                raise
            mend = f"{error.mend}; or leave out the task {task}"
            raise RunError(error.code, error.where, error.what, error.expected, mend) from error
    return made


def _part(benchmark: str, task: str, data: Data | None, prefix: str, text_only: bool) -> Part:
    if benchmark == "genres":
        from fairspace.submissions.benchmarks.genres.ask import narrative

        return narrative(data, text_only=text_only)
    if benchmark == "fact_or_fair":
        from fairspace.submissions.benchmarks.fact_or_fair.ask import objective, subjective

        return objective() if task == "llm_objective" else subjective()
    if benchmark == "stereotypical_bias":
        from fairspace.submissions.benchmarks.stereotypical_bias.ask import language, vision

        return (vision if task.startswith("vision") else language)(task, data, prefix)
    from fairspace.submissions.benchmarks.iris.ask import occupation, pair, tournament

    if task == "tournament":
        return tournament()
    return occupation(data) if task == "occupation" else pair(data)


def check_options(benchmark: str, prefix: str, text_only: bool) -> None:
    """UsageError if a prefix is not known, or an option is another benchmark's."""
    if prefix not in PREFIXES:
        raise UsageError(
            f"There is no prefix {prefix!r}{did_you_mean(prefix, PREFIXES)}. Known: {', '.join(PREFIXES)}."
        )
    if prefix != "plain" and benchmark != "stereotypical_bias":
        raise UsageError(f"Only stereotypical_bias has prefixes; leave out {prefix!r} for {benchmark}.")
    if text_only and benchmark != "genres":
        raise UsageError(f"Only genres can be asked without its images, not {benchmark}.")
