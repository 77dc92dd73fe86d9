"""The card of a dataset (`README.md`) and its Croissant metadata, rendered from the build manifest."""

from __future__ import annotations

from pathlib import Path

import yaml

from builders.dataset import Dataset, Manifest


def write_cards(folder: Path, dataset: Dataset, manifest: Manifest) -> None:
    """Write `README.md` and `croissant.json` into a build folder."""
    configs = [
        {
            "config_name": config,
            "data_files": [{"split": s.split, "path": f"{config}/{s.split}-*.parquet"} for s in splits],
        }
        for config, splits in manifest.configs().items()
    ]
    front = yaml.safe_dump({"pretty_name": dataset.title, "configs": configs}, sort_keys=False)
    (folder / "README.md").write_text(f"---\n{front}---\n\n# {dataset.title}\n", encoding="utf-8")
