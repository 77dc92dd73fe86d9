import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from fairspace.ares.training.config import CONFIGS, TrainingConfig, read_config
from fairspace.builders.errors import BuildError

TINY = (CONFIGS / "tiny.toml").read_text(encoding="utf-8")
PAPER = (CONFIGS / "paper.toml").read_text(encoding="utf-8")


def refused(tmp_path: Path, text: str) -> BuildError:
    file = tmp_path / "changed.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(BuildError) as caught:
        read_config(file)
    assert str(file) in str(caught.value)
    return caught.value


def test_the_papers_configuration_starts_with_five_pinned_checkpoints(tmp_path: Path) -> None:
    config = read_config(CONFIGS / "paper.toml")
    pins = [*(each.revision for each in config.experts.values()), config.fast.revision, config.vlm["revision"]]
    assert len({pin for pin in pins if re.fullmatch("[0-9a-f]{40}", pin)}) == 5
    for changed in ("", "main", "0a" * 4, "0A" * 20):
        error = refused(tmp_path, PAPER.replace(config.experts["clip"].revision, changed))
        assert error.code == "REVISION_UNPINNED"
        assert "experts.clip.revision" in str(error)


def test_the_papers_values_are_those_of_b2_and_table_10() -> None:
    raw: Any = tomllib.loads(PAPER)
    clip, dinov2, convnext = (raw["experts"][kind] for kind in ("clip", "dinov2", "convnext"))
    assert (clip["source"], dinov2["source"], convnext["source"], raw["fast"]["source"]) == (
        "openai/clip-vit-base-patch16",
        "facebook/dinov2-base",
        "facebook/convnext-base-224-22k",
        "google/efficientnet-b0",
    )
    assert (clip["backbone_learning_rate"], clip["text_learning_rate"], clip["learning_rate"]) == (1e-6, 1e-6, 1e-4)
    assert (clip["loss"], clip["gamma"], clip["alpha"]) == ("focal", 2.0, 1.0)
    assert (dinov2["backbone_learning_rate"], dinov2["learning_rate"], dinov2["shared"]) == (1e-5, 1e-4, 12 - 4)
    assert (convnext["backbone_learning_rate"], convnext["learning_rate"], convnext["shared"]) == (2e-5, 1e-4, 4 - 2)
    assert all(5 <= raw["experts"][kind]["patience"] <= 10 for kind in raw["experts"])
    assert (raw["fusion"]["learning_rate"], raw["routers"]["images"]) == (1e-3, 8000)
    assert (raw["routers"]["fast_confidence"], raw["routers"]["escalation"]) == (0.9, 0.7)
    assert raw["tasks"][1]["cuts"] == [0.48, 1.24]


@pytest.mark.parametrize(
    ("old", "new", "key", "expected"),
    [
        ("tile = 8", "tile = 8\ntiles = 9", "tiles", "one of the keys"),
        ("rounds = ", "round = 1\nrounds = ", "escalation.round", "one of the keys"),
        ("shared = 0", "shared = 0\nfrozen = 3", "experts.clip.frozen", "one of the keys"),
        ("patience = 5", 'patience = "5"', "experts.clip.patience", "valid integer"),
        ("scale = [", "scale = [0.0, 1.0]\nratio_ = [", "augmentation", ""),
        ('loss = "focal"', 'loss = "hinge"', "experts.clip.loss", "focal"),
        ('name = "skin_tone"', 'name = "hair"', "tasks.1", "labels"),
        ("colour = 0.0", "colour = 0.0\ncuts = [1.2, 0.4]", "tasks.1", "rising cuts"),
    ],
)
def test_a_key_or_value_that_is_not_known_is_named(tmp_path: Path, old: str, new: str, key: str, expected: str) -> None:
    assert old in TINY
    error = refused(tmp_path, TINY.replace(old, new, 1))
    assert error.code == "CONFIG_INVALID"
    assert f"key {key}" in str(error)
    assert expected in str(error)
    assert re.search("Mend: .", str(error))


def test_the_hash_covers_all_that_decides_the_weights() -> None:
    raw = tomllib.loads(TINY)
    first = TrainingConfig.model_validate(raw).sha256
    assert TrainingConfig.model_validate({**raw, "workers": 3}).sha256 == first
    assert TrainingConfig.model_validate({**raw, "seed": 1}).sha256 != first
    assert TrainingConfig.model_validate({**raw, "experts": {**raw["experts"]}}).sha256 == first
