"""Prompts of the stereotypical bias benchmark: 20 questions per pair of faces, one per picture of a trait.

Sections 3.1, 3.2 and 4; prefixes of section 5.4, modes of the authors' programs in revision `modscan`. The paper states
no settings of generation; the declaration has those of the programs.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import prod

from fairspace.builders.stereotypical_bias import modscan, plan
from fairspace.metrics.resampling import MOST_UNDEFINED
from fairspace.submissions.benchmarks.pictures import Data, planned_images
from fairspace.submissions.benchmarks.task import Ask, ReadStimulus, Stimulus, Task, TaskStimuli
from fairspace.submissions.errors import RunError

DATASET = "stereotypical_bias"
TYPICAL_TOKENS = 20


def vision(
    task: Task, data: Data | None, revision: str, prefix: str = "plain", *, text_only: bool = False
) -> TaskStimuli:
    """One stimulus per picture of two faces, with its 20 questions; strata are the cells of section 4 (age and groups).

    `prefix` is one of `plan.prefixes`; `text_only` must be False. Errors: RunError TASK_UNKNOWN without this prefix,
    DATA_MISSING, DATA_INVALID.
    """
    _check_prefix(task.name, revision, prefix)
    name, attribute = task.name, plan.task_attribute(task.name)
    items, each = plan.items(name, revision), len(plan.INSTANCES)
    pairs = plan.pairs(attribute, revision).to_pylist()
    planned = [f"{name}/{pair['pair']}" for pair in pairs]
    images, places = planned_images(name, data, (DATASET, "vision", attribute), planned, some=revision in plan.CORE)

    def read(number: int) -> ReadStimulus:
        rows = items.slice(places[number] * each, each)
        asks = zip(rows["id"].to_pylist(), rows["prompt"].to_pylist(), strict=True)
        asked = tuple(Ask(name, item, 0, plan.with_prefix(text, prefix, name, revision), 0) for item, text in asks)
        return ReadStimulus(asked, (modscan.shown(images.get(planned[places[number]]), prefix, name),))

    groups = plan.GROUPS[attribute]
    stimuli = []
    for place in places:
        pair = pairs[place]
        two = "-".join(groups[code] for code in sorted((pair["left"], pair["right"])))
        stimuli.append(Stimulus(planned[place], name, f"{pair['age']}/{pair['shared']}/{two}", each))
    return TaskStimuli(name, stimuli, read, task.max_tokens, TYPICAL_TOKENS, expected=items.num_rows)


def language(
    task: Task, data: Data | None, revision: str, prefix: str = "plain", *, text_only: bool = False
) -> TaskStimuli:
    """One stimulus per picture of a trait, with its question; a unit has a picture of each; `prefix` as for `vision`.

    Errors: RunError TASK_UNKNOWN without this prefix, DATA_MISSING, DATA_INVALID.
    """
    _check_prefix(task.name, revision, prefix)
    name, attribute = task.name, plan.task_attribute(task.name)
    items = plan.items(name, revision)
    ids, prompts = items["id"].to_pylist(), items["prompt"].to_pylist()
    planned = [f"persona/{item.split('/', 1)[1]}" for item in ids]
    places, images = list(range(len(ids))), None
    if not text_only:
        template = f"{attribute}_prompt", prompts
        images, places = planned_images(
            name, data, (DATASET, "persona", "test"), planned, template, revision in plan.CORE
        )

    def read(number: int) -> ReadStimulus:
        place = places[number]
        prompt = plan.with_prefix(prompts[place], prefix, name, revision)
        if images is None:
            return ReadStimulus((Ask(name, ids[place], 0, prompt),), ())
        return ReadStimulus(
            (Ask(name, ids[place], 0, prompt, 0),), (modscan.shown(images.get(planned[place]), prefix, name),)
        )

    stimuli, pictures = [], Counter[str]()
    for item in (ids[place] for place in places):
        trait = item.split("/")[-2]
        stimuli.append(Stimulus(item, name, trait, 1, f"picture {pictures[trait]} of each trait"))
        pictures[trait] += 1
    part = TaskStimuli(name, stimuli, read, task.max_tokens, TYPICAL_TOKENS, expected=len(ids))
    return replace(part, fair=partial(_fair, len(ids) // len(plan.TRAITS)))


def _fair(each: int, stimuli: Sequence[Stimulus]) -> bool:
    """Whether S has an interval: few resamples of the planned pictures, `each` of a trait, leave one without answer."""
    asked = Counter(stimulus.stratum for stimulus in stimuli)
    return prod(1 - (1 - asked[plan.slug(trait)] / each) ** each for trait in plan.TRAITS) >= 1 - MOST_UNDEFINED


def _check_prefix(task: str, revision: str, prefix: str) -> None:
    """RunError TASK_UNKNOWN if the task has no such prefix in the revision; names the tasks that have it."""
    if prefix in (prefixes := plan.prefixes(task, revision)):
        return
    having = " ".join(f"--task {name}" for name in plan.TASKS if prefix in plan.prefixes(name, revision))
    mend = f"name the tasks that have it: {having}" if having else "ask --dataset-revision modscan"
    what = f"no prefix {prefix} in revision {revision}"
    raise RunError("TASK_UNKNOWN", f"stereotypical_bias, task {task}", what, f"one of {', '.join(prefixes)}", mend)
