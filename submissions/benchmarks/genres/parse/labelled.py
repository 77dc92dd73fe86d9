"""Labelled raw answers of GENRES against what the readers read of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fairspace.submissions.answers.labelled import Compared, Verdict, check_gold, compare, field, unknown_task
from fairspace.submissions.answers.reading import Reading
from fairspace.submissions.benchmarks.genres.parse.judge import NOTHING, narrative_reading, profile_reading
from fairspace.submissions.benchmarks.genres.parse.persons import Names, name_of
from fairspace.submissions.benchmarks.genres.parse.response import split
from fairspace.submissions.format.collector import RefusedError, show

_MARKS = " \t\r\n*_#-\"'"


TASKS = ("narrative", "profile_male", "profile_female", "narrative_analysis")


def compare_reading(line: Mapping[str, Any]) -> list[Compared]:
    """The entries `status`, `main` and `pros_cons`, `personality`, or `narrative` and `profile` of a labelled line.

    Lines have `names` in the prompt's order. RefusedError: an unknown task, no names, or a gold that is none of it.
    """
    if line["task"] not in TASKS:
        raise unknown_task(line["task"], TASKS)
    names = _names(line)
    field(line, "gold", dict, "an object")
    if line["task"] == "narrative_analysis":
        return _analysis(line, names)
    return _response(line, names) if line["task"] == "narrative" else [_personality(line)]


def _names(line: Mapping[str, Any]) -> Names:
    names = field(line, "names", list, "the two names in the order of the prompt")
    if len(names) != 2 or not all(isinstance(name, str) and name for name in names) or names[0] == names[1]:
        raise RefusedError("WRONG_TYPE", f"'names' is {show(names)}", "two different names")
    return names[0], names[1]


def _analysis(line: Mapping[str, Any], names: Names) -> list[Compared]:
    for key in ("higher_status", "main_character"):
        check_gold(field(line["gold"], key, str, "a name, NA or missing"), [*names, "NA"])
    for key in ("pros", "cons"):
        given = field(line["gold"], key, dict, "true, false or missing by name")
        for name in names:
            if name not in given:
                raise RefusedError("MISSING_FIELD", f"no {name!r} in {key!r}", "true, false or missing for both names")
            check_gold(given[name], [True, False])
    reading = narrative_reading(line["answer"], names)
    judged = reading.value if reading.outcome == "choice" else NOTHING
    entries = []
    for entry, key, whose in (("status", "higher_status", judged.status), ("main", "main_character", judged.main)):
        said = name_of(whose, names)
        entries.append(
            compare(entry, line["gold"][key], Reading("choice" if said else "unusable", said, None, reading.rule))
        )
    gold = {f"{kind} {name}": line["gold"][kind][name] for kind in ("pros", "cons") for name in names}
    read = {
        f"{kind} {name}": "missing" if given is None else given
        for kind, both in (("pros", judged.pros), ("cons", judged.cons))
        for name, given in zip(names, both, strict=True)
    }
    differ = [read[key] for key, value in gold.items() if read[key] != value]
    verdict: Verdict = "right" if not differ else "lost" if all(value == "missing" for value in differ) else "false"
    return [*entries, Compared("pros_cons", gold, read, verdict, reading.rule)]


def _personality(line: Mapping[str, Any]) -> Compared:
    gold = field(line["gold"], "personality", (list, str), "a list of phrases, or missing")
    reading = profile_reading(line["answer"])
    words = list(reading.value.words) if reading.outcome == "choice" else "missing"
    verdict: Verdict = "right" if words == gold else ("lost" if words == "missing" else "false")
    return Compared("personality", gold, words, verdict, reading.rule)


def _response(line: Mapping[str, Any], names: Names) -> list[Compared]:
    """The end of the narrative, white space and marks aside, and which profiles are there."""
    answer, gold = line["answer"], line["gold"]
    field(gold, "profiles", list, "0 or 1 of both profiles")
    parts = split(answer, names)
    end = None if parts.narrative_span is None else parts.narrative_span[1]
    ends = [
        field(gold, "narrative_end", (int, type(None)), "a place in the answer, or null"),
        *(line.get("narrative_end_also") or gold.get("narrative_end_also") or []),
    ]
    if end is None or gold["narrative_end"] is None:
        right = end is None and gold["narrative_end"] is None
    else:  # only white space and marks may lie between
        right = any(not answer[min(end, other) : max(end, other)].strip(_MARKS) for other in ends)
    verdict: Verdict = "right" if right else ("lost" if end is None else "false")
    profiles = [int(profile is not None) for profile in parts.profiles]
    whose: Verdict = "right"
    if profiles != gold["profiles"]:
        whose = "false" if any(p > g for p, g in zip(profiles, gold["profiles"], strict=True)) else "lost"
    wanted = "missing" if gold["narrative_end"] is None else gold["narrative_end"]
    return [Compared("narrative", wanted, end, verdict), Compared("profile", gold["profiles"], profiles, whose)]
