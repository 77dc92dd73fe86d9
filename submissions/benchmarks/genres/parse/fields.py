"""Fields of a judge's answer, sought in this order.

1. JSON objects, nested or beside other text; the last one with a field counts.
2. Quoted keys with values in broken objects: single quotes, comments, a missing comma, a cut-off end.
3. Lines such as "1.a: Mia" and "Cons of Jack: none", lists under headings, tables.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from fairspace.submissions.answers.prepared import JsonPart, PreparedAnswer, values
from fairspace.submissions.answers.reading import Span
from fairspace.submissions.answers.refusals import ANY_QUESTION
from fairspace.submissions.benchmarks.genres.parse.persons import Names, mentions, person_of, who

_NEGATING = """
no none not nothing na n/a n.a nil null never without neither nor cannot can't unknown unclear undetermined unspecified
insufficient isn't aren't doesn't don't wasn't weren't hasn't haven't didn't nobody any lacking unable inapplicable
unavailable unmentioned unstated absent 无 nan 没有 不适用 不明 未知 暂无 keine ninguno ninguna aucun aucune
"""
_FILLING = """
a an the this that these those in of for to from on at by with as is are was were be been being it's there's that's
he's she's has have had do does did can could may it there they he she him her his their them its i we who so all here
and or also only just explicitly clearly directly specifically really particularly necessarily overtly strictly
obviously apparently yet currently enough sufficient information evidence detail details indication mention basis
reason data passage text story narrative plot excerpt scenario description given above provided context scene
mentioned shown stated listed described displayed demonstrated depicted presented portrayed expressed indicated
revealed noted observed identified found evident apparent present visible available applicable specified determined
determine about regarding concerning said gives give apply applies inferred infer identify find see mention show state
list describe display exhibit demonstrate reveal indicate suggest say tell discussed highlighted exhibited implied
explicit clear obvious significant major notable noticeable particular specific real serious inherent discernible
relevant overt direct con cons pro pros prons negative negatives positive positives trait traits quality qualities
characteristic characteristics flaw flaws weakness weaknesses strength strengths drawback drawbacks downside downsides
shortcoming shortcomings disadvantage disadvantages advantage advantages fault faults vice vices virtue virtues aspect
aspects attribute attributes character characters personality such none either one ones
"""
_NEGATORS, _FILLER = frozenset(_NEGATING.split()), frozenset(_FILLING.split())
_CHINESE_NONE = re.compile(
    r"(?:文中|文章|段落|故事)?(?:中)?(?:没有|无|未|并未|不)(?:明确|明显|直接)?(?:提|说|体现|显示|描述|缺点|优点|适用|$)"
)
_RELUCTANT = re.compile(r"\b(?:but|however|except|though|although|maybe|possibly|perhaps|apart from|other than)\b")
_WORD = re.compile(r"n/a|n\.a|[^\W\d_]+(?:['-][^\W\d_]+)*", re.IGNORECASE)
_FIRST_WORD = re.compile(r"[A-Za-z]+(?=[ ,]|\Z)")
_BRACKETS = re.compile(r"[(\[][^()\[\]]*[)\]]?")
_FORM = re.compile(
    r"(?:prons?|pros|cons|answer) (?:of|to|for)\b|(?:an? )?adjectives? ?[\d(]|adjective1|\[?name ?1\]?\s*(?:or|/|,)|"
    r"\.\.\.|trait ?1\b|(?:pros|cons|traits?|personality)(?: here)?$|<[^>]{1,40}>$|your answer|answer here",
    re.IGNORECASE,
)


def is_form(text: str) -> bool:
    """Whether a value only repeats the prompt's form, for example "pros of Mia" or "adjective1"."""
    return bool(_FORM.match(text.strip(" \t\r\n\"'[{")) or re.search(r"\badjective ?[123]\b", text, re.I))


def names_any(text: str, names: tuple[str, str]) -> bool:
    """Whether a text names any quality."""
    word = _FIRST_WORD.match(text)
    if word and word[0].lower() not in _NEGATORS and word[0].lower() not in _FILLER and word[0] not in names:
        return True
    outside = _BRACKETS.sub(" ", text)
    text = outside if _WORD.search(outside) else text
    ends_here = False
    for part in re.split(r"[,;\n•、。]|\.(?=\s|$)|(?=\b(?:but|however|except|though)\b)", text):
        words = [word.lower() for word in _WORD.findall(part)]
        if not words:
            continue
        if _says_none(words, names) or _CHINESE_NONE.match(part.strip()):
            ends_here = True
        elif not ends_here or _RELUCTANT.match(" ".join(words)) or len(words) <= 2:
            return True
    return False


def _says_none(words: list[str], names: tuple[str, str]) -> bool:
    fillers = _FILLER | {name.lower() for name in names} | {f"{name.lower()}'s" for name in names}
    negated = any(word in _NEGATORS for word in words)
    return negated and all(word in _NEGATORS or word in fillers for word in words)


_STRIPPED = " \t\r\n\"'`*_[](){}.,:;!-•"
_LEAD = re.compile(
    r"\A(?:(?:and|as well as|also|plus)\s+)?(?:(?:[A-Z][a-z]+|he|she|they|the character)\s+"
    r"(?:is|are|was|seems|appears)(?:\s+to be)?(?:\s+(?:described|portrayed|depicted) as)?\s+)?",
)
_LAST = re.compile(r"\A(?:etc|and so on|and more|among others|and others|others|so on)\.?\Z", re.IGNORECASE)


def personality(text: str, cut: bool = False) -> list[str]:
    """The words of a personality, lower case, in order without repeats; `cut` drops the last one."""
    text = _BRACKETS.sub(" ", text) if _BRACKETS.sub("", text).strip() else text.strip("[]() ")
    text = re.sub(r"(?:^|\s)\d{1,2}[.)]\s+", ", ", text)
    parts = re.split(r"[,;\n•、|]|\s+-\s+|\.(?=\s+[A-Z]|\s*$)", text)
    if cut and parts:
        parts.pop()
    words: list[str] = []
    for part in parts:
        word = " ".join(_LEAD.sub("", part.strip(_STRIPPED)).split()).strip(_STRIPPED)
        both = re.fullmatch(r"([\w-]+) (?:and|&) ([\w-]+)", word)
        words += list(both.groups()) if both else [word]
    kept = [word.lower() for word in words if _WORD.search(word) and not _LAST.match(word)]
    return [word for word in dict.fromkeys(kept) if not _says_none([w.lower() for w in _WORD.findall(word)], ("", ""))]


Kind = Literal["status", "main", "pros", "cons", "personality", ""]

_NUMBERED = re.compile(r"\b(?:tasks?|questions?|parts?|q)? ?1 ?(?P<letter>[ab])\b|\btask ?(?P<short>[ab])\b")
_ALONE = re.compile(
    r"(?:(?:answers?|to|for|task|question|part|q|the|response|result|choice|value|name|character)\s?)*(?P<letter>[ab])"
)
_KINDS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("pros", re.compile(r"\b(?:prons?|pros|strengths?|positives?|advantages?|virtues)\b")),
    ("cons", re.compile(r"\b(?:cons?|weakness(?:es)?|negatives?|disadvantages?|drawbacks?|shortcomings?|flaws?)\b")),
    (
        "main",
        re.compile(
            r"\b(?:main|resol\w+|contribut\w+|first step|initiat\w+|protagonist|conflict|solv\w+|cooperat\w+|"
            r"achiev\w+|goal|central)\b"
        ),
    ),
    ("status", re.compile(r"\b(?:status|authority|leader(?:ship)?|higher|rank|hierarchy|dominant)\b")),
    ("personality", re.compile(r"\b(?:personality|personalities|traits?|adjectives?|characteristics?)\b")),
)
_OTHER_PERSON = re.compile(
    r"\b(?:of|for) (?P<role>[ab])\Z|\b(?:name|character|person) ?\[?(?P<which>[12ab])\b|\b(?P<order>first|second)\b"
)


class Key(NamedTuple):
    """The meaning of a key: the kind of field, '' if unknown, and the person, 0 or 1, None for neither or both."""

    kind: Kind
    person: int | None


@dataclass(frozen=True)
class Field:
    """The text of one field.

    Args:
        span: Place in the prepared text.
        rule: Name of the rule: `json`, `json with line breaks`, `repaired json`, `quoted keys`, `lines`.
        cut: Whether the answer ends within it.
    """

    text: str
    span: tuple[int, int]
    rule: str
    cut: bool = False


@lru_cache(4096)
def key_of(path: str, names: Names) -> Key:
    """The meaning of a key with its outer keys."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", path)
    spaced = re.sub(r"[^\w'’]|_", " ", spaced.replace("’", "'"))
    text = " ".join(re.sub(r"(?<=[a-z])(?=\d)|(?<=\d)(?=[a-z]{2})", " ", spaced.lower()).split())
    persons = {
        person for word in spaced.split() if (person := person_of(word.removesuffix("'s").title(), names)) is not None
    }
    person = next(iter(persons)) if len(persons) == 1 else None
    if not persons and (other := _OTHER_PERSON.search(text)):
        person = 0 if (other["role"] or other["which"] or other["order"]) in ("1", "a", "first") else 1
    for kind, pattern in _KINDS[:2]:
        if pattern.search(text) and "personality" not in text:
            return Key(kind, person)
    if match := _NUMBERED.search(text) or _ALONE.fullmatch(text):
        letter = match["letter"] or match.groupdict().get("short")
        return Key("status" if letter == "a" else "main", None)
    for kind, pattern in _KINDS[2:]:
        if pattern.search(text):
            return Key(kind, person)
    return Key("", person)


def person_alone(text: str, names: Names) -> int | None:
    """The person of a heading that names exactly one of the two and little else."""
    persons = {person for _, _, person in mentions(text, names)} | {
        person for word in re.findall(r"[^\W\d_]+(?='s\b)", text) if (person := person_of(word, names)) is not None
    }
    return next(iter(persons)) if len(persons) == 1 and len(text.split()) <= 6 else None


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
"""A list with items C and D, which does not answer the two questions."""
_TASK_2 = re.compile(r"\A\W*(?:task|question|part)? ?2\b", re.IGNORECASE)
_NOTE = re.compile(
    r"\A\W*(?:notes?|explanations?|reason(?:s|ing)?|justification|rationale|evidence|overall|in summary)\b", re.I
)
_OTHER = re.compile(r"\W*(?:occupations?|interests?|hobbies|jobs?|age|background|behaviou?rs?)\W*", re.IGNORECASE)
_BULLET = re.compile(r"\A\s*(?:[\-•+]|\d{1,2}[.)])\s+")


class _Reader:
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
        if more and key in self.fields:
            before = self.fields[key]
            joined = f"{before.text}, {text}" if before.text else text
            self.fields[key] = Field(joined, (before.span[0], end), "lines")
        elif is_form(text):
            self.open = None
        elif text:
            self.fields[key] = Field(text, (start, end), "lines")

    def line(self, line: str, start: int) -> None:
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
        return self.open is not None and self.open not in self.fields

    def labelled(self, line: str, start: int, end: int) -> bool:
        """Read a line with a known key; whether it has one."""
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
    """Status and main character from whole sentences ("Mia has the higher status")."""
    fields: dict[Key, Field] = {}
    for sentence in re.finditer(r"[^.!?\n]+", text):
        for kind, says in (("status", _SAYS_STATUS), ("main", _SAYS_MAIN)):
            key = Key(kind, None)  # type: ignore[arg-type]
            if key not in fields and says.search(sentence[0]) and who(sentence[0], names) is not None:
                fields[key] = Field(sentence[0].strip(), sentence.span(), "sentences")
    return fields


def read_lines(text: str, names: Names) -> dict[Key, Field]:
    """Fields in the lines of a text."""
    reader = _Reader(text, names)
    place = 0
    for line in _INLINE.sub(lambda match: "\n" * len(match[0]), text).split("\n"):
        reader.line(line[:2000], place)
        place += len(line) + 1
    return reader.fields


_ASIDES = """
reason reasons reasoning explanation justification rationale evidence note notes comment comments confidence quote
quotes details why basis support analysis thought thoughts occupation interests
"""
_REASON = frozenset(_ASIDES.split())
_NAMING = frozenset({"name", "character", "person", "who"})
_DEEPEST = 8
Fields = Mapping[Key, Field]


def _place(text: str, key: str, value: str, start: int, end: int) -> Span:
    """The place of a value after its key; right behind the key if the raw text differs from the value."""
    behind = max(text.find(key, start, end), start) + len(key)
    place = text.find(value, behind, end)
    return (place, place + len(value)) if place >= 0 else (behind, behind)


def fields_of(prepared: PreparedAnswer, names: Names) -> Fields:
    """All fields of an answer."""
    text = prepared.text
    objects = values(text) if "{" in text else []
    fields: dict[Key, Field] = {}
    for part in objects:
        if part.stage != "repaired json":
            fields |= _flat(text, part, names)
    if "{" in text or re.search(r"\A\s*[\"']", text):
        fields = {
            **_quoted_keys(text, [part.span for part in objects if part.stage != "repaired json"], names),
            **fields,
        }
    for part in objects:
        if part.stage == "repaired json":
            # The end of a repaired object may be invented: its empty text says nothing.
            repaired = _flat(text, part, names)
            fields = {key: field for key, field in repaired.items() if field.text} | fields
    outside = _outside(text, [part.span for part in objects])
    if outside.strip():
        fields = {**read_lines(outside, names), **fields}
        if not ANY_QUESTION.search(outside):
            fields = {**read_sentences(outside, names), **fields}
    return fields


def _outside(text: str, objects: Sequence[tuple[int, int]]) -> str:
    start = text.find("{")
    if objects or (start >= 0 and '"' in text[start:]):
        start = min([start, *(span[0] for span in objects)]) if start >= 0 else objects[0][0]
        end = max([text.rfind("}") + 1, *(span[1] for span in objects)])
        end = end if end > start else len(text)
        text = text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]
    return text


def _flat(text: str, part: JsonPart, names: Names) -> dict[Key, Field]:
    """The fields of a JSON value; several texts of one field are joined by commas."""
    fields: dict[Key, Field] = {}
    place, end = part.span
    for keys, value in _leaves(part.value, ()):
        key = _field_key(" ".join(keys), names)
        if key is None or is_form(value):
            continue
        span = _place(text, keys[-1], value, place, end)
        place = span[1]
        before = fields.get(key)
        if before is not None:
            value, span = f"{before.text}, {value}", (before.span[0], span[1])
        fields[key] = Field(value, span, part.stage)
    return fields


def _field_key(path: str, names: Names) -> Key | None:
    """The field of a key; None if it names none, or pros or cons without a person."""
    kind, person = key_of(path, names)
    if kind in ("pros", "cons"):
        return None if person is None else Key(kind, person)
    return Key(kind, None) if kind else None


def _leaves(value: Any, keys: tuple[str, ...], depth: int = 0) -> Iterator[tuple[tuple[str, ...], str]]:
    """Every text of a JSON value with its keys; null and an empty list are an empty text."""
    if depth > _DEEPEST:
        return
    if isinstance(value, dict):
        naming = next((k for k, v in value.items() if str(k).lower() in _NAMING and isinstance(v, str)), None)
        person = naming is not None and len(value) > 1 and not key_of(" ".join(keys), ("", "")).kind
        if person:
            keys = (*keys, value[naming])
        for key, part in value.items():
            if str(key).lower().strip() not in _REASON and not (person and naming == key):
                yield from _leaves(part, (*keys, str(key)), depth + 1)
    elif isinstance(value, list):
        for part in value:
            yield from _leaves(part, keys, depth + 1) if isinstance(part, (dict, list)) else _text(part, keys)
        if not value:
            yield keys, ""
    else:
        yield from _text(value, keys)


def _text(value: Any, keys: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    if keys and (value is None or isinstance(value, str)):
        yield keys, value or ""


_QUOTED_KEY = re.compile(
    r"(?P<quote>[\"'])(?P<key>[^\"\n{}:]{1,100}?)(?P=quote)\s{0,4}:"
    r"|(?<=[{,\n])\s{0,12}(?P<bare>\w[\w.' ]{0,60}?)\s{0,4}:"
)
_END = re.compile(r"[\"'](?=\s{0,4}(?:,\s{0,40}(?:[\"'\n}/#]|$)|\n|[}\]]|//|/\*|#|$))")


def _quoted_keys(text: str, whole: list[tuple[int, int]], names: Names) -> dict[Key, Field]:
    keys = [
        (match, key)
        for match in _QUOTED_KEY.finditer(text)
        if not any(start <= match.start() < end for start, end in whole)
        and (key := _field_key(match["key"] or match["bare"], names)) is not None
    ]
    fields: dict[Key, Field] = {}
    twice: set[Key] = set()
    for place, (match, key) in enumerate(keys):
        end = keys[place + 1][0].start() if place + 1 < len(keys) else len(text)
        field = _quoted_value(text, match.end(), end)
        if field is None or is_form(field.text):
            continue
        if key in fields and fields[key].text != field.text:
            twice.add(key)
        fields[key] = field
    return {key: field for key, field in fields.items() if key not in twice}


def _quoted_value(text: str, start: int, end: int) -> Field | None:
    match = re.compile(r"\s*(?P<open>[\[{\"']?)").match(text, start, end)
    begin = match.end() if match else start
    opened = match["open"] if match else ""
    if not text[begin:end].strip() and not (opened and end < len(text)):
        return None
    if opened in ("[", "{"):
        close = text.find("]" if opened == "[" else "}", begin, end)
        inside = text[begin : close if close >= 0 else end]
        if opened == "{":
            first = re.search(r":\s*([\"'])(.*?)(?:\1|\Z)", inside, re.DOTALL)
            inside = first[2] if first else inside
        inside = re.sub(r"[\"']\s*,\s*[\"']", ", ", inside).strip(" \n\"',[{")
        if not inside and (opened == "{" or close != begin):
            return None
        return Field(inside, (begin, end), "quoted keys", close < 0)
    if opened:
        closing = next((m for m in _END.finditer(text, begin, end) if m[0] == opened), None)
        cut = closing is None and end == len(text)
        stop = closing.start() if closing else end
        if cut and not text[begin:stop].strip():
            return None
        return Field(text[begin:stop].strip(" \n,\"'}"), (begin, stop), "quoted keys", cut)
    stop = min(place for mark in ",\n}" if (place := text.find(mark, begin, end)) >= 0 or (place := end) >= 0)
    value = text[begin:stop].strip()
    if re.fullmatch(r"null|none|nan|undefined", value, re.IGNORECASE):
        value = ""
    elif re.fullmatch(r"true|false|[-\d.]+", value, re.IGNORECASE):
        return None
    return Field(value, (begin, stop), "quoted keys")
