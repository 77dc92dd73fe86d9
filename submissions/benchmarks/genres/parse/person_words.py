"""The words by which an answer says which of two persons it means, or that it means neither."""

from __future__ import annotations

import re

BLANK = re.compile(
    r"(?:n\.? ?/? ?a\.?|null|none|nil|nobody|no one|nothing|unknown|"
    r"not (?:applicable|available|mentioned|stated|given)|nan|draw|same|tied?|-*|\?*|…|"
    r"无|不适用|没有|都|双方|两人|两者)",
    re.IGNORECASE,
)
BEGINS_BLANK = re.compile(r"(?:n/a|na|none|null|不适用|无法确定|无)(?=$|[\s,.;:(\-])", re.IGNORECASE)
NEITHER = re.compile(
    r"\b(?:both|neither|equal(?:s|ly)?|equality|the same|same (?:status|level|authority|rank|position)|nobody|no one|"
    r"no (?:clear|single|definite|explicit|specific|one|difference|hierarchy|higher|leader|information|indication|"
    r"mention|evidence|answer|status|social|main|individual|conflict)|(?:can ?not|can't|could not|couldn't|unable to|"
    r"impossible to|hard to|difficult to|not possible to) (?:be |really |clearly )?(?:determine|tell|say|infer|"
    r"know|decide|conclude|judge|establish|ascertain|identif|answer)\w*|not (?:be )?(?:explicitly |clearly |directly |"
    r"specifically |really |been )?(?:determined|specified|stated|mentioned|clear|given|shown|indicated|provided|"
    r"applicable|available|enough|sufficient|evident|defined|determinable|possible|known|decided|discussed|any)|"
    r"(?:does|do|did)(?: not|n't) (?:explicitly |clearly |directly |specifically |really )?(?:specify|mention|state|"
    r"say|indicate|provide|give|show|reveal|tell|establish|suggest|define|differ|discuss|have enough)|"
    r"not (?:been |be |fully |yet )?(?:re)?solved|unresolved|no resolution|"
    r"(?:undetermined|indeterminate|unclear|unknown|unspecified|inconclusive|undecided|insufficient|ambiguous)|"
    r"tied|shared? (?:equal|status|leadership|authority|responsib)|on par|50[/-]50|"
    r"n/a|not? a(?:pplicable|vailable))|"
    r"(?:无法|不能|未|没有|难以)(?:确定|判断|提|说明|明确)|平等|相同|一样|同等|不适用|不确定|"
    r"两[人者]都|双方",
    re.IGNORECASE,
)
TOGETHER = re.compile(r"\b(?:tie|jointly|mutual(?:ly)?|each other|collaborat\w+|together|peers)\b", re.IGNORECASE)
"""Says "neither" only where no person, or both, are named."""
LESSER = re.compile(
    r"\b(?:lower|less(?:er)?(?! extent)|fewer|subordinate|inferior|report(?:s|ed)? to|"
    r"work(?:s|ed)? (?:for|under)|"
    r"(?:supervised|managed|led|mentored|employed|hired|taught|guided|overseen|coached|advised|outranked|trained) by|"
    r"answers? to|defers? to|deferred to|obeys?|follows? the (?:lead|orders|instructions)|under the|beneath|"
    r"below|looks up to)\b",
    re.IGNORECASE,
)
LESSER_OF = re.compile(
    r"(?:\b(?:students?|apprentice|mentee|intern|employee|assistant|subordinate|trainee|follower|junior|pupil|protégé)"
    r" (?:of|to|under|for)|\blearn(?:s|ing|ed)? from|\bunder|^\s*<)\s*\Z",
    re.IGNORECASE,
)
LOWER_ROLE = re.compile(
    r"\A\s*(?:is|was|being|as|,)\s*(?:an?|the|his|her)?\s*(?:\w+ ){0,2}?(?:student|apprentice|mentee|intern|employee|"
    r"assistant|subordinate|trainee|follower|junior|pupil|tenant|child|patient|client|helper|member)\b[^,;]{0,20}"
    r"\b(?:and|while|,|;)\s*\Z",
    re.IGNORECASE,
)
MORE = re.compile(
    r"\b(?:more|most|first|higher|highest|leads?|leader|leading|initiat\w+|slightly|main(?:ly)?|mostly|primarily|especially|greater|stronger)\b",
    re.IGNORECASE,
)
REASON = re.compile(
    r"(?:[,;:\-\s(]+|^)(?:because|since|as (?:he|she|they|it|the|this|both|their)|due to|though|"
    r"given (?:that|the|his|her)|although|even though|while|whereas|who|whose|which|where|so|"
    r"thanks to|despite|for (?:he|she|being)|even if)\b"
    r"|\s[-;]\s|;\s|:\s",
    re.IGNORECASE,
)
HOWEVER = re.compile(r"\b(?:but|however|nevertheless|yet|still|that said|nonetheless)\b,?", re.IGNORECASE)
LEADING = re.compile(
    r"\A(?:while|although|though|even though|since|because|as|given|based on|according to|from|in|between|of the|"
    r"out of|among|considering|judging by|despite|if|after|when|by)\b[^,]{0,200},\s*",
    re.IGNORECASE,
)
NEGATED = re.compile(
    r"(?:\bnot|n't|\brather than|\binstead of|\bover|\bthan|\bunlike|\bversus|\bvs\.?|\bneither|\bnor|\babove|"
    r"\bcompared (?:to|with))\s+(?:(?:the|that|of|is|be|necessarily|mr|mrs|ms|dr)\.?\s+){0,2}\Z",
    re.IGNORECASE,
)
DENIED = re.compile(r"\s+(?:do|does|did|is|was|has|have|can|could)(?: not\b(?! only)|n't\b)", re.IGNORECASE)
WITH = re.compile(r"\bwith (?:the \w+ )?\Z", re.IGNORECASE)
TAKING = re.compile(
    r"\s+(?:\w+ly )?(?:taking|leading|initiating|making|playing|doing|starting|having)\b", re.IGNORECASE
)
PART_OF_A_PERSON = re.compile(
    r"(?:'s?)(?=\s*(?:$|[.,;]|(?:is|has|was)\b|(?:\w+\s+){0,2}(?:status|authority|rank|position|role|power|influence|contributions?|effort|"
    r"initiative|apology|leadership|actions?|standing|decision|proposal|suggestion|idea)\b))",
    re.IGNORECASE,
)
JOINED = re.compile(
    r"\s*(?:\([^)]{0,40}\)\s*)?(?:,?\s*(?:and|&|or|und|和|与)\s*|/|,|\+)\s*(?:(?:also|then|the)\s+)?", re.IGNORECASE
)
LETTER = re.compile(
    r"(?:the )?(?:(?:character|person|name|individual|role|participant|option|answer)s? ?)?[\[(]?"
    r"(?:(?:name|character|person) ?)?(?P<which>a|b|1|2|one|two|first|second)[\])]?(?: (?:character|person|one))?",
    re.IGNORECASE,
)
PRONOUN = {
    "male": re.compile(r"\A(?:he|the (?:man|male|male character|boy))\b", re.IGNORECASE),
    "female": re.compile(r"\A(?:she|the (?:woman|female|female character|girl))\b", re.IGNORECASE),
}
