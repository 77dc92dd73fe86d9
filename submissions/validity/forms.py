"""The form of the questions as a factor: how much of the variance of scores the words of the questions are behind.

The answers of a run in several forms (`fairspace run --forms`) are to the same items, so the form is crossed with every
other factor of a study. The studies of the paper's form alone, which is what scores, stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fairspace.submissions.benchmarks.forms import PAPER
from fairspace.submissions.validity.study import Study, over_forms
from fairspace.submissions.validity.study_report import StudyReport, joined, study_report
from fairspace.submissions.values import Value

_SHOWN = 3
"""Names that a note holds; the others are counted."""


@dataclass(frozen=True)
class Answers:
    """What the answers of one submission in one form say.

    Args:
        studies: of their samples.
        values: by name, as they are measured.
    """

    studies: Sequence[Study]
    values: Mapping[str, Value]

    def study(self, name: str) -> Study | None:
        """The study of that name; None where no sample of it has a score."""
        study = next((study for study in self.studies if study.name == name), None)
        return None if study is None or np.isnan(study.scores).all() else study

    def number(self, name: str) -> float | None:
        """The number of a value; None where there is none."""
        return self.values[name].value if name in self.values else None

    def reason(self, value: str) -> str:
        """Why a value has no number, or its samples no score."""
        return (value in self.values and self.values[value].reason) or "no sample has a score"


@dataclass(frozen=True)
class FormValue:
    """One value of one submission: form -> its number, the paper's first; None where `FormReport.notes` say why."""

    model: str
    value: str
    numbers: Mapping[str, float | None]


@dataclass(frozen=True)
class FormReport:
    """What the answers in several forms say.

    Args:
        models: of the submissions that have some.
        forms: that were asked, the paper's first.
        studies: with the form as a factor; what samples are worth is said of the paper's form alone.
        values: those that scores are made of, with a number in two forms at least.
        notes: what has no score or number in which form, and why.
    """

    models: tuple[str, ...]
    forms: tuple[str, ...]
    studies: tuple[StudyReport, ...]
    values: tuple[FormValue, ...]
    notes: tuple[str, ...] = ()


def form_report(
    models: Sequence[str], submissions: Sequence[Mapping[str, Answers]], names: frozenset[str]
) -> FormReport | None:
    """What the answers in several forms say; None where only the paper's form was asked.

    Args:
        models: of each submission.
        submissions: form -> its answers, of each submission; the paper's form first.
        names: of the values that are wanted.
    """
    several = [(model, forms) for model, forms in zip(models, submissions, strict=True) if len(forms) > 1]
    if not several:
        return None
    lacking: dict[tuple[str, str], list[str]] = {}
    values = []
    for model, forms in several:
        for name in (name for name in forms[PAPER].values if name in names):
            numbers = {form: answers.number(name) for form, answers in forms.items()}
            known = sum(number is not None for number in numbers.values())
            if known > 1:
                values.append(FormValue(model, name, numbers))
            for form in (form for form, number in numbers.items() if known and number is None):
                lacking.setdefault((form, forms[form].reason(name)), []).append(name)
    of_whom = tuple(model for model, _ in several)
    every = tuple(dict.fromkeys(form for _, forms in several for form in forms))
    studies = []
    for study in several[0][1][PAPER].studies:
        given: dict[str, list[Study]] = {}
        for form in every:
            of_form = [_study(study, form, forms, lacking) for _, forms in several]
            scored = [in_form for in_form in of_form if in_form is not None]
            if len(scored) == len(several):
                given[form] = scored
        if PAPER in given and len(given) > 1:
            by_model = [{form: of[place] for form, of in given.items()} for place in range(len(several))]
            studies += joined(of_whom, [[over_forms(in_forms)] for in_forms in by_model])
    return FormReport(
        of_whom,
        every,
        tuple(study_report(study, decided=False) for study in studies),
        tuple(values),
        tuple(f"Not in the form {form}: {_some(of)} ({reason})." for (form, reason), of in lacking.items()),
    )


def _study(
    study: Study, form: str, forms: Mapping[str, Answers], lacking: dict[tuple[str, str], list[str]]
) -> Study | None:
    """The study in a form of one submission; None where it has none, which is noted."""
    in_form = forms[form].study(study.name) if form in forms else None
    if in_form is None:
        reason = forms[form].reason(study.value) if form in forms else "not every submission was asked in it"
        lacking.setdefault((form, reason), []).append(study.name)
    return in_form


def _some(names: Sequence[str]) -> str:
    """The first names, and how many others there are."""
    distinct = list(dict.fromkeys(names))
    others = len(distinct) - _SHOWN
    return ", ".join(distinct[:_SHOWN]) + (f" and {others} other{'s' * (others > 1)}" if others > 0 else "")
