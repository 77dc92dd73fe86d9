"""Faults of a submission or of labelled answers: every code, its meaning and its remedy; and their collector.

A collector gathers all faults of one run, those of one kind in one file as one fault with a count.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    from pydantic import TypeAdapter, ValidationError


class Code(NamedTuple):
    """Meaning and remedy of one code."""

    meaning: str
    mend: str


CODES: dict[str, Code] = {
    # the folder or zip
    "NOT_A_SUBMISSION": Code("the path is neither a folder nor a zip", "hand in a folder or a .zip file"),
    "PICTURES": Code(
        "there are pictures in place of a submission",
        "label them: fairspace ares annotate FOLDER --labeller MODEL --names BENCHMARK@REVISION --out NEW; those of "
        "no benchmark with --names files, for fairspace.measure",
    ),
    "ZIP_CORRUPT": Code("the zip is damaged, truncated or inconsistent", "zip the folder again and upload it whole"),
    "ZIP_ENCRYPTED": Code("a member of the zip is encrypted", "zip without a password"),
    "ZIP_METHOD": Code("a member is neither stored nor deflated", "zip with the usual method (deflate)"),
    "ZIP_OVERLAP": Code("members of the zip share bytes", "zip the folder again with an ordinary tool"),
    "ZIP64": Code("the zip has a zip64 directory", "zip fewer or smaller files; within the limits zip64 is not needed"),
    "COMPRESSION_RATIO": Code("a member grows too much when it is read", "store it as .parquet, or in several shards"),
    "TOO_LARGE": Code("a file, or all files together, are larger than the limit", "split the table into shards"),
    "TOO_MANY_FILES": Code("more files than the limit", "use fewer shards"),
    "UNSAFE_PATH": Code("a name is absolute, has a drive, a backslash or ..", "put the files at the top level"),
    "UNSAFE_NAME": Code("a name is too long, reserved, or has control marks", "use the names of the format"),
    "DUPLICATE_FILE": Code("two members of the zip have the same name", "zip the folder again"),
    "CASE_COLLISION": Code("two names differ only in upper and lower case", "keep one of them"),
    "LINK_REFUSED": Code("an entry is a symbolic link", "replace the link by the file"),
    "NOT_A_FILE": Code("an entry is a pipe, socket or device", "remove it"),
    "NESTED_ARCHIVE": Code("an archive lies in the submission", "put its files at the top level"),
    "NESTED_FOLDER": Code("a folder lies in the submission", "put the files at the top level of the folder or zip"),
    "UNKNOWN_FILE": Code("the format has no file of this name", "write tables as .jsonl or .parquet; remove others"),
    "MISSING_FILE": Code("`submission.json` or a named file is missing", "add it, or correct its name"),
    "UNREADABLE_FILE": Code(
        "a file cannot be opened or read",
        "write a damaged file again; of a whole one, check the permissions",
    ),
    "MIXED_FORMATS": Code("one table comes as .jsonl and as .parquet", "keep one of them"),
    "SHARDS_INCOMPLETE": Code("the shards of a table are not 0 to n - 1 of n", "hand in every shard once"),
    # text and JSON
    "BROKEN_UTF8": Code("text is not UTF-8", "save it as UTF-8"),
    "BYTE_ORDER_MARK": Code("the file starts with a byte order mark", "save it as UTF-8 without a mark"),
    "NUL_IN_TEXT": Code("a text holds the character NUL", "remove it"),
    "LONE_SURROGATE": Code("a text holds half of a surrogate pair", "write the whole character"),
    "JSON_SYNTAX": Code("a line or file is not valid JSON", "use a JSON library; .jsonl has an object per line"),
    "JSON_DEPTH": Code("JSON is nested too deeply", "rows are flat; settings are flat"),
    "NOT_AN_OBJECT": Code("JSON holds something other than an object", "write an object with the named fields"),
    "DUPLICATE_FIELD": Code("an object names a field twice", "keep one"),
    "NOT_FINITE": Code("a number is NaN or infinite", "leave the value out (null)"),
    "HUGE_NUMBER": Code("a number is too large for its column", "write the number that is meant"),
    "ROW_TOO_LONG": Code("a line or text is longer than the limit", "cut the response where the protocol says"),
    "TOO_MANY_ROWS": Code("more rows than the limit", "hand in each item and sample once"),
    "TOO_MANY_FAULTY_ROWS": Code("too many faulty lines; the rest was not read", "mend the other faults first"),
    # fields and columns
    "MISSING_FIELD": Code("a required field or column is missing", "add it"),
    "UNKNOWN_FIELD": Code("the format has no field or column of this name", "rename or remove it"),
    "WRONG_TYPE": Code("a value has the wrong type", "write the type that is named"),
    "NULL_VALUE": Code("a required value is null", "fill it in, or leave the row out"),
    "BAD_TEXT": Code("a text is empty, too long, or has control marks", "write one plain line"),
    "LOOK_ALIKE_NAME": Code(
        "a name has unseen characters, letters of two scripts in a word, or looks like that of another row",
        "write it in the letters of one script; the same model has the same name, to the letter",
    ),
    "NAME_TAKEN": Code(
        "a name is ours, or that of a printed model or of its organisation",
        "add the version that was run, or hand it in for the organisation that owns the model",
    ),
    "PARQUET_CORRUPT": Code("the Parquet file is damaged, truncated or encrypted", "write it again"),
    # submission.json
    "UNKNOWN_FORMAT": Code("this software does not read this version of the format", "write 1"),
    "UNKNOWN_BENCHMARK": Code("`benchmark` names no benchmark", "write one of the names"),
    "WRONG_BENCHMARK": Code("`benchmark` is not that of the rows", "name the benchmark whose tasks were run"),
    "UNKNOWN_REVISION": Code("the dataset has no such revision", "name the revision whose items were run"),
    "UNKNOWN_VALUE": Code("a field of `submission.json` has a value that is not allowed", "write one of those named"),
    "MISSING_LABELS": Code("annotations without `labels`", "name the labeller and its version in `labels`"),
    "MISSING_JUDGE": Code("judgements without `judge`", "name the judge model and its version in `judge`"),
    "DUPLICATE_JUDGE": Code("two judges have the same name", "give each judge its own name, or leave one out"),
    "BASELINE_NOT_ALLOWED": Code("`baseline` is set", "remove it; only `fairspace baseline` sets it"),
    "IMAGES_NOT_ALLOWED": Code("images, where annotations are expected", "label them first: fairspace ares annotate"),
    "IMAGES_AND_ANNOTATIONS": Code("both images and annotations", "hand in one of the two"),
    "LABELS_NOT_ALLOWED": Code("`labels` or `label_error` beside images, which are labelled later", "remove the field"),
    "LABEL_ERROR": Code(
        "a matrix of `label_error` does not fit its attribute, or there are no annotations",
        "write k rows of k counts for k labels; remove it where nothing is labelled",
    ),
    "EMPTY_SUBMISSION": Code("there is no row at all", "add the rows of at least one task"),
    "UNEXPECTED_TABLE": Code("the benchmark has no such table", "remove the file"),
    # manifest.json
    "MANIFEST_INVALID": Code(
        "a field of `manifest.json` is missing, unknown or not what it should be",
        "hand it in as `fairspace run` wrote it, or leave the file out",
    ),
    # rows
    "UNKNOWN_TASK": Code("the benchmark has no such task", "write a task's name"),
    "WRONG_TABLE": Code("the task's rows belong in another table", "move the rows, or leave them out"),
    "UNKNOWN_ID": Code("the task has no such item", "copy the ids that `fairspace items` writes"),
    "SAMPLE_RANGE": Code("`sample` is outside 0 to samples - 1", "number the samples of an item from 0"),
    "DUPLICATE_ID": Code("a key (task, id, sample, face or judge) occurs twice", "keep the first answer"),
    "DUPLICATE_IMAGE": Code("two samples of one prompt are the same image", "draw each sample by a seed of its own"),
    "UNKNOWN_JUDGE": Code("`other_judges` does not list the `judge` of a row", "name the judge there, or write null"),
    "FACE_RANGE": Code("`face` is negative or beyond the limit", "number the faces of an image from 0"),
    "FACE_COUNT": Code("`faces` is not the number of the image's rows", "hand in every face that was found"),
    "FACES_MISSING": Code("fact_or_fair counts every face, and `faces` is null", "say how many faces were found"),
    "FACE_GAP": Code("the faces of an image are not 0, 1, 2, ...", "hand in every face that was found"),
    "VOCABULARY": Code("a label is outside the closed vocabulary", "map the labeller's words; null for none"),
    "VALUE_RANGE": Code("a number is outside its range", "scale it, or leave it out (null) where it is not known"),
    "LABELS_WITHOUT_OK": Code("labels in a row whose status is not ok", "remove the labels, or set status ok"),
    "OK_WITHOUT_LABELS": Code("status ok without any label", "write status abstained"),
    "NOT_ANNOTATED": Code("people's labels of an image or face that is not handed in", "hand it in, or drop the row"),
    "STATUS_CONFLICT": Code("no_face, unreadable or refused beside other faces", "keep the faces or that one row"),
    "IMAGE_HASH": Code("`sha256` is no SHA-256", "write the sha256 of the image's bytes, 64 digits in lower case"),
    "NAMES_NOT_ALLOWED": Code("`names` outside revision `upstream` of genres", "leave the column out"),
    "NAMES_MISSING": Code("`names` missing in revision `upstream` of genres", "write First|Second as in the prompt"),
    "INVALID_NAMES": Code("`names` are not one woman's and one man's name", "copy both from the prompt, e.g. A|B"),
    # the authors' layout of GENRES (fairspace import genres)
    "LAYOUT_IMAGE": Code("an image code is malformed, a sixth, or not in the file name", "mend or drop the line"),
    "LAYOUT_PROMPT": Code("a line's prompt does not have its names or its plot", "copy the line's own prompt"),
}


@dataclass(frozen=True)
class Fault:
    """One fault of a submission.

    Args:
        code: Stable code in upper case, for example `UNKNOWN_ID`; listed in `CODES`.
        where: File and line, or task and id.
        count: Number of rows with this fault (only the first is shown).
    """

    code: str
    where: str
    what: str
    expected: str
    mend: str
    count: int = 1

    def __str__(self) -> str:
        more = f" (and {self.count - 1} more)" if self.count > 1 else ""
        return f"{self.code} at {self.where}: {self.what}{more}. Expected: {self.expected}. Mend: {self.mend}"

    def to_json(self) -> dict[str, str | int]:
        """The fault as JSON data."""
        return asdict(self)


class SubmissionError(Exception):
    """A submission that cannot be scored, or labelled answers that cannot be read; `faults` has all reasons."""

    def __init__(self, faults: list[Fault]):
        super().__init__("\n".join(map(str, faults)))
        self.faults = faults


Record = TypeVar("Record")


class RefusedError(ValueError):
    """Refusal of a file or a row, with the code of the reason."""

    def __init__(self, code: str, what: str, expected: str):
        super().__init__(what)
        self.code, self.what, self.expected = code, what, expected


@dataclass
class Collector:
    """The faults so far, at most `bound` of them: file by file in the order of reading, each by line or row."""

    bound: int
    left_out: int = 0
    passed_over: list[str] = field(default_factory=list)
    """Files and columns that were not read, and why, for a note."""
    _faults: dict[tuple[str, str, str], Fault] = field(default_factory=dict)
    _counts: dict[tuple[str, str, str], int] = field(default_factory=dict)

    def add(
        self,
        code: str,
        file: str,
        what: str | Callable[[], str],
        *,
        expected: str,
        place: str = "",
        kind: str = "",
        count: int = 1,
    ) -> None:
        """Note a fault; faults of one code, file and kind are one.

        Args:
            code: Code in `CODES`.
            file: File, safe to print.
            what: Finding; a function is called for the first place alone.
            expected: Requirement of the format.
            place: Place in the file, for example `line 3`.
            kind: Distinction among faults of one code, for example the column.
            count: Number of rows with it.
        """
        key = (code, file, kind)
        if key in self._faults:
            self._counts[key] += count
        elif len(self._faults) < self.bound:
            where = f"{file} {place}" if place else file
            text = what if isinstance(what, str) else what()
            self._faults[key] = Fault(code, where, text, expected, CODES[code].mend)
            self._counts[key] = count
        else:
            self.left_out += 1

    def refuse(self, refused: RefusedError, file: str, place: str = "") -> None:
        """Note an exception as a fault."""
        self.add(refused.code, file, refused.what, expected=refused.expected, place=place)

    def all(self) -> tuple[Fault, ...]:
        """The faults so far; within a file, those without a line come first."""
        files = {file: place for place, file in enumerate(dict.fromkeys(file for _, file, _ in self._faults))}
        ordered = sorted(self._faults.items(), key=lambda entry: (files[entry[0][1]], _line(entry[1].where)))
        return tuple(replace(fault, count=self._counts[key]) for key, fault in ordered)


def _line(where: str) -> int:
    """The line or row in a place's name; 0 without one."""
    match = re.search(r" (?:line|row) (\d+)", where)
    return int(match[1]) if match else 0


def show(text: object, length: int = 80) -> str:
    """Any value, quoted and shortened; control characters, bidi marks and half surrogates are escaped."""
    shown = repr(text[: length + 1] if isinstance(text, str) else text)
    return shown if len(shown) <= length + 2 else shown[:length] + "...'"


def first(error: ValidationError) -> str:
    """The first part of a record that does not fit, and its place."""
    detail = error.errors(include_url=False)[0]
    place = ".".join(map(str, detail["loc"][:4]))
    return f"{show(place, 60)} {show(detail['input'], 60)}: {detail['msg']}"


def validated(kind: TypeAdapter[Record], data: Any, what: str) -> Record:
    """JSON data as a record. ValueError names the first part that does not fit; `what` says what the data are."""
    from pydantic import ValidationError  # late, for a quick start of the command

    try:
        return kind.validate_python(data)
    except ValidationError as error:
        raise ValueError(f"{what}: {first(error)}") from error
