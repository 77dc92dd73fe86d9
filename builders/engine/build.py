"""Build a dataset: Parquet shards, card and manifest, from sources, for a seed.

  <config>/<split>-00000-of-0000N.parquet   the rows
  manifest.json                             `fairspace.builders.engine.dataset.Manifest`
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
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from fairspace.builders.engine.dataset import BuiltSplit, Dataset, Job, Manifest, Row, Shard, Split
from fairspace.builders.engine.making import forget_made
from fairspace.builders.engine.tools import Tools
from fairspace.builders.errors import BuildError
from fairspace.builders.writing import write_text

MANIFEST = "manifest.json"
_BATCH = 100
"""Rows per row group of a split with images, held in memory at a time."""
_SOFTWARE = ("fairspace", "pyarrow", "datasets", "pillow", "numpy")
_MODEL_SOFTWARE = ("torch", "transformers", "diffusers")


def build(
    dataset: Dataset,
    out: Path,
    *,
    source: Path | None = None,
    seed: int = 0,
    sample: bool = False,
    tools: Tools | None = None,
    options: Mapping[str, str] | None = None,
    progress: Callable[[str, int, int], None] = lambda what, done, total: None,
    describe: Callable[[Path, Dataset, Manifest], None] | None = None,
) -> Manifest:
    """Build a dataset into `out` and return its manifest, or go on where a call with the same arguments stopped.

    `out` is new or empty, or has such a build; `source` is the folder of sources, and `seed` that of every draw. A
    `sample` is small but complete. `progress` is called with the name of a step, units done, and units in all;
    `describe` writes card and metadata, by default `fairspace.cards.dataset_card.write_cards`.

    Errors: BuildError OUT_IN_USE if `out` holds something else, and those of the builder.
    """
    tools = tools or Tools()
    request: dict[str, Any] = {
        "dataset": dataset.name,
        "revision": dataset.revision,
        "seed": seed,
        "sample": sample,
        "tools": {role: name for role, name in tools.names().items() if role in dataset.tools},
        "options": dict(options or {}),
    }
    work = out / ".build"
    done = _finished(out, request)
    if done is not None:
        return done
    _claim(out, work / "asked.json", request)
    job = Job(source, work, seed, sample, tools, dict(options or {}), progress)
    splits = dataset.splits(job)
    if not splits:
        what = f"nothing can be built: {'; '.join(job.notes)}"
        mend = "run `fairspace build all --list-sources`, name the folder with --source, or try --sample"
        raise BuildError("SOURCE_MISSING", dataset.name, what, "at least one of its sources or tools", mend)
    hashes = {name: file_hash(file) for name, file in sorted(job.files.items())}
    _claim(out, work / "sources.json", {"files": hashes, "units": {s.name: len(s.units) for s in splits}})
    write_atomically(work / "plan.rejected", "".join(f"{line}\n" for line in job.take_rejected()))
    built = tuple(_build_split(split, job, out) for split in splits)
    manifest = Manifest(
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
    shutil.rmtree(work)
    return manifest


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a finished build. BuildError BUILD_INCOMPLETE if it is absent or contradicts a shard."""
    file = folder / MANIFEST
    remedy = "run `fairspace build` again with the same arguments; it goes on where it stopped"
    if not file.is_file():
        raise BuildError("BUILD_INCOMPLETE", str(folder), "no manifest.json", "a finished build", remedy)
    data = json.loads(file.read_text(encoding="utf-8"))
    splits = []
    for split in data.pop("splits"):
        shards = tuple(Shard(**shard) for shard in split.pop("shards"))
        splits.append(BuiltSplit(shards=shards, **split))
    for shard in (shard for split in splits for shard in split.shards):
        path = folder / shard.file
        if not path.is_file() or path.stat().st_size != shard.bytes:
            state = f"{path.stat().st_size} bytes" if path.is_file() else "no such file"
            raise BuildError("BUILD_INCOMPLETE", str(path), state, f"{shard.bytes} bytes", remedy)
    notes = tuple(data.pop("notes"))
    return Manifest(splits=tuple(splits), notes=notes, **data)


def dumps(manifest: Manifest) -> str:
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


def _finished(out: Path, request: Mapping[str, Any]) -> Manifest | None:
    if out.is_file():
        raise _in_use(out, "it is a file")
    if not (out / MANIFEST).is_file():
        return None
    manifest = read_manifest(out)
    for name, value in request.items():
        if getattr(manifest, name) != value:
            raise _in_use(out, f"a build with {name} {getattr(manifest, name)!r}, not {value!r}")
    return manifest


def _claim(out: Path, file: Path, request: Mapping[str, Any]) -> None:
    text = json.dumps(request, indent=1, sort_keys=True)
    if not file.is_file():
        if not file.parent.is_dir() and out.is_dir() and any(out.iterdir()):
            raise _in_use(out, "it is not empty")
        write_atomically(file, text)
    elif file.read_text(encoding="utf-8") != text:
        raise _in_use(out, f"an unfinished build with other {file.stem}")


def _in_use(out: Path, what: str) -> BuildError:
    mend = "name another --out, or remove the folder"
    return BuildError("OUT_IN_USE", str(out), what, "a new folder, or this build's own", mend)


def _build_split(split: Split, job: Job, out: Path) -> BuiltSplit:
    """Build the split's shards; the images of a shard are forgotten once it is entered."""
    total = len(split.units)
    files = max(1, -(-total // split.shard))
    shards: list[Shard] = []
    counts: dict[str, Counter[str]] = {}
    joint = Counter[str]()
    for number in range(files):
        start, end = number * split.shard, min((number + 1) * split.shard, total)
        stem = f"{split.split}-{number:05}-of-{files:05}"
        entry = job.work / split.config / f"{stem}.json"
        known = _entered(entry, out)
        if known is None:
            known = _shard(split, job, out, stem, slice(start, end))
            write_atomically(entry, json.dumps(known, ensure_ascii=False))
            forget_made(job.work)
        shards.append(Shard(**known["shard"]))
        joint.update(known["joint"])
        for column, values in known["counts"].items():
            counts.setdefault(column, Counter()).update(values)
        job.progress(f"Building {split.name}", end, total)
    rows = sum(shard.rows for shard in shards)
    ordered = {c: {name: n for name, n in v.items() if name or n} for c, v in counts.items()}
    return BuiltSplit(
        split.config, split.split, split.about, rows, tuple(shards), ordered, dict(joint), dict(split.fields)
    )


def _entered(entry: Path, out: Path) -> dict[str, Any] | None:
    """The entry of a shard that an earlier run finished; None without one, or if the shard is another."""
    if not entry.is_file():
        return None
    known: dict[str, Any] = json.loads(entry.read_text(encoding="utf-8"))
    file, shard = out / known["shard"]["file"], Shard(**known["shard"])
    same = file.is_file() and file.stat().st_size == shard.bytes and file_hash(file) == shard.sha256
    return known if same else None


def _shard(split: Split, job: Job, out: Path, stem: str, part: slice) -> dict[str, Any]:
    """Write a shard; its entry: `shard`, `counts` by column and label, `joint` counts, `rejected` candidates."""
    file = out / split.config / f"{stem}.parquet"
    file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_name(f"{file.name}.part")
    features = split.features()
    names = {column: kind.names for column, kind in features.items() if type(kind).__name__ == "ClassLabel"}
    counts = {column: Counter[int]() for column in names}
    joint = Counter[tuple[int, ...]]()
    rows = 0
    with pq.ParquetWriter(unfinished, features.arrow_schema, write_page_index=True, **_settings(features)) as writer:
        for table in _tables(split.rows(split.units[part]), features.arrow_schema, names):
            writer.write_table(table)
            rows += table.num_rows
            codes = {column: pc.fill_null(table[column], -1).to_numpy().tolist() for column in names}
            for column, values in codes.items():
                counts[column].update(values)
            if split.groups:
                joint.update(zip(*(codes[column] for column in split.groups), strict=True))
    labels_of = {column: [*labels, ""] for column, labels in names.items()}  # so -1, a null, is the last one
    counted = {c: {labels_of[c][code]: counts[c][code] for code in (*range(len(labels_of[c]) - 1), -1)} for c in names}
    labelled = {
        " / ".join(labels_of[column][code] for column, code in zip(split.groups, combined, strict=True)): number
        for combined, number in joint.items()
    }
    shard = Shard(file.relative_to(out).as_posix(), file_hash(unfinished), unfinished.stat().st_size, rows)
    unfinished.replace(file)
    rejected = job.take_rejected()
    return {"shard": asdict(shard), "counts": counted, "joint": dict(sorted(labelled.items())), "rejected": rejected}


def _settings(features: Any) -> dict[str, Any]:
    """Parquet settings by column: image files stay as they are, because they are compressed already."""
    images = {f"{column}.bytes" for column, feature in features.items() if type(feature).__name__ == "Image"}
    if not images:
        return {"compression": "zstd"}
    leaves = [
        f"{field.name}.{child.name}" if child is not field else field.name
        for field in features.arrow_schema
        for child in (field.type if pa.types.is_struct(field.type) else (field,))
    ]
    others = [leaf for leaf in leaves if leaf not in images]
    codecs = {leaf: "none" if leaf in images else "snappy" for leaf in leaves}
    return {"compression": codecs, "use_dictionary": others, "write_statistics": others}


def _tables(
    rows: Iterable[Row] | pa.Table, schema: pa.Schema, names: Mapping[str, Sequence[str]]
) -> Iterator[pa.Table]:
    """Rows as tables of the schema, in pieces; a label's name becomes its number. KeyError for an unknown one."""
    if isinstance(rows, pa.Table):
        for column, labels in names.items():
            if pa.types.is_string(rows.schema.field(column).type):
                code = pc.index_in(rows[column], pa.array(labels))
                if code.null_count > rows[column].null_count:
                    wrong = rows[column].filter(pc.and_(pc.is_null(code), pc.is_valid(rows[column])))[0]
                    raise KeyError(f"{wrong.as_py()!r} is no label of {column}: {labels}")
                rows = rows.set_column(rows.column_names.index(column), column, code.cast(pa.int64()))
        yield rows.select(schema.names).cast(schema)
        return
    stream = iter(rows)
    while batch := list(islice(stream, _BATCH)):
        if unknown := set(batch[0]) ^ set(schema.names):
            raise KeyError(f"a row and the features disagree about {sorted(unknown)}")
        columns = {}
        for field in schema:
            values = [row[field.name] for row in batch]
            if field.name in names and any(isinstance(value, str) for value in values):
                number = {label: place for place, label in enumerate(names[field.name])}
                values = [number[value] if isinstance(value, str) else value for value in values]
            is_image = pa.types.is_struct(field.type)
            columns[field.name] = _structs(values, field.type) if is_image else pa.array(values, field.type)
        yield pa.table(columns, schema=schema)


def _structs(values: Sequence[Mapping[str, Any] | None], type_: pa.StructType) -> pa.StructArray:
    """Images, from an array for each part: twice as fast as from dicts."""
    parts = [pa.array([None if v is None else v[part.name] for v in values], part.type) for part in type_]
    return pa.StructArray.from_arrays(parts, fields=list(type_), mask=pa.array([v is None for v in values]))


def _merge_rejected(out: Path, splits: Sequence[Split]) -> dict[str, int]:
    """Write the log of rejected candidates, if there are any; reason -> candidates."""
    work, reasons = out / ".build", Counter[str]()

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
