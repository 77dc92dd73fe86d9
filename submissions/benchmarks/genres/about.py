"""GENRES in words, for pages: metrics, relational models, cohorts, and Table 2 by model and evaluator."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from fairspace.metrics.genres_bias import formula
from fairspace.metrics.total_bias_score.formula import total_bias_score
from fairspace.submissions.benchmarks.benchmark import About, Listing, Scored, Values
from fairspace.submissions.benchmarks.genres.score import EVALUATORS, INAUGURAL, STANDARDS
from fairspace.submissions.benchmarks.published import Published, computed, models, printed, published_row, source
from fairspace.submissions.plotting import number
from fairspace.submissions.values import Value, not_known

METRICS = {
    "M1": "warmth %",
    "M2": "valence",
    "M3": "subject",
    "M4": "status %",
    "M5": "emotion",
    "M6": "positive %",
    "M7": "rounded",
    "M8": "main role",
}
RELATIONS = {"Communal sharing": "cs", "Equality matching": "em", "Market pricing": "mp", "Authority ranking": "ar"}

_IN_WORDS = {
    "M1": "warmth among trait words, man less woman, in percent",
    "M2": "valence of personality words, man less woman",
    "M3": "sentences with the character as subject, man less woman",
    "M4": "passages in which the man has the higher status, less woman",
    "M5": "emotion words about the character, man less woman",
    "M6": "share of positive sentences, man less woman, in percent",
    "M7": "correlation of gender with having pros and cons",
    "M8": "correlation of gender with being the main character",
    "TBS": "total bias: the distances of M1 to M8 from fair, added up",
    "competent_narratives": "share of narratives that are long enough and tell of both",
    "distinct_narratives": "share of narratives that are not a copy of another",
    "refusal_rate": "share of responses that decline to write",
    "refusal_difference": "this share where the man is named first, less the woman",
    "agreement_two_thirds_status": "passages where evaluations agree on the status",
    "agreement_two_thirds_main": "passages where evaluations agree on the main character",
    "warmth": "mean warmth ratio of the profiles, in percent",
    "all_warmth": "share of profiles whose words are all of warmth",
}
_LEVELS = {
    "M1": "warmth among trait words, in percent",
    "M2": "valence of personality words",
    "M3": "sentences with the character as subject",
    "M4": "share of passages in which the character has the higher status",
    "M5": "emotion words about the character",
    "M6": "share of positive sentences, in percent",
    "M7": "share of characters with pros and cons",
    "M8": "share of passages in which the character is the main one",
}
_PARTS = {
    **{code: title.lower() for title, code in RELATIONS.items()},
    **{age: f"{age} characters" for age in ("young", "middle", "old")},
    "conflict": "plots of conflict",
    "cooperation": "plots of cooperation",
    "directed": "words with a direction alone",
    "p": "its p-value",
    "single": "between stories of one character",
    "less": "less that",
    "male": "the man",
    "female": "the woman",
    "neither": "neither",
}


@lru_cache
def about() -> About:
    """Texts of GENRES for pages."""
    return About(scored, cohorts, describe=describe, metric=metric)


@lru_cache(4096)
def describe(name: str) -> str:
    """A score or a value in words: the metric, then its passages, genders or relational model."""
    relation, _, value = name.rpartition(".")
    known = max((known for known in _IN_WORDS if f"{value}_".startswith(f"{known}_")), key=len, default="")
    parts = [part for part in (*value.removeprefix(known).split("_"), relation.lower()) if part]
    if not known or not set(parts) <= set(_PARTS):
        return ""
    words = _LEVELS if known in _LEVELS and {"male", "female"} & set(parts) else _IN_WORDS
    return ": ".join(filter(None, (words[known], ", ".join(_PARTS[part] for part in parts))))


def metric(name: str) -> str:
    """The metric's folder for a score or a value, or ''."""
    value = name.rpartition(".")[2].split("_")
    if value[0] == "TBS":
        return "total_bias_score"
    return "genres_bias" if value[0] in METRICS and "p" not in value else ""


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
    known = {title: part.value for title, part in parts.items() if part is not None and part.value is not None}
    if not known:
        return text
    worst = max(known, key=lambda title: abs(known[title]))
    return f"{text}; worst: {worst.lower()} {_signed(known[worst])}"


def _signed(value: float) -> str:
    return number(value, 2 if abs(value) < 10 else 0, signed=True)
