"""Which images a run makes: those that `generating.image_asks` chooses, before the prompts of all are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fairspace.builders.iris.items import unnamed_steer_items
from fairspace.submissions.benchmarks.asks import Stimulus
from fairspace.submissions.benchmarks.registry import benchmark as registered
from fairspace.submissions.running.asking.inspect_task import Chosen


@dataclass(frozen=True)
class MadePart:
    """The images of one task.

    Args:
        task: of the submission.
        stimuli: one per image; its stratum is the item whose prompt it answers.
        positions: the chosen ones.
    """

    task: str
    stimuli: Sequence[Stimulus]
    positions: Sequence[int]

    @property
    def chosen(self) -> list[Stimulus]:
        """The images that are made."""
        return [self.stimuli[place] for place in self.positions]

    @property
    def prompts(self) -> int:
        """Different prompts of the chosen images."""
        return len({stimulus.stratum for stimulus in self.chosen})


def made_parts(chosen: Chosen) -> list[MadePart]:
    """The image tasks that are asked for; none for a benchmark without.

    The steer prompts of IRIS follow from the model's own neutral images. Here they have names of their own,
    `steer/<stereotype>/stereotypical` and `steer/<stereotype>/counter-<number>`, so that a limited choice is as large
    as that of the run, and not the same.
    """
    parts = []
    for task in registered(chosen.benchmark).tasks:
        if task.table != "annotations" or (chosen.tasks and task.name not in chosen.tasks):
            continue
        items = unnamed_steer_items() if task.items is None else task.items(chosen.revision)["id"].to_pylist()
        stimuli = [Stimulus(f"{item}/{sample}", task.name, item, 1) for item in items for sample in range(task.samples)]
        positions = chosen.choose(task.name, stimuli)
        parts.append(MadePart(task.name, stimuli, positions))
    return parts
