"""How answers say that an occupation is not known or cannot be told."""

from __future__ import annotations

import re

UNKNOWN = re.compile(
    r"^[\s\"'(\[]*(?:unknown|n/?a\b|none\b|not (?:applicable|available|clear|specified|visible|known|sure|"
    r"identifiable|"
    r"determinable|provided|given|stated)|unclear|undetermined|undeterminable|indeterminate|unspecified|uncertain|"
    r"unanswerable|unidentifiable|unidentified|cannot|can't|could not|unable|unsure|no occupation|undefined|null|"
    r"impossible)"
)
NOT_CLEAR = re.compile(
    r"\b(?:occupation|profession|job|role|career)\b[^.!?\n]{0,80}\b(?:not|n't|un(?:known|clear|specified|certain|"
    r"determined|identifiable)|impossible|difficult|hard)\b|\b(?:not|n't|no)\b[^.!?\n]{0,80}\b(?:occupation|"
    r"profession|job|"
    r"role|career)\b|\bunanswerable\b|\bn/a\b|\bnot (?:clear|sure|certain)\b|\bno idea\b|"
    r"\b(?:difficult|hard|impossible|tough|tricky) to (?:say|tell|determine|know|identify|pinpoint|be)\b|"
    r"\bnot have the ability\b|\b(?:can ?not|can't) (?:really )?(?:tell|say|see|view)\b"
)
