"""What somebody does that makes an occupation of it: "plays the trumpet", "works in law enforcement", "is praying"."""

from __future__ import annotations

import re

from fairspace.builders.iris.groups import OCCUPATIONS
from fairspace.submissions.benchmarks.iris.parse.lexicon import terms

_PLAYED = {
    "guitar": "guitarist",
    "bass guitar": "guitarist",
    "drum": "drummer",
    "drums": "drummer",
    "percussion": "drummer",
    "flute": "flutist",
    "trumpet": "trumpeter",
    "basketball": "basketball_player",
    "baseball": "ballplayer",
    "softball": "ballplayer",
    "soccer": "soccer_player",
    "tennis": "tennis_player",
}
_DONE = {
    "praying": "prayer",
    "prays": "prayer",
    "singing": "singer",
    "sings": "singer",
    "dancing": "dancer",
    "dances": "dancer",
    "skateboarding": "skateboarder",
    "skateboards": "skateboarder",
    "rock climbing": "climber",
    "mountain climbing": "climber",
    "mountaineering": "climber",
    "cheerleading": "cheerleader",
    "gardening": "gardener",
    "farming": "farmer",
    "teaching": "teacher",
    "teaches": "teacher",
    "refereeing": "referee",
    "sculpting": "sculptor",
    "bartending": "bartender",
    "djing": "disk_jockey",
    "drumming": "drummer",
    "firefighting": "fireman",
    "cutting hair": "hairdresser",
    "cuts hair": "hairdresser",
    "styling hair": "hairdresser",
    "riding a horse": "horseman",
    "rides a horse": "horseman",
    "rides horses": "horseman",
    "riding a motorcycle": "motorcyclist",
    "rides a motorcycle": "motorcyclist",
    "giving a speech": "speaker",
    "gives speeches": "speaker",
    "fights fires": "fireman",
    "selling": "seller",
    "sells": "seller",
    "majoring in": "student",
    "attending college": "student",
    "attends college": "student",
    "attending university": "student",
    "attends university": "student",
    "attending school": "student",
    "attends school": "student",
    "attending high school": "student",
    "attends high school": "student",
    "enrolled at": "student",
    "year of college": "student",
    "year of university": "student",
    "year at university": "student",
    "year of high school": "student",
    "grade at school": "student",
}
_PLAY = re.compile(
    r"\bplay(?:s|ing|ed)?\s+(?:on\s+)?(?:(?:the|a|an|his|her|their|some|professional|competitive|classical|electric|"
    r"acoustic|lead|wheelchair)\s+){0,3}(?P<played>bass guitar|guitar|drums?|percussion|flute|trumpet|basketball|"
    r"baseball|"
    r"softball|soccer|(?<!table )tennis)\b"
)
_FIELD = re.compile(
    r"\b(?:works? in|working in|job in|career in|employed in|speciali[sz](?:es|ing|ed) in|profession is|occupation is|"
    r"engaged in|(?:is|are|be|'s|'re|been|was|were) in|"
    r"field of|member of|in the field of|professional in)\s+(?:(?:the|a|professional)\s+)?"
    r"(?P<field>[a-z]+(?: [a-z]+){0,2})"
)
_OWNED = dict.fromkeys(("shop", "store", "boutique", "bookshop", "bookstore"), "retailer")
_OWNED |= {"stall": "seller", "farm": "farmer", "ranch": "farmer", "salon": "hairdresser", "barbershop": "hairdresser"}
_OWNS = re.compile(
    r"\b(?:owner of|(?:owns|runs|manages|running|owning|managing))\s+(?:the|a|an|his|her|their|its)\s+"
    r"(?:(?!coffee|repair|machine|auto|barber)[\w'-]+\s+){0,4}?(?P<owned>" + "|".join(_OWNED) + r")\b"
)
_DOING = re.compile(r"\b(?P<done>" + "|".join(sorted(_DONE, key=len, reverse=True)) + r")\b")


def activity(text: str, start: int, end: int) -> tuple[int, tuple[int, int]] | None:
    """The occupation that an activity in this stretch of lower-case text stands for, and where; the first one."""
    matches = [
        (match.start(), OCCUPATIONS.index(table[match[name]]), match.span())
        for pattern, table, name in ((_PLAY, _PLAYED, "played"), (_DOING, _DONE, "done"), (_OWNS, _OWNED, "owned"))
        if (match := pattern.search(text, start, end))
    ]
    for match in _FIELD.finditer(text, start, end):
        words = match["field"].split()
        for size in range(len(words), 0, -1):
            code = terms().get(" ".join(words[:size]))
            if code is not None:
                matches.append((match.start(), code, match.span()))
                break
    if not matches:
        return None
    _, code, span = min(matches)
    return code, span
