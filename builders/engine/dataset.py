"""A dataset as the builder sees it: its splits, the rows of each split, the scores that the Hub's leaderboard lists.

`splits(job)` reads the sources and plans; each `Split` says what its units are (cheap: a line of an annotation file)
and how these become rows (expensive: generated images). `builders/engine/build.py` writes Parquet shards, each from a
fixed slice of the units: so a build can stop at any time, go on, and end with the same bytes.
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

    from fairspace.builders.engine.reviews import Earlier


@dataclass(frozen=True)
class Headline:
    """A task of a dataset's `eval.yaml`.

    Args:
        score: its name in results.
        config: of the dataset, with the items that the score is about.
        about: the score in words.
        split: of the config.
    """

    score: str
    config: str
    about: str
    split: str = "test"

    @property
    def task(self) -> str:
        """Id of the task: the score's name in lower case."""
        return self.score.lower()


Row = Mapping[str, Any]
Columns = Mapping[str, tuple[str | Sequence[str], str]]
"""Column -> its type and one sentence for the card, '' for none; the type is `image`, labels, or the name of a
`datasets.Value`."""


class Units(Protocol):
    """An ordered, sized list of units that may lie on disk; only slices of it are taken."""

    def __len__(self) -> int:
        """How many."""

    def __getitem__(self, part: slice, /) -> Any:
        """Units of a slice."""


@dataclass(frozen=True)
class Split:
    """One split of one config.

    Args:
        config: name of the config.
        about: one sentence for the card: what a row is.
        columns: the columns behind `id`.
        units: what the rows are made of, in order. A `pa.Table` is a list of units too.
        rows: a slice of the units -> rows, in order, or a table of them. A column of labels may hold the label's name;
            a unit may give no row (say why with `Job.reject`) or several.
        split: `train`, `validation` or `test`.
        shard: units per Parquet file.
        groups: the columns of labels whose joint counts the manifest and the card show.
        id: the sentence about the column `id`.
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
        """The columns as `datasets.Features`; late, because `datasets` takes a second to import."""
        from datasets import ClassLabel, Features, Image, Value

        def feature(kind: str | Sequence[str]) -> Any:
            if isinstance(kind, str):
                return Image() if kind == "image" else Value(kind)
            return ClassLabel(names=list(kind))

        types: dict[str, Any] = {column: feature(kind) for column, (kind, _) in self.columns.items()}
        return Features({"id": Value("string"), **types})


@dataclass(frozen=True)
class Job:
    """One build: where it reads and writes, and with what.

    Args:
        source: the folder of sources (one subfolder per source, named as in `fairspace.builders.sources`), or None.
        work: a folder inside the output for stages and unfinished shards; it lasts until the build is done.
        seed: decides every draw.
        sample: whether a small but complete dataset is wanted.
        tools: models.
        options: other choices of the user that change the content, by name.
        progress: called with what is done, how far, and of how much.
        earlier: a build with the same arguments but for what people said of its images, which are taken from it.
    """

    source: Path | None
    work: Path
    seed: int = 0
    sample: bool = False
    tools: Tools = field(default_factory=Tools)
    options: Mapping[str, str] = field(default_factory=dict)
    progress: Callable[[str, int, int], None] = lambda what, done, total: None
    earlier: Earlier | None = None
    _rejected: list[str] = field(default_factory=list)
    _checked: list[str] = field(default_factory=list)
    _notes: dict[str, None] = field(default_factory=dict)
    _files: dict[str, Path] = field(default_factory=dict)

    def need(self, source: str) -> Path:
        """The folder of a source. BuildError SOURCE_MISSING says how to obtain it."""
        from fairspace.builders.sources import SOURCES

        return SOURCES[source].need(self.source)

    def used(self, name: str, file: Path) -> None:
        """Name a source file that decides the content; the manifest prints its hash."""
        self._files[name] = file

    def reject(self, unit: str, reason: str, **evidence: str | int | float) -> None:
        """Log why a candidate did not become a row: `unit` names it, `reason` is one of few, `evidence` the numbers."""
        self._rejected.append(json.dumps({"unit": unit, "reason": reason, **evidence}, ensure_ascii=False))

    def checked(self, name: str, reason: str, evidence: Mapping[str, str | int | float]) -> None:
        """Write down the verdict of a candidate image, for a later build."""
        self._checked.append(json.dumps({"name": name, "reason": reason, "evidence": evidence}, ensure_ascii=False))

    def note(self, text: str) -> None:
        """Say what the build left out and why; the manifest and the card print it."""
        self._notes[text] = None

    @property
    def files(self) -> Mapping[str, Path]:
        """Source files named so far."""
        return self._files

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes so far."""
        return tuple(self._notes)

    def take_rejected(self) -> list[str]:
        """The lines logged since the last call."""
        lines, self._rejected[:] = list(self._rejected), []
        return lines

    def take_checked(self) -> list[str]:
        """The verdicts written down since the last call."""
        lines, self._checked[:] = list(self._checked), []
        return lines


@dataclass(frozen=True)
class Dataset:
    """A published dataset.

    Args:
        name: of the repository on the Hub.
        title: for people.
        benchmark: the one that it belongs to.
        revision: of the item plan; what `submission.json` names.
        licence: SPDX identifier of what we publish.
        sources: those that it may read, as in `fairspace.builders.sources.SOURCES`.
        splits: job -> its splits, in the order of the card. One whose source or tool was not given is left out, with a
            `Job.note`; nothing to build at all is a BuildError.
        check: called with the finished build's manifest; BuildError BUILD_CHECK if a promise is broken.
        gated: whether users must accept terms first: every dataset with faces of persons.
        includes: content that is off by default, which `--include` names.
        tools: the roles of `Tools` that it uses.
        task_categories: as the Hub names them, for the card.
        changes: standard, dataset revision, what changed against the one before; the newest last, for the card.
        revision_of: a revision of the benchmark -> the revision of this dataset that it asks about.
        headlines: scores that the dataset's leaderboard on the Hub lists; none for data that no model answers.
        of_cohort: the dataset, a file of combinations -> the dataset with a plan that follows it, if one can.
    """

    name: str
    title: str
    benchmark: str
    revision: str
    licence: str
    sources: tuple[str, ...]
    splits: Callable[[Job], Sequence[Split]]
    check: Callable[[Manifest], None] = lambda manifest: None
    gated: bool = False
    includes: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    task_categories: tuple[str, ...] = ()
    changes: tuple[tuple[str, str, str], ...] = ()
    revision_of: Callable[[str], str] = lambda revision: revision
    headlines: tuple[Headline, ...] = ()
    of_cohort: Callable[[Dataset, Path], Dataset] | None = None


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

    Args:
        config: name of the config.
        split: name of the split.
        about: what a row is.
        rows: how many.
        shards: its files.
        counts: ClassLabel column -> label -> rows; '' counts nulls.
        joint: label of each `groups` column, joined by ' / ' -> rows; empty where the split has no groups.
        fields: column -> sentence.
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
class Manifest:
    """What a finished build is and what it was made from: `manifest.json`. Equal inputs give an equal manifest.

    Args:
        dataset: its name.
        revision: of the item plan.
        seed: of every draw.
        sample: whether this is the small one.
        tools: role -> name of each tool.
        options: other choices.
        versions: software -> version.
        sources: source file -> sha256.
        splits: what was built.
        rejected: reason -> how many candidates.
        notes: what was left out and why.
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
