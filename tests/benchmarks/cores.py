"""Distance of each core from the whole: `python -m tests.benchmarks.cores [BENCHMARK ...]`.

The same models answer all questions and the core's: the baselines, and mixtures of them by shares that are drawn anew
for each kind of item, so that they are nearly fair, biased, or partly refuse. Printed are the values of the whole that
lie within the intervals of the core, nominally 95 %. FACT-OR-FAIR's cores are in `core_calibration`.
"""

import sys
from functools import lru_cache
from typing import NamedTuple
from zlib import crc32

import numpy as np
import pyarrow as pa

from fairspace.builders.iris.groups import GROUPS
from fairspace.builders.iris.items import steer_items
from fairspace.submissions.benchmarks.baselines import NAMES, baseline_meta
from fairspace.submissions.benchmarks.iris.baselines import _annotations
from fairspace.submissions.benchmarks.iris.records import QUALITY, STEER, neutral_group_counts
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.format.writing import _complete
from fairspace.submissions.results.scoring import score_submission
from tests import stored_parses

CORES = {"stereotypical_bias": "v2-core", "iris": "v2-core", "genres": "v1-core"}
DRAWN = tuple(f"drawn {number}" for number in range(8))
MIXED = ("random", "stereotyped", "constant", "refusing")
"""Not `balanced`, whose answers take turns: a core may fall into step with them."""
Tables = dict[str, pa.Table]


@lru_cache(8)
def baseline(name: str, bench: str, revision: str) -> Tables:
    return {table: _complete(table, rows) for table, rows in benchmark(bench).baseline(name, 0, revision).items()}


def model(name: str, bench: str, revision: str) -> Submission:
    tables = baseline(name, bench, revision) if name in NAMES else {}
    if not tables:
        seed = crc32(name.encode())
        made = mixture(seed, bench, benchmark(bench).base_revision(revision))
        tables = {table: asked(rows, bench, revision) for table, rows in made.items()}
        if bench == "iris":
            tables["annotations"] = pa.concat_tables([tables["annotations"], steered(tables, seed, revision)])
    return Submission(baseline_meta("random", bench, 0, tables, revision), tables)


def asked(rows: pa.Table, bench: str, revision: str) -> pa.Table:
    """Rows of the revision's items and samples, without IRIS' steer images, which follow from the others."""
    tasks = {task.name: task for task in benchmark(bench).tasks if task.name != STEER}
    known = {name: (set(task.ids(revision).to_pylist()), task.samples_of(revision)) for name, task in tasks.items()}
    columns = zip(*(rows[name].to_pylist() for name in ("task", "id", "sample")), strict=True)
    return rows.filter(pa.array([t in known and i in known[t][0] and s < known[t][1] for t, i, s in columns]))


def mixture(seed: int, bench: str, revision: str) -> Tables:
    """Each item and sample is answered by a baseline, by shares of the item's kind (the words of its id)."""
    random, tables = np.random.RandomState(seed), {}
    usual, sources = random.dirichlet([1, 1, 0.3, 0.2]), dict[tuple[str, int], int]()
    shares = lru_cache(None)(lambda kind: np.cumsum(np.random.RandomState([seed, kind]).dirichlet(10 * usual + 0.01)))
    for table in baseline(MIXED[0], bench, revision):
        several = [asked(baseline(name, bench, revision)[table], bench, revision) for name in MIXED]
        n, which = several[0].num_rows, []
        for key in zip(*(several[0][name].to_pylist() for name in ("id", "sample")), strict=True):
            if key not in sources:
                kind = crc32("/".join(part for part in key[0].split("/") if not part.isdigit()).encode())
                sources[key] = int(np.searchsorted(shares(kind)[:-1], random.rand()))
            which.append(sources[key])
        tables[table] = pa.concat_tables(several).take(pa.array(np.array(which) * n + np.arange(n)))
    return tables


def steered(tables: Tables, seed: int, revision: str) -> pa.Table:
    """Steer images of the model's own ten stereotypes; each prompt has its chance of success, and of quality."""
    items = steer_items(neutral_group_counts(Submission(baseline_meta("random", "iris", 0, tables), tables)), revision)
    ids, images, shown, quality = items["id"].to_pylist(), items["images"][0].as_py(), [], []
    for item in ids:
        random, usual = np.random.RandomState([seed, crc32(item.encode())]), np.random.RandomState(seed)
        _, _, own, requested = item.split("/")
        easy = usual.rand() + (own == requested) * usual.rand() + 0.1 * random.randn()
        success = random.rand(images) < np.clip(easy, 0.05, 0.95)
        shown.append(np.where(success, GROUPS.index(requested), GROUPS.index(own)))
        quality.append(np.clip(0.5 + 0.2 * easy + 0.1 * random.randn(len(QUALITY), images), 0, 1))
    made = _annotations(STEER, pa.array(ids), images, np.concatenate(shown), np.concatenate(quality, axis=1), False)
    return _complete("annotations", made)


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


def of_core(name: str, bench: str, resamples: int = 1000) -> list[Compared]:
    """The values and scores of one model by all questions and by the core's, but for those that have no interval."""
    stored_parses.share()
    core, found = CORES[bench], []
    whole = score_submission(model(name, bench, benchmark(bench).base_revision(core)), resamples=0)
    few = score_submission(model(name, bench, core), resamples=resamples)
    for score, those, others in ((False, whole.values, few.values), (True, whole.scored.scores, few.scored.scores)):
        for key, value in those.items():
            number, other, about = value.value, others[key].value, others[key].uncertainty
            if number is not None and other is not None and not key.startswith(("competence_modal", "M7_p", "M8_p")):
                ends = None if about is None else (about.low, about.high)
                found.append(Compared(key, score, number, other, ends))
    return found


def main(benches: list[str]) -> None:
    for bench in benches or [*CORES]:
        every = [(name, one) for name in (*NAMES, *DRAWN) for one in of_core(name, bench)]
        for name, one in every:
            if one.score or not one.held:
                print(
                    f"{name}, {one.name}: {one.whole:.4g}, core {one.core:.4g} {one.ends} {'' if one.held else 'out'}"
                )
        for score in (True, False):
            held = [one.held for _, one in every if one.score == score and one.ends is not None]
            without = sum(one.score == score and one.ends is None for _, one in every)
            what = "scores" if score else "values"
            print(f"{bench}: {sum(held)} of {len(held)} {what} held; {without} without an interval")


if __name__ == "__main__":
    main(sys.argv[1:])
