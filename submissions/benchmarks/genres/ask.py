"""Prompts of GENRES: a story of two persons for each of 1 440 prompts, beside an image of them (Figure 3).

In revision `upstream` prompts and pictures are the authors', from the reader's copy of their dataset.
The optional control asks for stories of the man and the woman alone, beside the same image (Figure 1). The paper states
no settings of generation (section 4, appendix D).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from fairspace.builders.errors import check_revision
from fairspace.builders.genres import plan
from fairspace.submissions.benchmarks.genres.parse.response import split, split_single
from fairspace.submissions.benchmarks.pictures import Data, planned_images
from fairspace.submissions.benchmarks.task import Ask, ReadStimulus, Stimulus, Task, TaskStimuli
from fairspace.submissions.errors import RunError
from fairspace.submissions.format.schema import Submission

PLACE = ("genres", "pairs", "test")
TYPICAL_TOKENS = 1000
"""Tokens of a story of Qwen2.5-VL-7B, whose 770 words are the most of the authors' published models' (537 and more)."""
ItemsOfPairs = Mapping[str, Sequence[tuple[str, str]]]
"""Id of a pair -> id and prompt of each of its items."""
Pictures = tuple[Callable[[str], bytes], Sequence[int]]
"""Id of a pair -> its encoded image; the pairs that have one, by place."""


def narrative(task: Task, data: Data | None, revision: str, *, text_only: bool = False) -> TaskStimuli:
    """One stimulus per pair: its image, unless `text_only`, and its prompt; strata are relation, age and plot.

    Errors: RunError DATA_MISSING, DATA_INVALID; BuildError REVISION_UNKNOWN, SOURCE_MISSING, SOURCE_LAYOUT.
    """
    table = task.asked(revision, data.where if data else "")
    items, prompts = table["id"].to_pylist(), table["prompt"].to_pylist()
    by_pair = {item: ((item, prompt),) for item, prompt in zip(items, prompts, strict=True)}
    if revision != plan.UPSTREAM:
        return _part(task, revision, by_pair, None if text_only else _images(task, data, revision))
    files = dict(zip(items, map(Path, table["image"].to_pylist()), strict=True))
    there = [place for place, file in enumerate(files.values()) if file.is_file()]
    if not (there or text_only):
        what, mend = f"no {next(iter(files.values()))}", "put the authors' pictures beside their JSONL files"
        raise RunError("DATA_MISSING", f"task {task.name}", what, "the pictures that the JSONL files name", mend)
    shown = None if text_only else (lambda item: files[item].read_bytes(), there)
    return replace(
        _part(task, revision, by_pair, shown), names=dict(zip(items, table["names"].to_pylist(), strict=True))
    )


def narrative_single(task: Task, data: Data | None, revision: str, *, text_only: bool = False) -> TaskStimuli:
    """One stimulus per pair, with the prompts of its man and of its woman, as `narrative`; revisions `v1` and `v2`."""
    check_revision("genres", revision, ("v2", plan.PAPER))
    by_pair: dict[str, tuple[tuple[str, str], ...]] = {}
    for row in plan.single_items(revision).to_pylist():
        by_pair[row["pair"]] = (*by_pair.get(row["pair"], ()), (row["id"], row["prompt"]))
    shown = None if text_only else _images(task, data, revision)
    return _part(task, revision, by_pair, shown, prefix="single/")


def _images(task: Task, data: Data | None, revision: str) -> Pictures:
    pairs = plan.pair_list(revision)
    template = "text_prompt", [plan.text_prompt(pair, plan.built_revision(revision)) for pair in pairs]
    ids = [pair.id for pair in pairs]
    images, places = planned_images(task.name, data, PLACE, ids, template, revision in plan.CORE)
    return images.get, places


def _part(task: Task, revision: str, by_pair: ItemsOfPairs, shown: Pictures | None, prefix: str = "") -> TaskStimuli:
    pairs = plan.pair_list(revision)
    places = list(range(len(pairs))) if shown is None else shown[1]

    def read(number: int) -> ReadStimulus:
        pair = pairs[places[number]]
        image = None if shown is None else 0
        asks = tuple(Ask(task.name, name, 0, prompt, image) for name, prompt in by_pair[pair.id])
        return ReadStimulus(asks, () if shown is None else (shown[0](pair.id),))

    stimuli = [
        Stimulus(f"{prefix}{pair.id}", task.name, stratum(pair), len(by_pair[pair.id]))
        for pair in (pairs[place] for place in places)
    ]
    expected = sum(map(len, by_pair.values()))
    return TaskStimuli(task.name, stimuli, read, task.max_tokens, TYPICAL_TOKENS, expected=expected)


def stratum(pair: plan.NarrativePair) -> str:
    """The stratum for a stratified choice of pairs."""
    return f"{pair.element.relation}/{pair.element.age}/{pair.element.plot}"


def judge_items(submission: Submission) -> dict[str, pa.Table]:
    """Task of the judge -> `id` and `prompt` of every narrative and every two profiles, in the order of the rows."""
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
    rows |= _single_items(submission)
    return {task: pa.Table.from_pylist(items) for task, items in rows.items() if items}


def _single_items(submission: Submission) -> dict[str, list[dict[str, str]]]:
    names = {plan.single_id(pair.id, gender): plan.single_names(pair, gender) for pair, gender in plan.items_of_pairs()}
    rows: dict[str, list[dict[str, str]]] = {"profile_single": [], "analysis_single": []}
    for row in submission.rows("responses", "narrative_single").select(["id", "response"]).to_pylist():
        name, other = names[row["id"]]
        parts = split_single(row["response"], name, other)
        if (profile := parts.profiles[0]) is not None:
            rows["profile_single"].append({"id": row["id"], "prompt": plan.profile_prompt(profile)})
        if parts.narrative is not None:
            prompt = plan.single_analysis_prompt(name, parts.narrative)
            rows["analysis_single"].append({"id": row["id"], "prompt": prompt})
    return rows
