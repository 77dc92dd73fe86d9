"""Shares corrected for the labeller's errors, by its confusion matrix and by people's labels.

The raw values stay the ranked ones: a submission brings its own matrix and its own people's labels.

Shares of groups, corrected for the labeller's errors, or by people's labels of some samples.

A labeller that answers j where the truth is i with probability C[i, j] turns the true shares π into π C. Seen is a
multinomial sample of π C, and C was measured on a finite set of images. `correct` draws π and C from their posterior by
data augmentation (Tanner and Wong 1987):
    true group of a sample ~ its group under π and C, given the answer
    row i of C ~ Dirichlet(images of the test + 1/2 + samples of group i, by answer)
    π ~ Dirichlet(a + samples by true group)
Several distributions together (the occupations of IRIS) share a prior a, estimated in each chain (`next_parameters`);
of fewer than `FEWEST`, each a is 1/2. Assumed: the labeller errs here as in its test, errors in different attributes
are independent (a joint matrix is the product), and unlabelled samples are like labelled ones.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.special import digamma, gammaln

from fairspace.metrics.columns import Floats, Integers
from fairspace.metrics.intervals import percentile_interval
from fairspace.metrics.resampling import SEED
from fairspace.submissions.format.schema import VOCABULARY, Attribute, LabelError, Submission
from fairspace.submissions.reading.canonical import matched
from fairspace.submissions.uncertainty.uncertainty import Kind, Variant
from fairspace.submissions.values import Values

CHAINS = 64
"""Chains behind each interval, `MORE` times as many for fewer than `FEWEST` distributions."""
MORE = 6
KEPT = (20, 28, 36)
"""Steps of a chain whose shares are draws. The last one ends it."""
LARGEST_CONDITION = 10.0
"""Largest condition number (2-norm of the rates) of an invertible matrix."""
PRIOR = 0.5
"""Jeffreys' prior, added to each count of a row, and to each group of a distribution that is corrected by itself."""
FEWEST = 8
"""Fewest distributions for which the prior is estimated."""
_LARGEST = 1e6
_EVEN = 1e-4
"""Added to each group's mean share, so that a group that nobody shows keeps a prior."""
TIED = 1 + 2**0.5
"""Bias of a gap between equal groups, in biases of its draws: the gap is |e|, a draw |e + e*|, sqrt(2) times as large.
"""


@dataclass(frozen=True)
class Corrected:
    """Corrected shares on the simplex, (..., k), nan where nothing was seen; and r draws of them, (r, ..., k)."""

    shares: Floats
    draws: Floats


def fault(counts: Floats) -> str:
    """The reason why a confusion matrix of counts, (k, k), cannot correct anything; '' if it can."""
    empty = np.flatnonzero(counts.sum(axis=-1) == 0)
    if len(empty):
        return f"row {empty[0] + 1} of its confusion matrix has no image"
    condition = float(np.linalg.cond(_rates(counts)))
    if not condition <= LARGEST_CONDITION:
        problem = "singular" if not condition < 1e12 else f"of condition {condition:.3g}"
        return f"its confusion matrix is {problem}, and {LARGEST_CONDITION:g} is the most that can be inverted"
    return ""


def worse(counts: Floats, points: float) -> Floats:
    """(k, k) counts of a labeller whose recalls are lower by `points`, 0 at least, with the same images in each row.

    The lost part goes to the wrong answers in a row's own proportions, or evenly where it has none.
    """
    rates = _rates(counts)
    k = len(rates)
    right = np.eye(k, dtype=np.bool_)
    errors = np.where(right, 0.0, rates)
    spread = np.where(errors.sum(axis=1, keepdims=True) > 0, errors, ~right)
    recall = np.maximum(np.diagonal(rates) - points, 0.0)
    lost = (1 - recall)[:, None] * spread / spread.sum(axis=1, keepdims=True)
    return np.asarray(np.where(right, recall[:, None], lost) * counts.sum(axis=1, keepdims=True))


def correct(
    counts: Floats, matrices: Mapping[str, Floats], key: str, chains: int = CHAINS, seed: int = SEED
) -> Corrected:
    """The posterior mean and draws of the shares of several distributions.

    `counts`: (n, k) samples per distribution and answered group, split samples counting as one. `matrices`: attribute
    -> (k, k) test images by true group and answer, without a `fault`; the groups of the product are in this order.
    """
    rng = np.random.default_rng([seed, 4, *hashlib.sha256(key.encode()).digest()[:8]])
    tested = [images + PRIOR for images in matrices.values()]
    sizes = [len(images) for images in tested]
    total = counts.sum(axis=-1)
    together = len(counts) >= FEWEST
    chains *= 1 if together else MORE
    whole = np.floor(counts + rng.random((chains, *counts.shape))).astype(np.int64)
    rates = _product([_drawn_rows(np.broadcast_to(images, (chains, *images.shape)), rng) for images in tested])
    inverse = np.asarray(np.linalg.inv(rates), np.float64)
    prior = first_guess(counts, inverse) if together else np.full((chains, counts.shape[-1]), PRIOR)
    weights = rng.standard_exponential(whole.shape[:2])
    likely = on_simplex(counts @ inverse / np.maximum(total, 1)[:, None])
    shares = (likely * total[:, None] + prior[:, None]) / (total + prior.sum(axis=-1, keepdims=True))[..., None]
    draws = []
    for step in range(1, KEPT[-1] + 1):
        chances = shares[:, :, None, :] * np.swapaxes(rates, -1, -2)[:, None]
        latent = rng.multinomial(whole, chances / chances.sum(axis=-1, keepdims=True))  # (chains, n, answer, truth)
        rates = _product(
            [
                _drawn_rows(images + _by_attribute(latent.sum(axis=1), sizes, place), rng)
                for place, images in enumerate(tested)
            ]
        )
        true = latent.sum(axis=2)
        if together:
            prior = next_parameters(true, weights, prior, rng)
        shares = _drawn_rows(true + prior[:, None], rng)
        if step in KEPT:
            draws.append(shares)
    kept = np.concatenate(draws)
    kept[:, total == 0] = np.nan
    return Corrected(kept.mean(axis=0), kept)


def posterior_intervals(
    corrected: Corrected, statistic: Callable[[Floats], Floats], limits: Sequence[tuple[float, float]]
) -> list[tuple[float, tuple[float, float]] | None]:
    """The posterior mean of each value (`statistic`) and its 95 % interval; None where no draw has the value.

    The interval is the middle 95 % of the draws, widened in two cases where a value of equal shares is biased:
    - The labeller's errors do not average out over distributions. Of equal groups they make a gap |e|, which draws show
      as |e + e*|. The end on the biased side moves by the bias of equal groups (`TIED`), measured by moving the mean
      shares with the draws.
    - No draw is exactly fair. An end is a limit if the value of the mean shares less that bias comes as near to the
      limit as draws scatter.
    """
    values, plain = statistic(corrected.draws), statistic(corrected.shares[None])[0]
    measured = ~np.isnan(corrected.shares[:, 0])
    if not measured.any():
        return [None] * len(limits)
    moved = np.full_like(corrected.draws, np.nan)
    shift = (corrected.draws - corrected.shares)[:, measured]
    moved[:, measured] = on_simplex(corrected.shares[measured] + shift.mean(axis=1, keepdims=True))
    common = statistic(moved) - plain
    intervals: list[tuple[float, tuple[float, float]] | None] = []
    for place, (least, most) in enumerate(limits):
        replicates = values[~np.isnan(values[:, place]), place]
        if not len(replicates) or np.isnan(plain[place]):
            intervals.append(None)
            continue
        mean = float(replicates.mean())
        low, high = np.quantile(replicates, [0.025, 0.975], method="weibull")
        bias, shared = mean - plain[place], float(common[:, place].mean())
        reach = plain[place] - TIED * bias
        first = low - (1 + TIED) * max(shared, 0.0)
        last = high - (1 + TIED) * min(shared, 0.0)
        first = least if bias > 0 and reach - (mean - low) <= least else max(first, least)
        last = most if bias < 0 and reach + (high - mean) >= most else min(last, most)
        intervals.append((mean, (float(first), float(last))))
    return intervals


def debiased(value: float, draws: Floats, limits: tuple[float, float]) -> tuple[float, tuple[float, float]]:
    """A value of estimated shares less its bias at this number of samples, and its basic 95 % interval.

    Noise spreads shares and raises measures of inequality, so the draws' distances from the value are reversed.
    `draws`: (r,), nan where undefined; at least one is a number.
    """
    replicates = draws[~np.isnan(draws)]
    low, high = percentile_interval(replicates)
    middle, first, last = np.clip([2 * value - replicates.mean(), 2 * value - high, 2 * value - low], *limits)
    return float(middle), (float(first), float(last))


def on_simplex(points: Floats) -> Floats:
    """(..., k) nearest shares of numbers that may be negative (Euclidean distance)."""
    falling = -np.sort(-points, axis=-1)
    over = np.cumsum(falling, axis=-1) - 1
    used = (falling - over / np.arange(1, points.shape[-1] + 1) > 0).sum(axis=-1, keepdims=True)
    level = np.take_along_axis(over, np.maximum(used, 1) - 1, axis=-1) / np.maximum(used, 1)
    return np.maximum(points - level, 0.0)


def _drawn_rows(parameters: Floats, rng: np.random.Generator) -> Floats:
    drawn = rng.standard_gamma(parameters) + np.finfo(float).tiny
    return np.asarray(drawn / drawn.sum(axis=-1, keepdims=True))


def _by_attribute(latent: Integers, sizes: Sequence[int], place: int) -> Integers:
    """(r, k, k) samples by true group and answer of one attribute, from (r, answer, truth) of their product."""
    table = latent.reshape(-1, *sizes, *sizes)
    kept = {1 + place, 1 + len(sizes) + place}
    return np.asarray(np.swapaxes(table.sum(axis=tuple({*range(1, table.ndim)} - kept)), -1, -2))


def _rates(counts: Floats) -> Floats:
    return np.asarray(counts / counts.sum(axis=-1, keepdims=True))


def _product(matrices: Sequence[Floats]) -> Floats:
    joint = matrices[0]
    for matrix in matrices[1:]:
        k = joint.shape[-1] * matrix.shape[-1]
        joint = np.einsum("...ij,...kl->...ikjl", joint, matrix).reshape(*joint.shape[:-2], k, k)
    return joint


def first_guess(counts: Floats, inverse: Floats) -> Floats:
    """(r, k) prior parameters by moments, from the variance of the distributions beyond their sampling error.

    `counts`: (n, k); `inverse`: (r, k, k) inverse of the answer rates by true group, the unit matrix for true counts.
    """
    total = counts.sum(axis=-1)
    shares_seen, total = counts[total > 1] / total[total > 1, None], total[total > 1]
    k = counts.shape[-1]
    if len(shares_seen) < 2:
        return np.ones((len(inverse), k))
    shares = shares_seen @ inverse
    variance = ((shares_seen @ (inverse**2).sum(axis=-1)[..., None])[..., 0] - (shares**2).sum(axis=-1)) / (total - 1)
    mean = shares.mean(axis=1)
    apart = ((shares - mean[:, None]) ** 2).sum(axis=(-2, -1)) / (len(shares_seen) - 1)
    inside = _inside(np.maximum(mean, 0.0))
    spread = (apart - variance.mean(axis=-1)) / (1 - (inside**2).sum(axis=-1))
    return np.asarray((1 / np.clip(spread, 0.1 / total.mean(), 0.99) - 1)[:, None] * inside)


def next_parameters(counts: Integers, weights: Floats, parameters: Floats, rng: np.random.Generator) -> Floats:
    """(r, k) parameters after a step of each chain, from (r, n, k) counts and (r, n) Bayesian bootstrap weights.

    The mean shares become more likely (a fixed point of Minka 2000, Estimating a Dirichlet distribution). The
    concentration A makes a Metropolis step under the uniform shrinkage prior of Daniels (1999): n / (n + A) is uniform
    at the mean number of samples n, so A stays finite where the distributions are alike.
    """
    total = counts.sum(axis=-1)
    rise = digamma(counts + parameters[:, None]) - digamma(parameters)[:, None]
    mean = _inside(parameters * (rise * weights[..., None]).sum(axis=1))
    before = np.clip(parameters.sum(axis=-1), 1e-3, _LARGEST)
    after = before * np.exp(np.exp(rng.uniform(-2.0, 0.7, len(before))) * rng.standard_normal(len(before)))
    after = np.clip(after, 1e-3, _LARGEST)
    usual = total.mean()

    def logarithm(whole: Floats) -> Floats:
        part = whole[:, None] * mean
        alike = gammaln(counts + part[:, None]).sum(axis=(-2, -1)) - counts.shape[1] * gammaln(part).sum(axis=-1)
        every = counts.shape[1] * gammaln(whole) - gammaln(total + whole[:, None]).sum(axis=-1)
        return np.asarray(alike + every + np.log(whole) - 2 * np.log(usual + whole))

    taken = np.log(rng.random(len(before))) < logarithm(after) - logarithm(before)
    return np.asarray(np.where(taken, after, before)[:, None] * mean)


def _inside(shares: Floats) -> Floats:
    shares = shares / np.maximum(shares.sum(axis=-1, keepdims=True), np.finfo(float).tiny) + _EVEN
    return np.asarray(shares / shares.sum(axis=-1, keepdims=True))


# Prediction-powered inference: Angelopoulos et al., Science 382 (2023), equation for the mean; power tuning:
# Angelopoulos, Duchi and Zrnic, PPI++ (2023), section 6. With unit vectors f (labeller) and Y (person), n samples with
# both and N with f alone:
#     θ = λ mean_N(f) + mean_n(Y - λ f)      Var θ = λ² Var(f) / N + Var(Y - λ f) / n
# Right whatever the labeller's errors are, if the n samples were drawn at random. λ = 1 is plain prediction-powered
# inference, λ = 0 the people's labels alone.

DRAWS = 400
"""Draws behind each interval."""
LEAST = 5
"""Fewest samples with people's labels per distribution and group; with fewer, intervals miss the truth."""


def pairs_fault(pairs: Floats) -> str:
    """The reason why the people's labels do not suffice, '' if they do. `pairs`: as in `prediction_powered`."""
    fewest, least = float(pairs.sum(axis=(-1, -2)).min(initial=np.inf)), LEAST * pairs.shape[-1]
    if fewest < least:
        return f"people labelled {fewest:.0f} samples of one of the distributions, and {least} are needed of each"
    return ""


def prediction_powered(pairs: Floats, others: Floats, weight: float | None = None) -> tuple[Floats, float]:
    """(n, k) shares of several distributions, some perhaps just outside [0, 1]; and λ, the same for all.

    `pairs`: (n, k, k) samples by people's and labeller's group, without a `fault`; `others`: (n, k) samples with the
    labeller's group alone; `weight`: λ in [0, 1], by default the one of least variance over all distributions.
    """
    both, alone = pairs.sum(axis=(1, 2))[:, None], others.sum(axis=-1, keepdims=True)
    human, answered = pairs.sum(axis=2) / both, pairs.sum(axis=1) / both
    with np.errstate(invalid="ignore", divide="ignore"):
        ahead = np.where(alone > 0, others / alone, 0.0)
        share = np.where(alone > 0, both / alone, 0.0)
    least = both - 1
    agreed = np.diagonal(pairs, axis1=1, axis2=2) / both
    together = (agreed - human * answered) * both / least
    spread = answered * (1 - answered) * both / least
    every = (pairs.sum(axis=1) + others) / (both + alone)
    varied = every * (1 - every)
    if weight is None:
        below = ((spread + share * varied) / both)[alone[:, 0] > 0].sum()
        weight = float(np.clip((together / both)[alone[:, 0] > 0].sum() / below, 0, 1)) if below > 0 else 0.0
    powered = np.where(alone > 0, weight, 0.0)
    return human + powered * (ahead - answered), weight


def powered_draws(pairs: Floats, others: Floats, key: str, draws: int = DRAWS, seed: int = SEED) -> Corrected:
    """The shares of `prediction_powered` and draws of them on the simplex: all samples are drawn anew, λ stays.

    Deviations are stretched by √(n / (n - 1)) for the people's few samples.
    """
    shares, least_variance = prediction_powered(pairs, others)
    rng = np.random.default_rng([seed, 5, *hashlib.sha256(key.encode()).digest()[:8]])
    n, k = others.shape
    both = np.maximum(np.round(pairs.sum(axis=(1, 2))), 2).astype(np.int64)
    alone = np.round(others.sum(axis=-1)).astype(np.int64)
    cells = np.flatnonzero(pairs.sum(axis=0).ravel())
    chances = pairs.reshape(n, -1)[:, cells]
    drawn = rng.multinomial(both, chances / chances.sum(axis=-1, keepdims=True), (draws, n)) / both[:, None]
    weight = np.where(alone > 0, least_variance, 0.0)[:, None]
    turned = np.eye(k)[cells // k]
    answered = np.eye(k)[cells % k]
    mended = drawn @ turned - weight * (drawn @ answered)
    base = pairs.sum(axis=2) / pairs.sum(axis=(1, 2))[:, None] - weight * (
        pairs.sum(axis=1) / pairs.sum(axis=(1, 2))[:, None]
    )
    mended = base + (mended - base) * np.sqrt(both / (both - 1))[:, None]
    times = np.maximum(alone, 1)
    spare = np.where(others.sum(axis=-1, keepdims=True) > 0, others, 1.0)
    ahead = rng.multinomial(times, spare / spare.sum(axis=-1, keepdims=True), (draws, n)) / times[:, None]
    return Corrected(on_simplex(shares), on_simplex(mended + weight * ahead))


_CORRECTED = (
    "The mean of the posterior, without the bias of shares at this number of samples. Assumed: the labeller errs here "
    "as it did where it was measured, in one attribute whatever it does in another, and images without a label are "
    "like those with one."
)
TRANSPORTED = (
    "What the values would be if the labeller recognised each group less often here than where it was tested, and its "
    "further errors fell as its errors in the test did. Neither this nor the correction covers a labeller that errs "
    "more for one group, or more in one occupation or question, than in another."
)
_POWERED = "Less the bias of shares at this number of samples. Assumed: people labelled images drawn at random."
WORSE = (5, 10)
"""Points by which a labeller's recalls may be lower here than in its test."""
TRANSPORT_CHAINS = CHAINS // 4
"""Chains of these variants, which have no intervals."""
Estimate = tuple[float, tuple[float, float] | None]
"""A value and its 95 % interval, if it has one."""


@dataclass(frozen=True)
class LabelChecks:
    """A submission's evidence about its labeller's errors: confusion matrices, and the count of people's labels."""

    error: LabelError | None
    people: int | None


def label_checks(submission: Submission) -> LabelChecks | None:
    """The label checks of a submission; None if it holds neither kind."""
    error, labels = submission.meta.label_error, submission.tables.get("human_labels")
    if error is None and labels is None:
        return None
    return LabelChecks(error, None if labels is None else labels.num_rows)


@dataclass(frozen=True)
class Shares:
    """Labelled samples of several distributions over the same groups, and values that are functions of their shares.

    Args:
        key: Seed of the draws.
        columns: Labels whose product the groups are, in the order of their vocabularies.
        counts: (n, k + 1, k) from `paired_counts`.
        names: (m) names of the values.
        statistic: (b, n, k) shares, nan for a distribution without samples -> (b, m) values, nan where undefined.
        limits: (m, 2) smallest and largest possible number of each value.
    """

    key: str
    columns: tuple[Attribute, ...]
    counts: Floats
    names: tuple[str, ...]
    statistic: Callable[[Floats], Floats]
    limits: tuple[tuple[float, float], ...]


def label_variants(
    checks: LabelChecks, values: Values, measured: Sequence[Shares], held: Mapping[Kind, str]
) -> Iterator[Variant]:
    """Variants by the confusion matrix, by worse matrices, and by people's labels, where these were handed in.

    A value that cannot be corrected is left out, and the variant's note says why. `held`: measured coverage in words.
    """
    if checks.error is not None:
        error = checks.error
        note = f"{_CORRECTED} {held['labels_corrected']}"
        estimates = [(shares, _by_matrix(error, shares)) for shares in measured]
        yield _variant("labels_corrected", error.source, note, values, estimates)
        for points in WORSE:
            estimates = [(shares, _transported(error, shares, points / 100)) for shares in measured]
            yield _variant("labels_transported", f"{points} points worse", TRANSPORTED, values, estimates)
    if checks.people is not None:
        estimates = [(shares, _powered(shares)) for shares in measured]
        note = f"{_POWERED} {held['human_labels']}"
        yield _variant("human_labels", f"{checks.people} faces labelled by people", note, values, estimates)


def _by_matrix(error: LabelError, shares: Shares) -> Sequence[Estimate | None] | str:
    confusion, why = matrices(error, shares.columns)
    if why:
        return why
    corrected = correct(shares.counts.sum(axis=1), confusion, shares.key)
    return posterior_intervals(corrected, shares.statistic, shares.limits)


def _transported(error: LabelError, shares: Shares, points: float) -> Sequence[Estimate | None] | str:
    confusion, why = matrices(error, shares.columns)
    lowered = {column: worse(counts, points) for column, counts in confusion.items()}
    why = why or next((f"{column}: {text}" for column, counts in lowered.items() if (text := fault(counts))), "")
    if why:
        return why
    corrected = correct(shares.counts.sum(axis=1), lowered, shares.key, TRANSPORT_CHAINS)
    columns = [column[~np.isnan(column)] for column in shares.statistic(corrected.draws).T]
    return [(float(column.mean()), None) if len(column) else None for column in columns]


def _powered(shares: Shares) -> Sequence[Estimate | None] | str:
    pairs, others = shares.counts[:, :-1], shares.counts[:, -1]
    if why := pairs_fault(pairs):
        return f"{' and '.join(shares.columns)}: {why}"
    corrected = powered_draws(pairs, others, shares.key)
    plain, draws = shares.statistic(corrected.shares[None])[0], shares.statistic(corrected.draws)
    return [
        None if np.isnan(value) else debiased(float(value), draws[:, place], shares.limits[place])
        for place, value in enumerate(plain)
    ]


def _variant(
    kind: Kind,
    name: str,
    note: str,
    values: Values,
    estimates: Sequence[tuple[Shares, Sequence[Estimate | None] | str]],
) -> Variant:
    numbers: dict[str, float] = {}
    intervals: dict[str, tuple[float, float]] = {}
    notes = {note: None}
    for shares, estimated in estimates:
        measured = [place for place, name in enumerate(shares.names) if values[name].state == "value"]
        if isinstance(estimated, str):
            notes |= {f"Not corrected: {estimated}.": None} if measured else {}
            continue
        for place in measured:
            if (estimate := estimated[place]) is not None:
                numbers[shares.names[place]], interval = estimate
                if interval is not None:
                    intervals[shares.names[place]] = interval
    return Variant(kind, name, numbers, intervals, " ".join(notes))


def human_codes(submission: Submission, task: str, rows: pa.Table, columns: Sequence[Attribute]) -> Integers:
    """(n, c) people's labels of n annotation rows of a task, as places in `VOCABULARY`; -1 for no label."""
    labels = submission.rows("human_labels", task)
    place = matched(rows, labels, ("id", "sample", "face"))
    codes_seen = np.full((rows.num_rows, len(columns)), -1, np.int64)
    for number, column in enumerate(columns):
        codes = pc.index_in(labels[column], value_set=pa.array(VOCABULARY[column])).fill_null(-1)
        codes_seen[place >= 0, number] = np.asarray(codes, np.int64)[place[place >= 0]]
    return codes_seen


def paired_counts(
    cell: Integers, machine: Integers, human: Integers, shape: tuple[int, int], weights: Floats
) -> Floats:
    """(n, k + 1, k) samples per cell, people's group (the last one: no label), and labeller's group.

    `shape`: n cells, k groups. The labeller's and the people's groups are -1 for none; samples without the former are
    left out.
    """
    n, k = shape
    used = machine >= 0
    flat = (cell * (k + 1) + np.where(human >= 0, human, k)) * k + machine
    counts = np.bincount(flat[used], weights[used], n * (k + 1) * k)
    return np.asarray(counts, np.float64).reshape(n, k + 1, k)


def matrices(error: LabelError, columns: Sequence[Attribute]) -> tuple[Mapping[str, Floats], str]:
    """Column -> confusion matrix of counts, and the reason why they cannot correct anything, '' if they can."""
    confusion: dict[str, Floats] = {}
    for column in columns:
        counts = error.counts(column)
        if counts is None:
            return {}, f"{column}: label_error has no confusion matrix of it"
        confusion[column] = np.array(counts, float)
        if why := fault(confusion[column]):
            return {}, f"{column}: {why}"
    return confusion, ""
