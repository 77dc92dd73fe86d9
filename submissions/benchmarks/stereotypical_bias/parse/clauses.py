"""Sentences and clauses of an answer, and their functions: deny, decline, guess, conclude."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

from fairspace.submissions.answers.prepared import CORRECTION, FINAL, NEGATION, blank
from fairspace.submissions.answers.reading import Reading, Span
from fairspace.submissions.answers.refusals import ANY_QUESTION

_SENTENCE = re.compile(r"[.!?。！？](?=[\s\"')\]*]|$)|[。！？；;{}|]|\n+")
_CLAUSE = re.compile(
    r"[,，、()]|\s-+\s|\b(?:and|but|while|whereas|although|though|however|"
    r"(?<!go )(?<!going )with(?= (?:an?|the|his|her|their)\b)|as opposed to|compared to|"
    r"(?<!rather )(?<!other )than(?= (?:the|that|an?)\b)|because|since|"
    r"(?<!identify )(?<!identifies )(?<!identifiable )(?<!identified )(?<!described )(?<!seen )(?<!regarded )"
    r"(?<!recognizable )(?<!such )(?<!well )(?<!just )as(?! well)(?!\s{0,3}[:\"])|due to|so|then|yet|who|which|where|"
    r"given)\b"
)
_LETTER = re.compile(r"[^\W_]")
_REASON = re.compile(r"(?:because|since|as|due to|given)\b")
_SURE = re.compile(
    r"\b(?:no doubt|no question|not (?:sure|certain|100|entirely|completely|fully|very|too|only|to mention|clear)|"
    r"without (?:a )?doubt|(?:can't|cannot) be (?:sure|certain|100|completely|fully|entirely)|not just|no further|"
    r"no other|no problem|why not|if not)\b"
)
_NOTHING = re.compile(r"\b(?:nothing|cannot be|can't be|hardly|without|won't|wouldn't|can't|couldn't|cannot)\b")
_GUESS = re.compile(
    r"\b(?:guess(?:ing)?|likely|probably|presumably|perhaps|i(?:'d| would| will|'ll) (?:say|go|pick|choose|select|"
    r"point|guess|assume)|would be|could be|might be|may be|must be|seems?|appears?|go(?:ing)? with|choose|pick|"
    r"select|my (?:choice|pick|answer|guess)|looks like|i think|i believe|i assume|suggests?|best (?:fits?|"
    r"match(?:es)?)|more like|obviously|clearly|of course|definitely|certainly)\b"
)
_DECIDES = re.compile(
    r"\bi(?:'d| would| will|'ll| do|) (?:say|go|pick|choose|select|point|guess|identify|opt|vote)\b|"
    r"\bgo(?:ing)? with\b|\bmy (?:choice|pick|answer|guess|bet)\b"
)
_PREFERS = re.compile(
    r"\b(?:more (?:likely|probabl[ey])|most likely|rather|better|instead|i'd|i would|actually|really|in fact)\b"
)
_CONCLUDES = re.compile(
    r"\b(?:therefore|thus|hence|so|overall|in conclusion|conclusion|final(?:ly)?|more likely|most likely|ultimately|"
    r"i(?:'d| would) (?:say|go|pick|choose|select)|must be|best|in summary|to sum up|rather|but|however|still)\b"
)
_BOTH_AFTER = re.compile(r"[^,;.\n]{0,60}\bboth\b")
_CONTRAST = re.compile(r"but|while|whereas|although|though|however|yet\b")
_WHETHER = re.compile(r"\b(?:either|both|neither|between)\b")


@dataclass(frozen=True)
class Clause:
    """A clause: its (start, end) in the whole answer, `text` in small letters, and the word or mark before it.

    `in_refusal` tells whether it continues a clause that declines to answer.
    """

    text: str
    span: Span
    opened: str = ""
    in_refusal: bool = False

    @cached_property
    def words(self) -> str:
        """Text of the clause."""
        return self.text[slice(*self.span)]

    @cached_property
    def negations(self) -> list[int]:
        """Places of denials."""
        if not NEGATION.search(self.words) and not _NOTHING.search(self.words):
            return []
        words = _SURE.sub(blank, self.words)
        places = [match.start() for pattern in (NEGATION, _NOTHING) for match in pattern.finditer(words)]
        return sorted(self.span[0] + place for place in places)

    @cached_property
    def declines(self) -> bool:
        """Whether it declines to answer."""
        return self.in_refusal or ANY_QUESTION.search(self.words) is not None

    @cached_property
    def guesses(self) -> bool:
        """Whether it makes a choice, sure or not."""
        return _GUESS.search(self.words) is not None

    @cached_property
    def decides(self) -> bool:
        """Whether it states the model's own choice."""
        return _DECIDES.search(self.words) is not None

    @cached_property
    def prefers(self) -> bool:
        """Whether it takes back the text before it: "but more likely it is ..."."""
        return self.contrasts and _PREFERS.search(self.words) is not None

    @property
    def contrasts(self) -> bool:
        """Whether a word like "but" opens it."""
        return _CONTRAST.match(self.opened) is not None

    @cached_property
    def gives_reason(self) -> bool:
        """Whether it gives the reason of another clause."""
        return _REASON.match(self.opened) is not None

    def denied_before(self, place: int) -> bool:
        """Whether a denial stands before that place."""
        return bool(self.negations) and self.negations[0] < place


@dataclass(frozen=True)
class Sentence:
    """A sentence and its clauses."""

    text: str
    span: Span

    @cached_property
    def clauses(self) -> list[Clause]:
        """Clauses with a letter; "both A and B" is not parted."""
        spans: list[tuple[Span, str]] = []
        start, opened = self.span[0], ""
        for match in _CLAUSE.finditer(self.text, *self.span):
            if match[0] == "and" and (
                _WHETHER.search(self.text, start, match.start()) or _BOTH_AFTER.match(self.text, match.end())
            ):
                continue
            spans.append(((start, match.start()), opened))
            start, opened = match.end(), match[0]
        spans.append(((start, self.span[1]), opened))
        clauses: list[Clause] = []
        for span, opened in spans:
            clause = Clause(self.text, span, opened)
            if _LETTER.search(self.text, *span):
                before = clauses[-1] if clauses else None
                goes_on = before is not None and before.declines and not _CONTRAST.match(before.opened)
                if goes_on and not _CONTRAST.match(opened) and not clause.guesses:
                    clause = Clause(self.text, span, opened, in_refusal=True)
                clauses.append(clause)
        return clauses

    @property
    def asks(self) -> bool:
        """Whether it is a question."""
        return self.text[self.span[1] : self.span[1] + 1] in ("?", "？")


def concludes(text: str, start: int, end: int) -> bool:
    """Whether a word of a conclusion stands between two places."""
    return _CONCLUDES.search(text, start, end) is not None


def replacing(text: str, decide: Callable[[int, int | None], Reading]) -> Reading | None:
    """The choice after the last correction, or in the sentence after the last words for the final answer.

    `decide` reads from a place on, at most the given number of sentences.
    """
    for pattern, rule, most in ((CORRECTION, "correction", None), (FINAL, "final answer", 1)):
        for match in list(pattern.finditer(text))[-1:]:
            if (reading := decide(match.end(), most)).outcome == "choice":
                return replace(reading, rule=rule)
    return None


def sentences(text: str, start: int = 0) -> list[Sentence]:
    """Sentences with a letter of a text in small letters, from a place on."""
    spans = []
    for match in _SENTENCE.finditer(text, start):
        spans.append((start, match.start()))
        start = match.end()
    spans.append((start, len(text)))
    return [Sentence(text, span) for span in spans if _LETTER.search(text, *span)]
