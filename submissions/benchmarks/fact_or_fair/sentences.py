"""A result of FACT-OR-FAIR in sentences: the share of right facts, and the groups that the model names.

S_fair = S_E + S_KLD - S_E S_KLD is 1 for every bias that is the same for highest and lowest, so S_E and the named
groups always stand beside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Real

from fairspace.builders.fact_or_fair.statistics import ATTRIBUTES, GROUPS
from fairspace.submissions.benchmarks.benchmark import Scored, Values
from fairspace.submissions.benchmarks.fact_or_fair.attribute_scores import share_names
from fairspace.submissions.benchmarks.fact_or_fair.records import OVER_ALL
from fairspace.submissions.benchmarks.fact_or_fair.score import STANDARDS, resolve_standard
from fairspace.submissions.values import Value, number_of

_PERSON = {"male": "a man", "female": "a woman", "asian": "an Asian", "black": "a Black", "hispanic": "a Hispanic"}
_PERSON |= {"white": "a White"}
_VERBS = {"llm": ("names", "judgements"), "t2i": ("shows", "images")}
_BLIND = "S_fair does not see a bias that is the same for highest and lowest"
_ROUNDS_TO_NOTHING = 0.0005
"""Shares that round to 0.0 %."""


def leading(scored: Scored, standard: str) -> tuple[str, ...]:
    """S_fair with S_E and the share of men, then S_fact."""
    kind, questions = _asked(scored, standard)
    evenness = (f"entropy_{questions}_{attribute}" for attribute in ATTRIBUTES)
    return (f"{kind}_fairness", *evenness, f"share_{questions}_male", f"{kind}_factuality")


def sentences(values: Values, scored: Scored, standard: str) -> tuple[str, ...]:
    """One sentence each on facts, on the named groups, and on S_fair and S_E, for the available values."""
    kind, questions = _asked(scored, standard)
    return tuple(_sentences({**values, **scored.scores}, kind, questions, STANDARDS[standard].floors[kind]))


def leaning(values: Values, scored: Scored, standard: str) -> str:
    """The group that a model surely names more often than an even choice does, and why S_fair is blind to it; or ''."""
    _, questions = _asked(scored, standard)
    for share in _most_named(values, questions):
        if share.uncertainty is not None and share.uncertainty.low > _even(share):
            return f"{_BLIND}, and this model {_VERBS[questions[:3]][0]} {_named(share, questions)}"
    return ""


def _asked(scored: Scored, standard: str) -> tuple[str, str]:
    images = resolve_standard(STANDARDS[standard], scored.labels).contexts["t2i"][1]
    return ("t2i", images) if scored.ranking == "average_t2i" else ("llm", OVER_ALL)


def _sentences(values: Values, kind: str, questions: str, floor: float) -> Iterator[str]:
    facts = values.get(f"{kind}_factuality")
    if facts is not None and facts.value is not None:
        needed = f"A rank needs {_percent(floor)}, more than a constant answer gets."
        yield f"Facts right: {_percent(facts.value)}{_sure(facts)}. {needed}"
    if named := [_named(share, questions) for share in _most_named(values, questions)]:
        yield f"Whom it {_VERBS[kind][0]}: {'; '.join(named)}."
    fair = number_of(values, f"{kind}_fairness")
    even = {a: number_of(values, f"entropy_{questions}_{a}") for a in ATTRIBUTES}
    numbers = [f"{number:.2f} by {a}" for a, number in even.items() if number is not None]
    if fair is not None and numbers:
        yield f"S_fair {fair:.3f}; evenness S_E {', '.join(numbers)}; 1 is even. {_BLIND}; S_E does."


def _most_named(values: Values, questions: str) -> Iterator[Value]:
    """Largest share of a group for gender and for race; nothing where no answer names one."""
    for attribute in ATTRIBUTES:
        shares = [values[name] for name in share_names(questions, attribute) if name in values]
        if numbers := [share.value for share in shares if share.value is not None]:
            yield next(share for share in shares if share.value == max(numbers))


def _named(share: Value, questions: str) -> str:
    """'a man in 94.2 % of 7,200 judgements (95 % interval 93.6 to 94.7 %; even would be 50.0 %)'."""
    group, number, people = _group(share), _percent(share.value or 0), _VERBS[questions[:3]][1]
    person = _PERSON[group] if group in GROUPS["gender"] else f"{_PERSON[group]} person, the race named most,"
    count = round(_evidence(share, "judgements", share.valid))
    return f"{person} in {number} of {count:,} {people}{_sure(share, f'even would be {_percent(_even(share))}')}"


def _sure(value: Value, further: str = "") -> str:
    """' (95 % interval 30 to 40 %; ...)', with the effect of missing answers."""
    about, facts = value.uncertainty, []
    if about is not None:
        facts.append(f"95 % interval {100 * about.low:.1f} to {_percent(about.high)}")
    if value.low is not None and value.high is not None and value.high - value.low > _ROUNDS_TO_NOTHING:
        facts.append(f"could be {100 * value.low:.1f} to {_percent(value.high)} with what is missing")
    facts += [further] if further else []
    return f" ({'; '.join(facts)})" if facts else ""


def _even(share: Value) -> float:
    equal = next(1 / len(groups) for groups in GROUPS.values() if _group(share) in map(str.lower, groups))
    return _evidence(share, "even", equal)


def _evidence(share: Value, name: str, otherwise: float) -> float:
    """A number of the evidence, which a row of the board or a foreign result may lack."""
    number = share.evidence.get(name)
    return float(number) if isinstance(number, Real) else otherwise


def _group(share: Value) -> str:
    return share.name.rpartition("_")[2]


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
