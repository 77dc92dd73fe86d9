"""Hostile or broken submissions, each with the codes that checking must find.

`python -m tests.submissions.checking.hostile FOLDER` builds and checks each case below FOLDER, with limited memory and
an alarm, and prints the outcomes as JSON.
"""

import json
import os
import resource
import signal
import stat
import struct
import sys
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa
import pyarrow.parquet as pq

from fairspace.submissions.checking.submission import check_submission
from fairspace.submissions.reading.containers import LIMITS, Limits
from tests.submissions import sample
from tests.submissions.sample import jsonl, meta_bytes, response_rows, write_folder, write_zip

Build = Callable[[Path], Path]
SECONDS = 60
MEMORY = 4 << 30


@dataclass(frozen=True)
class Case:
    """A submission, its expected codes (none: it is fine), and a word in its faults."""

    build: Build
    codes: frozenset[str]
    says: str = ""
    limits: Limits = LIMITS


CASES: dict[str, Case] = {}
GOOD = {"submission.json": meta_bytes(), "responses.jsonl": jsonl(response_rows())}


def case(*codes: str, says: str = "", **limits: int) -> Callable[[Build], Build]:
    def register(build: Build) -> Build:
        CASES[build.__name__] = Case(build, frozenset(codes), says, replace(LIMITS, **limits))
        return build

    return register


def folder(name: str, files: dict[str, bytes], *codes: str, says: str = "", **limits: int) -> None:
    whole = {file: data for file, data in (GOOD | files).items() if data != b"REMOVE"}
    CASES[name] = Case(lambda path: write_folder(path / "s", whole), frozenset(codes), says, replace(LIMITS, **limits))


def changed(name: str, change: Callable[[Path], object], *codes: str) -> None:
    """Register the good folder after a change."""

    def build(path: Path) -> Path:
        made = write_folder(path / "s", GOOD)
        change(made)
        return made

    CASES[name] = Case(build, frozenset(codes))


def members(
    name: str, extra: Iterable[tuple[str | zipfile.ZipInfo, bytes]], *codes: str, says: str = "", **limits: int
) -> None:
    whole = [*GOOD.items(), *extra]
    CASES[name] = Case(lambda path: write_zip(path / "s.zip", whole), frozenset(codes), says, replace(LIMITS, **limits))


def zipped(name: str, change: Callable[[bytes], bytes], *codes: str, says: str = "") -> None:
    """Register the good zip with other bytes."""

    def build(path: Path) -> Path:
        whole = write_zip(path / "s.zip", GOOD.items())
        whole.write_bytes(change(whole.read_bytes()))
        return whole

    CASES[name] = Case(build, frozenset(codes), says)


def meta(name: str, changes: dict[str, Any], *codes: str, says: str = "") -> None:
    folder(name, {"submission.json": meta_bytes(**changes)}, *codes, says=says)


def raw_meta(name: str, old: str, new: str, *codes: str, says: str = "") -> None:
    text = meta_bytes().decode()
    assert old in text
    folder(name, {"submission.json": text.replace(old, new, 1).encode("utf-8", "surrogatepass")}, *codes, says=says)


def line(name: str, text: str | bytes, *codes: str, says: str = "") -> None:
    data = text.encode() if isinstance(text, str) else text
    folder(name, {"responses.jsonl": GOOD["responses.jsonl"] + data + b"\n"}, *codes, says=says)


def row(name: str, changes: dict[str, Any], *codes: str, says: str = "") -> None:
    line(
        name, json.dumps({"task": "quiz", "id": "quiz/001", "sample": 0, "response": "A"} | changes), *codes, says=says
    )


def face(name: str, rows: list[dict[str, Any]], *codes: str, says: str = "") -> None:
    base = {"task": "image", "id": "image/001", "sample": 0, "face": 0, "status": "ok", "gender": "female"}
    folder(name, {"annotations.jsonl": jsonl(base | changes for changes in rows)}, *codes, says=says)


def parquet(name: str, table: pa.Table, *codes: str, says: str = "", **limits: int) -> None:
    raw_parquet(name, parquet_bytes(table), *codes, says=says, **limits)


def raw_parquet(name: str, data: bytes, *codes: str, says: str = "", **limits: int) -> None:
    folder(name, {"responses.jsonl": b"REMOVE", "responses.parquet": data}, *codes, says=says, **limits)


def parquet_bytes(table: pa.Table) -> bytes:
    buffer = BytesIO()
    pq.write_table(table, buffer, compression="zstd")
    return buffer.getvalue()


def entry(name: str, mode: int = 0o100644) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo("x")
    info.filename = info.orig_filename = name
    info.external_attr = mode << 16
    return info


def responses(**columns: Any) -> pa.Table:
    """Two good response rows with replaced columns; None removes one."""
    base: dict[str, Any] = {
        "task": pa.array(["quiz", "quiz"]),
        "id": pa.array(["quiz/001", "quiz/002"]),
        "sample": pa.array([0, 0], pa.int32()),
        "response": pa.array(["A", "B"]),
    }
    return pa.table({name: column for name, column in (base | columns).items() if column is not None})


# --- fine ---
folder("good_folder", {})
members("good_zip", [])
meta("model_is_a_formula", {"model": "=cmd()|' /C calc'!A0"})
meta("model_is_html", {"model": "<img src=x onerror=alert(1)>"})
row("response_is_html_and_formula", {"response": "=1+1 <script>alert(1)</script> \u202e"})
row("minus_zero_sample", {"sample": -0})
line("minus_zero_in_json", '{"task": "quiz", "id": "quiz/001", "sample": -0, "response": "A"}')
line("windows_line_ends", '{"task": "quiz", "id": "quiz/001", "sample": 0, "response": "A"}\r')
line("blanks_around", '  {"task": "quiz", "id": "quiz/001", "sample": 0, "response": "A"}\t ')
row("brackets_in_text", {"response": "[" * 5000 + '{"' * 100})
row("escaped_nul_that_is_none", {"response": "\\u0000"})
folder("no_last_newline", {"responses.jsonl": GOOD["responses.jsonl"].rstrip(b"\n")})
folder("hub_extras", {"README.md": b"#", ".gitattributes": b"", "LICENSE": b""})
parquet(
    "narrow_and_wide_types",
    responses(sample=pa.array([0, 0], pa.uint8()), response=pa.array(["A", "B"], pa.large_string())),
)
parquet("dictionaries_and_views", responses(task=pa.array(["quiz"] * 2).dictionary_encode(), names=pa.nulls(2)))
parquet("responses_all_null_type", responses(response=pa.nulls(2)))

# --- containers ---
members("zip_slip", [("../../evil.txt", b"x")], "UNSAFE_PATH")
members("zip_absolute", [("/etc/evil", b"x")], "UNSAFE_PATH")
members("zip_drive", [("C:/evil", b"x")], "UNSAFE_PATH")
members("zip_backslash", [("..\\evil", b"x")], "UNSAFE_PATH")
members("zip_double_slash", [("a//b", b"x")], "UNSAFE_PATH")
members("zip_symlink", [(entry("responses-link.jsonl", stat.S_IFLNK | 0o777), b"/etc/passwd")], "LINK_REFUSED")
members("zip_device", [(entry("annotations.jsonl", stat.S_IFCHR | 0o666), b"")], "NOT_A_FILE")
members("zip_fifo", [(entry("annotations.jsonl", stat.S_IFIFO | 0o666), b"")], "NOT_A_FILE")
members("zip_in_zip", [("more.zip", b"PK\x03\x04")], "NESTED_ARCHIVE")
members("tar_in_zip", [("more.tar", b"x")], "NESTED_ARCHIVE")
members("gzip_table", [("annotations.jsonl.gz", b"x")], "NESTED_ARCHIVE")
members("folder_in_zip", [("more/", b""), ("more/x.txt", b"x")], "NESTED_FOLDER")
members("duplicate_member", [("responses.jsonl", b"{}\n")], "DUPLICATE_FILE")
members("case_collision", [("Responses.JSONL", b"{}\n")], "CASE_COLLISION")
members("reserved_name_con", [("CON", b"x")], "UNSAFE_NAME")
members("reserved_name_nul_txt", [("NUL.txt", b"x")], "UNSAFE_NAME")
members("name_with_nul", [(entry("a\0b.jsonl"), b"x")], "UNSAFE_NAME")
members("name_with_newline", [("a\nb.jsonl", b"x")], "UNSAFE_NAME")
members("name_with_escape", [("\x1b[2Ja.jsonl", b"x")], "UNSAFE_NAME", says="x1b")
members("name_right_to_left", [("responses\u202elnosj.exe", b"x")], "UNSAFE_NAME", says="u202e")
members("name_left_to_right_mark", [("a\u200e.jsonl", b"x")], "UNSAFE_NAME")
members("name_very_long", [("a" * 5000 + ".jsonl", b"x")], "UNSAFE_NAME")
members("name_ends_with_dot", [("responses.jsonl.", b"x")], "UNSAFE_NAME")
members("name_ends_with_blank", [("responses.jsonl ", b"x")], "UNSAFE_NAME")
members("name_with_accent", [("é.jsonl", b"x")], "UNKNOWN_FILE")
members("name_with_quotes", [("a'\"b.jsonl", b"x")], "UNKNOWN_FILE")
members("pickle_in_zip", [("model.pkl", b"cos\nsystem\n(S'true'\ntR.")], "UNKNOWN_FILE")
members("misspelt_file", [("response.jsonl", b"")], "UNKNOWN_FILE", says="did you mean 'responses.jsonl'")
members("table_of_another_format", [("annotations.csv", b"x")], "UNKNOWN_FILE")
members("images_as_lines", [("images.jsonl", b"{}\n")], "UNKNOWN_FILE")
members("both_formats", [("responses.parquet", parquet_bytes(responses()))], "MIXED_FORMATS")
members("shard_beside_whole", [("responses-00000-of-00001.jsonl", b"")], "SHARDS_INCOMPLETE")
members("shard_missing", [("annotations-00001-of-00002.jsonl", b"")], "SHARDS_INCOMPLETE")
members("shard_alone", [("annotations-00000-of-00001.jsonl", b"")])
members("shard_missing_at_the_end", [("annotations-00000-of-00002.jsonl", b"")], "SHARDS_INCOMPLETE")
members("shard_too_many", [(f"annotations-0000{i}-of-00002.jsonl", b"") for i in range(3)], "SHARDS_INCOMPLETE")
members(
    "shards_of_two_formats",
    [(f"annotations-0000{i}-of-00002.{('jsonl', 'parquet')[i]}", b"") for i in range(2)],
    "MIXED_FORMATS",
)
members(
    "shard_totals_differ", [(f"annotations-0000{i}-of-0000{i + 1}.jsonl", b"") for i in range(3)], "SHARDS_INCOMPLETE"
)


members("bomb_by_ratio", [("annotations.jsonl", bytes(100 << 20))], "COMPRESSION_RATIO")
members("bomb_by_size", [("annotations.jsonl", os.urandom(2 << 20))], "TOO_LARGE", member_bytes=1 << 20)
members(
    "bomb_by_total",
    [(f"annotations-0000{i}-of-00004.jsonl", os.urandom(1 << 20)) for i in range(4)],
    "TOO_LARGE",
    total_bytes=3 << 20,
)
members("many_members", [(f"{i}", b"") for i in range(4998)], "TOO_MANY_FILES")
members("zip64_directory", [(f"{i}", b"") for i in range(65_998)], "ZIP64")
folder("many_files", {f"{i}": b"" for i in range(60)}, "TOO_MANY_FILES", members=50)
folder("empty_folder", dict.fromkeys(GOOD, b"REMOVE"), "MISSING_FILE")


@case("MISSING_FILE")
def empty_zip(path: Path) -> Path:
    return write_zip(path / "s.zip", [])


@case("NOT_A_SUBMISSION")
def fifo_as_submission(path: Path) -> Path:
    os.mkfifo(path / "s")
    return path / "s"


def patched(signature: bytes, offset: int, change: bytes) -> Callable[[bytes], bytes]:
    """A change of the bytes at an offset from each place of a signature."""

    def patch(whole: bytes) -> bytes:
        data = bytearray(whole)
        at = data.find(signature)
        while at >= 0:
            data[at + offset : at + offset + len(change)] = change
            at = data.find(signature, at + 4)
        return bytes(data)

    return patch


LOCAL, CENTRAL = b"PK\x03\x04", b"PK\x01\x02"
zipped("empty_file", lambda data: b"", "NOT_A_SUBMISSION")
zipped("text_file", lambda data: b"This is no zip.\n" * 100, "NOT_A_SUBMISSION")
zipped("picture_that_ends_as_a_zip", lambda data: b"\x89PNG\r\n\x1a\n" + data, "NOT_A_SUBMISSION")
zipped("truncated_zip", lambda data: data[:-200], "ZIP_CORRUPT")
zipped("directory_out_of_place", lambda data: data[:-6] + struct.pack("<L", len(data) * 2) + data[-2:], "ZIP_CORRUPT")
zipped("wrong_crc", patched(CENTRAL, 16, b"\1\2\3\4"), "UNREADABLE_FILE", says="CRC")
zipped("encrypted_members", patched(CENTRAL, 8, b"\1\0"), "ZIP_ENCRYPTED")
zipped("unknown_method", patched(CENTRAL, 10, b"\x63\0"), "ZIP_METHOD")
zipped("overlapping_members", patched(CENTRAL, 42, bytes(4)), "ZIP_OVERLAP")
zipped("wrong_local_header", patched(LOCAL, 30, b"SUB"), "UNREADABLE_FILE")


@case("ZIP_METHOD")
def bzip2_members(path: Path) -> Path:
    with zipfile.ZipFile(path / "s.zip", "w", zipfile.ZIP_BZIP2) as archive:
        for name, data in GOOD.items():
            archive.writestr(name, data)
    return path / "s.zip"


@case("ZIP_CORRUPT", says="utf-8")
def name_in_broken_utf8(path: Path) -> Path:
    whole = write_zip(path / "s.zip", [*GOOD.items(), ("responsés", b"")])
    whole.write_bytes(whole.read_bytes().replace("é".encode(), b"\xff\xfe"))
    return whole


def linked_meta(at: Path) -> None:
    (at / "submission.json").rename(at.parent / "m.json")
    (at / "submission.json").symlink_to("../m.json")


changed("linked_meta", linked_meta, "LINK_REFUSED", "MISSING_FILE")
changed("link_in_folder", lambda at: (at / "annotations.jsonl").symlink_to("/etc/passwd"), "LINK_REFUSED")
changed("dangling_link", lambda at: (at / "annotations.jsonl").symlink_to("nowhere"), "LINK_REFUSED")
changed("manifest_is_a_link", lambda at: (at / "manifest.json").symlink_to("/etc/passwd"), "LINK_REFUSED")
changed("fifo_in_folder", lambda at: os.mkfifo(at / "annotations.jsonl"), "NOT_A_FILE")
changed("folder_in_folder", lambda at: (at / "annotations.jsonl").mkdir(), "NESTED_FOLDER")
changed("broken_name_in_folder", lambda at: Path(os.fsdecode(os.fsencode(at) + b"/\xff.jsonl")).touch(), "UNSAFE_NAME")


def _snapshot(path: Path, target: str) -> Path:
    repo = path / "datasets--somebody--thing"
    write_folder(repo / "blobs", {"aa": GOOD["submission.json"], "bb": GOOD["responses.jsonl"]})
    made = write_folder(repo / "snapshots" / "0123", {})
    (made / "submission.json").symlink_to("../../blobs/aa")
    (made / "responses.jsonl").symlink_to(target)
    return made


@case()
def hub_snapshot(path: Path) -> Path:
    return _snapshot(path, "../../blobs/bb")


@case("LINK_REFUSED")
def hub_snapshot_pointing_out(path: Path) -> Path:
    (path / "bb").write_bytes(GOOD["responses.jsonl"])
    return _snapshot(path, "../../../bb")


@case("LINK_REFUSED")
def hub_blob_is_a_link(path: Path) -> Path:
    made = _snapshot(path, "../../blobs/cc")
    (made.parent.parent / "blobs" / "cc").symlink_to("/etc/passwd")
    return made


# --- submission.json ---
folder("no_meta", {"submission.json": b"REMOVE"}, "MISSING_FILE")
folder("meta_empty", {"submission.json": b""}, "JSON_SYNTAX")
folder("meta_is_a_list", {"submission.json": b"[]"}, "NOT_AN_OBJECT")
folder("meta_is_huge", {"submission.json": b" " * (1 << 20)}, "TOO_LARGE")
folder("meta_in_utf16", {"submission.json": meta_bytes().decode().encode("utf-16")}, "BYTE_ORDER_MARK")
folder("meta_with_mark", {"submission.json": b"\xef\xbb\xbf" + meta_bytes()}, "BYTE_ORDER_MARK")
folder("meta_deep", {"submission.json": b'{"generation":' + b"[" * 100_000}, "JSON_DEPTH")
folder("meta_deep_in_objects", {"submission.json": b'{"a":' * 20_000 + b"1" + b"}" * 20_000}, "JSON_DEPTH")
raw_meta("meta_latin_1", "Somebody", "\udce9", "BROKEN_UTF8")
raw_meta("meta_duplicate_key", '"model"', '"model": "x", "model"', "DUPLICATE_FIELD", says="model")
raw_meta("meta_nan", "0.7", "NaN", "NOT_FINITE")
raw_meta("meta_infinity", "0.7", "-Infinity", "NOT_FINITE")
raw_meta("meta_1e999", "0.7", "1e999", "NOT_FINITE")
raw_meta("meta_huge_integer", "0.7", "9" * 5000, "HUGE_NUMBER")
raw_meta("meta_large_integer", "0.7", "9" * 30, "HUGE_NUMBER")
raw_meta("meta_lone_surrogate", "Somebody", "\\ud800", "LONE_SURROGATE")
raw_meta("meta_nul", "Somebody", "a\\u0000b", "NUL_IN_TEXT")
meta("meta_missing_fields", {"model": None, "licence": None}, "MISSING_FIELD", says="licence")
meta("meta_unknown_field", {"modle": "x"}, "UNKNOWN_FIELD", says="did you mean 'model'")
meta(
    "meta_unknown_tool_field", {"judge": {"name": "a", "version": "b", "setings": {}}}, "UNKNOWN_FIELD", says="settings"
)


def matrix(name: str, changes: Any, *codes: str, says: str = "") -> None:
    good = {"labels": ["female", "male"], "counts": [[9, 1], [2, 8]]}
    told = good | changes if isinstance(changes, dict) else changes
    error = {"source": "drawn", "attributes": {"gender": told}}
    files = {"submission.json": meta_bytes(label_error=error), "annotations.jsonl": jsonl([ONE_FACE])}
    folder(name, files, *codes, says=says)


ONE_FACE = {"task": "image", "id": "image/001", "sample": 0, "face": 0, "status": "ok", "gender": "female"}
matrix("matrix_good", {})
matrix("matrix_turned_round", {"labels": ["male", "female"]})
matrix("matrix_not_square", {"counts": [[9, 1], [2]]}, "LABEL_ERROR", says="2 rows of 2 numbers")
matrix("matrix_too_large", {"counts": [[1] * 9] * 9}, "LABEL_ERROR", says="a row of counts")
matrix("matrix_empty", {"labels": [], "counts": []}, "LABEL_ERROR")
matrix("matrix_other_labels", {"labels": ["female", "man"]}, "LABEL_ERROR", says="female, male")
matrix("matrix_label_twice", {"labels": ["male", "male"]}, "LABEL_ERROR")
matrix("matrix_of_shares", {"counts": [[0.9, 0.1], [0.2, 0.8]]}, "WRONG_TYPE")
matrix("matrix_negative", {"counts": [[-9, 1], [2, 8]]}, "VALUE_RANGE")
matrix("matrix_huge", {"counts": [[10**12, 1], [2, 8]]}, "VALUE_RANGE", says="10,000,000")
matrix("matrix_true", {"counts": [[True, False], [False, True]]}, "WRONG_TYPE")
matrix("matrix_null", None, "WRONG_TYPE")
matrix("matrix_more", {"abstained": [1, 2]}, "UNKNOWN_FIELD", says="abstained")
ERROR = {"source": "drawn", "attributes": {"gender": {"labels": ["female", "male"], "counts": [[9, 1], [2, 8]]}}}
meta("label_error_without_annotations", {"label_error": ERROR}, "LABEL_ERROR", says="no annotations")
folder(
    "label_error_of_empty_annotations",
    {"submission.json": meta_bytes(label_error=ERROR), "annotations.jsonl": b""},
    "LABEL_ERROR",
)
meta("label_error_without_labels", {"label_error": ERROR, "labels": None}, "LABEL_ERROR", says="'drawn'")
meta("label_error_of_nothing", {"label_error": {"source": "x", "attributes": {}}}, "LABEL_ERROR")
meta(
    "label_error_of_hair",
    {"label_error": {"source": "x", "attributes": {"hair": {}}}},
    "UNKNOWN_VALUE",
    "MISSING_FIELD",
)
meta("label_error_without_source", {"label_error": {"attributes": {}}}, "MISSING_FIELD", "LABEL_ERROR")
meta("meta_wrong_benchmark", {"benchmark": "genre"}, "UNKNOWN_BENCHMARK", says="did you mean 'genres'")
meta("meta_wrong_format", {"format": 2}, "UNKNOWN_FORMAT")
meta("meta_format_true", {"format": True}, "UNKNOWN_FORMAT")
meta("meta_wrong_type", {"model": 3}, "WRONG_TYPE")
meta("meta_nested_settings", {"generation": {"a": {"b": 1}}}, "WRONG_TYPE")
meta("meta_wrong_revision", {"dataset_revision": "v11"}, "UNKNOWN_REVISION", says="did you mean 'v1'")
meta("meta_model_right_to_left", {"model": "a\u202eb"}, "BAD_TEXT", says="u202e")
meta("meta_model_mark", {"model": "a\u200f"}, "BAD_TEXT")
meta("meta_model_that_shows_nothing", {"model": "\u200b"}, "BAD_TEXT", says="u200b")
meta("meta_model_blank_letter", {"model": "\u3164"}, "BAD_TEXT")
meta("meta_model_soft_hyphen", {"model": "GPT\u00ad-4"}, "BAD_TEXT")
meta("meta_model_of_joined_letters", {"model": "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"})
meta("meta_model_two_lines", {"model": "a\nb"}, "BAD_TEXT")
meta("meta_model_long", {"model": "a" * 201}, "BAD_TEXT")
meta("meta_model_empty", {"model": ""}, "BAD_TEXT")
meta("meta_wrong_baseline", {"baseline": "constnat"}, "UNKNOWN_VALUE", says="constant")
for name, field, wrong, code, says in (
    ("none", "parameters", 0, "VALUE_RANGE", "billions, from 1e-9 to 100,000"),
    ("negative", "parameters", -7.5, "VALUE_RANGE", "billions, from 1e-9 to 100,000"),
    ("single", "parameters", 7e9, "VALUE_RANGE", "billions, from 1e-9 to 100,000"),
    ("tiny", "parameters", 5e-324, "VALUE_RANGE", "billions, from 1e-9 to 100,000"),
    ("true", "parameters", True, "WRONG_TYPE", "a number"),
    ("words", "parameters", "7B", "WRONG_TYPE", "a number"),
    ("list", "parameters", [7], "WRONG_TYPE", "a number"),
    ("number", "open_weights", 1, "WRONG_TYPE", "true or false"),
    ("words", "open_weights", "yes", "WRONG_TYPE", "true or false"),
    ("misspelt", "architecture", "difusion", "UNKNOWN_VALUE", "diffusion"),
    ("html", "architecture", "<script>", "UNKNOWN_VALUE", "'other'"),
    ("object", "architecture", {"a": 1}, "UNKNOWN_VALUE", "'autoregressive'"),
):
    meta(f"{field}_{name}", {field: wrong}, code, says=says)

# --- manifest.json ---
STAGE: dict[str, Any] = {
    "what": "responses",
    "model": "openai/gpt",
    "revision": "1",
    "engine": "inspect_ai",
    "engine_version": "0.3",
    "settings": {"temperature": 0.5, "seed": None, "note": ""},
    "started": "2026-01-01T00:00:00Z",
    "ended": "2026-01-01T00:00:01Z",
}


def manifest(name: str, changes: dict[str, Any], *codes: str, says: str = "") -> None:
    raw_manifest(name, json.dumps({"stages": [STAGE | changes]}).encode(), *codes, says=says)


def raw_manifest(name: str, data: bytes, *codes: str, says: str = "") -> None:
    """Register a submission with these bytes as its manifest, in a folder and in a zip."""
    folder(f"manifest_{name}", {"manifest.json": data}, *codes, says=says)
    members(f"manifest_{name}_in_zip", [("manifest.json", data)], *codes, says=says)


manifest("good", {})
raw_manifest("without_stages", b'{"format": 1, "stages": []}')
raw_manifest("empty", b"", "JSON_SYNTAX")
raw_manifest("is_a_list", b"[]", "NOT_AN_OBJECT", says="manifest.json")
raw_manifest("huge", b" " * (1 << 20) + b"{}", "TOO_LARGE")
raw_manifest("deep", b'{"stages":' + b"[" * 100_000, "JSON_DEPTH")
raw_manifest("deep_in_objects", b'{"stages":[{"settings":' + b'{"a":' * 9_000, "JSON_DEPTH")
raw_manifest("latin_1", b'{"stages": ["\xe9"]}', "BROKEN_UTF8")
raw_manifest("with_mark", b'\xef\xbb\xbf{"stages": []}', "BYTE_ORDER_MARK")
raw_manifest("duplicate_key", b'{"stages": [], "stages": []}', "DUPLICATE_FIELD", says="stages")
raw_manifest("nan", b'{"stages": [NaN]}', "NOT_FINITE")
raw_manifest("huge_integer", b'{"stages": [%s]}' % (b"9" * 5_000), "HUGE_NUMBER")
raw_manifest("other_format", b'{"format": 2, "stages": []}', "MANIFEST_INVALID", says="format")
raw_manifest("format_true", b'{"format": true, "stages": []}', "MANIFEST_INVALID", says="the integer 1")
raw_manifest("of_ten_thousand_stages", b'{"stages": [%s{}]}' % (b"{}," * 9_999), "MANIFEST_INVALID", says="at most 100")
raw_manifest("of_many_wrong_stages", b'{"stages": [%s0]}' % (b"0," * 99), "MANIFEST_INVALID", says="stages.99")
raw_manifest("nothing", b"{}", "MANIFEST_INVALID", says="no 'stages'")
manifest("unknown_field", {"modle": "x"}, "MANIFEST_INVALID", says="modle")
manifest("model_two_lines", {"model": "a\nb"}, "MANIFEST_INVALID")
manifest("model_right_to_left", {"model": "a\u202eb"}, "MANIFEST_INVALID", says="u202e")
manifest("model_long", {"model": "a" * 201}, "MANIFEST_INVALID")
manifest("model_is_a_number", {"model": 3}, "MANIFEST_INVALID")
manifest("model_is_html", {"model": "<img src=x onerror=alert(1)>"})
manifest("nul", {"model": "a\0"}, "NUL_IN_TEXT")
manifest("half_surrogate", {"settings": {"a": "\ud800"}}, "LONE_SURROGATE")
manifest("setting_nested", {"settings": {"a": {"b": 1}}}, "MANIFEST_INVALID", says="text, a number")
manifest("setting_escape", {"settings": {"a": "\x1b[2J"}}, "MANIFEST_INVALID", says="x1b")
manifest("setting_long", {"settings": {"a": "a" * 1_001}}, "MANIFEST_INVALID")
manifest("setting_name_two_lines", {"settings": {"a\nb": 1}}, "MANIFEST_INVALID")
manifest("many_settings", {"settings": {str(i): i for i in range(101)}}, "MANIFEST_INVALID", says="100 entries")
manifest("many_datasets", {"datasets": {str(i): "v1" for i in range(101)}}, "MANIFEST_INVALID", says="100 entries")
manifest("many_tasks", {"tasks": ["a"] * 101}, "MANIFEST_INVALID", says="100 entries")
manifest("limit_zero", {"limit": 0}, "MANIFEST_INVALID", says="limit")
manifest("limit_true", {"limit": True}, "MANIFEST_INVALID", says="limit")
manifest("requests_negative", {"requests": -1}, "MANIFEST_INVALID", says="requests")
manifest("hash_short", {"prompts": "abc"}, "MANIFEST_INVALID", says="prompts")
manifest("time_odd", {"started": "yesterday"}, "MANIFEST_INVALID", says="started")
manifest("git_odd", {"git": {"commit": "abc", "changed": 1}}, "MANIFEST_INVALID", says="git.changed")
manifest("what_odd", {"what": "magic"}, "MANIFEST_INVALID", says="judgements")
members("manifest_twice", [("manifest.json", b'{"stages": []}')] * 2, "DUPLICATE_FILE")
members("manifest_in_capitals", [("Manifest.json", b'{"stages": []}')], "UNKNOWN_FILE", says="did you mean 'manifest")


members("manifest_bomb", [("manifest.json", bytes(100 << 20))], "COMPRESSION_RATIO")

# --- JSONL ---
folder("no_rows", {"responses.jsonl": b""}, "EMPTY_SUBMISSION")
folder("no_tables", {"responses.jsonl": b"REMOVE"}, "EMPTY_SUBMISSION")
folder("jsonl_utf16", {"responses.jsonl": GOOD["responses.jsonl"].decode().encode("utf-16")}, "BYTE_ORDER_MARK")
folder("jsonl_with_mark", {"responses.jsonl": b"\xef\xbb\xbf" + GOOD["responses.jsonl"]}, "BYTE_ORDER_MARK")
folder("line_without_end", {"responses.jsonl": b"{" + b"x" * (4 << 20)}, "ROW_TOO_LONG")
line(
    "long_line",
    json.dumps({"task": "quiz", "id": "quiz/001", "sample": 0, "response": "A" * (1 << 20)}),
    "ROW_TOO_LONG",
)
line("empty_line", "", "JSON_SYNTAX", says="line 81")
line(
    "latin_1",
    b'{"task": "quiz", "id": "quiz/001", "sample": 0, "response": "\xe9"}',
    "BROKEN_UTF8",
    says="81: byte 0xe9 at position 61",
)
line("raw_nul", b'{"task": "quiz", "id": "quiz/001", "sample": 0, "response": "\0"}', "NUL_IN_TEXT")
row("escaped_nul", {"response": "\0"}, "NUL_IN_TEXT")
row("half_surrogate", {"response": "\udc00"}, "LONE_SURROGATE")
line("deep_line", "[" * 100_000, "JSON_DEPTH")
line(
    "deep_value",
    '{"task": "quiz", "id": "quiz/001", "sample": 0, "response": ' + '{"a":' * 30_000 + "1" + "}" * 30_001,
    "JSON_DEPTH",
)
line("unclosed_quotes", '"\\"' * 100_000 + "[" * 20, "JSON_DEPTH")
line("two_objects_on_a_line", "{}{}", "JSON_SYNTAX")
line("array_row", '["quiz", "quiz/001", 0, "A"]', "NOT_AN_OBJECT")
line("text_row", '"quiz"', "NOT_AN_OBJECT")
line(
    "duplicate_field",
    '{"task": "quiz", "id": "quiz/001", "sample": 0, "response": "A", "response": "B"}',
    "DUPLICATE_FIELD",
)
line("nan_sample", '{"task": "quiz", "id": "quiz/001", "sample": NaN, "response": "A"}', "NOT_FINITE")
line(
    "giant_sample", '{"task": "quiz", "id": "quiz/001", "sample": 99999999999999999999, "response": "A"}', "HUGE_NUMBER"
)
line(
    "very_giant_sample",
    '{"task": "quiz", "id": "quiz/001", "sample": ' + "9" * 5000 + ', "response": "A"}',
    "HUGE_NUMBER",
)
row("true_as_sample", {"sample": True}, "WRONG_TYPE")
row("text_as_sample", {"sample": "0"}, "WRONG_TYPE")
row("float_as_sample", {"sample": 0.0}, "WRONG_TYPE")
row("null_sample", {"sample": None}, "NULL_VALUE")
row("number_as_response", {"response": 3}, "WRONG_TYPE")
row("list_as_response", {"response": ["A"]}, "WRONG_TYPE")
row("negative_sample", {"sample": -1}, "SAMPLE_RANGE")
row("sample_too_large", {"sample": 1}, "SAMPLE_RANGE", says="which has 1")
row("unknown_row_field", {"reponse": "A"}, "UNKNOWN_FIELD", says="did you mean 'response'")
line("missing_row_field", '{"task": "quiz", "id": "quiz/001", "sample": 0}', "MISSING_FIELD")
row("unknown_task", {"task": "quizz"}, "UNKNOWN_TASK", says="did you mean 'quiz'")
row("task_of_other_table", {"task": "image"}, "WRONG_TABLE", says="annotations")
row("unknown_id", {"id": "quiz/01"}, "UNKNOWN_ID", says="did you mean 'quiz/0")
row("unknown_id_is_huge", {"id": "q" * 100_000}, "UNKNOWN_ID")
row("unknown_id_is_path", {"id": "../../../etc/passwd"}, "UNKNOWN_ID")
line("duplicate_row", GOOD["responses.jsonl"].split(b"\n")[0], "DUPLICATE_ID", says="line 81")
row("names_in_v1", {"names": "A|B"}, "NAMES_NOT_ALLOWED")
folder(
    "names_in_upstream",
    {"submission.json": meta_bytes(dataset_revision="upstream"),
     "responses.jsonl": jsonl([response_rows()[0], response_rows()[1] | {"names": "=cmd()|x"}])},
    "NAMES_MISSING", "INVALID_NAMES",
)  # fmt: skip


@case("TOO_MANY_ROWS", "DUPLICATE_ID", rows=1_000_000)
def a_million_and_one_lines(path: Path) -> Path:
    text = b'{"task":"quiz","id":"quiz/001","sample":0,"response":"A"}\n' * 1_000_001
    return write_folder(path / "s", GOOD | {"responses.jsonl": text})


@case("MISSING_FIELD", "TOO_MANY_FAULTY_ROWS")
def many_faulty_lines(path: Path) -> Path:
    return write_folder(path / "s", GOOD | {"responses.jsonl": b"{}\n" * 3_000_000})


FIELDS = ", ".join(f'"f{i}": 0' for i in (*range(60_000), 59_999))
SHARDS = {f"responses-{i:05}-of-00500.jsonl": jsonl([response_rows()[0] | {"id": f"story/{i}"}]) for i in range(500)}
MANY = b"".join(b'{"f%d": 1}\n' % i for i in range(20_000))
folder("many_fields_and_one_twice", {"responses.jsonl": f"{{{FIELDS}}}\n".encode()}, "DUPLICATE_FIELD")
folder("unknown_ids_in_many_shards", {"responses.jsonl": b"REMOVE"} | SHARDS, "UNKNOWN_ID")
folder("many_kinds_of_faults", {"responses.jsonl": MANY}, "UNKNOWN_FIELD", "MISSING_FIELD")

# --- annotations and judgements ---
PEOPLE = {"task": "image", "id": "image/001", "sample": 0, "face": 0, "gender": "male"}
FACES = jsonl([PEOPLE | {"status": "ok"}, PEOPLE | {"status": "ok", "sample": 1}])


def people(name: str, rows: list[dict[str, Any]], *codes: str, says: str = "", annotations: bytes = FACES) -> None:
    labels = jsonl(PEOPLE | changes for changes in rows)
    folder(name, {"annotations.jsonl": annotations, "human_labels.jsonl": labels}, *codes, says=says)


people("people_good", [{}, {"sample": 1, "gender": None}])
people("people_of_another_face", [{}, {"sample": 1, "face": 63}], "NOT_ANNOTATED", says="sample 1, face 63")
people("people_label_odd", [{"gender": "woman"}], "VOCABULARY", says="gender 'woman'")
people("people_quality", [{"image_quality": 0.5}], "UNKNOWN_FIELD")
people("people_status", [{"status": "ok"}], "UNKNOWN_FIELD")
people("people_twice", [{}, {"gender": "female"}], "DUPLICATE_ID")
people("people_of_another_image", [{"sample": 2}], "NOT_ANNOTATED", says="'image/001', sample 2")
people("people_of_no_image", [{}], "NOT_ANNOTATED", annotations=b"REMOVE")
people("people_unknown_id", [{"id": "image/999"}], "UNKNOWN_ID", "NOT_ANNOTATED")
people("people_of_a_text", [{"task": "story", "id": "story/001"}], "WRONG_TABLE", "NOT_ANNOTATED")
people("people_sample_beyond", [{"sample": 3}], "SAMPLE_RANGE", "NOT_ANNOTATED")
people("people_face_beyond", [{"face": 10**6}], "FACE_RANGE", "NOT_ANNOTATED")
people("people_face_text", [{"face": "0"}], "WRONG_TYPE")
face("face_label_odd", [{"gender": "woman"}, {"sample": 1, "race": "white"}], "VOCABULARY", says="did you mean 'White'")
face("face_status_odd", [{"status": "OK"}], "VOCABULARY", "LABELS_WITHOUT_OK")
face("face_quality_range", [{"image_quality": 1.5}], "VALUE_RANGE", says="1.5")
face("face_similarity_range", [{"prompt_similarity": -1.01}], "VALUE_RANGE")
face("face_quality_text", [{"image_quality": "0.5"}], "WRONG_TYPE")
face("face_quality_true", [{"image_quality": True}], "WRONG_TYPE")
face("face_quality_minus_zero", [{"image_quality": -0.0}])
face("face_labels_without_ok", [{"status": "no_face"}], "LABELS_WITHOUT_OK")
face("face_ok_without_labels", [{"gender": None}], "OK_WITHOUT_LABELS")
face("face_negative", [{"face": -1}], "FACE_RANGE")
face("face_beyond", [{"face": 10**6}], "FACE_RANGE")
face("face_gap", [{"face": 1}], "FACE_GAP")
face("face_twice", [{}, {"gender": "male"}], "DUPLICATE_ID")
face("face_beside_no_face", [{"status": "no_face", "gender": None}, {"face": 1}], "STATUS_CONFLICT")
folder(
    "faces_without_labeller",
    {"submission.json": meta_bytes(labels=None), "annotations.jsonl": jsonl(sample.annotation_rows())},
    "MISSING_LABELS",
)
folder(
    "judgements_without_judge",
    {"submission.json": meta_bytes(judge=None), "judgements.jsonl": jsonl(sample.judgement_rows())},
    "MISSING_JUDGE",
)
SECOND = {"name": "second", "version": "1"}


def judged(name: str, others: object, judges: list[object], *codes: str, says: str = "") -> None:
    row = sample.judgement_rows()[0]
    changed = {"submission.json": meta_bytes(other_judges=others)}
    folder(name, changed | {"judgements.jsonl": jsonl(row | {"judge": j} for j in judges)}, *codes, says=says)


judged("judges_two", [SECOND], [None, "second"])
judged("judges_other_alone", [SECOND], ["second"])
judged("judge_unknown", [SECOND], [None, "secund"], "UNKNOWN_JUDGE", says="did you mean 'second'")
judged("judge_unknown_as_none_is_named", None, ["second"], "UNKNOWN_JUDGE", says="no other_judges")
judged("judge_named_as_the_scored_one", [SECOND], ["judge"], "UNKNOWN_JUDGE")
judged("judge_named_by_nothing", [SECOND], [""], "UNKNOWN_JUDGE")
judged("judge_with_marks", [SECOND], ["sec\u202eond\x1b[2J"], "UNKNOWN_JUDGE")
judged("judge_twice", [SECOND], [None, "second", "second"], "DUPLICATE_ID")
judged("judge_scored_twice", [SECOND], [None, None], "DUPLICATE_ID")
judged("judge_number", [SECOND], [3], "WRONG_TYPE")
judged("judges_of_one_name", [SECOND, SECOND], [None, "second"], "DUPLICATE_JUDGE")
judged("judges_named_as_the_scored_one", [SECOND | {"name": "judge"}], [None], "DUPLICATE_JUDGE")
judged("judges_empty", [], [None], "WRONG_TYPE", says="at least one")
judged("judges_twelve", [SECOND | {"name": f"j{i}"} for i in range(12)], [None, "j11"], "WRONG_TYPE", says="at most 11")
judged("judges_no_list", "second", [None], "WRONG_TYPE", says="a list")
judged("judges_no_objects", ["second"], [None], "WRONG_TYPE")
judged("judges_without_version", [{"name": "second"}], [None, "second"], "MISSING_FIELD")
judged("judges_with_odd_setting", [SECOND | {"settings": {"t": [1]}}], [None, "second"], "WRONG_TYPE")
judged("judges_with_marks", [SECOND | {"name": "a\u200bb"}], [None], "BAD_TEXT")

for number in ("1e999", "NaN", "Infinity"):
    text = '{"task": "image", "id": "image/001", "sample": 0, "face": 0, "status": "ok", "gender": "male", '
    folder(
        f"face_quality_{number}", {"annotations.jsonl": f'{text}"image_quality": {number}}}\n'.encode()}, "NOT_FINITE"
    )

# --- Parquet ---
good_parquet = parquet_bytes(responses())
for name, data in {
    "parquet_truncated": good_parquet[: len(good_parquet) // 2],
    "parquet_empty_file": b"",
    "parquet_text": b"PAR1 this is none PAR1",
    "parquet_without_magic": good_parquet[:-4] + b"XXXX",
    "parquet_without_beginning": b"XXXX" + good_parquet[4:],
    "parquet_encrypted": good_parquet[:-4] + b"PARE",
    "parquet_footer_too_long": good_parquet[:-8] + b"\xff\xff\xff\x7fPAR1",
    "parquet_zeros": b"PAR1" + bytes(len(good_parquet) - 12) + good_parquet[-8:],
}.items():
    raw_parquet(name, data, "PARQUET_CORRUPT")
parquet("parquet_wrong_type", responses(sample=pa.array(["0", "0"])), "WRONG_TYPE", says="sample")
parquet("parquet_float_sample", responses(sample=pa.array([0.0, 0.0])), "WRONG_TYPE")
parquet("parquet_bool_sample", responses(sample=pa.array([False, False])), "WRONG_TYPE")
parquet("parquet_binary_text", responses(response=pa.array([b"A", b"B"])), "WRONG_TYPE")
parquet("parquet_nested", responses(response=pa.array([["A"], ["B"]])), "WRONG_TYPE")
parquet("parquet_struct", responses(response=pa.array([{"a": "A"}, {"a": "B"}])), "WRONG_TYPE")
parquet(
    "parquet_unknown_column", responses(reponse=pa.array(["A", "B"])), "UNKNOWN_FIELD", says="did you mean 'response'"
)
parquet("parquet_index", responses(__index_level_0__=pa.array([0, 1])), "UNKNOWN_FIELD", says="index=False")
parquet("parquet_missing_column", responses(response=None), "MISSING_FIELD")
parquet("parquet_null_id", responses(id=pa.array(["quiz/001", None])), "NULL_VALUE", says="row 2")
parquet("parquet_huge_sample", responses(sample=pa.array([0, 2**40])), "HUGE_NUMBER")
parquet("parquet_huge_unsigned", responses(sample=pa.array([0, 2**64 - 1], pa.uint64())), "HUGE_NUMBER")
parquet("parquet_nul", responses(response=pa.array(["A", "\0"])), "NUL_IN_TEXT", says="row 2")
parquet("parquet_duplicate", responses(id=pa.array(["quiz/001"] * 2)), "DUPLICATE_ID", says="row 2")
parquet("parquet_long_text", responses(response=pa.array(["A", "B" * (2 << 20)])), "ROW_TOO_LONG")
parquet("parquet_too_many_rows", pa.table({"task": pa.nulls(3_000_001)}), "TOO_MANY_ROWS")
parquet(
    "parquet_broken_utf8",
    responses(
        response=pa.StringArray.from_buffers(2, pa.py_buffer(struct.pack("<3i", 0, 1, 2)), pa.py_buffer(b"A\xff"))
    ),
    "BROKEN_UTF8",
)
parquet("parquet_no_rows", responses().slice(0, 0), "EMPTY_SUBMISSION")


@case("TOO_LARGE")
def parquet_dictionary_bomb(path: Path) -> Path:
    count = 500_000
    text = pa.DictionaryArray.from_arrays(pa.array([0] * count, pa.int32()), pa.array(["A" * 500_000]))
    short = pa.DictionaryArray.from_arrays(pa.array([0] * count, pa.int32()), pa.array(["quiz"]))
    table = pa.table({"task": short, "id": short, "sample": pa.array([0] * count, pa.int32()), "response": text})
    return write_folder(path / "s", {"submission.json": meta_bytes(), "responses.parquet": parquet_bytes(table)})


def _varint(number: int, length: int = 0) -> bytes:
    """A zigzag varint, padded to a length."""
    value, parts = number << 1, list[int]()
    while value or len(parts) < length or not parts:
        parts.append(value & 127)
        value >>= 7
    return bytes(part | 128 for part in parts[:-1]) + bytes(parts[-1:])


@case("TOO_LARGE", says="pages that grow too much", member_bytes=1 << 20)
def parquet_footer_that_lies(path: Path) -> Path:
    data = parquet_bytes(responses(response=pa.array(["A" * (1 << 20), "B" * (1 << 20)])))
    group = pq.ParquetFile(BytesIO(data)).metadata.row_group(0)
    for size in (group.total_byte_size, group.column(3).total_uncompressed_size):
        true = _varint(size)
        assert true in data
        data = data.replace(true, _varint(100, len(true)))
    assert pq.ParquetFile(BytesIO(data)).metadata.row_group(0).total_byte_size == 100
    return write_folder(path / "s", {"submission.json": meta_bytes(), "responses.parquet": data})


BOOLEAN_FOR_TEXT = good_parquet.replace(b"\x15\x0c\x19", b"\x15\x00\x19")
"""A footer on which pyarrow's accessor of column metadata aborts; reading goes by the schema."""
assert good_parquet.count(b"\x15\x0c\x19") == 3
TWICE = pa.Table.from_arrays([*responses().columns, responses()["id"]], names=[*responses().column_names, "id"])
raw_parquet("parquet_type_that_ends_the_process", BOOLEAN_FOR_TEXT)
parquet("parquet_repeated_column", TWICE, "DUPLICATE_FIELD")


@case("TOO_LARGE", row_groups=10)
def parquet_many_row_groups(path: Path) -> Path:
    made = write_folder(path / "s", {"submission.json": meta_bytes()})
    pq.write_table(pa.concat_tables([responses()] * 50), made / "responses.parquet", row_group_size=1)
    return made


def tree(path: Path) -> list[tuple[str, int, int]]:
    """Every entry below a folder with its mode and, for plain files, size and time."""
    found = []
    for root, folders, files in os.walk(path):
        for name in (*folders, *files):
            status = Path(root, name).lstat()
            found.append((ascii(f"{root}/{name}"), status.st_mode, status.st_size + status.st_mtime_ns))
    return sorted(found)


def _alarm(number: int, frame: object) -> None:
    raise TimeoutError(f"checking took more than {SECONDS} seconds")


def check_case(name: str, below: Path) -> dict[str, Any]:
    found = CASES[name]
    home = below / name
    home.mkdir()
    path = found.build(home)
    before = tree(below)
    signal.alarm(SECONDS)
    try:
        report = check_submission(path, limits=found.limits)
        outcome: dict[str, Any] = {"codes": sorted({fault.code for fault in report.faults})}
        outcome |= {"text": "\n".join(map(str, report.faults)), "ok": report.ok, "count": len(report.faults)}
        outcome["model"] = report.submission.meta.model if report.submission else ""
    except BaseException as error:  # noqa: BLE001 -- whatever it is, the test reports it
        outcome = {"error": repr(error)}
    finally:
        signal.alarm(0)
    return outcome | {"unchanged": tree(below) == before}


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.signal(signal.SIGALRM, _alarm)
    os.chdir(sys.argv[1])
    below = Path(sys.argv[1])
    with mock.patch("fairspace.submissions.checking.submission.benchmark", return_value=sample.BENCH):
        print(json.dumps({name: check_case(name, below) for name in sys.argv[2:] or CASES}))


if __name__ == "__main__":
    main()
