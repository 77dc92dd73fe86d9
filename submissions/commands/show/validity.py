"""What `fairspace standard validate` prints of submissions: variance, precision, agreement, and values on halves."""

from __future__ import annotations

from fairspace.submissions.benchmarks.forms import FORM
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.commands.show import tables as show
from fairspace.submissions.validity.decision import GOOD, Decision
from fairspace.submissions.validity.forms import FormReport
from fairspace.submissions.validity.report import Report
from fairspace.submissions.validity.retest import Retest
from fairspace.submissions.validity.study_report import StudyReport

_LEAST = 0.0005
"""A smaller share of the variance is not printed by itself."""


def show_validity(report: Report) -> None:
    """Print the studies of one or several submissions."""
    title = benchmark(report.benchmark).title
    runs = {model: report.models.count(model) for model in report.models}
    named = ", ".join(model if count == 1 else f"{model} ({count} runs)" for model, count in runs.items())
    show.line(f"{title} {report.revision}: {named}", style="bold")
    for study in report.studies:
        _study(study)
    if report.halves:
        _halves(report)
    if report.retests:
        _retests(report)
    if report.forms is None:
        show.line("No share of the forms of the questions: the paper's alone was asked (`fairspace run --forms`).")
    else:
        _forms(report.forms)


def _study(study: StudyReport) -> None:
    mean = "" if study.mean is None else f", mean {figure(study.mean)}"
    show.line("")
    show.line(f"{study.study}: {study.samples:,} samples{mean}", style="bold")
    show.line(f"Score: {study.score} ({study.unit}).")
    if study.reason:
        show.line(f"No components: {study.reason}.")
    else:
        _components(study)
    rows = [(a.factor, f"{a.pairs:,}", *map(share, (a.across, a.alike, a.chance, a.kappa))) for a in study.agreement]
    if rows:
        headers = ("that differ in", "pairs", "agree", "in the same", "by chance", "kappa")
        show.table("Two samples of one item", headers, rows)


def _components(study: StudyReport) -> None:
    large = [part for part in study.components if part.share >= _LEAST]
    rows = [(part.effect, f"{part.cells:,}", figure(part.variance), f"{part.share:.1%}") for part in large]
    if len(large) < len(study.components):
        below = sum(part.negative for part in study.components)
        note = f", {below} estimated below 0 and set to 0" if below else ""
        others = len(study.components) - len(large)
        rows.append((f"{others} other{'s' * (others > 1)}{note}", "", "", f"< {_LEAST:.2%}"))
    show.table("", ("variance between", "cells", "variance", "share"), rows)
    if study.decision is not None:
        for text in decision_lines(study.decision):
            show.line(text)


def _halves(report: Report) -> None:
    """The values on halves of the samples; why there is no reliability is said once."""
    show.line("")
    show.line("Values on halves of the samples", style="bold")
    if len(set(report.models)) > 1:
        rows = [(half.value, figure(half.difference), share(half.reliability)) for half in report.halves]
        show.table("", ("value", "half less half", "reliability"), rows)
    else:
        rows = [(half.value, figure(half.whole), figure(half.difference)) for half in report.halves]
        show.table("", ("value", "all samples", "half less half"), rows)
    for reason in dict.fromkeys(half.reason for half in report.halves if half.reason):
        count = sum(half.reason == reason for half in report.halves)
        show.line(f"No reliability of {count} value{'s' * (count > 1)}: {reason}.")


def _retests(report: Report) -> None:
    """The values of repeated runs."""
    show.line("")
    rows = [
        (test.value, "; ".join(", ".join(map(figure, runs)) for runs in test.runs.values()), *_of_runs(test))
        for test in report.retests
    ]
    show.table("Values of repeated runs", ("value", "runs", "run less run", "reliability"), rows)
    for reason in dict.fromkeys(test.reason for test in report.retests if test.reason):
        show.line(f"No reliability over runs: {reason}.")


def _forms(report: FormReport) -> None:
    """The studies with the form as a factor, and the values form by form."""
    show.line("")
    show.line(f"In the forms {', '.join(report.forms)}, of which the first scores", style="bold")
    for study in report.studies:
        _study(study)
        if study.components:
            of_form = sum(part.share for part in study.components if FORM in part.factors)
            show.line(f"The form and its combinations with other factors: {of_form:.1%} of the variance.")
    headers = ("value", *report.forms, "model")
    rows = [(v.value, *(figure(v.numbers.get(form)) for form in report.forms), v.model) for v in report.values]
    if rows:
        show.line("")
        show.table("Values by form", headers, rows)
    for note in report.notes:
        show.line(note)


def _of_runs(test: Retest) -> tuple[str, str]:
    return figure(test.difference), share(test.reliability)


def share(value: float | None) -> str:
    """Three decimals; a dash for what is not known."""
    return "–" if value is None else f"{value:.3f}"


def decision_lines(decision: Decision) -> list[str]:
    """The decision study in sentences."""
    again = f"±{figure(decision.same_prompts)} if the same prompts are sampled again"
    if decision.same_prompts == 0:
        again = "unknown over the same prompts, whose samples are all alike"
    other = decision.other_prompts
    drawn = "." if other is None else f", ±{figure(other)} if others had been drawn."
    lines = [f"95 % half-width of the mean: {again}{drawn}"]
    samples = _needed(decision.needed_samples, "sample", "of each of the same prompts")
    prompts = "" if other is None else f", {_needed(decision.needed_prompts, 'prompt', 'where others are drawn')}"
    lines.append(f"For ±{figure(decision.wanted)}: {samples}{prompts}.")
    if decision.coefficient is None:
        return [*lines, f"Generalizability coefficient: none, {decision.remark}."]
    coefficient = f"Generalizability coefficient over levels of {decision.target}: {decision.coefficient:.3f}"
    if decision.needed_per_target is None:
        return [*lines, f"{coefficient}; for {GOOD:g}, {decision.remark}."]
    now = f"{decision.per_target:,.0f} samples a level; {GOOD:g} needs {decision.needed_per_target:,}"
    return [*lines, f"{coefficient} ({now})."]


def _needed(number: int | None, what: str, which: str) -> str:
    return f"no number of {what}s {which}" if number is None else f"{number:,} {what}{'s' * (number > 1)} {which}"


def figure(value: float | None) -> str:
    """Three significant digits; a dash for no number."""
    if value is None:
        return "–"
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"
