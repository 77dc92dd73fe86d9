from __future__ import annotations

import json
from types import SimpleNamespace

from huggingface_hub import HfApi

from fairspace.builders.publishing.artifacts import eval_yaml
from fairspace.builders.publishing.repository import Repo, publish_repo
from fairspace.builders.registry import dataset
from tests.hub.running import OWNER

BUILT = SimpleNamespace(find=lambda config, split: True)


def seed(address: str, model: str) -> None:
    """Publish FACT-OR-FAIR's dataset without items, and create a model's repository; within `online()`."""
    files = {
        "README.md": b"---\nlicense: cc-by-4.0\n---\n",
        "manifest.json": json.dumps({"revision": "v2"}).encode(),
        "eval.yaml": eval_yaml(dataset("fact_or_fair"), BUILT),  # type: ignore[arg-type]
    }
    repo = Repo("fairspace/fact_or_fair", "dataset")
    publish_repo(repo, files, message="Publish", endpoint=address, token=OWNER)
    HfApi(endpoint=address, token=OWNER).create_repo(model)
