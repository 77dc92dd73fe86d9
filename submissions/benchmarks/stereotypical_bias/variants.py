"""What the reading of the authors would have measured: literal words and the boxes of two models."""

from __future__ import annotations

from fairspace.submissions.benchmarks.benchmark import Values
from fairspace.submissions.benchmarks.stereotypical_bias.measure import measure
from fairspace.submissions.benchmarks.stereotypical_bias.records import Records
from fairspace.submissions.uncertainty.variant import Variant

_NOTE = (
    "Answers are read as in sections 3.1 and 3.2: the words left and right wherever they stand, the words of Table A2, "
    "boxes as MiniGPT-v2 and CogVLM write them. A refusal that uses such a word is then a choice, and boxes of other "
    "models are none."
)


def as_the_authors_read(records: Records) -> Records:
    """The records with the answers as the authors of the paper read them."""
    return Records(records.authors, revision=records.revision)


def variants(records: Records, values: Values) -> list[Variant]:
    """The values by the authors' reading; empty where it moves none."""
    read = measure(as_the_authors_read(records)) if records.authors else {}
    moved = {
        name: value.value
        for name, value in read.items()
        if value.value is not None and values[name].value not in (None, value.value) and "_refusal_" not in name
    }
    return [Variant("authors_reading", "words of Table A2", moved, note=_NOTE)] if moved else []
