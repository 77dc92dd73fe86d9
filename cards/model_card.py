"""ARES' card (`README.md`): text from `cards/ares.md.jinja`, figures from `measurement.json` in the model's folder."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fairspace.ares.evaluating.measure import classification_report
from fairspace.ares.evaluating.measurement import AnswerCounts, MeasuredError, read_measurement
from fairspace.ares.evaluating.nonfaces import rows
from fairspace.cards.dataset_card import check_card, render_card

LICENCE = "cc-by-nc-4.0"
"""Licence of the weights: that of their training data, IRIS-Classifier-25. The code is under Apache-2.0."""
UPSTREAM = {
    "openai/clip-vit-base-patch16": "MIT",
    "facebook/dinov2-base": "Apache-2.0",
    "facebook/convnext-base-224-22k": "Apache-2.0",
    "google/efficientnet-b0": "Apache-2.0",
}
"""Upstream checkpoint -> its licence, as stated by its authors."""
_ROLES = {"clip": "expert CLIP", "dinov2": "expert DINOv2", "convnext": "expert ConvNeXt"}


def model_card(folder: Path, repo_id: str) -> str:
    """The card of a trained model with its measurement. BuildError MEASUREMENT_INVALID, CARD_INVALID."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    measurement = read_measurement(folder)
    card = render_card(
        "ares.md.jinja",
        _front_matter(config, repo_id),
        repo_id=repo_id,
        config=config,
        measurement=measurement,
        attributes={name: list(_rows(error)) for name, error in measurement.attributes.items()},
        matrices={name: error.overall for name, error in measurement.attributes.items()},
        groups={name: list(_groups(error)) for name, error in measurement.attributes.items()},
        gate=list(rows(measurement.gate)) if measurement.gate is not None else [],
        upstream=list(_upstream(config)),
        share=_share,
    )
    check_card(card, "model", "ares/README.md")
    return card


def _front_matter(config: Mapping[str, Any], repo_id: str) -> dict[str, Any]:
    bases = [source["name"] for source in _upstream(config) if source["name"] in UPSTREAM]
    front: dict[str, Any] = {
        "license": LICENCE,
        "library_name": "transformers",
        "pipeline_tag": "image-classification",
        "language": ["en"],
        "tags": ["fairness", "bias", "fairspace", "demographics", "arxiv:2603.00590"],
        "datasets": [f"{repo_id.split('/')[0]}/iris_classifier_25"],
    }
    return front | ({"base_model": bases} if bases else {})


def _upstream(config: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    parts = [(_ROLES[kind], entry) for kind, entry in config["backbones"].items()]
    parts += [("fast path's router", config["router"]), ("arbiter, not included", config["vlm"])]
    for role, entry in parts:
        name = entry.get("source") or entry.get("model") or ""
        if not name and role.startswith("arbiter"):
            continue
        folder = bool(name) and Path(name).is_dir()
        yield {
            "role": role,
            "name": Path(name).name if folder else name or "random weights",
            "revision": entry.get("revision") or "",
            "licence": UPSTREAM.get(name, "see its own card" if name else "none"),
        }


def _rows(error: MeasuredError) -> Iterator[tuple[str, Any]]:
    report = classification_report(error.overall.matrix, error.labels, error.overall.abstained)
    yield from report.classes.items()
    yield "macro average", report.macro


def _groups(error: MeasuredError) -> Iterator[tuple[str, str, int, float | None]]:
    for group, parts in error.groups.items():
        for label, part in parts.items():
            report = classification_report(part.matrix, error.labels, part.abstained)
            yield group, label, _images(part), report.accuracy


def _images(part: AnswerCounts) -> int:
    return sum(map(sum, part.matrix)) + sum(part.abstained)


def _share(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.4f}"
