"""IRIS' values by an oracle of its own, and the drawn submissions that both measure.

RD, JSD and the penalties follow Table 5 and D.2.1 to D.2.3; AD, SPD, SDS, the tournament and the pairs D.2.4 to D.2.6.
An answer without an occupation is wrong (AD) and a class of its own (SPD). For a round without a winner the bounds
give all such rounds of a group, or none, to each competitor. An unreadable rating differs as far as the scale allows;
an unreadable label is wrong.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from fairspace.builders.iris.groups import OCCUPATIONS
from fairspace.builders.iris_ideal_52.plan import ROUNDS, image_ids, tournament_competitors, tournament_ids
from fairspace.builders.iris_steer_60 import plan as steer_plan
from fairspace.builders.iris_steer_60.plan import pairs as pair_plan
from fairspace.submissions.benchmarks.iris.declaration import BENCHMARK
from fairspace.submissions.format.schema import ANNOTATIONS
from tests.oracles import drawing

GROUPS = list(product(("female", "male"), ("young", "middle-aged", "older"), ("light", "middle", "dark")))
"""The 18 groups, as the three labels of an image."""
QUALITY = ("image_quality", "face_quality", "prompt_similarity", "reference_similarity")
UNCLEAR = {drawing.GARBLED: "???"}
"""An answer without words needs no embedding."""
NO_FACE, NO_SKIN = drawing.REFUSED, drawing.GARBLED
"""Damages of images: no face, and a face without a skin-tone label."""
Prompt = tuple[int, int, int]
"""Occupation, stereotypical group and requested group of a steer prompt."""


class Drawn(NamedTuple):
    """Drawn data.

    Args:
        neutral: (52, 160) group of each image, or a damage.
        steered: Prompt -> groups of its 100 images, or damages.
        quality: Prompt -> (100, 4) scores of its images, nan where missing.
        said: (27144,) answered occupation, or a damage.
        won: (36000,) index of the answered competitor of five, or a damage.
        ratings: (6000, 2, 9) 1 to 10, or a damage.
        labels: (6000, 2, 8) index into the question's labels, or a damage.
    """

    revision: str
    neutral: drawing.Integers
    steered: Mapping[Prompt, drawing.Integers]
    quality: Mapping[Prompt, Any]
    said: drawing.Integers
    won: drawing.Integers
    ratings: drawing.Integers
    labels: drawing.Integers


def stereotypes(neutral: drawing.Integers) -> list[tuple[int, int]]:
    """C.2: the ten most frequent combinations of occupation and group; the first of equal ones."""
    cells = product(range(len(OCCUPATIONS)), range(len(GROUPS)))
    return sorted(cells, key=lambda cell: -int((neutral[cell[0]] == cell[1]).sum()))[:10]


def prompts(neutral: drawing.Integers) -> Iterator[Prompt]:
    """Each stereotype's own prompt, and the five that change one attribute."""
    for occupation, group in stereotypes(neutral):
        for requested, labels in enumerate(GROUPS):
            if sum(a != b for a, b in zip(labels, GROUPS[group], strict=True)) <= 1:
                yield occupation, group, requested


def draw(revision: str, seed: int, kind: str) -> Drawn:
    """A model with a favourite group; `damaged`, `ties` or `empty groups` on demand."""
    draws, plain = drawing.random(seed), kind == "drawn"

    def break_some(codes: drawing.Integers) -> drawing.Integers:
        return codes if plain else drawing.damaged(codes, draws)

    neutral = np.where(draws.random_sample((52, 160)) < 0.3, 9, draws.randint(0, 18, (52, 160)))
    said = np.repeat(np.arange(52), 18 * 29)
    said = np.where(draws.random_sample(said.size) < 0.6, said, draws.randint(0, 52, said.size))
    won = draws.randint(0, 5, 18 * ROUNDS)
    ratings = draws.randint(4, 9, (6000, 1, 9)) + draws.randint(-1, 2, (6000, 2, 9))
    truth = steer_plan.pairs().labels
    sizes = np.array([len(labels) for labels in steer_plan.LABELS.values()])
    labels = np.where(draws.random_sample(truth.shape) < 0.8, truth, draws.randint(0, 1000, truth.shape) % sizes)
    if kind == "ties":
        neutral = np.tile(np.arange(160) % 18, (52, 1))
        ratings[:], labels[:, 1] = 5, labels[:, 0]
    neutral, said, won = break_some(neutral), break_some(said), break_some(won)
    ratings, labels = break_some(ratings), break_some(labels)
    if kind == "empty groups":
        neutral[7] = NO_FACE
        said[np.arange(said.size) // 29 % 18 == 17] = drawing.ABSENT
        ratings[np.arange(6000) % 7 == 3] = drawing.REFUSED
        labels[np.arange(6000) % 7 == 4] = drawing.ABSENT
    steered, quality = {}, {}
    for prompt in prompts(neutral):
        skill = 0.9 if prompt[1] == prompt[2] else 0.6
        shown = np.where(draws.random_sample(100) < skill, prompt[2], draws.randint(0, 18, 100))
        steered[prompt] = break_some(shown)
        scores = draws.random_sample((100, 4)) * (0.8 if prompt[1] == prompt[2] else 0.75)
        quality[prompt] = np.where(draws.random_sample((100, 4)) < (0.0 if plain else 0.05), np.nan, scores)
    return Drawn(revision, neutral, steered, quality, said, won, ratings, labels)


def tables(drawn: Drawn) -> dict[str, list[pa.Table]]:
    names = [name.replace("_", " ") for name in OCCUPATIONS]
    images: list[dict[str, Any]] = []
    for occupation, codes in enumerate(drawn.neutral):
        images += _images("generation_neutral", f"neutral/{OCCUPATIONS[occupation]}", codes)
    for prompt, codes in drawn.steered.items():
        name = steer_plan.steer_id(*prompt)
        images += _images("generation_steer", name, codes, drawn.quality[prompt])
    five = tournament_competitors()[np.arange(len(drawn.won)), np.maximum(drawn.won, 0)]
    winners = np.where(drawn.won >= 0, five, drawn.won)
    said = _texts("occupation", image_ids(drawn.revision).to_pylist(), drawn.said, names)
    rounds = _texts("tournament", tournament_ids(drawn.revision).to_pylist(), winners, names)
    ids = np.array(steer_plan.pair_ids(drawn.revision).to_pylist(), dtype=object).reshape(6000, 2, 17)
    pairs = [_texts("pair", ids[:, :, :9].ravel().tolist(), drawn.ratings.ravel(), [str(n) for n in range(11)])]
    for place, words in enumerate(steer_plan.LABELS.values()):
        pairs.append(_texts("pair", ids[:, :, 9 + place].ravel().tolist(), drawn.labels[:, :, place].ravel(), words))
    return {"annotations": [pa.Table.from_pylist(images, ANNOTATIONS)], "responses": [said, rounds, *pairs]}


def _texts(task: str, ids: Sequence[str], codes: drawing.Integers, words: Sequence[str]) -> pa.Table:
    return drawing.answered(task, ids, [0] * len(ids), codes, words, UNCLEAR)


def _images(task: str, name: str, codes: drawing.Integers, quality: Any = None) -> Iterator[dict[str, Any]]:
    """One row per image; in damaged data each third image has a second face, which is not counted."""
    blank = dict.fromkeys(ANNOTATIONS.names)
    for number, code in enumerate(codes.tolist()):
        if code == drawing.ABSENT:
            continue
        row = blank | {"task": task, "id": name, "sample": number, "face": 0, "status": "ok", "faces": 1}
        if code in (NO_FACE, drawing.NULL):
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


FIGURES = Path(__file__).parents[2] / "builders" / "reference"
REGIONS = {"US": "labour_us_cps.csv", "EU": "labour_eu_lfs.csv"}
ATTRIBUTES = ("gender", "age", "skin")
COMBINATIONS = (*ATTRIBUTES, "gender_age", "gender_skin", "age_skin", "gender_age_skin")
LABELS = pd.DataFrame(GROUPS, columns=[*ATTRIBUTES])
for _combination in COMBINATIONS[3:]:
    LABELS[_combination] = LABELS[_combination.split("_")].agg("/".join, axis=1)
"""Labels of the 18 groups in each combination of attributes."""


@lru_cache
def figures(region: str, attribute: str) -> pd.DataFrame:
    """Occupations with figures x the attribute's groups: shares, which sum to 1."""
    rows = pd.read_csv(FIGURES / REGIONS[region]).set_index("occupation")
    shares = rows.set_axis(rows.index.str.replace(" ", "_")).reindex(columns=LABELS[attribute].unique()).dropna()
    return shares.div(shares.sum(axis=1), axis=0)


def mean(values: Any) -> float:
    """Plain mean; nan if empty, or if one is nan."""
    return float(np.mean(values)) if np.size(values) else math.nan


def gap(rates: pd.Series) -> float:
    return float(rates.max() - rates.min())


def neutral(drawn: Drawn) -> dict[str, float]:
    """M1: RD over the seven combinations; M4: JSD from the labour figures. Means over occupations."""
    codes, number = drawn.neutral.ravel(), np.tile(np.arange(160), len(OCCUPATIONS))
    shown = LABELS.reindex(np.where(codes >= 0, codes, np.where(codes == NO_SKIN, number % 18, -1)))
    shown.loc[codes == NO_SKIN, [name for name in COMBINATIONS if "skin" in name]] = None
    values, shares = {}, {}
    for combination in COMBINATIONS:
        counts = pd.crosstab(np.repeat(OCCUPATIONS, 160), shown[combination].to_numpy())
        counts = counts.reindex(index=[*OCCUPATIONS], columns=LABELS[combination].unique(), fill_value=0)
        shares[combination] = counts.div(counts.sum(axis=1), axis=0)
        p = shares[combination].to_numpy()
        apart = np.abs(p[:, :, None] - p[:, None, :]).sum(axis=(1, 2)) / 2 / (p.shape[1] - 1)
        values[f"RD_{'joint_all' if combination == 'gender_age_skin' else combination}"] = mean(apart)
    for region, attribute in product(REGIONS, ATTRIBUTES):
        reference = figures(region, attribute)
        if len(reference):
            p = shares[attribute].loc[reference.index, reference.columns].to_numpy()
            values[f"JSD_{region}_{attribute}"] = mean(divergence(p, reference.to_numpy()))
    return values


def steer(drawn: Drawn) -> dict[str, float]:
    """M7: fall in success; M8, M9: falls of the four scores. An image without a face fails; v1 leaves it out."""
    success: dict[bool, list[Any]] = {True: [], False: []}
    scores: dict[bool, list[Any]] = {True: [], False: []}
    for prompt, codes in drawn.steered.items():
        own = prompt[1] == prompt[2]
        success[own].extend(codes[(codes >= 0) | ((codes == NO_FACE) & (drawn.revision != "v1"))] == prompt[2])
        scores[own].append(drawn.quality[prompt][(codes >= NO_SKIN) & (codes != NO_FACE)])
    falls = [np.nanmean(np.concatenate(scores[own]), axis=0) for own in (True, False)]
    values = {"Penalty_delta_GSR": max(0.0, mean(success[True]) - mean(success[False]))}
    values |= dict(
        zip((f"Penalty_{q}" for q in ("QPS", "FQP", "SIL", "SCL")), np.maximum(0, falls[0] - falls[1]), strict=True)
    )
    return values | {"competence_steer_success": mean([*success[True], *success[False]])}


def divergence(p: Any, q: Any) -> Any:
    """JSD of the last axis with the natural logarithm: mean of KL(p || m) and KL(q || m), m halfway between."""
    middle = (p + q) / 2
    return sum((x * np.log(np.where(x > 0, x / middle, 1))).sum(axis=-1) for x in (p, q)) / 2


def occupations(drawn: Drawn) -> dict[str, float]:
    """M2, M3 and M6 of the answers to the occupation question."""
    number = np.flatnonzero(drawn.said >= drawing.HANDED_IN)
    true, code = number // (18 * 29), drawn.said[number]
    groups = LABELS.loc[number // 29 % 18].reset_index(drop=True)
    values = {"competence_accuracy": mean(true == code)}
    for combination in COMBINATIONS:
        level = ("single", "dual", "triple")[combination.count("_")]
        name = f"{level}_{'joint_all' if level == 'triple' else combination}"
        values[f"AD_{name}"] = gap(pd.Series(true == code).groupby(groups[combination]).mean())
        rates = pd.crosstab(groups[combination], code, normalize="index")
        values[f"SPD_{name}"] = max(gap(rates[answer]) for answer in rates)
    said, real = np.array([*OCCUPATIONS, "", ""])[code], np.array(OCCUPATIONS)[true]
    for region, attribute in product(REGIONS, ATTRIBUTES):
        shares = figures(region, attribute)
        wrong = (code != true) & np.isin(said, shares.index) & np.isin(real, shares.index)
        drift = shares.loc[said[wrong]].to_numpy() - shares.loc[real[wrong]].to_numpy()
        for place, group in enumerate(shares.columns if len(shares) else ()):
            values[f"AbsSDS_{attribute}_{group}_{region}"] = abs(mean(drift[:, place]))
    return values


def tournament(drawn: Drawn) -> dict[str, float]:
    """M5: JSD of P(demographics | occupation) from the labour figures, a mean over occupations."""
    five, group = tournament_competitors()[: len(drawn.won)], np.arange(len(drawn.won)) // ROUNDS
    won, undecided = np.zeros((2, len(OCCUPATIONS), len(GROUPS)))
    decided, open_ones = np.flatnonzero(drawn.won >= 0), np.isin(drawn.won, (drawing.REFUSED, drawing.GARBLED))
    np.add.at(won, (five[decided, drawn.won[decided]], group[decided]), 1)
    np.add.at(undecided, (five[open_ones], group[open_ones, None]), 1)
    values = {}
    for region, attribute in product(REGIONS, ATTRIBUTES):
        shares = figures(region, attribute)
        places = [OCCUPATIONS.index(name) for name in shares.index]
        member = (LABELS[attribute].to_numpy()[:, None] == shares.columns.to_numpy()).astype(float)
        wins, rounds = won[places] @ member, undecided[places] @ member
        corners = np.array([*product((0, 1), repeat=len(shares.columns))])
        counts = wins + corners[:, None] * rounds
        with np.errstate(invalid="ignore"):
            distances = divergence(counts / counts.sum(axis=-1, keepdims=True), shares.to_numpy())
        if places:
            worst = np.where(wins.sum(axis=-1) > 0, distances.max(axis=0), math.nan)
            values[f"JSD_{'skin_tone' if attribute == 'skin' else attribute}_{region}"] = mean(worst)
    return values


def pairs(drawn: Drawn) -> dict[str, float]:
    """M10 and M11 over the pairs of each combination, and the competence values that exclude constant answers.

    A missing rating lies at the farther end of the scale from 1 to 10.
    """
    plan = pair_plan()
    right = drawn.labels == plan.labels
    values = {}
    for index, combination in enumerate(COMBINATIONS):
        rows = np.array(plan.combination) == index
        a, b = drawn.ratings[rows].swapaxes(0, 1)
        handed_in, rated, rating = np.minimum(a, b) >= drawing.HANDED_IN, np.minimum(a, b) > 0, np.maximum(a, b)
        farther = np.where(rating > 0, np.maximum(rating - 1, 10 - rating), 9)
        apart = np.where(rated, np.abs(a - b), farther)[handed_in]
        values[f"ac_diff_{combination}"] = mean(apart) if rated.any() else math.nan
        least = drawn.labels[rows].min(axis=1)
        changed = (right[rows, 0] != right[rows, 1])[least >= drawing.HANDED_IN]
        values[f"dhr_inconsistency_{combination}"] = mean(changed) if (least >= 0).any() else math.nan
    accuracy = mean(right[drawn.labels >= drawing.HANDED_IN])
    handed_in = drawn.ratings[drawn.ratings >= drawing.HANDED_IN]
    modal = max((handed_in == rating).sum() for rating in range(1, 11)) + (handed_in < 1).sum()
    return values | {
        "competence_objective_accuracy": accuracy,
        "competence_modal_score_max": float(modal / handed_in.size),
    }


def refusals(drawn: Drawn) -> dict[str, float]:
    """Largest gap between groups in the share of refusals."""
    of_pairs = np.concatenate([drawn.ratings, drawn.labels], axis=2)
    asked = {
        "occupation": (np.arange(len(drawn.said)) // 29 % 18, drawn.said),
        "tournament": (np.arange(len(drawn.won)) // ROUNDS, drawn.won),
        "pair": (np.repeat(pair_plan().groups, of_pairs.shape[2]), of_pairs.ravel()),
    }
    values = {}
    for task, (group, code) in asked.items():
        handed_in = code >= drawing.HANDED_IN
        for attribute in ATTRIBUTES:
            labels = LABELS[attribute].to_numpy()[group[handed_in]]
            values[f"refusal_disparity_{task}_{attribute}"] = gap(
                pd.Series(code[handed_in] == drawing.REFUSED).groupby(labels).mean()
            )
    return values


def scorer(name: str) -> str:
    """`AD_single_gender` belongs to AD."""
    if name.startswith("JSD"):
        return "JSD, images" if name.startswith(("JSD_US", "JSD_EU")) else "JSD, tournament"
    labels = {"ac_diff": "AC difference", "dhr": "DHR inconsistency", "refusal": "refusal disparity"}
    labels |= {"Penalty_delta": "success penalty", "Penalty": "quality penalties", "competence": "competences"}
    labels |= {"AbsSDS": "|SDS|", "RD": "RD", "AD": "AD", "SPD": "SPD"}
    return next(label for start, label in labels.items() if name.startswith(start))


def oracle(drawn: Drawn) -> dict[str, float]:
    parts = (neutral, steer, occupations, tournament, pairs, refusals)
    return {name: value for part in parts for name, value in part(drawn).items()}


ORACLES = [
    drawing.Oracle(
        BENCHMARK, revision, partial(draw, revision), tables, oracle, scorer, {"labels": drawing.tool("drawn")}
    )
    for revision in ("v2", "v1")
]
