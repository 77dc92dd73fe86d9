"""The card of a dataset (`README.md`): text from `cards/datasets/`, figures from the build manifest; the Hub's rules.

`cards/dataset.md.jinja` is the common frame; `cards/datasets/<name>.md.jinja` fills its blocks. The Hub makes Croissant
metadata from the front matter and the shards.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from fairspace.builders.engine.dataset import BuildManifest, Dataset
from fairspace.builders.errors import BuildError
from fairspace.builders.registry import paper
from fairspace.builders.sources import SOURCES, Source

# Rules for the YAML front matter are from the Hub's documentation of cards.

LICENCES = ("apache-2.0", "cc-by-4.0", "cc-by-nc-4.0", "cc-by-sa-4.0", "cc0-1.0", "mit", "other")
"""Licence identifiers of the Hub that our artifacts may have."""
SIZES = {"n<1K": 10**3, "1K<n<10K": 10**4, "10K<n<100K": 10**5, "100K<n<1M": 10**6, "1M<n<10M": 10**7}
"""The Hub's words for a number of rows -> the number that they stay below."""
_FRONT = re.compile(r"\A---\n(.*?)\n---\n", re.DOTALL)


def front_matter(card: str, where: str) -> dict[str, Any]:
    """The YAML block at the head of a card. BuildError CARD_INVALID if it is missing or no mapping."""
    match = _FRONT.match(card)
    if match is None:
        raise _invalid(where, "no YAML block at its head", "a block between two lines of ---")
    try:
        data = yaml.safe_load(match.group(1))
    except yaml.YAMLError as error:
        raise _invalid(where, f"YAML that cannot be read: {error}", "valid YAML") from error
    if not isinstance(data, dict):
        raise _invalid(where, f"a YAML {type(data).__name__}", "a mapping")
    return data


def check_card(card: str, kind: str, where: str) -> None:
    """Check a card of a `dataset`, `space` or `model`. BuildError CARD_INVALID names the key and the rule."""
    data = front_matter(card, where)
    for key, rule, expected in _RULES[kind]:
        if key not in data:
            raise _invalid(where, f"no {key}", expected)
        if not rule(data[key]):
            raise _invalid(where, f"{key}: {data[key]!r:.200}", expected)
    if kind == "dataset" and len({config["config_name"] for config in data["configs"]}) < len(data["configs"]):
        raise _invalid(where, "two configs of one name", "one entry per config")
    if data.get("license") == "other" and not {"license_name", "license_link"} <= data.keys():
        raise _invalid(where, "license: other without license_name and license_link", "both")


def _invalid(where: str, what: str, expected: str) -> BuildError:
    return BuildError("CARD_INVALID", where, what, expected, "mend the card's template or text under cards/")


def _texts(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(text, str) and text for text in value)


def _text(longest: int) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and 0 < len(value) <= longest


def _configs(value: Any) -> bool:
    if not isinstance(value, list) or not value or sum(config.get("default", False) for config in value) > 1:
        return False
    return all(
        re.fullmatch(r"[\w.-]+", config.get("config_name", ""))
        and all(re.fullmatch(r"[\w.]+", file["split"]) and file["path"] for file in config.get("data_files", []))
        and config.get("data_files")
        for config in value
    )


_LICENCE = ("license", lambda value: value in LICENCES, f"one of {', '.join(LICENCES)}")
_TITLE = ("title", _text(100), "a title")
_RULES: dict[str, tuple[tuple[str, Callable[[Any], bool], str], ...]] = {
    "dataset": (
        ("pretty_name", _text(100), "a title"),
        _LICENCE,
        ("language", lambda value: value == ["en"], "a list of ISO 639 codes"),
        ("size_categories", lambda value: _texts(value) and set(value) <= set(SIZES), f"some of {', '.join(SIZES)}"),
        ("task_categories", _texts, "a list of the Hub's tasks"),
        ("source_datasets", _texts, "a list of the Hub's words"),
        ("annotations_creators", _texts, "a list of the Hub's words"),
        ("tags", _texts, "a list of words"),
        ("configs", _configs, "a list of configs with config_name and data_files, at most one default"),
    ),
    "space": (
        _TITLE,
        ("sdk", lambda value: value in ("gradio", "docker", "static"), "gradio, docker or static"),
        ("app_file", _text(100), "the file to start"),
        _LICENCE,
    ),
    "model": (
        _LICENCE,
        ("tags", _texts, "a list of words"),
        ("library_name", _text(50), "the library that loads it"),
        ("pipeline_tag", _text(50), "the Hub's task"),
    ),
}


FOLDER = Path(__file__).parent
FIRST = ("inaugural", "v1", "First release.")
"""Standard, dataset revision and note: the first entry of every dataset's changes."""
GATE = (
    "This dataset shows or describes faces of persons. Its labels are perceived presentation, with error. You agree to "
    "use it to measure the fairness of models, not to identify persons or to decide about them, and to keep the "
    "licences of its sources."
)
_COMMON = {
    "id": "names the row; where it is an item, a submission names it so",
    "origin": "the source of the image, or synthetic",
    "occupation": "one of the 52 of Table 20",
    "gender": "perceived gender presentation",
    "age": "perceived age",
    "skin_tone": "perceived skin tone",
    "source_file": "the file below the source's folder",
    "source_sha256": "of that file",
}
"""Meanings of columns that many datasets share."""


def write_cards(folder: Path, dataset: Dataset, manifest: BuildManifest, namespace: str = "fairspace") -> None:
    """Write `README.md` into a build folder. BuildError CARD_INVALID if a rule is broken."""
    features = {config: _features(folder / splits[0].shards[0].file) for config, splits in manifest.configs().items()}
    card = dataset_card(dataset, manifest, features, f"{namespace}/{dataset.name}")
    check_card(card, "dataset", f"{dataset.name}/README.md")
    (folder / "README.md").write_text(card, encoding="utf-8")


def dataset_card(dataset: Dataset, manifest: BuildManifest, features: Mapping[str, Any], repo_id: str) -> str:
    """The card: YAML front matter for the Hub, and text for people. `features`: config -> its `datasets.Features`."""
    sources = _used_sources(dataset, manifest)
    columns = {
        config: [
            {"name": name, "type": _type(feature), "about": _cell(splits[0].fields.get(name, _COMMON.get(name, "")))}
            for name, feature in features[config].items()
        ]
        for config, splits in manifest.configs().items()
    }
    return render_card(
        f"datasets/{dataset.name}.md.jinja",
        _front_matter(dataset, manifest, features),
        dataset=dataset,
        manifest=manifest,
        paper=paper(dataset.benchmark),
        repo_id=repo_id,
        columns=columns,
        sources=sources,
        left_out=[source for source in sources if not source.redistribute],
        joins=_joins(manifest),
        changes=(FIRST, *dataset.changes),
        counts_text=_counts,
        joint_text=_joint,
        source_text=_source,
        pictures=any(type(kind).__name__ == "Image" for each in features.values() for kind in each.values()),
    )


def _front_matter(dataset: Dataset, manifest: BuildManifest, features: Mapping[str, Any]) -> dict[str, Any]:
    rows = sum(split.rows for split in manifest.splits)
    front: dict[str, Any] = {
        "pretty_name": dataset.title,
        "license": dataset.licence.lower(),
        "language": ["en"],
        "task_categories": list(dataset.task_categories),
        "source_datasets": [f"extended|other-{name.replace('_', '-')}" for name in dataset.sources if name != "models"]
        or ["original"],
        "annotations_creators": list(dataset.annotations),
        "size_categories": [next(size for size, limit in SIZES.items() if rows < limit)],
        "tags": ["fairness", "bias", "fairspace", dataset.benchmark.replace("_", "-"), *paper(dataset.benchmark).tags],
        "configs": [
            {
                "config_name": config,
                **({"default": True} if number == 0 else {}),
                "data_files": [{"split": s.split, "path": f"{config}/{s.split}-*.parquet"} for s in splits],
            }
            for number, (config, splits) in enumerate(manifest.configs().items())
        ],
        "dataset_info": [
            {
                "config_name": config,
                "features": features[config]._to_yaml_list(),
                "splits": [
                    {"name": s.split, "num_bytes": sum(x.bytes for x in s.shards), "num_examples": s.rows}
                    for s in splits
                ],
                "download_size": sum(shard.bytes for s in splits for shard in s.shards),
                "dataset_size": sum(shard.bytes for s in splits for shard in s.shards),
            }
            for config, splits in manifest.configs().items()
        ],
    }
    if dataset.gated:
        front["extra_gated_prompt"] = GATE
        front["extra_gated_fields"] = {
            "Affiliation": "text",
            "I will keep these terms and those of the sources": "checkbox",
        }
    return front


def render_card(template: str, front: Mapping[str, Any], **context: Any) -> str:
    """A card: YAML front matter, and the text of a template of this folder."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    # Markdown, not HTML: nothing of a user's is rendered here, and the Hub sanitizes what it shows.
    loader = FileSystemLoader(FOLDER)
    environment = Environment(loader=loader, undefined=StrictUndefined, autoescape=False, trim_blocks=True)  # noqa: S701
    text = environment.get_template(template).render(context)
    lines = re.sub(r"\n{3,}", "\n\n", text.strip())
    return f"---\n{yaml.safe_dump(front, sort_keys=False, allow_unicode=True, width=110)}---\n\n{lines}\n"


def _used_sources(dataset: Dataset, manifest: BuildManifest) -> list[Source]:
    """The sources of this build's rows (by their `origin` counts) and of the files that it names."""
    origins = {o for split in manifest.splits for o, rows in split.counts.get("origin", {}).items() if rows}
    files = {name.split("/")[0] for name in manifest.sources}
    return [SOURCES[name] for name in dataset.sources if name in origins | files]


def _joins(manifest: BuildManifest) -> list[tuple[str, str, str]]:
    """Config, split and source of the rows whose images are left out."""
    return [
        (split.config, split.split, origin)
        for split in manifest.splits
        for origin, rows in split.counts.get("origin", {}).items()
        if rows and origin in SOURCES and not SOURCES[origin].redistribute
    ]


def _features(shard: Path) -> Any:
    import pyarrow.parquet as pq
    from datasets import Features

    return Features.from_arrow_schema(pq.read_schema(shard))


def _type(feature: Any) -> str:
    kind = type(feature).__name__
    if kind == "ClassLabel":
        names = feature.names
        return ", ".join(names) if len(names) <= 6 else f"one of {len(names)} labels"
    return str(feature.dtype) if kind == "Value" else kind.lower()


def _source(source: Source) -> str:
    address = source.address
    is_link = address.startswith("https://") and " " not in address
    return f"[{source.title}]({address})" if is_link else f"{source.title}: {address}"


def _cell(text: str) -> str:
    """A text for a Markdown table cell: `<` and `|` are escaped, `<` not within backticks."""
    pieces = text.replace("|", "\\|").split("`")
    return "`".join(part if number % 2 else part.replace("<", "&lt;") for number, part in enumerate(pieces))


def _counts(counts: Mapping[str, int], limit: int = 10) -> str:
    """Rows per label, or number of labels and range if there are many. Unlabelled rows are counted apart, as `none`."""
    none = [f"none {counts['']}"] if counts.get("") else []
    present = {name: number for name, number in counts.items() if name}
    if len(present) <= limit:
        return ", ".join([*(f"{name} {number}" for name, number in present.items()), *none])
    return ", ".join([f"{len(present)} labels, {_range(present.values())} each", *none])


def _joint(joint: Mapping[str, int]) -> str:
    if len(joint) > 18:
        return f"{len(joint)} with rows, {_range(joint.values())} each."
    titles = (" / ".join(label or "none" for label in name.split(" / ")) for name in joint)
    return ", ".join(f"{name} {number}" for name, number in zip(titles, joint.values(), strict=True)) + "."


def _range(numbers: Iterable[int]) -> str:
    ordered = sorted(numbers)
    first, last = ordered[0], ordered[-1]
    return f"{first} row{'' if first == 1 else 's'}" if first == last else f"{first} to {last} rows"
