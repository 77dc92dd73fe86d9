"""Whether `manifest.json` is what the format asks for, with one fault per problem."""

from __future__ import annotations

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from fairspace.submissions.format.collector import Collector, RefusedError, show
from fairspace.submissions.format.manifest import ENTRIES, STAGES, Manifest
from fairspace.submissions.reading.limits import Limits
from fairspace.submissions.reading.members import Member
from fairspace.submissions.reading.tables import MANIFEST, read_object

SHOWN = 1_000
"""Details that are turned into faults."""
_EXPECTED = {
    "missing": "every required field",
    "extra_forbidden": "the fields of manifest.json alone",
    "string_pattern_mismatch": "one plain line, in the form that FORMAT.md shows",
    "string_too_short": "one plain line",
    "string_too_long": "one plain line of at most 200 characters (1,000 in settings)",
    "too_long": f"at most {STAGES} stages, and {ENTRIES} entries of a list or an object",
}
_SCALARS = ("settings", "hardware")
"""Fields of a stage whose values may have several types."""


def check_manifest(member: Member | None, limits: Limits, faults: Collector) -> Manifest | None:
    """The manifest in a file, which need not be there; None with a fault for each problem where it is none."""
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
            _note(detail, noted, faults)
        return None
    if type(data.get("format", 1)) is not int:
        faults.add("MANIFEST_INVALID", MANIFEST, f"'format' is {show(data['format'])}", expected="the integer 1")
        return None
    return manifest


def _note(detail: ErrorDetails, noted: set[str], faults: Collector) -> None:
    """One fault for a place, though a setting that has none of its types has a detail for each of them."""
    loc, kind = detail["loc"], detail["type"]
    where = ".".join(map(str, loc[:4]))
    if where in noted:
        return
    noted.add(where)
    expected = _EXPECTED.get(kind, detail["msg"].removeprefix("Input should be "))
    if len(loc) > 3 and loc[2] in _SCALARS and kind.endswith("_type"):
        expected = "text, a number, true, false or null"
    what = f"no {show(where)}" if kind == "missing" else f"{show(where)} is {show(detail['input'])}"
    faults.add("MANIFEST_INVALID", MANIFEST, what, expected=expected, kind=where[:64])
