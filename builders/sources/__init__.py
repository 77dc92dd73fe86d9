"""The sources that a person must obtain: description, address, place in the source folder; and their text files.

One module per layout reads it; `SOURCES` lists them for `fairspace build --list-sources`.
"""

import csv
import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path

from fairspace.builders.errors import BuildError


@dataclass(frozen=True)
class Source:
    """One source.

    Args:
        terms: permissions and prohibitions of the licence, in a sentence or two.
        files: patterns of the subfolder's required files; `found` looks for the first.
        redistribute: whether its images may be published again.
    """

    name: str
    title: str
    licence: str
    terms: str
    address: str
    files: tuple[str, ...]
    redistribute: bool

    def found(self, source: Path | None) -> Path | None:
        """Its folder, if it has the first of `files`; else None."""
        if source is None:
            return None
        folder = source / self.name
        return folder if any(True for _ in folder.glob(self.files[0])) else None

    def absent(self, folder: Path) -> list[str]:
        """The patterns of `files` without a file below the folder."""
        return [pattern for pattern in self.files if not any(True for _ in folder.glob(pattern))]

    @property
    def published(self) -> str:
        """A statement whether a published dataset holds its images."""
        return "yes" if self.redistribute else "no: ids, labels and boxes"

    def need(self, source: Path | None) -> Path:
        """Its folder. BuildError SOURCE_MISSING says where to get it."""
        folder = self.found(source)
        if folder is None:
            where, expected = (
                str(source / self.name if source else "--source"),
                f"{self.title} with {', '.join(self.files)}",
            )
            mend = f"obtain it from {self.address} under its terms ({self.licence}) and put it there"
            raise BuildError("SOURCE_MISSING", where, f"no {self.files[0]}", expected, mend)
        return folder


SOURCES: dict[str, Source] = {
    source.name: source
    for source in (
        Source(
            name="facet",
            title="FACET (FAirness in Computer Vision EvaluaTion)",
            licence="FACET Usage Agreement",
            terms=(
                "For research that measures or evaluates models: training on it is forbidden, and images may not be "
                "passed on. We publish ids, annotations and crop boxes, never its images."
            ),
            address="https://ai.meta.com/datasets/facet/",
            files=("annotations/annotations.csv", "**/*.jpg"),
            redistribute=False,
        ),
        Source(
            name="fairface",
            title="FairFace",
            licence="CC-BY-4.0",
            terms="May be used, changed and passed on with attribution.",
            address="https://github.com/joojs/fairface",
            files=("fairface_label_train.csv", "fairface_label_val.csv", "train/*.jpg", "val/*.jpg"),
            redistribute=True,
        ),
        Source(
            name="utkface",
            title="UTKFace",
            licence="non-commercial research only",
            terms="For non-commercial research; the copyright of the images stays with their owners. Not passed on.",
            address="https://susanqq.github.io/UTKFace/",
            files=("**/*.jpg",),
            redistribute=False,
        ),
        Source(
            name="modscan",
            title="Pictures of ModSCAN (14 persona traits, 400 each)",
            licence="MIT",
            terms="May be used, changed and passed on with the notice of the licence. Made by Stable Diffusion 2.1.",
            address="https://huggingface.co/datasets/A5hbr1ng3r/ModSCAN",
            files=("ArtLover/*.png", "*/*.png"),
            redistribute=True,
        ),
        Source(
            name="mst_e",
            title="Monk Skin Tone Examples (MST-E)",
            licence="MST-E terms (images of TONL, published by Google)",
            terms=(
                "Made to teach human annotators. Its terms are reported to forbid training machine learning models, "
                "yet the IRIS paper names it among its training images: read the terms yourself; it is off "
                "unless the user asks for it with --include mst_e. Not passed on."
            ),
            address="https://skintone.google/mste-dataset",
            files=("mst-e_image_details.csv", "**/*.jpg"),
            redistribute=False,
        ),
        Source(
            name="models",
            title="Images that models made, with their annotations (one submission per folder)",
            licence="as each model's licence says",
            terms="The user answers for them; the licence that submission.json states is printed on the card.",
            address="your own runs",
            files=("*/submission.json", "*/annotations*.parquet", "*/images*.parquet"),
            redistribute=True,
        ),
    )
}


IMAGES = (".jpg", ".jpeg", ".png")


def count_images(folder: Path) -> int:
    """The number of files below a folder that are named like images."""
    return sum(name.lower().endswith(IMAGES) for _, _, names in os.walk(folder) for name in names)


def read_image(file: Path, sha256: str = "") -> bytes:
    """The bytes of an image. BuildError SOURCE_IMAGE if it is missing, damaged, or has another hash than `sha256`."""
    from fairspace.builders.publishing.join_images import upright

    mend = "obtain the file again from the source, and build into a new folder"
    try:
        data = file.read_bytes()
        if data.startswith(b"version https://git-lfs"):
            mend = "fetch the file itself, with `git lfs pull` or `hf download`"
            raise OSError("a pointer of Git LFS instead of the image")
        if not sha256:
            upright(data)
    except (OSError, ValueError, SyntaxError) as error:
        raise BuildError("SOURCE_IMAGE", str(file), str(error), "an image that can be read", mend) from error
    if sha256 and hashlib.sha256(data).hexdigest() != sha256:
        raise BuildError("SOURCE_IMAGE", str(file), "another file than when the build began", "the same file", mend)
    return data


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


def table(file: Path, columns: Sequence[str], optional: Sequence[str] = ()) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Line number and values of the columns (two or more, '' for an absent optional one) of each row below the header.

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
    take = itemgetter(*map(names.index, columns), *(names.index(name) if name in names else -1 for name in optional))
    width = len(header)
    line = 0
    for line, row in rows:
        if len(row) != width:
            raise BuildError("SOURCE_LAYOUT", f"{file}:{line}", f"{len(row)} cells", f"{width} as in the header", AGAIN)
        yield line, take((*row, ""))
    if not line:
        raise BuildError("SOURCE_LAYOUT", f"{file}:2", "no rows", "at least one row below the header", AGAIN)


def inside(name: str, where: str) -> str:
    """A file name of a source, checked to stay inside the source's folder, else BuildError SOURCE_VALUE."""
    if "\\" in name or any(part in ("", ".", "..") for part in name.split("/")):
        raise BuildError("SOURCE_VALUE", where, f"the file name {name!r}", "a plain path inside the source", AGAIN)
    return name
