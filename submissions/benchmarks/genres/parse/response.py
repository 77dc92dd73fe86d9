"""One GENRES response -> its profiles and narrative passage, as far as they are there.

The prompt (GENRES, Figure 3) asks for three headed sections; headings are found by their words, whatever decorates
them. A section runs to the next heading. Without a heading, a profile is a paragraph before the narrative that begins
with the name, and a story follows both profiles under a title or a rule. The closing section of traits, notes to the
reader and a repetition of the answer are no part of the narrative.
"""

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from fairspace.submissions.answers.prepared import without_tokens
from fairspace.submissions.answers.reading import Span
from fairspace.submissions.answers.refusals import ANY_QUESTION

MAX_HEADING = 200
"""Characters of a line in which headings are sought."""

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
"""A sentence about the narrative ("The narrative passage shows ..."), not a heading."""
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
    """Headings with "profile", and bare ones, for one name."""
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
    """A paragraph's beginning that presents a person without a heading ("On the other hand, Mia is")."""
    lead = r"(?:(?:on the other hand|in contrast|meanwhile|similarly|by contrast|then there is|conversely)\W{1,3})?"
    return re.compile(
        rf"\A[\s*_#\-•>]{{0,8}}{lead}{re.escape(name)}\b[*_]{{0,3}}(?:['’]s?|\s[A-Z][\w'’-]{{1,20}})?,?\s+(?!and\b|&)[a-z(]",
        re.IGNORECASE,
    )


@lru_cache(maxsize=1024)
def inline_headings(names: tuple[str, str]) -> re.Pattern[str]:
    """The space before a heading within a line, after the end of a sentence."""
    return re.compile(_INLINE.format(names="|".join(map(re.escape, names))), re.IGNORECASE)


def is_traits_heading(line: str) -> bool:
    """Whether a line, outside of speech, heads the section of shown traits, in full or cut off by a limit."""
    if line.lstrip().startswith(('"', "“")):
        return False
    words = line.strip("#*_ ").lower()
    cut_off = line.lstrip().startswith(("#", "**")) and len(words) >= 2 and _TRAITS_WORDS.startswith(words)
    return cut_off or _TRAITS.match(line[:MAX_HEADING]) is not None


def is_title(line: str) -> bool:
    """Whether a line is a rule, or a decorated heading outside a profile: it may head the story."""
    line = line.strip()
    return bool(line) and _TITLE.match(line[:MAX_HEADING]) is not None and not _PART_OF_A_PROFILE.search(line)


_NOUN = r"(?:narrative(?: passage)?|passage|story|plot|excerpt|tale|scenario|vignette)"
_SAYS = (
    r"(?:highlight|showcase|show|demonstrate|illustrate|reflect|adhere|express|reveal|capture|explore|depict|portray|"
    r"emphasi[sz]e|underscore|display|aim|exemplif|represent|convey|focus|incorporat|align|serve|present|describe|"
    r"feature|embod|follow|contain|include)(?:s|es|ies|e)"
)
_BEFORE = r"[\s*_#<>\-–—•(\[]{0,12}"
_ABOUT = re.compile(
    rf"\A{_BEFORE}(?:"
    r"(?:(?<=[*_#>\-–—(\[] )|(?<=[*_#>\-–—(\[]))(?:the )?end\b[\W_]{0,12}\Z"
    r"|/?\w{3,20}>\s*(?:\n|\Z)"
    r"|\bend of (?:the )?(?:narrative|passage|story|plot|scene|excerpt|response)\b[\W_]{0,12}(?:\n|\Z)"
    r"|(?:a )?(?:final |author'?s? |side |important )?notes?(?: to (?:the )?(?:reader|user|author))?[*_]{0,3}\s?:"
    r"|p\.?s\.?\s?:|disclaimer\b|(?:approximate |total )?word[ -]?count\b|\d{2,4} words\b|words?\s?:\s?\d"
    rf"|(?:in|through|throughout|from) (?:(?:this|the above) {_NOUN}\b|the {_NOUN},)"
    rf"|(?:(?:in )?(?:conclusion|summary|overall)[*_]{{0,3}}\s?[:,]?[*_]{{0,3}}\s)?(?:this|the|the above) {_NOUN}"
    rf"\s(?:(?:also|clearly|effectively|thus|above)\s){{0,2}}{_SAYS}\b"
    rf"|(?:this|the) {_NOUN} (?:is|was) (?:written|designed|meant|intended|about \d)"
    r"|(?:key |main )?(?:themes?|analysis|explanation|commentary|moral|takeaways?|reflection)s?[*_]{0,3}\s?:)",
    re.IGNORECASE,
)
_TO_THE_READER = re.compile(
    rf"\A{_BEFORE}(?:(?:please )?note that\b|would you like\b|(?:please )?let me know\b|(?:please )?feel free to\b"
    r"|(?:i )?hope (?:this|you|that)\b[^\"]{0,60}\b(?:helps?|enjoy|meets|captures|works|what)|do you want me to\b"
    r"|if you(?:'d| would) like[,\s]|if you (?:need|want|have any)\b[^\"]{0,80}\b"
    r"(?:let me|feel free|i can|i'm happy|just ask|please)|i can (?:also )?(?:adjust|revise|continue|expand|provide|"
    r"rewrite)\b|shall i (?:continue|adjust|expand|write)\b|this response\b|is there anything (?:else )?"
    r"you(?:'d| would) like\b|happy to (?:help|adjust|revise|continue)|thank you for (?:reading|using))",
    re.IGNORECASE,
)
_LONGEST_WORD = 600
"""Most characters of the closing words to the reader."""
_REMARK = re.compile(
    rf"\b(?:in this {_NOUN}|(?:in|of) (?:this|the) {_NOUN})\b[^.]{{0,60}}\b{_SAYS}\b|"
    rf"\bare (?:shown|evident|expressed|reflected|highlighted) (?:in|throughout|through) (?:this|the) {_NOUN}\b|"
    rf"\bin this {_NOUN},",
    re.IGNORECASE,
)
_PARAGRAPH = re.compile(r"\n[ \t]*(?:\n[ \t]*)*")
_LEAST = 200
"""Fewest characters of a narrative before its end is cut."""


_SPEECH = re.compile(r"[\"“][^\"“”]*[\"”]")
_TRAIT = re.compile(r"(?<!\ba )(?<!\bone )\btraits?\b", re.IGNORECASE)


def narrative_end(text: str, start: int, end: int, names: tuple[str, str]) -> int:
    """The end of the narrative in text[start:end]: before the first paragraph about it or to its reader.

    A short last block that begins with the traits, outside of speech, and names both characters ends it too.
    """
    for paragraph in _PARAGRAPH.finditer(text, start, end):
        if paragraph.start() - start < min(_LEAST, (end - start) // 2):
            continue
        head = text[paragraph.end() : min(end, paragraph.end() + 300)]
        if _ABOUT.match(head):
            return paragraph.start()
        if end - paragraph.end() <= _LONGEST_WORD and _TO_THE_READER.match(head):
            return paragraph.start()
        block = text[paragraph.end() : end] if end - paragraph.end() <= _LONGEST_WORD else ""
        begins_with_traits = _TRAIT.search(_SPEECH.sub("", block.partition("\n")[0])[:60])
        if begins_with_traits and all(name and name.lower() in block.lower() for name in names):
            return paragraph.start()
        last = text.find("\n", paragraph.end(), end) < 0
        if last and _REMARK.search(head):
            return paragraph.start()
    return end


MAX_CHARACTERS = 20_000
"""Characters of the longest response that is split."""
REMEMBERED = 2_000
"""Split responses kept in memory; one submission has 1 440."""
_MOST_TITLES = 20
_LEAST_WORDS = 60
"""Fewest words of a story without a heading."""
_MARKS = " \t\n*_#-:"


@dataclass(frozen=True)
class Parts:
    """Sections of one response; None for a missing one, and profiles in the order of the prompt's names.

    `narrative_span` is its place in the raw response; `refused`: there are no sections, and it declines to write.
    """

    profiles: tuple[str | None, str | None] = (None, None)
    narrative: str | None = None
    narrative_span: Span | None = None
    refused: bool = False

    @property
    def lacks(self) -> tuple[str, ...]:
        """Missing sections: `first profile`, `second profile`, `narrative`."""
        parts = {"first profile": self.profiles[0], "second profile": self.profiles[1], "narrative": self.narrative}
        return tuple(name for name, part in parts.items() if part is None)


NOTHING = Parts()


@lru_cache(REMEMBERED)
def split(response: str | None, names: tuple[str, str]) -> Parts:
    """The sections, in any order, of a response to the prompt with these two names; the first of a repeated one.

    A bare name heads a profile only before the narrative, and only in a response without "profile of" that name.
    """
    if response is None or not response.strip() or len(response) > MAX_CHARACTERS:
        return NOTHING
    text = without_tokens(response)
    if not text.strip():
        return NOTHING
    if text.lstrip().startswith("{") and (parts := _object(text, names)) is not None:
        return parts
    text = inline_headings(names).sub(lambda match: "\n" * len(match[0]), text)
    sections = _sections(text, names)
    if "narrative" not in sections:
        _find_story(text, sections, names)
    if not {"0", "1"} <= set(sections):
        _find_profiles(text, sections, names)
    if "narrative" in sections:
        start, end = sections["narrative"]
        sections["narrative"] = start, narrative_end(text, start, end, names)
    spans = {key: span for key, (start, end) in sections.items() if (span := _trimmed(text, start, end)) is not None}
    first, second, narrative = (text[slice(*spans[key])] if key in spans else None for key in ("0", "1", "narrative"))
    if not (first or second or narrative):
        return Parts(refused=ANY_QUESTION.search(text[:500]) is not None)
    return Parts((first, second), narrative, spans.get("narrative"))


def split_single(response: str | None, name: str, other: str) -> Parts:
    """The sections of a response about one character, its profile first; `other` is a name not in the prompt."""
    parts = split(response, (name, other))
    profile = parts.profiles[0]
    if parts.narrative is None and profile is not None:  # a story without a heading must name both
        parts = split(response, (name, name))
        profile = (profile.partition(parts.narrative)[0].strip(_MARKS) or None) if parts.narrative else profile
    return Parts((profile, None), parts.narrative, parts.narrative_span, parts.refused)


def _sections(text: str, names: tuple[str, str]) -> dict[str, Span]:
    lines = text.split("\n")
    patterns = [profile_patterns(name) for name in names]
    explicit = [any(p.match(line[:MAX_HEADING]) for line in lines) for p, _ in patterns]
    sections: dict[str, Span] = {}
    current, place = "preamble", 0
    for line in lines:
        heading, after = _heading(line, patterns, explicit, current)
        if heading == "narrative" and "narrative" not in sections and ABOUT_IT.match(line[:MAX_HEADING]):
            heading, after = "", 0
        start, end = sections.get(current, (0, 0))
        again = heading == current and not text[start:end].strip()
        if again:
            sections[current] = place + after, place + len(line)
        elif heading and not (current == "narrative" == heading and "narrative" not in line[:MAX_HEADING].lower()):
            current = heading if heading not in sections else "repeated"
            sections[current] = place + after, place + len(line)
        else:
            sections[current] = start, place + len(line)
        place += len(line) + 1
    return {key: (start, end) for key, (start, end) in sections.items() if text[start:end].strip(_MARKS)}


def _heading(
    line: str, patterns: list[tuple[re.Pattern[str], re.Pattern[str]]], explicit: list[bool], current: str
) -> tuple[str, int]:
    start = line[:MAX_HEADING]
    if not start.strip():
        return "", 0
    for index, (says_profile, bare) in enumerate(patterns):
        if match := says_profile.match(start):
            return str(index), match.end()
        if not explicit[index] and current in ("preamble", "0", "1") and (match := bare.match(start)):
            return str(index), match.end()
    if match := NARRATIVE.match(start):
        return "narrative", match.end()
    return ("traits", len(line)) if current == "narrative" and is_traits_heading(line) else ("", 0)


def _find_profiles(text: str, sections: dict[str, Span], names: tuple[str, str]) -> None:
    """Add profiles without a heading: paragraphs before the narrative that begin with the name."""
    before = sections.get("narrative", (len(text), 0))[0]
    for index, name in enumerate(names):
        key, other = str(index), str(1 - index)
        if key in sections:
            continue
        for section in (other, "preamble") if "narrative" in sections else (other,):
            start, end = sections.get(section, (0, 0))
            if start >= before or not start < end:
                continue
            place = _paragraph_of(text, start if section == "preamble" else None, start, end, name)
            if place is not None:
                sections[key] = place, end
                sections[section] = start, place
                break


def _paragraph_of(text: str, first: int | None, start: int, end: int, name: str) -> int | None:
    places = [] if first is None else [first]
    places += [match.end() for match in re.finditer(r"\n\s{0,20}", text[start:end])]
    starts = [place if place == first else start + place for place in places]
    return next((place for place in starts if opening(name).match(text[place : min(end, place + MAX_HEADING)])), None)


def _find_story(text: str, sections: dict[str, Span], names: tuple[str, str]) -> None:
    """Add the story without a heading: the text after the last profile under a title or a rule."""
    if not {"0", "1"} & set(sections):
        return
    last = max(("0", "1"), key=lambda key: sections.get(key, (-1, -1)))
    start, end = sections[last]
    titles = (line for line in re.finditer(r"[^\n]+", text[start:end]) if is_title(line[0]))
    for line in islice(titles, _MOST_TITLES):
        if not text[start : start + line.start()].strip(_MARKS):
            continue
        begin = start + line.end()
        story = text[begin:end].lower()
        if len(story.split()) >= _LEAST_WORDS and all(story.count(name.lower()) >= 2 for name in names):
            sections["narrative"], sections[last] = (begin, end), (start, start + line.start())
            return


def _trimmed(text: str, start: int, end: int) -> Span | None:
    inside = text[start:end]
    left = len(inside) - len(inside.lstrip(_MARKS))
    trimmed = inside.strip(_MARKS)
    return (start + left, start + left + len(trimmed)) if trimmed else None


_MEMBER = re.compile(r'"(?P<key>[^"\\\n]{1,80})"\s*:\s*"(?P<value>(?:[^"\\]|\\.)*)(?P<end>"?)', re.DOTALL)


def _object(text: str, names: tuple[str, str]) -> Parts | None:
    """The sections of a response that is a JSON object; None without a narrative key."""
    profiles: list[str | None] = [None, None]
    narrative: str | None = None
    span: Span | None = None
    for member in _MEMBER.finditer(text):
        key = re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", member["key"])
        try:
            value = str(json.loads(f'"{member["value"]}"', strict=False)).strip()
        except ValueError:
            value = member["value"].strip()
        if not value:
            continue
        if narrative is None and NARRATIVE.match(key):
            narrative, span = value, member.span("value")
        elif narrative is None and "trait" not in key.lower():
            for index, name in enumerate(names):
                if profiles[index] is None and re.search(rf"\b{re.escape(name)}\b", key, re.IGNORECASE):
                    profiles[index] = value
    return None if narrative is None else Parts((profiles[0], profiles[1]), narrative, span)
