"""What GENRES asks: a story of two persons for each of 1 440 prompts, beside an image of them (Figure 3).

Section 4 and appendix D state no settings of generation ("we follow their official configuration guidelines").
"""

from __future__ import annotations

import pyarrow as pa

from fairspace.builders.genres import plan
from fairspace.submissions.benchmarks.asks import Ask, Part, Shown, Stimulus
from fairspace.submissions.benchmarks.genres.parse.response import split
from fairspace.submissions.benchmarks.task import Task
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.running.data.data import Data
from fairspace.submissions.running.data.planned import planned_images

PLACE = ("genres", "pairs", "test")
TYPICAL_TOKENS = 1000


def narrative(task: Task, data: Data | None, revision: str, *, text_only: bool = False) -> Part:
    """One stimulus per pair: its image, unless `text_only`, and its prompt; strata are relation, age and plot.

    Errors: RunError DATA_MISSING, DATA_INVALID; BuildError REVISION_UNKNOWN.
    """
    prompts, pairs = plan.items(revision)["prompt"].to_pylist(), plan.pair_list()
    places, images = list(range(len(pairs))), None
    if not text_only:
        template = "text_prompt", prompts
        images, places = planned_images(task.name, data, PLACE, [pair.id for pair in pairs], template)

    def read(number: int) -> Shown:
        pair = pairs[places[number]]
        ask = Ask(task.name, pair.id, 0, prompts[places[number]], None if images is None else 0)
        return Shown((ask,), () if images is None else (images.get(pair.id),))

    stimuli = [
        Stimulus(pair.id, task.name, f"{pair.element.relation}/{pair.element.age}/{pair.element.plot}", 1)
        for pair in (pairs[place] for place in places)
    ]
    return Part(task.name, stimuli, read, task.max_tokens, TYPICAL_TOKENS, expected=len(pairs))


def judge_items(submission: Submission) -> dict[str, pa.Table]:
    """Task of the judge -> `id` and `prompt` of every narrative and of every two profiles, in the order of the ids.

    Empty without any. Where one profile is not there, the other one is not asked about, for only both are compared.
    """
    upstream = submission.meta.dataset_revision == "upstream"
    pairs = {pair.id: pair for pair in plan.pair_list()}
    rows: dict[str, list[dict[str, str]]] = {"profile_female": [], "profile_male": [], "narrative_analysis": []}
    for row in submission.rows("responses", "narrative").select(["id", "response", "names"]).to_pylist():
        pair = pairs[row["id"]]
        first, second = row["names"].split("|") if upstream else pair.names
        parts = split(row["response"], (first, second))
        element = pair.element
        if parts.narrative is not None:
            analysis = plan.narrative_prompt(first, second, element.relation, element.plot, parts.narrative)
            rows["narrative_analysis"].append({"id": pair.id, "prompt": analysis})
        for name, profile in zip((first, second), parts.profiles, strict=True):
            task = "profile_male" if name in plan.NAMES["male"] else "profile_female"
            if profile is not None and None not in parts.profiles:
                rows[task].append({"id": pair.id, "prompt": plan.profile_prompt(profile)})
    return {task: pa.Table.from_pylist(items) for task, items in rows.items() if items}
