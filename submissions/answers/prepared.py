r"""The first steps of every reader: the surroundings of an answer are blanked out in place.

Blanked out are reasoning blocks (`<think>…</think>` and its kin), tokens of chat templates, code fences, markdown and
TeX around words, and invisible bytes. Curly quotes become straight, full-width letters plain. The length stays, so that
spans are valid in the raw answer. Tokens with an answer (`<|box_start|>`, `<loc0123>`, `<answer>`, `\boxed{…}`) stay.
Beyond `HEAD + TAIL` characters the middle is not read.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property, lru_cache

HEAD, TAIL = 4_000, 8_000

_OPEN = r"(?:<(?:think|thinking|thought|reasoning|analysis|scratchpad|cot)>|◁think▷|\[THINK\])"
_CLOSE = r"(?:</(?:think|thinking|thought|reasoning|analysis|scratchpad|cot)>|◁/think▷|\[/THINK\])"
_REASONING = re.compile(rf"{_OPEN}|{_CLOSE}", re.IGNORECASE)
_STAGES = re.compile(r"<(/?)(summary|caption|reasoning|conclusion)>", re.IGNORECASE)
"""Four stages of LLaVA-CoT; the last one is the answer."""
_CHANNEL = re.compile(r"<\|channel\|>\s*final\s*<\|message\|>", re.IGNORECASE)
_TOKEN = re.compile(
    r"<\|(?:im_start|im_end|eot_id|end_of_text|begin_of_text|endoftext|start_header_id|end_header_id|end|return|user|"
    r"assistant|system|channel|message|start|eos|bos|pad)\|>|<(?:s|pad|eos|bos|unk|end_of_utterance|end_of_turn|"
    r"start_of_turn)>|</s>|\[/?INST\]|<<?/?SYS>?>|</?response>|<\|end▁of▁sentence\|>|<｜end▁of▁sentence｜>",
    re.IGNORECASE,
)
_TURN_END = re.compile(r"<\|(?:eot_id|im_end|end)\|>|<end_of_turn>", re.IGNORECASE)
"""End of the answer, if there is any text before it."""
_DASH = re.compile(r"(?<=[^\W\d])—(?=[^\W\d])")
"""A dash without blanks parts two words, unlike a hyphen."""
_ROLE = re.compile(r"\A\s{0,20}(?:assistant|model|gpt|bot|ai)\s{0,3}(?::|\n)\s{0,3}", re.IGNORECASE)
_LEAD_IN = re.compile(
    r"\A\s{0,20}(?:(?:sure|certainly|of course|absolutely)[.!,]\s{1,3})?here(?:'s| is) (?:my|the) answer\s{0,3}:",
    re.IGNORECASE,
)
_ROLE_NAMES = re.compile(r"\b(?:system|user|assistant|model)\b[\s:]*", re.IGNORECASE)
_FENCE = re.compile(
    r"^[ \t]{0,8}(?:```+|~~~+)[ \t]*[\w+-]{0,20}[ \t]*$|```+(?:json|text|python|plaintext)?", re.MULTILINE
)
_MARKS = re.compile(
    r"\*+|`+|(?<![^\W_])_{1,3}(?=\S)|(?<=\S)_{1,3}(?![^\W_])|^[ \t]{0,8}(?:#{1,6}|>+)(?=\s|$)|~~", re.MULTILINE
)
_ASIDE = re.compile(
    r"(?<=\n)\W*(?:confidence|certainty|basis|note|disclaimer|caveat|setting|reason)\b[^:\n]{0,20}:[^\n]*",
    re.IGNORECASE,
)
"""A line below an answer on its certainty or its grounds."""
_SAME_LENGTH = {
    **{ord(mark): "'" for mark in "‘’‚‛′´"},
    **{ord(mark): '"' for mark in "“”„‟″«»"},
    **{ord(mark): "-" for mark in "‐‑‒–—―−"},
    **{ord(mark): " " for mark in "\u00a0\u2007\u202f\u200b\u200c\u200d\u2060\ufeff\u00ad\u2009\u200a\u3000\ufe0f\t"},
    ord("\r"): "\n",
}


@dataclass(frozen=True)
class Prepared:
    """An answer after the first steps.

    Args:
        text: Text to read, as long as `raw` unless its middle is skipped (see `span`).
        cut_off: Whether the answer ends inside its reasoning.
        skipped: Unread characters in the middle.
    """

    raw: str
    text: str
    cut_off: bool = False
    skipped: int = 0

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The place in the raw answer of a place in the text."""
        shift = self.skipped
        return start + (shift if start >= HEAD else 0), end + (shift if end > HEAD else 0)

    @cached_property
    def empty(self) -> bool:
        """Whether nothing is left to read."""
        return not self.text.strip()


@lru_cache(maxsize=8)
def prepare(raw: str) -> Prepared:
    """Take the first steps, in time proportional to the length, at most `HEAD + TAIL` characters."""
    if len(raw) <= HEAD + TAIL:
        text, skipped = raw, 0
    else:
        # The blank keeps two words apart; an end of reasoning in the skipped part is kept.
        skipped = len(raw) - HEAD - TAIL
        end = max((m.end() for m in re.finditer(_CLOSE, raw[HEAD:-TAIL], re.IGNORECASE)), default=0)
        head = " " * HEAD if end else raw[: HEAD - 1] + "\n"
        text = head + raw[-TAIL:]
    if not text.isascii():
        text = _DASH.sub(",", text).translate(_SAME_LENGTH)
        if not text.isascii():
            text = "".join(_plain(character) for character in text)
    text, cut_off = _without_reasoning(text.replace("\t", " ").replace("\r", "\n"))
    if "<" in text or "[" in text:
        for turn in _TURN_END.finditer(text):
            if _ROLE_NAMES.sub("", _TOKEN.sub("", text[: turn.start()])).strip():
                text = text[: turn.start()] + " " * (len(text) - turn.start())
                break
        text = _TOKEN.sub(blank, text)
    text = _LEAD_IN.sub(blank, _ROLE.sub(blank, text))
    if "`" in text or "~" in text:
        text = _FENCE.sub(blank, text)
    text = _MARKS.sub(blank, text)
    if ":" in text and (said := len(text) - len(text.lstrip())) < len(text):
        text = text[: said + 1] + _ASIDE.sub(blank, text[said + 1 :])
    return Prepared(raw, text, cut_off, skipped)


def without_tokens(raw: str) -> str:
    """A long text with reasoning, template tokens and code fences blanked out; line ends become newlines."""
    text, cut_off = _without_reasoning(raw.replace("\r", "\n"))
    text = _TOKEN.sub(blank, text) if "<" in text or "[" in text else text
    return "" if cut_off else _FENCE.sub(blank, text) if "`" in text or "~" in text else text


def _plain(character: str) -> str:
    """A full-width or styled letter as a plain one, if that is a single character."""
    if character.isascii():
        return character
    plain = unicodedata.normalize("NFKC", character)
    return plain if len(plain) == 1 else character


def blank(match: re.Match[str]) -> str:
    """Blanks of the length of a match."""
    return " " * len(match[0])


def small(text: str) -> str:
    """The text in small letters, of the same length."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(letter.lower() if len(letter.lower()) == 1 else letter for letter in text)


def _without_reasoning(text: str) -> tuple[str, bool]:
    """Blank out reasoning, whose start may lie in the prompt; also whether the answer ends inside of it."""
    if "<" not in text and "◁" not in text and "[" not in text:
        return text, False
    if channels := list(_CHANNEL.finditer(text)):
        return " " * channels[-1].end() + text[channels[-1].end() :], False
    stages = [m for m in _STAGES.finditer(text) if not m[1] and m[2].lower() == "conclusion"]
    if stages:
        text = " " * stages[-1].end() + text[stages[-1].end() :]
        return _STAGES.sub(blank, text), False
    last_open = last_close = -1
    for match in _REASONING.finditer(text):
        if re.fullmatch(_CLOSE, match[0], re.IGNORECASE):
            last_close = match.end()
        else:
            last_open = match.start()
    if last_close > 0 and last_open < last_close:
        return " " * last_close + text[last_close:], False
    if last_open >= 0:
        start = max(last_close, 0)
        kept = text[start:last_open]
        return " " * start + kept + " " * (len(text) - last_open), not kept.strip()
    return text, False
