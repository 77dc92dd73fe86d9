"""Drawn images and answers of IRIS, and the submission that they make."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from fairspace.builders.iris.groups import OCCUPATIONS
from fairspace.builders.iris_ideal_52.plan import ROUNDS, image_ids, tournament_competitors, tournament_ids
from fairspace.builders.iris_steer_60 import plan as steer
from fairspace.submissions.format.schema import ANNOTATIONS
from tests.oracles.drawing import ABSENT, GARBLED, NULL, REFUSED, Integers, answered, damaged, random

GROUPS = list(product(("female", "male"), ("young", "middle-aged", "older"), ("light", "middle", "dark")))
"""The 18 groups, as the three labels of an image."""
QUALITY = ("image_quality", "face_quality", "prompt_similarity", "reference_similarity")
UNCLEAR = {GARBLED: "???"}
"""An answer of no words: that no occupation is near to it needs no embedding."""
NO_FACE, NO_SKIN = REFUSED, GARBLED
"""Of images, the first two damages are these: no face, and a face without a label of its skin tone."""
Prompt = tuple[int, int, int]
"""Occupation, stereotypical group and requested group of a steer prompt."""


class Drawn(NamedTuple):
    """What was drawn.

    Args:
        revision: of the dataset that is answered.
        neutral: (52, 160) group of each image, or a damage.
        steered: prompt -> the groups of its 100 images, or damages.
        quality: prompt -> (100, 4) scores of its images, nan where a score is left out.
        said: (27144,) the occupation that is answered, or a damage.
        won: (36000,) which of the five competitors is answered, or a damage.
        ratings: (6000, 2, 9) 1 to 10, or a damage.
        labels: (6000, 2, 8) index into the question's labels, or a damage.
    """

    revision: str
    neutral: Integers
    steered: Mapping[Prompt, Integers]
    quality: Mapping[Prompt, Any]
    said: Integers
    won: Integers
    ratings: Integers
    labels: Integers


def stereotypes(neutral: Integers) -> list[tuple[int, int]]:
    """C.2: the ten most frequent combinations of occupation and group; of equal ones the first."""
    cells = product(range(len(OCCUPATIONS)), range(len(GROUPS)))
    return sorted(cells, key=lambda cell: -int((neutral[cell[0]] == cell[1]).sum()))[:10]


def prompts(neutral: Integers) -> Iterator[Prompt]:
    """Of each stereotype its own prompt, and the five that change one attribute."""
    for occupation, group in stereotypes(neutral):
        for requested, labels in enumerate(GROUPS):
            if sum(a != b for a, b in zip(labels, GROUPS[group], strict=True)) <= 1:
                yield occupation, group, requested


def draw(revision: str, seed: int, kind: str) -> Drawn:
    """A model with a favourite group; `damaged`, `ties` or `empty groups` on demand."""
    draws, plain = random(seed), kind == "drawn"

    def break_some(codes: Integers) -> Integers:
        return codes if plain else damaged(codes, draws)

    neutral = np.where(draws.random_sample((52, 160)) < 0.3, 9, draws.randint(0, 18, (52, 160)))
    said = np.repeat(np.arange(52), 18 * 29)
    said = np.where(draws.random_sample(said.size) < 0.6, said, draws.randint(0, 52, said.size))
    won = draws.randint(0, 5, 18 * ROUNDS)
    ratings = draws.randint(4, 9, (6000, 1, 9)) + draws.randint(-1, 2, (6000, 2, 9))
    truth = steer.pairs().labels
    sizes = np.array([len(labels) for labels in steer.LABELS.values()])
    labels = np.where(draws.random_sample(truth.shape) < 0.8, truth, draws.randint(0, 1000, truth.shape) % sizes)
    if kind == "ties":
        neutral = np.tile(np.arange(160) % 18, (52, 1))
        ratings[:], labels[:, 1] = 5, labels[:, 0]
    neutral, said, won = break_some(neutral), break_some(said), break_some(won)
    ratings, labels = break_some(ratings), break_some(labels)
    if kind == "empty groups":
        neutral[7] = NO_FACE
        said[np.arange(said.size) // 29 % 18 == 17] = ABSENT
        ratings[np.arange(6000) % 7 == 3] = REFUSED
        labels[np.arange(6000) % 7 == 4] = ABSENT
    steered, quality = {}, {}
    for prompt in prompts(neutral):
        skill = 0.9 if prompt[1] == prompt[2] else 0.6
        shown = np.where(draws.random_sample(100) < skill, prompt[2], draws.randint(0, 18, 100))
        steered[prompt] = break_some(shown)
        scores = draws.random_sample((100, 4)) * (0.8 if prompt[1] == prompt[2] else 0.75)
        quality[prompt] = np.where(draws.random_sample((100, 4)) < (0.0 if plain else 0.05), np.nan, scores)
    return Drawn(revision, neutral, steered, quality, said, won, ratings, labels)


def tables(drawn: Drawn) -> dict[str, list[pa.Table]]:
    """The drawn labels as annotations, the drawn answers as texts."""
    names = [name.replace("_", " ") for name in OCCUPATIONS]
    images: list[dict[str, Any]] = []
    for occupation, codes in enumerate(drawn.neutral):
        images += _images("generation_neutral", f"neutral/{OCCUPATIONS[occupation]}", codes)
    for prompt, codes in drawn.steered.items():
        name = steer.steer_id(*prompt)
        images += _images("generation_steer", name, codes, drawn.quality[prompt])
    five = tournament_competitors()[np.arange(len(drawn.won)), np.maximum(drawn.won, 0)]
    winners = np.where(drawn.won >= 0, five, drawn.won)
    said = _texts("occupation", image_ids(drawn.revision).to_pylist(), drawn.said, names)
    rounds = _texts("tournament", tournament_ids(drawn.revision).to_pylist(), winners, names)
    ids = np.array(steer.pair_ids(drawn.revision).to_pylist(), dtype=object).reshape(6000, 2, 17)
    pairs = [_texts("pair", ids[:, :, :9].ravel().tolist(), drawn.ratings.ravel(), [str(n) for n in range(11)])]
    for place, words in enumerate(steer.LABELS.values()):
        pairs.append(_texts("pair", ids[:, :, 9 + place].ravel().tolist(), drawn.labels[:, :, place].ravel(), words))
    return {"annotations": [pa.Table.from_pylist(images, ANNOTATIONS)], "responses": [said, rounds, *pairs]}


def _texts(task: str, ids: Sequence[str], codes: Integers, words: Sequence[str]) -> pa.Table:
    return answered(task, ids, [0] * len(ids), codes, words, UNCLEAR)


def _images(task: str, name: str, codes: Integers, quality: Any = None) -> Iterator[dict[str, Any]]:
    """One row per image; in damaged data each third image has a second face, which is not counted."""
    blank = dict.fromkeys(ANNOTATIONS.names)
    for number, code in enumerate(codes.tolist()):
        if code == ABSENT:
            continue
        row = blank | {"task": task, "id": name, "sample": number, "face": 0, "status": "ok", "faces": 1}
        if code in (NO_FACE, NULL):
            yield row | {
                "status": "no_face" if code == NO_FACE else "unreadable",
                "faces": 0 if code == NO_FACE else None,
            }
            continue
        gender, age, skin = GROUPS[code] if code >= 0 else (*GROUPS[number % 18][:2], None)
        scores = {} if quality is None else dict(zip(QUALITY, map(_number, quality[number]), strict=True))
        second = number % 3 == 0 and (codes < 0).any()
        yield row | {"gender": gender, "age": age, "skin_tone": skin, "faces": 1 + second} | scores
        if second:
            yield row | {"face": 1, "gender": "male", "age": "older", "skin_tone": "dark", "faces": 2}


def _number(score: float) -> float | None:
    return None if np.isnan(score) else float(score)
