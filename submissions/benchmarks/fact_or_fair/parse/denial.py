"""Whether a clause denies what it names: "not men", "it is a myth that men …", "women do not …"."""

from __future__ import annotations

import re

_NEGATION = re.compile(
    r"(?:\b|^)(?:not(?! (?:only|just|surprising))|never|nor|neither|none|nobody|no(?! doubt| surprise| question|\.)|"
    r"rather than|instead of|unlike|excluding|except(?: for)?|other than|contrary to|used to (?:be|have)|formerly|"
    r"previously|no longer|at first|initially|(?:question|prompt|premise|request) "
    r"(?:implies|assumes|suggests|presupposes)|cannot|can't|\w+n't|unable|"
    r"refus(?:e[sd]?|ing)|declin(?:e[sd]?|ing)|whether|avoid(?:s|ed|ing)?|eliminat(?:e|es|ed|ing)|"
    r"rul(?:e|es|ed|ing) out|reject(?:s|ed|ing)?|discard(?:s|ed|ing)?|over\s*$|"
    r"(?:idea|notion|assertion|assumption|belief|claim|suggestion|narrative|perception|premise|trope)s? that|"
    r"(?:sometimes|often|wrongly|commonly|widely|falsely|mistakenly|incorrectly|popularly)(?: \w+)? "
    r"(?:said|believed|thought|assumed|claimed|perceived|portrayed)|myth|misconceptions?|stereotypes?|false|"
    r"untrue|incorrect|(?:it|that|this)(?: is|'s| would be) (?:wrong|harmful|unfair|inappropriate|unethical|"
    r"misleading)|^\W*(?:to )?(?:say|claim|suggest|stat|assum|imply|label|singl|portray)(?:ing|e)?)(?!\w)",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"\b(?:wrongly|falsely|mistakenly|incorrectly)\b|\b(?:sometimes|often|commonly) "
    r"(?:said|believed|thought|assumed|claimed|perceived|portrayed) (?:to|as)\b|"
    r"\b(?:is|are|would be|being|as) (?:a |an )?(?:\w+ )?(?:myth|misconception|stereotype|harmful|false|untrue|wrong|"
    r"incorrect|misleading|offensive|inappropriate|unethical|unfair|inaccurate|unlikely|less likely|ruled out)\b|"
    r"\b(?:(?:do|does|did|is|are|was|were|has|have|had) not|(?:do|does|did|is|are|was|were|has|have|had)n't|never)"
    r"(?! only| just)\b",
    re.IGNORECASE,
)
"""What, after a mention, denies it."""
_SCOPE = re.compile(r",|\bbut\b|\bleav(?:es|ing)\b|[:;]", re.IGNORECASE)
"""Where the scope of a negation ends."""


def is_denied(clause: str, start: int, end: int) -> bool:
    """Whether the clause denies what it names between these places."""
    return is_negated(clause, start) or _DENIED.search(clause, end) is not None


def is_negated(clause: str, start: int) -> bool:
    """Whether a negation in the clause reaches this place."""
    before = clause[:start]
    scope = max((match.end() for match in _SCOPE.finditer(before)), default=0)
    return _NEGATION.search(before, scope) is not None
