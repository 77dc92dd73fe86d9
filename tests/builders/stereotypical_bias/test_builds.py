"""The register of published builds: which planned pairs a build has."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from fairspace.builders.engine.build import MANIFEST, build, file_hash
from fairspace.builders.engine.tools import Tools
from fairspace.builders.errors import BuildError
from fairspace.builders.stereotypical_bias import builds, plan
from fairspace.builders.stereotypical_bias.dataset import DATASET
from tests.builders.face_fixtures import write_utkface


def test_the_rows_of_the_register_fit_the_plan() -> None:
    with builds.REGISTER.open(encoding="utf-8", newline="") as lines:
        assert tuple(next(csv.reader(lines))) == builds.COLUMNS
    for (build_hash, revision, attribute), counts in builds.registered(builds.REGISTER).items():
        assert len(build_hash) == 64
        assert len(counts) == len(plan.cells(attribute))
        sizes = dict(zip(sorted(counts), plan.cell_sizes(attribute, revision), strict=True))
        assert all(0 <= counts[cell] <= size for cell, size in sizes.items())


def test_a_build_is_registered_by_the_pairs_that_it_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, out = tmp_path / "sources", tmp_path / "out"
    write_utkface(source / "utkface", (30, 31), 1)
    next((source / "utkface").glob("30_1_3_*")).unlink()  # the Indian woman
    build(DATASET, out, source=source, tools=Tools())
    rows = list(builds.rows_of(out))
    assert len(rows) == 4 + 2 * 6
    assert {len(row) for row in rows} == {len(builds.COLUMNS)}
    register = tmp_path / "register.csv"
    with register.open("w", encoding="utf-8", newline="") as lines:
        csv.writer(lines).writerows([builds.COLUMNS, *rows])
    monkeypatch.setattr(builds, "REGISTER", register)
    digest = file_hash(out / MANIFEST)
    gender, race = (builds.pairs_in(digest, attribute, "v2") for attribute in plan.ATTRIBUTES)
    assert gender is not None
    assert race is not None
    assert (len(gender), gender.sum(), len(race), race.sum()) == (3840, 7, 11520, 21)
    there = plan.pairs("gender").filter(gender)
    assert set(zip(there["age"].to_pylist(), there["shared"].to_pylist(), strict=True)) == {
        (age, group) for age in (30, 31) for group in plan.GROUPS["race"]
    } - {(30, "Indian")}
    assert builds.pairs_in(digest, "gender", "v1") is None
    assert builds.pairs_in("0" * 64, "gender", "v2") is None


def test_a_sample_or_a_build_without_pictures_is_not_registered(tmp_path: Path) -> None:
    write_utkface(tmp_path / "sources/utkface", (30,), 1)
    build(DATASET, tmp_path / "sample", source=tmp_path / "sources", sample=True, tools=Tools())
    build(DATASET, tmp_path / "questions", tools=Tools())
    for name, said in (("sample", "a sample"), ("questions", "the splits none of vision")):
        with pytest.raises(BuildError, match=f"BUILD_CHECK.*{said}"):
            list(builds.rows_of(tmp_path / name))
