"""The queries of FACT-OR-FAIR (sections 3.2, 3.3 and 5.1); the wording is in `prompts.py`.

Decisions where the paper is silent: a subjective query lists its four profiles as options A to D, one per line, and
asks for one letter. The four names differ; gender, race and age are drawn independently, so a group may be missing or
doubled among the options, and every row counts each group's offers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from fairspace.builders.errors import check_revision
from fairspace.builders.fact_or_fair.core import CORE, core_rows
from fairspace.builders.fact_or_fair.objective import ORDERS, objective_ids, objective_rows
from fairspace.builders.fact_or_fair.prompts import (
    ASK,
    context_text,
    mended,
    profile,
    scenario_text,
    t2i_objective_prompt,
    t2i_paper_prompt,
    t2i_subjective_prompt,
)
from fairspace.builders.fact_or_fair.statistics import ATTRIBUTES, GROUPS, LEVELS, SLUGS, STATISTICS, stated, truth

CONTEXTS = ("base", "representativeness", "attribution", "ingroup")
SCENARIOS = 3
TRIALS = 100
OPTIONS = 4
LETTERS = "ABCD"
AGES = range(20, 66)
SEED = 19
NAMES = (
    *("Alex", "Avery", "Bailey", "Blake", "Cameron", "Casey", "Charlie", "Dakota"),
    *("Drew", "Emerson", "Finley", "Harper", "Jamie", "Jordan", "Kendall", "Logan"),
    *("Morgan", "Parker", "Quinn", "Reese", "Riley", "Rowan", "Skyler", "Taylor"),
)


@dataclass(frozen=True)
class Draws:
    """The draws of the 45 600 subjective queries, in the order of their ids.

    `name` (four different ones), `gender` and `race` are (n, 4) indices into `NAMES` and `GROUPS`, `age` is (n, 4)
    years; `context` has attribute -> (n,) the group in the context, -1 without one; `cell` is (n, 5) statistic, level,
    scenario, context, trial.
    """

    name: NDArray[np.int8]
    age: NDArray[np.int8]
    gender: NDArray[np.int8]
    race: NDArray[np.int8]
    context: Mapping[str, NDArray[np.int8]]
    cell: NDArray[np.int16]

    def take(self, rows: NDArray[np.int64]) -> Draws:
        """The draws of some queries, by position."""
        context = {attribute: groups[rows] for attribute, groups in self.context.items()}
        columns = {name: getattr(self, name)[rows] for name in ("name", "age", "gender", "race", "cell")}
        return replace(self, context=context, **columns)

    def profiles(self, attribute: str) -> NDArray[np.int8]:
        """The four groups of every query."""
        return self.gender if attribute == "gender" else self.race

    def offered(self, attribute: str) -> NDArray[np.int64]:
        """(n, k) the number of options of each group."""
        groups = np.arange(len(GROUPS[attribute]))
        return (self.profiles(attribute)[:, :, None] == groups).sum(axis=1)


@lru_cache
def draws(revision: str = "") -> Draws:
    """The draws of a dataset revision's subjective queries: all 45 600, or a core's."""
    return _draws().take(core_rows()) if revision in CORE else _draws()


@lru_cache
def _draws() -> Draws:
    shape = (len(STATISTICS), len(LEVELS), SCENARIOS, len(CONTEXTS), TRIALS)
    cell = np.stack(np.unravel_index(np.arange(np.prod(shape)), shape), axis=1).astype(np.int16)
    statistic, level, context = cell[:, 0], cell[:, 1], cell[:, 3]
    n, random = len(cell), np.random.RandomState(SEED)
    name = _four_names(random, n)
    age = random.randint(AGES.start, AGES.stop, (n, OPTIONS)).astype(np.int8)
    profile, pointed = {}, {}
    for attribute in ATTRIBUTES:
        groups = len(GROUPS[attribute])
        profile[attribute] = random.randint(0, groups, (n, OPTIONS)).astype(np.int8)
        drawn = random.randint(0, groups, n).astype(np.int8)
        said = stated()[attribute][statistic, level]
        none = np.int8(-1)
        pointed[attribute] = np.where(context == 0, none, np.where(context == 1, said, drawn))
    return Draws(name, age, profile["gender"], profile["race"], pointed, cell)


def _four_names(random: np.random.RandomState, n: int) -> NDArray[np.int8]:
    pool = np.tile(np.arange(len(NAMES), dtype=np.int8), (n, 1))
    rows = np.arange(n)
    for place in range(OPTIONS):
        other = random.randint(place, len(NAMES), n)
        taken = pool[rows, other]
        pool[rows, other] = pool[:, place]
        pool[:, place] = taken
    return pool[:, :OPTIONS].copy()


__all__ = [
    "AGES",
    "CONTEXTS",
    "LETTERS",
    "NAMES",
    "OPTIONS",
    "REVISIONS",
    "SAMPLES",
    "SAMPLES_V1",
    "SCENARIOS",
    "TASKS",
    "TRIALS",
    "Draws",
    "draws",
    "ids",
    "items",
]
TASKS = ("llm_objective", "llm_subjective", "t2i_objective", "t2i_subjective", "t2i_subjective_paper")
"""`t2i_subjective` has three prompts a topic; `t2i_subjective_paper`, from `v2` on, has one, as the paper."""
REVISIONS = ("v2", "v2-core", "v1")
SAMPLES: Mapping[str, int] = {
    "llm_objective": 1,
    "llm_subjective": 1,
    "t2i_objective": 20,
    "t2i_subjective": 20,
    "t2i_subjective_paper": 20,
}
"""Images per prompt (section 5.1); orders of an objective query and trials of a subjective one have own ids."""
SAMPLES_V1: Mapping[str, int] = {"llm_objective": ORDERS}
"""Exception of `v1`: the three trials of an objective query repeat its one item."""
_IMAGE_PROMPTS = {
    "t2i_objective": t2i_objective_prompt,
    "t2i_subjective": t2i_subjective_prompt,
    "t2i_subjective_paper": t2i_paper_prompt,
}


@lru_cache
def ids(task: str, revision: str = REVISIONS[0]) -> pa.Array:
    """The item ids of a task, in order. ValueError for an unknown task, BuildError REVISION_UNKNOWN."""
    check_revision("fact_or_fair", revision, REVISIONS)
    if task not in TASKS:
        raise ValueError(f"There is no {task!r}. Known: {TASKS}.")
    topics = [f"{task}/{slug}/{level}" for slug, level in product(SLUGS, LEVELS)]
    if task == "llm_objective":
        return objective_ids(revision)
    if task == "t2i_subjective_paper" and revision == "v1":
        return pa.array([], pa.string())
    if task in ("t2i_objective", "t2i_subjective_paper"):
        return pa.array(topics)
    scenarios = [f"{topic}/{scenario}" for topic, scenario in product(topics, range(SCENARIOS))]
    if task == "t2i_subjective":
        return pa.array(scenarios)
    trials = [f"{trial:02d}" for trial in range(TRIALS)]
    every = pa.array([f"{head}/{context}/{t}" for head, context in product(scenarios, CONTEXTS) for t in trials])
    return every.take(pa.array(core_rows())) if revision in CORE else every


@lru_cache
def items(task: str, revision: str = REVISIONS[0]) -> pa.Table:
    """The published rows of a task: `id`, `config`, `statistic`, `level`, `prompt` and the task's own columns.

    `llm_objective` adds `attribute`, `chance` and, from `v2` on, `order` and `options`. The subjective tasks add
    `scenario`; `llm_subjective` also `context`, `trial`, `profiles` (name, age, gender, race), `options_<group>`
    (offers of a group), `chance_<attribute>` (chance that a random option is of the true group, truth `paper`; null
    without one), and `context_<attribute>` (the group in the context, or null).
    """
    keys = ids(task, revision)
    if task == "llm_subjective":
        return _subjective_rows(keys, revision)
    columns: dict[str, list[object]]
    if task == "llm_objective":
        columns = objective_rows(revision)
    else:
        numbers: range = range(SCENARIOS) if task == "t2i_subjective" else range(1)
        topics = list(product(range(len(STATISTICS)), LEVELS, numbers))[: len(keys)]
        ask = _IMAGE_PROMPTS[task]
        columns = {
            "statistic": [STATISTICS[s].name for s, _, _ in topics],
            "level": [level for _, level, _ in topics],
            "prompt": [ask(s, level, number) for s, level, number in topics],
        }
        if task == "t2i_subjective":
            columns["scenario"] = [number for _, _, number in topics]
    return pa.table({"id": keys, "config": pa.array([task] * len(keys)), **columns})


def _subjective_rows(keys: pa.Array, revision: str) -> pa.Table:
    drawn = draws(revision)
    statistic, level, scenario, context, trial = drawn.cell.T
    names = {attribute: pa.array(GROUPS[attribute]) for attribute in ATTRIBUTES}
    fields = {
        "name": pa.array(NAMES).take(pa.array(drawn.name.ravel())),
        "age": pa.array(drawn.age.ravel()),
        **{a: names[a].take(pa.array(drawn.profiles(a).ravel())) for a in ATTRIBUTES},
    }
    people = _written(
        np.stack([drawn.name, drawn.age, drawn.gender, drawn.race], axis=-1).reshape(-1, 4),
        lambda name, age, g, r: profile(NAMES[name], age, GROUPS["gender"][g], GROUPS["race"][r]),
    )
    heads = _written(
        np.stack([statistic, level, scenario, context, *(drawn.context[a] + 1 for a in ATTRIBUTES)], axis=-1),
        _head if revision == "v1" else lambda *cell: mended(_head(*cell)),
    )
    parts: list[object] = [heads, "\n\n"]
    for place, letter in enumerate(LETTERS):
        parts += [f"{letter}. ", people.take(pa.array(np.arange(place, len(people), OPTIONS))), "\n"]
    prompts = pc.binary_join_element_wise(*parts, f"\n{ASK}", "")
    pointed = {a: names[a].take(pa.array(drawn.context[a], mask=drawn.context[a] < 0)) for a in ATTRIBUTES}
    offsets = pa.array(np.arange(0, len(people) + 1, OPTIONS, dtype=np.int32))
    return pa.table(
        {
            "id": keys,
            "config": pa.array(["llm_subjective"] * len(keys)),
            "statistic": pa.array([s.name for s in STATISTICS]).take(pa.array(statistic)),
            "level": pa.array(LEVELS).take(pa.array(level)),
            "scenario": pa.array(scenario),
            "context": pa.array(CONTEXTS).take(pa.array(context)),
            "trial": pa.array(trial),
            "prompt": prompts,
            "profiles": pa.ListArray.from_arrays(offsets, pa.StructArray.from_arrays(fields.values(), list(fields))),
            **{
                f"options_{group.lower()}": pa.array(drawn.offered(a)[:, i].astype(np.int8))
                for a in ATTRIBUTES
                for i, group in enumerate(GROUPS[a])
            },
            **{f"chance_{a}": _chance(drawn, a) for a in ATTRIBUTES},
            **{f"context_{a}": pointed[a] for a in ATTRIBUTES},
        }
    )


def _written(rows: NDArray[np.integer], write: Callable[..., str]) -> pa.Array:
    code = np.ravel_multi_index(tuple(rows.T.astype(np.intp)), tuple(rows.max(axis=0) + 1))
    _, first, which = np.unique(code, return_index=True, return_inverse=True)
    return pa.array([write(*row) for row in rows[first].tolist()]).take(pa.array(which))


def _head(statistic: int, level: int, scenario: int, context: int, gender: int, race: int) -> str:
    """Context and scenario of a query; groups count from 1, 0 is none."""
    said = ("", *GROUPS["gender"])[gender], ("", *GROUPS["race"])[race]
    before = context_text(CONTEXTS[context], statistic, LEVELS[level], *said)
    return f"{before} {scenario_text(statistic, LEVELS[level], scenario)}".lstrip()


def _chance(drawn: Draws, attribute: str) -> pa.Array:
    """The chance that a random option is of the true group (truth `paper`), per query; null without a truth."""
    true = truth("paper")[attribute][drawn.cell[:, 0], drawn.cell[:, 1]]
    share = (drawn.profiles(attribute) == true[:, None]).mean(axis=1)
    return pa.array(share, mask=true < 0)
