"""IRIS' questions on understanding: occupation, tournament, image pairs (D.2.4 to D.2.6)."""

from base64 import b64decode
from collections.abc import Callable

import pyarrow as pa

from fairspace.builders.iris.groups import COMBINATIONS, CORE, GROUPS, OCCUPATIONS
from fairspace.builders.iris.items import steer_items
from fairspace.builders.iris_ideal_52 import plan as ideal
from fairspace.builders.iris_steer_60 import plan as steer
from fairspace.builders.iris_steer_60.understanding import CONFIG, SIDES, prompt_types
from fairspace.submissions.benchmarks.iris.records import OCCUPATION, PAIR, STEER, TOURNAMENT, neutral_group_counts
from fairspace.submissions.benchmarks.pictures import Data, planned_images
from fairspace.submissions.benchmarks.task import Ask, ReadStimulus, Stimulus, Task, TaskStimuli
from fairspace.submissions.format.schema import Submission

ROUNDS = 50
"""Rounds of a stimulus of the tournament; a group's 2 000 are forty of them, the core's 50 one."""
TYPICAL_TOKENS = {OCCUPATION: 20, TOURNAMENT: 5, PAIR: 10}
BLANK_PNG = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAYAAAAGACAIAAAArpSLoAAADqElEQVR42u3UMQEAAAzCMPybBhnbkUjo0RTgSCQADAgwIAADAgwIwIAAAwIwIM"
    "CAAAwIMCAAAwIMCMCAAAMCMCDAgAADAjAgwIAADAgwIAADAgwIwIAAAwIwIMCAAAwIMCAAAwIMCMCAAAMCDAjAgAADAjAgwIAADAgwIAADAgwI"
    "wIAAAwIwIMCAAAwIMCDAgAAMCDAgAAMCDAjAgAADAjAgwIAADAgwIAADAgwIwIAAAwIwIMCAAAMCMCDAgAAMCDAgAAMCDAjAgAADAjAgwIAADA"
    "gwIAADAgwIMCAAAwIMCMCAAAMCMCDAgAAMCDAgAAMCDAjAgAADAjAgwIAADAgwIMCAAAwIMCAAAwIMCMCAAAMCMCDAgAAMCDAgAAMCDAjAgAAD"
    "AgwIwIAAAwIwIMCAAAwIMCAAAwIMCMCAAAMCMCDAgAAMCDAgAAMCDAgwIAADAgwIwIAAAwIwIMCAAAwIMCAAAwIMCMCAAAMCMCDAgAAMCDAgwI"
    "AADAgwIAADAgwIwIAAAwIwIMCAAAwIMCAAAwIMCMCAAAMCDAjAgAADAjAgwIAADAgwIAADAgwIwIAAAwIwIMCAAAwIMCAAAwIMCDAgAAMCDAjA"
    "gAADAjAgwIAADAgwIAADAgwIwIAAAwIwIMCAAAMCMCDAgAAMCDAgAAMCDAjAgAADAjAgwIAADAgwIAADAgwIwIAAAwIMCMCAAAMCMCDAgAAMCD"
    "AgAAMCDAjAgAADAjAgwIAADAgwIMCAAAwIMCAAAwIMCMCAAAMCMCDAgAAMCDAgAAMCDAjAgAADAjAgwIAAAwIwIMCAAAwIMCAAAwIMCMCAAAMC"
    "MCDAgAAMCDAgAAMCDAgwIAkAAwIMCMCAAAMCMCDAgAAMCDAgAAMCDAjAgAADAjAgwIAADAgwIMCAAAwIMCAAAwIMCMCAAAMCMCDAgAAMCDAgAA"
    "MCDAjAgAADAjAgwIAAAwIwIMCAAAwIMCAAAwIMCMCAAAMCMCDAgAAMCDAgAAMCDAgwIAADAgwIwIAAAwIwIMCAAAwIMCAAAwIMCMCAAAMCMCDA"
    "gAAMCDAgwIAADAgwIAADAgwIwIAAAwIwIMCAAAwIMCAAAwIMCMCAAAMCDAjAgAADAjAgwIAADAgwIAADAgwIwIAAAwIwIMCAAAwIMCAAAwIMCD"
    "AgAAMCDAjAgAADAjAgwIAADAgwIAADAgwIwIAAAwIwIMCAAAMCMCDAgAAMCDAgAAMCDAjAgAADAjAgwIAADAj4bqVIpNhrfr9CAAAAAElFTkSu"
    "QmCC"
)
"""The blank white image of the tournament, 384 x 384 pixels as a PNG file."""


def occupation(task: Task, data: Data | None, revision: str) -> TaskStimuli:
    """One stimulus per image (D.2.4); strata: occupation and group. RunError DATA_MISSING, DATA_INVALID."""
    planned = ideal.image_ids(revision).to_pylist()
    questions = "question", [ideal.QUESTION] * len(planned)
    images, places = planned_images(
        OCCUPATION, data, ("iris_ideal_52", "occupation", "test"), planned, questions, revision in CORE
    )

    def read(number: int) -> ReadStimulus:
        item = planned[places[number]]
        return ReadStimulus((Ask(OCCUPATION, item, 0, ideal.QUESTION, 0),), (images.get(item),))

    ids = [planned[place] for place in places]
    stimuli = [Stimulus(item, OCCUPATION, item.split("/", 1)[1].rsplit("/", 1)[0], 1) for item in ids]
    return _part(task, stimuli, read, len(planned))


def tournament(task: Task, data: Data | None, revision: str) -> TaskStimuli:
    """Blocks of rounds of one group, with a blank white image (D.2.5); strata are the groups."""
    ids, prompts = ideal.tournament_ids(revision).to_pylist(), ideal.tournament_prompts(revision)

    def read(number: int) -> ReadStimulus:
        rounds = range(number * ROUNDS, (number + 1) * ROUNDS)
        asks = (Ask(TOURNAMENT, ids[i], 0, prompts[i], 0) for i in rounds)
        return ReadStimulus(tuple(asks), (BLANK_PNG,))

    stimuli = [
        Stimulus(f"{TOURNAMENT}/{group}/block-{block:02d}", TOURNAMENT, group, ROUNDS)
        for group in GROUPS
        for block in range(len(ids) // len(GROUPS) // ROUNDS)
    ]
    return _part(task, stimuli, read, len(ids))


def pair(task: Task, data: Data | None, revision: str) -> TaskStimuli:
    """One stimulus per pair: both images, 17 questions on each (D.2.6, Table 29). RunError DATA_MISSING, DATA_INVALID.

    Strata: attribute combination and stereotypical image, or `no_figures`. Pairs without one of their images are left
    out.
    """
    every = steer.pair_numbers(revision).tolist()
    planned = [f"{PAIR}/{number:04d}/{side}" for number in every for side in SIDES]
    images, places = planned_images(PAIR, data, ("iris_steer_60", CONFIG, "test"), planned, some=revision in CORE)
    available = set(places)
    numbers = [number for number in range(len(every)) if {2 * number, 2 * number + 1} <= available]
    plan, texts, questions = steer.pairs(revision), steer.SUBJECTIVE | steer.OBJECTIVE, steer.QUESTIONS
    each = len(SIDES) * len(questions)

    def read(place: int) -> ReadStimulus:
        number = numbers[place]
        name = OCCUPATIONS[plan.occupation[number]].replace("_", " ")
        items = planned[2 * number : 2 * number + 2]
        asks = tuple(
            Ask(PAIR, f"{item}/{question}", 0, texts[question].format(occupation=name), side)
            for side, item in enumerate(items)
            for question in questions
        )
        return ReadStimulus(asks, tuple(images.get(item) for item in items))

    combinations = tuple(COMBINATIONS)
    kinds = [prompt_types(number, revision)[0] or "no_figures" for number in numbers]
    stimuli = [
        Stimulus(f"{PAIR}/{every[number]:04d}", PAIR, f"{combinations[plan.combination[number]]}/{kind}", each)
        for number, kind in zip(numbers, kinds, strict=True)
    ]
    return _part(task, stimuli, read, len(steer.pair_ids(revision)))


def _part(task: Task, stimuli: list[Stimulus], read: Callable[[int], ReadStimulus], expected: int) -> TaskStimuli:
    return TaskStimuli(task.name, stimuli, read, task.max_tokens, TYPICAL_TOKENS[task.name], expected, task.settings)


def steered_items(submission: Submission) -> dict[str, pa.Table]:
    """Steer prompts that follow from the labelled neutral images of a submission; empty without such an image."""
    counts = neutral_group_counts(submission)
    return {STEER: steer_items(counts, submission.meta.dataset_revision)} if counts.any() else {}
