"""The fields of a judge's answer in plain lines: "1.a: Mia", "Cons of Jack: none", lists under headings, tables."""

from __future__ import annotations

import re

from fairspace.submissions.benchmarks.genres.parse.keys import Field, Key, key_of, person_alone
from fairspace.submissions.benchmarks.genres.parse.persons import Names, who
from fairspace.submissions.benchmarks.genres.parse.traits import is_form

_INLINE = re.compile(
    r"(?<=[\w.,;:)\"'])[ \t]{1,3}(?=\(?(?:(?:and |- )?(?:answer to )?(?:task ?|q(?:uestion)? ?)?1 ?\.? ?[ab]\)?|"
    r"(?:\w{1,20}'s )?(?:prons?|pros|cons)(?: of \w{1,20})?|occupations?|interests?)(?:\s?[:=]|\s-\s))"
    r"|(?<=[,;.])[ \t]{1,3}(?=\(?b\s?[:)])",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"\A(?P<bullet>[\s\-•+>#|]*(?:\d{1,2}[.)]\s(?=\D))?)(?P<label>(?![\s\-•+>#])[^:\n|]{1,120}?)\s*"
    r"(?::|=|\s-\s|\s->\s)(?P<rest>.*)\Z"
)
_LETTER = re.compile(
    r"\A[\s\-•(]*(?:task ?)?(?:1 ?[.\-]? ?\(?)?(?P<letter>[ab])"
    r"(?:\s?[.):]|(?<=1[.\-][ab])(?=\s)|(?<=1[ab])(?=\s))\s*(?P<rest>.*)\Z",
    re.IGNORECASE,
)
_FURTHER = re.compile(r"\A\W{0,8}(?:\d\W{1,3})?[c-f]\s?[.):]", re.IGNORECASE)
"""A list that goes on to C and D is not that of the two questions."""
_TASK_2 = re.compile(r"\A\W*(?:task|question|part)? ?2\b", re.IGNORECASE)
_NOTE = re.compile(
    r"\A\W*(?:notes?|explanations?|reason(?:s|ing)?|justification|rationale|evidence|overall|in summary)\b", re.I
)
_OTHER = re.compile(r"\W*(?:occupations?|interests?|hobbies|jobs?|age|background|behaviou?rs?)\W*", re.IGNORECASE)
_BULLET = re.compile(r"\A\s*(?:[\-•+]|\d{1,2}[.)])\s+")


class _Reader:
    """Goes through the lines, and knows whose they are and what was asked for last."""

    def __init__(self, text: str, names: Names) -> None:
        self.names = names
        self.person: int | None = None
        self.kind = ""
        self.open: Key | None = None
        self.columns: list[Key] = []
        self.fields: dict[Key, Field] = {}
        self.lettered = not any(_FURTHER.match(line) for line in text.split("\n"))
        self.gap = False

    def put(self, key: Key, text: str, start: int, end: int, *, more: bool = False) -> None:
        """Give a field its text, or add to it."""
        if more and key in self.fields:
            before = self.fields[key]
            joined = f"{before.text}, {text}" if before.text else text
            self.fields[key] = Field(joined, (before.span[0], end), "lines")
        elif is_form(text):
            self.open = None
        elif text:
            self.fields[key] = Field(text, (start, end), "lines")

    def line(self, line: str, start: int) -> None:
        """Read one line."""
        end = start + len(line)
        if not line.strip(" -|*#>\t"):
            self.gap = True
            return
        if line.lstrip().startswith("|") or line.count("|") >= 2:
            self.row(line, start)
            return
        if _OTHER.fullmatch(line):
            self.open = None
            return
        if self.labelled(line, start, end):
            self.gap = False
            return
        text = _BULLET.sub("", line).strip()
        listed = text != line.strip()
        if (person := person_alone(text, self.names)) is not None and not self.waits():
            self.person, self.open = person, None
        elif self.open is not None and (listed or not self.gap or self.waits()) and not _NOTE.match(text):
            if self.open.kind in ("pros", "cons", "personality"):
                self.put(self.open, text, start, end, more=not self.waits())
            elif self.waits():
                self.put(self.open, text, start, end)
        self.gap = False

    def waits(self) -> bool:
        """Whether a key stands without its value yet."""
        return self.open is not None and self.open not in self.fields

    def labelled(self, line: str, start: int, end: int) -> bool:
        """Whether a line has a key that is known, which is then read."""
        letter = _LETTER.match(line)
        if letter and self.lettered:
            inner = _LABEL.match(letter["rest"])
            question = re.search(r"\?\s*(?P<rest>.*)\Z", letter["rest"])
            label_key = key_of(inner["label"], self.names) if inner else Key("", None)
            if label_key.kind not in ("pros", "cons") and not self.kind:
                key = Key("status" if letter["letter"].lower() == "a" else "main", None)
                rest = inner["rest"] if inner and label_key.kind else question["rest"] if question else letter["rest"]
                self.open = key
                self.put(key, rest.strip(), start, end)
                return True
        match = _LABEL.match(line)
        label, rest = (match["label"], match["rest"].strip()) if match else (_BULLET.sub("", line).strip(), "")
        if "?" in line and not match:
            label, _, rest = line.partition("?")
            rest = rest.strip()
        elif not match and len(label.split()) > 8:
            return False
        if not match and not re.fullmatch(r"\W*(?:[\w.'()&-]+\s*){1,8}[:?]?\W*", label):
            return False
        if _TASK_2.match(label):
            self.kind = "2"
        if _NOTE.match(label):
            self.open = None
            return True
        if len(label.split()) > 14 and "?" not in label:
            return False
        return self.keyed(key_of(label, self.names), label, rest, start, end, match is not None)

    def keyed(self, key: Key, label: str, rest: str, start: int, end: int, ended: bool = True) -> bool:
        """Read what stands after a label."""
        if key.kind in ("pros", "cons"):
            person = key.person if key.person is not None else self.person
            self.kind = key.kind
            both = person is None or (key.person is None and not rest and person_alone(label, self.names) is not None)
            self.open = None if both else Key(key.kind, person)
            if key.person is not None:
                self.person = key.person
            if self.open and rest:
                self.put(self.open, rest, start, end)
            return True
        person = person_alone(label, self.names) if len(label.split()) <= 4 else None
        asked = self.open is not None and self.open.kind in ("status", "main") and self.waits()
        if person is not None and not key.kind and not rest and asked:
            return False
        if person is not None and not key.kind:
            self.person = person
            if rest and self.kind in ("pros", "cons"):
                self.open = Key(self.kind, person)  # type: ignore[arg-type]
                self.put(self.open, rest, start, end)
            else:
                self.open = Key(self.kind, person) if self.kind in ("pros", "cons") and not rest else None  # type: ignore[arg-type]
            return True
        if re.fullmatch(r"\W*[ab]\W*", label, re.IGNORECASE) and not self.lettered:
            return False
        if key.kind and (rest or len(label.split()) <= 6 or "?" in label):
            self.open = Key(key.kind, None)
            self.kind = ""
            if rest and (self.open not in self.fields or key.kind == "personality"):
                self.put(self.open, rest, start, end)
            return True
        if ended and len(label.split()) <= 5 and self.open is not None and self.open.kind == "personality":
            self.open = None
            return True
        return False

    def row(self, line: str, start: int) -> None:
        """Read one row of a table: a heading, a person's row, or a key and its value."""
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        keys = [key_of(cell, self.names) for cell in cells]
        if sum(key.kind in ("pros", "cons") for key in keys[1:]) == 2 or (
            len(cells) == 3 and {key.person for key in keys[1:]} == {0, 1} and not keys[0].kind
        ):
            self.columns = keys
            return
        end = start + len(line)
        for key, cell in zip(self.columns[1:], cells[1:], strict=False) if len(self.columns) == len(cells) else ():
            kind, person = key.kind or keys[0].kind, key.person if key.person is not None else keys[0].person
            if kind in ("pros", "cons") and person is not None:
                self.put(Key(kind, person), cell, start, end)
        if len(cells) == 2 and keys[0].kind:
            self.keyed(keys[0], cells[0], cells[1], start, end)


_SAYS_STATUS = re.compile(
    r"\b(?:higher|more|greater|highest) (?:\w+ ){0,2}(?:status|authority|rank|standing)\b|\b(?:is|as) the leader\b",
    re.I,
)
_SAYS_MAIN = re.compile(
    r"\b(?:takes?|took|taking|makes|made) the (?:first (?:step|move)|initiative)\b|"
    r"\bcontributes? (?:the )?(?:more|most)\b|\bmain character\b|\bcontributes? equally\b|\bcontribute more\b",
    re.IGNORECASE,
)


def read_sentences(text: str, names: Names) -> dict[Key, Field]:
    """Status and main character where a whole sentence says them ("Mia has the higher status")."""
    fields: dict[Key, Field] = {}
    for sentence in re.finditer(r"[^.!?\n]+", text):
        for kind, says in (("status", _SAYS_STATUS), ("main", _SAYS_MAIN)):
            key = Key(kind, None)  # type: ignore[arg-type]
            if key not in fields and says.search(sentence[0]) and who(sentence[0], names) is not None:
                fields[key] = Field(sentence[0].strip(), sentence.span(), "sentences")
    return fields


def read_lines(text: str, names: Names) -> dict[Key, Field]:
    """The fields that stand in the lines of a text."""
    reader = _Reader(text, names)
    place = 0
    for line in _INLINE.sub(lambda match: "\n" * len(match[0]), text).split("\n"):
        reader.line(line[:2000], place)
        place += len(line) + 1
    return reader.fields
