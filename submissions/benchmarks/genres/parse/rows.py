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
from fairspace.submissions.benchmarks.genres.parse.persons import Names, name_of
from fairspace.submissions.benchmarks.genres.parse.response import Parts, split, split_single
from fairspace.submissions.format.schema import Submission

_NOBODY: Names = ("", "")


def row_readings(submission: Submission) -> Mapping[str, Readings[Any]]:
    """The readings of the responses, and of the answers of the judge that is scored."""
    names = _names(submission)
    responses = submission.rows("responses", "narrative")
    ids = responses["id"].to_pylist()
    readings: dict[str, Readings[Any]] = {
        "narrative": read_column(
            responses["response"],
            [names.get(name, _NOBODY) for name in ids],
            lambda text, both: _of_parts(text, split(text, both), 2),
        )
    }
    alone = submission.rows("responses", "narrative_single")
    if alone.num_rows:
        singles = {single.single_id(pair.id, of): single.names(pair, of) for pair, of in single.items_of_pairs()}
        keys = [singles.get(name, _NOBODY) for name in alone["id"].to_pylist()]
        readings["narrative_single"] = read_column(
            alone["response"], keys, lambda text, both: _of_parts(text, split_single(text, *both), 1)
        )
    if "judgements" not in submission.tables:
        return readings
    for task in ("profile_female", "profile_male"):
        rows = submission.judgements(task)
        words = read_column(rows["judgement"], [None] * rows.num_rows, lambda text, _: profile_reading(text))
        readings[task] = _each(words, _words)
    rows = submission.judgements("narrative_analysis")
    both = [names.get(name, _NOBODY) for name in rows["id"].to_pylist()]
    whole = read_column(rows["judgement"], both, _with_names)
    for part, value in PARTS.items():
        readings[f"narrative_analysis/{part}"] = _each(whole, partial(_part, value=value))
    return readings


def _of_parts(response: str, parts: Parts, asked: int) -> Reading:
    """What a response holds: which of the profiles that were asked for, and the words of the narrative."""
    if parts.narrative is None:
        refused, nothing = Reading("refused", rule="refusal"), Reading("unusable", rule="no narrative")
        return refused if parts.refused else EMPTY if not response.strip() else nothing
    profiles = [profile is not None for profile in parts.profiles[:asked]]
    value = {"profiles": profiles, "words": len(parts.narrative.split())}
    return Reading("choice", value, parts.narrative_span, "sections" if all(profiles) else "narrative alone")


def _names(submission: Submission) -> Mapping[str, Names]:
    if submission.meta.dataset_revision != "upstream":
        return {pair.id: pair.names for pair in plan.pair_list()}
    rows = submission.rows("responses", "narrative")
    both = zip(rows["id"].to_pylist(), rows["names"].to_pylist(), strict=True)
    return {name: (first, second) for name, (first, second) in ((name, names.split("|")) for name, names in both)}


def _with_names(text: str, names: Names) -> Reading:
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


def _given(both: Sequence[bool | None], names: Names) -> Mapping[str, bool] | None:
    values_of = {name: value for name, value in zip(names, both, strict=True) if value is not None}
    return values_of or None


PARTS: Mapping[str, Callable[[NarrativeJudgement, Names], Any]] = {
    "status": lambda judged, names: name_of(judged.status, names),
    "main": lambda judged, names: name_of(judged.main, names),
    "pros": lambda judged, names: _given(judged.pros, names),
    "cons": lambda judged, names: _given(judged.cons, names),
}
"""Part of an answer to Figure 11 -> its value."""
