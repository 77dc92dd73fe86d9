import csv
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from fairspace.builders.engine.tools import PersonBox
from fairspace.builders.models.detection import SCHEMA

TONES = tuple(f"skin_tone_{tone}" for tone in (*range(1, 11), "na"))
GENDERS = {"female": "fem", "male": "masc", "": "na"}
AGES = {"young": "young", "middle-aged": "middle", "older": "older", "": "na"}
MONK = {"light": 2, "middle": 5, "dark": 9}
HEADER = (
    *("person_id", "filename", "class1", "class2", "bounding_box", *TONES),
    *(f"gender_presentation_{name}" for name in ("masc", "fem", "non_binary", "na")),
    *(f"age_presentation_{name}" for name in ("young", "middle", "older", "na")),
)


@dataclass(frozen=True)
class Annotated:
    file: str
    box: PersonBox
    occupation: str = "nurse"
    gender: str = "female"
    age: str = "young"
    skin_tone: str = "dark"
    second: str = ""


def write_annotations(folder: Path, persons: Iterable[Annotated]) -> None:
    """`annotations/annotations.csv`; person_id is 1000 plus the row's number."""
    file = folder / "annotations/annotations.csv"
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", newline="", encoding="utf-8") as stream:
        table = csv.DictWriter(stream, HEADER, restval="0")
        table.writeheader()
        for number, person in enumerate(persons):
            box = dict(zip(("x", "y", "width", "height"), person.box, strict=False))
            row = {
                "person_id": 1000 + number,
                "filename": person.file,
                "class1": person.occupation,
                "class2": person.second,
                "bounding_box": json.dumps(box),
                f"gender_presentation_{GENDERS[person.gender]}": 1,
                f"age_presentation_{AGES[person.age]}": 1,
            }
            if person.skin_tone:
                row[f"skin_tone_{MONK[person.skin_tone]}"] = 3
            table.writerow(row)


def write_boxes(file: Path, boxes: Sequence[tuple[str, PersonBox]]) -> None:
    rows = [{"file": name, **box._asdict()} for name, box in boxes]
    pq.write_table(pa.Table.from_pylist(rows, schema=SCHEMA), file)
