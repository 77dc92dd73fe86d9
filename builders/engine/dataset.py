"""The description of a dataset: its splits, and the rows of each split.

`splits(job)` reads the sources and plans. A `Split` has cheap units (a line of an annotation file) that become
expensive rows (generated images); `builders/engine/build.py` writes each Parquet shard from a fixed slice of the units.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from fairspace.builders.engine.tools import Tools
from fairspace.builders.errors import BuildError

if TYPE_CHECKING:
    import pyarrow as pa
    from datasets import Features


Row = Mapping[str, Any]
Columns = Mapping[str, tuple[str | Sequence[str], str]]
"""Column -> its type (`image`, labels, or the name of a `datasets.Value`) and one sentence for the card, or ''."""


class Units(Protocol):
    """An ordered, sized list of units, perhaps on disk; only slices of it are taken."""

    def __len__(self) -> int:
        """Number of units."""

    def __getitem__(self, part: slice, /) -> Any:
        """Units of a slice."""


@dataclass(frozen=True)
class Split:
    """One split of one config.

    Args:
        about: one sentence for the card: the content of a row.
        columns: the columns behind `id`.
        units: sources of the rows, in order; a `pa.Table` is allowed.
        rows: a slice of the units -> rows, in order, or a table. A column of labels may hold the label's name; a unit
            may give several rows, or none (log why with `BuildJob.reject`).
        groups: columns of labels whose joint counts manifest and card show.
        id: sentence about the column `id`.
    """

    config: str
    about: str
    columns: Columns
    units: Units
    rows: Callable[[Any], Iterable[Row] | pa.Table] = lambda part: part
    split: str = "test"
    shard: int = 1000
    groups: tuple[str, ...] = ()
    id: str = ""

    @property
    def name(self) -> str:
        """`config/split`."""
        return f"{self.config}/{self.split}"

    @property
    def fields(self) -> dict[str, str]:
        """Column -> its sentence, where it has one."""
        about = {"id": self.id, **{column: sentence for column, (_, sentence) in self.columns.items()}}
        return {column: sentence for column, sentence in about.items() if sentence}

    def features(self) -> Features:
        """The columns as `datasets.Features`; late, because importing `datasets` takes a second."""
        from datasets import ClassLabel, Features, Image, Value

        def feature(kind: str | Sequence[str]) -> Any:
            if isinstance(kind, str):
                return Image() if kind == "image" else Value(kind)
            return ClassLabel(names=list(kind))

        types: dict[str, Any] = {column: feature(kind) for column, (kind, _) in self.columns.items()}
        return Features({"id": Value("string"), **types})


@dataclass(frozen=True)
class BuildJob:
    """One build: its folders, tools and choices.

    Args:
        source: folder of sources (one subfolder each, named as in `fairspace.builders.sources`), or None.
        work: folder inside the output for stages and unfinished shards; it lasts until the build is done.
        seed: seed of every draw.
        sample: whether the dataset is a small but complete one.
        tools: tools of the build, by their roles.
        options: name -> other choices of the user that change the content.
        progress: called with the name of a step, units done, and units in all.
        files: name -> source file that decides the content; the manifest prints its hash.
    """

    source: Path | None
    work: Path
    seed: int = 0
    sample: bool = False
    tools: Tools = field(default_factory=Tools)
    options: Mapping[str, str] = field(default_factory=dict)
    progress: Callable[[str, int, int], None] = lambda what, done, total: None
    files: dict[str, Path] = field(default_factory=dict)
    _rejected: list[str] = field(default_factory=list)
    _notes: dict[str, None] = field(default_factory=dict)

    def need(self, source: str) -> Path:
        """The folder of a source. BuildError SOURCE_MISSING says how to obtain it."""
        from fairspace.builders.sources import SOURCES

        return SOURCES[source].need(self.source)

    def reject(self, unit: str, reason: str, **evidence: str | int | float) -> None:
        """Log a rejected candidate: the name of its unit, one of few reasons, and the numbers behind it."""
        self._rejected.append(json.dumps({"unit": unit, "reason": reason, **evidence}, ensure_ascii=False))

    def note(self, text: str) -> None:
        """Record an omission and its cause; manifest and card print it."""
        self._notes[text] = None

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes so far."""
        return tuple(self._notes)

    def take_rejected(self) -> list[str]:
        """The lines logged since the last call."""
        lines, self._rejected[:] = list(self._rejected), []
        return lines


@dataclass(frozen=True)
class Dataset:
    """A published dataset.

    Args:
        revision: revision of the item plan; `submission.json` names it.
        sources: usable sources, as in `fairspace.builders.sources.SOURCES`.
        splits: job -> splits, in the order of the card. A split without its source or tool is left out, with a
            `BuildJob.note`; BuildError if none is left.
        check: called with the finished build's manifest; BuildError BUILD_CHECK if a promise is broken.
        gated: whether users must accept terms first: every dataset with faces of persons.
        includes: content that is off by default, named by `--include`.
        tools: roles of `Tools` in use.
        annotations: origins of the labels, in the Hub's words.
        changes: standard, dataset revision and change, oldest first, for the card.
        revision_of: revision of the benchmark -> revision of this dataset.
        editions: the dataset in further revisions, which `--include` builds by their names.
        of_cohort: dataset and combinations (occupation, group) -> dataset with a plan that follows them, if possible.
    """

    name: str
    title: str
    benchmark: str
    revision: str
    licence: str
    sources: tuple[str, ...]
    splits: Callable[[BuildJob], Sequence[Split]]
    check: Callable[[BuildManifest], None] = lambda manifest: None
    gated: bool = False
    includes: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    task_categories: tuple[str, ...] = ()
    annotations: tuple[str, ...] = ("found",)
    changes: tuple[tuple[str, str, str], ...] = ()
    revision_of: Callable[[str], str] = lambda revision: revision
    editions: tuple[Dataset, ...] = ()
    of_cohort: Callable[[Dataset, Sequence[tuple[int, int]]], Dataset] | None = None

    def edition(self, revision: str) -> Dataset:
        """The dataset in one of its further revisions; itself for any other name."""
        return next((each for each in self.editions if each.revision == revision), self)


@dataclass(frozen=True)
class Shard:
    """One Parquet file: path below the build folder, content hash, size, rows."""

    file: str
    sha256: str
    bytes: int
    rows: int


@dataclass(frozen=True)
class BuiltSplit:
    """One finished split.

    `counts` has ClassLabel column -> label -> rows ('' counts nulls), `joint` the labels of the `groups` columns,
    joined by ' / ' -> rows, `fields` column -> sentence.
    """

    config: str
    split: str
    about: str
    rows: int
    shards: tuple[Shard, ...]
    counts: Mapping[str, Mapping[str, int]]
    joint: Mapping[str, int]
    fields: Mapping[str, str]


@dataclass(frozen=True)
class BuildManifest:
    """Content and origin of a finished build: `manifest.json`. Equal inputs give an equal manifest.

    `tools` has role -> name, `versions` software -> version, `sources` file -> sha256, `rejected` reason -> candidates,
    `notes` the omissions and their causes.
    """

    dataset: str
    revision: str
    seed: int
    sample: bool
    tools: Mapping[str, str]
    options: Mapping[str, str]
    versions: Mapping[str, str]
    sources: Mapping[str, str]
    splits: tuple[BuiltSplit, ...]
    rejected: Mapping[str, int]
    notes: tuple[str, ...]

    def find(self, config: str, split: str) -> BuiltSplit | None:
        """A split by name; None if it was not built."""
        return next((s for s in self.splits if (s.config, s.split) == (config, split)), None)

    def configs(self) -> dict[str, list[BuiltSplit]]:
        """Config -> its splits."""
        by_config: dict[str, list[BuiltSplit]] = {}
        for built in self.splits:
            by_config.setdefault(built.config, []).append(built)
        return by_config


def expect(condition: bool, dataset: str, what: str, expected: str) -> None:
    """Check a promise of a dataset. BuildError BUILD_CHECK if it is broken."""
    if not condition:
        mend = "build again from an undamaged source; if that does not help, the builder is at fault"
        raise BuildError("BUILD_CHECK", dataset, what, expected, mend)
