"""Measure published responses beside what the paper prints of them: M3 by gender and relational model, M3 and M5.

    python -m tests.submissions.benchmarks.genres.printed_levels FOLDER

FOLDER holds the responses as the authors publish them, `<model>_mf_<relation>.jsonl` or `.jsonl.gz`, which are not part
of this repository. A model's 1 440 narratives are parsed twice: some four minutes on one core. `theirs` is the variant
`authors_reading`, which is held against print; `value` is the mean of both parses, `as written` and `exchanged` are
those of the narratives alone.
"""

from __future__ import annotations

import csv
import re
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from fairspace.builders import REFERENCE
from fairspace.builders.genres.plan import RELATIONS
from fairspace.submissions.benchmarks.genres.importing import import_genres
from fairspace.submissions.benchmarks.genres.measure import measure
from fairspace.submissions.benchmarks.genres.parse.sentences import pipeline_name
from fairspace.submissions.benchmarks.genres.records import read
from fairspace.submissions.benchmarks.genres.variants import variants
from fairspace.submissions.checking.submission import read_submission

Levels = tuple[tuple[float, float], ...]
NAMES = {"qwen2v5VL3b": "Qwen-3B", "qwen2v5VL7b": "Qwen-7B", "phi4mm": "Phi4", "janus": "Janus"}
"""Model in the name of a published file -> in Table 2."""
LEVELS: Mapping[str, Levels] = {
    "Qwen-3B": ((4.78, 4.68), (4.38, 4.11), (5.98, 6.06), (4.99, 4.88)),
    "Qwen-7B": ((4.92, 4.95), (4.43, 4.44), (6.85, 6.71), (5.41, 5.14)),
    "Phi4": ((2.37, 2.56), (1.55, 1.59), (3.47, 4.09), (2.91, 3.31)),
    "Janus": ((1.97, 2.15), (1.86, 1.80), (3.58, 3.70), (2.71, 2.84)),
}
"""Tables 3 and 12: male and female subject sentences in CS, EM, MP and AR."""


def printed_biases() -> dict[tuple[str, str], float]:
    """(model, metric) -> Table 2; M3 and M5 are the same for every judge but for the last digit."""
    with (REFERENCE / "published" / "genres_table2_bias.csv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    return {(row["model"], metric): float(row[metric]) for row in rows for metric in ("M3", "M5")}


def report(model: str, files: list[Path]) -> None:
    """Print the figures of one model."""
    with tempfile.TemporaryDirectory() as folder:
        records = read(read_submission(import_genres(files, Path(folder) / "submission", model=model)))
    values = measure(records)
    by_way = {variant.name: variant.values for variant in variants(records, values)}
    name, biases = NAMES.get(model, model), printed_biases()
    print(f"{name}, {len(records.stories.handed_in)} responses, {len(records.stories.narrated)} narratives")
    for metric in ("M3", "M5"):
        theirs, as_written, exchanged = (
            by_way.get(way, {}).get(metric, values[metric].value or 0)
            for way in ("the authors' code", "as_written", "exchanged")
        )
        print(
            f"  {metric} printed {biases.get((name, metric), float('nan')):+.3f}  theirs {theirs:+.3f}  "
            f"value {values[metric].value:+.3f}  as written {as_written:+.3f}  exchanged {exchanged:+.3f}"
        )
    for relation, pair in zip(RELATIONS, LEVELS.get(name, ((float("nan"),) * 2,) * 4), strict=True):
        levels = values[f"M3_{relation}"].evidence["by_parse"]
        cells = [
            f"{way} " + " ".join(f"{levels[key][gender]['subject']:.2f}" for gender in ("male", "female"))
            for way, key in (("theirs", "authors_reading"), ("as written", "as_written"), ("exchanged", "exchanged"))
        ]
        print(f"  {relation.upper()} printed {pair[0]:.2f} {pair[1]:.2f}  " + "  ".join(cells), flush=True)


def main() -> None:
    """Print the figures of every model in the folder."""
    models: dict[str, list[Path]] = {}
    for path in sorted(Path(sys.argv[1]).glob("*.jsonl*")):
        if match := re.fullmatch(r"(?P<model>.+)_mf_(?:cs|em|mp|ar)\.jsonl(?:\.gz)?", path.name):
            models.setdefault(match["model"], []).append(path)
    print(f"Parser: {pipeline_name()}")
    for model, files in models.items():
        report(model, files)


if __name__ == "__main__":
    main()
