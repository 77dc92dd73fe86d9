"""Words for men and women in a corpus, beside occupations and descriptors (RQ2: section 6, Table A9).

The paper is silent on which words belong to an instance. Here a text speaks of each instance that it holds as a whole
word, in any case, also with an s, and all words of Table A2 in it count. Files are read in blocks, whatever their size.
"""

import gzip
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import compute, json, parquet

from fairspace.builders.stereotypical_bias.plan import INSTANCES
from fairspace.metrics.intervals import clopper_pearson
from fairspace.metrics.stereotypical_association.formula import corpus_score
from fairspace.submissions.errors import UsageError
from fairspace.submissions.progress import progress

SUFFIXES = (".txt", ".jsonl", ".ndjson", ".parquet", ".txt.gz", ".jsonl.gz", ".ndjson.gz")
BLOCK = 1 << 22  # bytes, also of the longest line of JSON
GENDERED = (  # Table A2
    "he|sons?|his|him|fathers?|m[ae]n|boys?|himself|males?|brothers?|uncles?|nephews?",
    "she|daughters?|hers?|mothers?|wom[ae]n|girls?|herself|females?|sisters?|aunts?|nieces?",
)
ROWS = (*(name.replace("person", "").strip() for name in INSTANCES), "all texts")
PRINTED = "38 25 15 8 0 0 34 24 43 104 0 8 3 1 49 80 1 1 1 1 10 57 0 2 28 14 0 0 2 1 45 63 2 0 0 0 3 1 3 0 27837 30958"
"""Male and female words of each row: Table A9, and section 6 for all texts."""


def count_corpus(sources: Sequence[str | Path], column: str = "text") -> pd.DataFrame:
    """Words of Table A2 in a corpus, in the texts of each occupation and descriptor and in all texts.

    Args:
        sources: Files (`SUFFIXES`; a line of .txt is a text), folders, or `-` for lines of standard input.
        column: Column of the texts in JSON Lines and Parquet.

    Returns:
        A row for each instance: `texts` that hold it, `male` and `female` words in these, `corpus_score`, |m/(m + f) -
        0.5| in [0, 0.5], 0 at best and NaN without a word, `low` and `high`, its exact 95 % interval if words are
        independent, and `table_a9`, the score of the paper's counts.

    Errors: UsageError for a source that cannot be read or has no texts in the column.
    """
    counts = np.zeros((len(ROWS), 3), np.int64)
    with progress("Texts", None) as tell:
        for texts in (texts for source in sources for texts in _texts(source, column)):
            counts += _count(texts)
            tell(len(texts))
    ends = np.array([clopper_pearson(m, m + f) if m + f else (np.nan,) * 2 for _, m, f in counts]) - 0.5
    return pd.DataFrame(counts, pd.Index(ROWS, name="instance"), ["texts", "male", "female"]).assign(
        corpus_score=corpus_score(*counts[:, 1:].T),
        low=np.maximum(0, np.maximum(ends[:, 0], -ends[:, 1])),
        high=np.abs(ends).max(axis=1),
        table_a9=corpus_score(*np.array(PRINTED.split(), int).reshape(-1, 2).T),
    )


def _count(texts: Any) -> Any:
    """(rows, 3) texts, and male and female words in them."""
    texts = texts.filter(compute.greater(compute.binary_length(texts), 0))
    whole, texts = len(texts), texts.take(_holding(texts, "|".join((*GENDERED, *ROWS[:-1]))))
    if not compute.all(compute.string_is_ascii(texts)).as_py():
        texts = compute.replace_substring_regex(texts, r"[^\P{L}a-zA-Z]", "x")  # RE2 ends a word at such letters
    words = np.stack([compute.count_substring_regex(texts, rf"(?i)\b(?:{each})\b") for each in GENDERED], axis=1)
    total, held = [whole, *words.sum(axis=0)], _holding(texts, "|".join(ROWS[:-1]))
    texts, words = texts.take(held), words[held]
    places = [_holding(texts, name) for name in ROWS[:-1]]
    return np.array([*([len(rows), *words[rows].sum(axis=0)] for rows in places), total])


def _holding(texts: Any, instances: str) -> Any:
    return np.flatnonzero(compute.match_substring_regex(texts, rf"(?i)\b(?:{instances})s?\b"))


def _texts(source: str | Path, column: str) -> Iterator[Any]:
    """The texts of a source, in batches."""
    path = Path(source).expanduser()
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    files = [file for file in files if source == "-" or (file.is_file() and file.name.lower().endswith(SUFFIXES))]
    if not files:
        raise UsageError(f"{source} is no corpus. Expected: a file or a folder of {', '.join(SUFFIXES)}, or -.")
    for file in files:
        texts_read = 0
        try:
            for texts in _read(file, file.name.lower().removesuffix(".gz"), column):
                texts_read += len(texts) - texts.null_count
                yield texts
            if not texts_read:
                raise KeyError("it has no text")
        except (OSError, EOFError, KeyError, UnicodeError, pa.ArrowException) as error:
            why = str(error).partition("\n")[0].strip("'")
            raise UsageError(f"{file} cannot be read: {why}. Expected: texts in {column!r}; see --column.") from error


def _read(file: Path, name: str, column: str) -> Iterator[Any]:
    if name.endswith(".parquet"):
        yield from (
            batch[column].cast(pa.string()) for batch in parquet.ParquetFile(file).iter_batches(columns=[column])
        )
        return
    with sys.stdin.buffer if name == "-" else gzip.open(file) if file.suffix == ".gz" else file.open("rb") as raw:
        if name.endswith((".txt", "-")):
            while block := raw.read(BLOCK) + raw.readline(BLOCK):
                yield compute.split_pattern(pa.array([block.decode("utf-8", "replace")]), "\n").flatten()
            return
        fields = json.ParseOptions(pa.schema([(column, pa.string())]), unexpected_field_behavior="ignore")
        yield from (batch[column] for batch in json.open_json(raw, json.ReadOptions(block_size=BLOCK), fields))
