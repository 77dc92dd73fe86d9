"""The random part of a submission's items that is asked again, drawn by a seed that its submitter cannot know."""

import hmac
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from fairspace.submissions.answers.likeness import Key
from fairspace.submissions.benchmarks import task as asks
from fairspace.submissions.benchmarks.benchmark import AS_AUTHORS, FORM, PAPER
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.benchmarks.task import Stimulus
from fairspace.submissions.format.schema import Submission, SubmissionMeta
from fairspace.submissions.running.asking.inspect_task import ChosenPart, open_benchmark
from fairspace.submissions.running.planning import made_parts

ITEMS = 385
"""Requests of a part: a 95 % confidence interval of a share is then at most 5 points to either side."""
_LEAST = 10
"""Least number of requests of a task, if it has them."""


@dataclass(frozen=True)
class RerunPart:
    """The part that is asked again: the run's drawn stimuli alone, with its own settings.

    Args:
        stimulus_of: task -> id and sample of a drawn request -> its stimulus (cluster).
        uncovered: tasks that cannot be asked again: no model for them was named, or their prompts follow from the
            model's images. A judge's tasks are not among them.
    """

    chosen: ChosenPart
    stimulus_of: Mapping[str, Mapping[Key, str]]
    uncovered: tuple[str, ...]


def chosen_as(meta: SubmissionMeta, data: str) -> ChosenPart:
    """A run of the whole benchmark with the settings that a submission states."""
    stated = meta.generation
    seed, form = stated.get("seed"), stated.get(FORM)
    return ChosenPart(
        meta.benchmark,
        data,
        seed=seed if type(seed) is int else None,
        prefix=str(stated.get("prefix", "plain")),
        text_only=stated.get("text_only") is True,
        dataset_revision=meta.dataset_revision,
        form=form if isinstance(form, str) else PAPER,
        as_authors=stated.get(AS_AUTHORS) is True,
    )


def draw_part(
    submission: Submission,
    seed: str,
    data: str,
    *,
    texts: bool,
    images: bool,
    items: int = ITEMS,
    without: Sequence[str] = (),
) -> RerunPart:
    """Draw a part of at least `items` handed-in answers, evenly over the tasks but those `without`.

    `submission` is checked, its images labelled; `texts` and `images` say whether a model answers, or makes images.
    Errors: as `open_benchmark`.
    """
    bench = benchmark(submission.meta.benchmark)
    whole = chosen_as(submission.meta, data)
    handed_in = {task.name: _keys(submission, task.table, task.name) for task in bench.tasks}
    present = [task for task in bench.tasks if handed_in[task.name] and not task.judges and task.name not in without]
    tasks = [
        task.name
        for task in present
        if (task.table == "responses" and texts) or (task.table == "annotations" and images and task.items is not None)
    ]
    share = max(_LEAST, -(-items // max(1, len(tasks))))
    stimulus_of: dict[str, dict[Key, str]] = {}
    answered = tuple(task for task in tasks if bench.task(task).table == "responses")
    opened = open_benchmark(replace(whole, tasks=answered)) if answered else None
    for task, part in opened.parts.items() if opened is not None else ():

        def asked(place: int, part: asks.TaskStimuli = part) -> list[Key]:
            return [(ask.id, ask.sample) for ask in part.read(place).asks]

        stimulus_of[task] = _take(seed, part.stimuli, asked, handed_in[task], share)
    made = tuple(task for task in tasks if bench.task(task).table == "annotations")
    for image_part in made_parts(replace(whole, tasks=made)) if made else ():
        stimuli = image_part.stimuli

        def image(place: int, stimuli: Sequence[Stimulus] = stimuli) -> list[Key]:
            return [(stimuli[place].stratum, int(stimuli[place].id.rpartition("/")[2]))]

        stimulus_of[image_part.task] = _take(seed, stimuli, image, handed_in[image_part.task], share)
    only: dict[str, dict[str, frozenset[Key]]] = {}
    for task, keys in stimulus_of.items():
        grouped: dict[str, set[Key]] = {}
        for key, stimulus in keys.items():
            grouped.setdefault(stimulus, set()).add(key)
        only[task] = {stimulus: frozenset(drawn) for stimulus, drawn in grouped.items()}
    uncovered = tuple(task.name for task in present if task.name not in stimulus_of)
    return RerunPart(replace(whole, tasks=tuple(only), only=only), stimulus_of, uncovered)


def rank(seed: str, *parts: object) -> bytes:
    """A sort key in a random order given by the seed."""
    return hmac.digest(seed.encode(), "\0".join(map(str, parts)).encode(), "sha256")


def _keys(submission: Submission, table: str, task: str) -> set[Key]:
    rows = submission.rows(table, task)
    return set(zip(rows["id"].to_pylist(), rows["sample"].to_pylist(), strict=True))


def _take(
    seed: str, stimuli: Sequence[Stimulus], keys_of: Callable[[int], Iterable[Key]], handed_in: set[Key], share: int
) -> dict[Key, str]:
    """A few handed-in requests of each of many stimuli, in the seed's order: stimuli are clusters of answers."""
    taken: dict[Key, str] = {}
    order = sorted(range(len(stimuli)), key=lambda place: rank(seed, stimuli[place].task, stimuli[place].id))
    rest: list[tuple[Key, str]] = []
    for place in order:
        if len(taken) >= share:
            break
        there = sorted((key for key in keys_of(place) if key in handed_in), key=lambda key: rank(seed, *key))
        each = -(-share // len(stimuli))
        taken |= dict.fromkeys(there[:each], stimuli[place].id)
        rest += [(key, stimuli[place].id) for key in there[each:]]
    return taken | dict(rest[: max(0, share - len(taken))])
