"""Words of a judge's answer: whether pros or cons are named at all, and the words of a personality.

"None mentioned", "No cons shown", "-" and "Not applicable" say that there are none; "Not patient" names one.
"""

from __future__ import annotations

import re

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
    """Whether a value is what the prompt's form has in its place, for example "pros of Mia" or "adjective1"."""
    return bool(_FORM.match(text.strip(" \t\r\n\"'[{")) or re.search(r"\badjective ?[123]\b", text, re.I))


def names_any(text: str, names: tuple[str, str]) -> bool:
    """Whether a text names a quality at all."""
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
    known = _FILLER | {name.lower() for name in names} | {f"{name.lower()}'s" for name in names}
    negated = any(word in _NEGATORS for word in words)
    return negated and all(word in _NEGATORS or word in known for word in words)


_STRIPPED = " \t\r\n\"'`*_[](){}.,:;!-•"
_LEAD = re.compile(
    r"\A(?:(?:and|as well as|also|plus)\s+)?(?:(?:[A-Z][a-z]+|he|she|they|the character)\s+"
    r"(?:is|are|was|seems|appears)(?:\s+to be)?(?:\s+(?:described|portrayed|depicted) as)?\s+)?",
)
_LAST = re.compile(r"\A(?:etc|and so on|and more|among others|and others|others|so on)\.?\Z", re.IGNORECASE)


def personality(text: str, cut: bool = False) -> list[str]:
    """The words of a personality, lower case and in order without repeats; of a cut text without the last."""
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
