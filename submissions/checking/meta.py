"""Checks of `submission.json` and `manifest.json`, with one fault per field or problem."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from fairspace.submissions.benchmarks.registry import NAMES, benchmark
from fairspace.submissions.errors import did_you_mean
from fairspace.submissions.format.collector import Collector, RefusedError, show
from fairspace.submissions.format.manifest import ENTRIES, STAGES, Manifest
from fairspace.submissions.format.schema import OTHER_JUDGES, Confusion, LabelError, SubmissionMeta, Tool
from fairspace.submissions.reading.containers import Member
from fairspace.submissions.reading.limits import Limits
from fairspace.submissions.reading.tables import MANIFEST, META, read_object

_TEXT_ERRORS = ("string_too_short", "string_too_long", "string_pattern_mismatch")
SHOWN = 1_000
"""Details of a file that are turned into faults; submission.json has 17 fields."""
_KINDS = {
    "string_type": "a text, in quotation marks",
    "dict_type": "an object",
    "model_type": "an object",
    "list_type": "a list",
    "float_type": "a number",
    "bool_type": "true or false",
    "too_short": "at least one, or no such field",
    "too_long": f"at most {OTHER_JUDGES}",
}
_BEYOND = ("greater_than_equal", "less_than_equal", "finite_number")
_SHAPES = ("value_error", "too_short", "too_long")
_IN_MANIFEST = {
    "missing": "every required field",
    "extra_forbidden": "the fields of manifest.json alone",
    "string_pattern_mismatch": "one plain line, in the form that FORMAT.md shows",
    "string_too_short": "one plain line",
    "string_too_long": "one plain line of at most 200 characters (1,000 in settings)",
    "too_long": f"at most {STAGES} stages, and {ENTRIES} entries of a list or an object",
}
_SCALARS = ("settings", "hardware")
_CHOICES = {"format": "UNKNOWN_FORMAT", "benchmark": "UNKNOWN_BENCHMARK"}


def read_meta(member: Member | None, any_member: bool, limits: Limits, faults: Collector) -> SubmissionMeta | None:
    """The content of `submission.json` by `check_meta`; a fault if it is missing beside any member."""
    if member is None:
        if any_member or not faults.all():
            what = "no submission.json" if any_member else "nothing at all"
            faults.add("MISSING_FILE", META, what, expected="submission.json beside the tables")
        return None
    try:
        return check_meta(read_object(member, limits.meta_bytes, limits.depth), faults)
    except RefusedError as refused:
        faults.refuse(refused, META)
        return None


def check_meta(data: dict[str, Any], faults: Collector) -> SubmissionMeta | None:
    """The model of `submission.json`, and a fault for each field that does not fit.

    With faults it holds only the fields that rows can be checked against; None without known benchmark and revision.
    """
    try:
        meta = SubmissionMeta.model_validate(data)
    except ValidationError as error:
        noted: set[tuple[str, str]] = set()
        for detail in error.errors(include_url=False)[:SHOWN]:
            _note(detail, noted, faults)
        return _salvaged(data)
    if type(data["format"]) is not int:
        faults.add("UNKNOWN_FORMAT", META, f"format {show(data['format'])}", expected="the integer 1", kind="format")
        return None
    return meta


def _salvaged(data: dict[str, Any]) -> SubmissionMeta | None:
    name, revision = data.get("benchmark"), data.get("dataset_revision")
    if name not in NAMES or not isinstance(revision, str) or not benchmark(name).has_revision(revision):
        return None
    tool = {"name": "faulty", "version": "faulty"}
    rest = dict.fromkeys(("model", "revision", "organisation", "licence", "contact"), "faulty")
    tools = {role: tool for role in ("labels", "judge") if role in data}
    known = {"format": 1, "benchmark": name, "dataset_revision": revision, "generation": {}}
    meta = SubmissionMeta.model_validate(known | rest | tools)
    others = data.get("other_judges")
    named = [entry["name"] for entry in others if _is_named(entry)] if isinstance(others, list) else []
    return meta.model_copy(update={"other_judges": [Tool.model_construct(name=n, version="faulty") for n in named]})


def _is_named(entry: Any) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("name"), str)


def _note(detail: ErrorDetails, noted: set[tuple[str, str]], faults: Collector) -> None:
    place = [str(part) for part in detail["loc"] if part not in ("str", "int", "float", "bool")]
    where = ".".join(place[:4])
    value, kind = detail["input"], detail["type"]
    name = f"field {show(where)}"
    matrix = place[0] == "label_error"
    nested = Tool if not matrix else LabelError if len(place) < 3 else Confusion
    fields = list((SubmissionMeta if len(place) < 2 else nested).model_fields)
    if kind == "missing":
        code, what, expected = "MISSING_FIELD", f"no {name}", "every required field"
    elif kind == "extra_forbidden":
        code, what, expected = "UNKNOWN_FIELD", f"{name}{did_you_mean(place[-1][:64], fields)}", ", ".join(fields)
    elif kind == "literal_error":
        code, expected = _CHOICES.get(where, "UNKNOWN_VALUE"), str(detail.get("ctx", {}).get("expected", ""))
        choices = expected.replace("'", "").replace(" or ", ", ").split(", ")
        what = f"{name} is {show(value)}{did_you_mean(value[:64], choices) if isinstance(value, str) else ''}"
    elif kind in _TEXT_ERRORS:
        code, what, expected = "BAD_TEXT", f"{name} is {show(value)}", "one line of 1 to 200 printable characters"
    elif matrix and kind in _SHAPES:
        said = detail["msg"].removeprefix("Value error, ")
        expected = (
            said if kind == "value_error" else "for each attribute its labels, and a row of counts for each label"
        )
        code, what = "LABEL_ERROR", f"{name} is {show(value)}"
    elif kind in _BEYOND:
        expected = "a count from 0 to 10,000,000" if matrix else "billions, from 1e-9 to 100,000"
        code, what = "VALUE_RANGE", f"{name} is {show(value)}"
    else:
        setting = (
            kind not in ("dict_type", "model_type")
            and len(place) > 1
            and (place[0] == "generation" or "settings" in place[1:3])
        )
        expected = "text, a number, true, false or null" if setting else _KINDS.get(kind, detail["msg"])
        code, what = "WRONG_TYPE", f"{name} is {show(value)}"
    if (code, where) not in noted:
        noted.add((code, where))
        faults.add(code, META, what, expected=expected, kind=where[:64])


def check_manifest(member: Member | None, limits: Limits, faults: Collector) -> Manifest | None:
    """The manifest in an optional file; None if missing, or with a fault for each problem."""
    if member is None:
        return None
    try:
        data = read_object(member, limits.meta_bytes, limits.depth)
        manifest = Manifest.model_validate(data)
    except RefusedError as refused:
        faults.refuse(refused, MANIFEST)
        return None
    except ValidationError as error:
        noted: set[str] = set()
        for detail in error.errors(include_url=False)[:SHOWN]:
            _note_of_manifest(detail, noted, faults)
        return None
    if type(data.get("format", 1)) is not int:
        faults.add("MANIFEST_INVALID", MANIFEST, f"'format' is {show(data['format'])}", expected="the integer 1")
        return None
    return manifest


def _note_of_manifest(detail: ErrorDetails, noted: set[str], faults: Collector) -> None:
    loc, kind = detail["loc"], detail["type"]
    where = ".".join(map(str, loc[:4]))
    if where in noted:
        return
    noted.add(where)
    expected = _IN_MANIFEST.get(kind, detail["msg"].removeprefix("Input should be "))
    if len(loc) > 3 and loc[2] in _SCALARS and kind.endswith("_type"):
        expected = "text, a number, true, false or null"
    what = f"no {show(where)}" if kind == "missing" else f"{show(where)} is {show(detail['input'])}"
    faults.add("MANIFEST_INVALID", MANIFEST, what, expected=expected, kind=where[:64])
