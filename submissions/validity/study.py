"""A study: what the samples of a submission score, and the factors in which they differ.

Each benchmark declares its studies in its `validity.py`; everything else here works on any of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from fairspace.submissions.benchmarks.forms import FORM

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Kind = Literal["model", "prompt", "wording", "order", "judge", "sample"]
"""What a factor is.

- model: the submission.
- prompt: what is asked about: an occupation, a statistic, an element, a picture.
- wording: how it is asked: a scenario, a context, a question, a form.
- order: the order of options, of sides or of names.
- judge: who judges, or which parse.
- sample: a further sample of the same prompt.
"""
KINDS: tuple[Kind, ...] = get_args(Kind)
REPLICATES: tuple[Kind, ...] = ("order", "sample")
"""The kinds of factors that a run can have more of without a further prompt."""


@dataclass(frozen=True)
class Factor:
    """Something in which samples differ.

    Args:
        name: for people, in the singular.
        kind: what it is.
        codes: (n,) the level of each sample; levels of a nested factor may have the same codes in other cells.
        within: the factors that it is nested in.
        fixed: whether the protocol has all its levels, so that no other ones could have been drawn.
    """

    name: str
    kind: Kind
    codes: Integers
    within: tuple[str, ...] = ()
    fixed: bool = False


@dataclass(frozen=True)
class Study:
    """The samples of one task, their scores and their factors.

    Args:
        name: for people, such as `llm_objective, gender`.
        score: what the score of a sample is.
        value: the value of a result that the samples are the evidence of.
        scores: (n,) or (n, m); nan: the sample has none. Of m columns all figures are means over the columns.
        factors: in which the samples differ.
        target: the factor whose levels the protocol tells apart, such as occupations.
        wanted: half-width of an interval of the mean score that would do.
        unit: of the score.
        answers: (n,) what each sample says, where that is more than its score; what two samples agree on.
        means: the values, as `run --dry-run` names them, that are the mean of all scores.
        means_of_levels: those that are the mean of the scores of one level of the target.
        counted: the factor whose levels a run has a number of, such as pairs; '' for samples.
        items: (n,) the item of each sample, where the factors alone do not tell items apart; for `over_forms`.
        task: whose answers or images the samples are; '' where a sample is not one of either.
        asked: (n,) the place of each sample's item among the ids of `task`; None without a task.
        sample: (n,) which sample of its item each one is; None where an item is asked once.
        fair: what a fair or a right model scores on average, in each column.
    """

    name: str
    score: str
    value: str
    scores: Floats
    factors: tuple[Factor, ...]
    target: str
    wanted: float = 0.05
    unit: str = "share"
    answers: Integers | None = None
    means: tuple[str, ...] = ()
    means_of_levels: tuple[str, ...] = ()
    counted: str = ""
    items: Integers | None = None
    task: str = ""
    asked: Integers | None = None
    sample: Integers | None = None
    fair: float = 0.0

    def factor(self, name: str) -> Factor:
        """The factor of that name."""
        return next(factor for factor in self.factors if factor.name == name)

    def usable(self) -> Study:
        """The study of the samples that have a score, as (n, m)."""
        scores = self.scores.reshape(len(self.scores), -1).astype(np.float64)
        known = ~np.isnan(scores).any(axis=1)
        factors = tuple(replace(factor, codes=factor.codes[known]) for factor in self.factors)
        answers = None if self.answers is None else self.answers[known]
        return replace(
            self, scores=scores[known], factors=factors, answers=answers, items=None, asked=None, sample=None
        )


def one_hot(codes: Integers, size: int) -> Floats:
    """(n, size) 1 at the code of each sample; nan in the rows of codes below 0."""
    columns = np.eye(size)[np.maximum(codes, 0)]
    columns[codes < 0] = np.nan
    return columns


def over_models(models: Sequence[str], studies: Sequence[Study]) -> Study:
    """One study of several submissions to the same plan: model and run are crossed with every other factor.

    Several submissions of one model are its runs. Of several models the target is the model. ValueError for studies
    with other names or factors.
    """
    first = studies[0]
    if any(s.name != first.name or [f.name for f in s.factors] != [f.name for f in first.factors] for s in studies):
        raise ValueError(f"{first.name}: the models' studies have other factors")
    sizes = [len(study.scores) for study in studies]
    distinct = list(dict.fromkeys(models))
    above: list[Factor] = []
    if len(distinct) > 1:
        codes = np.array([distinct.index(model) for model in models])
        above.append(Factor("model", "model", np.repeat(codes, sizes)))
    if len(distinct) < len(models):
        runs = np.array([list(models[:place]).count(model) for place, model in enumerate(models)])
        within = tuple(factor.name for factor in above)
        above.append(Factor("run", "sample", np.repeat(runs, sizes), within=within))
    target = "model" if len(distinct) > 1 else first.target
    return replace(_concatenated(studies, above), target=target)


def over_forms(studies: Mapping[str, Study]) -> Study:
    """One study of the same items in several forms of their questions: the form is crossed with every other factor."""
    told_apart = [study if study.items is None else _by_item(study, study.items) for study in studies.values()]
    sizes = [len(study.scores) for study in told_apart]
    return _concatenated(told_apart, [Factor(FORM, "wording", np.repeat(np.arange(len(sizes)), sizes))])


def _by_item(study: Study, items: Integers) -> Study:
    """The study with its items as a factor."""
    item = Factor("item", "sample", items, within=tuple(factor.name for factor in study.factors))
    return replace(study, factors=(*study.factors, item))


def _concatenated(studies: Sequence[Study], above: Sequence[Factor]) -> Study:
    """The samples of studies with the same factors, one study after the other, with further factors before theirs."""
    first = studies[0]
    factors = tuple(
        replace(factor, codes=np.concatenate([study.factors[place].codes for study in studies]))
        for place, factor in enumerate(first.factors)
    )
    scores = np.concatenate([study.scores for study in studies])
    known = [study.answers for study in studies if study.answers is not None]
    answers = np.concatenate(known) if known else None
    return replace(first, scores=scores, factors=(*above, *factors), answers=answers, items=None, asked=None)
