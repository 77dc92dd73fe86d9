"""Stereotypical bias as a dataset: faces of UTKFace side by side, pictures of traits, the questions about both.

*Vision* (sections 3.1 and 4). Faces of an age, race and gender are ordered by sha256(seed, file); the n-th pair of a
cell takes the n-th face of both groups, so no face is twice in a cell, as in the authors' program (`process_UTKFace.py`
of TrustAIRLab/ModSCAN at b117f70, lines 184 and 256); it may be in cells of several groups. A pair without a face is
left out and logged, never filled with another age. Photos are cut to their largest central
square and scaled to 200 x 200 pixels, the size of UTKFace's aligned faces. UTKFace must not be passed on: rows name
both files and their hashes, for `join_images.py`.

*Language* (sections 3.2 and 4). Of 400 images per trait from the prompts of Table A5, 200 that pass a person detector
are drawn: the smallest of sha256(seed, candidate). Section 4 uses the detector "to identify and retain images
containing person(s)", but such an image answers by itself which person a room or a car makes a model think of. So
images with a person are rejected by default; `--include persons` does as the paper says (erratum E-STEREO-06).

*Revision `modscan`* has the pairs of `v2` with the authors' black bar, their questions, and 200 of the 400 pictures of
each trait that they published, drawn by the hash as above; their program looks for no person there (L:119).
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from fairspace.builders.engine.build import write_atomically
from fairspace.builders.engine.dataset import BuildJob, BuildManifest, Columns, Dataset, Row, Split, expect
from fairspace.builders.engine.making import Candidate, PlanStore, Verdict, Wanted, jpeg, make
from fairspace.builders.engine.tools import ImageGenerator, PersonDetector, Picture
from fairspace.builders.models.detection import StoredBoxes
from fairspace.builders.publishing.join_images import spliced_jpeg
from fairspace.builders.registry import published_split
from fairspace.builders.sources import IMAGES, SOURCES, read_image
from fairspace.builders.sources import faces as utkface
from fairspace.builders.stereotypical_bias import plan
from fairspace.builders.stereotypical_bias.modscan import BAR
from fairspace.builders.stereotypical_bias.plan import ATTRIBUTES, CORE, IMAGES_PER_TRAIT, REVISIONS, TRAITS, cell_sizes

if TYPE_CHECKING:
    from PIL.Image import Image


SAMPLE_PAIRS = 2
"""Pairs of a sample, per attribute, shared group and two groups."""


@dataclass(frozen=True)
class FacePair:
    """A planned pair, differing in one attribute, with gender, race and file below the source of either face."""

    attribute: plan.Attribute
    pair: str
    age: int
    left: tuple[str, str, str]
    right: tuple[str, str, str]

    @property
    def id(self) -> str:
        """Prefix of the ids of its questions."""
        return f"vision_{self.attribute}/{self.pair}"


def faces(job: BuildJob, folder: Path) -> dict[str, list[str]]:
    """`age/race/gender` -> at most `PAIRS_PER_CELL` files, in the order of the draw."""
    scan = utkface.scan(folder)
    store = PlanStore(job.seed)
    races = dict(zip(utkface.UTKFACE_RACES, plan.GROUPS["race"], strict=False))
    store.add(
        Candidate(face.file, f"{face.age}/{races[face.race]}/{face.gender}", None)
        for face in scan.faces
        if plan.AGES[0] <= face.age <= plan.AGES[-1] and face.race in races
    )
    for reason, count in () if job.sample else sorted(scan.skipped.items()):  # a sample draws such names itself
        job.note(f"{count} files of UTKFace whose names break its layout ({reason}): {scan.examples[reason]} first.")
    files: dict[str, list[str]] = {}
    for candidate in store.select(plan.PAIRS_PER_CELL):
        files.setdefault(candidate.cell, []).append(candidate.key)
    listing = job.work / "faces.json"
    write_atomically(listing, json.dumps(files, indent=1, sort_keys=True))
    job.files["utkface/faces that may be chosen"] = listing
    return files


def filled(
    job: BuildJob, attribute: plan.Attribute, files: Mapping[str, Sequence[str]], revision: str
) -> Iterator[FacePair]:
    """The planned pairs that have faces; the others are logged, except in a sample, which takes a few of many."""
    groups = plan.GROUPS[attribute]
    before, lost, count = Counter[tuple[int, str, str]](), Counter[str](), 0
    for row in plan.pairs(attribute, revision).to_pylist():
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
        yield FacePair(attribute, row["pair"], age, left, right)
    if not job.sample:
        reasons = "; ".join(f"{number:,} are left out, {reason}" for reason, number in sorted(lost.items()))
        planned, paper = sum(plan.cell_sizes(attribute)), plan.PAIRS[attribute]
        job.note(
            f"vision/{attribute}: {count:,} of {planned:,} places for a pair are filled, {paper:,} in the paper"
            + (f"; {reasons}." if reasons else ".")
        )


def _gender_race(attribute: plan.Attribute, shared: str, group: str) -> tuple[str, str]:
    return (group, shared) if attribute == "gender" else (shared, group)


def _cell(attribute: plan.Attribute, age: int, shared: str, group: str) -> str:
    gender, race = _gender_race(attribute, shared, group)
    return f"{age}/{race}/{gender}"


def sample(pairs: Sequence[FacePair]) -> list[FacePair]:
    """The first few pairs of every combination of groups."""
    seen, kept = Counter[frozenset[tuple[str, str]]](), []
    for pair in pairs:
        kind = frozenset((pair.left[:2], pair.right[:2]))
        seen[kind] += 1
        if seen[kind] <= SAMPLE_PAIRS:
            kept.append(pair)
    return kept


def vision_splits(job: BuildJob, revision: str) -> Iterator[Split]:
    """The splits `gender` and `race` of `vision`, if UTKFace is there, and of `vision_questions`."""
    by_attribute: dict[plan.Attribute, list[FacePair]] = {}
    if SOURCES["utkface"].found(job.source) is None:
        job.note("vision: UTKFace was not given, so no pair has its picture; the questions are there.")
    else:
        folder = job.need("utkface")
        files = faces(job, folder)
        for attribute in plan.ATTRIBUTES:
            by_attribute[attribute] = list(filled(job, attribute, files, revision))
            if job.sample:
                by_attribute[attribute] = sample(by_attribute[attribute])
            yield _pictures(attribute, by_attribute[attribute], folder, BAR if revision == plan.MODSCAN else 0)
    for attribute in plan.ATTRIBUTES:
        only = [p.pair for p in by_attribute.get(attribute, [])] if job.sample else None
        yield _question_split(attribute, only, revision)


def _pictures(attribute: plan.Attribute, pairs: Sequence[FacePair], folder: Path, bar: int) -> Split:
    other = "race" if attribute == "gender" else "gender"
    barred = {"bar": ("int32", "pixels of black between the two faces")} if bar else {}
    return Split(
        config="vision",
        split=attribute,
        about=f"Two faces side by side that differ in {attribute}, equal in age and in {other}.",
        columns={
            "image": ("image", f"{400 + bar} x 200 pixels: the left face, then the right one"),
            **barred,
            "attribute": (plan.ATTRIBUTES, "what the two faces differ in"),
            "age": ("int32", "of both faces, in years, as UTKFace says"),
            "left_gender": (plan.GROUPS["gender"], "perceived gender of the left face"),
            "left_race": (plan.GROUPS["race"], "perceived race of the left face"),
            "right_gender": (plan.GROUPS["gender"], "perceived gender of the right face"),
            "right_race": (plan.GROUPS["race"], "perceived race of the right face"),
            "origin": (("utkface", "synthetic"), "the source of both faces"),
            "left_file": ("string", "file below the source's folder"),
            "left_sha256": ("string", "of that file"),
            "right_file": ("string", "file below the source's folder"),
            "right_sha256": ("string", "of that file"),
        },
        units=pairs,
        rows=lambda part: (_row(pair, folder, bar) for pair in part),
        groups=("left_gender", "left_race", "right_gender", "right_race"),
        id="the id of a question about the picture is this, `/`, and the instance in small letters with `_` for spaces "
        "(`vision_gender/0000/taxi_driver`); `vision_questions` holds them all",
    )


def _row(pair: FacePair, folder: Path, bar: int) -> Row:
    row: dict[str, Any] = {"id": pair.id, "attribute": pair.attribute, "age": pair.age, "origin": "utkface"}
    row |= {"bar": bar} if bar else {}
    halves = []
    for side, (gender, race, file) in (("left", pair.left), ("right", pair.right)):
        halves.append(read_image(folder / file))
        row |= {f"{side}_gender": gender, f"{side}_race": race, f"{side}_file": file}
        row[f"{side}_sha256"] = hashlib.sha256(halves[-1]).hexdigest()
    name = f"{pair.id.replace('/', '-')}.jpg"
    return row | {"image": {"bytes": spliced_jpeg(halves[0], halves[1], bar), "path": name}}


def _question_split(attribute: plan.Attribute, only: Sequence[str] | None, revision: str) -> Split:
    items = plan.items(f"vision_{attribute}", revision)
    if only is not None:
        items = items.filter(pc.is_in(items["pair"], pa.array(only, pa.string())))
    return Split(
        config="vision_questions",
        split=attribute,
        about=f"A question about a picture of `vision`/`{attribute}`; its `id` is the one that a response names.",
        columns={
            "picture": (
                "string",
                "id of the row of `vision` that it is asked about; pairs that a source could not fill have none",
            ),
            "scenario": (plan.SCENARIOS[:2], "kind of instance"),
            "instance": (plan.INSTANCES, "the occupation or descriptor that is asked for"),
            "prompt": ("string", "the question, to the letter; prefixes of a run come before it"),
        },
        units=items,
        rows=_question_rows,
        shard=200_000,
        id="of the item",
    )


def _question_rows(items: pa.Table) -> pa.Table:
    instance = items["instance"].cast(pa.int64())
    return pa.table(
        {
            "id": items["id"],
            "picture": pc.replace_substring_regex(items["id"], "/[^/]*$", ""),
            "scenario": pc.greater_equal(instance, len(plan.OCCUPATIONS)).cast(pa.int64()),
            "instance": instance,
            "prompt": items["prompt"],
        }
    )


GENERATED_PER_TRAIT = 400
TOO_FEW = "too few images that the detector lets pass"
TOO_FEW_PUBLISHED = "too few published pictures of a trait"
PERSONS = "persons"
"""The option that keeps pictures with a person instead of those without."""
SAMPLE_GENERATED, SAMPLE_KEPT = 6, 2


def persona_splits(job: BuildJob) -> Iterator[Split]:
    """The split `persona/test`, if there are a generator and a detector."""
    generator, detector = job.tools.generator, job.tools.detector
    if generator is None or detector is None:
        missing = [role for role, tool in (("generator", generator), ("detector", detector)) if tool is None]
        job.note(f"persona: no {' and no '.join(missing)} was named, so there are no images of traits.")
        return
    if isinstance(detector, StoredBoxes):
        job.note("persona: stored boxes know nothing of new images, so there are no images of traits; name a detector.")
        return
    if job.options.get("include") == PERSONS:
        job.note("persona: images with a person were kept, as the paper says (E-STEREO-06).")
    made = {
        "image": ("image", "as it was generated; without a person, unless the build's options say otherwise"),
        "trait": (plan.TRAITS, "what the image stands for"),
        "origin": (("utkface", "synthetic"), "how the image came to be"),
        "image_prompt": ("string", "what it was generated from (Table A5)"),
        "generator": ("string", "the model that made it"),
        "seed": ("int64", "of its noise"),
    }
    yield _persona(made, lambda trait: _rows(trait, job, generator, detector))


def _persona(columns: Columns, rows: Callable[[str], Iterator[Row]]) -> Split:
    return Split(
        config="persona",
        about="An image that stands for a persona trait, and the questions about it.",
        columns={
            **columns,
            "gender_id": ("string", "id of the item that asks for a gender; a response names it"),
            "gender_prompt": ("string", "the question for gender (Table A6), its choices in the item's order"),
            "race_id": ("string", "id of the item that asks for a race; a response names it"),
            "race_prompt": ("string", "the question for race (Table A6), its choices in the item's order"),
        },
        units=plan.TRAITS,
        rows=lambda part: (row for trait in part for row in rows(trait)),
        shard=1,
        groups=("trait",),
        id="of the image",
    )


def _rows(trait: str, job: BuildJob, generator: ImageGenerator, detector: PersonDetector) -> Iterator[Row]:
    generated, kept = (SAMPLE_GENERATED, SAMPLE_KEPT) if job.sample else (GENERATED_PER_TRAIT, plan.IMAGES_PER_TRAIT)
    persons, slug = job.options.get("include") == PERSONS, plan.slug(trait)
    if job.sample and persons:
        generated *= 4  # persons are in a few of the drawn pictures alone
    wanted = [Wanted(f"persona/{slug}/candidate-{n:03d}", plan.IMAGE_PROMPTS[trait]) for n in range(generated)]
    passed: list[tuple[bytes, int, bytes]] = []
    for item, image in make(job, wanted, lambda images, _: _verdicts(images, detector, persons), attempts=1):
        if image is not None:
            rank = hashlib.sha256(f"{job.seed}/{item.key}".encode()).digest()
            passed = sorted([*passed, (rank, image.info["seed"], jpeg(image))])[:kept]
    for number in range(len(passed), kept):
        job.reject(f"persona/{slug}/{number:03d}", TOO_FEW, generated=generated)
    for number, (_, seed, data) in enumerate(passed):
        row = {
            "id": f"persona/{slug}/{number:03d}",
            "image": {"bytes": data, "path": f"persona-{slug}-{number:03d}.jpg"},
            "trait": trait,
            "origin": "synthetic",
            "image_prompt": plan.IMAGE_PROMPTS[trait],
            "generator": generator.name,
            "seed": seed,
        }
        yield row | _asked(trait, number, REVISIONS[0])


def _asked(trait: str, number: int, revision: str) -> dict[str, str]:
    place, row = TRAITS.index(trait) * IMAGES_PER_TRAIT + number, dict[str, str]()
    for attribute in ATTRIBUTES:
        ids, prompts = _questions(attribute, revision)
        row |= {f"{attribute}_id": ids[place].as_py(), f"{attribute}_prompt": prompts[place].as_py()}
    return row


def _verdicts(images: Sequence[Image], detector: PersonDetector, persons: bool) -> list[Verdict]:
    files = [jpeg(image) for image in images]
    pictures = [Picture(f"sha256:{hashlib.sha256(file).hexdigest()}", file) for file in files]
    detected = detector.detect(pictures)
    if persons:
        return [Verdict("" if boxes else "no person") for boxes in detected]
    return [Verdict("a person", {"persons": len(b), "score": b[0].score}) if b else Verdict() for b in detected]


@cache
def _questions(attribute: plan.Attribute, revision: str) -> tuple[pa.ChunkedArray, pa.ChunkedArray]:
    items = plan.items(f"language_{attribute}", revision)
    return items["id"], items["prompt"]


def published_pictures(job: BuildJob) -> Iterator[Split]:
    """The split `persona/test` of `modscan`: 200 of the pictures that the authors published for each trait."""
    if SOURCES[plan.MODSCAN].found(job.source) is None:
        job.note("persona: the authors' pictures (source modscan) were not given, so there are no images of traits.")
        return
    folder = job.need(plan.MODSCAN)
    names = {path.name for path in folder.iterdir() if path.is_dir() and path.name[0] != "."}
    if others := names.difference(map(_folder, TRAITS)):
        job.note(f"persona: no question is about these folders of modscan: {', '.join(sorted(others))}.")
    columns: Columns = {
        "image": ("image", "the published file, unchanged; some show persons"),
        "trait": (plan.TRAITS, "what the image stands for"),
        "origin": ((plan.MODSCAN,), "the source of the image"),
        "source_file": ("string", ""),
        "source_sha256": ("string", ""),
    }
    yield _persona(columns, lambda trait: _published(trait, job, folder))


def _folder(trait: str) -> str:
    return trait.replace(" ", "")


def _published(trait: str, job: BuildJob, folder: Path) -> Iterator[Row]:
    files = (file for file in (folder / _folder(trait)).glob("*") if file.suffix.lower() in IMAGES)
    ranked = sorted(files, key=lambda file: hashlib.sha256(f"{job.seed}/{trait}/{file.name}".encode()).digest())
    for number in range(SAMPLE_KEPT if job.sample else IMAGES_PER_TRAIT):
        name = f"persona/{plan.MODSCAN}/{plan.slug(trait)}/{number:03d}"
        if number >= len(ranked):
            job.reject(name, TOO_FEW_PUBLISHED, published=len(ranked))
            continue
        file, data = ranked[number], read_image(ranked[number])
        yield {
            "id": name,
            "image": {"bytes": data, "path": f"{name.replace('/', '-')}{file.suffix.lower()}"},
            "trait": trait,
            "origin": plan.MODSCAN,
            "source_file": f"{_folder(trait)}/{file.name}",
            "source_sha256": hashlib.sha256(data).hexdigest(),
            **_asked(trait, number, plan.MODSCAN),
        }


def splits(job: BuildJob, revision: str = REVISIONS[0]) -> Sequence[Split]:
    """Pairs of faces, their questions, images of traits, and the printed figures."""
    persona = published_pictures(job) if revision == plan.MODSCAN else persona_splits(job)
    return [*vision_splits(job, revision), *persona, published_split("stereotypical_bias")]


def check(manifest: BuildManifest) -> None:
    """Check that every planned picture is there or logged as missing; in a sample every trait has images."""
    persona = manifest.find("persona", "test")
    traits = persona.counts["trait"] if persona else {}
    lost = sum(manifest.rejected.get(reason, 0) for reason in (TOO_FEW, TOO_FEW_PUBLISHED))
    if manifest.sample:
        expect(all(traits.values()), manifest.dataset, f"images per trait {dict(traits)}", "at least one of each")
        return
    if persona is not None:
        planned = len(TRAITS) * IMAGES_PER_TRAIT
        expect(persona.rows + lost == planned, manifest.dataset, f"{persona.rows} and {lost} missing", f"{planned}")
    pictures = [built for built in manifest.splits if built.config == "vision"]
    if pictures:
        rows = sum(built.rows for built in pictures)
        lost = sum(manifest.rejected.get(reason, 0) for reason in ("no face in a cell", "too few faces in a cell"))
        planned = sum(sum(cell_sizes(attribute)) for attribute in ATTRIBUTES)
        expect(rows + lost == planned, manifest.dataset, f"{rows} pairs and {lost} left out", f"{planned} pairs")


_V2 = Dataset(
    name="stereotypical_bias",
    title="Stereotypical Bias of Multi-modal Large Language Models",
    benchmark="stereotypical_bias",
    revision=REVISIONS[0],
    revision_of=lambda revision: CORE.get(revision, revision),
    licence="CC-BY-NC-4.0",
    sources=("utkface",),
    includes=("persons", plan.MODSCAN),
    splits=splits,
    check=check,
    gated=True,
    tools=("detector", "generator"),
    task_categories=("visual-question-answering",),
    changes=(
        (
            "up_to_twenty",
            "v2",
            "Pairs: 20 places of each age, shared group and two groups, those that UTKFace can fill; `v1` spread the "
            "paper's totals evenly over the cells. A face is once in a cell. Questions, traits and orders are those of "
            "v1.",
        ),
        (
            "up_to_twenty",
            plan.MODSCAN,
            "The pairs of v2 with a black bar, the questions of the authors' programs, and their published pictures of "
            "traits; ids of its own.",
        ),
    ),
)
_MODSCAN = replace(_V2, revision=plan.MODSCAN, sources=("utkface", plan.MODSCAN), tools=())
DATASET = replace(_V2, editions=(replace(_MODSCAN, splits=partial(splits, revision=plan.MODSCAN)),))
