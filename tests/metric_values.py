"""One call of each metric whose value is known by hand or from a paper, from `data/metric_values.json`."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Case:
    """Arguments of `compute`, the value, its origin, and its place in what `compute` returns, else its name."""

    arguments: Mapping[str, Any]
    value: float
    source: str
    path: tuple[str, ...] = ()
    tolerance: float = 1e-9


_FILE = Path(__file__).parent / "data" / "metric_values.json"
EXPECTED = {name: Case(**case) for name, case in json.loads(_FILE.read_text(encoding="utf-8")).items()}


def measured(metric: Any, name: str) -> float:
    case = EXPECTED[name]
    features = metric.features if name == "genres_bias" else ()
    arguments = {column: [math.nan, math.nan] for column in features} | dict(case.arguments)
    return float(reduce(getitem, case.path or (name,), metric.compute(**arguments)))
