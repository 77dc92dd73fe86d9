"""Small sources in their public layouts with drawn persons, for `--sample` builds; the same in every run.

Files have the usual damage of the real ones: a bucket that a spreadsheet program changed, file names without a part,
persons without labels, a video among images. Labels without a drawing, such as race, are drawn independently of
everything else. Two made-up models have habits: an occupation's images lean to one group, some show nobody, some were
refused, and one model follows prompts better than the other.
"""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from fairspace.ares.annotating.annotate import ANNOTATIONS
from fairspace.builders.drawn.swatches import BUCKETS, draw_face, draw_object, draw_scene, draws, person
from fairspace.builders.iris.groups import AGES, GENDERS, GROUPS, OCCUPATIONS, SKIN_TONES
from fairspace.builders.iris_gen_52 import plan as iris_gen_52
from fairspace.builders.iris_steer_60 import plan as iris_steer_60
from fairspace.builders.sources.faces import BUCKETS as BUCKETS_OF_AGE
from fairspace.builders.stereotypical_bias.plan import TRAITS

if TYPE_CHECKING:
    from PIL.Image import Image

    from fairspace.builders.engine.tools import PersonBox


MODELS = {"drawn-a": (2, 0.85), "drawn-b": (1, 0.6)}
"""Model -> neutral images per occupation, share of images that follow the prompt."""
_SIZE = 160
_NEUTRAL, _STEER = "generation_neutral", "generation_steer"
_LABELS = ("gender", "age", "skin_tone")
_IMAGES = pa.schema(
    [
        *((name, pa.string()) for name in ("task", "id")),
        ("sample", pa.int32()),
        ("sha256", pa.string()),
        ("image", pa.struct([("bytes", pa.binary()), ("path", pa.string())])),
    ]
)
_Row = dict[str, object]


def write_models(folder: Path) -> None:
    """Write a folder per model: `submission.json`, `annotations-*.parquet`, `images-*.parquet`."""
    for model in MODELS:
        place = folder / model
        place.mkdir(parents=True, exist_ok=True)
        meta = {
            "format": 1,
            "benchmark": "iris",
            "dataset_revision": iris_gen_52.REVISIONS[0],
            "model": model,
            "revision": "drawings-1",
            "organisation": "nobody",
            "licence": "CC0-1.0",
            "contact": "nobody@example.org",
            "generation": {"size": _SIZE},
            "labels": {"name": "what was drawn", "version": "1", "settings": {}},
        }
        (place / "submission.json").write_text(json.dumps(meta, indent=1) + "\n", encoding="utf-8")
        drawn = list(_neutral(model))
        drawn += _steered(model, drawn)
        half = len(drawn) // 2
        for number, part in enumerate((drawn[:half], drawn[half:])):
            name = f"{number:05d}-of-00002.parquet"
            annotations = pa.Table.from_pylist([row for row, _ in part], schema=ANNOTATIONS)
            images = pa.Table.from_pylist([image for _, image in part if image], schema=_IMAGES)
            pq.write_table(annotations, place / f"annotations-{name}")
            pq.write_table(images, place / f"images-{name}")


def _neutral(model: str) -> Iterator[tuple[_Row, _Row | None]]:
    samples, habit = MODELS[model]
    ids = iris_gen_52.ids(iris_gen_52.REVISIONS[0]).to_pylist()
    for occupation, item in zip(OCCUPATIONS, ids, strict=True):
        usual = draws("sample", model, occupation).randint(len(GROUPS))
        for sample in range(samples):
            random = draws("sample", model, occupation, sample)
            group = usual if random.random_sample() < habit else random.randint(len(GROUPS))
            yield _image(model, _NEUTRAL, item, sample, int(group), occupation)


def _steered(model: str, neutral: list[tuple[_Row, _Row | None]]) -> Iterator[tuple[_Row, _Row | None]]:
    counts = np.zeros((len(OCCUPATIONS), len(GROUPS)), dtype=np.int64)
    for row, _ in neutral:
        if row["status"] == "ok":
            group = GROUPS.index("_".join(str(row[label]) for label in _LABELS))
            counts[OCCUPATIONS.index(str(row["id"]).rpartition("/")[2]), group] += 1
    for occupation, stereotype in iris_steer_60.steer_plan(counts):
        for requested in (stereotype, *iris_steer_60.counter_groups(stereotype)):
            item = iris_steer_60.steer_id(occupation, stereotype, requested)
            random = draws("sample", model, item)
            follows = random.random_sample() < MODELS[model][1]
            group = requested if follows else stereotype
            yield _image(model, _STEER, item, 0, group, OCCUPATIONS[occupation])


def _image(model: str, task: str, item: str, sample: int, group: int, occupation: str) -> tuple[_Row, _Row | None]:
    random = draws("sample", model, task, item, sample)
    chance, seed = random.random_sample(), int(random.randint(1 << 30))
    quality = random.uniform(0.5, 0.95, 4).round(3).tolist()
    row: _Row = {"task": task, "id": item, "sample": sample, "face": 0, "status": "ok", "faces": 1}
    if chance < 0.02:
        return row | {"status": "refused", "faces": 0}, None
    if chance < 0.05:
        row |= {"status": "no_face", "faces": 0, "image_quality": quality[0]}
        image = draw_object("Neat", seed, _SIZE)
    else:
        gender, age, tone = GROUPS[group].split("_")
        image = draw_face(gender, age, tone, seed, size=_SIZE, occupation=occupation)
        names = ("image_quality", "face_quality", "prompt_similarity", "reference_similarity")
        row |= {"gender": gender, "age": age, "skin_tone": tone, **dict(zip(names, quality, strict=True))}
    data = jpeg(image)
    digest = hashlib.sha256(data).hexdigest()
    cell = {"bytes": data, "path": f"{item.replace('/', '-')}-{sample:03d}.jpg"}
    return row, {"task": task, "id": item, "sample": sample, "sha256": digest, "image": cell}


FACET_OCCUPATIONS = ("carpenter", "doctor", "nurse")
UTKFACE_AGES = (18, 25, 34, 47, 58, 65, 73)
_FAIRFACE_AGES = {bucket: age or "older" for bucket, age in BUCKETS_OF_AGE.items()}
_FAIRFACE_RACES = (
    *("East Asian", "Black", "Latino_Hispanic", "White"),
    *("Southeast Asian", "Black", "Latino_Hispanic", "Middle Eastern"),
    *("Indian", "Black", "Latino_Hispanic", "White"),
)
"""Taken in turn, so that FACT-OR-FAIR's four groups are of equal size."""
_GENDER_COLUMNS = {"female": "fem", "male": "masc"}
_AGE_COLUMNS = {"young": "young", "middle-aged": "middle", "older": "older"}
_FACET_COLUMNS = (
    *("filename", "person_id", "class1", "class2", "bounding_box"),
    *(f"skin_tone_{tone}" for tone in (*range(1, 11), "na")),
    *(f"gender_presentation_{name}" for name in ("fem", "masc", "non_binary", "na")),
    *(f"age_presentation_{name}" for name in ("young", "middle", "older", "na")),
    *(f"hair_color_{name}" for name in ("black", "blonde", "brown", "colored", "grey", "red", "na")),
    *(f"hairtype_{name}" for name in ("bald", "coily", "curly", "dreadlocks", "straight", "wavy", "na")),
    *("has_facial_hair", "has_tattoo", "has_cap", "has_mask", "has_headscarf", "has_eyeware"),
    *(f"lighting_{name}" for name in ("well_lit", "dimly_lit", "overexposed", "underexposed", "na")),
    *("visible_torso", "visible_face", "visible_minimal"),
)
_SHOTS = (("frontal", "well_lit"), ("frontal", "poorly_lit"), ("45", "well_lit"))
_MST_COLUMNS = ("image_ID", "subject_name", "MST", "pose", "lighting", "mask")


def write_sample_sources(folder: Path) -> None:
    """Write the six sources; `facet/boxes.parquet` holds a detector's persons (`builders/models/detection.py`)."""
    _facet(folder / "facet")
    _fairface(folder / "fairface")
    _utkface(folder / "utkface")
    _mst_e(folder / "mst_e")
    _modscan(folder / "modscan")
    write_models(folder / "models")


def jpeg(image: Image) -> bytes:
    """A drawing as a small JPEG."""
    stream = BytesIO()
    image.save(stream, "JPEG", quality=88)
    return stream.getvalue()


def write_csv(file: Path, columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> None:
    """Write a comma-separated file; columns that a row lacks are 0."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", newline="", encoding="utf-8") as stream:
        table = csv.DictWriter(stream, columns, restval=0, lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def _save(image: Image, file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(jpeg(image))


def _facet(folder: Path) -> None:
    random = draws("sample", "facet")
    cells = [cell for cell in product(FACET_OCCUPATIONS, GENDERS, AGES, SKIN_TONES) if random.randint(3)]
    cells = [cells[place] for place in random.permutation(len(cells))]
    rows: list[dict[str, object]] = []
    boxes: list[dict[str, object]] = []
    number = 0
    while cells:
        people, cells = cells[: 1 + number % 3], cells[1 + number % 3 :]
        name = f"sa_{1000000 + number * 37}.jpg"
        drawn = [person(*cell[1:], number * 10 + place) for place, cell in enumerate(people)]
        image, person_boxes = draw_scene(drawn, number, (480 if len(people) < 3 else 640, 360))
        _save(image, folder / "images" / name)
        for (occupation, *labels), who, box in zip(people, drawn, person_boxes, strict=True):
            row = _person(len(rows), name, occupation, labels, who.monk or 0, box)
            # Every tenth person has no age, and the detector misses one person.
            if len(rows) % 10 == 7:
                row |= {f"age_presentation_{_AGE_COLUMNS[labels[1]]}": 0, "age_presentation_na": 1}
            if len(rows) != 4:
                sides = zip(box[:4], random.randint(-6, 7, 4).tolist(), strict=True)
                nudged = (max(0.0, float(value + step)) for value, step in sides)
                face_box = dict(zip(("x", "y", "width", "height"), nudged, strict=True))
                score = round(float(random.uniform(0.6, 0.99)), 3)
                boxes.append({"file": f"images/{name}", **face_box, "score": score})
            rows.append(row)
        number += 1
    write_csv(folder / "annotations/annotations.csv", _FACET_COLUMNS, rows)
    types = [("file", pa.string()), *((side, pa.float64()) for side in ("x", "y", "width", "height", "score"))]
    pq.write_table(pa.Table.from_pylist(boxes, schema=pa.schema(types)), folder / "boxes.parquet")


def _person(
    number: int, name: str, occupation: str, labels: Sequence[str], monk: int, box: PersonBox
) -> dict[str, object]:
    gender, age, _ = labels
    second = OCCUPATIONS[number % len(OCCUPATIONS)] if number % 6 == 5 else ""
    sides = {side: round(value) for side, value in box._asdict().items() if side != "score"}
    votes = {f"skin_tone_{monk}": 2, f"skin_tone_{min(10, monk + 1) if monk not in (3, 7) else monk - 1}": 1}
    return {
        "filename": name,
        "person_id": 20000 + 3 * number,
        "class1": occupation,
        "class2": second,
        "bounding_box": json.dumps(sides),
        **votes,
        f"gender_presentation_{_GENDER_COLUMNS[gender]}": 1,
        f"age_presentation_{_AGE_COLUMNS[age]}": 1,
        "hair_color_grey": int(age == "older"),
        "lighting_well_lit": 1,
        "visible_torso": 1,
        "visible_face": 1,
    }


def _fairface(folder: Path) -> None:
    """Both splits with every bucket, enough for each race to be in a tenth of them; two cells became dates."""
    damage = {"3-9": "9-Mar", "10-19": "19-Oct"}
    for split, times in (("train", 7), ("val", 2)):
        random = draws("sample", "fairface", split)
        rows = []
        for number, (bucket, gender, _) in enumerate(product(_FAIRFACE_AGES, GENDERS, range(times)), start=1):
            tone = SKIN_TONES[random.randint(len(SKIN_TONES))]
            image = draw_face(gender, _FAIRFACE_AGES[bucket], tone, random.randint(1 << 30), size=224)
            _save(image, folder / split / f"{number}.jpg")
            # Races in turn, so that each occurs; they decide nothing of the picture.
            race = _FAIRFACE_RACES[number % len(_FAIRFACE_RACES)]
            age = damage.pop(bucket) if bucket in damage and random.randint(2) else bucket
            row = {"file": f"{split}/{number}.jpg", "age": age, "gender": gender.capitalize(), "race": race}
            rows.append(row | {"service_test": str(bool(random.randint(2)))})
        write_csv(folder / f"fairface_label_{split}.csv", ("file", "age", "gender", "race", "service_test"), rows)


def _utkface(folder: Path) -> None:
    random = draws("sample", "utkface")
    for number, (age, gender, race, _) in enumerate(product(UTKFACE_AGES, (0, 1), range(4), range(2))):
        group = "young" if age < 40 else "middle-aged" if age < 65 else "older"
        tone = SKIN_TONES[random.randint(len(SKIN_TONES))]
        image = draw_face(("male", "female")[gender], group, tone, random.randint(1 << 30), size=200)
        _save(image, folder / f"{age}_{gender}_{race}_{20170109000000000 + 1009 * number}.jpg.chip.jpg")
    spare = draw_face("female", "young", "light", 1, size=200)
    broken = ("61_1_20170109142408075", "39_1_20170116174525125", "24_0_1_2017011613525", "200_0_0_20170109150557335")
    for name in broken:
        _save(spare, folder / f"{name}.jpg.chip.jpg")


def _modscan(folder: Path) -> None:
    """A folder for each trait, and one that no question is about."""
    for trait, number in product((*TRAITS, "Dog Lover"), range(3)):
        file = folder / trait.replace(" ", "") / f"{number}.png"
        file.parent.mkdir(parents=True, exist_ok=True)
        draw_object(trait if trait in TRAITS else TRAITS[0], number, _SIZE).save(file)


def _mst_e(folder: Path) -> None:
    rows = []
    for monk in range(1, 11):
        subject = f"subject_{monk - 1}"
        tone = next(name for name, swatches in BUCKETS.items() if monk in swatches)
        for shot, (pose, lighting) in enumerate(_SHOTS):
            who = (GENDERS[monk % 2], AGES[monk % 3])
            image = draw_face(*who, tone, 100 * monk + shot, monk=monk, size=240)
            _save(image, folder / subject / f"IMG_{monk:02d}{shot}.jpg")
            row = {"image_ID": f"IMG_{monk:02d}{shot}.jpg", "subject_name": subject, "MST": monk, "mask": 0}
            rows.append(row | {"pose": pose, "lighting": lighting})
    film = {"image_ID": "IMG_990.mp4", "subject_name": "subject_0", "MST": 1, "pose": "video", "lighting": "well_lit"}
    write_csv(folder / "mst-e_image_details.csv", _MST_COLUMNS, [*rows, film])
