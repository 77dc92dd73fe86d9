"""Reading the text files of sources (UTF-8, with or without a byte order mark), one line in memory at a time."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from operator import itemgetter
from pathlib import Path

from fairspace.builders.errors import BuildError

AGAIN = "take the file from the source again and do not save it with a spreadsheet program"


def lines(file: Path) -> Iterator[str]:
    """The lines of a text file. BuildError SOURCE_MISSING without the file, SOURCE_LAYOUT if it is not UTF-8 text."""
    number = 0
    try:
        with file.open("rb") as stream:
            for number, line in enumerate(stream, start=1):
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
                if "\0" in text:
                    raise BuildError("SOURCE_LAYOUT", f"{file}:{number}", "a NUL character", "text", AGAIN)
                yield text
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError) as error:
        raise BuildError("SOURCE_MISSING", str(file), "no such file", file.name, "obtain the file") from error
    except UnicodeDecodeError as error:
        what = f"the byte {error.object[error.start]:#04x} at column {error.start + 1}"
        raise BuildError("SOURCE_LAYOUT", f"{file}:{number}", what, "UTF-8 text", AGAIN) from error


def cells(file: Path) -> Iterator[tuple[int, list[str]]]:
    """Line number and cells of each row of a comma-separated file; empty lines are left out.

    A row with quoted line breaks has its last line's number. Errors: as `lines`, and SOURCE_LAYOUT for open quotes.
    """
    reader = csv.reader(lines(file), strict=True)
    try:
        for row in reader:
            if row:
                yield reader.line_num, row
    except csv.Error as error:
        where = f"{file}:{reader.line_num}"
        raise BuildError("SOURCE_LAYOUT", where, str(error), "comma-separated values", AGAIN) from error


def table(file: Path, columns: Sequence[str]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Line number and values of the named columns (two or more, in any order) of each row below the header.

    Errors: as `cells`, and SOURCE_LAYOUT for an empty file, a missing or repeated column, a row of another length than
    the header, or no rows.
    """
    rows = cells(file)
    line, header = next(rows, (1, []))
    names = [name.strip() for name in header]
    missing = [column for column in columns if names.count(column) != 1]
    if missing:
        twice = [column for column in missing if column in names]
        what = f"{twice[0]} twice" if twice else f"no column {', '.join(missing)}" if header else "an empty file"
        raise BuildError("SOURCE_LAYOUT", f"{file}:{line}", what, f"the columns {', '.join(columns)}", AGAIN)
    take = itemgetter(*(names.index(column) for column in columns))
    width = len(header)
    line = 0
    for line, row in rows:
        if len(row) != width:
            raise BuildError("SOURCE_LAYOUT", f"{file}:{line}", f"{len(row)} cells", f"{width} as in the header", AGAIN)
        yield line, take(row)
    if not line:
        raise BuildError("SOURCE_LAYOUT", f"{file}:2", "no rows", "at least one row below the header", AGAIN)


def inside(name: str, where: str) -> str:
    """A file name of a source, checked to stay inside the source's folder, else BuildError SOURCE_VALUE."""
    if "\\" in name or any(part in ("", ".", "..") for part in name.split("/")):
        raise BuildError("SOURCE_VALUE", where, f"the file name {name!r}", "a plain path inside the source", AGAIN)
    return name
