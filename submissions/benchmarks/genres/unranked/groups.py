"""Which passages are of a relational model, of an age of the characters, and of a plot."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from fairspace.builders.genres import plan

Rows = NDArray[np.bool_]


@lru_cache
def by_relation() -> dict[str, Rows]:
    """Suffix -> (1440,) which passages count: '' for all, `_cs` and so on for those of a relational model."""
    relations = np.array([pair.element.relation for pair in plan.pair_list()])
    return {"": np.ones(len(relations), bool), **{f"_{code}": relations == code for code in plan.RELATIONS}}


@lru_cache
def by_age_and_plot() -> dict[str, Rows]:
    """Suffix -> (1440,) which passages count: `_young`, `_middle`, `_old`, `_conflict` and `_cooperation`."""
    elements = [pair.element for pair in plan.pair_list()]
    ages, plots = (np.array([getattr(element, part) for element in elements]) for part in ("age", "plot"))
    masks = {f"_{age}": ages == age for age in plan.AGES}
    return masks | {f"_{plot}": plots == plot for plot in ("conflict", "cooperation")}
