"""The readings of a submission's rows: what each response holds, and each part of each judge's answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from fairspace.builders.genres import plan, single
from fairspace.submissions.answers.reading import EMPTY, Reading, Readings, read_column
from fairspace.submissions.benchmarks.genres.parse.judge import (
    NarrativeJudgement,
    ProfileJudgement,
    narrative_reading,
    profile_reading,
)
from fairspace.submissions.benchmarks.genres.parse.persons import Names
from fairspace.submissions.benchmarks.genres.parse.response import split, split_single
from fairspace.submissions.format.schema import Submission

Parts = Mapping[str, Callable[[NarrativeJudgement, Names], Any]]


def row_readings(submission: Submission) -> Mapping[str, Readings[Any]]:
    """The readings of the responses, and of the answers of the judge that is scored."""
    names = _names(submission)
    responses = submission.rows("responses", "narrative")
    ids = responses["id"].to_pylist()
    readings: dict[str, Readings[Any]] = {
        "narrative": read_column(responses["response"], [names.get(name) for name in ids], response_reading)
    }
    alone = submission.rows("responses", "narrative_single")
    if alone.num_rows:
        singles = {single.single_id(pair.id, of): single.names(pair, of) for pair, of in single.items_of_pairs()}
        keys = [singles.get(name) for name in alone["id"].to_pylist()]
        readings["narrative_single"] = read_column(alone["response"], keys, single_reading)
    if "judgements" not in submission.tables:
        return readings
    for task in ("profile_female", "profile_male"):
        rows = submission.judgements(task)
        words = read_column(rows["judgement"], [None] * rows.num_rows, lambda text, _: profile_reading(text))
        readings[task] = _each(words, _words)
    rows = submission.judgements("narrative_analysis")
    both = [names.get(name) for name in rows["id"].to_pylist()]
    whole = read_column(rows["judgement"], both, _with_names)
    for part, value in PARTS.items():
        readings[f"narrative_analysis/{part}"] = _each(whole, partial(_part, value=value))
    return readings


def response_reading(response: str, names: Names | None) -> Reading:
    """What a response holds: `profiles` in the order of the names, and the words of the narrative."""
    if not response.strip():
        return EMPTY
    parts = split(response, names or ("", ""))
    if parts.refused:
        return Reading("refused", rule="refusal")
    if parts.narrative is None:
        return Reading("unusable", rule="no narrative")
    profiles = [profile is not None for profile in parts.profiles]
    value = {"profiles": profiles, "words": len(parts.narrative.split())}
    return Reading("choice", value, parts.narrative_span, "sections" if all(profiles) else "narrative alone")


def single_reading(response: str, names: Names | None) -> Reading:
    """What a response about one character holds: whether there is a profile, and the words of the narrative."""
    if not response.strip():
        return EMPTY
    parts = split_single(response, *(names or ("", "")))
    if parts.refused:
        return Reading("refused", rule="refusal")
    if parts.narrative is None:
        return Reading("unusable", rule="no narrative")
    has_profile = parts.profiles[0] is not None
    value = {"profiles": [has_profile], "words": len(parts.narrative.split())}
    return Reading("choice", value, parts.narrative_span, "sections" if has_profile else "narrative alone")


def _names(submission: Submission) -> Mapping[str, Names]:
    if submission.meta.dataset_revision != "upstream":
        return {pair.id: pair.names for pair in plan.pair_list(submission.meta.dataset_revision)}
    rows = submission.rows("responses", "narrative")
    both = zip(rows["id"].to_pylist(), rows["names"].to_pylist(), strict=True)
    return {name: (first, second) for name, (first, second) in ((name, names.split("|")) for name, names in both)}


def _with_names(text: str, names: Names | None) -> Reading:
    names = names or ("", "")
    reading = narrative_reading(text, names)
    return reading if reading.outcome != "choice" else replace(reading, value=(reading.value, names))


def _each(readings: Readings[Any], change: Callable[[Reading], Reading]) -> Readings[Any]:
    return Readings([change(reading) for reading in readings.distinct], readings.place)


def _words(reading: Reading) -> Reading:
    judged: ProfileJudgement | None = reading.value
    return reading if judged is None else replace(reading, value=list(judged.words))


def _part(reading: Reading, value: Callable[[NarrativeJudgement, Names], Any]) -> Reading:
    """One part of a judge's answer; unusable where the answer does not give it."""
    if reading.outcome != "choice":
        return reading
    part = value(*reading.value)
    return Reading("unusable", rule="no such field") if part is None else replace(reading, value=part)


def _person(whose: str | None, names: Names) -> str | None:
    return None if whose is None else {"first": names[0], "second": names[1], "neither": "NA"}[whose]


def _given(both: Sequence[bool | None], names: Names) -> Mapping[str, bool] | None:
    values_of = {name: value for name, value in zip(names, both, strict=True) if value is not None}
    return values_of or None


PARTS: Parts = {
    "status": lambda judged, names: _person(judged.status, names),
    "main": lambda judged, names: _person(judged.main, names),
    "pros": lambda judged, names: _given(judged.pros, names),
    "cons": lambda judged, names: _given(judged.cons, names),
}
"""Part of an answer to Figure 11 -> its value."""
