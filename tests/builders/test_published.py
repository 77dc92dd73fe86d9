from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fairspace.builders.engine.build import build
from fairspace.builders.engine.dataset import BuildJob, Dataset, Split
from fairspace.builders.fact_or_fair.dataset import splits
from fairspace.builders.fact_or_fair.statistics import GROUPS, LEVELS, STATISTICS, TRUTH_VERSIONS, truth
from fairspace.builders.iris import groups as labour
from fairspace.builders.iris.groups import GROUP_NAMES, OCCUPATIONS
from fairspace.builders.iris_gen_52.dataset import labour_split
from fairspace.builders.registry import figures, published_split, table
from fairspace.submissions.benchmarks.registry import NAMES
from fairspace.submissions.results.board import board
from fairspace.submissions.results.row import Row
from tests.builders.builds import no_card
from tests.builders.builds import rows as built_rows


def write(out: Path, split: Split) -> list[dict[str, Any]]:
    build(Dataset("toy", "Toy", "iris", "v1", "CC0-1.0", (), lambda job: [split]), out, describe=no_card)
    return built_rows(out, split.config)


def shown(row: Row) -> dict[str, tuple[str, float]]:
    """Score -> printed text and number in a row of the board, where the paper prints one."""
    values = {**row.scores, **row.values}
    return {
        name: (value.evidence["printed"], value.value)
        for name, value in values.items()
        if value.value is not None and "printed" in value.evidence
    }


def key(row: Mapping[str, Any], benchmark: str) -> tuple[str, str]:
    return row["model"], row["cohort"] if benchmark == "genres" else ""


@pytest.mark.parametrize("benchmark", NAMES)
def test_the_board_shows_the_published_figures_that_the_dataset_has(tmp_path: Path, benchmark: str) -> None:
    rows = write(tmp_path / "built", published_split(benchmark))
    percent = benchmark == "fact_or_fair"
    expected: dict[tuple[str, str], dict[str, tuple[str, float]]] = {}
    for row in rows:
        skipped = row["column"].endswith("_sign") or (row["column"] == "score" and row["table"] != "Table 3")
        if row["value"] is not None and not skipped:
            text = f"{row['printed']} %" if percent else row["printed"]
            figure = row["value"] / 100 if percent else row["value"]
            expected.setdefault(key(row, benchmark), {})[row["score"]] = (text, figure)
    found = {(row.model, row.labels.get("cohort", "")): shown(row) for row in board(benchmark, "inaugural")}
    assert found == expected


@pytest.mark.parametrize("benchmark", NAMES)
def test_the_board_shows_the_labels_and_footnotes_that_the_dataset_has(tmp_path: Path, benchmark: str) -> None:
    rows = write(tmp_path / "built", published_split(benchmark))
    said = {id(row): f"the paper prints {row['printed']}; " for row in rows if row["score"].startswith("profile_")}
    noted = {
        (*key(row, benchmark), row["score"], row["erratum"], said.get(id(row), "") + row["note"])
        for row in rows
        if row["erratum"]
    }
    on_board = board(benchmark, "inaugural")
    assert noted == {
        (row.model, row.labels.get("cohort", ""), note.score, note.erratum, note.text)
        for row in on_board
        for note in row.footnotes
    }
    follows = {id(row): row["note"].rpartition(" ")[2] if row["erratum"] else row["printed"] for row in rows}
    profiles = {(r["model"], r["score"], follows[id(r)]) for r in rows if r["score"].startswith("profile_")}
    labels = {(r.model, name, text) for r in on_board for name, text in r.labels.items() if name != "cohort"}
    assert {profile for profile in profiles if profile[2]} == labels
    assert {row["organisation"] for row in rows} == {row.organisation for row in on_board}


@pytest.mark.parametrize("benchmark", NAMES)
def test_every_cell_stands_once_under_its_own_id(benchmark: str) -> None:
    cells = figures(benchmark)
    assert len({figure.id for figure in cells}) == len(cells)
    places = [(f.table, f.model, f.cohort, f.score) for f in cells]
    assert len(set(places)) == len(places)


def test_every_footnote_stands_at_a_cell() -> None:
    cells = {(f.benchmark, f.model, f.score) for name in NAMES for f in figures(name) if f.erratum}
    assert cells == {(row["benchmark"], row["model"], row["score"]) for row in table("footnotes")}


def test_no_table_lies_twice_in_the_repository() -> None:
    root = Path(__file__).parents[2]
    folders = ("builders", "submissions", "metrics", "leaderboard_space", "ares", "cards", "tests")
    files = [file for folder in folders for file in (root / folder).rglob("*.csv")]
    assert len(files) > 20
    assert len({file.read_bytes() for file in files}) == len(files)
    assert len({file.name for file in files}) == len(files)


def test_the_truth_that_is_published_is_the_truth_that_answers_are_judged_by(tmp_path: Path) -> None:
    split = next(s for s in splits(BuildJob(None, tmp_path)) if s.config == "truth")
    rows = write(tmp_path / "built", split)
    names = [statistic.name for statistic in STATISTICS]
    for version in TRUTH_VERSIONS:
        for attribute, groups in GROUPS.items():
            cells = np.full((len(names), len(LEVELS)), -1)
            for row in rows:
                if (row["version"], row["attribute"]) == (version, attribute):
                    cells[names.index(row["statistic"])] = [groups.index(row[level]) for level in LEVELS]
            assert (cells == truth(version)[attribute]).all()


def test_the_labour_shares_that_are_published_are_those_that_scores_use(tmp_path: Path) -> None:
    rows = write(tmp_path / "built", labour_split())
    assert {"id", *labour_split().fields} == set(rows[0])
    for region in labour.REGIONS:
        for attribute, shares in labour.shares(region).items():
            found = np.full_like(shares, np.nan)
            for row in rows:
                if (row["region"], row["attribute"]) == (region.code, attribute):
                    place = GROUP_NAMES[attribute].index(row["group"])
                    found[OCCUPATIONS.index(row["occupation"]), place] = row["share"]
            assert np.array_equal(found, shares, equal_nan=True)
    assert {(row["region"], row["attribute"]) for row in rows} == {
        (region.code, attribute) for region in labour.REGIONS for attribute in labour.shares(region)
    }
