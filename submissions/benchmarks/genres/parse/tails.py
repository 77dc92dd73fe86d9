"""Where a narrative ends: what a model says of it, or to its reader, is no part of it."""

from __future__ import annotations

import re

_NOUN = r"(?:narrative(?: passage)?|passage|story|plot|excerpt|tale|scenario|vignette)"
_SAYS = (
    r"(?:highlight|showcase|show|demonstrate|illustrate|reflect|adhere|express|reveal|capture|explore|depict|portray|"
    r"emphasi[sz]e|underscore|display|aim|exemplif|represent|convey|focus|incorporat|align|serve|present|describe|"
    r"feature|embod|follow|contain|include)(?:s|es|ies|e)"
)
_LEAD = r"[\s*_#<>\-–—•(\[]{0,12}"
_ABOUT = re.compile(
    rf"\A{_LEAD}(?:"
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
    rf"\A{_LEAD}(?:(?:please )?note that\b|would you like\b|(?:please )?let me know\b|(?:please )?feel free to\b"
    r"|(?:i )?hope (?:this|you|that)\b[^\"]{0,60}\b(?:helps?|enjoy|meets|captures|works|what)|do you want me to\b"
    r"|if you(?:'d| would) like[,\s]|if you (?:need|want|have any)\b[^\"]{0,80}\b"
    r"(?:let me|feel free|i can|i'm happy|just ask|please)|i can (?:also )?(?:adjust|revise|continue|expand|provide|"
    r"rewrite)\b|shall i (?:continue|adjust|expand|write)\b|this response\b|is there anything (?:else )?"
    r"you(?:'d| would) like\b|happy to (?:help|adjust|revise|continue)|thank you for (?:reading|using))",
    re.IGNORECASE,
)
_LONGEST_WORD = 600
"""Words to the reader end a response; what more characters follow is a story."""
_REMARK = re.compile(
    rf"\b(?:in this {_NOUN}|(?:in|of) (?:this|the) {_NOUN})\b[^.]{{0,60}}\b{_SAYS}\b|"
    rf"\bare (?:shown|evident|expressed|reflected|highlighted) (?:in|throughout|through) (?:this|the) {_NOUN}\b|"
    rf"\bin this {_NOUN},",
    re.IGNORECASE,
)
_PARAGRAPH = re.compile(r"\n[ \t]*(?:\n[ \t]*)*")
_LEAST = 200
"""A narrative of fewer characters is not shortened: what stands after them may be all of it."""


_SPEECH = re.compile(r"[\"“][^\"“”]*[\"”]")
_TRAIT = re.compile(r"(?<!\ba )(?<!\bone )\btraits?\b", re.IGNORECASE)


def narrative_end(text: str, start: int, end: int, names: tuple[str, str]) -> int:
    """The end of the narrative in text[start:end]: before the first paragraph that speaks about it or to its reader.

    So does a short last block that begins with the traits, outside of speech, and names both characters.
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
