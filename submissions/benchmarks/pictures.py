"""Pictures of datasets that a benchmark asks about: a folder of builds or the Hub, read a row group at a time."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from fairspace.builders.engine.build import MANIFEST, file_hash
from fairspace.builders.registry import NAMES, dataset
from fairspace.builders.sources import SOURCES
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.errors import RunError

GROUP = 1 << 29
"""Greatest number of bytes of images in one row group."""
_BYTES, _PATH = "image.bytes", "image.path"
_Group = tuple[Path, int]


class SplitImages:
    """The images of one split, for one thread; of several rows with one id, the first with an image counts.

    Parquet files have columns `id` and `image` (bytes and path). RunError DATA_INVALID names a damaged file.
    """

    def __init__(self, files: Sequence[Path]) -> None:
        self.rows = 0
        self._place: dict[str, tuple[_Group, int]] = {}
        self.without: set[str] = set()
        """Ids of rows without an image."""
        self._held: dict[_Group, pa.Array] = {}
        for file in files:
            self._enter(file)
        self.without -= self._place.keys()

    def __len__(self) -> int:
        return len(self._place)

    def __contains__(self, item: object) -> bool:
        return item in self._place

    def __iter__(self) -> Iterator[str]:
        """Ids of the images, in the order of the files."""
        return iter(self._place)

    def get(self, item: str) -> bytes:
        """The encoded image of an id. KeyError if it has none; RunError DATA_INVALID if the file is damaged."""
        group, row = self._place[item]
        if group not in self._held:
            if len(self._held) > 1:
                del self._held[next(iter(self._held))]
            self._held[group] = _read(*group)
        content = self._held[group][row].as_py()
        if not isinstance(content, bytes):
            raise _damaged(group[0], "an image without bytes")
        return content

    def _enter(self, file: Path) -> None:
        try:
            with pq.ParquetFile(file, pre_buffer=False) as parquet:
                self._check(file, parquet.schema_arrow)
                for number in range(parquet.num_row_groups):
                    _check_size(file, parquet.metadata.row_group(number))
                    table = parquet.read_row_group(number, columns=["id", _PATH], use_threads=False)
                    there = table["image"].is_valid().to_pylist()
                    self.rows += table.num_rows
                    for row, (item, has) in enumerate(zip(table["id"].to_pylist(), there, strict=True)):
                        if has:
                            self._place.setdefault(item, ((file, number), row))
                        else:
                            self.without.add(item)
        except (OSError, pa.ArrowException) as error:
            raise _damaged(file, str(error)) from error

    @staticmethod
    def _check(file: Path, schema: pa.Schema) -> None:
        image = schema.field("image").type if "image" in schema.names else None
        parts = [part.name for part in image] if image is not None and pa.types.is_struct(image) else []
        if "id" not in schema.names or not {"bytes", "path"} <= set(parts):
            mend = "name the folder or Hub namespace of datasets as `fairspace build` writes them"
            what = f"the columns {', '.join(schema.names)}"
            raise RunError("DATA_INVALID", str(file), what, "id, and image with bytes and path", mend)


def _check_size(file: Path, group: pq.RowGroupMetaData) -> None:
    columns = [group.column(place) for place in range(group.num_columns)]
    size = next(column.total_uncompressed_size for column in columns if column.path_in_schema == _BYTES)
    if size > GROUP:
        mend = "write the file again with about 100 rows in a row group"
        what = f"a row group with {size:,} bytes of images"
        raise RunError("DATA_INVALID", str(file), what, f"at most {GROUP:,}, which must fit in memory", mend)


def _read(file: Path, number: int) -> pa.Array:
    try:
        with pq.ParquetFile(file, pre_buffer=False) as parquet:
            table = parquet.read_row_group(number, columns=[_BYTES], use_threads=False)
    except (OSError, pa.ArrowException) as error:
        raise _damaged(file, str(error)) from error
    images = table["image"].combine_chunks()
    return (images.chunk(0) if isinstance(images, pa.ChunkedArray) else images).field("bytes")


def _damaged(file: Path, what: str) -> RunError:
    return RunError("DATA_INVALID", str(file), what, "a Parquet file that can be read", "build or fetch it again")


# Layout as by `fairspace build`: `<dataset>/<config>/<split>-*.parquet` and `<dataset>/manifest.json`. Images that were
# joined again (`join_images.py`) may stand beside or instead of the manifest's files, or without one.

_ONLINE = "go online to fetch it (HF_HUB_OFFLINE must not be 1), or name a folder of builds"


@dataclass(frozen=True)
class FolderOfBuilds:
    """A folder with one subfolder per dataset; `absent`: advice for a missing split."""

    root: Path
    absent: str = "copy the whole dataset, or build it anew"

    def fetch(self, name: str, config: str, split: str) -> tuple[Path, str]:
        """The dataset's subfolder. RunError DATA_MISSING."""
        folder = self.root / name
        if not folder.is_dir():
            there = [build for build in NAMES if (self.root / build).is_dir()]
            what = f"no folder {name}" + (f" beside {', '.join(there)}" if there else "")
            mend = build_command(name, folder)
            if (self.root / MANIFEST).is_file():
                mend = f"name the folder above it: --data {self.root.absolute().parent}"
            raise RunError("DATA_MISSING", str(self.root), what, "a folder of builds, a subfolder for each", mend)
        return folder, ""

    def address(self, name: str) -> str:
        """The subfolder, an argument for `join_images.py` and `datasets`."""
        return str(self.root / name)


class OnHub:
    """Datasets of a namespace on the Hub at a revision (None: main); only needed splits are fetched."""

    absent = _ONLINE

    def __init__(self, namespace: str, revision: str | None) -> None:
        self._namespace = namespace
        self._revision = revision
        self._commits: dict[str, str] = {}

    def fetch(self, name: str, config: str, split: str) -> tuple[Path, str]:
        """The dataset's folder in the cache, and its commit. RunError DATA_MISSING."""
        from huggingface_hub import snapshot_download

        repo = self.address(name)
        with _hub_errors(repo, self._revision):
            if name not in self._commits:  # asked once, so that all splits are of one commit
                first = snapshot_download(repo, repo_type="dataset", revision=self._revision, allow_patterns=[MANIFEST])
                self._commits[name] = Path(first).name
            commit = self._commits[name]
            wanted = [f"{config}/{split}-*.parquet"]
            folder = snapshot_download(repo, repo_type="dataset", revision=commit, allow_patterns=wanted)
        return Path(folder), commit

    def address(self, name: str) -> str:
        """The repository."""
        return f"{self._namespace}/{name}"


@contextmanager
def _hub_errors(repo: str, revision: str | None) -> Iterator[None]:
    """RunError DATA_MISSING for errors of the Hub's client."""
    from huggingface_hub import errors

    from fairspace.ares.annotating.source import hub_errors

    where = f"dataset {repo}" + (f" at {revision}" if revision else "")
    try:
        yield
    except hub_errors() as error:
        mend = "check the name and the network, or name a folder of builds"
        if isinstance(error, errors.GatedRepoError):
            mend = "accept its terms on its page on the Hub, then `hf auth login`, or set HF_TOKEN"
        elif isinstance(error, errors.LocalEntryNotFoundError | errors.OfflineModeIsEnabled):
            mend = _ONLINE
        elif isinstance(error, errors.RevisionNotFoundError):
            mend = "leave out the tag, or name one that the dataset has"
        what = str(error).strip().split("\n", 1)[0] or type(error).__name__
        raise RunError("DATA_MISSING", where, what, "a dataset that can be read", mend) from error


@dataclass(frozen=True)
class Known:
    """The facts of a manifest that decide a run, with `notes` of items that the build left out.

    `shards`: (config, split) -> file below the dataset's folder -> bytes.
    """

    revision: str
    sample: bool
    notes: tuple[str, ...]
    shards: Mapping[tuple[str, str], Mapping[str, int]]
    sha256: str


def read_known(folder: Path, name: str, revision: str = "") -> Known | None:
    """The manifest of a dataset; None without one, as in a folder of joined images alone.

    Errors: RunError DATA_INVALID if the build is not finished, or of another dataset or revision ('': the default).
    """
    file = folder / MANIFEST
    if not file.is_file():
        if (folder / ".build").is_dir():
            mend = "run its `fairspace build` again; it goes on where it stopped"
            raise RunError("DATA_INVALID", str(folder), "a build that is not finished", "a finished one", mend)
        return None
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
        dataset_name = str(data["dataset"])
        build = Known(
            str(data["revision"]),
            bool(data["sample"]),
            tuple(map(str, data["notes"])),
            {(str(split["config"]), str(split["split"])): _shards(split) for split in data["splits"]},
            file_hash(file),
        )
    except (ValueError, KeyError, TypeError) as error:
        what = f"{type(error).__name__}: {error}"
        raise RunError("DATA_INVALID", str(file), what, "a build's manifest", build_command(name)) from error
    newest = dataset(name).revision
    expected = dataset(name).revision_of(revision) if revision else newest
    if (dataset_name, build.revision) != (name, expected):
        what = f"revision {build.revision} of {dataset_name}"
        mend = build_command(name) if expected == newest else f"name the build that has it, from the tag {expected}"
        if dataset(name).edition(expected) is not dataset(name):
            mend = f"build it with `fairspace build {name} --include {expected}`"
        if dataset_name == name and benchmark(dataset(name).benchmark).has_revision(build.revision):
            mend += f"; or ask what this build has, with --dataset-revision {build.revision}"
        raise RunError("DATA_INVALID", str(file), what, f"revision {expected} of {name}", mend)
    return build


def check_shards(folder: Path, shards: Mapping[str, int], there: Sequence[str]) -> None:
    """RunError DATA_INVALID unless the manifest's files (file -> bytes) are whole, or all replaced by joined ones."""
    if not shards.keys() & set(there):
        return
    for file, size in shards.items():
        bytes_there = (folder / file).stat().st_size if file in there else None
        if bytes_there != size:
            what = "no such file" if bytes_there is None else f"{bytes_there:,} bytes"
            mend = "copy or fetch the dataset again, or build it anew"
            raise RunError("DATA_INVALID", str(folder / file), what, f"{size:,} bytes", mend)


def content_hash(files: Sequence[Path]) -> str:
    """The sha256 over the names and contents of files."""
    return hashlib.sha256("".join(f"{file_hash(file)} {file.name}\n" for file in files).encode()).hexdigest()


def build_command(name: str, out: Path | None = None) -> str:
    """The command that builds a dataset, and the needs of its images."""
    about = dataset(name)
    needs = [*(f"--source with {source}" for source in about.sources), *(f"--tool {tool}=..." for tool in about.tools)]
    command = f"`fairspace build {name} --out {out or f'built/{name}'}`"
    return command + (f", whose images take {', '.join(needs)}" if needs else "") + "; add --sample to try"


def _shards(split: Mapping[str, Any]) -> dict[str, int]:
    return {str(shard["file"]): int(shard["bytes"]) for shard in split["shards"]}


_NAMESPACE = re.compile(r"(?P<namespace>[\w-][\w.-]*)(@(?P<tag>[^@\s]+))?")


class Data:
    """Datasets by name, opened when needed, for one thread; builds must have the `revision` ('': the default)."""

    def __init__(self, where: str, place: FolderOfBuilds | OnHub, revision: str = "") -> None:
        self.where = where
        self._place = place
        self._revision = revision
        self._files: dict[tuple[str, str, str], tuple[Path, ...]] = {}
        self._used: dict[str, list[str]] = {}
        self.sample = False
        """Whether a dataset used so far is the small sample of one."""

    @property
    def used(self) -> dict[str, str]:
        """Used dataset -> identity: `v1, sample, sha256:` and the manifest's hash; `, commit:` on the Hub.

        `<config>/<split>:` and a hash follow for files that the manifest does not name, such as joined ones.
        """
        return {name: ", ".join(facts) for name, facts in sorted(self._used.items())}

    def table(self, name: str, config: str, split: str, columns: Sequence[str]) -> pa.Table:
        """Columns of a split, in the order of its files. RunError DATA_MISSING, DATA_INVALID."""
        pieces = []
        for file in self._split(name, config, split):
            try:
                with pq.ParquetFile(file) as parquet:
                    if absent := [column for column in columns if column not in parquet.schema_arrow.names]:
                        mend = f"build or fetch the {name} that belongs to this version of fairspace"
                        raise RunError("DATA_INVALID", str(file), f"no column {absent[0]!r}", "it", mend)
                    pieces.append(parquet.read(columns=list(columns), use_threads=False))
            except (OSError, pa.ArrowException) as error:
                raise RunError("DATA_INVALID", str(file), str(error), "a Parquet file", "fetch it again") from error
        return pa.concat_tables(pieces)

    def images(self, name: str, config: str, split: str) -> SplitImages:
        """The images of a split. RunError DATA_MISSING if not one row has its image; DATA_INVALID."""
        images = SplitImages(self._split(name, config, split))
        if not len(images):
            where, what = f"{self.where}: {name}, {config}/{split}", f"{images.rows} rows without images"
            raise RunError("DATA_MISSING", where, what, "images", self._with_images(name, config, split))
        return images

    def _split(self, name: str, config: str, split: str) -> tuple[Path, ...]:
        key = name, config, split
        if key not in self._files:
            folder, commit = self._place.fetch(*key)
            build = read_known(folder, name, self._revision)
            shards = build.shards.get((config, split), {}) if build else {}
            files = sorted((folder / config).glob(f"{split}-*.parquet"))
            if not files:
                raise self._absent(key, folder, build)
            check_shards(folder, shards, [f"{config}/{file.name}" for file in files])
            facts = self._used.setdefault(name, [])
            if build and not facts:
                facts += [build.revision, *(["sample"] if build.sample else []), f"sha256:{build.sha256}"]
            if commit and f"commit:{commit}" not in facts:
                facts.append(f"commit:{commit}")
            if others := [file for file in files if f"{config}/{file.name}" not in shards]:
                facts.append(f"{config}/{split}:{content_hash(others)}")
            self.sample |= build is not None and build.sample
            self._files[key] = tuple(files)
        return self._files[key]

    def _absent(self, key: tuple[str, str, str], folder: Path, build: Known | None) -> RunError:
        """The reason for an absent split: not built, or not copied or fetched with the rest."""
        name, config, split = key
        what, mend = f"no {config}/{split}-*.parquet in {folder}", build_command(name)
        if build and (config, split) in build.shards:
            mend = self._place.absent
        elif build and build.notes:
            what += f"; the build says: {' '.join(build.notes)}"
        return RunError("DATA_MISSING", f"{self.where}: {name}", what, "the files of the split", mend)

    def _with_images(self, name: str, config: str, split: str) -> str:
        """Advice on the images that a dataset lacks."""
        if all(SOURCES[source].redistribute for source in dataset(name).sources):
            return build_command(name)
        return (
            "the source does not let them be passed on; join your own copy of it: `python join_images.py --dataset "
            f"{self._place.address(name)} --config {config} --split {split} --source SOURCE "
            f"--out joined/{name}/{config}`, then name the folder joined as --data, with the benchmark's other "
            "datasets in it"
        )


def own_plan(name: str, where: str) -> str:
    """Revision of a benchmark with a plan of its own, such as a cohort's pairs, in a folder of builds; '' for none."""
    bench = benchmark(name)
    for file in sorted(Path(where).expanduser().glob(f"*/{MANIFEST}")) if where else ():
        with suppress(OSError, ValueError, LookupError, TypeError):  # `open_data` says of a broken one what is wrong
            revision = str(json.loads(file.read_text(encoding="utf-8"))["revision"])
            if revision not in bench.revisions and bench.base_revision(revision) in bench.revisions:
                return revision
    return ""


def open_data(where: str, revision: str = "") -> Data:
    """The datasets in a folder of builds, or `NAMESPACE[@TAG]` on the Hub, of one revision ('' for the default).

    A folder without datasets that has a namespace's name is passed over (`fairspace` is the package too); `./fairspace`
    always means the folder. Nothing is read yet. Errors: RunError DATA_MISSING if it is neither.
    """
    path, namespace = Path(where).expanduser(), _NAMESPACE.fullmatch(where)
    if path.is_dir() and (namespace is None or any((path / name).is_dir() for name in NAMES)):
        return Data(where, FolderOfBuilds(path), revision)
    if namespace is None:
        expected = "a folder of builds, or NAMESPACE or NAMESPACE@TAG of datasets on the Hub"
        mend = "make one with `fairspace build all --out built`, or with --sample a small one to try"
        raise RunError("DATA_MISSING", where, "no such folder", expected, mend)
    return Data(where, OnHub(namespace["namespace"], namespace["tag"]), revision)


def planned_images(
    task: str,
    data: Data | None,
    place: tuple[str, str, str],
    planned: Sequence[str],
    column_and_prompts: tuple[str, Sequence[str]] | None = None,
    some: bool = False,
) -> tuple[SplitImages, list[int]]:
    """The images of a task, and the positions in the plan of those that are there, in order.

    `place`: dataset, config and split; `planned`: ids of all images of the plan; `column_and_prompts`: the dataset's
    column of prompts, and the plan's prompt for each image; `some`: the dataset has more images, as a core's has.
    Errors: RunError DATA_MISSING without data, split or any image; DATA_INVALID if an id or a prompt is not the plan's.
    """
    if data is None:
        mend = "name the datasets with --data: a folder of builds, or NAMESPACE[@TAG] on the Hub"
        raise RunError("DATA_MISSING", f"task {task}", "no data", f"the images of {place[0]}, config {place[1]}", mend)
    images = data.images(*place)
    where = f"{data.where}: {place[0]}, {place[1]}/{place[2]}"
    mend = "build or fetch the dataset that belongs to this version of fairspace"
    if not some and (strange := (set(images) | images.without).difference(planned)):
        raise RunError("DATA_INVALID", where, f"the id {min(strange)!r}", "ids of the benchmark's plan", mend)
    if column_and_prompts is not None:
        column, prompts = column_and_prompts[0], dict(zip(planned, column_and_prompts[1], strict=True))
        table = data.table(*place, ("id", column))
        for item, prompt in zip(table["id"].to_pylist(), table[column].to_pylist(), strict=True):
            if (item in prompts or not some) and prompts[item] != prompt:
                what = f"{column} {str(prompt)[:120]!r}"
                raise RunError("DATA_INVALID", f"{where}, row {item}", what, f"{prompts[item][:120]!r}", mend)
    return images, [number for number, item in enumerate(planned) if item in images]
