"""The submission format as a JSON Schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairspace.submissions.format.schema import RANGES, REQUIRED, SCHEMAS, VOCABULARY, SubmissionMeta

if TYPE_CHECKING:
    pass


def json_schema() -> dict[str, Any]:
    """The JSON schema of `submission.json`; `$defs` also holds those of `manifest.json` and of a row of each table."""
    from fairspace.submissions.format.manifest import Manifest

    schema = SubmissionMeta.model_json_schema()
    manifest = Manifest.model_json_schema(ref_template="#/$defs/{model}")
    schema["$defs"] |= {**manifest.pop("$defs"), "manifest": manifest}
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    for table in SCHEMAS:
        schema["$defs"][f"{table}_row"] = _row_schema(table)
    return schema


def _row_schema(table: str) -> dict[str, Any]:
    types = {"string": "string", "int32": "integer", "double": "number"}
    properties = {}
    for column in SCHEMAS[table]:
        kind = types[str(column.type)]
        rule: dict[str, Any] = {"type": [kind, "null"] if column.nullable else kind}
        if column.name in VOCABULARY:
            rule["enum"] = [*VOCABULARY[column.name], *([None] if column.nullable else [])]
        if column.name in RANGES:
            rule["minimum"], rule["maximum"] = RANGES[column.name]
        if kind == "integer":
            rule["minimum"] = 0
        properties[column.name] = rule
    return {
        "type": "object",
        "properties": properties,
        "required": list(REQUIRED[table]),
        "additionalProperties": False,
    }
