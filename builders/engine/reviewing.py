"""Review of labels by two people: forms that each fills in alone, and what they say of every label together.

A form asks for what an image shows and does not say what the dataset holds, so that a reviewer cannot just agree. The
two forms have the same images in different orders. A label is *confirmed* if both name it, *disputed* if one does, and
*failed* if none does.
"""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from fairspace.builders.engine.agreement import Kappa, cohens_kappa, crossed
from fairspace.builders.engine.build import read_manifest, write_atomically
from fairspace.builders.engine.dataset import Manifest
from fairspace.builders.engine.review import labelled_rows, spread
from fairspace.builders.engine.reviews import VERDICTS
from fairspace.builders.errors import BuildError

HEADER = ("id", "seed", "image", "column", "question", "options", "answer")
CANNOT = "cannot tell"
"""An answer to every question; it names no label."""
REVIEWERS = (1, 2)
Questions = Mapping[str, Mapping[str, str]]
"""Config -> column that a metric takes as the truth -> question; one with `{label}` is answered with yes or no."""
Form = Mapping[tuple[str, str], tuple[str, str]]
"""(id, column) -> seed as text, answer."""


@dataclass(frozen=True)
class Label:
    """A label of an image: its column, what is asked, the answers to choose from, and what the dataset holds."""

    column: str
    question: str
    options: tuple[str, ...]
    expected: str


@dataclass(frozen=True)
class Reviewed:
    """An image with its labels.

    Args:
        id: of its row.
        seed: that it was made with; None of an image of a source.
        image: the file's bytes.
        labels: those that reviewers are asked about.
    """

    id: str
    seed: int | None
    image: bytes
    labels: tuple[Label, ...]


@dataclass(frozen=True)
class Outcome:
    """What two reviewers say of an image: columns that are confirmed, disputed and failed."""

    id: str
    seed: int | None
    confirmed: tuple[str, ...]
    disputed: tuple[str, ...]
    failed: tuple[str, ...]

    def dumps(self) -> str:
        """A line of JSON."""
        return json.dumps({**self.__dict__}, ensure_ascii=False)


@dataclass(frozen=True)
class ColumnAgreement:
    """How two reviewers agree on a column, and how often they name the dataset's label: both, one, none."""

    column: str
    kappa: Kappa
    confirmed: int
    disputed: int
    failed: int


def write_forms(built: Path, questions: Questions, out: Path, *, images: int = 200) -> list[Path]:
    """Write `reviewer-1.csv`, `reviewer-2.csv` and the images that they ask about.

    Args:
        built: a finished build.
        questions: of its dataset.
        out: a new or empty folder.
        images: at most so many of each config, spread evenly over the labels by the hash of their ids.

    Returns: the two forms.

    Errors: BuildError OUT_IN_USE, BUILD_INCOMPLETE; REVIEW_INVALID if no row has an image and labels.
    """
    manifest = read_manifest(built)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise BuildError("OUT_IN_USE", str(out), "it is not empty", "a new folder", "name another --out")
    shown = list(_images(built, manifest, questions, images))
    if not shown:
        mend = "build it with the tools that make its images, and review that"
        raise BuildError("REVIEW_INVALID", str(built), "no image with labels", "images to review", mend)
    (out / "images").mkdir(parents=True)
    for image in shown:
        (out / _file(image)).write_bytes(image.image)
    return [_write_form(out / f"reviewer-{reviewer}.csv", reviewer, shown) for reviewer in REVIEWERS]


def agree(built: Path, questions: Questions, first: Path, second: Path) -> tuple[list[ColumnAgreement], list[Outcome]]:
    """What two filled-in forms say of a build: agreement by column, and what becomes of each image.

    Only labels that both answered count.

    Errors: BuildError REVIEW_INVALID with file and line for a form that does not fit the build, or for one form twice.
    """
    if first.resolve() == second.resolve():
        raise BuildError("REVIEW_INVALID", str(first), "one form twice", "two reviewers' forms", "name both")
    manifest = read_manifest(built)
    forms = [_read_form(file) for file in (first, second)]
    known = {image.id: image for image in _images(built, manifest, questions, None, {name for name, _ in forms[0]})}
    answers: dict[str, tuple[list[str], list[str], list[str]]] = {}
    outcomes: dict[str, dict[str, list[str]]] = {}
    for (name, column), (seed, answer) in forms[0].items():
        label = _label(first, known, name, column, seed, answer)
        other_seed, other = forms[1].get((name, column), (seed, ""))
        _label(second, known, name, column, other_seed, other)
        if not answer or not other:
            continue
        verdict = VERDICTS[2 - [answer, other].count(label.expected)]
        outcomes.setdefault(name, {}).setdefault(verdict, []).append(column)
        for values, value in zip(answers.setdefault(column, ([], [], [])), (answer, other, verdict), strict=True):
            values.append(value)
    columns = [
        ColumnAgreement(column, cohens_kappa(crossed(one, two)[1]), *map(verdicts.count, VERDICTS))
        for column, (one, two, verdicts) in answers.items()
    ]
    return columns, [
        Outcome(
            name, known[name].seed, *(tuple(said.get(verdict, ())) for verdict in ("confirmed", "disputed", "failed"))
        )
        for name, said in sorted(outcomes.items())
    ]


def write_outcomes(file: Path, outcomes: Sequence[Outcome]) -> None:
    """Write what `fairspace build --reviewed` reads: a line of JSON for each image."""
    write_atomically(file, "".join(f"{outcome.dumps()}\n" for outcome in outcomes))


def _images(
    built: Path, manifest: Manifest, questions: Questions, most: int | None, names: set[str] | None = None
) -> Iterator[Reviewed]:
    """The images to review: at most so many of each config, or those of the names."""
    from datasets import Features

    for split in manifest.splits:
        asked = questions.get(split.config, {})
        files = [built / shard.file for shard in split.shards]
        if not asked or not files:
            continue
        features = Features.from_arrow_schema(pq.read_schema(files[0]))
        labels = [name for name, feature in features.items() if type(feature).__name__ == "ClassLabel"]
        rows = labelled_rows(files, ["image"], labels)
        wanted = [row for row in rows if row.id in names] if names is not None else spread(rows, most or 0)
        for row in sorted(wanted, key=lambda row: row.id):
            with pq.ParquetFile(files[row.shard]) as file:
                table = file.read_row_group(row.row_group, columns=["id", "image", "seed", *asked])
            values = table.slice(row.row, 1).to_pylist()[0]
            yield Reviewed(row.id, values["seed"], values["image"]["bytes"], _labels(asked, features, values))


def _labels(asked: Mapping[str, str], features: Any, values: Mapping[str, Any]) -> tuple[Label, ...]:
    labels = []
    for column, question in asked.items():
        if values[column] is None:
            continue
        name = features[column].names[values[column]]
        if "{label}" in question:
            labels.append(Label(column, question.format(label=name.replace("_", " ")), ("yes", "no"), "yes"))
        else:
            labels.append(Label(column, question, tuple(features[column].names), name))
    return tuple(labels)


def _file(image: Reviewed) -> str:
    return f"images/{image.id.replace('/', '-')}.jpg"


def _write_form(file: Path, reviewer: int, shown: Sequence[Reviewed]) -> Path:
    """A reviewer's form: the images in an order of its own, the questions of an image together."""
    order = sorted(shown, key=lambda image: hashlib.sha256(f"{reviewer}/{image.id}".encode()).digest())
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(HEADER)
        for image in order:
            seed = "" if image.seed is None else str(image.seed)
            for label in image.labels:
                options = "; ".join([*label.options, CANNOT])
                writer.writerow([image.id, seed, _file(image), label.column, label.question, options, ""])
    return file


def _read_form(file: Path) -> Form:
    mend = "fill in the column `answer` of a form that `fairspace review forms` wrote, and leave the others as they are"
    try:
        with file.open(encoding="utf-8-sig", newline="") as stream:
            lines = list(csv.reader(stream))
    except (OSError, ValueError, csv.Error) as error:
        raise BuildError("REVIEW_INVALID", str(file), str(error), "a form as CSV", mend) from error
    if not lines or tuple(lines[0]) != HEADER:
        found = ", ".join(lines[0]) if lines else "nothing"
        raise BuildError("REVIEW_INVALID", f"{file}:1", found[:200], ", ".join(HEADER), mend)
    form: dict[tuple[str, str], tuple[str, str]] = {}
    for number, line in enumerate(lines[1:], 2):
        if len(line) != len(HEADER):
            raise BuildError("REVIEW_INVALID", f"{file}:{number}", f"{len(line)} cells", f"{len(HEADER)}", mend)
        row = dict(zip(HEADER, line, strict=True))
        answer, options = row["answer"].strip().lower(), row["options"].split("; ")
        if answer and answer not in options:
            raise BuildError("REVIEW_INVALID", f"{file}:{number}", f"answer {answer[:80]!r}", row["options"], mend)
        if (row["id"], row["column"]) in form:
            raise BuildError("REVIEW_INVALID", f"{file}:{number}", f"{row['id']} {row['column']} again", "once", mend)
        form[row["id"], row["column"]] = row["seed"], answer
    return form


def _label(file: Path, known: Mapping[str, Reviewed], name: str, column: str, seed: str, answer: str) -> Label:
    """The label that a line is about. BuildError REVIEW_INVALID if the build has no such image, label or answer."""
    image = known.get(name)
    labels = {label.column: label for label in image.labels} if image else {}
    mend = "hand over the build that the forms were written of"
    if image is None or column not in labels or seed != ("" if image.seed is None else str(image.seed)):
        expected = "an image and a label of the build"
        raise BuildError("REVIEW_INVALID", str(file), f"{name}, seed {seed or 'none'}, {column}", expected, mend)
    if answer and answer not in (*labels[column].options, CANNOT):
        options = ", ".join(labels[column].options)
        raise BuildError("REVIEW_INVALID", str(file), f"{name}, {column}: {answer[:80]!r}", options, mend)
    return labels[column]
