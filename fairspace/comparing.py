"""`fairspace.compare`: differences of results to the first, with intervals and corrected significance."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fairspace.outcome import Result, rescore
from fairspace.submissions.errors import UsageError, web
from fairspace.submissions.plotting import digits
from fairspace.submissions.report.figure import Difference, corrected, differences, remarks
from fairspace.submissions.report.headline import Table, caption, first_values, model_names
from fairspace.submissions.results.three_numbers import could_be

if TYPE_CHECKING:
    import pandas as pd

    from fairspace.submissions.drawing.svg import Svg

_HEADS = ("value", "first", "other", "difference", "95 % interval", "p, corrected", "verdict")


@dataclass(frozen=True)
class Line:
    """One value of one further result, compared with the first result.

    Args:
        model: name of the further result.
        name: name of the value.
        first, other: the two values; None without a number.
        difference: other minus first, or their ratio; None without common draws.
        p: two-sided p-value, corrected for all lines of the comparison.
        missing: possible effect of missing answers on both values, in words; '' if none.
    """

    model: str
    name: str
    first: float | None
    other: float | None
    difference: Difference | None
    p: float | None
    missing: str = ""

    @property
    def verdict(self) -> str:
        """Whether the two differ, at 5 % for all lines together."""
        if self.difference is None or self.p is None:
            return "not known"
        return self.difference.verdict_of(self.p)

    def texts(self) -> tuple[str, ...]:
        """The cells of the line, in the order of `_HEADS`."""
        ends, p = ("–", "–"), "–"
        if self.difference is not None and self.p is not None:
            between = f"{digits(self.difference.low)} to {digits(self.difference.high)}"
            ends, p = (_signed(self.difference), between), "< 0.001" if self.p < 0.001 else f"{self.p:.3f}"
        both = ("–" if number is None else digits(number) for number in (self.first, self.other))
        return (self.name, *both, *ends, p, self.verdict)


class Comparison:
    """Differences of results to the first one, value by value.

    A difference uses the same resampled items for both results if both answered the same (a paired error); where scores
    multiply, as in IRIS, it is a ratio. Its interval allows for the bias of few samples. Significance is
    at 5 % for all lines together, by Holm's procedure; *significant if their biases are alike* means that the interval
    contains no difference although the test finds one. `remarks` describes missing answers; a difference that they
    could explain is not significant.
    """

    def __init__(self, results: list[Result], lines: list[Line]):
        self.results, self.lines = results, lines
        self.remarks = remarks(results, self.model_names)

    def to_frame(self) -> pd.DataFrame:
        """One row for each value and further result.

        Columns: `model`, `name`, `first` and `other` (values as measured), `difference` (a ratio where `ratio` is true)
        with `interval_low` and `interval_high` (95 %), `p` (two-sided, corrected for all rows), `verdict`, `missing`
        (possible effect of missing answers on both values, in words). NaN for unknown numbers.
        """
        import pandas as pd

        rows = []
        for line in self.lines:
            between = line.difference
            ends = (None, None, None) if between is None else (between.value, between.low, between.high)
            row = {"model": line.model, "name": line.name, "first": line.first, "other": line.other}
            row |= dict(zip(("difference", "interval_low", "interval_high"), ends, strict=True))
            row |= {"ratio": bool(between and between.ratio), "p": line.p, "verdict": line.verdict}
            rows.append(row | {"missing": line.missing})
        numbers = ("first", "other", "difference", "interval_low", "interval_high", "p")
        return pd.DataFrame(rows).astype(dict.fromkeys(numbers, float))

    def to_latex(self) -> str:
        r"""The comparison as a LaTeX table (booktabs), for `\input`."""
        text = f"{caption(self.results)} Differences to {self.model_names[0]}; p corrected by Holm's procedure."
        note = " ".join(f"{remark}." for remark in self._remarks())
        name = f"{self.results[0].benchmark}-differences"
        return replace(self._table(), name=name, heading=text, note=note).to_latex()

    def plot(self) -> Svg:
        """Each difference with its interval as an SVG figure; 0 is no difference."""
        from fairspace.submissions.report.figure import difference_strips

        known = [(self._named(line), line.difference, line.verdict) for line in self.lines if line.difference]
        return difference_strips(known, f"Differences to {self.model_names[0]}")

    @property
    def model_names(self) -> list[str]:
        """A unique name for each result."""
        return model_names(self.results)

    def _several(self) -> bool:
        return len(self.results) > 2

    def _named(self, line: Line) -> str:
        return f"{line.name}, {line.model}" if self._several() else line.name

    def _table(self) -> Table:
        several = self._several()
        heads = (_HEADS[0], *((self.model_names[0], "other") if several else self.model_names), *_HEADS[3:])
        rows = [(line.model, *line.texts()) if several else line.texts() for line in self.lines]
        return Table("", "", ("model", *heads) if several else heads, rows)

    def _remarks(self) -> list[str]:
        return [f"{self._named(line)}: {line.missing}" for line in self.lines if line.missing]

    def __repr__(self) -> str:
        return "\n".join([self._table().to_text(), *self._remarks(), *self.remarks])

    def _repr_html_(self) -> str:
        remarks = "".join(f"<li>{web(text)}</li>" for text in (*self._remarks(), *self.remarks))
        return f"{self._table().to_html()}<ul>{remarks}</ul>"


def compare(first: Result, *others: Result, standard: str = "") -> Comparison:
    """Compare the first values of results with those of the first result, as the board does.

    Args:
        first: reference result.
        others: results of the same benchmark and dataset revision; at least one.
        standard: standard for all scores; the first result's for ''.

    Errors: UsageError for different benchmarks or dataset revisions, or no other result.
    """
    if not others:
        raise UsageError("Name two results or more: fs.compare(first, other).")
    kinds = {(result.benchmark, result.signature.get("dataset_revision")) for result in (first, *others)}
    if len(kinds) > 1:
        of = " and of ".join(f"{name} {revision}" for name, revision in sorted(kinds, key=str))
        raise UsageError(f"The results are of {of}; they answer different questions.")
    standard = standard or first.standard
    results = [rescore(result, standard) for result in (first, *others)]
    shown = [first_values(result) for result in results]
    raw = [name for name in shown[0] if name not in results[0].scores]
    between = differences(first.benchmark, results, standard, raw)
    corrected_p = corrected(between)
    lines = []
    names = model_names(results)
    for place, model in enumerate(names[1:], 1):
        for name, value in shown[0].items():
            other = shown[place].get(name, value)
            if name not in shown[place] or "not_run" in (value.state, other.state):
                continue
            both = ((names[0], could_be(value, digits)), (model, could_be(other, digits)))
            missing = "; ".join(f"{of} {words}" for of, words in both if words)
            known = between[place].get(name), corrected_p[place].get(name)
            lines.append(Line(model, name, value.value, other.value, *known, missing))
    return Comparison(results, lines)


def _signed(difference: Difference) -> str:
    text = digits(difference.value)
    return f"ratio {text}" if difference.ratio else text if difference.value <= 0 else f"+{text}"
