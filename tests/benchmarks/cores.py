"""Distance of each core from the whole: `python -m tests.benchmarks.cores [BENCHMARK ...]`.

The same models answer all questions and the core's: the baselines, and mixtures of them whose shares are drawn anew for
each kind of item, such as an occupation, so that they are nearly fair, biased, or partly refuse. Images of drawn models
show groups by drawn shares. Printed are the values of the whole that lie within the intervals of the core: nominally
95 %.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple
from zlib import crc32

import numpy as np
import pyarrow as pa

from fairspace.builders.fact_or_fair import plan as fact_or_fair
from fairspace.builders.fact_or_fair.statistics import GROUPS as TOPIC_GROUPS
from fairspace.builders.iris.groups import GROUPS
from fairspace.builders.iris.items import steer_items
from fairspace.submissions.benchmarks.baselines import NAMES, baseline_meta, keys
from fairspace.submissions.benchmarks.iris.baselines import _annotations
from fairspace.submissions.benchmarks.iris.records import NEUTRAL, QUALITY, STEER, neutral_group_counts
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.format.writing import _complete
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import score_submission
from tests import stored_parses

CORES = {"stereotypical_bias": "v2-core", "iris": "v2-core", "genres": "v1-core", "fact_or_fair": "v2-core-images"}
WITHOUT = ("competence_modal", "M7_p", "M8_p")
"""Prefixes of values without an interval."""
DRAWN = tuple(f"drawn {number}" for number in range(8))
Tables = dict[str, pa.Table]


@lru_cache(8)
def baseline(name: str, bench: str, revision: str) -> Tables:
    """Complete tables of a baseline, sorted by their keys."""
    made = benchmark(bench).baseline(name, 0, revision)
    return {table: _complete(table, rows) for table, rows in made.items()}


def model(name: str, bench: str, revision: str) -> Submission:
    """The submission of a baseline or a drawn model."""
    whole = benchmark(bench).base_revision(revision)
    if name in NAMES and bench != "fact_or_fair":
        tables = baseline(name, bench, revision)
    else:
        seed = crc32(name.encode())
        tables = fact_or_fair_images(seed, revision) if bench == "fact_or_fair" else mixture(seed, bench, whole)
        tables = {table: _asked(rows, bench, revision) for table, rows in tables.items()}
        if bench == "iris":
            tables["annotations"] = pa.concat_tables([tables["annotations"], steered(tables, seed, revision)])
    return Submission(baseline_meta("random", bench, 0, tables, revision), tables)


def _asked(rows: pa.Table, bench: str, revision: str) -> pa.Table:
    """Rows of the revision's items and samples."""
    parts = []
    for task in benchmark(bench).tasks:
        mine = rows.filter(np.asarray(rows["task"].to_pylist()) == task.name)
        ids, samples = set(task.ids(revision).to_pylist()), task.samples_of(revision)
        kept = [key in ids and sample < samples for key, sample in zip(*_keys(mine), strict=True)]
        parts.append(mine.filter(pa.array(kept, pa.bool_())))
    return pa.concat_tables(parts)


def _keys(rows: pa.Table) -> tuple[list[str], list[int]]:
    return rows["id"].to_pylist(), rows["sample"].to_pylist()


def mixture(seed: int, bench: str, revision: str) -> Tables:
    """Each item and sample is answered by a baseline drawn by shares of the item's kind (the words of its id).

    `balanced` is none of them: its answers take turns, with which the places of a core may agree.
    """
    random = np.random.RandomState(seed)
    usual = random.dirichlet([1, 1, 0.3, 0.2])
    tables, names = {}, ("random", "stereotyped", "constant", "refusing")
    sources: dict[tuple[str, int], int] = {}
    for table in baseline(names[0], bench, revision):
        of = [baseline(name, bench, revision)[table] for name in names]
        if bench == "iris" and table == "annotations":
            of = [rows.filter(np.asarray(rows["task"].to_pylist()) == NEUTRAL) for rows in of]
        which = np.empty(of[0].num_rows, np.int64)
        for place, key in enumerate(zip(*_keys(of[0]), strict=True)):
            if key not in sources:
                kind = crc32("/".join(part for part in key[0].split("/") if not part.isdigit()).encode())
                sources[key] = int(np.searchsorted(_shares(seed, kind, tuple(usual)), random.rand()))
            which[place] = sources[key]
        rows = pa.concat_tables(of)
        tables[table] = rows.take(pa.array(which * of[0].num_rows + np.arange(of[0].num_rows)))
    return tables


@lru_cache(100_000)
def _shares(seed: int, kind: int, usual: tuple[float, ...]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.cumsum(np.random.RandomState([seed, kind]).dirichlet(10 * np.array(usual) + 0.01))[:-1]


def steered(tables: Tables, seed: int, revision: str) -> pa.Table:
    """Steer images of the model's own ten stereotypes: each prompt has its chance of success, and of quality."""
    neutral = Submission(baseline_meta("random", "iris", 0, tables, revision), {"annotations": tables["annotations"]})
    items = steer_items(neutral_group_counts(neutral), revision)
    ids, images = items["id"].to_pylist(), items["images"][0].as_py()
    shown, quality = [], []
    for item in ids:
        random, usual = np.random.RandomState([seed, crc32(item.encode())]), np.random.RandomState(seed)
        _, _, stereotype, requested = item.split("/")
        easy = usual.rand() + (stereotype == requested) * usual.rand() + 0.1 * random.randn()
        success = random.rand(images) < np.clip(easy, 0.05, 0.95)
        shown.append(np.where(success, GROUPS.index(requested), GROUPS.index(stereotype)))
        quality.append(np.clip(0.5 + 0.2 * easy + 0.1 * random.randn(len(QUALITY), images), 0, 1))
    made = _annotations(STEER, pa.array(ids), images, np.concatenate(shown), np.concatenate(quality, axis=1), False)
    return _complete("annotations", made)


def fact_or_fair_images(seed: int, revision: str) -> Tables:
    """Images of every prompt, with the groups of each topic by shares from even to one group alone."""
    usual, parts = np.random.RandomState(seed), []
    strength, faceless = 10 ** usual.uniform(-1, 1.5), usual.choice([0.0, 0.0, 0.1])
    common = {attribute: usual.dirichlet([2] * len(groups)) for attribute, groups in TOPIC_GROUPS.items()}
    for task in ("t2i_objective", "t2i_subjective_paper"):
        ids, images = fact_or_fair.ids(task, "v2"), fact_or_fair.SAMPLES[task]
        columns = keys(task, ids, images)
        columns["face"], count = pa.array([0] * len(columns["id"])), len(ids) * images
        columns["status"] = pa.array(np.where(usual.rand(count) < faceless, "no_face", "ok"))
        for attribute, groups in TOPIC_GROUPS.items():
            share = [usual.dirichlet(strength * common[attribute] + 0.02) for _ in range(len(ids))]
            drawn = np.concatenate([usual.choice(len(groups), images, p=of) for of in share])
            columns[attribute] = pa.array(groups).take(pa.array(drawn))
        parts.append(_complete("annotations", pa.table(columns)))
    return {"annotations": pa.concat_tables(parts)}


class Compared(NamedTuple):
    """A value (or score) of the whole beside the core's, and the core's interval."""

    name: str
    score: bool
    whole: float
    core: float
    ends: tuple[float, float] | None

    @property
    def held(self) -> bool:
        return self.ends is not None and self.ends[0] - 1e-9 <= self.whole <= self.ends[1] + 1e-9


def compared(whole: Result, core: Result) -> Iterator[Compared]:
    """The values and scores that both have, without those that never have an interval."""
    for score, those in ((False, whole.values), (True, whole.scored.scores)):
        for name, value in those.items():
            other = (core.scored.scores if score else core.values).get(name)
            if value.value is None or other is None or other.value is None or name.startswith(WITHOUT):
                continue
            about = other.uncertainty
            yield Compared(name, score, value.value, other.value, None if about is None else (about.low, about.high))


def of_core(name: str, bench: str, resamples: int = 1000) -> list[Compared]:
    """One model by all questions and by the core's."""
    stored_parses.share()
    core = CORES[bench]
    whole = score_submission(model(name, bench, benchmark(bench).base_revision(core)), resamples=0)
    return list(compared(whole, score_submission(model(name, bench, core), resamples=resamples)))


def main(benches: list[str]) -> None:
    for bench in benches or [*CORES]:
        declared = benchmark(bench)
        tasks = [task for task in declared.tasks if not task.optional]
        core, whole = (
            sum(task.samples_asked(of) for task in tasks) for of in (CORES[bench], declared.base_revision(CORES[bench]))
        )
        print(f"{bench}: {core:,} of {whole:,} answers, judgements and images, {core / whole:.1%}")
        every: dict[bool, list[bool]] = {True: [], False: []}
        for name in (*NAMES, *DRAWN):
            found = of_core(name, bench)
            print(f"  {name}: {sum(one.held for one in found)} of {len(found)} held", flush=True)
            for one in found:
                every[one.score].append(one.held)
                if one.score or not one.held:
                    ends = "no interval" if one.ends is None else "{:.4g} to {:.4g}".format(*one.ends)
                    print(
                        f"    {'' if one.held else 'not '}held: {one.name} {one.whole:.4g}, core {one.core:.4g}, {ends}"
                    )
        for score, held in every.items():
            print(f"  {'scores' if score else 'values'}: {sum(held)} of {len(held)} held, {np.mean(held):.1%}")


if __name__ == "__main__":
    main(sys.argv[1:])
