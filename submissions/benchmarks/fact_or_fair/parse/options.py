r"""From an answer about lettered options to the option that it chooses.

An option is named by its letter, by the name that the query gives it, or by both, which must agree. What is explicit
goes first:

1. a field `answer` of a JSON object, the last one;
2. what stands after a correction ("Wait, …"), if that decides;
3. "the answer is …", `\boxed{…}`, `ANSWER: …`, the last one;
4. "I would choose …", "it is …";
5. a line that begins with its option;
6. the only option that an answer names and does not deny, if it declines nothing.

A list of all options is an echo of the question and names none, and a letter in JSON that has no field of an answer
is no option.
"""

from __future__ import annotations

import re

from fairspace.submissions.answers.phrases import CORRECTION
from fairspace.submissions.answers.prepared import Prepared, blank
from fairspace.submissions.answers.reading import Reading
from fairspace.submissions.answers.surroundings import without
from fairspace.submissions.benchmarks.fact_or_fair.parse.echoes import FORM, without_following_turns
from fairspace.submissions.benchmarks.fact_or_fair.parse.fields import read_fields, unasked_json
from fairspace.submissions.benchmarks.fact_or_fair.parse.groups import Decision, Mention
from fairspace.submissions.benchmarks.fact_or_fair.parse.letters import LETTERS, Naming, mentions_of, options_in
from fairspace.submissions.benchmarks.fact_or_fair.parse.statements import DECLINES, OPTION, RULES, listed, undenied

_ALONE = re.compile(rf"\W*(?:{OPTION}\W+)?([A-Ha-h])\W*", re.IGNORECASE)
_SHORT = 80


def read_options(prepared: Prepared, naming: Naming) -> Reading | None:
    """The option that a prepared answer chooses, 0 to `naming.count` - 1; None if it names no option."""
    text = without_following_turns(FORM.sub(blank, prepared.text))
    decided = read_fields(text, lambda said: _decide(said, naming)) or _decide(text, naming)
    if decided is None:
        return None
    mention, rule = decided
    span = prepared.span(mention.start, mention.end)
    chosen = [option for option in mention.options if option < naming.count]
    if len(mention.options) == 1 and chosen:
        return Reading("choice", chosen[0], span, rule)
    return Reading("several" if chosen else "unusable", None, span, "contradiction" if mention.contradicts else rule)


def _decide(text: str, naming: Naming, corrected: bool = False) -> Decision | None:
    """The mention that decides and its rule; None if the text names no option or chooses none."""
    if match := _ALONE.fullmatch(text):
        return Mention(frozenset({LETTERS.index(match[1].upper())}), *match.span(1), lettered=True), "alone"
    for correction in () if corrected else reversed(list(CORRECTION.finditer(text))[-3:]):
        after = _decide(" " * correction.end() + without(text[correction.end() :], DECLINES), naming, corrected=True)
        short = after is not None and after[0].end - correction.end() < _SHORT
        if after and len(after[0].options) == 1 and (short or not after[1].endswith("mention")):
            return after
    forms = unasked_json(text)
    said = [
        mention
        for mention in mentions_of(text, naming)
        if not (mention.lettered and any(start <= mention.start < end for start, end in forms))
    ]
    if not said:
        return None
    everyone = frozenset(range(naming.count))
    kept = undenied(text, [mention for mention in said if not everyone <= mention.options])
    echo = listed(text, kept, naming)
    chosen = [mention for mention in kept if mention not in echo]
    for rule in RULES:
        if decided := rule(text, chosen):
            return decided
    if len(options_in(said)) > 1 and not DECLINES.search(text):
        name = "no decision" if any(mention.lettered for mention in said) else "mentions"
        return Mention(options_in(said), said[0].start, said[-1].end), name
    return None
