"""Which images a run makes: the prompts of each task of a model that makes images, and how many of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from builders import export, iris_steer_60
from builders.iris_groups import OCCUPATIONS
from submissions.faults import did_you_mean
from submissions.iris_generation import NEUTRAL, STEER
from submissions.registry import benchmark as registered
from submissions.running.asks import Stimulus, choose
from submissions.running.errors import RunError


@dataclass(frozen=True)
class MadePart:
    """The prompts of one task whose answers are images.

    Args:
        task: of the submission.
        stimuli: one per prompt; `asks` of it is how many images.
        positions: the chosen ones.
    """

    task: str
    stimuli: Sequence[Stimulus]
    positions: Sequence[int]

    @property
    def chosen(self) -> list[Stimulus]:
        """The prompts that are run."""
        return [self.stimuli[place] for place in self.positions]


def made_parts(
    benchmark: str, *, tasks: Sequence[str] = (), limit: int | None = None, stratified: bool = False
) -> list[MadePart]:
    """The image tasks of a benchmark; none for a benchmark without.

    The steer prompts of IRIS follow from the model's own neutral images: here they have numbers, and all sixty are made
    whatever the limit, because ten stereotypes and their sixty prompts are one design.

    Errors: RunError TASK_UNKNOWN.
    """
    known = [task for task in registered(benchmark).tasks if task.table == "annotations"]
    names = [task.name for task in known]
    for name in tasks:
        if name not in names:
            what = "no task of the benchmark that makes images" + did_you_mean(name, names)
            expected = f"one of {', '.join(names)}" if names else "a benchmark with such a task"
            mend = "leave it out, or leave out the option for images"
            raise RunError("TASK_UNKNOWN", f"{benchmark}, task {name}", what, expected, mend)
    found = []
    for task in known:
        if tasks and task.name not in tasks:
            continue
        stimuli = _steer(task.samples) if task.name == STEER else _stimuli(benchmark, task.name, task.samples)
        bound = None if task.name == STEER else limit
        found.append(MadePart(task.name, stimuli, choose(stimuli, bound, stratified=stratified)))
    return found


def _stimuli(benchmark: str, task: str, images: int) -> list[Stimulus]:
    ids = export.tables(benchmark)[task]["id"].to_pylist()
    if task == NEUTRAL:
        return [Stimulus(item, task, name, images) for item, name in zip(ids, OCCUPATIONS, strict=True)]
    return [Stimulus(item, task, "/".join(item.split("/")[1:3]), images) for item in ids]


def _steer(images: int) -> list[Stimulus]:
    kinds = ("stereotypical", *("counter_stereotypical",) * 5)
    return [
        Stimulus(f"steer/{stereotype}/{number}", STEER, kind, images)
        for stereotype in range(iris_steer_60.STEREOTYPES)
        for number, kind in enumerate(kinds)
    ]
