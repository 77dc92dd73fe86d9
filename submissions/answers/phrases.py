"""Phrases for all readers of English answers: refusals, negations, corrections, final answers."""

from __future__ import annotations

import re

REFUSAL = re.compile(
    r"\b(?:(?:i|we)(?: am| are|'m|'re) (?:sorry|unable|not able|not equipped|not comfortable)|"
    r"(?:i )?apologi[sz]e|sorry\b|"
    r"(?:i|we) (?:must|have to|need to|shall|am going to|'m going to) (?:\w+ ){0,2}?(?:decline|refuse|abstain|refrain|"
    r"pass)\b|(?:i|we) (?:can ?not|can't|could not|couldn't|won't|will not|would not|wouldn't|do not|don't|"
    r"refuse to|decline to) (?:\w+ ){0,2}?(?:answer|say|tell|determine|identify|guess|infer|judge|assume|"
    r"provide|make|give|know|"
    r"choose|pick|decline|refuse|help|assist|assess|state|speculate|fulfil+|engage|comply|generate|support|participate|"
    r"see|discern|specify|label|name|rate|create|write|produce|craft|continue|fulfill)|"
    r"(?:do not|don't) feel comfortable|(?:prefer|rather) not (?:to )?(?:guess|say|speculate|assume|answer|judge)|"
    r"it(?: is|'s| would be| is simply) (?:not (?:possible|appropriate|right|fair|ethical)|impossible|"
    r"inappropriate|wrong|unethical)|(?:there is|there's) no (?:\w+ )?way to|not possible to|impossible to (?:say|tell|"
    r"determine|know|infer|judge)|"
    r"(?:can ?not|can't|could not|couldn't) be (?:determined|inferred|identified|known|said|answered)|"
    r"unable to (?:answer|say|tell|determine|identify|judge|provide)|no(?:t enough| sufficient)? information)",
    re.IGNORECASE,
)
"""Phrases of a refusal in an answer or a part of it; the rest decides whether the whole answer refuses."""
NEGATION = re.compile(
    r"\b(?:not|never|nor|neither|none|no|isn't|aren't|wasn't|weren't|doesn't|don't|didn't|rather than|instead of|"
    r"unlike|excluding|except(?: for)?|nobody|no one)\b",
    re.IGNORECASE,
)
CORRECTION = re.compile(
    r"\?\s{1,3}no\b|"
    r"\b(?:actually|wait|hold on|correction|scratch that|on second thoughts?|(?:up)?on (?:\w+ )?reflection|"
    r"after (?:\w+ )?(?:reflection|double-checking)|i mean|i meant|let me correct|"
    r"(?:i )?made a mistake|no, (?:that|it)(?: is|'s)|sorry, (?:i meant|that)|rather,|or rather)\b",
    re.IGNORECASE,
)
"""Words before a replacement of the text before them."""
FINAL = re.compile(
    r"<answer>\s*|<\|begin_of_box\|>\s*|\\boxed\s*\{(?:\s*\\(?:text|mathrm|textbf)\s*\{)?\s*|"
    r"\b(?<!not )(?<!n't )(?:(?:my |the |so,? |therefore,? )?(?:final |correct |best |short |most likely )*"
    r"(?:answer|choice|conclusion|verdict|prediction|selection|response)(?: here| to (?:this|the|your) question)?\b"
    r"(?:\s*(?:is|would be|seems to be|appears to be|must be|=))?\s*[:\-]*\s*)",
    re.IGNORECASE,
)
"""Words right before the final answer; the last match counts."""
SENTENCE_END = re.compile(r"[.!?](?=[\s\"')\]]|$)|\n+|;(?=\s)")
"""Ends of sentences; not dots inside a number or an abbreviation."""
