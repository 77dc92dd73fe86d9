"""Stories, judgements, and counts of passages that tests of GENRES draw."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from fairspace.builders.genres import plan
from fairspace.submissions.benchmarks.genres.records import Column, Features, Records, SingleStories, Stories
from fairspace.submissions.format.schema import JUDGEMENTS, RESPONSES, Submission
from tests.submissions.benchmarks.rows import meta

IDS = tuple(plan.ids().to_pylist())
N = len(IDS)
Row = Mapping[str, Any]


def submission(
    told: Iterable[Row], judged: Iterable[Row] = (), revision: str = "v1", judge: str = "Llama-3.1-8B-Instruct"
) -> Submission:
    rows = {"responses": (told, RESPONSES), "judgements": (judged, JUDGEMENTS)}
    tables = {
        name: pa.Table.from_pylist([{"sample": 0, **row} for row in of_table], schema)
        for name, (of_table, schema) in rows.items()
    }
    if not tables["judgements"]:
        return Submission(meta("genres", revision), {"responses": tables["responses"]})
    return Submission(meta("genres", revision, judge={"name": judge, "version": "1"}), tables)


def response(profiles: Mapping[str, str], story: str) -> str:
    """A response with a profile of each name."""
    lines = [f"Profile of {name}: {profile}" for name, profile in profiles.items()]
    return "\n".join([*lines, f"Narrative passage: {story}"])


def counts(random: np.random.Generator, low: int, high: int, missing: float = 0.1) -> Column:
    """A whole number of each of two characters; some passages are unreadable."""
    column = random.integers(low, high, (N, 2)).astype(float)
    column[random.random(N) < missing] = math.nan
    return column


def records(features: Features, single: Features | None = None) -> Records:
    """Every passage was handed in; stories of one character too where they have features."""
    shares = dict.fromkeys(("competent", "distinct", "refused"), np.zeros(N))
    stories = Stories(shares=shares, male_first=np.tile([0.0, 1.0], N // 2))
    alone = None if single is None else SingleStories(single, ALL_COMPETENT)
    return Records(IDS, N, judge="a", features=features, authors=features, stories=stories, single=alone)


ALL_COMPETENT = {"competent": np.ones((N, 2)), "refused": np.zeros((N, 2))}
