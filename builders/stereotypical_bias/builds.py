"""The register of published builds of the stereotypical bias dataset: which planned pairs each of them has.

UTKFace cannot fill every place of the plan, and a model can answer only about pictures that there are. So a submission
that names the build it ran on is expected to answer about the pairs of this build, if the build stands here; of any
other, about all planned pairs, because nobody knows which of them it has.

A row is one shared group and two groups of a build: how many pairs it has of each age, the first ones of the plan's. A
build is named by the sha256 of its `manifest.json`. `python -m fairspace.builders.stereotypical_bias.builds FOLDER`
prints the rows of a finished build, which a maintainer appends to the register when it is published.
"""

from __future__ import annotations

import csv
import re
import sys
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from fairspace.builders.errors import BuildError
from fairspace.builders.stereotypical_bias import plan

REGISTER = Path(__file__).with_suffix(".csv")
_DIGEST = re.compile(r"(?:^|, )sha256:([0-9a-f]{64})(?:,|$)")
COLUMNS = ("build", "revision", "attribute", "shared", "groups", *map(str, plan.AGES))


@lru_cache
def registered(file: Path) -> dict[tuple[str, str, plan.Attribute], dict[tuple[int, str, str], int]]:
    """Build, dataset revision and attribute -> pairs of an age, a shared group and two groups (`white-black`)."""
    known: dict[tuple[str, str, plan.Attribute], dict[tuple[int, str, str], int]] = {}
    with file.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            attribute: plan.Attribute = "gender" if row["attribute"] == "gender" else "race"
            counts = known.setdefault((row["build"], row["revision"], attribute), {})
            counts |= {(age, row["shared"], row["groups"]): int(row[str(age)]) for age in plan.AGES}
    return known


def build_in(about: str) -> str:
    """The build that a run names, as in `v2, sha256:` and its hash; '' without one."""
    match = _DIGEST.search(about)
    return match[1] if match else ""


def pairs_in(build: str, attribute: plan.Attribute, revision: str) -> npt.NDArray[np.bool_] | None:
    """(pairs of the plan) which of them a build has; None if the register lacks the build."""
    counts = registered(REGISTER).get((build, plan.base_revision(revision), attribute))
    if counts is None:
        return None
    sizes = plan.cell_sizes(attribute, revision)
    places = np.concatenate([np.arange(size) for size in sizes])
    has = [counts.get(_key(attribute, cell), 0) for cell in plan.cells(attribute)]
    return np.asarray(places < np.repeat(has, sizes))


def rows_of(folder: Path) -> Iterator[list[str]]:
    """The register's rows of a finished build.

    Errors: BuildError BUILD_CHECK for a sample, a build without pictures, or one that lacks an earlier pair of a cell
    and has a later one.
    """
    import pyarrow.parquet as pq

    from fairspace.builders.engine.build import MANIFEST, file_hash, read_manifest

    manifest, digest = read_manifest(folder), file_hash(folder / MANIFEST)
    splits = {split.split for split in manifest.splits if split.config == "vision"}
    if manifest.sample or splits != set(plan.ATTRIBUTES):
        what = "a sample" if manifest.sample else f"the splits {', '.join(sorted(splits)) or 'none'} of vision"
        mend = "build it with --source, in which UTKFace is, and without --sample"
        raise BuildError("BUILD_CHECK", str(folder), what, "all pairs of faces", mend)
    for attribute in plan.ATTRIBUTES:
        files = sorted((folder / "vision").glob(f"{attribute}-*.parquet"))
        there = {item for file in files for item in pq.read_table(file, columns=["id"])["id"].to_pylist()}
        names = [f"vision_{attribute}/{pair}" for pair in plan.pairs(attribute, manifest.revision)["pair"].to_pylist()]
        sizes = plan.cell_sizes(attribute, manifest.revision)
        cell_of = np.repeat(np.arange(len(sizes)), sizes).tolist()
        has = Counter(cell for cell, name in zip(cell_of, names, strict=True) if name in there)
        first = np.concatenate([np.arange(size) < has[cell] for cell, size in enumerate(sizes)])
        if {name for name, filled in zip(names, first.tolist(), strict=True) if filled} != there:
            mend = "build it again: pairs of a cell are filled in their order"
            raise BuildError("BUILD_CHECK", str(folder), f"vision/{attribute} has gaps", "the first of a cell", mend)
        counts: dict[tuple[str, str], list[str]] = {}
        for cell, place in enumerate(plan.cells(attribute)):
            _, shared, groups = _key(attribute, place)
            counts.setdefault((shared, groups), []).append(str(has[cell]))
        for (shared, groups), by_age in counts.items():
            yield [digest, manifest.revision, attribute, shared, groups, *by_age]


def _key(attribute: plan.Attribute, cell: tuple[int, int, int, int]) -> tuple[int, str, str]:
    """Age, shared group and the two groups of a cell, as the register names them."""
    age, group, first, second = cell
    names = plan.GROUPS[attribute]
    shared = plan.GROUPS["race" if attribute == "gender" else "gender"][group]
    return age, shared, f"{names[first]}-{names[second]}"


if __name__ == "__main__":
    csv.writer(sys.stdout, lineterminator="\n").writerows(rows_of(Path(sys.argv[1])))
