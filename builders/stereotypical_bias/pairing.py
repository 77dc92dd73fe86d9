"""Which faces fill the planned pairs of the vision modality (section 4 of the paper).

The plan (`fairspace.builders.stereotypical_bias.plan.pairs`) says which age, race and gender each side of a pair has;
this module chooses the faces. Within an age, race and gender faces stand in the order of sha256(seed, file). The n-th
pair of a cell takes the n-th face of both groups, so that no face is twice in a cell. A pair for which a group has no
face left is left out and logged: never filled with another age. So a cell has as many pairs as the smaller of its two
groups has faces, and 20 at most.

The paper does not say whether a face may be in several pairs of a cell. If it might, four faces of each group would be
enough for 16 pairs, and nearly all of the 3 840 and 11 520 places of 48 ages would be filled; the paper has 68 % and
64 % of them. The build notes how many came out.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fairspace.builders.engine.dataset import Job
from fairspace.builders.engine.plan_store import Candidate, PlanStore
from fairspace.builders.stereotypical_bias import plan

SAMPLE_PAIRS = 2
"""Pairs of a sample, per attribute, shared group and two groups."""


@dataclass(frozen=True)
class Pair:
    """A planned pair with its faces.

    Args:
        attribute: what the two differ in.
        pair: number of the planned pair.
        age: of both.
        left: gender, race and file below the source of the left face.
        right: the same of the right face.
    """

    attribute: plan.Attribute
    pair: str
    age: int
    left: tuple[str, str, str]
    right: tuple[str, str, str]

    @property
    def id(self) -> str:
        """What the ids of its questions begin with."""
        return f"vision_{self.attribute}/{self.pair}"


def faces(job: Job, folder: Path) -> dict[str, list[str]]:
    """`age/race/gender` -> at most `PAIRS_PER_CELL` files, in the order of the draw."""
    from fairspace.builders.sources import utkface

    scan = utkface.scan(folder)
    file = job.work / "faces.sqlite"
    file.unlink(missing_ok=True)
    store = PlanStore(file, job.seed)
    races = dict(zip(utkface.RACES, plan.GROUPS["race"], strict=False))
    store.add(
        Candidate(face.file, f"{face.age}/{races[face.race]}/{face.gender}", "{}")
        for face in scan.faces
        if plan.AGES[0] <= face.age <= plan.AGES[-1] and face.race in races
    )
    for reason, count in sorted(scan.skipped.items()):
        job.note(f"{count} files of UTKFace whose names break its layout ({reason}): {scan.examples[reason]} first.")
    chosen = store.select(plan.PAIRS_PER_CELL)
    files: dict[str, list[str]] = {}
    for face in chosen[:]:
        files.setdefault(face.cell, []).append(face.key)
    store.close()
    listing = job.work / "faces.json"
    listing.write_text(json.dumps(files, indent=1, sort_keys=True), encoding="utf-8")
    job.used("utkface/faces that may be chosen", listing)
    return files


def filled(job: Job, attribute: plan.Attribute, files: Mapping[str, Sequence[str]]) -> Iterator[Pair]:
    """The planned pairs that have faces; the others are logged, except in a sample, which takes a few of many."""
    groups = plan.GROUPS[attribute]
    before, lost, count = Counter[tuple[int, str, str]](), Counter[str](), 0
    for row in plan.pairs(attribute).to_pylist():
        age, shared, two = row["age"], row["shared"], (row["left"], row["right"])
        first, second = (_cell(attribute, age, shared, groups[group]) for group in sorted(two))
        number = before[age, first, second]
        before[age, first, second] += 1
        some, others = files.get(first, []), files.get(second, [])
        if number >= min(len(some), len(others)):
            reason = "too few faces in a cell" if some and others else "no face in a cell"
            lost[reason] += 1
            if not job.sample:
                fewer = first if len(some) < len(others) else second
                job.reject(f"vision_{attribute}/{row['pair']}", reason, cell=fewer)
            continue
        count += 1
        file = {first: some[number], second: others[number]}
        left, right = (
            (*_gender_race(attribute, shared, groups[group]), file[_cell(attribute, age, shared, groups[group])])
            for group in two
        )
        yield Pair(attribute, row["pair"], age, left, right)
    if not job.sample:
        said = "; ".join(f"{number:,} are left out, {reason}" for reason, number in sorted(lost.items()))
        planned, paper = sum(plan.cell_sizes(attribute)), plan.PAIRS[attribute]
        job.note(
            f"vision/{attribute}: {count:,} of {planned:,} places for a pair are filled, {paper:,} in the paper"
            + (f"; {said}." if said else ".")
        )


def _gender_race(attribute: plan.Attribute, shared: str, group: str) -> tuple[str, str]:
    return (group, shared) if attribute == "gender" else (shared, group)


def _cell(attribute: plan.Attribute, age: int, shared: str, group: str) -> str:
    gender, race = _gender_race(attribute, shared, group)
    return f"{age}/{race}/{gender}"


def sample(pairs: Sequence[Pair]) -> list[Pair]:
    """The first few pairs of every combination of groups."""
    seen, kept = Counter[frozenset[tuple[str, str]]](), []
    for pair in pairs:
        kind = frozenset((pair.left[:2], pair.right[:2]))
        seen[kind] += 1
        if seen[kind] <= SAMPLE_PAIRS:
            kept.append(pair)
    return kept
