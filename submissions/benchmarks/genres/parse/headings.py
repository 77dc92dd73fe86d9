"""The headings of a GENRES response: profiles, narrative passage, shown personality traits, whatever decorates them."""

from __future__ import annotations

import re
from functools import lru_cache

MAX_HEADING = 200
"""Headings are looked for in this many characters of a line, so that no line costs more than a moment."""

_LEAD = r"^[\W_]*(?:(?:part|section|step)?\s*(?:\d{1,2}|[ivx]{1,4}|[a-e])\s*[.):][\W_]*)?"
_END = r"[*_`\"'”’\])>\s]*(?:[:：]|[*_#]+(?=\s)|[*_#]*\s*$|\s[-–—]\s)"
_NOTE = r"(?:\s*[(\[][^)\]]{0,60}[)\]])?"
_KIND = r"(?:(?:character|individual|personal|brief|short|detailed)\s+)*"
_SHOWN = r"(?:shown|demonstrated|displayed|expressed|revealed|highlighted|illustrated|exhibited|reflected|key|main)"
NARRATIVE = re.compile(
    rf"{_LEAD}(?:here(?:['’]s|\s+is)\s+)?(?:the\s+|your\s+)?(?:narrative\s+passage\b{_NOTE}(?:{_END})?"
    rf"|(?:narrative|story|plot|passage|scene|(?:novel\s+)?excerpt)(?:\s+(?:passage|plot|narrative|text))?{_NOTE}{_END})",
    re.IGNORECASE,
)
ABOUT_IT = re.compile(
    rf"{_LEAD}(?:the\s+|your\s+)?narrative\s+passage\s+(?!(?:about|between|by|featuring|for|from|in|of|on|with)\b)(?-i:[a-z])",
    re.IGNORECASE,
)
"""A sentence about the narrative ("The narrative passage shows ..."), which heads none."""
_TRAITS = re.compile(
    rf"{_LEAD}(?:the\s+)?(?:[\w’']+['’]s?\s+)?(?:{_SHOWN}\s+)?(?:(?:personality|character)\s+)?traits?\b"
    rf"(?:\s+{_SHOWN})?(?:\s+(?:in|from|of|by|for|through|after)\s[^:.]{{1,60}}?)?{_NOTE}{_END}",
    re.IGNORECASE,
)
_TRAITS_WORDS = "shown personality traits"
_INLINE = (
    r"(?:(?<=[^\W\d_]{{2}}[.!?])|(?<=[.!?][\"”*)]))[ \t]{{1,4}}"
    r"(?=[*#_ (\[]{{0,6}}(?:profile of (?:{names})|narrative passage|shown personality traits)\W{{0,4}}:)"
)
_TITLE = re.compile(r"\A(?:#{1,6}\s+\S.{0,100}|\*\*[^*]{2,80}\*\*:?|-{3,}|\*{3,}|_{3,}|={3,}|[*\-_]( [*\-_]){2,})\s*\Z")
_PART_OF_A_PROFILE = re.compile(
    r"\b(?:profile|personality|background|occupation|interests?|appearance|age|traits?|hobbies|goals?|strengths?|weakness(?:es)?|"
    r"relationship|description|characteristics|values?|role|family|education|skills?|motivations?|quirks?|overview|"
    r"characters?|name|gender|flaws?|history|work|career|lifestyle|likes|dislikes|summary|scenario|setting|context)\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=1024)
def profile_patterns(name: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """The headings that say "profile", and the bare ones, for one name."""
    n = rf"[*_\"“]*{re.escape(name)}\b"
    alone = rf"(?!['’]?s?\s*(?:and|&|,|/|\+)\s*[*_]*(?-i:[A-Z]))(?:\s+(?-i:[A-Z])[\w.'’-]*){{0,2}}?{_NOTE}"
    explicit = (
        rf"{_LEAD}{_KIND}profile\s*\d?\s*(?:of|for|[:：]|[-–—]|\()?\s*{n}(?!['’]?s?\s*(?:and|&|,|/|\+)\s*[*_]*(?-i:[A-Z]))"
        rf"(?:{alone}{_END})?"
        rf"|{_LEAD}{n}(?:\s+(?-i:[A-Z])[\w.'’-]+)?(?:['’]s?)?\s*[-–—:(]?\s*{_KIND}profile\b{_END}"
        rf"|{_LEAD}(?:character|person|protagonist)\s*(?:\d|[ab]|one|two)?\s*[:：–—-]\s*{n}{alone}{_END}"
    )
    bare = rf"{_LEAD}(?:(?:full\s+)?name\s*[:：][*_\s]*)?{n}{alone}{_END}"
    return re.compile(explicit, re.IGNORECASE), re.compile(bare, re.IGNORECASE)


@lru_cache(maxsize=1024)
def opening(name: str) -> re.Pattern[str]:
    """The beginning of a paragraph that presents a person without a heading ("On the other hand, Mia is")."""
    lead = r"(?:(?:on the other hand|in contrast|meanwhile|similarly|by contrast|then there is|conversely)\W{1,3})?"
    return re.compile(
        rf"\A[\s*_#\-•>]{{0,8}}{lead}{re.escape(name)}\b[*_]{{0,3}}(?:['’]s?|\s[A-Z][\w'’-]{{1,20}})?,?\s+(?!and\b|&)[a-z(]",
        re.IGNORECASE,
    )


@lru_cache(maxsize=1024)
def inline_headings(names: tuple[str, str]) -> re.Pattern[str]:
    """The space before a heading that stands within a line, after the end of a sentence."""
    return re.compile(_INLINE.format(names="|".join(map(re.escape, names))), re.IGNORECASE)


def is_traits_heading(line: str) -> bool:
    """Whether a line heads the section of shown traits, or is the beginning of that heading, cut off by a limit.

    Something that a character reads aloud heads nothing.
    """
    if line.lstrip().startswith(('"', "“")):
        return False
    words = line.strip("#*_ ").lower()
    cut_off = line.lstrip().startswith(("#", "**")) and len(words) >= 2 and _TRAITS_WORDS.startswith(words)
    return cut_off or _TRAITS.match(line[:MAX_HEADING]) is not None


def is_title(line: str) -> bool:
    """Whether a line is a rule, or a decorated heading that is no part of a profile: it may head the story."""
    line = line.strip()
    return bool(line) and _TITLE.match(line[:MAX_HEADING]) is not None and not _PART_OF_A_PROFILE.search(line)
