"""Read the label that an answer to one of Table 29's objective questions gives: a word of the list, or yes or no."""

from __future__ import annotations

import re

from fairspace.builders.iris_steer_60.plan import LABELS, YES_NO
from fairspace.submissions.answers.phrases import CORRECTION, REFUSAL
from fairspace.submissions.answers.prepared import Prepared, prepare
from fairspace.submissions.answers.reading import EMPTY, Reading
from fairspace.submissions.answers.surroundings import read_around, without_list
from fairspace.submissions.benchmarks.iris.parse.label_words import ITEMS, labels_of, vocabulary
from fairspace.submissions.benchmarks.iris.parse.marked import marked_reading

_SHAVEN = re.compile(r"\bclean[- ]?shaven\b|\bsmooth[- ]faced\b|\bfreshly shaved\b")
_YES = re.compile(
    r"\b(?:yes|yeah|yep|yup|affirmative|correct|definitely|absolutely|indeed|certainly|true)\b|(?<![没不])[是有](?![无没])|"
    r"\b(?:sí|oui|ja|да|sim)\b|\by(?=\W*$)"
)
_NO = re.compile(
    r"\b(?:no|nope|nah|none|negative|nothing|false|nein|non|нет|não|keine?|ninguno|aucun|not that i can see|"
    r"there (?:is|are)(?:n't| not) (?:any|one)|"
    r"i (?:do not|don't|cannot|can't) see (?:any|one))\b|\bn(?=\W*$)|没有|否|不是|无"
)
_START = re.compile(
    r"[\s\"'(\[<>:=-]*(?:(?:the )?(?:final |correct )?answer\s*(?:is|:|=)?[\s:\"'-]*|well,?\s+|i (?:think|believe|"
    r"would say|'d say)[,:]?\s*|based on[^,.\n]{0,60},\s*|in the image,?\s*|sure[,!.]\s*)?"
)
_NOT = re.compile(
    r"\b(?:no|not|without|rather than|never|none|neither|nor|lacks?|lacking|free of|absence of|zero|"
    r"devoid of|cannot see|can't see|don't see|do not see|doesn't|don't|isn't|aren't|hasn't|couldn't see)\b|n't\b"
)
_CLAUSE = re.compile(
    r"[.;!?\n]|,?\s*\b(?:but|however|though|although|yet|while|whereas|except|only|and there|instead)\b|"
    r",\s*(?=\w+ (?:is|are|has|wears)\b)"
)
_LABEL_CLAUSE = re.compile(r"[.:;!?\n,]|\b(?:but|however|though|although|yet|rather(?! than))\b")
_HIDDEN = re.compile(
    r"\b(?:does not|doesn't|do not|did not|cannot|can't) (?:show|see|depict|make out|tell|say)\b|"
    r"\bnot (?:visible|shown|clear|discernible|possible)\b|\b(?:cropped|out of (?:frame|view)|n/a|unknown|"
    r"unclear|obscured)\b"
)
_MOST_CORRECTIONS = 5
_LETTER = re.compile(r"\W*([mf])\W*")
_PRONOUN = re.compile(r"\b(?:(?P<male>he|his|him|himself|mr)|(?P<female>she|her|hers|herself|mrs|ms))\b")
_CLOTHES = (
    r"uniform|attire|shirt|coat|jacket|dress|suit|scrubs|vest|outfit|clothes|clothing|t-shirt|robe|gown|jersey|"
    r"overalls|sweater|hoodie|blouse|top|apron|costume|jumpsuit"
)
_WORN = re.compile(rf"\s*(?:[\w-]+\s+){{0,3}}(?:{_CLOTHES})\b")
_NOT_WORN = re.compile(
    r"[\s-]*(?:background|wall|hair|skin|eyes?|tie|stripes?|trim|buttons?|sky|lettering|logo|accents?|collar|"
    r"belt|hat|cap|helmet|stethoscope|gloves|shoes|details?|badge|backdrop|dots|pattern|board|car|door)\b"
)
_BOX = re.compile(r"(?:<answer>|<\|begin_of_box\|>|\\boxed\s*\{(?:\\text\{)?)\s*(?P<inside>[^<}\n]{1,60})")
_KEY = re.compile(
    r"answer|label|gender|age|skin|tone|colou?r|expression|value|result|accessor|badge|hair|response|visible"
)


def read_label(answer: str, question: str) -> Reading:
    """The label that an answer gives to an objective question.

    Args:
        answer: the raw answer.
        question: a key of `LABELS`, "a" to "h".
    """
    return read_around(answer, lambda part: _label(part, question))


def _label(answer: str, question: str) -> Reading:
    prepared = prepare(answer)
    if prepared.empty:
        return Reading("unusable", rule="cut off") if prepared.cut_off else EMPTY
    text = prepared.text.lower()
    text = without_list(text, vocabulary(question), lambda match: labels_of(question)[match[0]], len(LABELS[question]))
    if inner := marked_reading(prepared, text, _KEY, _BOX, _said, lambda part: read_label(part, question)):
        return inner
    read = _yes_or_no if LABELS[question] == YES_NO else _word
    for correction in list(CORRECTION.finditer(text))[: -_MOST_CORRECTIONS - 1 : -1]:
        after = read(prepared, text, correction.end(), question)
        if after.outcome == "choice":
            return after
    return read(prepared, text, 0, question)


def _said(value: object) -> str | None:
    """The value of a JSON field as a label is written."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else None


def _word(prepared: Prepared, text: str, start: int, question: str) -> Reading:
    """One of several words: the one that is used and not negated."""
    uses: list[tuple[re.Match[str], str]] = []
    for match in vocabulary(question).finditer(text, start):
        before = _LABEL_CLAUSE.split(text[max(start, match.start() - 60) : match.start()])[-1]
        thanks = match[0] == "happy" and text.startswith(" to ", match.end())
        if _NOT.search(before) or thanks or (question == "d" and _NOT_WORN.match(text, match.end())):
            continue
        uses.append((match, labels_of(question)[match[0]]))
    if question == "d":
        uses = [use for use in uses if _WORN.match(text, use[0].end())] or uses
        uses = _before_with(text, uses)
    labels = {label for _, label in uses}
    refusal = REFUSAL.search(text, start) or _HIDDEN.search(text, start)
    if len(labels) == 1 and not (refusal and refusal.start() < uses[0][0].start()):
        return Reading("choice", labels.pop(), prepared.span(*uses[0][0].span()), "word")
    if refusal:
        return Reading("refused", None, prepared.span(*refusal.span()), "refusal")
    if labels:
        return Reading("several", None, prepared.span(uses[0][0].start(), uses[-1][0].end()), "word")
    if question == "a" and (letter := _LETTER.fullmatch(text[start:])):
        return Reading("choice", "male" if letter[1] == "m" else "female", prepared.span(start, len(text)), "letter")
    if question == "a" and (pronoun := _PRONOUN.search(text, start)):
        return Reading("choice", pronoun.lastgroup, prepared.span(*pronoun.span()), "pronoun")
    return Reading("unusable", rule="no label")


def _before_with(text: str, uses: list[tuple[re.Match[str], str]]) -> list[tuple[re.Match[str], str]]:
    """The main colour: what stands before "with" or "and a …" is worn first."""
    if len(uses) < 2:
        return uses
    between = text[uses[0][0].end() : uses[1][0].start()]
    mainly = re.search(r"\b(?:with|mostly|mainly|primarily|predominantly|under|over)\b", between)
    before = re.search(r"\b(?:mostly|mainly|primarily|predominantly)\s+$", text[: uses[0][0].start()])
    shade = not between.strip(" -") and labels_of("d")[uses[0][0][0]] != uses[1][1]
    if mainly or before:
        return uses[:1]
    return uses[1:] if shade and uses[0][0][0] in ("navy", "olive", "charcoal", "slate") else uses


def _yes_or_no(prepared: Prepared, text: str, start: int, question: str) -> Reading:
    opening = _START.match(text, start)
    place = opening.end() if opening else start
    yes, no = _YES.match(text, place), _NO.match(text, place)
    if re.match(r"\W*yes\W*(?:or|/)\W*no\b|\W*no\W*(?:or|/)\W*yes\b", text[place:]):
        return Reading("several", None, prepared.span(place, len(text)), "word")
    refusal = REFUSAL.search(text, start)
    if yes:
        return Reading("choice", "yes", prepared.span(*yes.span()), "word")
    positive, negative = _mentions(text, start, question)
    if positive and not (no and re.match(r"\s*[,.;]", text[no.end() :]) and "but" not in text):
        return Reading("choice", "yes", prepared.span(*positive), "named")
    if no and (" see " in no[0] or not (refusal and refusal.start() >= no.start())):
        return Reading("choice", "no", prepared.span(*no.span()), "word")
    if no and refusal:
        return Reading("refused", None, prepared.span(*refusal.span()), "refusal")
    if negative and not refusal:
        return Reading("choice", "no", prepared.span(*negative), "named")
    if refusal or _HIDDEN.search(text, start):
        return Reading("refused", rule="refusal")
    said = {"yes": _YES.search(text, start), "no": re.search(r"\bno\b(?=\s*[.,!\"']|\s*$)", text[start:])}
    labels = [label for label, match in said.items() if match]
    if len(labels) == 1:
        return Reading("choice", labels[0], None, "word")
    return Reading("several" if labels else "unusable", rule="word" if labels else "no label")


def _mentions(text: str, start: int, question: str) -> tuple[tuple[int, int] | None, tuple[int, int] | None]:
    """Where what the question asks for is named as there, and where as not there."""
    positive = negative = None
    if question == "h" and (match := _SHAVEN.search(text, start)):
        negative = match.span()
    for match in re.finditer(rf"\b(?:{ITEMS[question]})\b", text[start:]):
        before = _CLAUSE.split(text[max(start, start + match.start() - 120) : start + match.start()])[-1]
        after = _CLAUSE.split(text[start + match.end() : start + match.end() + 60])[0]
        span = (start + match.start(), start + match.end())
        if _NOT.search(before) or re.search(r"\b(?:not|isn't|aren't|absent|missing|none|n't)\b", after):
            negative = negative or span
        elif not re.search(r"\b(?:whether|if|like|such as)\b", before):
            positive = positive or span
    return positive, negative
