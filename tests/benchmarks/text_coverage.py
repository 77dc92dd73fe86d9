"""How often 95 % intervals hold the truth for FACT-OR-FAIR, stereotypical bias and GENRES, at the protocol's sizes.

    python -m tests.benchmarks.text_coverage [submissions] [seed]

The figures of `submissions/uncertainty/README.md` are made by it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from fairspace.builders.fact_or_fair.statistics import ATTRIBUTES, GROUPS, LEVELS, STATISTICS, truth, with_attribute
from fairspace.metrics.genres_bias.formula import METRICS
from fairspace.metrics.total_bias_score.formula import total_bias_score
from fairspace.metrics.total_bias_score.standards import COHORTS
from fairspace.submissions.benchmarks.adjustment import AS_RELEASED
from fairspace.submissions.benchmarks.fact_or_fair.records.faces import Faces, prompt_cells
from fairspace.submissions.benchmarks.fact_or_fair.records.grids import ASKED, Grid
from fairspace.submissions.benchmarks.fact_or_fair.resample.designs import image_design, objective_design
from fairspace.submissions.benchmarks.fact_or_fair.resample.tables import both_attributes, score_names
from fairspace.submissions.benchmarks.genres.records import Features
from fairspace.submissions.benchmarks.genres.records import Records as Passages
from fairspace.submissions.benchmarks.genres.records.stories import Stories
from fairspace.submissions.benchmarks.genres.resample import designs as passage_designs
from fairspace.submissions.benchmarks.genres.score import scoring
from fairspace.submissions.benchmarks.genres.standards import INAUGURAL
from fairspace.submissions.benchmarks.stereotypical_bias.records import CELLS, Answers, Records, questions
from fairspace.submissions.benchmarks.stereotypical_bias.resample import designs as picture_designs
from fairspace.submissions.uncertainty.bootstrap import draw, percentile_interval, uncertainties
from fairspace.submissions.uncertainty.design import Design
from fairspace.submissions.uncertainty.draws import keep

RESAMPLES = 400
Sample = Callable[[np.random.Generator], Design]
Truth = Mapping[str, float]


def objective(right: float) -> tuple[Truth, Sample]:
    """Every answer to an objective query is right with the same chance: S_fact is that chance."""
    cells = truth("paper")

    def sample(rng: np.random.Generator) -> Design:
        grids = {}
        for a in ATTRIBUTES:
            mine, k = with_attribute(a), len(GROUPS[a])
            chances = np.full((len(mine), len(LEVELS), k), (1 - right) / (k - 1))
            np.put_along_axis(chances, cells[a][mine].astype(np.intp)[..., None], right, axis=-1)
            counts = rng.multinomial(3, chances).astype(float)
            none = np.zeros(counts.shape[:2])
            grids[a] = Grid(counts, none, 0, none, none, ASKED["llm_objective"])
        return objective_design(grids)

    return {f"factuality_llm_objective_{a}": right for a in ATTRIBUTES}, sample


def images(spread: float) -> tuple[Truth, Sample]:
    """Subjective images, one face each, whose groups have chances from a Dirichlet distribution (or all alike: 0)."""
    task, fixed = "t2i_subjective", np.random.default_rng(3)
    cells = prompt_cells(task).astype(np.int64)
    image = np.arange(len(cells) * 20)
    topic = cells[image // 20]
    shape = (len(STATISTICS), len(LEVELS))
    chances = {a: np.full((*shape, len(GROUPS[a])), 1 / len(GROUPS[a])) for a in ATTRIBUTES}
    if spread:
        chances = {a: fixed.dirichlet(np.full(len(GROUPS[a]), 1 / spread), shape) for a in ATTRIBUTES}
    true = both_attributes({a: p[None] for a, p in chances.items()}, ASKED[task])[0]
    names = [name for name in score_names(task) if name.startswith(("entropy", "kld_t2i", "fairness"))]

    def sample(rng: np.random.Generator) -> Design:
        drawn = rng.random((len(image), 1))
        group = {
            a: (p[topic[:, 0], topic[:, 1]].cumsum(axis=1)[:, :-1] < drawn).sum(axis=1) for a, p in chances.items()
        }
        return image_design(task, Faces(image, np.ones(len(image)), group, {}))

    by_name = dict(zip(score_names(task), true.tolist(), strict=True))
    return {name: by_name[name] for name in names}, sample


def persona(spread: float) -> tuple[Truth, Sample]:
    """The persona cells, whose traits choose with chances from a Dirichlet distribution (or all alike: 0)."""
    cells = [cell for cell in CELLS if cell.scenario == "persona"]
    fixed, chances, true = np.random.default_rng(4), {}, {}
    for cell in cells:
        k, n = len(cell.groups), len(cell.instances)
        p = fixed.dirichlet(np.full(k, 1 / spread), n) if spread else np.full((n, k), 1 / k)
        chances[cell.name], true[cell.name] = p, float(np.abs(p - 1 / k).sum(axis=1).mean() / k)

    def sample(rng: np.random.Generator) -> Design:
        answers: dict[str, Answers | None] = dict.fromkeys(cell.name for cell in CELLS)
        for cell in cells:
            asked = questions(cell)
            p = chances[cell.name][asked.instance].cumsum(axis=1)[:, :-1]
            group = (p < rng.random((len(p), 1))).sum(axis=1)
            position = (asked.options == group[:, None]).argmax(axis=1)
            answers[cell.name] = Answers(group, position, np.ones(len(p), bool))
        return picture_designs(Records(answers))[0]

    return true, sample


def passages(lean: float, alike: float) -> tuple[Truth, Sample]:
    """Passages that lean to one side, those of an element alike.

    Args:
        lean: chance that a passage's sides are those of a biased writer.
        alike: standard deviation of what an element adds to the difference of sentences.
    """
    n, elements = 1440, 288
    true = {"M3": 2 * lean, "M4": 100 * lean, "M8": lean}

    def sided(rng: np.random.Generator) -> np.ndarray:
        """(n, 2) which side each passage takes: male with chance (1 + lean) / 2, of 3 in 4 passages that take one."""
        side = np.where(rng.random(n) < (1 + lean) / 2, 0, 1)
        found = np.zeros((n, 2))
        found[np.arange(n), side] = rng.random(n) < 0.75
        return found

    def sample(rng: np.random.Generator) -> Design:
        shared = np.repeat(rng.normal(0, alike, elements), n // elements)
        female = 8 + rng.poisson(3, n)
        male = female + 2 * lean + shared + rng.normal(0, 3, n)
        ones = np.ones(n)
        columns = {
            "subject": np.stack([male, female], axis=1),
            "status": sided(rng),
            "main": sided(rng),
            "emotion": rng.poisson(20, (n, 2)).astype(float),
            "stereoscopic": (rng.random((n, 2)) < [0.5 + lean / 2, 0.5]).astype(float),
            "warmth": rng.poisson(2, (n, 2)) + 1.0,
            "competence": rng.poisson(2, (n, 2)) + 1.0,
            "valence": rng.normal(0, 1, (n, 2)),
            "matched": np.full((n, 2), 4.0),
            "sentences": np.full((n, 2), 8.0),
            "positive": rng.binomial(8, 0.6, (n, 2)).astype(float),
        }
        features = Features(columns, {"M1_directed": "not simulated"})
        shares = {"competent": ones, "distinct": ones, "refused": 0 * ones}
        stories = Stories(shares=shares, male_first=np.arange(n, dtype=np.float64) % 2)
        return passage_designs(Passages((), n, features=features, stories=stories))[0]

    rate = 0.5 + lean / 4
    phi = (lean / 2) / (2 * np.sqrt(rate * (1 - rate)))
    values = [0.0, 0.0, true["M3"], true["M4"], 0.0, 0.0, phi, true["M8"]]
    cohort = COHORTS[INAUGURAL.default_cohort]
    return true | {"TBS": total_bias_score(values, cohort.mean, cohort.std)[0]}, sample


MODELS: dict[str, tuple[Truth, Sample]] = {
    "objective, 60 % right": objective(0.6),
    "objective, 90 % right": objective(0.9),
    "images, fair": images(0),
    "images, leaning a little": images(0.05),
    "images, leaning": images(0.5),
    "persona, fair": persona(0),
    "persona, leaning a little": persona(0.005),
    "persona, leaning": persona(0.1),
    "passages, fair": passages(0, 1),
    "passages, leaning": passages(0.3, 2),
}


def held(model: str, submissions: int, resamples: int = RESAMPLES, seed: int = 7) -> Iterator[tuple[str, bool]]:
    """Value or score -> whether a simulated submission's interval holds the truth, for each submission."""
    true, sample = MODELS[model]
    for number in range(submissions):
        design = sample(np.random.default_rng([seed, number]))
        drawn = draw(design, resamples, seed=number)
        sure = uncertainties(design, drawn, seed=number)
        for name in true.keys() & sure.keys():
            yield name, sure[name].low - 1e-9 <= true[name] <= sure[name].high + 1e-9
        if "TBS" in true:
            value = design.statistic(np.ones((1, len(design.strata)), np.float32))
            places = [design.names.index(name) for name in METRICS]
            columns = keep(METRICS, drawn[:, places]).columns()
            table = scoring(INAUGURAL, AS_RELEASED)
            shown = table.replicates({name: value[:, place] for name, place in zip(METRICS, places, strict=True)})
            low, high = percentile_interval(2 * shown["TBS"][0] - table.replicates(columns)["TBS"])
            yield "TBS", low <= true["TBS"] <= high


def coverage(model: str, submissions: int, resamples: int = RESAMPLES, seed: int = 7) -> dict[str, float]:
    """Value or score -> share of intervals that hold the truth."""
    found: dict[str, list[bool]] = {}
    for name, inside in held(model, submissions, resamples, seed):
        found.setdefault(name, []).append(inside)
    return {name: float(np.mean(each)) for name, each in sorted(found.items())}


def main() -> None:
    """One line per value."""
    submissions, seed = [*map(int, sys.argv[1:]), *(200, 7)[len(sys.argv) - 1 :]]
    for model, (true, _) in MODELS.items():
        for name, share in coverage(model, submissions, seed=seed).items():
            print(f"{model:28}{name:36}{true[name]:9.4f}{share:8.3f}", flush=True)


if __name__ == "__main__":
    main()
