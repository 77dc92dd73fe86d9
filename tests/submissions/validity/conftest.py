"""A small submission."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from fairspace.builders.fact_or_fair import plan
from fairspace.submissions.benchmarks.baselines import baseline_meta
from fairspace.submissions.format.writing import write_submission


@pytest.fixture
def objective(tmp_path: Path) -> Path:
    """Answers to the objective queries alone: the first letter."""
    ids = plan.ids("llm_objective", "v2")
    table = pa.table(
        {
            "task": pa.array(["llm_objective"] * len(ids)),
            "id": ids,
            "sample": pa.array(np.zeros(len(ids), np.int32)),
            "response": pa.array(['{"answer": "A"}'] * len(ids)),
        }
    )
    tables = {"responses": table}
    return write_submission(tmp_path / "first", baseline_meta("constant", "fact_or_fair", 0, tables), tables)
