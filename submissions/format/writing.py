"""Write a submission: `submission.json` and its tables, into a new folder or a zip."""

import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq

from fairspace.builders.writing import beside
from fairspace.submissions.errors import UsageError
from fairspace.submissions.format.manifest import FILE, Manifest
from fairspace.submissions.format.schema import SCHEMAS, SubmissionMeta

TableFormat = Literal["parquet", "jsonl"]
EPOCH = (1980, 1, 1, 0, 0, 0)


def write_submission(
    path: Path,
    meta: SubmissionMeta,
    tables: Mapping[str, pa.Table],
    *,
    table_format: TableFormat = "parquet",
    shards: int = 1,
    manifest: Manifest | None = None,
) -> Path:
    """Write a submission and return its path; the same content gives the same bytes.

    A `path` that ends in .zip is a zip, another one a folder, which must be new or empty. Missing columns are null.
    `table_format` is `parquet` or `jsonl`, each table in `shards` files; without a `manifest` its file is left out.

    Errors: UsageError if there is something at `path`, a table or column is unknown, or a type does not fit.
    """
    files = {"submission.json": _json(meta.model_dump(exclude_none=True), indent=1).encode() + b"\n"}
    if manifest is not None:
        files[FILE] = manifest.dumps().encode()
    for name, table in tables.items():
        whole = _complete(name, table)
        size = -(-whole.num_rows // shards) or 1
        for shard in range(shards):
            number = f"-{shard:05}-of-{shards:05}" if shards > 1 else ""
            part = whole.slice(shard * size, size)
            files[f"{name}{number}.{table_format}"] = _parquet(part) if table_format == "parquet" else _jsonl(part)
    check_new(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".zip":
        with beside(path) as place, zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in files.items():
                info = zipfile.ZipInfo(name, EPOCH)
                archive.writestr(info, data, zipfile.ZIP_DEFLATED if name.endswith("l") else zipfile.ZIP_STORED)
        return path
    with beside(path) as place:
        place.mkdir(exist_ok=True)
        for name, data in files.items():
            (place / name).write_bytes(data)
    return path


def check_new(path: Path) -> None:
    """UsageError if there is something at the place of a submission."""
    if path.exists() and (not path.is_dir() or path.suffix == ".zip" or any(path.iterdir())):
        raise UsageError(f"There is something at {path} already. Name a new folder or zip.")


def _complete(name: str, table: pa.Table) -> pa.Table:
    if name not in SCHEMAS:
        raise UsageError(f"There is no table {name!r}. Known: {', '.join(SCHEMAS)}.")
    schema = SCHEMAS[name]
    unknown = [column for column in table.column_names if column not in schema.names]
    if unknown:
        raise UsageError(f"The table {name} has no column {unknown[0]!r}. Known: {', '.join(schema.names)}.")
    columns = [
        table[field.name] if field.name in table.column_names else pa.nulls(table.num_rows, field.type)
        for field in schema
    ]
    try:
        return pa.table(columns, names=schema.names).cast(schema)
    except (pa.ArrowException, ValueError) as error:
        raise UsageError(f"The table {name} does not fit its schema: {error}") from error


def _parquet(table: pa.Table) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(_given(table), buffer, compression="zstd", row_group_size=1 << 17)
    return buffer.getvalue()


def _jsonl(table: pa.Table) -> bytes:
    return "".join(f"{line}\n" for line in _lines(_given(table))).encode()


def _lines(table: pa.Table) -> Iterator[str]:
    for batch in table.to_batches(max_chunksize=1 << 14):
        yield from map(_json, batch.to_pylist())


def _given(table: pa.Table) -> pa.Table:
    kept = [f.name for f in table.schema if f.name in ("response", "judgement") or not f.nullable]
    kept += [c for c in table.column_names if c not in kept and table[c].null_count < table.num_rows]
    return table.select([c for c in table.column_names if c in kept])


def _json(data: Any, indent: int | None = None) -> str:
    return json.dumps(data, ensure_ascii=False, allow_nan=False, indent=indent)
