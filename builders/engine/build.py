"""Build a dataset: Parquet shards, card and manifest, from sources, for a seed.

  <config>/<split>-00000-of-0000N.parquet   the rows
  manifest.json                             `fairspace.builders.engine.dataset.BuildManifest`
  README.md                                 rendered from `cards/` and the manifest
  review/rejected.jsonl                     rejected candidates and the reason; not published
  .build/                                   finished parts of an unfinished build; gone when it is done

A shard is written beside its name, renamed, then entered in `.build/` with its hash: a killed build goes on at the
first shard without a true entry, and ends with the same bytes as an undisturbed one.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pydantic import TypeAdapter, ValidationError

from fairspace.builders.engine.dataset import BuildJob, BuildManifest, BuiltSplit, Dataset, Row, Shard, Split
from fairspace.builders.engine.making import forget_made
from fairspace.builders.engine.output import check_same, claim, in_use
from fairspace.builders.engine.tools import Tools
from fairspace.builders.errors import BuildError
from fairspace.builders.part import in_part
from fairspace.builders.writing import beside, write_text

if TYPE_CHECKING:
    import datasets

MANIFEST, WORK, _SHARDS = "manifest.json", ".build", "shards.json"
_SOFTWARE = ("fairspace", "pyarrow", "datasets", "pillow", "numpy")
_MODEL_SOFTWARE = ("torch", "transformers", "diffusers")


class BuildChoices(TypedDict, total=False):
    """Choices of the user of a build, which `BuildJob` explains."""

    source: Path | None
    seed: int
    sample: bool
    tools: Tools
    options: Mapping[str, str]
    progress: Callable[[str, int, int], None]


def build(
    dataset: Dataset,
    out: Path,
    *,
    describe: Callable[[Path, Dataset, BuildManifest], None] | None = None,
    **choices: Unpack[BuildChoices],
) -> BuildManifest:
    """Build a dataset into `out` and return its manifest, or go on where a call with the same arguments stopped.

    `out` is new or empty, or has such a build; `BuildJob` explains the `choices`. `describe` writes card and metadata,
    by default `fairspace.cards.dataset_card.write_cards`.

    Errors: BuildError OUT_IN_USE if `out` holds something else, and those of the builder.
    """
    choices.setdefault("source", None)
    job = BuildJob(work=out / WORK, **choices)
    request = _request(dataset, job)
    if (out / MANIFEST).is_file():
        finished = read_manifest(out)
        check_same(out, vars(finished), request)
        return finished
    splits, hashes = _planned(dataset, job, out, request)
    built = tuple(_build_split(split, job, out) for split in splits)
    manifest = BuildManifest(
        **request,
        versions=_versions(bool(request["tools"])),
        sources=hashes,
        splits=built,
        rejected=_merge_rejected(out, splits),
        notes=job.notes,
    )
    dataset.check(manifest)
    if describe is None:
        from fairspace.cards.dataset_card import write_cards

        write_cards(out, dataset, manifest)
    else:
        describe(out, dataset, manifest)
    for shard in (shard for split in built for shard in split.shards):  # so that no power cut makes the manifest untrue
        with (out / shard.file).open("rb") as stream:
            os.fsync(stream.fileno())
    write_atomically(out / MANIFEST, dumps(manifest))
    shutil.rmtree(out / WORK)
    return manifest


def build_part(dataset: Dataset, out: Path, part: str, **choices: Unpack[BuildChoices]) -> int:
    """Build the shards of a part (`I/N`) into its own folder, for `join_parts`; their number.

    Arguments and errors are those of `build`, which ends the work once the parts are joined.
    """
    choices.setdefault("source", None)
    job = BuildJob(work=out / WORK, **choices)
    splits, _ = _planned(dataset, job, out, _request(dataset, job))
    shards = [(split, place) for split in splits for place in range(_files(split))]
    names = [f"{split.config}/{_stem(split, place)}" for split, place in shards]
    write_atomically(job.work / _SHARDS, json.dumps(names))
    places = in_part(range(len(shards)), part)
    for place in places:
        _build_shard(*shards[place], job, out)
    return len(places)


def join_parts(parts: Sequence[Path], out: Path) -> int:
    """Put the shards of all parts of a build into `out`, a new folder, where `build` ends the work; their number.

    Errors: BuildError PARTS_UNJOINABLE for parts of other builds, a shard that lacks or stands in two; OUT_IN_USE.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise in_use(out, "it is there already")
    claims = ("asked.json", "sources.json", _SHARDS)
    entries: dict[str, Path] = {}
    for part in parts:
        for name in claims:
            file, head = part / WORK / name, parts[0] / WORK / name
            if not file.is_file() or file.read_bytes() != head.read_bytes():
                what = f"another build than {parts[0]} ({name})" if file.is_file() else "no part of a build"
                raise _unjoinable(part, what, "build all parts with the same arguments and sources")
        for entry in sorted((part / WORK).glob("*/*-of-*.json")):
            name = entry.relative_to(part / WORK).with_suffix("").as_posix()
            if name in entries:
                raise _unjoinable(part, f"{name}, which {entries[name]} has too", "name each part once")
            if _entered(entry, part) is not None:
                entries[name] = part
    names = json.loads((parts[0] / WORK / _SHARDS).read_bytes())
    if lacking := [name for name in names if name not in entries]:
        what = f"{len(lacking)} of {len(names)} shards lack, the first {lacking[0]}"
        raise _unjoinable(parts[0], what, "build the missing parts to their end, and name all")
    with beside(out) as place:
        for name in claims[:2]:
            _copy(parts[0] / WORK / name, place / WORK / name)
        for name, part in entries.items():
            _copy(part / f"{name}.parquet", place / f"{name}.parquet")
            _copy(part / WORK / f"{name}.json", place / WORK / f"{name}.json")
    return len(names)


def _copy(file: Path, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(file, to)


def _unjoinable(part: Path, what: str, mend: str) -> BuildError:
    return BuildError("PARTS_UNJOINABLE", str(part), what, "all parts of one build", mend)


def _request(dataset: Dataset, job: BuildJob) -> dict[str, Any]:
    """All that decides the bytes of a build."""
    return {
        "dataset": dataset.name,
        "revision": dataset.revision,
        "seed": job.seed,
        "sample": job.sample,
        "tools": {role: name for role, name in job.tools.names().items() if role in dataset.tools},
        "options": job.options,
    }


def _planned(
    dataset: Dataset, job: BuildJob, out: Path, request: Mapping[str, Any]
) -> tuple[Sequence[Split], dict[str, str]]:
    """The splits, and the hashes of source files; what is asked is entered in the work folder."""
    claim(out, job.work / "asked.json", request)
    splits = dataset.splits(job)
    if not splits:
        what = f"nothing can be built: {'; '.join(job.notes)}"
        mend = "run `fairspace build all --list-sources`, name the folder with --source, or try --sample"
        raise BuildError("SOURCE_MISSING", dataset.name, what, "at least one of its sources or tools", mend)
    hashes = {name: file_hash(file) for name, file in sorted(job.files.items())}
    claim(out, job.work / "sources.json", {"files": hashes, "units": {s.name: len(s.units) for s in splits}})
    write_atomically(job.work / "plan.rejected", "".join(f"{line}\n" for line in job.take_rejected()))
    return splits, hashes


def read_manifest(folder: Path) -> BuildManifest:
    """The manifest of a finished build. BuildError BUILD_INCOMPLETE if it is absent or contradicts a shard."""
    file = folder / MANIFEST
    remedy = "run `fairspace build` again with the same arguments; it goes on where it stopped"
    if not file.is_file():
        raise BuildError("BUILD_INCOMPLETE", str(folder), "no manifest.json", "a finished build", remedy)
    try:
        manifest = TypeAdapter(BuildManifest).validate_json(file.read_bytes())
    except ValidationError as error:
        first = error.errors()[0]
        what = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
        raise BuildError("BUILD_INCOMPLETE", str(file), what, "a build's manifest", remedy) from error
    for shard in (shard for split in manifest.splits for shard in split.shards):
        path = folder / shard.file
        if not path.is_file() or path.stat().st_size != shard.bytes:
            state = f"{path.stat().st_size} bytes" if path.is_file() else "no such file"
            raise BuildError("BUILD_INCOMPLETE", str(path), state, f"{shard.bytes} bytes", remedy)
    return manifest


def dumps(manifest: BuildManifest) -> str:
    """The manifest as JSON text."""
    return json.dumps(asdict(manifest), ensure_ascii=False, indent=1) + "\n"


def file_hash(file: Path) -> str:
    """The sha256 of a file, read in pieces."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def write_atomically(file: Path, text: str) -> None:
    """Write a file, and its folder, so that it is there whole or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    write_text(file, text)


def _build_split(split: Split, job: BuildJob, out: Path) -> BuiltSplit:
    """Build the split's shards; the images of a shard are forgotten once it is entered."""
    shards = [_build_shard(split, number, job, out) for number in range(_files(split))]
    rows = sum(shard.rows for shard in shards)
    counts = _counts(split, [out / shard.file for shard in shards])
    return BuiltSplit(split.config, split.split, split.about, rows, tuple(shards), *counts, split.fields)


def _files(split: Split) -> int:
    return max(1, -(-len(split.units) // split.shard))


def _stem(split: Split, number: int) -> str:
    return f"{split.split}-{number:05}-of-{_files(split):05}"


def _build_shard(split: Split, number: int, job: BuildJob, out: Path) -> Shard:
    """Build a shard, unless it is entered as built."""
    start, end = number * split.shard, min((number + 1) * split.shard, len(split.units))
    stem = _stem(split, number)
    entry = job.work / split.config / f"{stem}.json"
    shard = _entered(entry, out)
    if shard is None:
        shard = _shard(split, job, out, stem, slice(start, end))
        record = {"shard": asdict(shard), "rejected": job.take_rejected()}
        write_atomically(entry, json.dumps(record, ensure_ascii=False))
        forget_made(job.work)
    job.progress(f"Building {split.name}", end, len(split.units))
    return shard


def _entered(entry: Path, out: Path) -> Shard | None:
    """A shard that an earlier run finished; None without its entry, or if the file is another."""
    if not entry.is_file():
        return None
    shard = Shard(**json.loads(entry.read_text(encoding="utf-8"))["shard"])
    file = out / shard.file
    same = file.is_file() and file.stat().st_size == shard.bytes and file_hash(file) == shard.sha256
    return shard if same else None


def _shard(split: Split, job: BuildJob, out: Path, stem: str, part: slice) -> Shard:
    file = out / split.config / f"{stem}.parquet"
    file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_name(f"{file.name}.part")
    data = _as_dataset(split, split.rows(split.units[part]), job.work / "rows")
    data.to_parquet(unfinished)
    shard = Shard(file.relative_to(out).as_posix(), file_hash(unfinished), unfinished.stat().st_size, len(data))
    unfinished.replace(file)
    shutil.rmtree(job.work / "rows", ignore_errors=True)
    return shard


def _counts(split: Split, files: Sequence[Path]) -> tuple[dict[str, dict[str, int]], dict[str, int]]:
    """Rows by column and label ('' counts nulls), and by the labels of the split's groups together."""
    features = split.features().items()
    names = {column: [*kind.names, ""] for column, kind in features if type(kind).__name__ == "ClassLabel"}
    labels: dict[str, list[str]] = {column: [] for column in names}
    for table in (pq.read_table(file, columns=list(names)) for file in files if names):
        for column in names:  # -1, a null, is the last one
            labels[column] += [names[column][code] for code in pc.fill_null(table[column], -1).to_pylist()]
    counts = {column: dict.fromkeys(names[column][:-1], 0) | Counter(labels[column]) for column in names}
    joint = Counter(" / ".join(combined) for combined in zip(*(labels[column] for column in split.groups), strict=True))
    return counts, dict(sorted(joint.items()))


def _as_dataset(split: Split, rows: Iterable[Row] | pa.Table, cache: Path) -> datasets.Dataset:
    """Rows on disk, in a new folder, or a table as it is. ValueError for an unknown label."""
    import datasets

    datasets.disable_progress_bars()  # the job's own progress says more
    features = split.features()
    if isinstance(rows, pa.Table):
        return datasets.Dataset(rows.select(list(features))).cast(features)
    stream = iter(rows)
    first = list(islice(stream, 1))
    if not first:  # which `from_generator` cannot write
        return datasets.Dataset.from_dict({name: [] for name in features}, features)
    shutil.rmtree(cache, ignore_errors=True)  # of a build that was killed
    try:
        return datasets.Dataset.from_generator(
            lambda: chain(first, stream), features, str(cache), fingerprint=f"{split.config}-{split.split}"
        )
    except datasets.exceptions.DatasetGenerationError as error:
        raise error.__cause__ or error from None


def _merge_rejected(out: Path, splits: Sequence[Split]) -> dict[str, int]:
    """Write the log of rejected candidates, if there are any; reason -> candidates."""
    work, reasons = out / WORK, Counter[str]()

    def lines() -> Iterator[str]:
        yield from (work / "plan.rejected").read_text(encoding="utf-8").splitlines()
        for split in splits:
            for entry in sorted((work / split.config).glob(f"{split.split}-*-of-*.json")):
                yield from json.loads(entry.read_text(encoding="utf-8"))["rejected"]

    file = work / "rejected.jsonl"
    with file.open("w", encoding="utf-8") as stream:
        for line in lines():
            stream.write(f"{line}\n")
            reasons[json.loads(line)["reason"]] += 1
    if reasons:
        (out / "review").mkdir(exist_ok=True)
        file.replace(out / "review" / "rejected.jsonl")
    return dict(sorted(reasons.items()))


def _versions(models: bool) -> dict[str, str]:
    """Versions of software that can change the bytes of a build; with `models`, also of the libraries that run them."""
    versions = {"python": platform.python_version()}
    for package in (*_SOFTWARE, *(_MODEL_SOFTWARE if models else ())):
        with suppress(PackageNotFoundError):
            versions[package] = version(package)
    return versions
