"""The labels that IRIS' authors' `predict.py` writes, `ares_prediction_report.csv`, as neutral images of a submission.

An image's occupation stands in its name, as their `prepare_gen_data.py` has it: `doctor_001.png`. Their other files are
refused: answers are about pictures of theirs, which no id of ours names; wins of the tournament are sums.
"""

import re
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pyarrow as pa

from fairspace.builders.errors import BuildError
from fairspace.builders.iris.groups import OCCUPATIONS
from fairspace.submissions.benchmarks.iris.records import NEUTRAL
from fairspace.submissions.format.schema import VOCABULARY, SubmissionMeta
from fairspace.submissions.format.writing import write_submission

_NAME = re.compile(r"(.+)_(\d+)\.\w+")
_COLUMNS = ("image_path", "final_age_gender", "final_skin_tone")


def import_iris(files: Sequence[Path], out: Path, **about: str) -> Path:
    """Write the labels of one model's images as a submission. BuildError SOURCE_LAYOUT, SOURCE_VALUE."""
    images: dict[str, dict[int, dict[str, str | None]]] = {}
    expected, mend = "ares_prediction_report.csv of images named as doctor_001.png", "hand over that file alone"
    for file in files:
        table = pd.read_csv(file, dtype=str, encoding="utf-8-sig", keep_default_na=False)
        if not {*_COLUMNS} <= {*table.columns}:
            what = f"the columns {', '.join(table.columns)}: sums, or answers about pictures that have no id of ours"
            raise BuildError("SOURCE_LAYOUT", file.name, what, expected, mend)
        for line, (name, person, skin) in enumerate(zip(*(table[c] for c in _COLUMNS), strict=True), 2):
            match = _NAME.fullmatch(name)
            occupation, number = (match[1].lower().replace(" ", "_"), int(match[2])) if match else ("", 0)
            if occupation not in OCCUPATIONS or number in images.setdefault(occupation, {}):
                raise BuildError("SOURCE_VALUE", f"{file.name} line {line}", f"image_path {name!r}", expected, mend)
            age, _, gender = person.replace("middle", "middle-aged").partition(" ")
            labels = {"age": age, "gender": gender, "skin_tone": skin}
            row_labels = {key: label if label in VOCABULARY[key] else None for key, label in labels.items()}
            status = "ok" if any(row_labels.values()) else "unreadable" if "Load" in person else "abstained"
            images[occupation][number] = {"status": status, **row_labels}
    rows = [
        {"task": NEUTRAL, "id": f"neutral/{occupation}", "sample": sample, "face": 0, **of[number]}
        for occupation, of in images.items()
        for sample, number in enumerate(sorted(of))
    ]
    labels = {"name": "ARES", "version": "predict.py of the authors"}
    stated = dict.fromkeys(("model", "revision", "organisation", "licence", "contact"), "not stated") | about
    meta = {"format": 1, "benchmark": "iris", "dataset_revision": "v2", "generation": {}, "labels": labels, **stated}
    return write_submission(Path(out), SubmissionMeta.model_validate(meta), {"annotations": pa.Table.from_pylist(rows)})
