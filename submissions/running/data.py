"""Where a run's items and images come from: a folder of builds, or datasets on the Hub.

Both have the layout of `fairspace build`: `<dataset>/<config>/<split>-*.parquet` and `<dataset>/manifest.json`.
Images that were joined again (`join_images.py`) may stand beside or instead of the files that the manifest names, or
without a manifest.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from builders.build import MANIFEST, file_hash
from builders.registry import NAMES, dataset
from builders.sources import SOURCES
from submissions.running.data_images import Images
from submissions.running.errors import RunError

_NAMESPACE = re.compile(r"(?P<namespace>[\w-][\w.-]*)(@(?P<tag>[^@\s]+))?")


class Place(Protocol):
    """Where datasets lie."""

    def fetch(self, name: str, config: str, split: str) -> tuple[Path, str]:
        """The folder of a dataset with one split in it, and its commit, '' for none. RunError DATA_MISSING."""


@dataclass(frozen=True)
class _Split:
    """The files of a split, and which revision of the dataset they are."""

    files: tuple[Path, ...]
    revision: str
    sample: bool


class Data:
    """Datasets by name, opened as they are needed.

    Args:
        where: as the user named it.
        place: where they lie.
    """

    def __init__(self, where: str, place: Place) -> None:
        self.where = where
        self._place = place
        self._used: dict[str, set[str]] = {}
        self._sample = False

    @property
    def used(self) -> dict[str, str]:
        """Dataset -> which it is, of those used so far.

        For example `v1, sample, sha256:` and the hash of the manifest; from the Hub `v1, commit:` and the commit. Where
        files are not the manifest's, such as joined ones, their hash follows.
        """
        return {name: "; ".join(sorted(found)) for name, found in sorted(self._used.items())}

    @property
    def sample(self) -> bool:
        """Whether a dataset used so far is the small sample of one."""
        return self._sample

    def table(self, name: str, config: str, split: str, columns: Sequence[str]) -> pa.Table:
        """Columns of a split, in the order of its files. RunError DATA_MISSING, DATA_INVALID."""
        pieces = []
        for file in self._files(name, config, split):
            try:
                with pq.ParquetFile(file) as parquet:
                    if absent := [column for column in columns if column not in parquet.schema_arrow.names]:
                        mend = f"build {name} again with this version of fairspace"
                        raise RunError("DATA_INVALID", str(file), f"no column {absent[0]!r}", "it", mend)
                    pieces.append(parquet.read(columns=list(columns), use_threads=False))
            except (OSError, pa.ArrowException) as error:
                raise RunError("DATA_INVALID", str(file), str(error), "a Parquet file", "fetch it again") from error
        return pa.concat_tables(pieces)

    def images(self, name: str, config: str, split: str) -> Images:
        """The images of a split. RunError DATA_MISSING if not one row has its image; DATA_INVALID."""
        found = Images(self._files(name, config, split))
        if not len(found):
            what = f"{found.rows} rows without images"
            raise RunError(
                "DATA_MISSING", self._name(name, config, split), what, "images", self._how(name, config, split)
            )
        return found

    def _files(self, name: str, config: str, split: str) -> tuple[Path, ...]:
        folder, commit = self._place.fetch(name, config, split)
        there = sorted((folder / config).glob(f"{split}-*.parquet"))
        manifest = _manifest(folder, name)
        if not there:
            notes = " ".join(manifest["notes"]) if manifest else ""
            what = f"no such split in {folder}" + (f"; the build says: {notes}" if notes else "")
            raise RunError("DATA_MISSING", self._name(name, config, split), what, "it", _build(name))
        found = _checked(folder, manifest, commit, there, config, split)
        self._used.setdefault(name, set()).add(found.revision)
        self._sample |= found.sample
        return found.files

    def _name(self, name: str, config: str, split: str) -> str:
        return f"{self.where}: {name}, {config}/{split}"

    def _how(self, name: str, config: str, split: str) -> str:
        """How to come by images that a dataset lacks."""
        if all(SOURCES[source].redistribute for source in dataset(name).sources):
            return _build(name)
        namespace = self.where if isinstance(self._place, FolderOfBuilds) else self.where.partition("@")[0]
        return (
            "their source does not let them be passed on; join your own copy of it: `python join_images.py --dataset "
            f"{namespace}/{name} --config {config} --split {split} --source SOURCE --out joined/{name}/{config}`, then "
            "name the folder joined, with the benchmark's other datasets in it, as --data"
        )


@dataclass(frozen=True)
class FolderOfBuilds:
    """A folder with one subfolder per dataset."""

    root: Path

    def fetch(self, name: str, config: str, split: str) -> tuple[Path, str]:
        """The dataset's subfolder. RunError DATA_MISSING."""
        folder = self.root / name
        if not folder.is_dir():
            there = [known for known in NAMES if (self.root / known).is_dir()]
            what = f"no folder {name}" + (f" beside {', '.join(there)}" if there else "")
            mend = _build(name, folder)
            if (self.root / MANIFEST).is_file():
                mend = f"name the folder above it: --data {self.root.absolute().parent}"
            raise RunError("DATA_MISSING", str(self.root), what, "a folder of builds, a subfolder for each", mend)
        return folder, ""


class OnHub:
    """Datasets of a namespace on the Hub, at a tag, branch or commit; only the splits that are needed are fetched."""

    def __init__(self, namespace: str, revision: str | None) -> None:
        self._namespace = namespace
        self._revision = revision
        self._commits: dict[str, str] = {}

    def fetch(self, name: str, config: str, split: str) -> tuple[Path, str]:
        """The dataset's folder in the client's cache. RunError DATA_MISSING."""
        from huggingface_hub import snapshot_download

        repo = f"{self._namespace}/{name}"
        with _hub_errors(repo, self._revision):
            if name not in self._commits:  # asked once, so that all splits are of one commit
                first = snapshot_download(repo, repo_type="dataset", revision=self._revision, allow_patterns=[MANIFEST])
                self._commits[name] = Path(first).name
            commit = self._commits[name]
            wanted = [f"{config}/{split}-*.parquet"]
            folder = snapshot_download(repo, repo_type="dataset", revision=commit, allow_patterns=wanted)
        return Path(folder), commit


def open_data(where: str) -> Data:
    """The datasets in a folder of builds, or `NAMESPACE[@TAG]` on the Hub; a folder comes first. Nothing is read yet.

    Errors: RunError DATA_MISSING if it is neither.
    """
    path = Path(where).expanduser()
    if path.is_dir():
        return Data(where, FolderOfBuilds(path))
    named = _NAMESPACE.fullmatch(where)
    if named is None:
        expected = "a folder of builds, or NAMESPACE or NAMESPACE@TAG of datasets on the Hub"
        mend = "make one with `fairspace build all --out built`, or with --sample a small one to try"
        raise RunError("DATA_MISSING", where, "no such folder", expected, mend)
    return Data(where, OnHub(named["namespace"], named["tag"]))


def _manifest(folder: Path, name: str) -> Mapping[str, Any] | None:
    """`manifest.json`, None where there is none. RunError DATA_INVALID if it is not of this dataset's revision."""
    file = folder / MANIFEST
    if not file.is_file():
        if (folder / ".build").is_dir():
            mend = "run its `fairspace build` again; it goes on where it stopped"
            raise RunError("DATA_INVALID", str(folder), "a build that is not finished", "a finished one", mend)
        return None
    expected = dataset(name).revision
    try:
        data: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        about, _, _ = (
            (data["dataset"], data["revision"]),
            bool(data["sample"]),
            [_shards(split) for split in data["splits"]],
        )
    except (ValueError, KeyError, TypeError) as error:
        raise RunError("DATA_INVALID", str(file), str(error), "a build's manifest", _build(name)) from error
    if about != (name, expected):
        what = f"revision {about[1]} of {about[0]}"
        raise RunError("DATA_INVALID", str(file), what, f"revision {expected} of {name}", _build(name))
    return data


def _shards(split: Mapping[str, Any]) -> dict[str, int]:
    """File -> size."""
    return {str(shard["file"]): int(shard["bytes"]) for shard in split["shards"]}


def _checked(
    folder: Path, manifest: Mapping[str, Any] | None, commit: str, there: Sequence[Path], config: str, split: str
) -> _Split:
    """The files of a split, if those that the manifest names are whole. RunError DATA_INVALID."""
    named: dict[str, int] = {}
    for known in manifest["splits"] if manifest else ():
        if (known["config"], known["split"]) == (config, split):
            named = _shards(known)
    sizes = {f"{config}/{file.name}": file.stat().st_size for file in there}
    if named.keys() & sizes.keys():
        for file, size in named.items():
            if sizes.get(file) != size:
                what = f"{sizes[file]:,} bytes" if file in sizes else "no such file"
                mend = "copy or fetch the dataset again, or build it anew"
                raise RunError("DATA_INVALID", str(folder / file), what, f"{size:,} bytes", mend)
    told = []
    if manifest is not None:
        told += [manifest["revision"], *(["sample"] if manifest["sample"] else [])]
    if commit or manifest is not None:
        told.append(f"commit:{commit}" if commit else f"sha256:{file_hash(folder / MANIFEST)}")
    if others := [file for file in there if f"{config}/{file.name}" not in named]:
        total = hashlib.sha256("".join(f"{file_hash(file)} {file.name}\n" for file in others).encode())
        told.append(f"{config}/{split}:{total.hexdigest()}")
    return _Split(tuple(there), ", ".join(told), bool(manifest and manifest["sample"]))


def _build(name: str, out: Path | None = None) -> str:
    """The command that builds a dataset."""
    about = dataset(name)
    needs = [*(f"--source with {source}" for source in about.sources), *(f"--{tool}" for tool in about.tools)]
    command = f"fairspace build {name} --out {out or f'built/{name}'}"
    return f"`{command}`" + (f", for whose images it takes {', '.join(needs)}" if needs else "") + "; --sample to try"


@contextmanager
def _hub_errors(repo: str, revision: str | None) -> Iterator[None]:
    """RunError DATA_MISSING for what the Hub's client raises."""
    from huggingface_hub import errors

    from ares.annotate_model import hub_errors

    where = f"dataset {repo}" + (f" at {revision}" if revision else "")
    try:
        yield
    except hub_errors() as error:
        mend = "check the name and the network, or name a folder of builds"
        if isinstance(error, errors.GatedRepoError):
            mend = "accept its terms on its page on the Hub, then `hf auth login`, or set HF_TOKEN"
        elif isinstance(error, errors.LocalEntryNotFoundError | errors.OfflineModeIsEnabled):
            mend = "go online once (HF_HUB_OFFLINE must not be 1) to fetch it, or name a folder of builds"
        elif isinstance(error, errors.RevisionNotFoundError):
            mend = "leave out the tag, or name one that the dataset has"
        what = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise RunError("DATA_MISSING", where, what, "a dataset that can be read", mend) from error
