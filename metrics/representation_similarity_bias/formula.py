"""Representational similarity (IRIS, D.3.1, Table 31): are both kinds of image equally near to their gender's anchor?

Visual understanding bias = |S_stereo - S_counter|, where S is the cosine similarity of an image's embedding and the
anchor of its own gender, such as a 'male doctor' and a 'male anchor'. 0 is equal fidelity (ideal).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from fairspace.metrics.vectors import (
    RESAMPLES,
    Floats,
    cosines,
    drawn,
    folded,
    in_order,
    percentiles,
    summary,
    why_undefined,
)

NAME = "representation_similarity_bias"
GENDERS = ("female", "male")
ROLES = ("stereotypical", "counter_stereotypical")


def representation_similarity_bias(stereotypical: float, counter_stereotypical: float) -> float:
    """|S_stereo - S_counter| of two cosine similarities: in [0, 2], ideal 0."""
    return abs(stereotypical - counter_stereotypical)


def representation_biases(images: Mapping[Any, Floats], anchors: Mapping[str, Floats]) -> dict[str, float | None]:
    """Representation bias of each gender shown (Table 35): cosine to its own anchor minus that to the other gender's.

    In [-2, 2], by the authors' Harmon_probe.py; None without images of the gender, or an anchor or vector of them.
    """
    gaps: dict[str, float | None] = dict.fromkeys(GENDERS)
    for gender, other in zip(GENDERS, GENDERS[::-1], strict=True):
        shown = [vectors for (_, of), vectors in images.items() if of == gender and len(vectors)]
        sides = [in_order(anchors[each]) for each in (gender, other) if len(anchors.get(each, ()))]
        if shown and len(sides) == 2 and not why_undefined(*shown, *sides):
            same, others = (cosines(in_order(np.concatenate(shown)), anchor).mean() for anchor in sides)
            gaps[gender] = float(same - others)
    return gaps


def measure(
    images: Mapping[str, Mapping[tuple[str, str], Floats]],
    anchors: Mapping[str, Floats],
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> dict[str, Any]:
    """The bias of each occupation and its mean.

    Args:
        images: occupation -> (role, gender) -> embeddings, shape (images, dimensions).
        anchors: gender -> embeddings of its anchors, shape (anchors, dimensions).
        seed: Seed of the resampled images and occupations.
        resamples: Draws; 0 for no intervals.

    Returns:
        see the module: the mean over occupations in [0, 2], ideal 0; None unless every one has both similarities.
        An occupation is undefined if a role or the anchor of a gender has no image, or a vector is missing or zero.
        Intervals are those of the signed difference, folded at 0. The mean's low end is that of the size of the mean
        signed difference, which is never above the mean size: it reaches 0 if the occupations' differences may be
        noise, and also if they are to both sides and cancel.
    """
    rows = {name: _occupation(images[name], anchors, seed, resamples) for name in sorted(images)}
    result = summary(NAME, rows, "no occupation has images of both roles and their anchors", seed, resamples)
    if result["interval"] is not None:
        signed = np.array([row["stereotypical"] - row["counter_stereotypical"] for row in rows.values()])
        draws = signed[drawn(len(signed), seed, resamples)].mean(axis=1)
        low, _ = folded(percentiles(draws), abs(float(signed.mean()))) or result["interval"]
        result["interval"] = [min(low, result["interval"][0]), result["interval"][1]]
    return result


def _occupation(
    images: Mapping[tuple[str, str], Floats], anchors: Mapping[str, Floats], seed: int, resamples: int
) -> dict[str, Any]:
    by_role: dict[str, Floats] = {}
    reason = ""
    for role in ROLES:
        parts = []
        for (of, gender), vectors in sorted(images.items()):
            if of != role or not len(vectors):
                continue
            anchor = anchors.get(gender)
            if anchor is None or not len(anchor):
                reason = reason or f"there is no {gender} anchor"
                continue
            reason = reason or why_undefined(vectors, anchor)
            parts.append(np.sort(cosines(in_order(vectors), in_order(anchor)).mean(axis=1)))
        by_role[role] = np.concatenate(parts) if parts else np.empty(0)
        reason = reason or ("" if parts else f"there is no {role} image")
    stereo, counter = (None if reason else float(by_role[role].mean()) for role in ROLES)
    value = None if stereo is None or counter is None else representation_similarity_bias(stereo, counter)
    interval = None
    if not reason and resamples and all(len(similarities) > 1 for similarities in by_role.values()):
        draws = [
            by_role[role][drawn(len(by_role[role]), seed + place, resamples)].mean(axis=1)
            for place, role in enumerate(ROLES)
        ]
        interval = None if value is None else folded(percentiles(draws[0] - draws[1]), value)
    return {
        "value": value,
        "interval": None if interval is None else list(interval),
        "reason": reason,
        "stereotypical": stereo,
        "counter_stereotypical": counter,
        "images": {role: len(by_role[role]) for role in ROLES},
        "representation_bias": representation_biases(images, anchors),
    }
