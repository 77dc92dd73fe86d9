"""Import GENRES responses in the layout that the paper's authors publish: JSONL, plain or gzip, one line per pair.

`line.py` checks each line. The five image codes of an element have no order of their own, so the image of an id
is the place of its code among the element's codes in the order of the alphabet, which does not depend on the order of
the lines. Where lines of an element are missing, its last images are the missing ones; no value depends on which.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
from pydantic import ValidationError

from fairspace.builders.genres.plan import IMAGES
from fairspace.submissions.benchmarks.genres.importing.line import Line, read_line
from fairspace.submissions.errors import UsageError
from fairspace.submissions.format.collector import Collector, RefusedError, show
from fairspace.submissions.format.faults import SubmissionError
from fairspace.submissions.format.schema import SubmissionMeta
from fairspace.submissions.format.writing import write_submission
from fairspace.submissions.reading.limits import LIMITS, Limits
from fairspace.submissions.reading.strict_json import check_values, decode, parse

_FILE_NAME = re.compile(r"(?P<model>.+)_mf_(?:cs|em|mp|ar)\.jsonl(?:\.gz)?")


def import_genres(
    files: Sequence[Path],
    out: Path,
    *,
    model: str | None = None,
    revision: str = "not stated",
    organisation: str = "not stated",
    licence: str = "not stated",
    contact: str = "not stated",
    limits: Limits = LIMITS,
) -> Path:
    """Write the responses of one model as a submission to revision `upstream`, and return its path.

    Args:
        files: the model's JSONL files, in any order; usually four, one per relational model.
        out: a new folder or zip.
        model: name of the model; from `<model>_mf_<relation>.jsonl[.gz]` if left out.
        revision: version of the model, for `submission.json`, as are the next three.
        organisation: who hands the submission in.
        licence: of the responses.
        contact: where questions can be asked.
        limits: how much is read.

    Errors: SubmissionError with every fault (file, line, what was found, what the layout has); UsageError if a file is
    missing, if the files' names give no model or several, or if there is something at `out`.
    """
    paths = [Path(file) for file in files]
    missing = [path for path in paths if not path.is_file()]
    if missing or not paths:
        raise UsageError(f"There is no file {missing[0]}." if missing else "Name at least one JSONL file.")
    name = model or _model(paths)
    faults = Collector(limits.faults)
    lines = [line for path in paths for line in _read(path, limits, faults)]
    rows = _rows(lines, faults)
    if not rows and not faults.all():
        faults.add("EMPTY_SUBMISSION", ", ".join(path.name for path in paths), "no line", expected="one line per pair")
    if faults.all():
        raise SubmissionError(list(faults.all()))
    try:
        meta = SubmissionMeta(
            format=1,
            benchmark="genres",
            dataset_revision="upstream",
            model=name,
            revision=revision,
            organisation=organisation,
            licence=licence,
            contact=contact,
            generation={},
        )
    except ValidationError as error:
        problem = error.errors()[0]
        raise UsageError(
            f"{problem['loc'][0]} {show(problem['input'])} does not fit submission.json: {problem['msg']}."
        ) from error
    return write_submission(Path(out), meta, {"responses": pa.Table.from_pylist(rows)})


def _model(paths: Sequence[Path]) -> str:
    """The model that all file names start with."""
    models = {match["model"] if (match := _FILE_NAME.fullmatch(path.name)) else "" for path in paths}
    if "" in models or len(models) > 1:
        names = ", ".join(path.name for path in paths)
        raise UsageError(f"The names {names} do not give one model (<model>_mf_<cs|em|mp|ar>.jsonl); name it: --model.")
    return models.pop()


def _read(path: Path, limits: Limits, faults: Collector) -> Iterator[Line]:
    """The good lines of one file; what is wrong with the others is noted."""
    for number, data in _lines(path, limits, faults):
        place = f"line {number}"
        try:
            row = parse(decode(data), limits.depth)
            check_values(row)
            if type(row) is not dict:
                raise RefusedError("NOT_AN_OBJECT", f"found {show(row)}", "an object with the layout's fields")
            yield read_line(row, (path.name, place))
        except RefusedError as refused:
            faults.refuse(refused, path.name, place)


def _lines(path: Path, limits: Limits, faults: Collector) -> Iterator[tuple[int, bytes]]:
    """The numbered lines of a plain or gzip file, in bounded memory."""
    try:
        with path.open("rb") as raw:
            packed = raw.read(2) == b"\x1f\x8b"
        with closing(gzip.open(path) if packed else path.open("rb")) as stream:
            number = size = 0
            while data := stream.readline(limits.row_bytes + 1):
                number, size = number + 1, size + len(data)
                if len(data) > limits.row_bytes:
                    most = f"at most {limits.row_bytes:,} bytes"
                    faults.add("ROW_TOO_LONG", path.name, "a longer line", expected=most, place=f"line {number}")
                    return
                if size > limits.member_bytes:
                    most = f"at most {limits.member_bytes:,} bytes"
                    faults.add("TOO_LARGE", path.name, "more bytes", expected=most, place=f"line {number}")
                    return
                yield number, data.removesuffix(b"\n").removesuffix(b"\r")
    except (OSError, EOFError, zlib.error) as error:
        faults.add("UNREADABLE_FILE", path.name, str(error)[:200], expected="a whole JSONL file, plain or gzip")


def _rows(lines: Sequence[Line], faults: Collector) -> list[dict[str, Any]]:
    """The submission's rows; repeated pairs and a sixth image of an element are noted."""
    codes: dict[str, set[str]] = {}
    kept = []
    for line in lines:
        seen = codes.setdefault(line.element, set())
        file, place = line.where
        if line.code in seen:
            what = f"{line.element}, image {line.code}, again"
            faults.add("DUPLICATE_ID", file, what, expected="every pair once", place=place)
        elif len(seen) == IMAGES:
            what = f"image {line.code}, beside {', '.join(sorted(seen))} of {line.element}"
            faults.add("LAYOUT_IMAGE", file, what, expected=f"{IMAGES} images per element", place=place)
        else:
            seen.add(line.code)
            kept.append(line)
    rank = {(element, code): i for element, of_element in codes.items() for i, code in enumerate(sorted(of_element))}
    return [
        {
            "task": "narrative",
            "id": f"{line.element}/{rank[line.element, line.code]}",
            "sample": 0,
            "response": line.response,
            "names": line.names,
        }
        for line in kept
    ]
