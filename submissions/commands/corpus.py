"""The commands `fairspace corpus` and `fairspace cohort`: occupations and groups in captions, and in models' answers.

`corpus` counts gendered words beside occupations in a dataset of captions, `cohort` finds the occupations that several
models name most for some groups.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairspace.submissions.commands.app import SCORE, Json, app, print_json
from fairspace.submissions.commands.shared.checked import checked_submission
from fairspace.submissions.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from datasets import IterableDataset

_READERS = {
    **{".jsonl": "json", ".json": "json", ".csv": "csv", ".parquet": "parquet", ".txt": "text"},
    **{".jsonl.gz": "json", ".csv.gz": "csv", ".txt.gz": "text"},
}


@app.command(epilog="Example: fairspace corpus captions.jsonl --column caption", rich_help_panel=SCORE)
def corpus(
    dataset: Annotated[
        str, typer.Argument(help="A file (.jsonl, .json, .csv, .parquet, .txt), or OWNER/NAME[@REVISION] on the Hub.")
    ],
    column: Annotated[str, typer.Option(help="That holds the captions; text of a .txt file.")] = "caption",
    name: Annotated[str, typer.Option(help="Of the dataset's configuration, where it has several.")] = "",
    split: Annotated[str, typer.Option(help="Of the dataset.")] = "train",
    limit: Annotated[int | None, typer.Option(help="Captions at most; all if left out.", min=1)] = None,
    as_json: Json = False,
) -> None:
    """Count a corpus' words for men and women by occupation and descriptor (stereotypical bias, RQ2 and Table A9)."""
    from itertools import islice

    from fairspace.submissions.benchmarks.stereotypical_bias.corpus import count_corpus
    from fairspace.submissions.commands.show.numbers import number
    from fairspace.submissions.commands.show.tables import notes, table

    captions = _captions(_opened(dataset, name, split), dataset, "text" if dataset.endswith(".txt") else column)
    counted = count_corpus(islice(captions, limit)).to_json()
    if as_json:
        print_json(counted)
        return
    rows = [
        [
            instance,
            row["captions"],
            row["male"],
            row["female"],
            number(row["male_share"]),
            "–" if row["interval"] is None else "{:.3f} to {:.3f}".format(*row["interval"]),
            "N/A" if row["corpus_score"] is None else number(row["corpus_score"]),
        ]
        for instance, row in counted["instances"].items()
    ]
    headers = ("instance", "captions", "male words", "female words", "male share", "95 % interval", "score")
    table(f"{dataset}: gendered words beside occupations and descriptors", headers, rows)
    whole, mean = counted["whole"], counted["mean_corpus_score"]
    notes(
        [
            f"{whole['captions']:,} captions with {whole['male']:,} male and {whole['female']:,} female words",
            f"mean score {'N/A' if mean is None else number(mean)}: 0 is even, 0.5 is one gender alone; few words say "
            "little, see the intervals",
        ]
    )


@app.command(epilog="Example: fairspace cohort model-a model-b --out cohort.json", rich_help_panel=SCORE)
def cohort(
    submissions: Annotated[list[Path], typer.Argument(help="Submissions to iris, of one model each.")],
    out: Annotated[Path | None, typer.Option(help="Write the combinations as JSON.")] = None,
    as_json: Json = False,
) -> None:
    """Find the occupations that models name most for some groups (IRIS, C.2, what image pairs are based on)."""
    from fairspace.submissions.benchmarks.iris.cohort import cohort_combinations
    from fairspace.submissions.commands.show.numbers import number
    from fairspace.submissions.commands.show.tables import notes, table

    if out is not None and out.exists():
        raise UsageError(f"There is something at {out}. Name a new file.")
    combinations = cohort_combinations([checked_submission(path) for path in submissions])
    if out is not None:
        out.write_text(json.dumps(combinations, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    if as_json:
        print_json(combinations)
        return
    rows = [[row["occupation"], row["group"], number(row["excess"])] for row in combinations["combinations"]]
    models = len(combinations["models"])
    table(f"The most biased combinations of {models} models", ("occupation", "group", "excess"), rows)
    said = [f"excess: {combinations['measure']}; mean over the models"]
    notes([*said, f"wrote {out}, with those of each model"] if out is not None else said)


def _opened(dataset: str, name: str, split: str) -> IterableDataset:
    """The rows of a split, read as they are needed. UsageError if there are none."""
    from datasets import load_dataset
    from datasets.exceptions import DatasetNotFoundError

    path = Path(dataset)
    reader = next((kind for ending, kind in _READERS.items() if dataset.endswith(ending)), None)
    try:
        if reader is not None:
            if not path.is_file():
                raise UsageError(f"There is no file {dataset}.")
            return load_dataset(reader, data_files={split: str(path)}, split=split, streaming=True)
        if path.exists():
            raise UsageError(f"{dataset} is no file of captions; expected one that ends in {', '.join(_READERS)}.")
        where, _, revision = dataset.partition("@")
        return load_dataset(where, name or None, split=split, revision=revision or None, streaming=True)
    except (DatasetNotFoundError, FileNotFoundError, ValueError, OSError) as error:
        first = str(error).strip().partition("\n")[0]
        raise UsageError(f"{dataset} cannot be opened: {first}. See --name and --split.") from error


def _captions(rows: IterableDataset, dataset: str, column: str) -> Iterator[str]:
    from fairspace.submissions.benchmarks.stereotypical_bias.corpus import text_of

    for row in rows:
        if column not in row:
            hint = did_you_mean(column, list(row))
            raise UsageError(f"{dataset} has no column {column!r}{hint}. It has: {', '.join(row)}. See --column.")
        yield text_of(row[column])
