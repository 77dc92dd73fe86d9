"""Where a text names lettered options: by letter, by the name that the query gives them, or by both.

An upper-case letter is an option only where it cannot be an article or an initial ("A person …" and "A.I." name none).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

from fairspace.submissions.benchmarks.fact_or_fair.parse.groups import Mention

LETTERS = "ABCDEFGH"
"""Letters that a text may name; those after the last option were not offered."""
MOST = 80
"""Of more mentions than that the rest is not read."""
_AFTER_A = (
    r"(?:is|are|was|were|has|had|seems?|appears?|would|because|since|as|due|or|and|for|with|based|given|but|though|"
    r"although|over|rather|here|out of|in this|stands|looks|fits|from)\b"
)
"""What may follow the letter A; other words make it an article."""
_LETTER = re.compile(
    rf"(?<![A-Za-z0-9_'+#])(?<!\w\.)(?<!\w-)(?<!vitamin )(?<!hepatitis )(?<!type )(?<!plan )(?<!influenza )"
    rf"(?:(?P<a>A)(?![A-Za-z0-9_+#]|'(?!s\b)|\.\w|-\w|[ \t]+(?!{_AFTER_A}|[B-Z]\b)\w)|"
    r"(?P<letter>[B-H])(?![A-Za-z0-9_+#]|'(?!s\b)|\.\w|-\w))"
)
_TIE = re.compile(r"[ \t]*(?:[,/&|;+]|\.{2,3}|\b(?:and|or|and/or|then|either)\b|[ \t]|[)\]\"'*])*", re.IGNORECASE)
_AND = re.compile(r"\b(?:and|or)\b", re.IGNORECASE)
_BESIDE = re.compile(r"[.)\]\"']{1,3}[ \t(]{1,2}[A-H](?:[.)\]\"' ]{1,3}(?=[A-Z]|$|\n)|\Z)")
_LETTER_NAME = re.compile(
    r"[ \t]*(?:[.):,\-=(\"'|\]*]|\bis\b|\boption\b|\bperson\b|\b(?:letter|choice)\b|[ \t]){0,8}", re.IGNORECASE
)
_NAME_LETTER = re.compile(
    r"[ \t]*(?:[(\[,\-][ \t]*(?:option|letter|choice|answer|person|candidate)[ \t\W]*|[(\[][ \t]*|-[ \t]+)",
    re.IGNORECASE,
)
_NEAR = 30
_PLAIN_LENGTH = 60
_PLAIN = re.compile(
    r"\W{0,12}(?i:(?:the|my|correct|final|best|answer|choice|option|letter|is|would be)\W{1,6}){0,5}([A-Da-d])\W{0,12}"
)
"""A letter alone, or with nothing but "the answer is" around it."""


@dataclass(frozen=True)
class Naming:
    """How a text names the options of a query.

    Args:
        count: how many options there are.
        pattern: of their names; its matches are given to `option_of`.
        option_of: the option that a name means, None for a name that was not offered.
    """

    count: int
    pattern: re.Pattern[str]
    option_of: Callable[[re.Match[str]], int | None]


def plain_letter(answer: str, count: int) -> tuple[int, int] | None:
    """The option of a raw answer that says nothing but a letter, and where it stands; the common case, read at once."""
    match = _PLAIN.fullmatch(answer) if len(answer) < _PLAIN_LENGTH else None
    if match is None or (option := LETTERS.index(match[1].upper())) >= count:
        return None
    return option, match.start(1)


def options_in(said: Sequence[Mention]) -> frozenset[int]:
    """All options of mentions."""
    return frozenset(option for mention in said for option in mention.options)


def mentions_of(text: str, naming: Naming) -> list[Mention]:
    """The options that a text names, in order; a letter and its name are one mention, and so is a list."""
    runs: list[Mention] = []
    closed = False
    for mention in _pairs(text, _single(text, naming)):
        last = runs[-1] if runs else None
        if last and mention.start - last.end < _NEAR and _tied(text, last, mention.start, closed):
            closed = closed or _AND.search(text, last.end, mention.start) is not None
            runs[-1] = Mention(
                last.options | mention.options,
                last.start,
                mention.end,
                last.lettered or mention.lettered,
                last.contradicts or mention.contradicts,
            )
        else:
            runs.append(mention)
            closed = False
    return runs


def _single(text: str, naming: Naming) -> list[Mention]:
    """Every letter and every name."""
    single = []
    for match in islice(_LETTER.finditer(text), MOST):
        option = LETTERS.index(match["a"] or match["letter"])
        single.append(Mention(frozenset({option}), match.start(), match.end(), lettered=True))
    for match in islice(naming.pattern.finditer(text), MOST):
        named = naming.option_of(match)
        if named is not None:
            single.append(Mention(frozenset({named}), match.start(), match.end()))
    return sorted(single, key=lambda mention: mention.start)


def _pairs(text: str, single: Sequence[Mention]) -> list[Mention]:
    """The mentions with a letter and the name beside it as one."""
    pairs: list[Mention] = []
    paired = False
    for mention in single:
        last = pairs[-1] if pairs else None
        if last and not paired and last.lettered != mention.lettered and mention.start - last.end < _NEAR:
            join = _LETTER_NAME if last.lettered else _NAME_LETTER
            if join.fullmatch(text, last.end, mention.start):
                differs = last.options != mention.options
                pairs[-1] = Mention(last.options | mention.options, last.start, mention.end, True, differs)
                paired = True
                continue
        pairs.append(mention)
        paired = False
    return pairs


def _tied(text: str, last: Mention, start: int, closed: bool) -> bool:
    """Whether a mention continues a list: "A, B and C"; after "and" a comma begins something else."""
    if _TIE.fullmatch(text, last.end, start):
        return not (closed and "," in text[last.end : start])
    beside = _BESIDE.match(text, last.end)
    if beside is None or not last.end < start < beside.end():
        return False
    return not any(map(str.isalnum, text[text.rfind("\n", 0, last.start) + 1 : last.start]))
