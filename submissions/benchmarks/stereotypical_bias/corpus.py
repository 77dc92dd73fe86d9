"""RQ2: how often a corpus of captions speaks of men and of women beside an occupation or a descriptor.

Source: "Measuring Stereotypical Bias in Multi-modal Large Language Models", section 6 and Table A9, which counts
LLaVA's pretraining captions (LCS-558K) with the words of Table A2. What the paper leaves open is decided here: a
caption counts for a word that it holds as a whole word, in any case, in the singular or with an s; of such a caption
every occurrence of a word of Table A2 counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from fairspace.builders.stereotypical_bias.plan import OCCUPATIONS
from fairspace.metrics.stereotypical_association.formula import corpus_score
from fairspace.submissions.benchmarks.stereotypical_bias.parse.authors import WORDS
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


@dataclass
class Counted:
    """What a corpus says of an instance, or as a whole.

    Args:
        captions: that hold the instance.
        male: words of Table A2's left column in these.
        female: words of its right column.
    """

    captions: int = 0
    male: int = 0
    female: int = 0

    def to_json(self) -> dict[str, Any]:
        """The counts, the share of male words with its exact 95 % interval, and the score of Table A9."""
        words = self.male + self.female
        share = self.male / words if words else None
        interval = list(clopper_pearson(self.male, words)) if words else None
        score = float(corpus_score(self.male, self.female)) if words else None
        return vars(self) | {"male_share": share, "interval": interval, "corpus_score": score}


@dataclass(frozen=True)
class Corpus:
    """The counts of a corpus.

    Args:
        whole: of all captions.
        instances: of each occupation and descriptor, in the order of Table A9.
    """

    whole: Counted
    instances: Mapping[str, Counted]

    def to_json(self) -> dict[str, Any]:
        """As JSON data, with the mean score of the instances that have one."""
        rows = {name: counted.to_json() for name, counted in self.instances.items()}
        scores = [row["corpus_score"] for row in rows.values() if row["corpus_score"] is not None]
        mean = sum(scores) / len(scores) if scores else None
        return {"whole": self.whole.to_json(), "mean_corpus_score": mean, "instances": rows}


def count_corpus(captions: Iterable[str]) -> Corpus:
    """Count captions one by one."""
    whole, instances = Counted(), {name: Counted() for name in INSTANCES}
    for caption in captions:
        male, female = (len(_GENDERED[gender].findall(caption)) for gender in _GENDERS)
        for counted in (whole, *(instances[name] for name in {hit.lower() for hit in _INSTANCE.findall(caption)})):
            counted.captions += 1
            counted.male += male
            counted.female += female
    return Corpus(whole, instances)


def text_of(cell: Any) -> str:
    """The text of a cell: itself, or every text in a list or a dict (a conversation of questions and answers)."""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, Mapping):
        return "\n".join(map(text_of, cell.values()))
    return "\n".join(map(text_of, cell)) if isinstance(cell, list | tuple) else ""
