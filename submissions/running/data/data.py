"""Where a run's items and images come from: a folder of builds, or datasets on the Hub.

Both have the layout of `fairspace build`: `<dataset>/<config>/<split>-*.parquet` and `<dataset>/manifest.json`.
Images that were joined again (`join_images.py`) may stand beside or instead of the files that the manifest names, or
without a manifest.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from fairspace.builders.registry import NAMES, dataset
from fairspace.builders.sources import SOURCES
from fairspace.submissions.running.data.images import Images
from fairspace.submissions.running.data.manifest import Known, build_command, check_shards, content_hash, read_known
from fairspace.submissions.running.data.places import FolderOfBuilds, OnHub
from fairspace.submissions.running.errors import RunError

_NAMESPACE = re.compile(r"(?P<namespace>[\w-][\w.-]*)(@(?P<tag>[^@\s]+))?")


class Data:
    """Datasets by name, opened as they are needed; for one thread.

    Args:
        where: as the user named it.
        place: where they lie.
        revision: of the items that are asked, which the builds must have; '' for the default.
    """

    def __init__(self, where: str, place: FolderOfBuilds | OnHub, revision: str = "") -> None:
        self.where = where
        self._place = place
        self._revision = revision
        self._files: dict[tuple[str, str, str], tuple[Path, ...]] = {}
        self._used: dict[str, list[str]] = {}
        self._sample = False

    @property
    def used(self) -> dict[str, str]:
        """Dataset -> which it is, of those used so far.

        For example `v1, sample, sha256:` and the hash of the manifest; from the Hub `, commit:` and the commit too.
        Where a split has files that the manifest does not name, such as joined ones, `<config>/<split>:` and their hash
        follow.
        """
        return {name: ", ".join(said) for name, said in sorted(self._used.items())}

    @property
    def sample(self) -> bool:
        """Whether a dataset used so far is the small sample of one."""
        return self._sample

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

    def images(self, name: str, config: str, split: str) -> Images:
        """The images of a split. RunError DATA_MISSING if not one row has its image; DATA_INVALID."""
        images = Images(self._split(name, config, split))
        if not len(images):
            where, what = f"{self.where}: {name}, {config}/{split}", f"{images.rows} rows without images"
            raise RunError("DATA_MISSING", where, what, "images", self._with_images(name, config, split))
        return images

    def _split(self, name: str, config: str, split: str) -> tuple[Path, ...]:
        """The files of a split, checked against the manifest once."""
        key = name, config, split
        if key not in self._files:
            folder, commit = self._place.fetch(*key)
            known = read_known(folder, name, self._revision)
            named = known.shards.get((config, split), {}) if known else {}
            files = sorted((folder / config).glob(f"{split}-*.parquet"))
            if not files:
                raise self._absent(key, folder, known)
            check_shards(folder, named, [f"{config}/{file.name}" for file in files])
            said = self._used.setdefault(name, [])
            if known and not said:
                said += [known.revision, *(["sample"] if known.sample else []), f"sha256:{known.sha256}"]
            if commit and f"commit:{commit}" not in said:
                said.append(f"commit:{commit}")
            if others := [file for file in files if f"{config}/{file.name}" not in named]:
                said.append(f"{config}/{split}:{content_hash(others)}")
            self._sample |= known is not None and known.sample
            self._files[key] = tuple(files)
        return self._files[key]

    def _absent(self, key: tuple[str, str, str], folder: Path, known: Known | None) -> RunError:
        """Why a split is not there: it was not built, or not copied or fetched with the rest."""
        name, config, split = key
        what, mend = f"no {config}/{split}-*.parquet in {folder}", build_command(name)
        if known and (config, split) in known.shards:
            mend = self._place.absent
        elif known and known.notes:
            what += f"; the build says: {' '.join(known.notes)}"
        return RunError("DATA_MISSING", f"{self.where}: {name}", what, "the files of the split", mend)

    def _with_images(self, name: str, config: str, split: str) -> str:
        """How to come by the images that a dataset lacks."""
        if all(SOURCES[source].redistribute for source in dataset(name).sources):
            return build_command(name)
        return (
            "the source does not let them be passed on; join your own copy of it: `python join_images.py --dataset "
            f"{self._place.address(name)} --config {config} --split {split} --source SOURCE "
            f"--out joined/{name}/{config}`, then name the folder joined as --data, with the benchmark's other "
            "datasets in it"
        )


def open_data(where: str, revision: str = "") -> Data:
    """The datasets in a folder of builds, or `NAMESPACE[@TAG]` on the Hub; a folder comes first. Nothing is read yet.

    A folder that has a namespace's name and no dataset in it is not meant: in a clone of this software, `fairspace` is
    the package and the namespace. `./fairspace` always means the folder.

    Args:
        where: the folder or namespace.
        revision: of the items that are asked, which the builds must have; '' for the default.

    Errors: RunError DATA_MISSING if it is neither.
    """
    path, named = Path(where).expanduser(), _NAMESPACE.fullmatch(where)
    if path.is_dir() and (named is None or any((path / name).is_dir() for name in NAMES)):
        return Data(where, FolderOfBuilds(path), revision)
    if named is None:
        expected = "a folder of builds, or NAMESPACE or NAMESPACE@TAG of datasets on the Hub"
        mend = "make one with `fairspace build all --out built`, or with --sample a small one to try"
        raise RunError("DATA_MISSING", where, "no such folder", expected, mend)
    return Data(where, OnHub(named["namespace"], named["tag"]), revision)
