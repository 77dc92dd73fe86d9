"""The decision study: what a mean score is worth, and how many prompts or samples a wanted precision needs.

The variance of a mean is the sum over the effects of their component times what of it stays in the mean. Two questions
have two answers: how the mean varies if the same prompts are sampled again, and how it varies if other prompts had been
drawn. A fixed factor, of which the protocol has every level, adds no error by itself.

The generalizability coefficient says how well the samples tell the levels of the target apart, 1 at best:
variance of the levels / (the same + relative error). Its usual threshold is .8.

Source: Brennan, Generalizability Theory (2001), chapters 1 and 4.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from fairspace.submissions.validity.components import Component, Components, closure
from fairspace.submissions.validity.study import REPLICATES

GOOD = 0.8
"""The coefficient that is usually asked for."""
Z = 1.959963984540054
"""Standard errors in half of a 95 % interval."""


@dataclass(frozen=True)
class Decision:
    """What the samples of a study are worth; of several models, those of one of them.

    Args:
        prompts: distinct ones; 1 where there is one prompt alone.
        per_prompt: samples of a prompt, on average.
        same_prompts: half-width of the 95 % interval of the mean, if the same prompts are sampled again.
        other_prompts: the same, if other prompts had been drawn; None where all prompts are fixed.
        wanted: half-width that would do.
        needed_samples: of each prompt for this half-width over the same prompts; None if no number is enough.
        needed_prompts: for this half-width over other prompts, as many samples each; None if no number is enough.
        target: what is told apart.
        coefficient: how well; None where the target's levels do not differ, or there are no two.
        per_target: samples of a level of the target, on average.
        needed_per_target: samples of a level for a coefficient of .8; None if no number is enough, or none is known.
        remark: why a figure cannot be given, or is not enough; '' otherwise.
    """

    prompts: int
    per_prompt: float
    same_prompts: float
    other_prompts: float | None
    wanted: float
    needed_samples: int | None
    needed_prompts: int | None
    target: str
    coefficient: float | None
    per_target: float
    needed_per_target: int | None
    remark: str = ""


def decision(estimated: Components, wanted: float | None = None) -> Decision | None:
    """The decision study of estimated components; None where there are none."""
    if not estimated.parts:
        return None
    study = estimated.study
    width = study.wanted if wanted is None else wanted
    random = [part for part in estimated.parts if is_random(part, estimated)]
    repeated = [part for part in random if repeats(part, estimated)]
    asked_about = [part for part in random if part not in repeated and _has_prompt(part, estimated)]
    prompts = _prompts(estimated)
    of_model = "model" in estimated.levels
    again, anew = (_variance_of_mean(parts, of_model) for parts in (repeated, random))
    few = _variance_of_mean((part for part in random if part not in repeated and part not in asked_about), of_model)
    most = (width / Z) ** 2
    samples = estimated.samples / _readings(estimated)
    per_prompt = samples / prompts
    coefficient, times, remark = _coefficient(estimated)
    target_levels = estimated.levels[study.target]
    per_target = samples * (_models(estimated) if study.target == "model" else 1) / max(1, target_levels)
    return Decision(
        prompts,
        per_prompt,
        Z * math.sqrt(again),
        Z * math.sqrt(anew) if asked_about or few else None,
        width,
        _least(per_prompt * again / most),
        _least(prompts * (anew - few) / (most - few)) if most > few else None,
        study.target,
        coefficient,
        per_target,
        None if times is None else _least(per_target * times),
        remark,
    )


def _least(number: float) -> int:
    return max(1, math.ceil(number - 1e-9))


def _variance_of_mean(parts: Iterable[Component], of_model: bool) -> float:
    """Of the mean of all samples; where there are several models, of the mean of one of them."""
    return sum(part.variance * (part.of_target if of_model else part.of_mean) for part in parts)


def is_random(part: Component, estimated: Components) -> bool:
    """Whether an effect could have come out otherwise for one model: what is left, and any with a drawn factor."""
    drawn = (name for name in part.factors if name != "model")
    return not part.factors or any(not estimated.study.factor(name).fixed for name in drawn)


def repeats(part: Component, estimated: Components) -> bool:
    """Whether an effect would be drawn anew if the same prompts were sampled again."""
    factors = [estimated.study.factor(name) for name in part.factors]
    return not factors or any(factor.kind in REPLICATES and not factor.fixed for factor in factors)


def _has_prompt(part: Component, estimated: Components) -> bool:
    factors = [estimated.study.factor(name) for name in part.factors]
    return any(factor.kind == "prompt" and not factor.fixed for factor in factors)


def _prompts(estimated: Components) -> int:
    """The number of distinct prompts: combinations of all factors of that kind."""
    factors = estimated.study.factors
    prompts = [factor.name for factor in factors if factor.kind == "prompt"]
    return max((estimated.levels[name] for name in prompts), default=1)


def _models(estimated: Components) -> int:
    return max(1, estimated.levels.get("model", 1))


def _readings(estimated: Components) -> int:
    """How often each sample of a prompt is there: once for each judge, evaluation or parse, and each model."""
    judges = [estimated.levels[factor.name] for factor in estimated.study.factors if factor.kind == "judge"]
    return max((1, *judges)) * _models(estimated)  # evaluations are nested in judges, so their number is that of all


def units(estimated: Components) -> float:
    """What a run has a number of: samples, whether they have a score or not; of a study with a unit, its levels."""
    unit = estimated.study.counted
    return estimated.levels[unit] if unit else estimated.rows / _readings(estimated)


def _coefficient(estimated: Components) -> tuple[float | None, float | None, str]:
    """The coefficient, how many times as many samples make it .8, and why there is none."""
    study = estimated.study
    levels = closure((study.target,), study.factors)
    if estimated.levels[study.target] < 2:
        return None, None, f"there is one {study.target} only"
    true = relative = repeated = 0.0
    for part in estimated.parts:
        names = set(part.factors)
        fixed = {name for name in names - levels if study.factor(name).fixed}
        if names and study.target in names and names <= levels | fixed:
            true += part.variance * (part.of_target if fixed else 1.0)
        elif names and names <= levels:
            true += part.variance  # a part of the target, such as the statistic of a query
        elif not names or names & levels:
            relative += part.variance * part.of_target
            repeated += part.variance * part.of_target * repeats(part, estimated)
    if not true:
        return None, None, f"the levels of {study.target} differ no more than by chance"
    coefficient = true / (true + relative) if relative else 1.0
    room = true * (1 - GOOD) / GOOD - (relative - repeated)
    if room <= 0:
        return (
            coefficient,
            None,
            f"more samples are not enough: levels of {study.target} differ by prompt, wording, order or judge",
        )
    return coefficient, repeated / room, ""
