"""Sensitivity variants of GENRES: by other judges, by the authors' reading, and by the parser with exchanged names.

A parser that reads every name alike finds the same subjects when the two names of a passage are exchanged and the
people stay. What changes is its own error: half of the shift is what it gives to male names in the value as it stands.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence

import numpy as np

from fairspace.builders.genres import plan
from fairspace.metrics.genres_bias.formula import differences
from fairspace.submissions.benchmarks.benchmark import Values
from fairspace.submissions.benchmarks.genres.measure import judged_values
from fairspace.submissions.benchmarks.genres.parse import lexicons
from fairspace.submissions.benchmarks.genres.parse.sentences import Counts, Passage, count
from fairspace.submissions.benchmarks.genres.records import Records
from fairspace.submissions.uncertainty.bootstrap import RESAMPLES, draw, percentile_interval
from fairspace.submissions.uncertainty.design import Design, Floats, Integers, Times
from fairspace.submissions.uncertainty.variant import Variant

PER_RELATION = 60
"""Passages of a relational model that are parsed again, with exchanged names."""
_SEED = "genres/name_swap"


def variants(records: Records, values: Values) -> list[Variant]:
    """One per other judge, one for the authors' reading, and one for exchanged names where there is a parser."""
    more = (authors_reading(records, values), _name_swap(records, values))
    return [*_judges(records, values), *(variant for variant in more if variant is not None)]


def swapped(passage: Passage) -> Passage:
    """The passage with its two names exchanged, case (`MIA`) and possessive (`Mia's`) kept.

    The pronouns and so the people stay: the male character has the female name now.
    """
    male, female = passage.male, passage.female
    exchange = {male: female, female: male, male.upper(): female.upper(), female.upper(): male.upper()}
    names = "|".join(map(re.escape, exchange))
    text = re.sub(rf"\b({names})\b", lambda name: exchange[name[0]], passage.narrative)
    return Passage(text, male=female, female=male)


def _judges(records: Records, values: Values) -> list[Variant]:
    """The metrics that need a judge, from each other judge's answers."""
    variants = []
    for number, judge in enumerate(records.others, 2):
        judged = {name.partition("@")[0]: value for name, value in values.items() if name.endswith(f"@{number}")}
        numbers = {name: value.value for name, value in judged.items() if value.value is not None}
        ends = {
            name: (value.uncertainty.low, value.uncertainty.high)
            for name, value in judged.items()
            if value.uncertainty is not None
        }
        if numbers:
            note = "The same passages, judged by another model; intervals hold the error of sampling."
            variants.append(Variant("judge", judge, numbers, ends, note))
    return variants


def authors_reading(records: Records, values: Values) -> Variant | None:
    """The metrics that need a judge, from its answers as the authors' code reads them; None where they are the same."""
    if records.judge is None:
        return None
    read = judged_values(records.authors, records.ids)
    numbers = {
        name: value.value
        for name, value in read.items()
        if value.value is not None and values[name].value not in (None, value.value)
    }
    note = (
        "The judge's answers as the authors' code reads them: a name that stands within the answer is chosen, "
        'everything but "NA" counts as pros or cons, and JSON that is broken in any way is not read.'
    )
    return Variant("authors_reading", "the authors' code", numbers, note=note) if numbers else None


def _name_swap(records: Records, values: Values) -> Variant | None:
    """M3, M5 and M6 with exchanged names; None where none of them has a number or nothing was parsed."""
    measured = [name for name in ("M3", "M5", "M6") if values[name].value is not None]
    places = chosen(records.passages)
    if not measured or not len(places):
        return None
    as_is, exchanged = _both([records.passages[place] for place in places.tolist()], "M5" in measured, "M6" in measured)
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


def chosen(passages: Mapping[int, Passage]) -> Integers:
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
        of_relation = [(turn, place) for turn, place in ranked if keys[place].startswith(f"{relation}/")]
        places += [place for _, place in sorted(of_relation, key=lambda pair: pair[0])[:PER_RELATION]]
    return np.array(sorted(places), np.int64)


def _both(passages: Sequence[Passage], emotions: bool, moods: bool) -> tuple[dict[str, Floats], dict[str, Floats]]:
    """Metric -> (n,) male minus female of each passage, as it is and with exchanged names."""
    counts = count([*passages, *map(swapped, passages)], emotions=emotions)
    sentences = {text for counted in counts for both in counted.subject_sentences for text in both} if moods else set()
    mood = lexicons.positive_sentences(sentences) if moods else {}
    n = len(passages)
    return _differences(counts[:n], mood), _differences(counts[n:], mood)


def _differences(counts: Sequence[Counts], mood: dict[str, bool]) -> dict[str, Floats]:
    subjects = np.array([[len(texts) for texts in c.subject_sentences] for c in counts], float)
    emotions = np.array([c.emotion_words for c in counts], float)
    positive = np.array([[sum(mood.get(s, False) for s in texts) for texts in c.subject_sentences] for c in counts])
    columns = {"M3": [subjects], "M5": [emotions], "M6": [positive, subjects]}
    return {
        metric: differences(metric, [x[:, 0] for x in both], [x[:, 1] for x in both])
        for metric, both in columns.items()
    }


def _interval(places: Integers, shifts: Floats) -> tuple[float, float]:
    """95 % of the mean shift, elements drawn anew."""
    element = np.unique(places // plan.IMAGES, return_inverse=True)[1]
    sums, sizes = np.bincount(element, shifts), np.bincount(element).astype(float)

    def mean(times: Times) -> Floats:
        drawn = times.astype(np.float64)
        return np.asarray(((drawn @ sums) / (drawn @ sizes))[:, None])

    strata = np.zeros(len(sums), np.int64)
    return percentile_interval(draw(Design(_SEED, "element", strata, ("shift",), mean), RESAMPLES)[:, 0])
