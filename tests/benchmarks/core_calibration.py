"""Distance of FACT-OR-FAIR's core from all subjective queries: `python -m tests.benchmarks.core_calibration`.

64 models answer all 45 600 queries: four baselines, and sixty with drawn preferences by statistic, level and context (a
third of them partly `stereotyped`, a third partly `random`). The table gives mean and root mean square over models of
core less all (mean of four contexts), its largest size, and the root mean square of single contexts.
"""

import numpy as np

from fairspace.builders.fact_or_fair.plan import CONTEXTS, CORE_IMAGES, SCENARIOS, TRIALS, core_rows, draws
from fairspace.builders.fact_or_fair.statistics import ATTRIBUTES, GROUPS, LEVELS, STATISTICS, with_attribute
from fairspace.builders.iris.groups import GROUP_NAMES, OCCUPATIONS, REGIONS
from fairspace.builders.iris_gen_52 import plan as iris_gen_52
from fairspace.metrics.columns import Floats, Integers
from fairspace.submissions.benchmarks.baselines import Baseline
from fairspace.submissions.benchmarks.fact_or_fair.attribute_scores import SCORES, Context, Grid, scores
from fairspace.submissions.benchmarks.fact_or_fair.baselines import subjective_choices
from fairspace.submissions.benchmarks.fact_or_fair.records import ADDED, IMAGES_ADDED
from fairspace.submissions.benchmarks.iris.answer_quantities import divergences
from fairspace.submissions.benchmarks.iris.image_quantities import references

BASELINES: tuple[Baseline, ...] = ("random", "constant", "stereotyped", "balanced")
SHOWN = ("entropy", "kld", "kld_authors", "fairness", "distance")
DRAWN = 60


def drawn_model(seed: int) -> Integers:
    """(45600,) options of a drawn model."""
    random, plan = np.random.RandomState(seed), draws("v2")
    statistic, level, _, context, _ = plan.cell.T.astype(int)
    n, strength = len(plan.cell), np.exp(random.uniform(np.log(0.2), np.log(8)))
    liking = np.zeros((n, 4))
    for attribute in ATTRIBUTES:
        k = len(GROUPS[attribute])
        common = random.normal(0, strength, k) * random.rand()
        likings = random.normal(0, strength, (len(STATISTICS), len(LEVELS), len(CONTEXTS), k)) + common
        liking += likings[statistic, level, context][np.arange(n)[:, None], plan.profiles(attribute)]
    letters = random.normal(0, 1, 4) * random.choice([0, 0, 1, 2])
    chosen = (liking + letters + random.gumbel(size=(n, 4))).argmax(axis=1)
    if seed % 3 == 2:
        return np.asarray(chosen, np.int64)
    other = subjective_choices("random" if seed % 3 else "stereotyped", 0)
    return np.where(random.rand(n) < random.rand(), other, chosen).astype(np.int64)


def measured(options: Integers, rows: Integers, added: float) -> dict[str, Floats]:
    """Attribute -> (4, 8) scores of each context, for some of the queries."""
    plan = draws("v2")
    statistic, level, _, context, _ = plan.cell[rows].T.astype(int)
    by_attribute = {}
    for attribute in ATTRIBUTES:
        k, mine = len(GROUPS[attribute]), with_attribute(attribute)
        group = plan.profiles(attribute)[rows, options[rows]].astype(int)
        shape = (len(CONTEXTS), len(STATISTICS), len(LEVELS), k)
        code = np.ravel_multi_index((context, statistic, level, group), shape)
        counts = np.bincount(code, minlength=int(np.prod(shape))).reshape(shape)[:, mine].astype(float)
        by_attribute[attribute] = scores_of("llm_base", attribute, counts, added)
    return by_attribute


def scores_of(context: str, attribute: str, counts: Floats, added: float) -> Floats:
    """(..., 8) scores of (..., s, 2, k) counts."""
    return np.stack([*scores(Grid(Context(context, added=added), attribute, counts)).values()][: len(SCORES)], axis=-1)


def calibrate(added: float = ADDED) -> dict[str, Floats]:
    """Attribute -> (models, 4, 8) values of the core less those of all queries."""
    models = [subjective_choices(name, 0).astype(np.int64) for name in BASELINES]
    models += [drawn_model(seed) for seed in range(DRAWN)]
    every = np.arange(len(STATISTICS) * len(LEVELS) * SCENARIOS * len(CONTEXTS) * TRIALS)
    pairs = [(measured(model, core_rows(), added), measured(model, every, 0.0)) for model in models]
    return {a: np.stack([core[a] - whole[a] for core, whole in pairs]) for a in ATTRIBUTES}


IMAGES = 20


def drawn_images(random: np.random.RandomState, strength: float, k: int, topics: int, images: int) -> Floats:
    """(topics, images, k) 1 for the group that an image shows, by shares of each topic from even to one group alone."""
    common = strength * random.dirichlet([2] * k) + 0.02
    shares = [random.dirichlet(common) for _ in range(topics)]
    return np.array([random.multinomial(1, share, images) for share in shares], float)


def calibrate_images(images: int = CORE_IMAGES, added: float = IMAGES_ADDED) -> dict[str, Floats]:
    """Attribute -> (models, 8) values of FACT-OR-FAIR by so many images of a prompt less those by all 20."""
    differences: dict[str, list[Floats]] = {attribute: [] for attribute in ATTRIBUTES}
    for random in map(np.random.RandomState, range(DRAWN)):
        strength = 10 ** random.uniform(-1, 1.5)
        for a in ATTRIBUTES:
            k, topics = len(GROUPS[a]), len(with_attribute(a))
            shown = drawn_images(random, strength, k, topics * len(LEVELS), IMAGES).reshape(topics, -1, IMAGES, k)
            some, every = (
                scores_of("t2i_subjective", a, counts.sum(axis=2), more)
                for counts, more in ((shown[:, :, :images], added), (shown, 0.0))
            )
            differences[a].append(some - every)
    return {attribute: np.stack(of_models) for attribute, of_models in differences.items()}


def calibrate_occupations() -> dict[str, Floats]:
    """Attribute -> (models, regions) JSD of IRIS by 8 images of an occupation less that by 160."""
    differences: dict[str, list[Floats]] = {attribute: [] for attribute in GROUP_NAMES}
    for random in map(np.random.RandomState, range(DRAWN)):
        strength = 10 ** random.uniform(-1, 1.5)
        for a, groups in GROUP_NAMES.items():
            shown = drawn_images(random, strength, len(groups), len(OCCUPATIONS), iris_gen_52.IMAGES)
            figures = [figure for figure in references(REGIONS) if figure.attribute == a]
            few, every = (
                [divergences(shown[f.listed, :n].sum(axis=1), f.shares).mean() for f in figures]
                for n in (iris_gen_52.CORE_IMAGES, iris_gen_52.IMAGES)
            )
            differences[a].append(np.subtract(few, every))
    return {attribute: np.array(of_models) for attribute, of_models in differences.items()}


def root_mean_square(numbers: Floats) -> float:
    return float(np.sqrt(np.nanmean(numbers**2)))


def main() -> None:
    differences = calibrate()
    print(f"{'':20}{'mean':>8}{'rms':>8}{'largest':>9}{'rms of a context':>18}")
    for attribute, by_model in differences.items():
        for score in SHOWN:
            column = by_model[:, :, SCORES.index(score)]
            mean = column.mean(axis=1)
            shown = (mean.mean(), root_mean_square(mean), np.abs(mean).max(), root_mean_square(column))
            print(f"{score + ' ' + attribute:20}" + "{:8.4f}{:8.4f}{:9.4f}{:18.4f}".format(*shown))
    place = SCORES.index("fairness")
    fair = np.mean([by_model[:, :, place].mean(axis=1) for by_model in differences.values()], axis=0)
    print(f"{'llm_fairness':20}{fair.mean():8.4f}{root_mean_square(fair):8.4f}{np.abs(fair).max():9.4f}")
    for images, added in ((1, 0.1), (2, 0.1), (CORE_IMAGES, IMAGES_ADDED), (10, 0.0)):
        errors = {a: f"{root_mean_square(of[:, place]):.3f}" for a, of in calibrate_images(images, added).items()}
        print(f"{images} of {IMAGES} images: S_fair {errors}")


if __name__ == "__main__":
    main()
