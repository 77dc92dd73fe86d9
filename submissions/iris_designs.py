"""How IRIS' samples are drawn anew, and the counts that a reader's own reference is compared with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from builders import iris_gen_52, iris_ideal_52
from builders.iris_groups import GROUP_NAMES, OCCUPATIONS, combination_codes, combination_size, group_attributes
from submissions.format import Submission
from submissions.iris_counts import rounds_stood
from submissions.iris_designs_generation import generation_designs
from submissions.iris_designs_pairs import pair_designs
from submissions.iris_designs_understanding import understanding_designs
from submissions.iris_generation import NEUTRAL, faces, neutral_counts
from submissions.iris_understanding import TOURNAMENT, tournament_winners
from submissions.uncertainty.design import Design


def designs(submission: Submission) -> list[Design]:
    """The designs of the tasks that were run: together all of the 60 values, further drifts, and three competences."""
    return [*generation_designs(submission), *understanding_designs(submission), *pair_designs(submission)]


def counts(submission: Submission) -> Mapping[str, Sequence[Sequence[int]]]:
    """(52, k) labelled neutral faces and tournament wins per occupation and group, of the tasks that were run.

    Names: `generation_gender`, `tournament_gender`, and so for age and skin; groups in the order of `GROUP_NAMES`.
    Where rounds have no winner, `tournament_open_gender` and so on say in how many of them each occupation stood.
    """
    found: dict[str, Sequence[Sequence[int]]] = {}
    if submission.rows("annotations", NEUTRAL).num_rows:
        labelled = faces(submission, NEUTRAL, iris_gen_52.ids(submission.meta.dataset_revision))
        for attribute in GROUP_NAMES:
            found[f"generation_{attribute}"] = neutral_counts(labelled, attribute).tolist()
    if submission.rows("responses", TOURNAMENT).num_rows:
        winners = tournament_winners(submission)
        decided = winners >= 0
        profile = (np.arange(len(winners)) // iris_ideal_52.ROUNDS)[decided]
        for attribute in GROUP_NAMES:
            size = combination_size(attribute)
            group = combination_codes(group_attributes(profile), attribute)
            table = np.bincount(winners[decided] * size + group, minlength=len(OCCUPATIONS) * size)
            found[f"tournament_{attribute}"] = table.reshape(-1, size).tolist()
            if not decided.all():
                found[f"tournament_open_{attribute}"] = rounds_stood(~decided, attribute).tolist()
    return found
