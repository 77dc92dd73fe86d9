"""The seven datasets by name."""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module
from typing import cast

from fairspace.builders.engine.dataset import Dataset

NAMES = (
    "iris_ideal_52",
    "iris_steer_60",
    "iris_gen_52",
    "iris_classifier_25",
    "fact_or_fair",
    "genres",
    "stereotypical_bias",
)


def dataset(name: str) -> Dataset:
    """The dataset called `name`; imports only that one. KeyError names the known ones."""
    if name not in NAMES:
        close = get_close_matches(name, NAMES, n=1)
        hint = f" (did you mean {close[0]!r}?)" if close else ""
        raise KeyError(f"There is no dataset {name!r}{hint}. Known: {', '.join(NAMES)}.")
    return cast(Dataset, import_module(f"fairspace.builders.{name}.dataset").DATASET)
