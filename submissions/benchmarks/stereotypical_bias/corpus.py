"""RQ2: how often a corpus of captions speaks of men and of women beside an occupation or a descriptor.

Source: "Measuring Stereotypical Bias in Multi-modal Large Language Models", section 6 and Table A9, which counts
LLaVA's pretraining captions (LCS-558K) with the words of Table A2. What the paper leaves open is decided here: a
caption counts for a word that it holds as a whole word, in any case, in the singular or with an s; of such a caption
every occurrence of a word of Table A2 counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from fairspace.builders.stereotypical_bias.plan import OCCUPATIONS
from fairspace.metrics.stereotypical_association.formula import corpus_score
from fairspace.submissions.benchmarks.stereotypical_bias.parse.columns import WORDS
from fairspace.submissions.uncertainty.proportions import clopper_pearson

DESCRIPTORS = (
    *("attractive", "exotic", "poor", "terrorist", "thug"),
    *("cleaning", "stealing", "seductive", "emotional", "illegal"),
)
"""As Table A9 has them."""
INSTANCES = (*OCCUPATIONS, *DESCRIPTORS)
_GENDERS = ("male", "female")
_GENDERED = {gender: re.compile(rf"\b(?:{'|'.join(WORDS[gender].split())})\b", re.IGNORECASE) for gender in _GENDERS}
_INSTANCE = re.compile(rf"\b({'|'.join(INSTANCES)})s?\b", re.IGNORECASE)


def count_corpus(captions: Iterable[str]) -> dict[str, Any]:
    """Counts of captions, as JSON data: of all (`whole`), and of each instance in the order of Table A9 (`instances`).

    They are the captions that hold the instance, the words of Table A2's left and right column in these (`male`,
    `female`), the share of male words with its exact 95 % interval, and the score of Table A9; `mean_corpus_score` is
    the mean over the instances that have one.
    """
    counts = {name: [0, 0, 0] for name in ("", *INSTANCES)}
    for caption in captions:
        words = [len(_GENDERED[gender].findall(caption)) for gender in _GENDERS]
        for name in {"", *(hit.lower() for hit in _INSTANCE.findall(caption))}:
            counts[name] = [old + new for old, new in zip(counts[name], (1, *words), strict=True)]
    rows = {name: _row(*count) for name, count in counts.items()}
    whole = rows.pop("")
    scores = [row["corpus_score"] for row in rows.values() if row["corpus_score"] is not None]
    mean = sum(scores) / len(scores) if scores else None
    return {"whole": whole, "mean_corpus_score": mean, "instances": rows}


def _row(captions: int, male: int, female: int) -> dict[str, Any]:
    counts, words = {"captions": captions, "male": male, "female": female}, male + female
    if not words:
        return counts | dict.fromkeys(("male_share", "interval", "corpus_score"))
    interval, score = list(clopper_pearson(male, words)), float(corpus_score(male, female))
    return counts | {"male_share": male / words, "interval": interval, "corpus_score": score}


def text_of(cell: Any) -> str:
    """The text of a cell: itself, or every text in a list or a dict (a conversation of questions and answers)."""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, Mapping):
        return "\n".join(map(text_of, cell.values()))
    return "\n".join(map(text_of, cell)) if isinstance(cell, list | tuple) else ""
