"""What the manifest of a dataset says, and whether a split's files are those that it names."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairspace.builders.engine.build import MANIFEST, file_hash
from fairspace.builders.registry import dataset
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.running.errors import RunError


@dataclass(frozen=True)
class Known:
    """What of a manifest decides a run.

    Args:
        revision: of the item plan.
        sample: whether it is the small dataset.
        notes: what the build left out and why.
        shards: (config, split) -> file below the dataset's folder -> bytes.
        sha256: of the manifest.
    """

    revision: str
    sample: bool
    notes: tuple[str, ...]
    shards: Mapping[tuple[str, str], Mapping[str, int]]
    sha256: str


def read_known(folder: Path, name: str, revision: str = "") -> Known | None:
    """The manifest of a dataset; None where there is none, as in a folder of joined images alone.

    Args:
        folder: of the build.
        name: of the dataset.
        revision: of the items that are asked, which the build must have; '' for the default.

    Errors: RunError DATA_INVALID if the build is not finished, or of another dataset or revision.
    """
    file = folder / MANIFEST
    if not file.is_file():
        if (folder / ".build").is_dir():
            mend = "run its `fairspace build` again; it goes on where it stopped"
            raise RunError("DATA_INVALID", str(folder), "a build that is not finished", "a finished one", mend)
        return None
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
        named = str(data["dataset"])
        known = Known(
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
    if (named, known.revision) != (name, expected):
        what = f"revision {known.revision} of {named}"
        mend = build_command(name) if expected == newest else f"name the build that has it, from the tag {expected}"
        if named == name and benchmark(dataset(name).benchmark).has_revision(known.revision):
            mend += f"; or ask what this build has, with --dataset-revision {known.revision}"
        raise RunError("DATA_INVALID", str(file), what, f"revision {expected} of {name}", mend)
    return known


def check_shards(folder: Path, named: Mapping[str, int], there: Sequence[str]) -> None:
    """Check that the files are whole which a manifest names. RunError DATA_INVALID if not.

    None of them may be there, if others are: then images were joined to a copy of the rest.

    Args:
        folder: of the dataset.
        named: file below it -> bytes.
        there: the split's files that were found.
    """
    if not named.keys() & set(there):
        return
    for file, size in named.items():
        bytes_there = (folder / file).stat().st_size if file in there else None
        if bytes_there != size:
            what = "no such file" if bytes_there is None else f"{bytes_there:,} bytes"
            mend = "copy or fetch the dataset again, or build it anew"
            raise RunError("DATA_INVALID", str(folder / file), what, f"{size:,} bytes", mend)


def content_hash(files: Sequence[Path]) -> str:
    """The sha256 over the names and contents of files."""
    return hashlib.sha256("".join(f"{file_hash(file)} {file.name}\n" for file in files).encode()).hexdigest()


def build_command(name: str, out: Path | None = None) -> str:
    """How to build a dataset, and what its images need."""
    about = dataset(name)
    needs = [*(f"--source with {source}" for source in about.sources), *(f"--tool {tool}=..." for tool in about.tools)]
    command = f"`fairspace build {name} --out {out or f'built/{name}'}`"
    return command + (f", whose images take {', '.join(needs)}" if needs else "") + "; add --sample to try"


def _shards(split: Mapping[str, Any]) -> dict[str, int]:
    return {str(shard["file"]): int(shard["bytes"]) for shard in split["shards"]}
