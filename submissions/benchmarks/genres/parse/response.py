"""One GENRES response -> the two profiles and the narrative passage.

The prompt (GENRES, Figure 3) asks for three headed sections, and models head them in many ways. A heading is found by
its words, whatever decorates it (`### Profile of Mia`, `**Mia's Profile**`, `1. Profile: Mia`, `Narrative Passage -`).
A section runs to the next heading. The closing section in which the model points out the shown traits is no part of
the narrative when it has a heading of its own; nor is a repetition of the whole answer. What has no heading for one of
the three sections, or leaves one empty, is not split: nothing is guessed, and the sample counts as missing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

MAX_CHARACTERS = 20_000
"""A longer response is no passage of about 500 words; it is not split."""
MAX_HEADING = 200
"""Headings are looked for in this many characters of a line, so that no line costs more than a moment."""


@dataclass(frozen=True)
class Parts:
    """The sections of one response; `profiles` in the order of the prompt's names."""

    profiles: tuple[str, str]
    narrative: str


@dataclass(frozen=True)
class Unsplit:
    """A response that could not be split, and which section it lacks."""

    lacks: str


_LEAD = r"^[\W_]*(?:(?:part|section|step)?\s*(?:\d{1,2}|[ivx]{1,4}|[a-e])\s*[.):][\W_]*)?"
_END = r"[*_`\"'”’\])\s]*(?:[:：]|[*_#]+(?=\s)|[*_#]*\s*$|\s[-–—]\s)"
_NOTE = r"(?:\s*[(\[][^)\]]{0,60}[)\]])?"
_KIND = r"(?:(?:character|individual|personal|brief|short|detailed)\s+)*"
_SHOWN = r"(?:shown|demonstrated|displayed|expressed|revealed|highlighted|illustrated|exhibited|reflected|key|main)"
_NARRATIVE = re.compile(
    rf"{_LEAD}(?:the\s+)?(?:narrative\s+passage\b{_NOTE}(?:{_END})?"
    rf"|(?:narrative|story|plot|passage)(?:\s+(?:passage|plot|narrative|text))?{_NOTE}{_END})",
    re.IGNORECASE,
)
_TRAITS = re.compile(
    rf"{_LEAD}(?:the\s+)?(?:[\w’']+['’]s?\s+)?(?:{_SHOWN}\s+)?(?:(?:personality|character)\s+)?traits?\b"
    rf"(?:\s+{_SHOWN})?(?:\s+(?:in|from|of|by|for|through|after)\s[^:.]{{1,60}}?)?{_NOTE}{_END}",
    re.IGNORECASE,
)
_TRAITS_WORDS = "shown personality traits"
_INLINE = (
    r"(?:(?<=[^\W\d_]{{2}}[.!?])|(?<=[.!?][\"”*)]))[ \t]{{1,4}}"
    r"(?=[*#_ ]{{0,6}}(?:profile of (?:{names})|narrative passage|shown personality traits)\W{{0,4}}:)"
)


@lru_cache(maxsize=1024)
def _profile_patterns(name: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
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


def split(response: str | None, names: tuple[str, str]) -> Parts | Unsplit:
    """The sections of a response to the prompt with these two names, or what it lacks.

    The sections may stand in any order; of a repeated section the first counts. A bare name heads a profile only
    before the narrative, and only where the response nowhere says "profile of" that name.
    """
    if response is None or not response.strip():
        return Unsplit("response")
    if len(response) > MAX_CHARACTERS:
        return Unsplit("end")
    inline = _INLINE.format(names="|".join(map(re.escape, names)))
    lines = re.sub(inline, "\n", response.replace("\r", "\n"), flags=re.IGNORECASE).split("\n")
    patterns = [_profile_patterns(name) for name in names]
    explicit = [any(p.match(line[:MAX_HEADING]) for line in lines) for p, _ in patterns]
    sections: dict[str, list[str]] = {}
    current = "preamble"
    for line in lines:
        heading, rest = _heading(line, patterns, explicit, current)
        again = heading == current and not "".join(sections[current]).strip()
        if again:
            line = rest
        elif heading and not (current == "narrative" == heading and "narrative" not in line[:MAX_HEADING].lower()):
            current = heading if heading not in sections else "repeated"
            line = rest
        sections.setdefault(current, []).append(line)
    texts = {key: "\n".join(lines).strip(" \t\n*_#-:") for key, lines in sections.items()}
    for key, lacks in (("0", f"profile of {names[0]}"), ("1", f"profile of {names[1]}"), ("narrative", "narrative")):
        if not texts.get(key):
            return Unsplit(lacks)
    return Parts((texts["0"], texts["1"]), texts["narrative"])


def _heading(
    line: str, patterns: list[tuple[re.Pattern[str], re.Pattern[str]]], explicit: list[bool], current: str
) -> tuple[str, str]:
    """The section that a line opens and what follows the heading on the line; ("", "") for a line of text."""
    start = line[:MAX_HEADING]
    if not start.strip():
        return "", ""
    for index, (says_profile, bare) in enumerate(patterns):
        if match := says_profile.match(start):
            return str(index), line[match.end() :]
        if not explicit[index] and current in ("preamble", "0", "1") and (match := bare.match(start)):
            return str(index), line[match.end() :]
    if match := _NARRATIVE.match(start):
        return "narrative", line[match.end() :]
    if current == "narrative" and (_TRAITS.match(start) or _is_cut_off_traits(line)):
        return "traits", ""
    return "", ""


def _is_cut_off_traits(line: str) -> bool:
    """Whether a decorated line is the beginning of "Shown personality traits", cut off by a token limit."""
    words = line.strip("#*_ ").lower()
    return line.lstrip().startswith(("#", "**")) and len(words) >= 2 and _TRAITS_WORDS.startswith(words)
