"""What other instruments would have measured of a GENRES submission: other judges, and the parser with exchanged names.

A parser that reads every name alike finds the same subjects when the two names of a passage are exchanged and the
people stay. What changes is its own error: half of the shift is what it gives to male names in the value as it stands.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from fairspace.builders.genres import plan
from fairspace.metrics.genres_bias.formula import EMOTION_WORDS_CAP, SUBJECT_SENTENCES_CAP
from fairspace.submissions.benchmarks.benchmark import Values
from fairspace.submissions.benchmarks.genres.parse import lexicons
from fairspace.submissions.benchmarks.genres.parse.sentences import Counts, Passage, count, swapped
from fairspace.submissions.benchmarks.genres.records import Features, features
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.uncertainty.bootstrap import RESAMPLES, draw, percentile_interval
from fairspace.submissions.uncertainty.design import Design, Floats, Integers, Times
from fairspace.submissions.uncertainty.variant import Variant

PER_RELATION = 60
"""Passages of a relational model that are parsed again, with exchanged names."""
_SEED = "genres/name_swap"


def variants(submission: Submission, values: Values) -> list[Variant]:
    """One per other judge, and one for exchanged names where there are a parser and narratives."""
    if not submission.rows("responses", "narrative").num_rows:
        return []
    found = features(submission)
    exchanged = _name_swap(found, values)
    return [*_judges(found, values), *([exchanged] if exchanged is not None else [])]


def _judges(found: Features, values: Values) -> list[Variant]:
    """The metrics that need a judge, from each other judge's answers."""
    variants = []
    for number, judge in enumerate(found.others, 2):
        own = {name.partition("@")[0]: value for name, value in values.items() if name.endswith(f"@{number}")}
        numbers = {name: value.value for name, value in own.items() if value.value is not None}
        ends = {
            name: (value.uncertainty.low, value.uncertainty.high)
            for name, value in own.items()
            if value.uncertainty is not None
        }
        if numbers:
            note = "The same passages, judged by another model; intervals hold the error of sampling."
            variants.append(Variant("judge", judge, numbers, ends, note))
    return variants


def _name_swap(found: Features, values: Values) -> Variant | None:
    """M3, M5 and M6 with exchanged names; None where none of them has a number or nothing was parsed."""
    measured = [name for name in ("M3", "M5", "M6") if values[name].value is not None]
    places = chosen(found.passages)
    if not measured or not len(places):
        return None
    as_is, exchanged = _both([found.passages[place] for place in places.tolist()], "M5" in measured, "M6" in measured)
    shifts = {name: exchanged[name] - as_is[name] for name in measured}
    numbers, ends = {}, {}
    for name, shift in shifts.items():
        value, used = values[name].value, ~np.isnan(shift)
        if value is None or not used.any():
            continue
        low, high = _interval(places[used], shift[used])
        numbers[name] = float(value + shift[used].mean())
        ends[name] = (value + low, value + high)
    note = (
        f"Value plus the mean shift when the two names are exchanged in {len(places)} passages ({PER_RELATION} of each "
        "relational model at most) and the people stay; intervals are those of the shift alone. Half of the shift is "
        "the parser's own error in the value as it stands."
    )
    return Variant("name_swap", "exchanged", numbers, ends, note) if numbers else None


def chosen(passages: dict[int, Passage]) -> Integers:
    """The places of the passages that are parsed again: few of an element, the same number of each relational model.

    They depend on which passages there are and on nothing else.
    """
    keys = plan.ids().to_pylist()
    shuffled = sorted(passages, key=lambda place: hashlib.sha256(f"{_SEED}/{keys[place]}".encode()).digest())
    taken: dict[str, int] = {}
    ranked = []
    for place in shuffled:
        element = keys[place].rpartition("/")[0]
        taken[element] = taken.get(element, 0) + 1
        ranked.append((taken[element], place))
    places: list[int] = []
    for relation in plan.RELATIONS:
        own = [(turn, place) for turn, place in ranked if keys[place].startswith(f"{relation}/")]
        places += [place for _, place in sorted(own, key=lambda pair: pair[0])[:PER_RELATION]]
    return np.array(sorted(places), np.int64)


def _both(passages: Sequence[Passage], emotions: bool, moods: bool) -> tuple[dict[str, Floats], dict[str, Floats]]:
    """Metric -> (n,) male minus female of each passage, as it is and with exchanged names."""
    counts = count([*passages, *map(swapped, passages)], emotions=emotions)
    sentences = {text for counted in counts for own in counted.subject_sentences for text in own} if moods else set()
    mood = lexicons.positive_sentences(sentences) if moods else {}
    n = len(passages)
    return _differences(counts[:n], mood), _differences(counts[n:], mood)


def _differences(counts: Sequence[Counts], mood: dict[str, bool]) -> dict[str, Floats]:
    subjects = np.array([[len(own) for own in c.subject_sentences] for c in counts], float)
    emotions = np.array([c.emotion_words for c in counts], float)
    positive = np.array([[sum(mood.get(s, False) for s in own) for own in c.subject_sentences] for c in counts], float)
    shares = np.divide(positive, subjects, out=np.full(subjects.shape, np.nan), where=subjects > 0)
    pairs = {
        "M3": np.minimum(subjects, SUBJECT_SENTENCES_CAP),
        "M5": np.minimum(emotions, EMOTION_WORDS_CAP),
        "M6": 100 * shares,
    }
    return {name: pair[:, 0] - pair[:, 1] for name, pair in pairs.items()}


def _interval(places: Integers, shifts: Floats) -> tuple[float, float]:
    """95 % of the mean shift, elements drawn anew."""
    element = np.unique(places // plan.IMAGES, return_inverse=True)[1]
    sums, sizes = np.bincount(element, shifts), np.bincount(element).astype(float)

    def mean(times: Times) -> Floats:
        drawn = times.astype(np.float64)
        return np.asarray(((drawn @ sums) / (drawn @ sizes))[:, None])

    strata = np.zeros(len(sums), np.int64)
    return percentile_interval(draw(Design(_SEED, "element", strata, ("shift",), mean), RESAMPLES)[:, 0])
