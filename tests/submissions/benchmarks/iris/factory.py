from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fairspace.builders.iris import groups as labour
from fairspace.builders.iris_gen_52 import plan as iris_gen_52
from fairspace.builders.iris_ideal_52 import plan as iris_ideal_52
from fairspace.builders.iris_steer_60 import plan as iris_steer_60
from fairspace.submissions.benchmarks.iris.quantities import measure as measured_values
from fairspace.submissions.benchmarks.iris.records import read
from fairspace.submissions.format.schema import ANNOTATIONS, RANGES, Submission
from fairspace.submissions.values import Value
from tests.submissions.benchmarks.rows import meta, responses, with_column

META = meta("iris", labels={"name": "drawn", "version": "1"})
NAMES = np.array([name.replace("_", " ") for name in labour.OCCUPATIONS])


def measure(handed_in: Submission, regions: Sequence[labour.Region] = labour.REGIONS) -> dict[str, Value]:
    return measured_values(replace(read(handed_in), regions=tuple(regions)))


def only(table: str, rows: pa.Table) -> Submission:
    return Submission(META, {table: rows})


def annotated(
    task: str, ids: Sequence[str], samples: NDArray[np.int_], groups: NDArray[np.int_], rng: np.random.Generator
) -> pa.Table:
    attributes = labour.group_attributes(groups)
    rows = len(ids)
    columns = {
        "task": np.full(rows, task),
        "id": ids,
        "sample": samples,
        "face": np.zeros(rows, dtype=np.int32),
        "status": np.full(rows, "ok"),
        "gender": np.array(labour.GENDERS)[attributes[:, 0]],
        "age": np.array(labour.AGES)[attributes[:, 1]],
        "skin_tone": np.array(labour.SKIN_TONES)[attributes[:, 2]],
        "race": pa.nulls(rows, pa.string()),
        "faces": np.ones(rows, dtype=np.int32),
    } | {name: rng.uniform(*limits, rows) for name, limits in RANGES.items()}
    return pa.Table.from_arrays([pa.array(columns[f.name], type=f.type) for f in ANNOTATIONS], schema=ANNOTATIONS)


@lru_cache(4)
def submission(seed: int = 0, bias: float = 0.3, accuracy: float = 0.6, steered: float = 0.8) -> Submission:
    """A model that shows one group in `bias` of its images; `accuracy` and `steered` are chances of success."""
    rng = np.random.default_rng(seed)
    occupation = np.repeat(np.arange(len(labour.OCCUPATIONS)), iris_gen_52.IMAGES)
    group = rng.integers(len(labour.GROUPS), size=len(occupation))
    group[rng.random(len(occupation)) < bias] = 9
    ids = [f"neutral/{labour.OCCUPATIONS[o]}" for o in occupation]
    sample = np.tile(np.arange(iris_gen_52.IMAGES), len(labour.OCCUPATIONS))
    neutral = annotated("generation_neutral", ids, sample, group, rng)

    counts = np.bincount(
        occupation * len(labour.GROUPS) + group, minlength=len(labour.OCCUPATIONS) * len(labour.GROUPS)
    )
    prompts = [
        (iris_steer_60.steer_id(o, stereotype, requested), requested)
        for o, stereotype in iris_steer_60.steer_plan(counts)
        for requested in (stereotype, *iris_steer_60.counter_groups(stereotype))
    ]
    ids = [name for name, _ in prompts for _ in range(iris_steer_60.IMAGES)]
    asked = np.repeat([requested for _, requested in prompts], iris_steer_60.IMAGES)
    shown = np.where(rng.random(len(asked)) < steered, asked, rng.integers(len(labour.GROUPS), size=len(asked)))
    sample = np.tile(np.arange(iris_steer_60.IMAGES), len(prompts))
    steer = annotated("generation_steer", ids, sample, shown, rng)

    truth, _ = iris_ideal_52.image_cells()
    answers = np.where(rng.random(len(truth)) < accuracy, truth, rng.integers(len(labour.OCCUPATIONS), size=len(truth)))
    competitors = iris_ideal_52.tournament_competitors()
    winners = competitors[np.arange(len(competitors)), rng.integers(competitors.shape[1], size=len(competitors))]
    return Submission(
        META,
        {
            "annotations": pa.concat_tables([neutral, steer]),
            "responses": pa.concat_tables(
                [
                    responses("occupation", iris_ideal_52.image_ids("v1"), NAMES[answers]),
                    responses("tournament", iris_ideal_52.tournament_ids("v1"), NAMES[winners]),
                    responses("pair", iris_steer_60.pair_ids("v1"), pair_answers(rng)),
                ]
            ),
        },
        digest="drawn",
    )


def pair_answers(rng: np.random.Generator, right: float = 0.8) -> list[str]:
    plan = iris_steer_60.pairs()
    pairs, subjective = iris_steer_60.PAIRS, len(iris_steer_60.SUBJECTIVE)
    texts = np.empty((pairs, 2, len(iris_steer_60.QUESTIONS)), dtype=object)
    centre = rng.integers(4, 9, size=(pairs, 1, subjective))
    texts[:, :, :subjective] = (centre + rng.integers(-1, 2, size=(pairs, 2, subjective))).astype(str)
    for index, question in enumerate(iris_steer_60.OBJECTIVE):
        labels = np.array(iris_steer_60.LABELS[question], dtype=object)
        truth = plan.labels[:, :, index]
        drawn = rng.integers(len(labels), size=truth.shape)
        texts[:, :, subjective + index] = labels[np.where(rng.random(truth.shape) < right, truth, drawn)]
    return list(texts.ravel())


def mistaken(rows: pa.Table, mask: NDArray[np.bool_]) -> pa.Table:
    """Responses with wrong occupations (without labour figures) and labels in some rows; rounds and ratings stay."""
    listed = np.any([~np.isnan(t).any(axis=1) for r in labour.REGIONS for t in labour.shares(r).values()], axis=0)
    others = NAMES[~listed]
    answers, ids = rows["response"].to_numpy(zero_copy_only=False).astype(object), rows["id"].to_pylist()
    labels = iris_steer_60.pairs().labels
    for row in np.flatnonzero(mask).tolist():
        parts = ids[row].split("/")
        if parts[0] == "ideal":
            truth = parts[1].replace("_", " ")
            answers[row] = next(name for name in np.roll(others, row) if name != truth)
        elif parts[0] == "pair" and parts[3] in iris_steer_60.OBJECTIVE:
            place = list(iris_steer_60.OBJECTIVE).index(parts[3])
            words = iris_steer_60.LABELS[parts[3]]
            answers[row] = words[(labels[int(parts[1]), "ab".index(parts[2]), place] + 1) % len(words)]
    return with_column(rows, "response", answers)
