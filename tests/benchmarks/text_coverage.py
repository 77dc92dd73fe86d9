"""Coverage of 95 % intervals of FACT-OR-FAIR, stereotypical bias and GENRES, for `coverage.py`."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import product

import numpy as np
from scipy.special import expit

from fairspace.builders.fact_or_fair.plan import draws
from fairspace.builders.fact_or_fair.statistics import ATTRIBUTES, GROUPS, LEVELS, STATISTICS, truth, with_attribute
from fairspace.builders.stereotypical_bias import plan
from fairspace.metrics.columns import Floats
from fairspace.metrics.genres_bias.formula import METRICS
from fairspace.metrics.resampling import Sample, draw, names_of, uncertainties, values_of
from fairspace.metrics.total_bias_score.formula import total_bias_score
from fairspace.submissions.benchmarks.benchmark import Scored
from fairspace.submissions.benchmarks.fact_or_fair.attribute_scores import Context, scores
from fairspace.submissions.benchmarks.fact_or_fair.quantities import image_part, objective_part
from fairspace.submissions.benchmarks.fact_or_fair.records import Faces, prompt_cells, queries
from fairspace.submissions.benchmarks.fact_or_fair.records import Records as Rows
from fairspace.submissions.benchmarks.fact_or_fair.records import SubjectiveAnswers as Choices
from fairspace.submissions.benchmarks.genres.quantities import designs as passage_designs
from fairspace.submissions.benchmarks.genres.records import Features, Stories
from fairspace.submissions.benchmarks.genres.records import Records as Passages
from fairspace.submissions.benchmarks.genres.score import STANDARDS, scoring
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.benchmarks.scoring_table import AS_RELEASED
from fairspace.submissions.benchmarks.stereotypical_bias.quantities import designs as picture_designs
from fairspace.submissions.benchmarks.stereotypical_bias.records import CELLS, CellAnswers, Records, questions
from fairspace.submissions.results.draws import Drawn, keep, many_score_draws, uncertainties_of
from fairspace.submissions.results.scoring import as_wide
from fairspace.submissions.values import Value, measured
from tests.benchmarks.iris_coverage import held

RESAMPLES = 400
Model = Callable[[np.random.Generator], Sample]
Truth = Mapping[str, float]


def objective(right: float, equal: bool = False) -> tuple[Truth, Model]:
    """Objective answers, each right with one chance, S_fact; `equal`: a query's three answers agree (temperature 0)."""
    cells, none = truth("paper"), np.empty(0, np.int64)
    nothing = Choices(draws("v1"), none, none.astype(np.int8), none.astype(bool), ran=False)
    of_item, statistic, level, _ = queries("v1")

    def sample(rng: np.random.Generator) -> Sample:
        groups = np.empty((len(of_item), 3), np.int64)
        for number, a in enumerate(ATTRIBUTES):
            mine, k = with_attribute(a), len(GROUPS[a])
            chances = np.full((len(mine), len(LEVELS), k), (1 - right) / (k - 1))
            np.put_along_axis(chances, cells[a][mine].astype(np.intp)[..., None], right, axis=-1)
            counts = np.zeros((*cells[a].shape, k), np.int64)
            counts[mine] = rng.multinomial(1 if equal else 3, chances) * (3 if equal else 1)
            items = np.flatnonzero(of_item == number)
            for item, each in zip(items, counts[statistic[items], level[items]], strict=True):
                groups[item] = np.repeat(np.arange(k), each)
        said = np.repeat(np.arange(len(groups)), 3), groups.ravel(), np.zeros(groups.size, np.int8)
        return objective_part(Rows(said, nothing, {}, None, "v1")).sample()

    return {f"factuality_llm_objective_{a}": right for a in ATTRIBUTES}, sample


def images(spread: float) -> tuple[Truth, Model]:
    """Subjective images, one face each, with group chances from a Dirichlet distribution (0: all alike)."""
    task, fixed = "t2i_subjective", np.random.default_rng(3)
    cells = prompt_cells(task).astype(np.int64)
    image = np.arange(len(cells) * 20)
    topic = cells[image // 20]
    shape = (len(STATISTICS), len(LEVELS))
    chances = {a: np.full((*shape, len(GROUPS[a])), 1 / len(GROUPS[a])) for a in ATTRIBUTES}
    if spread:
        chances = {a: fixed.dirichlet(np.full(len(GROUPS[a]), 1 / spread), shape) for a in ATTRIBUTES}
    true = {name: x for a, p in chances.items() for name, x in scores(Context(task).grid(a, p)).items()}
    names = [name for name in true if name.startswith(("entropy", "kld_t2i", "fairness"))]

    def sample(rng: np.random.Generator) -> Sample:
        drawn = rng.random((len(image), 1))
        group = {
            a: (p[topic[:, 0], topic[:, 1]].cumsum(axis=1)[:, :-1] < drawn).sum(axis=1) for a, p in chances.items()
        }
        return image_part(task, Faces(image, np.ones(len(image)), group, {})).sample()

    return {name: float(true[name]) for name in names}, sample


def persona(spread: float) -> tuple[Truth, Model]:
    """Persona cells whose traits choose with chances from a Dirichlet distribution."""
    fixed = np.random.default_rng(4)
    return personas(
        lambda n, k: fixed.dirichlet(np.full(k, 1 / spread), n) if spread else np.full((n, k), 1 / k)  # draws in order
    )


def personas(shares: Callable[[int, int], Floats]) -> tuple[Truth, Model]:
    """Persona cells; `shares`: (traits, groups) -> chances of each trait's answers."""
    cells = [cell for cell in CELLS if cell.scenario == "persona"]
    chances, true = {}, {}
    for cell in cells:
        k, n = len(cell.groups), len(cell.instances)
        p = shares(n, k)
        chances[cell.name], true[cell.name] = p, float(np.abs(p - 1 / k).sum(axis=1).mean() / k)

    def sample(rng: np.random.Generator) -> Sample:
        answers: dict[str, CellAnswers | None] = dict.fromkeys(cell.name for cell in CELLS)
        for cell in cells:
            asked = questions(cell)
            p = chances[cell.name][asked.instance].cumsum(axis=1)[:, :-1]
            group = (p < rng.random((len(p), 1))).sum(axis=1)
            position = (asked.options == group[:, None]).argmax(axis=1)
            answers[cell.name] = CellAnswers(asked, group, position, np.ones(len(p), np.int64))
        return picture_designs(Records(answers))[0]

    return true, sample


FACES = 13
"""Faces per age, gender and race, as in UTKFace on average."""


def pairs(lean: float, apart: float) -> tuple[Truth, Model]:
    """Pairs of faces: the stronger pull is picked; faces stand in several pairs.

    Args:
        lean: Standard deviation of the groups' pull per instance.
        apart: Standard deviation of single faces' pull, whatever the instance.
    """
    cells = [cell for cell in CELLS if cell.scenario == "occupation"]
    fixed = np.random.default_rng(6)
    pull = {cell.name: fixed.normal(0, lean, (len(cell.instances), len(cell.groups))) for cell in cells}
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    true = {}
    for cell in cells:
        k, wins = len(cell.groups), np.zeros(pull[cell.name].shape)
        for a, b in product(range(k), range(k)):
            gap = (pull[cell.name][:, a] - pull[cell.name][:, b])[:, None] + apart * 2**0.5 * nodes
            wins[:, a] += (a != b) * expit(gap) @ weights
        p = wins / wins.sum(axis=1, keepdims=True)
        true[cell.name] = float(np.abs(p - 1 / k).sum(axis=1).mean() / k)

    def sample(rng: np.random.Generator) -> Sample:
        faces = rng.normal(0, apart, (len(plan.AGES), 2, 4, FACES))
        answers: dict[str, CellAnswers | None] = dict.fromkeys(cell.name for cell in CELLS)
        for cell in cells:
            asked = questions(cell)
            items = plan.items(cell.task).take(asked.rows)
            names = plan.GROUPS["race" if cell.attribute == "gender" else "gender"]
            shared = np.array([names.index(name) for name in items["shared"].to_pylist()])
            pair = np.unique(items["pair"].to_numpy(zero_copy_only=False), return_inverse=True)[1]
            face = rng.integers(0, FACES, (pair.max() + 1, 2))[pair]
            strength = []
            for side in range(2):
                group = asked.options[:, side]
                both = (group, shared) if cell.attribute == "gender" else (shared, group)
                strength.append(pull[cell.name][asked.instance, group] + faces[asked.cluster, *both, face[:, side]])
            left = rng.random(len(pair)) < expit(strength[0] - strength[1])
            position = np.where(left, 0, 1)
            group = asked.options[np.arange(len(pair)), position]
            answers[cell.name] = CellAnswers(asked, group, position, np.ones(len(pair), np.int64))
        return picture_designs(Records(answers))[0]

    return true, sample


def passages(lean: float, alike: float) -> tuple[Truth, Model]:
    """Passages that lean to one side, alike within an element.

    Args:
        lean: Chance that a passage's sides are those of a biased writer.
        alike: Standard deviation of an element's effect on the difference of sentences.
    """
    n, elements = 1440, 288
    true = {"M3": 2 * lean, "M4": 100 * lean, "M8": lean}

    def sided(rng: np.random.Generator) -> np.ndarray:
        """(n, 2) side of each passage: male with chance (1 + lean) / 2, in 3 of 4 passages."""
        side = np.where(rng.random(n) < (1 + lean) / 2, 0, 1)
        found = np.zeros((n, 2))
        found[np.arange(n), side] = rng.random(n) < 0.75
        return found

    def sample(rng: np.random.Generator) -> Sample:
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
    totals = {}
    for standard in STANDARDS.values():
        cohort = standard.cohorts[standard.default_cohort]
        totals[f"TBS {standard.name}"] = total_bias_score(values, cohort.mean, cohort.std)[0]
    return dict(zip(METRICS, values, strict=True)) | totals, sample


MODELS: dict[str, tuple[Truth, Model]] = {
    "objective, 60 % right": objective(0.6),
    "objective, 90 % right": objective(0.9),
    **{f"objective, equal answers, {right:.0%} right": objective(right, True) for right in (0.6, 0.9, 0.95, 0.99)},
    "images, fair": images(0),
    "images, leaning a little": images(0.05),
    "images, leaning": images(0.5),
    "persona, fair": persona(0),
    "persona, leaning a little": persona(0.005),
    "persona, leaning": persona(0.1),
    "pairs of faces, fair": pairs(0, 0.5),
    "pairs of faces, leaning a little": pairs(0.1, 0.5),
    "pairs of faces, leaning": pairs(0.8, 0.5),
    "passages, fair": passages(0, 1),
    "passages, leaning": passages(0.3, 2),
}


def submission(model: str, number: int, resamples: int = RESAMPLES) -> Iterator[tuple[str, bool, float]]:
    """Value or score, whether a drawn submission's interval holds the truth, and its width."""
    true, sample = MODELS[model]
    design = sample(np.random.default_rng([7, number]))
    drawn = draw(*design, resamples, seed=number)
    sure = uncertainties(*design, drawn, seed=number)
    for name in true.keys() & sure.keys():
        yield name, *held(sure[name], true[name])
    if model.startswith("passages"):
        places = [names_of(design[1]).index(name) for name in METRICS]
        numbers = values_of(design[1], design[0].whole())[0]
        values = {
            name: replace(_exactly(name, float(numbers[place])), uncertainty=sure[name])
            for name, place in zip(METRICS, places, strict=True)
        }
        wide = [as_wide(drawn[:, place], sure[name].error) for name, place in zip(METRICS, places, strict=True)]
        draws = keep(METRICS, np.stack(wide, axis=1))
        for standard in STANDARDS.values():
            table = scoring(standard, AS_RELEASED)
            scored = Scored({"TBS": table.values(values)["TBS"]}, "TBS", None, (), {"cohort": standard.default_cohort})
            (of_scores,) = many_score_draws(benchmark("genres"), [Drawn(scored, values, draws)], standard)
            about = uncertainties_of(scored, values, of_scores, table)["TBS"]
            yield f"TBS {standard.name}", *held(about, true[f"TBS {standard.name}"])


def _exactly(name: str, number: float) -> Value:
    return measured(name, number, low=number, high=number)


def coverage(model: str, submissions: int, resamples: int = RESAMPLES) -> dict[str, tuple[float, float]]:
    """Value or score -> share of intervals that hold the truth, and their mean width."""
    by_name: dict[str, list[tuple[float, float]]] = {}
    for number in range(submissions):
        for name, inside, width in submission(model, number, resamples):
            by_name.setdefault(name, []).append((inside, width))
    return {name: tuple(np.mean(each, axis=0).tolist()) for name, each in sorted(by_name.items())}
