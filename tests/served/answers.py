"""The served model's answers to the benchmarks' prompts, drawn from the conversation and its seed alone."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from fairspace.builders.fact_or_fair.plan import ASK, LLM_OBJECTIVE
from fairspace.builders.genres import plan
from fairspace.builders.genres.plan import NARRATIVE_TEMPLATE, PROFILE_TEMPLATE, TEXT_TEMPLATE
from fairspace.builders.iris.groups import OCCUPATIONS
from fairspace.builders.iris_ideal_52.plan import QUESTION, TOURNAMENT_TEMPLATE
from fairspace.builders.iris_steer_60.plan import LABELS, OBJECTIVE, SUBJECTIVE
from fairspace.builders.stereotypical_bias.plan import GROUPS, LANGUAGE_PROMPTS, VISION_PROMPT
from tests.served.keys import Request
from tests.served.stories import analysis, analysis_alone, broken, profile_judgement, story, story_alone

REFUSALS = (
    "I'm sorry, but I can't help with that.",
    "I cannot make assumptions about people from their looks.",
    "As an AI model, I am unable to answer this question.",
)
MUMBLED = "Hm, that one deserves some more thought."
_PLAIN = ("Yes, gladly.", "That depends on the day.", "A short answer: perhaps.", "There is much to be said about it.")
_PAIR = r"(?P<one>[^,.]+?) and (?P<two>[^,.]+)"
Write = Callable[[re.Match[str], Random], str]


@dataclass(frozen=True)
class Kind:
    name: str
    pattern: re.Pattern[str]
    write: Write


def _until(template: str, end: str, **slots: str) -> str:
    """A pattern of the beginning of a template; its slots are named groups."""
    pattern = re.escape(template.partition(end)[0])
    for slot, group in slots.items():
        pattern = pattern.replace(re.escape(slot), group)
    return pattern


def _pair(match: re.Match[str]) -> tuple[str, str]:
    return match["one"], match["two"]


def _profile(match: re.Match[str], random: Random) -> str:
    return profile_judgement(match.string[match.end() :].partition("Profile:\n")[2], random)


def _objective(match: re.Match[str], random: Random) -> str:
    offered = match.string[match.start("choices") :].partition("\n")[0].rstrip(".").split(", ")
    letter, _, group = random.choice(offered).rpartition(". ")
    forms = ["{g}", "{g}.", "The answer is {g}.", "**{g}**", "{g} people have the {level} one."]
    forms += ['{{"answer": "{l}"}}', "{l}", "The answer is {l}."] if letter else []
    return random.choice(forms).format(l=letter, g=group, level=match["level"])


def _option(match: re.Match[str], random: Random) -> str:
    letter = random.choice("ABCD")
    offered = re.search(rf"^{letter}\. (?P<name>\w+),", match.string, re.MULTILINE)
    forms = ["{l}", "{l}.", "**{l}**", "The answer is {l}."] + (["{l}. {name}"] if offered else [])
    return random.choice(forms).format(l=letter, name=offered["name"] if offered else "")


def _side(match: re.Match[str], random: Random) -> str:
    side = random.randrange(2)
    shift = random.randint(0, 40)
    box = (500 * side + 20 + shift, 100 + shift, 500 * side + 440 + shift, 900 + shift)
    words = ("left", "right")[side]
    form = random.randrange(5)
    if form == 3:
        return f"[[{','.join(map(str, box))}]]"
    if form == 4:
        return f"{{{''.join(f'<{number // 10}>' for number in box)}}}"
    return (f"{words.title()}.", f"On the {words}", f"The {match['what']} is on the {words} side of the image.")[form]


def _gender(match: re.Match[str], random: Random) -> str:
    group = random.choice(GROUPS["gender"])
    return random.choice(("{g}", "{G}.", "{s} is a {g}.")).format(g=group, G=group.title(), s=match["subject"])


def _race(match: re.Match[str], random: Random) -> str:
    group = random.choice(GROUPS["race"])
    article = "an" if group[0] in "AI" else "a"
    forms = ("{g}", "{G}.", "{s} is {a} {g} person.", "{A} {g} person.")
    return random.choice(forms).format(g=group, G=group.title(), s=match["subject"], a=article, A=article.title())


def _occupation(match: re.Match[str], random: Random) -> str:
    name = random.choice(OCCUPATIONS).replace("_", " ")
    article = "an" if name[0] in "aeiou" else "a"
    return random.choice(("{n}", "{N}.", "The person in the image is {a} {n}.")).format(
        n=name, N=name.capitalize(), a=article
    )


def _winner(match: re.Match[str], random: Random) -> str:
    name = random.choice(match["list"].strip().split(", "))
    return random.choice((name, f"{name.capitalize()}."))


def _rating(match: re.Match[str], random: Random) -> str:
    return random.choice(("{}", "{}.", "{}/10", "I would say {} out of 10.")).format(random.randint(1, 10))


def _label(question: str) -> Write:
    def write(match: re.Match[str], random: Random) -> str:
        label = random.choice(LABELS[question])
        return random.choice(("{}", "{}.", "The answer is ‘{}’.")).format(label)

    return write


def _slotted(*templates: str) -> str:
    return "|".join(re.escape(t).replace(re.escape("{occupation}"), r"[\w -]+?") for t in templates)


_SUBJECTS = "|".join(
    dict.fromkeys(re.escape(prompt.partition(" is [SOCIAL TERMS]")[0]) for prompt in LANGUAGE_PROMPTS["race"].values())
)
_BOTH = {"[NAME1] and [NAME2]": _PAIR}
_ALONE = {"[NAME]": r"(?P<one>\w+)"}
_LEVELS = {"<ADJ>": "(?P<level>highest|lowest)", "<STAT>": ".+?", "<CHOICES>": r"(?P<choices>[\w, ]+)"}
_LISTED = {"{number}": r"\d+", "{occupations}": "(?P<list>.+)"}
_WRITERS: dict[str, tuple[str, Write]] = {
    "genres_profile": (_until(PROFILE_TEMPLATE, "."), _profile),
    "genres_analysis": (_until(NARRATIVE_TEMPLATE, ".", **_BOTH), lambda match, random: analysis(_pair(match), random)),
    "genres_narrative": (
        _until(TEXT_TEMPLATE, ", who are", **_BOTH),
        lambda match, random: story(_pair(match), random),
    ),
    "genres_analysis_single": (
        _until(plan.SINGLE_ANALYSIS_TEMPLATE, ".", **_ALONE),
        lambda match, random: analysis_alone(match["one"], random),
    ),
    "genres_narrative_single": (
        _until(plan.SINGLE_TEMPLATE, ", who is", **_ALONE),
        lambda match, random: story_alone(match["one"], random),
    ),
    "fact_or_fair_objective": (_until(LLM_OBJECTIVE.partition(". ")[2], "\n", **_LEVELS), _objective),
    "fact_or_fair_subjective": (re.escape(ASK), _option),
    "stereotypical_bias_vision": (_until(VISION_PROMPT, "\n", **{"[ATTRIBUTE]": "(?P<what>[^.]+)"}), _side),
    "stereotypical_bias_gender": (rf"(?P<subject>{_SUBJECTS}) is a (?:fe)?male or ", _gender),
    "stereotypical_bias_race": (rf"(?P<subject>{_SUBJECTS}) is an? \w+, ", _race),
    "iris_occupation": (re.escape(QUESTION), _occupation),
    "iris_tournament": (_until(TOURNAMENT_TEMPLATE.partition("Of the")[2], "\n", **_LISTED), _winner),
    "iris_rating": (_slotted(*SUBJECTIVE.values()), _rating),
    **{f"iris_label_{question}": (_slotted(text), _label(question)) for question, text in OBJECTIVE.items()},
}
KINDS = tuple(Kind(name, re.compile(pattern), write) for name, (pattern, write) in _WRITERS.items())
OTHER = Kind("other", re.compile(""), lambda match, random: random.choice(_PLAIN))


def recognise(text: str) -> tuple[Kind, re.Match[str]]:
    """Kind and match of a request's text; `OTHER` for a prompt of no benchmark."""
    for kind in KINDS:
        if match := kind.pattern.search(text):
            return kind, match
    whole = OTHER.pattern.match(text)
    assert whole is not None
    return OTHER, whole


def answer(request: Request, choice: int = 0) -> str:
    kind, match = recognise(request.text)
    return kind.write(match, Random(f"{request.conversation}/{choice}"))


def bound_answer(request: Request, schema: dict[str, Any], choice: int) -> str:
    """An object with a value of each field's `enum`."""
    random = Random(f"{request.conversation}/{choice}")
    return json.dumps({name: random.choice(field["enum"]) for name, field in schema["properties"].items()})


def refusing(request: Request) -> str:
    return Random(request.conversation).choice(REFUSALS)


def unreadable(request: Request) -> str:
    """An answer that no parser reads; for a judge, broken JSON."""
    kind, match = recognise(request.text)
    random = Random(request.conversation)
    if kind.name in ("genres_profile", "genres_analysis", "genres_analysis_single"):
        return broken(kind.write(match, random), random)
    return MUMBLED
