"""Import GENRES responses in the layout that the paper's authors publish: JSONL, plain or gzip, one line per pair.

A line names its element and a code of four hexadecimal digits from its image's file name. An id's image number is the
place of its code among the element's sorted codes. Of an incomplete element the last images are the missing ones.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
from pydantic import ValidationError

from fairspace.builders.genres.plan import AGES, IMAGES, NAMES, RELATION_NAMES, Element, load_elements
from fairspace.submissions.errors import UsageError, did_you_mean
from fairspace.submissions.format.collector import Collector, RefusedError, show
from fairspace.submissions.format.faults import SubmissionError
from fairspace.submissions.format.schema import SubmissionMeta
from fairspace.submissions.format.writing import write_submission
from fairspace.submissions.reading.limits import LIMITS, Limits
from fairspace.submissions.reading.tables import check_values, decode, parse

FIELDS: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("relationship", "age", "text_prompt", "image_code", "image_name"), (str,)),
    **dict.fromkeys(("relationship_group", "scenario_index"), (int,)),
    "names": (list,),
    "response": (str, type(None)),
}
STATED = ("revision", "organisation", "licence", "contact")
"""Optional fields of `submission.json` beside the model's name."""
_TYPES = {str: "a text", int: "an integer", list: "a list", type(None): "null"}
_FILE_NAME = re.compile(r"(?P<model>.+)_mf_(?:cs|em|mp|ar)\.jsonl(?:\.gz)?")
_CODE = re.compile(r"[0-9A-F]{4}")
_CONFLICT = "around a conflict or disagreement"


class Line(NamedTuple):
    """Used parts of one line (element and image code, names, response), its file and its place."""

    element: str
    code: str
    names: str
    response: str | None
    file: str
    place: str


def import_genres(
    files: Sequence[Path], out: Path, *, model: str | None = None, limits: Limits = LIMITS, **stated: str
) -> Path:
    """Write the responses of one model as a submission to revision `upstream`, and return its path.

    `files` are the model's JSONL files, usually four, one per relational model; `out` is a new folder or zip. `model`
    is by default the one of `<model>_mf_<relation>.jsonl[.gz]`; `stated` are fields of `STATED`, else "not stated".

    Errors: SubmissionError with every fault (file, line, what was found, what the layout has); UsageError if a file is
    missing, if the files' names give no model or several, or if there is something at `out`.
    """
    paths = [Path(file) for file in files]
    missing = [path for path in paths if not path.is_file()]
    if missing or not paths:
        raise UsageError(f"There is no file {missing[0]}." if missing else "Name at least one JSONL file.")
    about = {"model": model or _model(paths), **dict.fromkeys(STATED, "not stated"), **stated}
    faults = Collector(limits.faults)
    rows = _rows([line for path in paths for line in _read(path, limits, faults)], faults)
    if not rows and not faults.all():
        faults.add("EMPTY_SUBMISSION", ", ".join(path.name for path in paths), "no line", expected="one line per pair")
    if faults.all():
        raise SubmissionError(list(faults.all()))
    try:
        meta = SubmissionMeta.model_validate(
            {"format": 1, "benchmark": "genres", "dataset_revision": "upstream", "generation": {}, **about}
        )
    except ValidationError as error:
        problem = error.errors()[0]
        what = f"{problem['loc'][0]} {show(problem['input'])} does not fit submission.json: {problem['msg']}"
        raise UsageError(f"{what}.") from error
    return write_submission(Path(out), meta, {"responses": pa.Table.from_pylist(rows)})


def _model(paths: Sequence[Path]) -> str:
    models = {match["model"] if (match := _FILE_NAME.fullmatch(path.name)) else "" for path in paths}
    if "" in models or len(models) > 1:
        names = ", ".join(path.name for path in paths)
        raise UsageError(
            f"The names {names} do not give one model (<model>_mf_<cs|em|mp|ar>.jsonl); name it: --about model=NAME."
        )
    return models.pop()


def _read(path: Path, limits: Limits, faults: Collector) -> Iterator[Line]:
    try:
        with path.open("rb") as raw:
            packed = raw.read(2) == b"\x1f\x8b"
        with closing(gzip.open(path) if packed else path.open("rb")) as stream:
            number = size = 0
            while data := stream.readline(limits.row_bytes + 1):
                number, size = number + 1, size + len(data)
                place = f"line {number}"
                for code, count, most, unit in (
                    ("ROW_TOO_LONG", len(data), limits.row_bytes, "bytes"),
                    ("TOO_LARGE", size, limits.member_bytes, "bytes"),
                    ("TOO_MANY_ROWS", number, limits.faulty_rows, "lines"),
                ):
                    if count > most:
                        faults.add(code, path.name, f"more {unit}", expected=f"at most {most:,} {unit}", place=place)
                        return
                try:
                    row = parse(decode(data), limits.depth)
                    check_values(row)
                    yield Line(*_read_row(row), path.name, place)
                except RefusedError as refused:
                    faults.refuse(refused, path.name, place)
    except (OSError, EOFError, zlib.error) as error:
        faults.add("UNREADABLE_FILE", path.name, str(error)[:200], expected="a whole JSONL file, plain or gzip")


def _read_row(row: Any) -> tuple[str, str, str, str | None]:
    """Element, image code, names and response of a line, checked. RefusedError says what is wrong."""
    if type(row) is not dict:
        raise RefusedError("NOT_AN_OBJECT", f"found {show(row)}", "an object with the layout's fields")
    for field, kinds in FIELDS.items():
        if field not in row:
            near = did_you_mean(field, [key[:64] for key in row if key not in FIELDS])
            raise RefusedError("MISSING_FIELD", f"no {field!r}{near}", f"the fields {', '.join(FIELDS)}")
        if type(row[field]) not in kinds:
            expected = " or ".join(_TYPES[kind] for kind in kinds)
            raise RefusedError("WRONG_TYPE", f"{field} is {show(row[field])}", f"{field}: {expected}")
    element, names, code = _element(row), row["names"], row["image_code"]
    if not _CODE.fullmatch(code):
        raise RefusedError("LAYOUT_IMAGE", f"image_code {show(code)}", "four hexadecimal digits in capitals")
    cell = f"{element.relation}_{element.age}_group{element.relationship}_scenario{element.scenario}"
    if row["image_name"] != f"mf_{cell}_{code}.png":
        raise RefusedError("LAYOUT_IMAGE", f"image_name {show(row['image_name'])}", f"mf_{cell}_{code}.png")
    if len(names) != 2 or any(sum(name in known for name in names) != 1 for known in NAMES.values()):
        raise RefusedError("INVALID_NAMES", f"names {show(names)}", "one woman's and one man's name of Table 9")
    if f"two characters, {names[0]} and {names[1]}," not in row["text_prompt"]:
        what = f"names {names[0]}, {names[1]}, which the prompt has not in this order"
        raise RefusedError("LAYOUT_PROMPT", what, "the names of text_prompt, in its order")
    return element.id, code, "|".join(names), row["response"]


def _element(row: dict[str, Any]) -> Element:
    for field, words in (("relationship", [*RELATION_NAMES.values()]), ("age", [*AGES.values()])):
        if row[field] not in words:
            near = did_you_mean(row[field][:64], words)
            raise RefusedError("VOCABULARY", f"{field} {show(row[field])}{near}", f"one of: {', '.join(words)}")
    element = _elements().get((row["relationship"], row["age"], row["relationship_group"], row["scenario_index"]))
    if element is None:
        where = f"group {row['relationship_group']}, scenario {row['scenario_index']} of {row['relationship']}"
        groups = "groups 0-2 and scenarios 0-7 (communal sharing); groups 0-17, six per age, and scenarios 0-3 (others)"
        raise RefusedError("UNKNOWN_ID", f"{where} {row['age']}", groups)
    if (element.plot == "conflict") != (_CONFLICT in row["text_prompt"]):
        raise RefusedError("LAYOUT_PROMPT", f"{element.id} without a prompt for its plot", f"a {element.plot} prompt")
    return element


@lru_cache
def _elements() -> dict[tuple[str, str, int, int], Element]:
    return {(RELATION_NAMES[e.relation], AGES[e.age], e.relationship, e.scenario): e for e in load_elements()}


def _rows(lines: Sequence[Line], faults: Collector) -> list[dict[str, Any]]:
    codes: dict[str, set[str]] = {}
    kept = []
    for line in lines:
        seen = codes.setdefault(line.element, set())
        if line.code in seen:
            what = f"{line.element}, image {line.code}, again"
            faults.add("DUPLICATE_ID", line.file, what, expected="every pair once", place=line.place)
        elif len(seen) == IMAGES:
            what = f"image {line.code}, beside {', '.join(sorted(seen))} of {line.element}"
            faults.add("LAYOUT_IMAGE", line.file, what, expected=f"{IMAGES} images per element", place=line.place)
        else:
            seen.add(line.code)
            kept.append(line)
    ids = {(element, code): f"{element}/{i}" for element, of in codes.items() for i, code in enumerate(sorted(of))}
    keys = ({"task": "narrative", "id": ids[line.element, line.code], "sample": 0} for line in kept)
    return [key | {"response": line.response, "names": line.names} for key, line in zip(keys, kept, strict=True)]
