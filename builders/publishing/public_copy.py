"""What of a build may be published: everything but the images whose source does not let them be passed on.

Such rows keep ids, labels, file name, hash and crop; the repository then also holds `join_images.py`, which puts the
images in again from the user's own copy of the source.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from fairspace.builders.engine.build import MANIFEST, dumps, file_hash, read_manifest
from fairspace.builders.engine.dataset import BuiltSplit, Dataset, Shard, expect
from fairspace.builders.sources import SOURCES

ORIGIN = "origin"
"""The column that names a row's source."""


def public_copy(dataset: Dataset, built: Path, scratch: Path, namespace: str) -> Mapping[str, Path]:
    """The files of a dataset's repository: path in it -> file.

    Args:
        dataset: which.
        built: the folder of a finished build; it is not changed.
        scratch: an empty folder for the files that differ from the build's.
        namespace: on the Hub; the card's examples name it.

    Errors: BuildError BUILD_INCOMPLETE if the build is not finished or damaged, BUILD_CHECK if nothing says where
    images come from that may not be passed on.
    """
    manifest = read_manifest(built)
    splits = tuple(_public_split(dataset, split, built, scratch) for split in manifest.splits)
    left_out = [
        f"the images of {sum(counts)} rows of {split.config}/{split.split}, whose source does not let them be passed on"
        for split in manifest.splits
        if (counts := [n for origin, n in _restricted(split).items() if n])
    ]
    public = replace(manifest, splits=splits, notes=(*manifest.notes, *left_out))
    from fairspace.cards.dataset_card import write_cards

    files = {shard.file: _either(scratch, built, shard.file) for split in splits for shard in split.shards}
    for file, path in files.items():
        if path.is_relative_to(built):
            link = scratch / file
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(path.resolve())
    write_cards(scratch, dataset, public, namespace)
    (scratch / MANIFEST).write_text(dumps(public), encoding="utf-8")
    names = ["README.md", "croissant.json", MANIFEST]
    if left_out:
        names.append("join_images.py")
        (scratch / "join_images.py").write_bytes((Path(__file__).parent / "join_images.py").read_bytes())
    return files | {name: scratch / name for name in names}


def _either(scratch: Path, built: Path, file: str) -> Path:
    return scratch / file if (scratch / file).exists() else built / file


def _restricted(split: BuiltSplit) -> dict[str, int]:
    """Origin -> rows, for the origins whose images may not be passed on."""
    counts = split.counts.get(ORIGIN, {})
    return {origin: rows for origin, rows in counts.items() if origin in SOURCES and not SOURCES[origin].redistribute}


def _public_split(dataset: Dataset, split: BuiltSplit, built: Path, scratch: Path) -> BuiltSplit:
    """The split as it may be published. BuildError BUILD_CHECK if nothing says where its images come from."""
    from datasets import Features, Image

    features = Features.from_arrow_schema(pq.read_schema(built / split.shards[0].file))
    images = any(isinstance(feature, Image) for feature in features.values())
    kept_back = any(not SOURCES[name].redistribute for name in dataset.sources)
    where = f"{dataset.name}, {split.config}/{split.split}"
    expect(not (images and kept_back) or ORIGIN in split.counts, where, f"images without {ORIGIN}", "their source")
    if not any(_restricted(split).values()):
        return split
    return replace(split, shards=tuple(_public_shard(shard, built, scratch) for shard in split.shards))


def _public_shard(shard: Shard, built: Path, scratch: Path) -> Shard:
    """Write the shard again without the images of restricted rows; as it was if it has none."""
    from datasets import Features, Image

    file = scratch / shard.file
    file.parent.mkdir(parents=True, exist_ok=True)
    with pq.ParquetFile(built / shard.file) as source:
        schema = source.schema_arrow
        features = Features.from_arrow_schema(schema)
        images = [name for name, feature in features.items() if isinstance(feature, Image)]
        labels = features[ORIGIN].names
        hidden = pa.array([SOURCES[label].redistribute if label in SOURCES else True for label in labels])
        with pq.ParquetWriter(file, schema, compression="snappy", write_page_index=True) as writer:
            for group in range(source.num_row_groups):
                table = source.read_row_group(group)
                shown = hidden.take(table[ORIGIN].combine_chunks())
                for name in images:
                    nothing = pa.nulls(table.num_rows, table.schema.field(name).type)
                    kept = pc.if_else(shown, table[name].combine_chunks(), nothing)
                    table = table.set_column(table.column_names.index(name), table.schema.field(name), kept)
                writer.write_table(table)
    return Shard(shard.file, file_hash(file), file.stat().st_size, shard.rows)
