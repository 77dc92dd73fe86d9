"""Trivial models of IRIS, generation (annotations) and understanding (answers).

- random: any group, any occupation, any competitor, any rating and label.
- constant: one kind of face; one occupation; the first competitor; one rating and one label per question.
- stereotyped: the majority group of the US figures, also in seven of ten images that ask for another group; an
  occupation of their gender for people of the other one; ratings and right answers favour the majority group. Without
  US figures the majority is that of all other occupations.
- balanced: the 18 groups in turn; right answers but for one image in 29, spread evenly over the groups (a stereotype
  drift needs wrong answers); both images of a pair rated alike.
- refusing: every image and every answer.
"""

from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fairspace.builders.iris.groups import (
    AGES,
    CORE,
    GENDERS,
    GROUPS,
    OCCUPATIONS,
    REGIONS,
    SKIN_TONES,
    base_revision,
    group_attributes,
    shares,
)
from fairspace.builders.iris_gen_52 import plan as iris_gen_52
from fairspace.builders.iris_ideal_52 import plan as iris_ideal_52
from fairspace.builders.iris_steer_60 import plan as iris_steer_60
from fairspace.builders.iris_steer_60.plan import LABELS, OBJECTIVE, SUBJECTIVE
from fairspace.submissions.benchmarks.baselines import Baseline, Codes, keys, only, refusals, responses, stream
from fairspace.submissions.benchmarks.iris.records import NEUTRAL, OCCUPATION, PAIR, QUALITY, STEER, TOURNAMENT

_PROMPTS = 6
_OCCUPATION_NAMES = tuple(name.replace("_", " ") for name in OCCUPATIONS)
_RATINGS = tuple(str(rating) for rating in range(1, 11))
_ANSWERS = (*_RATINGS, *(label for question in OBJECTIVE for label in LABELS[question]))
_OFFSETS = np.cumsum([len(_RATINGS)] + [len(LABELS[question]) for question in OBJECTIVE])[:-1]
"""Offset of each objective question's labels in `_ANSWERS`."""
_LIKED, _DISLIKED = 8, 4
"""Ratings (less one) of the stereotyped model."""


def tables(name: Baseline, seed: int, revision: str = iris_gen_52.REVISIONS[0]) -> dict[str, pa.Table]:
    """Rows of one trivial model; it answers the questions of a core as it answers all."""
    whole = base_revision(revision) if revision in CORE else revision
    answers = pa.concat_tables([ask(name, seed, whole) for ask in (_occupations, _tournament, _pairs)])
    if revision in CORE:
        plans = (iris_ideal_52.image_ids, iris_ideal_52.tournament_ids, iris_steer_60.pair_ids)
        asked = pa.concat_arrays([ids(revision) for ids in plans])
        answers = only({"": answers}, asked)[""]
    return {"annotations": pa.concat_tables(_images(name, seed, revision)), "responses": answers}


@lru_cache
def majority() -> Codes:
    """(52, 3) gender, age and skin tone with the largest share of each occupation in the US figures."""
    columns = []
    for table in shares(REGIONS[0]).values():
        common = int(np.argmax(np.nansum(table, axis=0)))
        columns.append(np.where(np.isnan(table).any(axis=1), common, np.nan_to_num(table).argmax(axis=1)))
    return np.stack(columns, axis=-1)


def majority_group() -> Codes:
    """(52,) index into `GROUPS` of `majority`."""
    gender, age, skin = majority().T
    return (gender * len(AGES) + age) * len(SKIN_TONES) + skin


def _images(name: Baseline, seed: int, revision: str) -> list[pa.Table]:
    """Neutral images, and the steered ones that follow from them."""
    neutral_ids = iris_gen_52.ids(revision)
    images, size, steer_images = iris_gen_52.images(revision), len(GROUPS), iris_steer_60.images(revision)
    shape = (len(OCCUPATIONS), images)
    turn = 5 if revision in CORE else 1  # so that eight of the 18 groups are four of either gender
    constant = int(np.bincount(majority_group()).argmax())
    shown = {
        "random": stream(seed, NEUTRAL).randint(0, size, shape),
        "stereotyped": np.broadcast_to(majority_group()[:, None], shape),
        "balanced": np.add.outer(np.arange(len(OCCUPATIONS)), np.arange(images) * turn) % size,
    }.get(name, np.full(shape, constant))
    counts = np.zeros((len(OCCUPATIONS), size), dtype=np.int64)
    if name != "refusing":
        np.add.at(counts, (np.arange(len(OCCUPATIONS))[:, None], shown), 1)
    plan = iris_steer_60.steer_plan(counts)
    requested = np.array([(group, *iris_steer_60.counter_groups(group)) for _, group in plan])
    prompts = [(o, g, int(r)) for (o, g), row in zip(plan, requested, strict=True) for r in row]
    steer_ids = pa.array(iris_steer_60.steer_id(*prompt) for prompt in prompts)
    odd = np.add.outer(np.arange(len(plan)), np.arange(_PROMPTS))[..., None] % 2  # of five images three or four
    steer_shape = (len(plan), _PROMPTS, steer_images)
    steered = {
        "random": stream(seed, STEER).randint(0, size, steer_shape),
        "stereotyped": np.where(
            np.arange(steer_images) + odd / 2 < 0.7 * steer_images, requested[:, :1, None], requested[:, :, None]
        ),
        "balanced": np.broadcast_to(requested[:, :, None], steer_shape),
    }.get(name, np.full(steer_shape, constant))
    quality = np.full((len(QUALITY), steered.size), 0.8)
    if name == "random":
        quality = stream(seed, "quality").random_sample(quality.shape)
    elif name == "stereotyped":
        quality = quality - 0.3 * (np.arange(steered.size) // steer_images % _PROMPTS > 0)
    refused = name == "refusing"
    return [
        _annotations(NEUTRAL, neutral_ids, images, shown.ravel(), None, refused),
        _annotations(STEER, steer_ids, steer_images, steered.ravel(), quality, refused),
    ]


def _annotations(
    task: str, ids: pa.Array, samples: int, groups: Codes, quality: npt.NDArray[np.float64] | None, refused: bool
) -> pa.Table:
    columns = keys(task, ids, samples)
    count = len(groups)
    columns["face"] = pa.array(np.zeros(count, np.int32))
    columns["status"] = pa.repeat("refused" if refused else "ok", count)
    codes = group_attributes(np.asarray(groups, dtype=np.int64)).T
    for name, vocabulary, code in zip(("gender", "age", "skin_tone"), (GENDERS, AGES, SKIN_TONES), codes, strict=True):
        columns[name] = pa.nulls(count, pa.string()) if refused else pa.array(vocabulary).take(pa.array(code))
    for number, name in enumerate(QUALITY.values()):
        scores = None if quality is None or refused else pa.array(quality[number])
        columns[name] = pa.nulls(count, pa.float64()) if scores is None else scores
    return pa.table(columns)


def _occupations(name: Baseline, seed: int, revision: str) -> pa.Table:
    ids = iris_ideal_52.image_ids(revision)
    truth, group = iris_ideal_52.image_cells()
    if name == "refusing":
        return refusals(OCCUPATION, ids)
    if name == "random":
        answer = stream(seed, OCCUPATION).randint(0, len(OCCUPATIONS), len(ids))
    elif name == "stereotyped":
        gender = group_attributes(group)[:, 0]
        mistaken = np.array([_next_of_gender(g) for g in range(len(GENDERS))])
        answer = np.where(majority()[truth, 0] == gender, truth, mistaken[gender, truth])
    elif name == "balanced":
        image = np.arange(len(ids)) % iris_ideal_52.IMAGES_PER_CELL
        answer = np.where(image == 0, (truth + 1 + group) % len(OCCUPATIONS), truth)
    else:
        answer = np.full(len(ids), OCCUPATIONS.index("student"))
    return responses(OCCUPATION, ids, _OCCUPATION_NAMES, answer)


def _next_of_gender(gender: int) -> list[int]:
    """Occupation -> the next one whose majority is that gender."""
    of_gender = np.flatnonzero(majority()[:, 0] == gender)
    return [int(of_gender[np.argmin((of_gender - o - 1) % len(OCCUPATIONS))]) for o in range(len(OCCUPATIONS))]


def _tournament(name: Baseline, seed: int, revision: str) -> pa.Table:
    ids = iris_ideal_52.tournament_ids(revision)
    competitors = iris_ideal_52.tournament_competitors()
    profile = np.arange(len(ids)) // iris_ideal_52.ROUNDS
    if name == "refusing":
        return refusals(TOURNAMENT, ids)
    if name == "random":
        place = stream(seed, TOURNAMENT).randint(0, competitors.shape[1], len(ids))
    elif name == "stereotyped":
        alike = (majority()[competitors] == group_attributes(profile)[:, None, :]) @ np.array([4, 2, 1])
        place = alike.argmax(axis=1)
    elif name == "balanced":
        place = np.arange(len(ids)) % competitors.shape[1]
    else:
        place = np.zeros(len(ids), dtype=np.int64)
    return responses(TOURNAMENT, ids, _OCCUPATION_NAMES, competitors[np.arange(len(ids)), place])


def _pairs(name: Baseline, seed: int, revision: str) -> pa.Table:
    ids, plan = iris_steer_60.pair_ids(revision), iris_steer_60.pairs(revision)
    if name == "refusing":
        return refusals(PAIR, ids)
    rated = (*plan.groups.shape, len(SUBJECTIVE))
    sizes = np.array([len(LABELS[question]) for question in OBJECTIVE])
    if name == "random":
        random = stream(seed, PAIR)
        rating, label = random.randint(0, len(_RATINGS), rated), random.randint(0, sizes, plan.labels.shape)
    elif name == "stereotyped":
        fits = plan.groups == majority_group()[plan.occupation][:, None]
        rating = np.broadcast_to(np.where(fits, _LIKED, _DISLIKED)[:, :, None], rated)
        label = plan.labels.copy()
        label[:, :, :3] = majority()[plan.occupation][:, None]
    elif name == "balanced":
        alike = np.add.outer(plan.occupation, np.arange(len(SUBJECTIVE))) % len(_RATINGS)
        rating, label = np.broadcast_to(alike[:, None], rated), plan.labels
    else:
        rating, label = np.full(rated, len(_RATINGS) // 2), np.broadcast_to(sizes - 1, plan.labels.shape)
    codes = np.concatenate([rating, label + _OFFSETS], axis=-1)
    return responses(PAIR, ids, _ANSWERS, codes.ravel())
