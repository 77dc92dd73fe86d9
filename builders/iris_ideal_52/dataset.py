"""IRIS-Ideal-52 as a dataset: occupation images balanced over 936 cells, the gap that FACET leaves, the tournament.

The full build has 29 images in each cell, 27 144 in all: real ones as far as FACET has them, synthetic ones for the
rest. The option `per_cell` changes the 29; a sample fills a few occupations with two images per cell. Without FACET or
without a generator, a labeller and a matcher the build has what the others give, and says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from fairspace.builders.engine.build import file_hash
from fairspace.builders.engine.dataset import Dataset, Job, Manifest, Row, Split, expect
from fairspace.builders.engine.headline import Headline
from fairspace.builders.engine.plan_store import PlanStore, Selection
from fairspace.builders.errors import BuildError
from fairspace.builders.iris.groups import GROUPS, OCCUPATIONS
from fairspace.builders.iris.revisions import base_revision
from fairspace.builders.iris_ideal_52 import plan as ideal
from fairspace.builders.iris_ideal_52.columns import CELL, COLUMNS, labels_of
from fairspace.builders.iris_ideal_52.images import CELLS, Places, rows
from fairspace.builders.iris_ideal_52.persons import find_persons
from fairspace.builders.iris_ideal_52.tournament import tournament
from fairspace.builders.sources import SOURCES, facet

LABELS = ("occupation", "gender", "age", "skin_tone")
SAMPLE_OCCUPATIONS = 3
"""Occupations in a sample: the first ones of Table 20 that FACET has persons of."""
SAMPLE_PER_CELL = 2
SHARD = 1000
"""Images per Parquet file: about 60 MB."""
_PER_CELL = "per_cell"
_MAKERS = ("generator", "labeller", "matcher")
"""What makes synthetic images and checks all of their labels."""


def splits(job: Job) -> Sequence[Split]:
    """`occupation`, `gap` and `tournament`; the first two are left out if nothing can fill a cell."""
    return [*_occupation(job), tournament()]


def check(manifest: Manifest) -> None:
    """No cell over its number, none under it where images were made, 2 000 rounds per group. BUILD_CHECK if not."""
    name, per_cell = manifest.dataset, _per_cell(manifest.options, manifest.sample)
    images, gap = manifest.find("occupation", "test"), manifest.find("gap", "test")
    if images is not None and gap is not None:
        most = max(images.joint.values(), default=0)
        expect(most <= per_cell, name, f"{most} images in a cell", f"at most {per_cell}")
        cells = SAMPLE_OCCUPATIONS * len(GROUPS) if manifest.sample else len(CELLS)
        expect(gap.rows == cells, name, f"{gap.rows} cells", f"{cells}")
        if set(_MAKERS) <= set(manifest.tools):
            given_up = manifest.rejected.get("gave up", 0)
            expected = f"{cells * per_cell - given_up}: {cells} cells with {per_cell} each, {given_up} given up"
            expect(images.rows == cells * per_cell - given_up, name, f"{images.rows} images", expected)
        else:
            synthetic = images.counts["origin"]["synthetic"]
            expect(not synthetic, name, f"{synthetic} synthetic images", "none without what makes and checks them")
    rounds = manifest.find("tournament", "test")
    counts = set(rounds.joint.values()) if rounds is not None else set()
    expect(counts == {ideal.ROUNDS}, name, f"rounds per group {sorted(counts)}", f"{ideal.ROUNDS} for each")


def _per_cell(options: Mapping[str, str], sample: bool) -> int:
    """Images per cell."""
    text = options.get(_PER_CELL, "")
    if not text:
        return SAMPLE_PER_CELL if sample else ideal.IMAGES_PER_CELL
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(f"the option {_PER_CELL} is {text!r}; it must be a whole number from 1")
    return int(text)


def _occupation(job: Job) -> list[Split]:
    """The images and the gap."""
    per_cell = _per_cell(job.options, job.sample)
    folder = SOURCES["facet"].found(job.source)
    missing = [role for role in _MAKERS if getattr(job.tools, role) is None]
    makes = not missing
    if folder is None:
        job.note("FACET was not given: no real images are in it.")
    if not makes:
        job.note(f"No {', '.join(missing)} was named: no synthetic images fill the gap.")
    if folder is None and not makes:
        return []
    plan = _plan(job, folder) if folder else None
    counts = plan.counts() if plan else {}
    cells = _sample_cells(counts) if job.sample else CELLS
    chosen = plan.select(per_cell, cells) if plan else None
    real = chosen.counts if chosen else {}
    lacking = {cell: per_cell - real.get(cell, 0) for cell in cells}
    places = Places(chosen, lacking if makes else {}, cells)
    _note(job, per_cell, cells, sum(real.values()), sum(lacking.values()))
    if not len(places):
        raise BuildError(
            "BUILD_CHECK",
            str(folder),
            "no person that a cell could take",
            "at least one",
            "look at FACET and the boxes",
        )
    return [
        Split(
            config="occupation",
            about="An image of one person at work, and the question what the person's occupation is (C.1, D.2.4).",
            columns=COLUMNS,
            units=places,
            rows=partial(rows, job=job, folder=folder),
            shard=SHARD,
            groups=LABELS,
            id="ideal/<occupation>/<group>/<place>: names the cell and the place in it.",
        ),
        _gap(cells, per_cell, counts, chosen, makes),
    ]


def _plan(job: Job, folder: Path) -> PlanStore:
    """The persons found, by cell. The files carry the annotations' hash, so that a changed source is read anew."""
    annotations = folder / facet.ANNOTATIONS
    job.used(f"facet/{facet.ANNOTATIONS}", annotations)
    stem = file_hash(annotations)[:16]
    plan = PlanStore(job.work / f"plan-{stem}.sqlite", job.seed)
    find_persons(job, folder, job.work / f"persons-{stem}.sqlite", plan)
    return plan


def _sample_cells(counts: Mapping[str, int]) -> tuple[str, ...]:
    """All cells of a few occupations, those with real persons first."""
    there = {cell.split("/")[0] for cell in counts}
    order = sorted(OCCUPATIONS, key=lambda occupation: (occupation not in there, OCCUPATIONS.index(occupation)))
    taken = set(order[:SAMPLE_OCCUPATIONS])
    return tuple(cell for cell in CELLS if cell.split("/")[0] in taken)


def _note(job: Job, per_cell: int, cells: Sequence[str], real: int, lacking: int) -> None:
    job.note(f"Of {per_cell} images in each of {len(cells)} cells, {real} are real and {lacking} had to be made.")
    if per_cell != ideal.IMAGES_PER_CELL or cells != CELLS:
        job.note(f"Scores need the full build, {ideal.IMAGES_PER_CELL} images in each of {len(CELLS)} cells.")


def _gap(
    cells: Sequence[str], per_cell: int, counts: Mapping[str, int], chosen: Selection | None, makes: bool
) -> Split:
    """What FACET gives to each cell, and what it lacks."""

    def numbers(part: Sequence[str]) -> list[Row]:
        rows: list[Row] = []
        for cell in part:
            real = chosen.counts.get(cell, 0) if chosen else 0
            given = {"planned": per_cell, "candidates": counts.get(cell, 0), "real": real, "gap": per_cell - real}
            filled = {"synthetic": per_cell - real if makes else 0}
            rows.append({"id": f"gap/{cell}", **labels_of(cell), **given, **filled})
        return rows

    return Split(
        config="gap",
        about="A cell of occupation and group: how many real images there are for it, and how many had to be made.",
        columns={
            **{label: (names, "") for label, (names, _) in CELL.items()},
            "planned": ("int32", "Images that the cell takes."),
            "candidates": ("int32", "Persons of FACET with these labels whom the detector found."),
            "real": ("int32", "How many of them are in the dataset."),
            "gap": ("int32", "Planned images without a real person."),
            "synthetic": (
                "int32",
                "Images that were to be made for the gap; those that no attempt passed are missing.",
            ),
        },
        units=cells,
        rows=numbers,
        id="gap/<occupation>/<group>.",
    )


DATASET = Dataset(
    name="iris_ideal_52",
    title="IRIS-Ideal-52",
    benchmark="iris",
    revision=ideal.REVISIONS[0],
    changes=(
        (
            "inaugural, bounded",
            "v2",
            "As v1. A matcher checks the occupation of synthetic images (`occupation_rank`). Its images are the "
            "references that steer images are compared with (SCL).",
        ),
    ),
    revision_of=base_revision,
    headlines=(
        Headline("IFS_Und", "occupation", "ideal fairness: occupations are recognised alike in all groups"),
        Headline("RFS_Und", "tournament", "real-world fidelity: groups are chosen as labour statistics have them"),
    ),
    licence="CC-BY-NC-4.0",
    sources=("facet",),
    splits=splits,
    check=check,
    gated=True,
    tools=("detector", "generator", "labeller", "matcher"),
    task_categories=("visual-question-answering", "image-classification"),
)
