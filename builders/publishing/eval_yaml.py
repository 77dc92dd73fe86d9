"""`eval.yaml`: the file by which the Hub takes a dataset for a benchmark, with one task per headline score.

The Hub's format has one framework per file and, for a task, an id, a config and a split. It knows no direction, so
every score is a percentage of which more is better. A fairness score compares groups and cannot be put together from
the solvers and scorers that the format offers for Inspect, so the framework is fairspace itself.
"""

from __future__ import annotations

import yaml

from fairspace.builders.engine.dataset import Dataset, Manifest

FILE = "eval.yaml"
FRAMEWORK = "fairspace"
_DIRECTION = "Scores are in percent, and higher is better. The board of fairspace has their intervals and ranks."


def eval_yaml(dataset: Dataset, manifest: Manifest) -> bytes:
    """The file of a build; empty if no headline score is about a config that was built."""
    headlines = [headline for headline in dataset.headlines if manifest.find(headline.config, headline.split)]
    if not headlines:
        return b""
    scores = "; ".join(f"{headline.task}: {headline.about}" for headline in headlines)
    content = {
        "name": dataset.title,
        "description": f"{_DIRECTION} {scores}.",
        "evaluation_framework": FRAMEWORK,
        "tasks": [{"id": h.task, "config": h.config, "split": h.split} for h in headlines],
    }
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=110).encode()
