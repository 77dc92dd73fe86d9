"""What to ask GENRES' judge: the prompts of Figures 10 and 11 for the narratives that a model has written."""

from __future__ import annotations

import pyarrow as pa

from builders import genres as plan
from submissions.format import Submission
from submissions.genres_splitting import Parts, split


def judge_items(submission: Submission) -> dict[str, pa.Table]:
    """Task of the judge -> `id` and `prompt` of every response that can be split, in the order of the ids.

    Empty without such a response. The others have nothing to judge and count as missing.
    """
    upstream = submission.meta.dataset_revision == "upstream"
    pairs = {pair.id: pair for pair in plan.pair_list()}
    rows: dict[str, list[dict[str, str]]] = {"profile_female": [], "profile_male": [], "narrative_analysis": []}
    for row in submission.rows("responses", "narrative").select(["id", "response", "names"]).to_pylist():
        pair = pairs[row["id"]]
        first, second = row["names"].split("|") if upstream else pair.names
        parts = split(row["response"], (first, second))
        if not isinstance(parts, Parts):
            continue
        element = pair.element
        analysis = plan.narrative_prompt(first, second, element.relation, element.plot, parts.narrative)
        rows["narrative_analysis"].append({"id": pair.id, "prompt": analysis})
        for name, profile in zip((first, second), parts.profiles, strict=True):
            task = "profile_male" if name in plan.NAMES["male"] else "profile_female"
            rows[task].append({"id": pair.id, "prompt": plan.profile_prompt(profile)})
    return {task: pa.Table.from_pylist(found) for task, found in rows.items() if found}
