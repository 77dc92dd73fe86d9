"""Croissant metadata of a dataset, with the fields of the responsible-AI extension (mlcommons.org/croissant).

Beside the Hub's own record, which knows columns and files alone, this one says how the data were collected and
annotated, what they may be used for, and where they are biased. Its texts are the card's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fairspace.builders.engine.dataset import Dataset, Manifest

_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
_TYPES = {"string": "sc:Text", "bool": "sc:Boolean", "binary": "sc:Text"}
_PERCEIVED = (
    "Labels of gender, age, skin tone and race are perceived presentation with error, in few categories, not identity."
)


def croissant(
    dataset: Dataset, manifest: Manifest, features: Mapping[str, Any], texts: Mapping[str, str], repo_id: str
) -> dict[str, Any]:
    """The metadata as JSON-LD data.

    Args:
        dataset: which.
        manifest: of the build.
        features: config -> its `datasets.Features`.
        texts: the card's texts by block.
        repo_id: namespace and name on the Hub.
    """
    address = f"https://huggingface.co/datasets/{repo_id}"
    repo = {
        "@type": "cr:FileObject",
        "@id": "repo",
        "name": "repo",
        "description": "The repository on the Hub.",
        "contentUrl": address,
        "encodingFormat": "git+https",
        "sha256": "https://github.com/mlcommons/croissant/issues/80",
    }
    licence = f"https://spdx.org/licenses/{dataset.licence}" if dataset.licence != "other" else address
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": ["http://mlcommons.org/croissant/1.0", "http://mlcommons.org/croissant/RAI/1.0"],
        "name": dataset.name,
        "description": texts["summary"],
        "url": address,
        "license": licence,
        "version": _version(manifest.revision),
        "citeAs": texts["citation"],
        "creator": {"@type": "Organization", "name": "fairspace"},
        "keywords": ["fairness", "bias", dataset.benchmark],
        "isLiveDataset": False,
        "rai:dataCollection": texts["collection"],
        "rai:dataUseCases": texts["intended_use"],
        "rai:dataLimitations": texts["limits"],
        "rai:dataBiases": texts["limits"],
        "rai:personalSensitiveInformation": _PERCEIVED,
        "rai:dataSocialImpact": (
            "Meant to measure models. Forbidden: identifying persons, inferring attributes of persons, deciding about "
            "persons, training a model that is then scored with it."
        ),
        "rai:dataAnnotationProtocol": texts["collection"],
        "rai:dataReleaseMaintenancePlan": "A released standard's tag never moves; changes come as new revisions.",
        "distribution": [
            repo,
            *(
                {
                    "@type": "cr:FileSet",
                    "@id": f"files-{config}",
                    "containedIn": {"@id": "repo"},
                    "encodingFormat": "application/x-parquet",
                    "includes": f"{config}/*.parquet",
                }
                for config in manifest.configs()
            ),
        ],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": config,
                "name": config,
                "description": " ".join(dict.fromkeys(split.about for split in splits)),
                "key": {"@id": f"{config}/id"},
                "field": [
                    _field(config, name, feature, splits[0].fields) for name, feature in features[config].items()
                ],
            }
            for config, splits in manifest.configs().items()
        ],
    }


def _field(config: str, name: str, feature: Any, about: Mapping[str, str]) -> dict[str, Any]:
    source: dict[str, Any] = {"fileSet": {"@id": f"files-{config}"}, "extract": {"column": name}}
    if type(feature).__name__ == "Image":
        source["transform"] = {"jsonPath": "bytes"}
    description = about.get(name, "")
    if type(feature).__name__ == "ClassLabel":
        labels = ", ".join(f"{number} {label}" for number, label in enumerate(feature.names))
        description = f"{description} Labels: {labels}.".strip()
    return {
        "@type": "cr:Field",
        "@id": f"{config}/{name}",
        "name": name,
        "description": description or name.replace("_", " "),
        "dataType": _data_type(feature),
        "source": source,
    }


def _data_type(feature: Any) -> str:
    kind = type(feature).__name__
    if kind == "Image":
        return "sc:ImageObject"
    if kind == "ClassLabel":
        return "sc:Integer"
    dtype = str(getattr(feature, "dtype", "string"))
    if dtype in _TYPES:
        return _TYPES[dtype]
    return "sc:Float" if dtype.startswith("float") else "sc:Integer"


def _version(revision: str) -> str:
    """A revision as a semantic version: `2.0.0` of `v2`, `2.0.0-cohort-0c1f` of a cohort's plan."""
    number, _, plan = revision.removeprefix("v").partition("-")
    return f"{number}.0.0" + (f"-{plan}" if plan else "")
