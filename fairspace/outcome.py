"""`Result`, the outcome of `fairspace.score`, which shows itself as text, table, figure and LaTeX."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from fairspace.builders.writing import write_text
from fairspace.submissions.errors import did_you_mean
from fairspace.submissions.results import result as results
from fairspace.submissions.results import scoring
from fairspace.submissions.show.headline import first_values, results_latex, value_row
from fairspace.submissions.show.result import result_html, result_text
from fairspace.submissions.values import Value

if TYPE_CHECKING:
    import pandas as pd

    from fairspace.submissions.drawing.svg import Svg


class NamedValues(dict[str, Value]):
    """Values by name; the KeyError for a wrong name suggests the nearest right one."""

    other: Mapping[str, str] = {}
    """Names from elsewhere in a result -> their place."""

    def __missing__(self, name: str) -> Value:
        if name in self.other:
            raise KeyError(f"{name!r} is in {self.other[name]}")
        close = did_you_mean(name, [*self, *self.other])
        raise KeyError(f"There is no value {name!r}{close}. Known: {', '.join(list(self)[:8])}, ...")


@dataclass(frozen=True, repr=False)
class Result(results.Result):
    """Result of scoring: raw values, scores under one standard, and their uncertainty.

    `values["M3"]` and `scores["TBS"]` are `Value`s: `.value` (None unless `.state` is "value"; `.reason` says why),
    `.if_missing` (least and most that missing answers could make of it), `.interval` (95 %, of sampling),
    `.valid` of `.expected` samples, `.uncertainty` with `.error` and the chance level of fair models (`.fair`,
    `.fair_high`). The KeyError for a wrong name suggests the nearest right one.

    `meta`, `signature`, `readings` and `variants` describe its basis; GLOSSARY.md explains every name.
    """

    def __post_init__(self) -> None:
        values, scores = NamedValues(self.values), NamedValues(self.scored.scores)
        values.other = {name: f'result.scores["{name}"]' for name in scores if name not in values}
        scores.other = {name: f'result.values["{name}"]' for name in values if name not in scores}
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "_scores", scores)

    @classmethod
    def of(cls, result: results.Result) -> Result:
        """The same result as one that shows itself."""
        return cls(**{field.name: getattr(result, field.name) for field in fields(results.Result) if field.init})

    @property
    def scores(self) -> Mapping[str, Value]:
        """The scores under the standard, by name."""
        scores: Mapping[str, Value] = self._scores  # type: ignore[attr-defined]
        return scores

    def save(self, path: str | Path) -> Path:
        """Write the result as JSON, for `fs.load_result`, `fairspace score` and `fairspace report`; return the path."""
        write_text(Path(path), self.dumps())
        return Path(path)

    def to_frame(self) -> pd.DataFrame:
        """Every score and raw value, the first values of the benchmark first; one row for each name.

        If a name is both (GENRES' metrics), the raw value is shown; the score is the same, or undefined if the
        standard asks for more answers.

        Columns:
            kind: `score` or `raw value`.
            value: measured value; NaN without a number.
            interval_low, interval_high: 95 % confidence interval; NaN without resampling.
            chance, chance_end: chance level of perfectly fair models, their mean and the end that 95 % of them stay
                within; NaN if unknown.
            no_bias_shown: whether the value shows no bias with this many answers, which proves no fairness.
            missing: possible effect of missing answers on the value, in words; '' if none.
            if_missing_low, if_missing_high: the same as numbers; ranks use the worse.
            valid, expected: usable samples, and samples that the protocol asks for.
            ideal: value of a fair model with endless samples; NaN if there is none.
            bad_direction: the less fair side of the ideal: above, below or either; None if there is none.
            state, reason: `value`, `incomplete` (from a part of the answers), `undefined` or `not_run`, and why.
        """
        import pandas as pd

        first = first_values(self)
        shown = {**first, **self.scored.shown, **self.values}
        frame = pd.DataFrame([value_row(self, name, value) for name, value in shown.items()]).set_index("name")
        numbers = (
            "value",
            "interval_low",
            "interval_high",
            "chance",
            "chance_end",
            "if_missing_low",
            "if_missing_high",
            "ideal",
        )
        return frame.astype(dict.fromkeys(numbers, float))

    def plot(self, *names: str) -> Svg:
        """Values as an SVG figure: value, 95 % interval, mean of fair models, ideal; `.document()` is its text.

        Args:
            names: raw values and scores; the first values of the benchmark by default.

        Undefined values are marked; values that were not run are left out. Values with an ideal and limits share one
        scale, from 0 (ideal) to 1 (the worst possible); others have their own. KeyError suggests the right name.
        """
        from fairspace.submissions.show.figure import strips

        return strips([self], [{name: self._known(name) for name in names} or first_values(self)])

    def to_latex(self, *names: str) -> str:
        r"""The same values as a LaTeX table (booktabs), for `\input`; its caption lists what was not run."""
        return results_latex([self], {name: self._known(name) for name in names})

    def to_model_card(self) -> str:
        """A model card of the Hub with this result: `model-index`, and a section on bias, risks and limitations.

        UsageError for a part of a benchmark, another reading, a baseline, or a result without a rank.
        """
        from fairspace.submissions.report.model_card import model_card

        return str(model_card(self))

    def paper(self, folder: str | Path, *sources: str | Path) -> list[Path]:
        """Write the paper's tables and figures with this model beside the printed ones: `paper.html` shows them all.

        `methods.tex` has versions, intervals and judge, and cites `references.bib`.
        `sources`: submissions to compare, or the folder of a probe, for the tables that need them.
        """
        return paper(self, folder, *sources)

    def _known(self, name: str) -> Value:
        return self.scores[name] if name in self.scores and name not in self.values else self.values[name]

    def __repr__(self) -> str:
        return result_text(self)

    def _repr_html_(self) -> str:
        return result_html(self)


def paper(result: Result | Sequence[Result], folder: str | Path = "paper", *sources: str | Path) -> list[Path]:
    """`Result.paper` of one result, or of several of one benchmark and standard; the files, `paper.html` first."""
    from fairspace.submissions.report.paper import write_paper

    every = [result] if isinstance(result, results.Result) else [*result]
    return write_paper(every, Path(folder), [Path(source) for source in sources])


def load_result(path: str | Path) -> Result:
    """The result in a file of `Result.save` or `fairspace score --out`. UsageError if it is none."""
    return Result.of(scoring.load_result(Path(path)))


def rescore(result: results.Result, standard: str) -> Result:
    """The same raw values under another standard, without the answers. UsageError for an unknown standard."""
    return Result.of(scoring.rescore(result, standard))
