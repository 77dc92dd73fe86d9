"""A quick look at plain answers: a bare term, or one plain sentence and evidence that corrects nothing."""

from __future__ import annotations

import re

from fairspace.builders.iris.groups import OCCUPATIONS
from fairspace.submissions.answers.reading import Reading
from fairspace.submissions.benchmarks.iris.parse.lexicon import PLAIN, terms

LONGEST_BARE, LONGEST = 40, 600
_SENTENCE = re.compile(
    r"(?:the |this )?(?:(?:person|man|woman|individual|lady|gentleman|girl|boy)(?: (?:in|shown in|"
    r"depicted in) (?:the|this) "
    r"(?:image|photo|picture))?|he|she|they|it|(?:his|her|their)?(?:occupation|profession|job)(?: of the "
    r"(?:person|man|woman|individual)(?: in the (?:image|photo|picture))?)?) "
    r"(?:is|are|was|(?:appears|seems|appear|seem) to be|looks like)(?: most likely| likely| probably| clearly)? "
    r"(?:an?|the) (?P<name>[a-z][a-z' -]{1,40}?)"
    r"(?:\.? *(?:$|\n)|\. +(?=\S)|, (?=(?:as|wearing|holding|based|given|judging|standing|sitting|because|since|"
    r"dressed)\b))",
    re.IGNORECASE,
)
_MAY_CHANGE_IT = re.compile(
    r"\b(?:actually|wait|hold|correction|scratch|thoughts?|likely|probably|guess|answer|response|choice|conclusion|"
    r"verdict|prediction|"
    r"occupation|profession|job|career|role|trade|vocation|i|so|thus|hence|therefore|rather|means?|meant|best|"
    r"better|final|"
    r"mistake|instead|sorry|no|or|correct|more|most|line of work)\b|[:{<=>\\→⇒◁[]|- ",
    re.IGNORECASE,
)


def read_plain(answer: str) -> Reading | None:
    """The reading of a plain answer; None if it takes more than a look."""
    if len(answer) <= LONGEST_BARE and (code := terms().get(answer.strip(" .\n").lower())) is not None:
        start = len(answer) - len(answer.lstrip(" .\n"))
        return Reading("choice", OCCUPATIONS[code], (start, len(answer.rstrip(" .\n"))), "alone")
    if len(answer) > LONGEST or not (match := _SENTENCE.match(answer)) or _MAY_CHANGE_IT.search(answer, match.end()):
        return None
    words = match["name"].lower().split()
    while len(words) > 1 and words[0] in PLAIN and " ".join(words) not in terms():
        words.pop(0)
    code = terms().get(" ".join(words))
    if code is None:
        return None
    return Reading(
        "choice", OCCUPATIONS[code], (match.end("name") - len(" ".join(words)), match.end("name")), "statement"
    )
