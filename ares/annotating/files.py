"""Files of annotations: written whole, entered in `.annotate/`, joined from parts, and ended by `annotation.json`.

An entry `K-of-N.json` has the counts of file K of N, its tables, and its `marks`: `part`, the part that wrote it or '';
`told`, the use of a file of labels (`use_of`); `submission`, the benchmark of which the folder becomes a submission.
"""

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import Any

import pyarrow as pa

from fairspace.builders.engine.build import file_hash, write_atomically
from fairspace.builders.engine.output import check_same, claim, in_use
from fairspace.builders.errors import BuildError
from fairspace.builders.part import numbers

FILE, WORK, ASKED = "annotation.json", ".annotate", "asked.json"
SHARD, MOST = 1_000, 1_000
"""Images of a file, and most files; more images make larger files."""
_TABLES = {"annotations": "", "routes": "routes/"}
"""Table -> its folder."""
MISSING = "missing"
"""Reason of images that a file of labels does not name: they have no row, and so stay unknown."""
Counts = dict[str, Any]
"""Counts of outcomes.

`images`, inputs; `rows` of the annotations; `faces` found (one per readable image without a detector); `status` ->
rows; `reasons` (a word of `REASONS`, `no_face`, `missing`) -> images without a usable face; `notes` on reading (a word
of `NOTES`) -> images; `routes`, task of ARES -> route -> faces; `labels`, attribute -> label -> faces, '' for
abstentions.
"""


def added(first: Any, other: Any) -> Any:
    """The sum of counts; a missing key counts as 0."""
    if isinstance(first, int):
        return first + other
    keys = list(first) if list(first) == list(other) else sorted({*first, *other})
    return {
        key: added(first[key], other[key]) if key in first and key in other else first.get(key, other.get(key))
        for key in keys
    }


def use_of(use: str, labeller: str, counts: Counts) -> str:
    """The use that was made of a file of labels, in words; '' for other labellers. BuildError SOURCE_VALUE for none.

    `use`: the labeller's own words on the file, '' without one; `labeller`: its name.
    """
    images, missing = counts["images"], counts["reasons"].get(MISSING, 0)
    if use and missing and not {"ok", "no_face", "abstained"} & set(counts["status"]):
        mend = "label these images, as files that are named by their sha256"
        raise BuildError("SOURCE_VALUE", labeller, use, f"some of the {images:,} images here", mend)
    return use and f"{use}; it does not name {missing:,} of {images:,} images here: missing"


def images_of_file(request: Mapping[str, Any]) -> int:
    """The number of images in each file but the last. `request`: as in `asked.json`."""
    size: int = max(request["shard"], -(-request["images"] // MOST))
    return size


def entry_names(request: Mapping[str, Any]) -> list[str]:
    """The entries of all files of some work, by number."""
    count = max(1, -(-request["images"] // images_of_file(request)))
    return [f"{place:05}-of-{count:05}.json" for place in range(count)]


def is_done(out: Path, name: str) -> bool:
    """Whether a file is entered, and its tables are as they were written."""
    entry = _read(out / WORK / name)
    return bool(entry) and all(_is_there(out, entry[table]) for table in _TABLES)


def _read(file: Path) -> dict[str, Any]:
    entry: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return entry


def _is_there(out: Path, table: Mapping[str, Any]) -> bool:
    file = out / table["file"]
    return file.is_file() and file.stat().st_size == int(table["bytes"])


def write(
    out: Path,
    entry_name: str,
    annotations: pa.Table,
    routes: pa.Table,
    counts: Counts,
    names: Mapping[str, str],
    marks: Mapping[str, str],
) -> None:
    """Write the tables of one file, and enter it. `names`: the labeller, as of `annotate.Labeller`."""
    import pyarrow.parquet as pq

    metadata = {f"ares_{key}": names[key] for key in ("name", "revision", "sha256", "measurement")}
    entry: dict[str, Any] = {"tally": counts, "marks": dict(marks)}
    for table, rows in (("annotations", annotations), ("routes", routes)):
        name = f"{_TABLES[table]}{table}-{Path(entry_name).stem}.parquet"
        whole = out / name
        whole.parent.mkdir(exist_ok=True)
        part = whole.with_name(f"{whole.name}.part")
        pq.write_table(rows.replace_schema_metadata(metadata), part, compression="zstd")
        with part.open("rb") as stream:
            os.fsync(stream.fileno())
        size = part.stat().st_size
        entry[table] = {"file": name, "rows": rows.num_rows, "bytes": size, "sha256": file_hash(part)}
        part.replace(whole)
    write_atomically(out / WORK / entry_name, json.dumps(entry, ensure_ascii=False))


def finish(out: Path, request: Mapping[str, Any]) -> dict[str, Any]:
    """Write `annotation.json` for work whose files are all done, and return it, or the one that is there.

    BuildError BUILD_CHECK if inputs and fates do not agree; as `use_of`.
    """
    if (out / FILE).is_file():
        return finished(out, request)
    shards = [_read(out / WORK / name) for name in entry_names(request)]
    uses = [shard.pop("marks", {}).get("told", "") for shard in shards]
    total: Counts = reduce(added, (shard.pop("tally") for shard in shards))
    if total["images"] != request["images"] or total["rows"] != sum(total["status"].values()):
        what = f"{total['images']} images, {total['rows']} rows, {total['status']}"
        raise BuildError("BUILD_CHECK", str(out), what, f"a fate for {request['images']} images", "report this")
    data = {"format": 1, **request, "counts": total, "shards": shards}
    if use := use_of(uses[0], request["model"]["name"], total):
        data["use"] = use
    write_atomically(out / FILE, json.dumps(data, ensure_ascii=False, indent=1) + "\n")
    shutil.rmtree(out / WORK)
    return data


def finished(out: Path, request: Mapping[str, Any]) -> dict[str, Any]:
    """The `annotation.json` of finished work. BuildError OUT_IN_USE if it, or a table, is another."""
    data: dict[str, Any] = json.loads((out / FILE).read_text(encoding="utf-8"))
    check_same(out, data, request)
    for shard in data["shards"]:
        for table in _TABLES:
            if not _is_there(out, shard[table]):
                raise in_use(out, f"{shard[table]['file']} is not what was written")
    return data


def join(parts: Sequence[Path], out: Path) -> tuple[dict[str, Any], str]:
    """Join parts of one work into `out`; its `annotation.json`, and the benchmark that it is a submission of, or ''.

    `parts` are folders that `annotate` wrote parts into: one for each, or one for several. `out` is new or empty, or is
    the folder of all of them, or one that an earlier call stopped in. No model is opened. BuildError PARTS_UNJOINABLE
    names the parts of two works, files in two parts, and files that lack; OUT_IN_USE for other work in `out`.
    """
    again = "name each part once, all with the same options, --shard and images"
    if len(parts) == 1 and (parts[0] / FILE).is_file() and out.resolve() == parts[0].resolve():
        return finished(out, _read(out / FILE)), ""
    requests = [_read(part / WORK / ASKED) for part in parts]
    for part, request in zip(parts, requests, strict=True):
        if not request:
            what = "finished work" if (part / FILE).is_file() else f"no {WORK}/{ASKED}"
            raise BuildError("PARTS_UNJOINABLE", str(part), what, "a part of `ares annotate --part`", again)
        differ = [name for name in {**requests[0], **request} if requests[0].get(name) != request.get(name)]
        if differ:
            what = f"another {', '.join(differ)} than in {parts[0]}"
            raise BuildError("PARTS_UNJOINABLE", str(part), what, "parts of one work", again)
    names = entry_names(requests[0])
    holders = {name: [part for part in parts if is_done(part, name)] for name in names}
    for first, *others in filter(None, holders.values()):
        if others:
            both = [place for place, name in enumerate(names) if {first, others[0]} <= set(holders[name])]
            what = f"files {_listed(both)} of {len(names)} are in {first} too"
            raise BuildError("PARTS_UNJOINABLE", str(others[0]), what, "each file in one part", again)
    lacking = [place for place, name in enumerate(names) if not holders[name]]
    entries = {name: _read(part / WORK / name) for name, held in holders.items() for part in held}
    if lacking:
        counts = {numbers(entry["marks"]["part"])[1] for entry in entries.values()}
        absent = sorted({place % count for count in counts if len(counts) == 1 for place in lacking})
        parts_lacking = (
            "".join(f", of part {part}/{max(counts)}" for part in absent) if max(counts, default=1) > 1 else ""
        )
        what = f"files {_listed(lacking)} of {len(names)} lack{parts_lacking}"
        mend = "name the folders of these parts, or run them (again): the same command goes on"
        raise BuildError("PARTS_UNJOINABLE", ", ".join(map(str, parts)), what, "all files", mend)
    submission = entries[names[0]]["marks"]["submission"]
    if (out / FILE).is_file():
        return finished(out, requests[0]), submission
    claim(out, out / WORK / ASKED, requests[0])
    for name, (part,) in holders.items():
        if part.resolve() != out.resolve():
            for file in [*(Path(entries[name][table]["file"]) for table in _TABLES), Path(WORK) / name]:
                (out / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(part / file, out / file)
    return finish(out, requests[0]), submission


def _listed(places: Sequence[int]) -> str:
    """Numbers for a message: the first five."""
    return ", ".join(map(str, places[:5])) + (" and more" if len(places) > 5 else "")
