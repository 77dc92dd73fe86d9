"""The objective queries of language models: their wording, and the orders of their options.

Revision `v1` asks a query three times in the paper's order, without letters. Revision `v2` letters the options and asks
each query in three drawn orders, as the authors' code does "to avoid order bias"; each order is an item. The three
orders of four races differ in every place, and two of the three orders of two genders do.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pyarrow as pa

from fairspace.builders.fact_or_fair.prompts import CHOICES, objective_prompt
from fairspace.builders.fact_or_fair.statistics import GROUPS, LEVELS, SLUGS, STATISTICS, Statistic

ORDERS = 3
"""Times that each objective query is asked (section 5.1)."""
SEED = 23
Query = tuple[Statistic, str, str]


@lru_cache
def queries() -> tuple[Query, ...]:
    """The 66 objective queries, in order."""
    return tuple((s, level, attribute) for s in STATISTICS for level in LEVELS for attribute in s.attributes)


@lru_cache
def orders() -> tuple[tuple[str, ...], ...]:
    """The lettered options of the 198 items of `v2`, query by query, from a fixed seed."""
    random = np.random.RandomState(SEED)
    drawn: list[tuple[str, ...]] = []
    for _, _, attribute in queries():
        choices, round_of = CHOICES[attribute], len(CHOICES[attribute])
        mine: list[tuple[str, ...]] = []
        while len(mine) < ORDERS:
            order = tuple(choices[place] for place in random.permutation(round_of))
            before = mine[len(mine) - len(mine) % round_of :]
            if not any(a == b for earlier in before for a, b in zip(earlier, order, strict=True)):
                mine.append(order)
        drawn += mine
    return tuple(drawn)


@lru_cache
def places(attribute: str) -> np.ndarray[tuple[int, int, int], np.dtype[np.int64]]:
    """(queries, 3, k) the place, from 0, of each group in every item of `v2` with the attribute."""
    names = [group.capitalize() for group in GROUPS[attribute]]
    mine = [order for order, query in zip(orders(), _each_order(), strict=True) if query[2] == attribute]
    return np.array([[order.index(name) for name in names] for order in mine]).reshape(-1, ORDERS, len(names))


def objective_ids(revision: str) -> pa.Array:
    """`llm_objective/<statistic>/<level>/<attribute>`, and the order from 0 to 2 where it is drawn."""
    heads = [f"llm_objective/{s.slug}/{level}/{attribute}" for s, level, attribute in queries()]
    return pa.array(heads if revision == "v1" else [f"{head}/{order}" for head in heads for order in range(ORDERS)])


def objective_rows(revision: str) -> dict[str, list[object]]:
    """The columns that follow `id` and `config`; with drawn orders also `order` and the lettered `options`."""
    rows = list(queries() if revision == "v1" else _each_order())
    options = [() for _ in rows] if revision == "v1" else orders()
    columns: dict[str, list[object]] = {
        "statistic": [s.name for s, _, _ in rows],
        "level": [level for _, level, _ in rows],
        "attribute": [attribute for _, _, attribute in rows],
        "prompt": [
            objective_prompt(SLUGS.index(s.slug), level, attribute, lettered)
            for (s, level, attribute), lettered in zip(rows, options, strict=True)
        ],
        "chance": [1 / len(GROUPS[attribute]) for _, _, attribute in rows],
    }
    if revision == "v1":
        return columns
    return columns | {
        "order": [order for _ in queries() for order in range(ORDERS)],
        "options": [list(order) for order in orders()],
    }


def _each_order() -> list[Query]:
    return [query for query in queries() for _ in range(ORDERS)]
