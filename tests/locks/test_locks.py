import json
import math
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fairspace.submissions.benchmarks.registry import NAMES
from fairspace.submissions.values import Value, measured
from tests.locks import numbers
from tests.locks.numbers import KEPT, PARTS, errors, moved, of_value
from tests.locks.pages import text_of
from tests.sample_builds import sample_builds

IN_SUITE = ("stereotyped", "constant")
"""Baselines whose errors the suite computes: one with bias everywhere, one with equal draws."""


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
def test_no_number_moved(part: str) -> None:
    """IRIS' draws differ where a processor adds otherwise: only the command compares its errors."""
    kept = json.loads(KEPT.read_text(encoding="utf-8"))[part]
    if part == "errors":
        begins = tuple(f"{name}/{model} " for name in NAMES if name != "iris" for model in IN_SUITE)
        kept = {name: number for name, number in kept.items() if name.startswith(begins)}
        now = dict(errors([name for name in NAMES if name != "iris"], IN_SUITE))
    else:
        now = dict(PARTS[part]())
    assert kept
    assert moved(kept, now) == []


def test_a_cell_that_changed_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(numbers, "DATASETS", ("fact_or_fair",))
    shutil.copytree(sample_builds() / "fact_or_fair", tmp_path / "fact_or_fair")
    kept = dict(numbers.contents())
    monkeypatch.setattr(numbers, "sample_builds", lambda: tmp_path)
    assert moved(kept, dict(numbers.contents())) == []
    file = next((tmp_path / "fact_or_fair").rglob("*.parquet"))
    table = pq.read_table(file)
    name = next(field.name for field in table.schema if pa.types.is_string(field.type))
    cells = table[name].to_pylist()
    changed = table.set_column(table.column_names.index(name), name, pa.array([f"{cells[0]} ", *cells[1:]]))
    pq.write_table(changed, file)
    assert [line.split(":")[0] for line in moved(kept, dict(numbers.contents()))] == [
        f"fact_or_fair/{file.relative_to(tmp_path / 'fact_or_fair')}/{name}"
    ]


def test_a_value_may_move_by_its_last_bits_alone() -> None:
    def kept(number: float, low: float = 0.1) -> dict[str, str]:
        value: Value = measured("RD", number, low=low, high=0.9, expected=10, valid=8)
        return {"RD": of_value(value)}

    assert moved(kept(0.3), kept(math.nextafter(0.3, 1))) == []
    assert len(moved(kept(0.3), kept(0.3 + 1e-11))) == 1
    assert len(moved(kept(0.3), kept(0.3, 0.1001))) == 1


def test_a_word_of_a_page_or_its_title_counts_and_a_digest_or_a_time_does_not() -> None:
    page = '<p title="{}">It has <b>{}</b> rows</p><time>{}</time>'
    kept = text_of(page.format("Rows", 3, "2026-01-02 10:00 UTC"))
    assert text_of(page.format("Rows", 3, "2026-01-03 11:00 UTC")) == kept
    assert text_of(page.format("Row", 3, "2026-01-02 10:00 UTC")) != kept
    assert text_of(page.format("Rows", 4, "2026-01-02 10:00 UTC")) != kept
