"""GENRES in words, for pages: metrics, relational models, cohorts, and Table 2 by model and evaluator."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from fairspace.builders.genres import plan
from fairspace.metrics.genres_bias import formula
from fairspace.metrics.total_bias_score.formula import total_bias_score
from fairspace.submissions.benchmarks.benchmark import BenchmarkWords, Listing, Scored
from fairspace.submissions.benchmarks.genres.score import EVALUATORS, INAUGURAL, STANDARDS, WORDS
from fairspace.submissions.benchmarks.published import Published, computed, models, printed, published_row, source
from fairspace.submissions.plotting import number
from fairspace.submissions.values import Value, Values, not_known

METRICS = WORDS.columns
RELATIONS = {WORDS.parts["part"][code].capitalize(): code for code in plan.RELATIONS}
"""Relational model -> its suffix of names."""


@lru_cache
def about() -> BenchmarkWords:
    """Texts of GENRES for pages."""
    return BenchmarkWords(scored, cohorts)


def scored(standard: Any) -> Listing:
    """The eight metrics."""
    rows = [[name, title] for name, title in METRICS.items()]
    relations = ", ".join(f"{code.upper()} {title.lower()}" for title, code in RELATIONS.items())
    rows += [["by relational model", f"each metric also for {relations}"]]
    alone = "each but M4 and M8 also between stories of the man alone and of the woman alone, where a model wrote those"
    rows += [["one character", f"{alone}; M1_less_single and so on are the metrics less these; not scored"]]
    return Listing("The eight metrics", ["Metric", "What it is: the man's figure minus the woman's"], rows)


def cohorts(standard: Any) -> Listing:
    """Each metric's origin of distances and deviation, for the cohort of each judge's family."""
    headers = ["Judge's family", *(f"{metric} centre ± deviation" for metric in METRICS)]
    rows = [
        [name, *(f"{number(m, 3)} ± {number(s, 3)}" for m, s in zip(figures.mean, figures.std, strict=True))]
        for name, figures in standard.cohorts.items()
    ]
    centre = "their means" if any(any(figures.mean) for figures in standard.cohorts.values()) else "0"
    return Listing(f"One cohort per judge's family; TBS adds up distances from {centre}.", headers, rows)


TOTAL = "TBS"


def rows(standard: str) -> Iterator[Published]:
    """Table 2; under another standard than the paper's, with the total from the printed M1 to M8."""
    for (_, evaluator), figures in models("genres").items():
        cells = [figure for figure in figures if figure.score in (*METRICS, TOTAL)]
        scores = {cell.score: printed(cell) for cell in cells}
        if standard != INAUGURAL.name:
            cohort = STANDARDS[standard].cohorts[evaluator]
            biases = np.array([scores[metric].value for metric in formula.METRICS], dtype=float)
            total, _, _ = total_bias_score(biases, cohort.mean, cohort.std)
            made_of = f"{standard} over the printed M1 to M8 of {source(cells[0])}"
            scores[TOTAL] = computed(TOTAL, total, made_of, scores[TOTAL])
            cells = [cell for cell in cells if cell.score != TOTAL]
        further = {figure.score: printed(figure) for figure in figures if figure.score not in (*METRICS, TOTAL)}
        about = {"labels": {"cohort": evaluator}, "cohort": EVALUATORS[evaluator], "values": further}
        yield published_row(cells, scores, TOTAL, **about)


_TOLD = {
    "M4": ("Higher status", "status", ""),
    "M8": ("Main character", "main", ""),
    "M3": ("Told about", "subject", " sentences a story"),
    "M5": ("Emotion words", "emotion", " a story"),
    "M6": ("Positive sentences", "positive", " a story"),
    "M7": ("Has pros and cons", "stereoscopic", ""),
}
"""Metric -> its question, its column of the evidence, and the unit of the man's figure; a share of stories has none."""


def sentences(values: Values, scored: Scored, standard: str) -> Iterator[str]:
    """One sentence for each metric: the man's and the woman's figures, and the relational model furthest from even."""
    metrics = {name: values.get(name) for name in ("M1", "M2", *_TOLD)}
    for name, (title, column, unit) in _TOLD.items():
        value = metrics[name]
        if value is not None and value.value is not None:
            man, woman = (value.numbers("mean", gender).get(column) for gender in ("male", "female"))
            figures = ""
            if man is not None and woman is not None:
                stories = f"{value.valid:,} {'story' if value.valid == 1 else 'stories'}"
                of = f"{man:.1f}{unit}", f"{woman:.1f} in {stories}"
                if not unit:
                    of = f"{man * value.valid:,.0f} of {stories}", f"{woman * value.valid:,.0f}"
                figures = f"the man {of[0]}, the woman {of[1]}; "
            yield f"{title}: {figures}{_difference(value, values)}."
    yield from not_known({f"{name} {METRICS[name].rstrip(' %')}": value for name, value in metrics.items()})


def _difference(value: Value, values: Values) -> str:
    about, measured = value.uncertainty, value.value or 0.0
    fair = None if about is None else about.fair_high
    text = f"{value.name} {_signed(measured)}{value.sure(_signed)}"
    if fair is not None and abs(measured) <= fair:
        return f"{text}; no bias shown: chance gives ±{fair:.2f}"
    parts = {title: values.get(f"{value.name}_{code}") for title, code in RELATIONS.items()}
    defined = {title: part.value for title, part in parts.items() if part is not None and part.value is not None}
    if not defined:
        return text
    worst = max(defined, key=lambda title: abs(defined[title]))
    return f"{text}; worst: {worst.lower()} {_signed(defined[worst])}"


def _signed(value: float) -> str:
    return number(value, 2 if abs(value) < 10 else 0, signed=True)
