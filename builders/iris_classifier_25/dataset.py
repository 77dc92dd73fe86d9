"""IRIS-Classifier-25 as a dataset: real faces, generated ones, and their checks (C.4).

A cell is a config, a split and a class. A labeller must see one face with the prompt's gender, age and skin tone. For
an adversarial image, whose face is incomplete, it may give no label or find no face, but not contradict the prompt or
see several faces; its labels are the prompt's, and `adversarial` says so. "Approximately 10%" of the synthetic images
are adversarial (C.4): here every tenth of a config, spread evenly over classes and over the attributes balanced in
turn.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal

from fairspace.builders.engine.build import write_atomically
from fairspace.builders.engine.dataset import BuildJob, BuildManifest, Columns, Dataset, Row, Split, expect
from fairspace.builders.engine.making import Candidate, PlanStore, Verdict, Wanted, make, synthetic_columns
from fairspace.builders.errors import BuildError
from fairspace.builders.iris.groups import AGES, GENDERS, OCCUPATIONS, SKIN_TONES, combination_names
from fairspace.builders.iris.groups import LABELS as GROUPS_LABELS
from fairspace.builders.iris_classifier_25.plan import ADVERSARIAL, CLASSES, COMPLETE, SHARES, TARGETS, quotas
from fairspace.builders.iris_ideal_52.dataset import CellPlace, places, prompt
from fairspace.builders.sources import SOURCES, faces, read_image

if TYPE_CHECKING:
    from hashlib import _Hash as Hash

    from PIL.Image import Image

    from fairspace.builders.engine.making import ChosenCandidate

# "Verified real-world data" (C.4) means here: the label is in the closed vocabulary and within one of IRIS' age groups
# (FairFace's 60-69 is not), the file decodes, and no earlier file has the same bytes. The sha256 of the bytes (MST-E:
# of the subject's name) decides the split, so equal files and persons stay in one split across configs.

SOURCES_READ = ("fairface", "utkface", "mst_e")
_SPLITS: tuple[Literal["train", "val"], ...] = ("train", "val")
_LABEL_FILES = (*(("fairface", f"fairface_label_{split}.csv") for split in _SPLITS), ("mst_e", faces.DETAILS))


@dataclass(frozen=True)
class LabelledFace:
    """A labelled face; '' without such a label in the source.

    `source` is a key of `SOURCES`, `file` lies below its folder, `person` is the name that it gives, `race` one of
    FACT-OR-FAIR's four.
    """

    source: str
    file: str
    person: str = ""
    gender: str = ""
    age: str = ""
    skin_tone: str = ""
    race: str = ""

    def cells(self) -> dict[str, str]:
        """Config -> the face's class in it."""
        both = f"{self.gender}_{self.age}" if self.gender and self.age else ""
        classes = {"age_gender": both, "skin_tone": self.skin_tone, "race": self.race}
        return {config: name for config, name in classes.items() if name}


def age_group(years: int) -> str:
    """IRIS' age group: young to 39, middle-aged to 64, older from 65."""
    return AGES[(years >= 40) + (years >= 65)]


def split_of(seed: int, name: str) -> str:
    """The split of all data from the file or person of that name."""
    place = int.from_bytes(hashlib.sha256(f"{seed}/split/{name}".encode()).digest()[:8], "big") * 100 >> 64
    for split, share in SHARES.items():
        place -= share
        if place < 0:
            return split
    raise ValueError("the shares of the splits do not add up to 100")


def candidates(job: BuildJob) -> PlanStore:
    """The plan of all real faces, in cells `<config>/<split>/<class>`; omissions are noted.

    BuildError of the sources' readers, and SOURCE_IMAGE for a missing file.
    """
    file, report = job.work / "faces.jsonl", job.work / "faces.json"
    store = PlanStore(job.seed)
    if report.is_file():
        store.add(Candidate(*json.loads(line)) for line in file.read_text(encoding="utf-8").splitlines())
    else:
        skipped, digest = Counter[str](), hashlib.sha256()
        candidates_of_source = list(_candidates(job, skipped, digest))
        store.add(candidates_of_source)
        write_atomically(file, "".join(f"{json.dumps(candidate)}\n" for candidate in candidates_of_source))
        summary = {"skipped": skipped, "cells": store.counts(), "sha256": digest.hexdigest()}
        write_atomically(report, json.dumps(summary, indent=1))
    for what, count in json.loads(report.read_text(encoding="utf-8"))["skipped"].items():
        job.note(f"{count} {what}.")
    for source, name in _LABEL_FILES:
        if given(job, source):
            job.files[f"{source}/{name}"] = job.need(source) / name
    if any(given(job, source) for source in SOURCES_READ):
        job.files["plan of the real faces, with a hash over all of them"] = report
    for name in SOURCES_READ:
        title = SOURCES[name].title
        if name == "mst_e" and job.options.get("include") != "mst_e":
            job.note(f"{title}: not asked for. {SOURCES[name].terms}")
        elif not given(job, name):
            job.note(f"{title}: it was not given, so it has no images here.")
    return store


def given(job: BuildJob, source: str) -> bool:
    """Whether a source is there and may be used."""
    wanted = source != "mst_e" or job.options.get("include") == "mst_e"
    return wanted and SOURCES[source].found(job.source) is not None


def _candidates(job: BuildJob, skipped: Counter[str], digest: Hash) -> Iterator[Candidate]:
    seen: set[bytes] = set()
    for number, face in enumerate(_faces(job, skipped), start=1):
        sha256 = hashlib.sha256(read_image(job.need(face.source) / face.file))
        if number % 1000 == 0:
            job.progress("Reading faces", number, number)
        if sha256.digest()[:12] in seen:
            skipped["faces with the bytes of an earlier file"] += 1
            continue
        seen.add(sha256.digest()[:12])
        split = split_of(job.seed, f"{face.source}/{face.person}" if face.person else sha256.hexdigest())
        data = json.dumps({**asdict(face), "sha256": sha256.hexdigest()})
        digest.update(data.encode())
        for config, name in face.cells().items():
            yield Candidate(f"{config}/{face.source}/{face.file}", f"{config}/{split}/{name}", data)


def _faces(job: BuildJob, skipped: Counter[str]) -> Iterator[LabelledFace]:
    if given(job, "fairface"):
        for split in _SPLITS:
            for face in faces.faces(job.need("fairface"), split):
                if face.damaged:
                    what = "ages of FairFace as a spreadsheet program had changed them to dates: read as what they were"
                    skipped[what] += 1
                if not face.age:
                    what = f"faces of FairFace of the age {face.bucket}, which straddles two classes of age and gender"
                    skipped[what] += 1
                race = faces.FACT_OR_FAIR_RACES[face.race]
                yield LabelledFace("fairface", face.file, gender=face.gender, age=face.age, race=race)
    if given(job, "utkface"):
        scan = faces.scan(job.need("utkface"))
        for reason, count in scan.skipped.items():
            skipped[f"files of UTKFace whose names break its layout ({reason})"] += count
        for usable in scan.faces:
            yield LabelledFace("utkface", usable.file, gender=usable.gender, age=age_group(usable.age))
    if given(job, "mst_e"):
        for image in faces.images(job.need("mst_e")):
            yield LabelledFace("mst_e", image.file, person=image.subject, skin_tone=image.skin_tone)


INCOMPLETE = (
    "half of it outside the picture",
    "mouth and chin covered by a scarf",
    "one side hidden behind a panel",
)
"""Endings of an adversarial prompt; ours, because C.4 prints none."""


class Plan:
    """The content of every place of one config: cell -> real faces, cell -> number of images to generate."""

    def __init__(self, config: str, real: Mapping[str, int], gap: Mapping[str, int]) -> None:
        self.config, self.real, self.gap = config, real, gap
        self.synthetic = sum(gap.values())
        starts = accumulate(gap.values(), initial=0)
        self._before = {cell: start - real[cell] for cell, start in zip(gap, starts, strict=False)}

    def number(self, place: CellPlace) -> int:
        """The place's number among the synthetic ones of the config."""
        return self._before[place.cell] + place.place

    def adversarial(self, place: CellPlace) -> bool:
        """Whether it asks for an incomplete face: one of ten in a row, a later one each time."""
        block, position = divmod(self.number(place), ADVERSARIAL)
        return block < self.synthetic // ADVERSARIAL and position == block % ADVERSARIAL

    def labels(self, place: CellPlace) -> dict[str, str]:
        """Gender, age and skin tone: the class's own, and the others in turn."""
        name, number = place.cell.rpartition("/")[2], self.number(place)
        pairs = combination_names("gender_age")
        group, tone = pairs[number % len(pairs)], name
        if self.config == "age_gender":
            group, tone = name, SKIN_TONES[number % len(SKIN_TONES)]
        gender, age = group.split("_")
        return {"gender": gender, "age": age, "skin_tone": tone}

    def prompt(self, place: CellPlace, seed: int) -> str:
        """C.1's prompt, or one for an incomplete face; the occupation is drawn."""
        draw = hashlib.sha256(f"{seed}/prompt/{item(place)}".encode()).digest()
        occupation = OCCUPATIONS[int.from_bytes(draw[:8], "big") % len(OCCUPATIONS)]
        text = prompt(f"{occupation}/{'_'.join(self.labels(place).values())}")
        if not self.adversarial(place):
            return text
        who = text.partition(" the face of ")[2].partition(",")[0]
        way = INCOMPLETE[draw[8] % len(INCOMPLETE)]
        return f"A hyper-realistic close-up photo of the incomplete face of {who}, {way}, sharp details, soft lighting"


def item(place: CellPlace) -> str:
    """The id of a synthetic image."""
    config, split, name = place.cell.split("/")
    return f"{config}/synthetic/{split}/{name}/{place.place:06d}"


ATTEMPTS = 10
SIZE = 384
"""Width and height of a synthetic image; real ones keep their size and bytes."""
SAMPLE_REAL = 2
"""Divisor of a sample's places: real faces fill at most one in this many."""


def splits(job: BuildJob) -> list[Split]:
    """The splits that the given sources and tools allow."""
    include = job.options.get("include", "")
    if include not in ("", "mst_e"):
        raise BuildError("SOURCE_MISSING", "--include", repr(include), "mst_e", "leave the option out, or correct it")
    store = candidates(job)
    counts = store.counts()
    splits = [split for config in TARGETS for split in _balanced(job, config, store, counts)]
    return splits + list(_race(job, store, counts))


def _balanced(job: BuildJob, config: str, store: PlanStore, counts: Mapping[str, int]) -> Iterator[Split]:
    wanted = {
        f"{config}/{split}/{name}": quota
        for split, names in quotas(config, sample=job.sample).items()
        for name, quota in names.items()
    }
    most = {cell: quota // SAMPLE_REAL if job.sample else quota for cell, quota in wanted.items()}
    real = {cell: min(limit, counts.get(cell, 0)) for cell, limit in most.items()}
    gap = {cell: quota - real[cell] for cell, quota in wanted.items()}
    missing = [role for role in ("generator", "labeller") if getattr(job.tools, role) is None]
    if missing and sum(gap.values()):
        lack = f"no {' and no '.join(missing)} was named, so {sum(gap.values())} of {sum(wanted.values())} images"
        job.note(f"{config}: {lack} that balance its classes are missing.")
    plan = Plan(config, real, dict.fromkeys(gap, 0) if missing else gap)
    yield from _by_split(job, plan, store)


def _race(job: BuildJob, store: PlanStore, counts: Mapping[str, int]) -> Iterator[Split]:
    if not given(job, "fairface"):
        return
    real: dict[str, int] = {}
    for split in SHARES:
        cells = [f"race/{split}/{name}" for name in CLASSES["race"]]
        real |= dict.fromkeys(cells, min(counts.get(cell, 0) for cell in cells))
        if none := [cell for cell in cells if not counts.get(cell)]:
            job.note(f"race/{split}: FairFace has no face for {', '.join(none)}.")
    yield from _by_split(job, Plan("race", real, dict.fromkeys(real, 0)), store)


def _by_split(job: BuildJob, plan: Plan, store: PlanStore) -> Iterator[Split]:
    for split in SHARES:
        cells = [f"{plan.config}/{split}/{name}" for name in CLASSES[plan.config]]
        candidates = store.select({cell: plan.real[cell] for cell in cells}, order=cells)
        if units := places(candidates, {cell: plan.gap[cell] for cell in cells}, cells):
            yield Split(
                config=plan.config,
                split=split,
                about=f"A face and its {plan.config.replace('_', ' ')}.",
                columns=columns(plan.config),
                units=units,
                rows=partial(rows, job=job, plan=plan),
                groups=(plan.config, "origin"),
                id="of the row",
            )


def columns(config: str) -> Columns:
    """The columns of a config, its class first."""
    classes = {
        "age_gender": "the class: perceived gender and age",
        "race": "the class: perceived race",
        "skin_tone": "perceived skin tone; null where the source does not say",
    }
    labels: Columns = {
        "gender": (GENDERS, "perceived gender; null where the source does not say"),
        "age": (AGES, "perceived age: to 39, to 64, from 65; null where the source does not say"),
        "skin_tone": (SKIN_TONES, classes["skin_tone"]),
    }
    return {
        "image": ("image", "the source's own file, or a synthetic image of 384 x 384 pixels"),
        config: (CLASSES[config], classes[config]),
        **labels,
        "origin": ([*SOURCES_READ, "synthetic"], "the source of the image, or synthetic"),
        "adversarial": ("bool", "whether an incomplete face was asked for; its labels are the prompt's word"),
        "source_file": ("string", "file below the source's folder; null for synthetic images"),
        "source_sha256": ("string", "of that file"),
        "prompt": ("string", "what a synthetic image was made from"),
        "generator": ("string", "the model that made it"),
        "seed": ("int64", "of its noise"),
    }


def rows(part: Sequence[ChosenCandidate | CellPlace], job: BuildJob, plan: Plan) -> Iterator[Row]:
    """The rows of some places; a place without a synthetic image that passed gives none and is logged."""
    synthetic = {item(place): place for place in part if isinstance(place, CellPlace)}
    wanted = [Wanted(key, plan.prompt(place, job.seed)) for key, place in synthetic.items()]
    results = make(job, wanted, partial(_verdicts, job, plan, synthetic), attempts=ATTEMPTS)
    empty = dict.fromkeys(columns(plan.config))
    for place in part:
        name = place.cell.rpartition("/")[2]
        if not isinstance(place, CellPlace):
            yield {**empty, **_real(place, job), plan.config: name, "adversarial": False}
            continue
        wanted_item, image = next(results)
        expect(wanted_item.key == item(place), "iris_classifier_25", f"an image for {wanted_item.key}", item(place))
        if image is not None:
            labels = {**plan.labels(place), plan.config: name, "adversarial": plan.adversarial(place)}
            made = synthetic_columns(job, wanted_item, image, SIZE)
            yield {**empty, "id": wanted_item.key, **made, **labels}


def _real(candidate: ChosenCandidate, job: BuildJob) -> dict[str, Any]:
    face = json.loads(candidate.data)
    data = read_image(job.need(face["source"]) / face["file"], face["sha256"])
    return {
        "id": candidate.key,
        "image": {"bytes": data, "path": candidate.key.replace("/", "-")},
        **{name: face[name] or None for name in GROUPS_LABELS},
        "origin": face["source"],
        "source_file": face["file"],
        "source_sha256": face["sha256"],
    }


def _verdicts(
    job: BuildJob, plan: Plan, places: Mapping[str, CellPlace], images: Sequence[Image], items: Sequence[Wanted]
) -> list[Verdict]:
    if job.tools.labeller is None:
        raise BuildError("TOOL_MISSING", items[0].key, "no labeller", "a model that checks it", "--tool labeller=ares")
    verdicts = []
    for wanted, labels in zip(items, job.tools.labeller.label(images), strict=True):
        place = places[wanted.key]
        asked_labels = plan.labels(place)
        labelled = {name: getattr(labels, name) for name in asked_labels}
        lenient = plan.adversarial(place)
        other = [name for name, label in labelled.items() if label != asked_labels[name] and (label or not lenient)]
        reason = "" if lenient and labels.reason != "several faces" else labels.reason
        reason = reason or (f"other {other[0].replace('_', ' ')} than asked" if other else "")
        verdicts.append(Verdict(reason, labelled) if reason else Verdict())
    return verdicts


def check(manifest: BuildManifest) -> None:
    """Check that no class is larger than planned, or much smaller where its gap could be generated."""
    fillable = {"generator", "labeller"} <= set(manifest.tools)
    for built in manifest.splits:
        counts = built.counts[built.config]
        name = f"{manifest.dataset} {built.config}/{built.split}"
        if built.config not in TARGETS:
            sizes = {count for label, count in counts.items() if label}
            expect(len(sizes) == 1, name, f"classes of {sorted(sizes)} images", "classes of equal size")
            continue
        for label, quota in quotas(config=built.config, sample=manifest.sample)[built.split].items():
            least = COMPLETE * quota if fillable else 0
            expected = f"{least:g} to {quota}, or every candidate that was rejected looked at"
            expect(least <= counts[label] <= quota, name, f"{counts[label]} images of {label}", expected)


DATASET = Dataset(
    name="iris_classifier_25",
    title="IRIS-Classifier-25",
    benchmark="iris",
    revision="v1",
    licence="CC-BY-NC-4.0",
    sources=("fairface", "utkface", "mst_e"),
    includes=("mst_e",),
    splits=splits,
    check=check,
    gated=True,
    tools=("generator", "labeller"),
    task_categories=("image-classification",),
)
