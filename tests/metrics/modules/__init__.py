from importlib import import_module
from pathlib import Path
from typing import Any

import evaluate


def new_metric(name: str, cache: Path | None = None) -> Any:
    """A new object of the class of a metric's module; rows that are added to it lie in `cache`."""
    module = import_module(f"fairspace.metrics.{name}.{name}")
    kinds = [part for part in vars(module).values() if isinstance(part, type) and issubclass(part, evaluate.Metric)]
    (kind,) = (part for part in kinds if part.__name__ != "ColumnMetric")
    return kind(cache_dir=str(cache) if cache else None)
